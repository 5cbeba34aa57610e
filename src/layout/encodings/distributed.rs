//! Encodings of tensors in registers: blocked tiles, slices, the fragments of `mma` and `wgmma` with their operands,
//! and free bases.
//!
//! Fragments follow the PTX ISA, "Matrix Fragments for mma.m16n8k16" and "Register Fragments and Shared Memory Matrix
//! Layouts" of wgmma. There are eight groups of four lanes. A group holds a row, and a lane two neighbouring columns of
//! it (or `k_width` neighbours along K in an operand).

use super::amd;
use super::combine::{cga_layout, combine, combine_layouts, expect_order, expect_powers_of_two, expect_rank, sizes_of};
use super::lookup::try_to_linear_layout;
use crate::ir::core::encoding::{Blocked, LinearBases, NvidiaMma};
use crate::ir::core::{Attr, Bases, Encoding};
use crate::ir::encoding::questions::{is_distributed, matrix_order};
use crate::layout::{Dim, LayoutError, LinearLayout};

fn check_blocked(e: &Blocked, rank: usize) -> Result<(), LayoutError> {
    for (what, values) in [
        ("sizePerThread", &e.size_per_thread),
        ("threadsPerWarp", &e.threads_per_warp),
        ("warpsPerCTA", &e.warps_per_cta),
    ] {
        expect_rank(what, values.len(), rank)?;
        expect_powers_of_two(what, values)?;
    }
    expect_order(&e.order, rank)
}

/// Registers, then lanes, then warps fill the axes in `order`. On a tensor smaller than the tile, lanes and warps hold
/// copies, but a thread never does: registers that would hold copies are dropped.
pub(super) fn blocked(shape: &[i64], e: &Blocked) -> Result<LinearLayout, LayoutError> {
    check_blocked(e, shape.len())?;
    let tile = LinearLayout::identity_nd(Dim::Register, &e.size_per_thread, &e.order)
        .product(&LinearLayout::identity_nd(Dim::Lane, &e.threads_per_warp, &e.order))
        .product(&LinearLayout::identity_nd(Dim::Warp, &e.warps_per_cta, &e.order));
    Ok(combine(&tile, &e.cga, shape)?.remove_zero_bases(Dim::Register))
}

/// The parent's layout without one axis. Lanes and warps along that axis hold copies. Registers that would hold copies
/// are dropped.
pub(super) fn slice(shape: &[i64], dim: u32, parent: Attr) -> Result<LinearLayout, LayoutError> {
    let dim = dim as usize;
    if dim > shape.len() {
        return Err(LayoutError::new(format!(
            "the slice removes dimension {dim} of a parent of rank {}",
            shape.len() + 1
        )));
    }
    if !parent.as_encoding().is_some_and(is_distributed) {
        return Err(LayoutError::new("the parent of a slice is no layout of registers"));
    }
    let mut parent_shape = shape.to_vec();
    parent_shape.insert(dim, 1);
    let parent = try_to_linear_layout(&parent_shape, parent)?;
    let kept: Vec<Dim> = parent.out_dims().filter(|&d| d != Dim::axis(dim)).collect();
    let mut sliced = parent.sublayout(&parent.in_dims().collect::<Vec<_>>(), &kept);
    for axis in dim..shape.len() {
        sliced = sliced.rename_out(Dim::axis(axis + 1), Dim::axis(axis));
    }
    Ok(sliced.remove_zero_bases(Dim::Register))
}

/// The given bases, repeated or cut to the shape. Repetitions follow the order in which the registers run over the
/// axes.
pub(super) fn linear(shape: &[i64], e: &LinearBases) -> Result<LinearLayout, LayoutError> {
    let bases = [
        (Dim::Register, e.register.clone()),
        (Dim::Lane, e.lane.clone()),
        (Dim::Warp, e.warp.clone()),
        (Dim::Block, e.block.clone()),
    ];
    let given = LinearLayout::from_bases_inferred(&bases, &Dim::axes(shape.len()))?;
    if given.total_in_bits() > 31 {
        return Err(LayoutError::new(format!(
            "the layout has 2^{} places, more than can be numbered",
            given.total_in_bits()
        )));
    }
    if !given.is_surjective() {
        return Err(LayoutError::new("the bases of the linear layout do not reach every element"));
    }
    let order: Vec<Dim> = crate::layout::queries::order_along(&given, Dim::Register, &matrix_order(shape.len(), true))
        .iter()
        .map(|&i| Dim::axis(i as usize))
        .collect();
    let sizes = sizes_of(shape);
    let fitted = given.transpose_outs(&order).ensure_not_smaller(&sizes).ensure_not_larger(&sizes, false);
    Ok(fitted.transpose_outs(&Dim::axes(shape.len())))
}

