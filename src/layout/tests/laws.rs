//! Laws of the algebra, on random layouts and over whole domains.

use super::super::{Dim, LinearLayout, neighbours};
use proptest::prelude::*;

const INS: [Dim; 3] = [Dim::Register, Dim::Lane, Dim::Warp];

/// Any layout of up to ten bits in and out, surjective or not.
fn any_layout(ins: &'static [Dim], outs: &'static [Dim]) -> impl Strategy<Value = LinearLayout> {
    let bits_in = prop::collection::vec(0usize..4, ins.len());
    let bits_out = prop::collection::vec(0u32..4, outs.len());
    (bits_in, bits_out).prop_flat_map(move |(bi, bo)| {
        let basis: Vec<_> = bo.iter().map(|&b| 0i32..1 << b).collect();
        let bases: Vec<_> = bi.iter().map(|&n| prop::collection::vec(basis.clone(), n)).collect();
        bases.prop_map(move |bases| {
            let bases: Vec<_> = ins.iter().copied().zip(bases).collect();
            let sizes: Vec<_> = outs.iter().copied().zip(bo.iter().map(|&b| 1 << b)).collect();
            LinearLayout::from_bases(&bases, &sizes).expect("the strategy makes bases that fit")
        })
    })
}

/// An invertible layout: elementary operations on an identity.
fn any_invertible() -> impl Strategy<Value = LinearLayout> {
    (prop::collection::vec((0usize..8, 0usize..8), 0..30), 0u32..3, 3u32..6).prop_map(|(steps, cut_in, cut_out)| {
        let mut columns: Vec<i32> = (0..8).map(|i| 1 << i).collect();
        for (a, b) in steps {
            if a != b {
                columns[a] ^= columns[b];
            }
        }
        let bases: Vec<Vec<i32>> = columns.into_iter().map(|c| vec![c]).collect();
        LinearLayout::from_bases(&[(Dim::Offset, bases)], &[(Dim::axis(0), 256)])
            .expect("bases below 256")
            .reshape_ins(&[(Dim::Lane, 1 << cut_in), (Dim::Warp, 256 >> cut_in)])
            .reshape_outs(&[(Dim::axis(0), 1 << cut_out), (Dim::axis(1), 256 >> cut_out)])
    })
}

/// Every input of a layout, unpacked.
fn domain(l: &LinearLayout) -> Vec<Vec<(Dim, u32)>> {
    l.in_sizes().iter().fold(vec![vec![]], |points, &(d, size)| {
        (0..size)
            .flat_map(|v| points.iter().map(move |p| [p.as_slice(), &[(d, v)]].concat()).collect::<Vec<_>>())
            .collect()
    })
}

fn value(l: &LinearLayout, point: &[(Dim, u32)]) -> Vec<(Dim, u32)> {
    let known: Vec<_> = point.iter().copied().filter(|p| l.has_in(p.0)).collect();
    l.apply(&known)
}

