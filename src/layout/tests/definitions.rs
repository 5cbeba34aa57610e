//! Compares encodings with their definitions, written as formulas on coordinates, over whole domains.

use super::super::*;
use super::tables::encoding;
use crate::ir::core::Attr;
use crate::ir::core::encoding::{Blocked, Encoding, PaddedShared, SwizzledShared};
use proptest::prelude::*;

fn coordinates(layout: &LinearLayout, register: u32, lane: u32, warp: u32) -> Vec<u32> {
    layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)]).into_iter().map(|e| e.1).collect()
}

/// Takes mixed-radix digits off `number`, for the axes in `order`.
fn digits(number: &mut u32, sizes: &[u32], order: &[u32]) -> Vec<u32> {
    let mut result = vec![0; sizes.len()];
    for &axis in order {
        result[axis as usize] = *number % sizes[axis as usize];
        *number /= sizes[axis as usize];
    }
    result
}

/// Powers of two for `rank` axes whose product is `2^bits`.
fn spread(rank: usize, bits: u32) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..rank, bits as usize).prop_map(move |axes| {
        let mut sizes = vec![1; rank];
        for a in axes {
            sizes[a] *= 2;
        }
        sizes
    })
}

type BlockedCase = (Blocked, Vec<i64>);

fn any_blocked() -> impl Strategy<Value = BlockedCase> {
    (1usize..4, 0u32..4, 0u32..3).prop_flat_map(|(rank, registers, warps)| {
        let order = Just((0..rank as u32).collect::<Vec<_>>()).prop_shuffle();
        let shape = prop::collection::vec((0u32..if rank == 3 { 5 } else { 7 }).prop_map(|b| 1i64 << b), rank);
        (spread(rank, registers), spread(rank, 5), spread(rank, warps), order, shape).prop_map(
            |(s, t, w, order, shape)| {
                (Blocked { size_per_thread: s, threads_per_warp: t, warps_per_cta: w, order, cga: vec![] }, shape)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// A thread's digits are its place in the tile. Each axis counts registers, lanes, warps and repetitions, and wraps
    /// at its size. A thread has no more elements along an axis than there are.
    #[test]
    fn blocked((e, shape) in any_blocked()) {
        let layout = to_linear_layout(&shape, Attr::encoding(Encoding::Blocked(e.clone())));
        let tile: Vec<u32> = (0..shape.len()).map(|i| e.size_per_thread[i] * e.threads_per_warp[i] * e.warps_per_cta[i]).collect();
        let repeats: Vec<u32> = shape.iter().zip(&tile).map(|(&s, &t)| (s as u32 / t).max(1)).collect();
        let size: Vec<u32> = shape.iter().zip(&e.size_per_thread).map(|(&s, &n)| n.min(s as u32)).collect();
        let registers = size.iter().product::<u32>() * repeats.iter().product::<u32>();
        prop_assert_eq!(layout.in_size(Dim::Register), registers);
        for warp in 0..layout.in_size(Dim::Warp) {
            for lane in 0..32 {
                for register in 0..registers {
                    let (mut r, mut l, mut w) = (register, lane, warp);
                    let (ri, li) = (digits(&mut r, &size, &e.order), digits(&mut l, &e.threads_per_warp, &e.order));
                    let (wi, pi) = (digits(&mut w, &e.warps_per_cta, &e.order), digits(&mut r, &repeats, &e.order));
                    let expected: Vec<u32> = (0..shape.len())
                        .map(|i| {
                            let in_warps = li[i] + e.threads_per_warp[i] * (wi[i] + e.warps_per_cta[i] * pi[i]);
                            (ri[i] + e.size_per_thread[i] * in_warps) % shape[i] as u32
                        })
                        .collect();
                    prop_assert_eq!(coordinates(layout, register, lane, warp), expected);
                }
            }
        }
    }

    /// A slice holds, in each thread, the elements that the thread holds of the parent, without the removed coordinate.
    #[test]
    fn slice((e, shape) in any_blocked(), dim in 0usize..3) {
        prop_assume!(shape.len() > 1);
        let dim = dim % shape.len();
        let (mut parent_shape, mut sliced_shape) = (shape.clone(), shape);
        parent_shape[dim] = 1;
        sliced_shape.remove(dim);
        let parent = Attr::encoding(Encoding::Blocked(e));
        let slice = to_linear_layout(&sliced_shape, Attr::encoding(Encoding::Slice { dim: dim as u32, parent }));
        let parent = to_linear_layout(&parent_shape, parent);
        for thread in 0..32 * parent.in_size(Dim::Warp) {
            let held = |l: &LinearLayout, drop: Option<usize>| {
                let mut all: Vec<Vec<u32>> = (0..l.in_size(Dim::Register)).map(|r| coordinates(l, r, thread % 32, thread / 32)).collect();
                if let Some(axis) = drop {
                    for c in &mut all {
                        c.remove(axis);
                    }
                }
                let with_copies = all.len();
                all.sort();
                all.dedup();
                (all, with_copies)
            };
            let (elements, registers) = held(slice, None);
            prop_assert_eq!(registers, elements.len(), "a slice has no registers that hold copies");
            prop_assert_eq!(elements, held(parent, Some(dim)).0);
        }
    }

    /// The offset of an element is its row, and its column with the group of `vec` exchanged by the row's phase.
    #[test]
    fn swizzled(vec in 0u32..4, per_phase in 0u32..3, max_phase in 0u32..4, rows in 0u32..6, more in 0u32..3, transposed: bool) {
        let (vec, per_phase, max_phase, rows) = (1 << vec, 1 << per_phase, 1 << max_phase, 1u32 << rows);
        let columns = (vec * max_phase) << more;
        let order = if transposed { vec![0, 1] } else { vec![1, 0] };
        let e = SwizzledShared { vec, per_phase, max_phase, order, cga: vec![] };
        let shape = if transposed { [columns, rows] } else { [rows, columns] }.map(i64::from);
        let layout = to_linear_layout(&shape, Attr::encoding(Encoding::SwizzledShared(e)));
        for row in 0..rows {
            for column in 0..columns {
                let offset = row * columns + ((column / vec) ^ ((row / per_phase) % max_phase)) * vec + column % vec;
                let found: Vec<u32> = layout.apply(&[(Dim::Offset, offset)]).into_iter().map(|e| e.1).collect();
                prop_assert_eq!(found, if transposed { [column, row] } else { [row, column] });
            }
        }
    }
}

/// A parameter as a careless or hostile file might have it.
fn any_parameter() -> impl Strategy<Value = u32> {
    prop_oneof![6 => (0u32..7).prop_map(|b| 1 << b), 1 => Just(0), 1 => Just(3), 1 => Just(1 << 20), 1 => Just(1 << 31), 1 => Just(u32::MAX)]
}

fn any_list() -> impl Strategy<Value = String> {
    prop::collection::vec(any_parameter(), 1..4)
        .prop_map(|v| v.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
}

fn any_shape() -> impl Strategy<Value = Vec<i64>> {
    let size = prop_oneof![24 => (0u32..8).prop_map(|b| 1i64 << b), 1 => Just(0i64), 1 => Just(-4), 1 => Just(1 << 40)];
    prop::collection::vec(size, 0..4)
}

fn any_cga() -> impl Strategy<Value = String> {
    let basis = prop::collection::vec(prop_oneof![0i32..5, Just(-1), Just(i32::MAX)], 1..4);
    let text = |b: Vec<i32>| b.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    prop_oneof![3 => Just("-".to_owned()), 1 => prop::collection::vec(basis.prop_map(text), 1..20).prop_map(|b| b.join(";"))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the parameters are, the result is a layout of exactly the shape or a reason, and never a panic.
    #[test]
    fn any_parameters_give_a_layout_or_a_reason(
        kind in 0usize..9, n in prop::array::uniform4(any_parameter()), l in prop::array::uniform4(any_list()), cga in any_cga(),
        shape in any_shape(),
    ) {
        let [n0, n1, n2, n3] = n;
        let [l0, l1, l2, l3] = l;
        let order = (0..shape.len()).rev().map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let order = if n0 == 1 || order.is_empty() { l3 } else { order };
        let (blocked, mma) = (format!("blocked {l0} {l1} {l2} {order} {cga}"), format!("mma {} {l0} {l1} {cga}", n0 % 4));
        let text = match kind {
            0 => blocked,
            1 => format!("slice {} {blocked}", n1 % 5),
            2 => format!("dot {} {n2} {blocked}", n1 % 3),
            3 => mma,
            4 => format!("dot {} {n2} {mma}", n1 % 3),
            5 => format!("swizzled {n1} {n2} {n3} {order} {cga}"),
            6 => format!("nvmma {n1} {} {n2} {} {cga}", n3 % 2, n0 % 2),
            7 => format!("tmem {n1} {n2} {n3} {} {cga}", n0 % 2),
            _ => format!("tmem_scales {cga}"),
        };
        if let Ok(layout) = try_to_linear_layout(&shape, encoding(&text, shape.len())) {
            let sizes: Vec<i64> = layout.out_sizes().iter().map(|s| i64::from(s.1)).collect();
            prop_assert_eq!(sizes, shape, "{}", text);
        }
    }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16": rows and columns of registers c0–c3, a0–a7 and b0–b3 by lane.
#[test]
fn fragments_of_m16n8k16() {
    let accumulator = to_linear_layout(&[16, 8], encoding("mma 2 1,1 16,8 -", 2));
    let a = to_linear_layout(&[16, 16], encoding("dot 0 2 mma 2 1,1 16,8 -", 2));
    let b = to_linear_layout(&[16, 8], encoding("dot 1 2 mma 2 1,1 16,8 -", 2));
    assert_eq!([accumulator, a, b].map(|l| l.in_size(Dim::Register)), [4, 8, 4]);
    for lane in 0..32 {
        let (group, member) = (lane / 4, lane % 4);
        for i in 0..4 {
            assert_eq!(coordinates(accumulator, i, lane, 0), [group + i / 2 * 8, member * 2 + i % 2]);
            assert_eq!(coordinates(b, i, lane, 0), [member * 2 + i % 2 + i / 2 * 8, group]);
        }
        for i in 0..8 {
            assert_eq!(coordinates(a, i, lane, 0), [group + i / 2 % 2 * 8, member * 2 + i % 2 + i / 4 * 8]);
        }
    }
}

/// PTX ISA, "Register Fragments and Shared Memory Matrix Layouts" of wgmma, m64nNk16: D, and A from registers; warp `w`
/// holds rows `16w …`.
#[test]
fn fragments_of_wgmma() {
    let d = to_linear_layout(&[128, 64], encoding("mma 3 8,1 16,64,16 -", 2));
    let a = to_linear_layout(&[128, 16], encoding("dot 0 2 mma 3 8,1 16,64,16 -", 2));
    assert_eq!([d, a].map(|l| l.in_size(Dim::Register)), [32, 8]);
    for warp in 0..8 {
        for lane in 0..32 {
            let (group, member) = (lane / 4, lane % 4);
            for i in 0..32 {
                assert_eq!(
                    coordinates(d, i, lane, warp),
                    [warp * 16 + group + i / 2 % 2 * 8, i / 4 * 8 + member * 2 + i % 2]
                );
            }
            for i in 0..8 {
                assert_eq!(
                    coordinates(a, i, lane, warp),
                    [warp * 16 + group + i / 2 % 2 * 8, member * 2 + i % 2 + i / 4 * 8]
                );
            }
        }
    }
}

/// PTX ISA, "Swizzling modes" of shared memory matrices: chunk `c` of 16 bytes in row `r` of 128 bytes lies at chunk
/// `c ⊕ (r mod 8)`. With 64 and 32 bytes, two and four rows share the phase.
#[test]
fn swizzles_for_wgmma() {
    for (width, rows_per_phase) in [(128u32, 1u32), (64, 2), (32, 4)] {
        let columns = width / 2;
        let layout = to_linear_layout(&[64, i64::from(columns)], encoding(&format!("nvmma {width} 0 16 0 -"), 2));
        for row in 0..64 {
            for column in 0..columns {
                let chunk = (column / 8) ^ (row / rows_per_phase % (width / 16));
                let found = layout.apply(&[(Dim::Offset, row * columns + chunk * 8 + column % 8)]);
                assert_eq!(found, [(Dim::Axis(0), row), (Dim::Axis(1), column)], "{width} bytes");
            }
        }
    }
}

/// A transposed layout is the plain one of the transposed matrix. A matrix wider than a box is cut into boxes, one
/// after the other.
#[test]
fn transposed_and_wide_shared_matrices() {
    let plain = to_linear_layout(&[64, 128], encoding("nvmma 128 0 16 0 -", 2));
    let transposed = to_linear_layout(&[128, 64], encoding("nvmma 128 1 16 0 -", 2));
    assert_eq!(plain.permute_axes(&[1, 0]), *transposed);
    let narrow = to_linear_layout(&[64, 64], encoding("nvmma 128 0 16 0 -", 2));
    let boxes = LinearLayout::identity1d(2, Dim::Offset, Dim::Axis(1));
    assert_eq!(
        narrow.squeeze_in(Dim::Block).product(&boxes).product(&LinearLayout::identity1d(1, Dim::Block, Dim::Axis(0))),
        *plain
    );
}

/// The examples of the documentation of `encodings`.
#[test]
fn repeated_and_cut_tiles() {
    let e = encoding("blocked 4 32 4 0 -", 1);
    let column = |v: &[i32]| v.iter().map(|&x| vec![x]).collect::<Vec<_>>();
    let large = to_linear_layout(&[1024], e);
    assert_eq!(large.bases(Dim::Register), column(&[1, 2, 512]));
    assert_eq!(large.bases(Dim::Lane), column(&[4, 8, 16, 32, 64]));
    assert_eq!(large.bases(Dim::Warp), column(&[128, 256]));
    let small = to_linear_layout(&[256], e);
    assert_eq!(small.bases(Dim::Register), column(&[1, 2]));
    assert_eq!(small.bases(Dim::Warp), column(&[128, 0]));
    assert_eq!(free_variable_masks(small), FreeMasks { warp: 0b10, ..FreeMasks::default() });
}

/// An operand of a blocked product holds all of K in each thread, and the rows that its thread has in the accumulator.
#[test]
fn operands_of_blocked_products() {
    let blocked = "blocked 2,2 4,8 2,2 1,0 -";
    let c = to_linear_layout(&[32, 64], encoding(blocked, 2));
    let a = to_linear_layout(&[32, 16], encoding(&format!("dot 0 0 {blocked}"), 2));
    let b = to_linear_layout(&[16, 64], encoding(&format!("dot 1 0 {blocked}"), 2));
    for thread in 0..128 {
        let held = |l: &LinearLayout, axis: usize| {
            let mut v: Vec<u32> =
                (0..l.in_size(Dim::Register)).map(|r| coordinates(l, r, thread % 32, thread / 32)[axis]).collect();
            v.sort_unstable();
            v.dedup();
            v
        };
        assert_eq!(held(a, 0), held(c, 0));
        assert_eq!(held(b, 1), held(c, 1));
        assert_eq!([held(a, 1).len(), held(b, 0).len()], [16, 16]);
    }
}

#[test]
fn padding_adds_up() {
    let offset: Vec<Vec<i32>> = (0..3).map(|i| vec![1 << i]).collect();
    let e = PaddedShared { intervals: vec![(2, 1), (4, 2)], offset, block: vec![], shape: vec![8] };
    let places: Vec<u32> = (0..8).map(|o| padded_offset(&e, o)).collect();
    assert_eq!(places, [0, 1, 3, 4, 8, 9, 11, 12]);
    let layout = to_linear_layout(&[8], Attr::encoding(Encoding::PaddedShared(e)));
    assert_eq!(layout.bases(Dim::Offset), [[1], [2], [4]]);
}

/// What an input file can say and no layout has gives a reason and not a panic.
#[test]
fn malformed_encodings_are_refused() {
    let reason =
        |text: &str, shape: &[i64]| try_to_linear_layout(shape, encoding(text, shape.len())).unwrap_err().reason;
    assert_eq!(reason("blocked 1,1 32,1 4,1 1,0 -", &[64]), "sizePerThread has 2 elements for a shape of rank 1");
    assert_eq!(reason("blocked 3 32 4 0 -", &[64]), "every entry of `sizePerThread` is a power of two, found [3]");
    assert_eq!(
        reason("blocked 1,1 32,1 4,1 1,1 -", &[64, 64]),
        "`order` names each dimension from 0 to 1 once, found [1, 1]"
    );
    assert_eq!(reason("blocked 1 32 4 0 -", &[48]), "the shape has a dimension of 48, expected a power of two");
    assert_eq!(reason("blocked 1 32 4 0 -", &[0]), "the shape has a dimension of 0, expected a power of two");
    assert!(reason("blocked 1 32 4 0 -", &[1 << 40]).contains("elements"));
    assert!(reason("blocked 1,1 32,1 4,1 1,0 3,0", &[64, 64]).contains("CGA"));
    assert!(reason("mma 1 4,1 16,8 -", &[64, 64]).contains("version 1"));
    assert!(reason("mma 3 4,1 16,8 -", &[64, 64]).contains("instrShape"));
    assert!(reason("mma 2 4,1 12,8 -", &[64, 64]).contains("12x8"));
    assert!(reason("dot 1 2 mma 3 4,1 16,64,16 -", &[64, 64]).contains("operand 1 of wgmma"));
    assert!(reason("dot 0 3 mma 2 4,1 16,8 -", &[64, 64]).contains("kWidth is 3"));
    assert!(reason("dot 0 0 swizzled 1 1 1 1,0 -", &[64, 64]).contains("neither blocked"));
    assert!(reason("slice 2 blocked 1,1 32,1 4,1 1,0 -", &[64]).contains("dimension 2"));
    assert!(reason("slice 0 swizzled 1 1 1 1,0 -", &[64]).contains("no layout of registers"));
    assert!(reason("swizzled 3 1 1 1,0 -", &[64, 64]).contains("vec is 3"));
    assert!(reason("nvmma 128 0 16 0 -", &[64, 32]).contains("needs 64"));
    assert!(reason("nvmma 128 0 16 0 -", &[4, 64]).contains("4x64"));
    assert!(reason("nvmma 96 0 16 0 -", &[64, 64]).contains("96 bytes"));
    assert!(reason("nvmma 128 0 16 0 -", &[64]).contains("rank 2"));
    assert!(reason("tmem 96 64 1 0 -", &[128, 64]).contains("96x64"));
    assert!(reason("tmem 128 64 1 0 -", &[64, 64]).contains("exceeds"));
}