/// The tile that one warp holds of an accumulator or an operand. It has `k_width` registers and 4 lanes along the inner
/// axis and 8 lanes along the outer one. Then registers go down the outer and along the inner axis until `tile` is
/// full. The outputs come in `rep_order`.
///
/// For the accumulator of m16n8k16 (`tile` 16×8, width 2), registers 0 and 1 are neighbours in a row, and 2 and 3 are
/// the same eight rows below.
pub fn mma_tile(tile: &[u32], k_width: u32, order: &[u32], rep_order: &[u32]) -> Result<LinearLayout, LayoutError> {
    let (inner, outer) = (order[0] as usize, order[1] as usize);
    let (rows, columns) = (tile[outer], tile[inner]);
    if !k_width.is_power_of_two() || k_width > 64 {
        return Err(LayoutError::new(format!("kWidth is {k_width}, expected a power of two up to 64")));
    }
    if [rows, columns].iter().any(|s| !s.is_power_of_two())
        || rows % 8 != 0
        || columns % (4 * k_width) != 0
        || rows > 512
        || columns > 1024
    {
        return Err(LayoutError::new(format!(
            "a tile of {rows}x{columns} cannot be held in fragments with kWidth {k_width}"
        )));
    }
    let part = |size, input, axis: usize| LinearLayout::identity1d(size, input, Dim::axis(axis));
    Ok(LinearLayout::identity_nd(Dim::Register, &vec![1; tile.len()], rep_order)
        .product(&part(k_width, Dim::Register, inner))
        .product(&part(4, Dim::Lane, inner))
        .product(&part(8, Dim::Lane, outer))
        .product(&part(rows / 8, Dim::Register, outer))
        .product(&part(columns / (4 * k_width), Dim::Register, inner)))
}

fn check_mma(e: &NvidiaMma, rank: usize) -> Result<(), LayoutError> {
    expect_rank("warpsPerCTA", e.warps_per_cta.len(), rank)?;
    expect_powers_of_two("warpsPerCTA", &e.warps_per_cta)?;
    let (ranks, instr_rank) = match e.version_major {
        2 => (2..=3, rank),
        3 => (2..=2, 3),
        v => return Err(LayoutError::new(format!("nvidia_mma of version {v} has no layout in registers"))),
    };
    if !ranks.contains(&rank) {
        return Err(LayoutError::new(format!(
            "nvidia_mma of version {} cannot hold a tensor of rank {rank}",
            e.version_major
        )));
    }
    if e.instr_shape.len() != instr_rank {
        return Err(LayoutError::new(format!(
            "instrShape has {} elements, expected {instr_rank}",
            e.instr_shape.len()
        )));
    }
    Ok(())
}

/// The order in which warps run. Those of `wgmma` run down the columns first, four to a warp group of 64 rows; those of
/// `mma` run along the rows.
fn warp_order(e: &NvidiaMma, rank: usize) -> Vec<u32> {
    matrix_order(rank, e.version_major != 3)
}

/// The accumulator of `mma.sync` (version 2) or `wgmma` (version 3).
pub(super) fn nvidia_mma(shape: &[i64], e: &NvidiaMma) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check_mma(e, rank)?;
    let tile_shape = if e.version_major == 2 { e.instr_shape.clone() } else { e.instr_shape[..2].to_vec() };
    let order = matrix_order(rank, true);
    let tile = mma_tile(&tile_shape, 2, &order, &order)?;
    let warps = LinearLayout::identity_nd(Dim::Warp, &e.warps_per_cta, &warp_order(e, rank));
    combine(&tile.product(&warps.transpose_outs(&tile.out_dims().collect::<Vec<_>>())), &e.cga, shape)
}