static A01: [Dim; 2] = [Dim::Axis(0), Dim::Axis(1)];
static RL: [Dim; 2] = [Dim::Register, Dim::Lane];
static LW: [Dim; 2] = [Dim::Lane, Dim::Warp];
static A12: [Dim; 2] = [Dim::Axis(1), Dim::Axis(2)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn apply_is_linear(l in any_layout(&INS, &A01), x in 0u64..512, y in 0u64..512) {
        let limit = (1u64 << l.total_in_bits()) - 1;
        let (x, y) = (x & limit, y & limit);
        prop_assert_eq!(l.apply_packed(x ^ y), l.apply_packed(x) ^ l.apply_packed(y));
    }

    /// Whichever thread holds them, a register is as far from the neighbour that it is counted from as that says.
    #[test]
    fn neighbours_are_as_far_from_each_other_in_all_threads(l in any_layout(&INS, &A01), axis in 0usize..2, bits in 0u32..4) {
        let (places, count) = (neighbours(&l, axis, 1 << bits), 1 << bits);
        prop_assert_eq!(places.len(), l.in_size(Dim::Register) as usize);
        for point in domain(&l) {
            let at = |register: u32| {
                let moved = point.iter().map(|&(dim, v)| (dim, if dim == Dim::Register { register } else { v }));
                value(&l, &moved.collect::<Vec<_>>()).into_iter().map(|(_, v)| v).collect::<Vec<_>>()
            };
            for (register, &(start, far)) in places.iter().enumerate() {
                let (mut first, this) = (at(start as u32), at(register as u32));
                prop_assert_eq!(places[start], (start, 0));
                prop_assert_eq!(first[axis] / count, this[axis] / count);
                first[axis] += far;
                prop_assert_eq!(first, this);
            }
        }
    }

    #[test]
    fn bases_round_trip(l in any_layout(&INS, &A01)) {
        prop_assert_eq!(&LinearLayout::from_bases(&l.all_bases(), &l.out_sizes()).expect("bases of a layout fit"), &l);
        prop_assert!(l.same_map(&l.transpose_ins(&[Dim::Warp, Dim::Register, Dim::Lane]).transpose_outs(&[Dim::Axis(1), Dim::Axis(0)])));
    }

    /// The product acts as its first factor on the low bits and as its second on the high bits.
    #[test]
    fn product_is_a_direct_sum(a in any_layout(&RL, &A01), b in any_layout(&LW, &A12)) {
        let p = a.product(&b);
        for point in domain(&p) {
            let low: Vec<_> = point.iter().map(|&(d, v)| (d, v & (a.in_size(d) - 1))).collect();
            let high: Vec<_> = point.iter().map(|&(d, v)| (d, v >> a.in_bits(d))).collect();
            let (va, vb) = (value(&a, &low), value(&b, &high));
            for (d, v) in p.apply(&point) {
                let of = |vs: &[(Dim, u32)]| vs.iter().find(|e| e.0 == d).map_or(0, |e| e.1);
                prop_assert_eq!(v, of(&va) | of(&vb) << a.out_bits(d));
            }
        }
        prop_assert_eq!(p.is_surjective(), a.is_surjective() && b.is_surjective());
    }

    #[test]
    fn product_is_associative_with_a_unit(a in any_layout(&RL, &A01), b in any_layout(&RL, &A01), c in any_layout(&LW, &A12)) {
        prop_assert_eq!(a.product(&b).product(&c), a.product(&b.product(&c)));
        prop_assert_eq!(&a.product(&LinearLayout::empty()), &a);
        prop_assert_eq!(&LinearLayout::empty().product(&a), &a);
    }

    #[test]
    fn division_undoes_the_product(a in any_layout(&RL, &A01), b in any_layout(&RL, &A01)) {
        let p = a.product(&b);
        prop_assert_eq!(p.divide_left(&a), Some(b.clone()));
        prop_assert_eq!(p.divide_right(&b), Some(a));
    }

    /// Whatever a division returns multiplies back. A divisor that is too large or elsewhere is refused.
    #[test]
    fn division_is_exact(a in any_layout(&RL, &A01), b in any_layout(&RL, &A01)) {
        if let Some(c) = a.divide_left(&b) {
            prop_assert_eq!(b.product(&c), a.clone());
        }
        if let Some(c) = a.divide_right(&b) {
            prop_assert_eq!(c.product(&b), a.clone());
        }
        prop_assert_eq!(a.divide_left(&LinearLayout::identity1d(2, Dim::Block, Dim::Axis(0))), None);
    }

    #[test]
    fn composition_applies_one_after_the_other(a in any_layout(&INS, &A01), i in any_invertible()) {
        let outer = i.flatten_ins().flatten_outs().reshape_ins(&[(Dim::Axis(1), 16), (Dim::Axis(0), 16)]);
        let c = a.compose(&outer);
        for point in domain(&a) {
            prop_assert_eq!(c.apply(&point), outer.apply(&a.apply(&point)));
        }
    }

    #[test]
    fn the_inverse_undoes_the_layout(l in any_invertible()) {
        let inverse = l.invert().expect("elementary operations keep a layout invertible");
        for point in domain(&l) {
            prop_assert_eq!(inverse.apply(&l.apply(&point)), point.clone());
        }
        prop_assert!(inverse.invert().expect("so is the inverse").same_map(&l));
    }

    #[test]
    fn rank_surjectivity_and_injectivity_by_counting(l in any_layout(&INS, &A01)) {
        let mut reached: Vec<u64> = (0..1u64 << l.total_in_bits()).map(|x| l.apply_packed(x)).collect();
        reached.sort_unstable();
        reached.dedup();
        prop_assert_eq!(reached.len(), 1usize << l.rank());
        prop_assert_eq!(l.is_surjective(), reached.len() == 1usize << l.total_out_bits());
        prop_assert_eq!(l.is_injective(), reached.len() == 1usize << l.total_in_bits());
        prop_assert_eq!(l.pseudoinvert().is_some(), l.is_surjective());
        prop_assert_eq!(l.invert().is_some(), l.is_surjective() && l.is_injective());
    }

    /// With all free bits 0, every reached element has exactly one holder.
    #[test]
    fn free_variables_name_one_holder(l in any_layout(&INS, &A01)) {
        let masks = l.free_variables();
        let holders = domain(&l).into_iter().filter(|p| p.iter().zip(&masks).all(|(p, m)| p.0 == m.0 && p.1 & m.1 == 0));
        let mut held: Vec<_> = holders.map(|p| l.apply(&p)).collect();
        let count = held.len();
        held.sort();
        held.dedup();
        prop_assert_eq!(held.len(), count);
        prop_assert_eq!(count, 1usize << l.rank());
    }

    /// `outer(c(x)) = self(x)` holds, and there is such a `c` exactly when `outer` holds everything that `self`
    /// reaches.
    #[test]
    fn invert_and_compose_finds_the_element(a in any_layout(&INS, &A01), b in any_layout(&INS, &A01)) {
        let fits = a.out_sizes().iter().zip(b.out_sizes()).all(|(x, y)| x.1 <= y.1);
        let held: std::collections::BTreeSet<_> = domain(&b).iter().map(|p| b.apply(p)).collect();
        let wanted: Vec<_> = domain(&a).iter().map(|p| a.apply(p)).collect();
        match a.invert_and_compose(&b) {
            Some(c) => for point in domain(&a) {
                prop_assert_eq!(b.apply(&c.apply(&point)), a.apply(&point));
            },
            // Dimensions with equal bases are mapped by the identity, which leaves the rest of `b` to hold the rest of
            // `a`.
            None => prop_assert!(!fits || wanted.iter().any(|w| !held.contains(w)) || INS.iter().any(|&d| a.bases(d) == b.bases(d))),
        }
    }

    #[test]
    fn reshapes_keep_the_flat_function(l in any_invertible(), cut in 0u32..8) {
        let r = l.reshape_ins(&[(Dim::Offset, 1 << cut), (Dim::Block, 256 >> cut)]).reshape_outs(&[(Dim::Axis(2), 256)]);
        for x in 0..256 {
            prop_assert_eq!(l.apply_packed(x), r.apply_packed(x));
        }
    }

    /// Reshaping in row-major order keeps the row-major number of every element.
    #[test]
    fn reshape_row_major_keeps_the_element(l in any_invertible(), cut in 0u32..8) {
        let shape = [1u32 << cut, 256 >> cut];
        let (old, new) = (l.out_sizes(), l.reshape_row_major(&shape));
        for point in domain(&l) {
            let number = |v: Vec<(Dim, u32)>, columns: u32| v[0].1 * columns + v[1].1;
            prop_assert_eq!(number(l.apply(&point), old[1].1), number(new.apply(&point), shape[1]));
        }
    }

    #[test]
    fn sublayouts_fix_other_inputs_at_zero(l in any_layout(&INS, &A01)) {
        let s = l.sublayout(&[Dim::Lane], &[Dim::Axis(1)]);
        for v in 0..l.in_size(Dim::Lane) {
            prop_assert_eq!(s.apply(&[(Dim::Lane, v)]), l.apply(&[(Dim::Lane, v)])[1..].to_vec());
        }
        prop_assert_eq!(l.sublayout_is_zero(&[Dim::Lane], &[Dim::Axis(1)]), (0..l.in_size(Dim::Lane)).all(|v| s.apply(&[(Dim::Lane, v)])[0].1 == 0));
    }

    #[test]
    fn resizing_cuts_and_repeats(l in any_layout(&INS, &A01), size in 0u32..5) {
        let sizes = [(Dim::Axis(0), 1 << size), (Dim::Axis(1), 1 << size)];
        let (small, large) = (l.ensure_not_larger(&sizes, true), l.ensure_not_smaller(&sizes));
        for d in A01 {
            prop_assert_eq!(small.out_size(d), l.out_size(d).min(1 << size));
            prop_assert_eq!(large.out_size(d), l.out_size(d).max(1 << size));
        }
        prop_assert_eq!(small.in_sizes(), l.in_sizes());
        // The first copies are the layout itself, and a repeated layout is surjective whenever the layout is.
        prop_assert!(domain(&l).iter().all(|p| large.apply(p) == l.apply(p)));
        prop_assert_eq!(large.is_surjective(), l.is_surjective());
    }

    /// Register 0 numbers the two elements of a pair. What else a register, lane or warp says stays, at twice the
    /// coordinate.
    #[test]
    fn halving_undoes_doubling(l in any_layout(&INS, &A01), axis in 0usize..2) {
        let double = l.doubled_along(axis);
        prop_assert_eq!(double.out_dims().collect::<Vec<_>>(), l.out_dims().collect::<Vec<_>>());
        prop_assert_eq!(double.out_size(Dim::axis(axis)), 2 * l.out_size(Dim::axis(axis)));
        for point in domain(&double) {
            let half: Vec<_> = point.iter().map(|&(d, v)| (d, if d == Dim::Register { v >> 1 } else { v })).collect();
            let second = point.iter().any(|&(d, v)| d == Dim::Register && v & 1 == 1);
            for ((d, v), (_, h)) in double.apply(&point).into_iter().zip(l.apply(&half)) {
                prop_assert_eq!(v, if d == Dim::axis(axis) { 2 * h + u32::from(second) } else { h });
            }
        }
        prop_assert_eq!(double.halved_along(axis), Some(l));
    }

    #[test]
    fn concatenation_is_undone_by_sublayout(a in any_layout(&RL, &A01)) {
        let b = a.zeros_like().rename_in(Dim::Register, Dim::Warp).rename_in(Dim::Lane, Dim::Block);
        let ins = a.concat_ins(&b);
        prop_assert_eq!(ins.sublayout(&RL, &A01), a.clone());
        let other = a.rename_out(Dim::Axis(0), Dim::Axis(2)).rename_out(Dim::Axis(1), Dim::Axis(3));
        let outs = a.concat_outs(&other);
        prop_assert_eq!(outs.sublayout(&RL, &A01), a);
        prop_assert_eq!(outs.sublayout(&RL, &[Dim::Axis(2), Dim::Axis(3)]), other);
    }
}

