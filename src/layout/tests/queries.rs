//! Queries, blocked builders and conversion kinds.

use super::super::*;
use super::tables::encoding;
use crate::ir::core::encoding::Encoding;
use crate::ir::core::{Attr, Type};

fn tensor(shape: &[i64], text: &str) -> Type {
    Type::tensor(shape, Type::f32(), Some(encoding(text, shape.len())))
}

#[test]
fn registers_and_offsets() {
    let ty = tensor(&[32, 64], "blocked 1,4 2,16 4,1 1,0 -");
    assert_eq!(elems_per_thread(ty), 16);
    assert_eq!(elems_per_thread(Type::f32()), 1);
    let layout = layout_of(ty).unwrap();
    let offsets = register_offsets(layout);
    assert_eq!(offsets[..5], [[0, 0], [0, 1], [0, 2], [0, 3], [8, 0]]);
    // The element of any register of any thread is the element of the thread's register 0, exclusive-ored with the
    // register's offset.
    for (lane, warp) in [(0, 0), (7, 1), (19, 2), (31, 3)] {
        let at = |r| layout.apply(&[(Dim::Register, r), (Dim::Lane, lane), (Dim::Warp, warp)]);
        for (r, offset) in offsets.iter().enumerate() {
            let expected: Vec<u32> = at(0).iter().zip(offset).map(|(b, &o)| b.1 ^ o.unsigned_abs()).collect();
            assert_eq!(at(r as u32).iter().map(|e| e.1).collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn copies() {
    // 128 threads have 4 elements each, on a tensor of 64. So three bits cut the tile of 512.
    let layout = to_linear_layout(&[64], encoding("blocked 4 32 4 0 -", 1));
    assert_eq!(free_variable_masks(layout), FreeMasks { lane: 0b10000, warp: 0b11, ..FreeMasks::default() });
    // A blocked layout has no registers for copies; fragments do.
    let (small, fragment) = (tensor(&[2], "blocked 8 32 4 0 -"), tensor(&[8, 8], "mma 2 2,2 16,8 -"));
    assert_eq!((elems_per_thread(small), unique_elems_per_thread(small)), (2, 2));
    assert_eq!((elems_per_thread(fragment), unique_elems_per_thread(fragment)), (4, 2));
    assert!(free_variable_masks(to_linear_layout(&[512], encoding("blocked 4 32 4 0 -", 1))).is_empty());
}

#[test]
fn contiguity_and_order() {
    let shape = [32, 64];
    let row = "blocked 1,4 2,16 4,1 1,0 -";
    let e = encoding(row, 2);
    assert_eq!(contig_per_thread(tensor(&shape, row)), [1, 4]);
    assert_eq!(contig_per_warp(tensor(&shape, row)), [2, 64]);
    assert_eq!(order(e, &shape), [1, 0]);
    assert_eq!(thread_order(e, &shape), [1, 0]);
    assert_eq!(threads_per_warp(e, &shape), [2, 16]);
    assert_eq!(warps_per_cta(e, &shape), [4, 1]);
    assert_eq!(size_per_thread(e, &shape), [1, 4]);

    let column = "blocked 4,1 16,2 1,4 0,1 -";
    assert_eq!(contig_per_thread(tensor(&[64, 32], column)), [4, 1]);
    assert_eq!(order(encoding(column, 2), &[64, 32]), [0, 1]);
    assert_eq!(order(encoding("slice 0 blocked 1,4 2,16 4,1 1,0 -", 1), &[64]), [0]);

    let mma = "mma 2 2,2 16,8 -";
    assert_eq!(contig_per_thread(tensor(&[64, 64], mma)), [1, 2]);
    assert_eq!(size_per_thread(encoding(mma, 2), &[64, 64]), [2, 2]);
    assert_eq!(order(encoding("nvmma 128 1 16 0 -", 2), &[64, 64]), [0, 1]);
    assert_eq!(order(encoding("swizzled 8 1 8 1,0 -", 2), &[64, 64]), [1, 0]);

    // A thread has one element along the axis of the lanes. So registers say nothing about memory, and lanes do.
    let strided = encoding("blocked 1,1 1,32 4,1 0,1 -", 2);
    assert_eq!(order(strided, &[16, 32]), [0, 1]);
    assert_eq!(order_for_memory(strided, &[16, 32]), [1, 0]);
}

#[test]
fn blocks_of_a_cluster() {
    let e = encoding("blocked 1,4 2,16 4,1 1,0 1,0;0,0", 2);
    assert_eq!(cta_split_num(e, &[32, 64]), [2, 1]);
    assert_eq!(shape_per_cta(e, &[32, 64]), [16, 64]);
    assert_eq!(free_variable_masks(to_linear_layout(&[32, 64], e)).block, 0b10);
}

/// A row is `shape num_warps threads_per_warp num_ctas -> threadsPerWarp warpsPerCTA CGA` of the default encoding, as
/// the reference compiler has it.
#[test]
fn default_encodings() {
    for line in include_str!("default_blocked.txt").lines().filter(|l| !l.starts_with('#')) {
        let (left, right) = line.split_once(" -> ").unwrap();
        let words: Vec<&str> = left.split(' ').collect();
        let shape: Vec<i64> = words[0].split('x').map(|s| s.parse().unwrap()).collect();
        let [warps, threads, ctas] = [1, 2, 3].map(|i| words[i].parse().unwrap());
        let ones = vec!["1"; shape.len()].join(",");
        let order: Vec<String> = (0..shape.len()).rev().map(|i| i.to_string()).collect();
        let (sizes, cga) = right.rsplit_once(' ').unwrap();
        let expected = encoding(&format!("blocked {ones} {sizes} {} {cga}", order.join(",")), shape.len());
        assert_eq!(Attr::encoding(default_blocked(&shape, warps, threads, ctas)), expected, "{line}");
    }
}

#[test]
fn blocked_from_size_and_order() {
    let built = |size: &[u32], order: &[u32]| Attr::encoding(blocked_from_size(&[32, 64], size, order, 4, 32, 1));
    assert_eq!(built(&[1, 4], &[1, 0]), encoding("blocked 1,4 2,16 4,1 1,0 -", 2));
    assert_eq!(built(&[8, 1], &[0, 1]), encoding("blocked 8,1 4,8 1,4 0,1 -", 2));
    let Encoding::Blocked(e) = blocked_in_cga(&[32, 64], &[1, 4], &[1, 0], 4, 32, &vec![vec![0, 1]]) else {
        unreachable!()
    };
    assert_eq!((e.threads_per_warp, e.warps_per_cta), (vec![4, 8], vec![4, 1]));
}

#[test]
fn kinds_of_conversions() {
    use ConversionKind::{Blocks, Lanes, Nothing, Registers, Warps};
    let kind = |a: &str, b: &str| conversion_kind_of(tensor(&[32, 64], a), tensor(&[32, 64], b)).unwrap();
    let a = "blocked 1,4 2,16 4,1 1,0 -";
    assert_eq!(kind(a, a), Nothing);
    assert_eq!(kind("blocked 2,2 4,8 4,1 1,0 -", "blocked 2,2 4,8 4,1 0,1 -"), Lanes);
    assert_eq!(kind("blocked 2,2 32,1 4,1 1,0 -", "blocked 2,2 32,1 4,1 0,1 -"), Registers);
    assert_eq!(kind(a, "blocked 1,2 2,16 4,1 1,0 -"), Lanes);
    assert_eq!(kind(a, "blocked 1,4 2,16 2,2 1,0 -"), Warps);
    assert_eq!(kind("blocked 1,4 2,16 4,1 1,0 1,0", "blocked 1,4 2,16 4,1 1,0 0,1"), Blocks);
    // A dot operand of a dot product whose accumulator has one warp along N is the accumulator's fragments,
    // reinterpreted.
    let fragments = kind("mma 2 4,1 16,8 -", "dot 0 2 mma 2 4,1 16,8 -");
    assert!(fragments <= Registers, "{fragments:?}");
    assert!(conversion_kind_of(tensor(&[32], "blocked 1 32 4 0 -"), tensor(&[64], "blocked 1 32 4 0 -")).is_err());
}

/// The permutation names, for each register of the destination, the register of the source with the same element.
#[test]
fn register_permutations() {
    let [a, b] = ["blocked 2,2 32,1 4,1 1,0 -", "blocked 2,2 32,1 4,1 0,1 -"]
        .map(|t| to_linear_layout(&[64, 64], encoding(t, 2)));
    let permutation = register_permutation(a, b).unwrap().expect("the conversion stays within threads");
    assert_eq!(permutation[..4], [0, 2, 1, 3]);
    for lane in [0, 5, 31] {
        for (to, &from) in permutation.iter().enumerate() {
            let at =
                |l: &LinearLayout, r: usize| l.apply(&[(Dim::Register, r as u32), (Dim::Lane, lane), (Dim::Warp, 3)]);
            assert_eq!(at(b, to), at(a, from));
        }
    }
    let c = to_linear_layout(&[64, 64], encoding("blocked 1,4 2,16 4,1 1,0 -", 2));
    assert_eq!(register_permutation(a, c).unwrap(), None);
    assert_eq!(register_permutation(a, a).unwrap(), Some((0..a.in_size(Dim::Register) as usize).collect()));
}

#[test]
fn equivalent_encodings() {
    let e = |t: &str| encoding(t, 2);
    // On a tensor of one column, order and lanes along that column do not matter.
    assert!(
        are_layouts_equivalent(&[64, 1], e("blocked 1,1 32,1 4,1 1,0 -"), e("blocked 1,1 32,1 4,1 0,1 -")).unwrap()
    );
    assert!(
        !are_layouts_equivalent(&[64, 64], e("blocked 2,1 32,1 4,1 1,0 -"), e("blocked 1,2 32,1 4,1 0,1 -")).unwrap()
    );
    assert!(are_layouts_equivalent(&[64], e("blocked 1,1 32,1 4,1 1,0 -"), encoding("blocked 1 32 4 0 -", 1)).is_err());
}

#[test]
fn views_that_move_data() {
    let a = tensor(&[256], "blocked 2 32 4 0 -");
    assert!(!is_expensive_view(a, tensor(&[128, 2], "blocked 1,2 32,1 4,1 1,0 -")).unwrap());
    assert!(is_expensive_view(a, tensor(&[2, 128], "blocked 1,4 1,32 4,1 1,0 -")).unwrap());
}
