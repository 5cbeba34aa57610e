//! Fragments of AMD's matrix instructions, `mfma` (64 lanes) and `wmma` (32 lanes), with their operands.
//!
//! Both instructions spread the result the same way: a lane holds neighbours along one axis (M, or N when transposed)
//! in its registers, the lanes run along the other axis first, and then along the first one. An operand has `k_width`
//! neighbours along K in a lane; the lanes run along M or N, and then along K (AMD, matrix instruction calculator,
//! `amd_matrix_instruction_calculator`).
//!
//! Example: the result of `mfma` 32x32x8 on 32x32, not transposed. A lane has 4 rows, 32 lanes a row, 2 times 4 rows
//! make 8, and this is repeated 4 times.
//!
//! ```text
//! register = [(1,0), (2,0), (8,0), (16,0)]   lane = [(0,1), (0,2), (0,4), (0,8), (0,16), (4,0)]
//! ```

use super::combine::{combine, combine_layouts, expect_rank};
use super::distributed::{blocked, k_axis, operand_cga};
use crate::ir::core::encoding::{AmdMfma, AmdWmma, Blocked};
use crate::ir::core::{Bases, Encoding};
use crate::ir::encoding::questions::matrix_order;
use crate::ir::encoding::wellformed;
use crate::layout::{Dim, LayoutError, LinearLayout};

/// Lanes that work on one `mfma`, and on one `wmma`.
const MFMA_LANES: u32 = 64;
const WMMA_LANES: u32 = 32;

/// `size` steps of `input` along an axis; nothing for no steps.
fn steps(size: u32, input: Dim, axis: usize) -> LinearLayout {
    if size == 0 { LinearLayout::empty() } else { LinearLayout::identity1d(size, input, Dim::axis(axis)) }
}

/// How many tiles of `tile` elements an axis of this size has.
fn tiles_of(size: i64, tile: u32) -> u32 {
    u32::try_from(size).expect("a checked shape fits") / tile
}

/// The axes of the order that `matrix_order` gives.
fn ordered(rank: usize, row_major: bool) -> Vec<Dim> {
    matrix_order(rank, row_major).into_iter().map(|axis| Dim::axis(axis as usize)).collect()
}

/// The result of `mfma`. All tiles along N come before the next ones along M.
pub(super) fn mfma(shape: &[i64], e: &AmdMfma) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check(&Encoding::AmdMfma(e.clone()), e.warps_per_cta.len(), rank)?;
    let (m, n) = (rank - 2, rank - 1);
    let (rows, columns) = (e.instr_shape[0], e.instr_shape[1]);
    // Which axis a lane's registers run along, which the lanes run along first, and the tile's size there.
    let (along, across, lanes) = if e.is_transposed { (n, m, rows) } else { (m, n, columns) };
    let held = if e.element_bit_width == 64 { 1 } else { 4 };
    let tile = steps(held, Dim::Register, along)
        .product(&steps(lanes, Dim::Lane, across))
        .product(&steps(MFMA_LANES / lanes, Dim::Lane, along))
        .product(&steps(rows * columns / (MFMA_LANES * held), Dim::Register, along))
        .transpose_outs(&[Dim::axis(n), Dim::axis(m)]);
    let row = columns * e.warps_per_cta[n] * e.tiles_per_warp[n];
    let mut tile = tile
        .product(&steps(e.tiles_per_warp[n], Dim::Register, n))
        .product(&steps(e.warps_per_cta[n], Dim::Warp, n))
        .product(&steps(tiles_of(shape[n], row), Dim::Register, n))
        .product(&steps(e.tiles_per_warp[m], Dim::Register, m))
        .product(&steps(e.warps_per_cta[m], Dim::Warp, m));
    if rank == 3 {
        tile = tile.product(&steps(e.warps_per_cta[0], Dim::Warp, 0));
    }
    combine(&tile, &e.cga, shape)
}

/// An operand of `mfma`. Each warp has all of K.
pub(super) fn mfma_operand(shape: &[i64], op_idx: u32, e: &AmdMfma, k_width: u32) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check(&Encoding::AmdMfma(e.clone()), e.warps_per_cta.len(), rank)?;
    let (k, other) = (k_axis(op_idx, rank), if op_idx == 0 { rank - 2 } else { rank - 1 });
    let lanes = e.instr_shape[op_idx as usize];
    expect_k_width(k_width)?;
    let mut depth = MFMA_LANES / lanes * k_width;
    let mut tile = steps(k_width, Dim::Register, k).product(&steps(lanes, Dim::Lane, other)).product(&steps(
        MFMA_LANES / lanes,
        Dim::Lane,
        k,
    ));
    if lanes == MFMA_LANES {
        // The sixteen products of 4x4 have their own parts of K.
        tile = tile.product(&steps(16, Dim::Register, k));
        depth *= 16;
    }
    let tile = tile
        .product(&steps(tiles_of(shape[k], depth), Dim::Register, k))
        .product(&steps(e.tiles_per_warp[other], Dim::Register, other))
        .transpose_outs(&[Dim::axis(k), Dim::axis(other)]);
    // The warps run along the rows of the result. Those along K are beyond all of K, and so hold copies.
    let warps = LinearLayout::identity_nd(Dim::Warp, &e.warps_per_cta, &matrix_order(rank, true));
    let order = ordered(rank, op_idx == 0);
    let tile = widened(&tile, rank).product(&warps.transpose_outs(&order));
    combine_layouts(&tile, &operand_cga(&e.cga, k, rank)?, shape)
}