/// The examples in the documentation of [`LinearLayout`].
#[test]
fn documented_examples() {
    let lane = vec![vec![0, 8], vec![1, 0], vec![2, 0], vec![4, 0], vec![8, 0]];
    let blocked = LinearLayout::from_bases_inferred(
        &[(Dim::Register, vec![vec![0, 1], vec![0, 2], vec![0, 4]]), (Dim::Lane, lane)],
        &A01,
    )
    .unwrap();
    assert_eq!(blocked.out_sizes(), [(Dim::Axis(0), 16), (Dim::Axis(1), 16)]);
    assert_eq!(blocked.apply(&[(Dim::Lane, 5), (Dim::Register, 3)]), [(Dim::Axis(0), 2), (Dim::Axis(1), 11)]);

    let swizzle = vec![vec![0, 1], vec![0, 2], vec![1, 1], vec![2, 2]];
    let swizzled = LinearLayout::from_bases_inferred(&[(Dim::Offset, swizzle)], &A01).unwrap();
    assert_eq!(swizzled.apply(&[(Dim::Offset, 13)]), [(Dim::Axis(0), 3), (Dim::Axis(1), 2)]);
    let inverse = swizzled.invert().unwrap();
    let column_0: Vec<u32> = (0..4).map(|row| inverse.apply(&[(Dim::Axis(0), row)])[0].1).collect();
    assert_eq!(column_0, [0, 5, 10, 15]);

    // The elimination's example: columns 1, 3, 2.
    let l =
        LinearLayout::from_bases_inferred(&[(Dim::Offset, vec![vec![1], vec![3], vec![2]])], &[Dim::Axis(0)]).unwrap();
    assert_eq!(l.free_variables(), [(Dim::Offset, 0b100)]);
    assert_eq!(l.pseudoinvert().unwrap().apply(&[(Dim::Axis(0), 2)]), [(Dim::Offset, 0b011)]);
}

