//! Encodings of tensor memory: from its rows and columns to the tensor. Columns count cells of 32 bits, or of 16 bits
//! where elements are packed.
//!
//! A zero basis in row bits 5 and 6 means that the warps which own those rows hold copies. Elsewhere it means a cell
//! without an element.

use super::combine::{cga_layout, shape_per_cta, sizes_of};
use crate::ir::core::Bases;
use crate::ir::core::encoding::TensorMemory;
use crate::layout::{Dim, LayoutError, LinearLayout};

fn identity(size: u32, input: Dim, axis: usize) -> LinearLayout {
    LinearLayout::identity1d(size, input, Dim::axis(axis))
}

fn matrix_share(shape: &[i64], cga: &Bases) -> Result<[u32; 2], LayoutError> {
    match shape_per_cta(cga, shape)?[..] {
        [m, n] if shape.len() == 2 => Ok([m as u32, n as u32]),
        _ => Err(LayoutError::new(format!("tensor memory holds matrices, not a shape of rank {}", shape.len()))),
    }
}

/// An accumulator or operand of `tcgen05.mma`: blocks of `block_m` × `block_n`, one after the other along the columns.
pub(super) fn tensor_memory(shape: &[i64], e: &TensorMemory) -> Result<LinearLayout, LayoutError> {
    let share = matrix_share(shape, &e.cga)?;
    let powers = [e.block_n, e.col_stride].iter().all(|v| v.is_power_of_two() && *v <= 512);
    if !matches!(e.block_m, 64 | 128) || !powers {
        return Err(LayoutError::new(format!("tensor memory has no blocks of {}x{}", e.block_m, e.block_n)));
    }
    let block_n = e.block_n.min(share[1]);
    let stride = LinearLayout::zeros1d(e.col_stride, Dim::Col, Dim::axis(1), 1);
    let columns = identity(block_n, Dim::Col, 1);
    // Padding is the low bit of the column. The even half holds elements.
    let columns =
        if e.fp4_padded { LinearLayout::zeros1d(2, Dim::Col, Dim::axis(1), 1).product(&columns) } else { columns };
    let tile = if e.block_m == 64 && !e.two_ctas {
        half_rows(&stride, e.block_m, &columns, share)?
    } else {
        let tile = stride.product(&identity(e.block_m, Dim::Row, 0).product(&columns));
        if e.block_m == 64 { last_column_bit_to_rows(&tile)? } else { tile }
    };
    if (0..2).any(|i| share[i] < tile.out_size(Dim::axis(i))) {
        return Err(LayoutError::new(format!("a block of {}x{} exceeds the tensor", e.block_m, e.block_n)));
    }
    let repeats = |i: usize| identity(share[i] / tile.out_size(Dim::axis(i)), Dim::Col, i);
    fit(&tile.product(&repeats(0)).product(&repeats(1)).product(&cga_layout(&e.cga, 2)?), shape)
}

/// Puts 64 rows of one block into rows 0–15, 32–47, 64–79 and 96–111. The gaps hold the next block, if there is one.
fn half_rows(
    stride: &LinearLayout,
    block_m: u32,
    columns: &LinearLayout,
    share: [u32; 2],
) -> Result<LinearLayout, LayoutError> {
    let block_n = columns.out_size(Dim::axis(1));
    let tile = stride.product(&identity(16, Dim::Row, 0).product(columns));
    let gap = match share {
        [m, _] if m > block_m => vec![64, 0],
        [_, n] if n > block_n => vec![0, block_n as i32],
        _ => vec![0, 0],
    };
    let mut bases = tile.all_bases();
    if let Some((_, rows)) = bases.iter_mut().find(|b| b.0 == Dim::Row) {
        rows.extend([gap, vec![16, 0], vec![32, 0]]);
    }
    LinearLayout::from_bases_inferred(&bases, &Dim::axes(2))
}

/// Lets two blocks of 64 rows share 128 rows: the upper half of the columns goes to the upper rows.
fn last_column_bit_to_rows(tile: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut bases = tile.all_bases();
    let last = bases.iter_mut().find(|b| b.0 == Dim::Col).and_then(|b| b.1.pop());
    if let (Some((_, rows)), Some(last)) = (bases.iter_mut().find(|b| b.0 == Dim::Row), last) {
        rows.push(last);
    }
    LinearLayout::from_bases(&bases, &tile.out_sizes())
}

/// Scale factors of `tcgen05.mma` with block scaling (PTX ISA, "Layout of the Scale Factor A Matrix"). They take 32
/// rows, repeated for each warp, with four columns of scales. Two pieces of 64 rows make a block. The blocks follow one
/// another by rows first, or along K first.
pub(super) fn scales(shape: &[i64], cga: &Bases, k_first: bool) -> Result<LinearLayout, LayoutError> {
    let share = matrix_share(shape, cga)?;
    let tile = identity(32, Dim::Row, 0)
        .product(&LinearLayout::zeros1d(4, Dim::Row, Dim::axis(0), 1))
        .product(&identity(4, Dim::Col, 1))
        .product(&identity(2, Dim::Col, 0));
    let repeats = |i: usize| share[i].div_ceil(tile.out_size(Dim::axis(i)));
    let pair = repeats(0).min(2);
    let (rows, along_k) = (identity(repeats(0) / pair, Dim::Col, 0), identity(repeats(1), Dim::Col, 1));
    let tile = tile.product(&identity(pair, Dim::Col, 0));
    let tile = if k_first { tile.product(&along_k).product(&rows) } else { tile.product(&rows).product(&along_k) };
    let tile = tile.product(&identity(1, Dim::Block, 0));
    let tile = tile.ensure_not_larger(&[(Dim::axis(0), share[0]), (Dim::axis(1), share[1])], true);
    fit(&tile.product(&cga_layout(cga, 2)?), shape)
}

fn fit(layout: &LinearLayout, shape: &[i64]) -> Result<LinearLayout, LayoutError> {
    let layout = layout.transpose_outs(&Dim::axes(2));
    if layout.out_sizes() == sizes_of(shape) {
        Ok(layout)
    } else {
        Err(LayoutError::new("the layout does not tile the shape"))
    }
}