/// An operand of a dot product, laid out for the instruction that its parent stands for.
pub(super) fn dot_op(shape: &[i64], op_idx: u32, parent: Attr, k_width: u32) -> Result<LinearLayout, LayoutError> {
    if op_idx > 1 || shape.len() < 2 {
        return Err(LayoutError::new(format!(
            "operand {op_idx} of rank {} is no operand of a dot product",
            shape.len()
        )));
    }
    match parent.as_encoding() {
        Some(Encoding::Blocked(e)) => blocked_operand(shape, op_idx, e),
        Some(Encoding::NvidiaMma(e)) => mma_operand(shape, op_idx, e, k_width),
        Some(Encoding::AmdMfma(e)) => amd::mfma_operand(shape, op_idx, e, k_width),
        Some(Encoding::AmdWmma(e)) => amd::wmma_operand(shape, op_idx, e, k_width),
        _ => Err(LayoutError::new("the parent of a dot operand is neither blocked nor that of a matrix instruction")),
    }
}

/// The axis over which the product sums: the last axis of operand 0, and the one before the last of operand 1.
pub(super) fn k_axis(op_idx: u32, rank: usize) -> usize {
    if op_idx == 0 { rank - 1 } else { rank - 2 }
}

/// An identity over the axes in `order`, except that whoever is spread along K holds copies, because all of them need
/// all of K.
///
/// With 2×2 warps in row order, warp bit 0 runs along axis 1 and bit 1 along axis 0. In operand 0, axis 1 is K, so
/// warps 0 and 1 hold the upper rows, and 2 and 3 the lower ones. In operand 1, axis 0 is K, so warps 0 and 2 hold the
/// left columns, and 1 and 3 the right ones.
fn broadcast_along_k(input: Dim, shape: &[u32], order: &[u32], k: usize) -> LinearLayout {
    let mut layout = LinearLayout::empty();
    for &axis in order {
        let (size, dim) = (shape[axis as usize], Dim::axis(axis as usize));
        let part = if axis as usize == k {
            LinearLayout::zeros1d(size, input, dim, 1)
        } else {
            LinearLayout::identity1d(size, input, dim)
        };
        layout = layout.product(&part);
    }
    layout
}

/// The parent's cluster layout, changed so that all blocks hold all of K.
pub(super) fn operand_cga(cga: &Bases, k: usize, rank: usize) -> Result<LinearLayout, LayoutError> {
    Ok(cga_layout(cga, rank)?.resize_out(Dim::axis(k), 1))
}

/// The operand of a product by fused multiply-adds. A thread holds all of K for its rows or columns.
fn blocked_operand(shape: &[i64], op_idx: u32, e: &Blocked) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check_blocked(e, rank)?;
    let k = k_axis(op_idx, rank);
    let mut size = e.size_per_thread.clone();
    size[k] = u32::try_from(shape[k]).expect("a checked shape fits");
    let tile = LinearLayout::identity_nd(Dim::Register, &size, &e.order)
        .product(&broadcast_along_k(Dim::Lane, &e.threads_per_warp, &e.order, k))
        .product(&broadcast_along_k(Dim::Warp, &e.warps_per_cta, &e.order, k));
    combine_layouts(&tile, &operand_cga(&e.cga, k, rank)?, shape)
}

/// An operand of `mma.sync`, or the first operand of `wgmma` when it comes from registers.
fn mma_operand(shape: &[i64], op_idx: u32, e: &NvidiaMma, k_width: u32) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check_mma(e, rank)?;
    if op_idx == 1 && e.version_major == 3 {
        return Err(LayoutError::new("operand 1 of wgmma is never in registers"));
    }
    // m8n8k4 of f64 has rows of four elements. All others have eight times the width.
    let m = e.instr_shape[rank - 2];
    let k_size = k_width.saturating_mul(if m == 8 { 4 } else { 8 });
    let mut tile_shape = vec![1; rank];
    (tile_shape[rank - 2], tile_shape[rank - 1]) = if op_idx == 0 { (m, k_size) } else { (k_size, 8) };
    // K runs fastest: along the rows of operand 0 and down the columns of operand 1.
    let order = matrix_order(rank, op_idx == 0);
    let tile = mma_tile(&tile_shape, k_width, &order, &order)?;
    let k = k_axis(op_idx, rank);
    let warps = broadcast_along_k(Dim::Warp, &e.warps_per_cta, &warp_order(e, rank), k);
    let tile = tile.product(&warps.transpose_outs(&tile.out_dims().collect::<Vec<_>>()));
    combine_layouts(&tile, &operand_cga(&e.cga, k, rank)?, shape)
}