#[test]
fn products_of_one_dimension() {
    let (i, o) = (Dim::Register, Dim::Axis(0));
    let identity = |n| LinearLayout::identity1d(n, i, o);
    assert_eq!(identity(4).product(&identity(2)), identity(8));
    let low = identity(4).product(&LinearLayout::zeros1d(2, i, o, 1));
    let high = LinearLayout::zeros1d(2, i, o, 1).product(&identity(4));
    for x in 0..8 {
        assert_eq!(low.apply(&[(i, x)]), [(o, x % 4)]);
        assert_eq!(high.apply(&[(i, x)]), [(o, x / 2)]);
    }
    assert_eq!(LinearLayout::strided1d(4, 8, i, o).apply(&[(i, 3)]), [(o, 24)]);
}

#[test]
fn consecutive_elements() {
    let of = |register: &[i32], lane: &[i32]| {
        let column = |v: &[i32]| v.iter().map(|&x| vec![x]).collect::<Vec<_>>();
        LinearLayout::from_bases(&[(Dim::Register, column(register)), (Dim::Lane, column(lane))], &[(Dim::Offset, 128)])
            .unwrap()
            .num_consecutive_in_out()
    };
    assert_eq!(of(&[1, 2, 64], &[4, 8]), 4);
    assert_eq!(of(&[1, 2, 64], &[6, 8]), 2, "a lane moves the second bit");
    assert_eq!(of(&[2, 1], &[4]), 1);
    assert_eq!(of(&[1, 2, 4], &[]), 8);
}