/// The tile with an axis of batches behind its two.
fn widened(tile: &LinearLayout, rank: usize) -> LinearLayout {
    if rank == 3 { tile.product(&steps(1, Dim::Register, 0)) } else { tile.clone() }
}

/// The result of `wmma`: eight elements in each of 32 lanes. Those of version 1 are every other row (or column), later
/// ones eight neighbours.
pub(super) fn wmma(shape: &[i64], e: &AmdWmma) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check(&Encoding::AmdWmma(e.clone()), e.rank as usize, rank)?;
    let (lanes, registers) = if e.is_transposed { (rank - 2, rank - 1) } else { (rank - 1, rank - 2) };
    // 32 rows are two tiles of 16.
    let halves = e.instr_shape[0] / 16;
    let lane = steps(16, Dim::Lane, lanes);
    let register = |size| steps(size, Dim::Register, registers);
    let rest = steps(2, Dim::Lane, registers);
    let tile = lane.product(&if e.version == 1 { rest.product(&register(8)) } else { register(8).product(&rest) });
    let tile = tile.product(&steps(halves, Dim::Register, rank - 2));
    let order = ordered(rank, true);
    let tile = widened(&tile, rank).transpose_ins(&[Dim::Register, Dim::Lane]).transpose_outs(&order);
    combine(&tile.product(&cta(&e.tiles, &e.warps, rank)?.transpose_outs(&order)), &e.cga, shape)
}

/// An operand of `wmma`. In version 1 both halves of the lanes hold the same elements.
pub(super) fn wmma_operand(shape: &[i64], op_idx: u32, e: &AmdWmma, k_width: u32) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    check(&Encoding::AmdWmma(e.clone()), e.rank as usize, rank)?;
    let (k, other) = (k_axis(op_idx, rank), if op_idx == 0 { rank - 2 } else { rank - 1 });
    expect_k_width(k_width)?;
    let (lanes, depth) = (16, WMMA_LANES / 16);
    let deep = if e.version == 1 {
        LinearLayout::zeros1d(depth, Dim::Lane, Dim::axis(k), 1)
    } else {
        steps(depth, Dim::Lane, k)
    };
    let size = shape[k].max(i64::from(e.instr_shape[2]));
    let tile = steps(k_width, Dim::Register, k)
        .product(&steps(lanes, Dim::Lane, other))
        .product(&deep)
        .product(&steps(tiles_of(size, depth * k_width), Dim::Register, k))
        .product(&steps(e.instr_shape[op_idx as usize] / lanes, Dim::Register, other));
    let order = ordered(rank, op_idx == 0);
    let tile = widened(&tile, rank).transpose_outs(&order);
    let without = |bases: &Bases| -> Bases {
        let cleared = bases.iter().map(|b| b.iter().enumerate().map(|(a, &c)| if a == k { 0 } else { c }).collect());
        cleared.collect()
    };
    // Tiles of one warp along K are the same operand; its warps hold copies.
    let mut tiles = without(&e.tiles);
    tiles.retain(|basis| basis.iter().any(|&c| c != 0));
    let cta = cta(&tiles, &without(&e.warps), rank)?.transpose_outs(&order);
    combine_layouts(&tile.product(&cta), &operand_cga(&e.cga, k, rank)?, shape)
}

/// A blocked layout of two axes with each thread's own tile turned: its registers run along the other axis first.
///
/// Example: `sizePerThread = [2, 2], order = [0, 1]` has the registers `[(1, 0), (2, 0)]` along axis 0 first; turned,
/// they begin along axis 1.
///
/// # Errors
/// The layout is not well-formed, or does not have two axes.
pub fn in_thread_transposed(shape: &[i64], e: &Blocked) -> Result<LinearLayout, LayoutError> {
    expect_rank("order", e.order.len(), 2)?;
    let layout = blocked(shape, e)?;
    let held: Vec<u32> = e.size_per_thread.iter().zip(shape).map(|(&n, &size)| i64::from(n).min(size) as u32).collect();
    let order: Vec<u32> = e.order.iter().rev().copied().collect();
    let tile = LinearLayout::identity_nd(Dim::Register, &held, &order).transpose_outs(&Dim::axes(2));
    let mut bases = layout.all_bases();
    for (_, registers) in bases.iter_mut().filter(|(dim, _)| *dim == Dim::Register) {
        for (register, turned) in registers.iter_mut().zip(tile.bases(Dim::Register)) {
            *register = turned;
        }
    }
    LinearLayout::from_bases(&bases, &layout.out_sizes())
}

/// Where the tiles of a block are, counted in tiles.
fn cta(tiles: &Bases, warps: &Bases, rank: usize) -> Result<LinearLayout, LayoutError> {
    LinearLayout::from_bases_inferred(&[(Dim::Register, tiles.clone()), (Dim::Warp, warps.clone())], &Dim::axes(rank))
}

fn check(e: &Encoding, found: usize, rank: usize) -> Result<(), LayoutError> {
    expect_rank("the layout", found, rank)?;
    wellformed::encoding(e).map_err(LayoutError::new)
}

fn expect_k_width(k_width: u32) -> Result<(), LayoutError> {
    if k_width.is_power_of_two() && k_width <= 64 {
        return Ok(());
    }
    Err(LayoutError::new(format!("kWidth is {k_width}, expected a power of two up to 64")))
}