#[test]
fn quotients_need_an_untouched_identity() {
    let warp = LinearLayout::identity1d(4, Dim::Warp, Dim::Warp);
    let lanes = LinearLayout::from_bases_inferred(&[(Dim::Lane, vec![vec![2], vec![1]])], &[Dim::Lane]).unwrap();
    let both = lanes.product(&warp);
    assert_eq!(both.quotient(&[Dim::Warp]), Some(lanes));
    assert_eq!(both.quotient(&[Dim::Lane]), None, "lanes are exchanged");
    let touched = LinearLayout::from_bases_inferred(
        &[(Dim::Lane, vec![vec![1, 1]]), (Dim::Warp, vec![vec![0, 1]])],
        &[Dim::Lane, Dim::Warp],
    );
    assert_eq!(touched.unwrap().quotient(&[Dim::Warp]), None, "a lane reaches the warps");
}

#[test]
fn bases_that_do_not_fit_are_refused() {
    let refused =
        |bases: &[(Dim, Vec<Vec<i32>>)], outs: &[(Dim, u32)]| LinearLayout::from_bases(bases, outs).unwrap_err().reason;
    assert_eq!(
        refused(&[(Dim::Lane, vec![vec![4]])], &[(Dim::Axis(0), 4)]),
        "a basis of lane has dim0 = 4, expected 0 to 3"
    );
    assert_eq!(
        refused(&[(Dim::Lane, vec![vec![-1]])], &[(Dim::Axis(0), 4)]),
        "a basis of lane has dim0 = -1, expected 0 to 3"
    );
    assert_eq!(
        refused(&[(Dim::Lane, vec![vec![1, 1]])], &[(Dim::Axis(0), 4)]),
        "a basis of lane has 2 coordinates, expected 1"
    );
    assert_eq!(refused(&[], &[(Dim::Axis(0), 3)]), "the size of dim0 is 3, expected a power of two");
    assert_eq!(refused(&[(Dim::Lane, vec![]), (Dim::Lane, vec![])], &[]), "input dimension 1 repeats lane");
    assert!(refused(&[(Dim::Lane, vec![vec![0]; 40])], &[(Dim::Axis(0), 2)]).contains("40 bits"));
}
