//! Encodings of shared memory: from the offset of an element within the allocation of one block, to the element.
//!
//! A swizzle permutes the column groups of each row, so that a column of the matrix is spread over the banks. The bases
//! of the columns are plain, and those of the rows also move along the columns. With
//! `vec = 8, perPhase = 1, maxPhase = 8` on 64 columns, row `r` starts at column `8 · (r mod 8)`: the bases are
//! `row=1 → (1, 8)`, `row=2 → (2, 16)`, `row=4 → (4, 32)`, `row=8 → (8, 0)`.

use super::combine::{combine, expect_order, shape_per_cta, sizes_of};
use crate::ir::core::Bases;
use crate::ir::core::encoding::{NvmmaShared, PaddedShared, SwizzledShared};
use crate::layout::{Dim, LayoutError, LinearLayout};

/// Puts rows of `order[0]` after each other, with their elements exchanged in groups of `vec` by the row's phase.
pub(super) fn swizzled(shape: &[i64], e: &SwizzledShared) -> Result<LinearLayout, LayoutError> {
    exchanged(shape, e, |row| row / i64::from(e.per_phase) % i64::from(e.max_phase))
}

/// As [`swizzled`], but each block of `perPhase · maxPhase` rows exchanges its phases once more by its own number, so
/// that a column of several blocks is spread over the banks too.
pub(super) fn rotating(shape: &[i64], e: &SwizzledShared) -> Result<LinearLayout, LayoutError> {
    let (per_phase, max_phase) = (i64::from(e.per_phase), i64::from(e.max_phase));
    exchanged(shape, e, |row| (row / per_phase % max_phase) ^ (row / max_phase / per_phase % max_phase))
}

/// Rows of `order[0]` after each other, with their elements exchanged in groups of `vec` by what `phase` says of the
/// row.
fn exchanged(shape: &[i64], e: &SwizzledShared, phase: impl Fn(i64) -> i64) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    expect_order(&e.order, rank)?;
    for (what, v) in [("vec", e.vec), ("perPhase", e.per_phase), ("maxPhase", e.max_phase)] {
        if !v.is_power_of_two() {
            return Err(LayoutError::new(format!("{what} is {v}, expected a power of two")));
        }
    }
    let share = shape_per_cta(&e.cga, shape)?;
    if rank == 0 {
        return Err(LayoutError::new("a scalar has no layout in shared memory"));
    }
    if rank == 1 {
        return combine(&LinearLayout::identity1d(share[0] as u32, Dim::Offset, Dim::axis(0)), &e.cga, shape);
    }
    let (column, row) = (e.order[0] as usize, e.order[1] as usize);
    let columns = share[column];
    let mut bases: Bases = powers_below(columns).map(|c| vec![0, c as i32]).collect();
    for r in powers_below(share[row]) {
        bases.push(vec![r as i32, ((i64::from(e.vec) * phase(r)) % columns) as i32]);
    }
    let sizes = [(Dim::axis(row), share[row] as u32), (Dim::axis(column), columns as u32)];
    let mut tile = LinearLayout::from_bases(&[(Dim::Offset, bases)], &sizes)?;
    for &axis in &e.order[2..] {
        tile =
            tile.product(&LinearLayout::identity1d(share[axis as usize] as u32, Dim::Offset, Dim::axis(axis as usize)));
    }
    combine(&tile, &e.cga, shape)
}

fn powers_below(limit: i64) -> impl Iterator<Item = i64> {
    (0..62).map(|i| 1i64 << i).take_while(move |&p| p < limit)
}

/// The tile of eight rows that `wgmma` and the tensor memory accelerator read. Its rows have 16 to 128 bytes, in which
/// chunks of 16 bytes are exchanged by the row (PTX ISA, "Shared Memory Matrix Layout": 32-, 64- and 128-byte swizzling
/// modes).
fn core_matrix(e: &NvmmaShared) -> Result<LinearLayout, LayoutError> {
    let width = i64::from(e.swizzling_byte_width);
    let columns = 8 * width.max(16) / i64::from(e.element_bit_width);
    let vec = 128 / i64::from(e.element_bit_width);
    let (per_phase, max_phase) = (128 / width, width / 16);
    // With fp4 padding, each group of 16 offsets holds 8 elements. Its second 8 offsets name the same elements again.
    let packed = |c: i64| if e.fp4_padded { c / 16 * 8 + c % 8 } else { c };
    let mut bases: Bases = powers_below(columns).map(|c| vec![0, packed(c) as i32]).collect();
    bases.extend(powers_below(8).map(|r| vec![r as i32, packed(vec * ((r / per_phase) % max_phase)) as i32]));
    LinearLayout::from_bases_inferred(&[(Dim::Offset, bases)], &Dim::axes(2))
}

/// The part of a block's share that one message of the tensor memory accelerator moves: at most 256 in each dimension,
/// and as wide as the swizzle along the contiguous dimension.
pub(super) fn tma_box(share: &[i64], e: &NvmmaShared) -> Result<Vec<i64>, LayoutError> {
    let mut size = share.to_vec();
    let contiguous = if e.transposed { 0 } else { size.len() - 1 };
    if e.fp4_padded {
        size[contiguous] *= 2;
    }
    for s in &mut size {
        *s = (*s).min(256);
    }
    if e.swizzling_byte_width != 0 {
        let width = 8 * i64::from(e.swizzling_byte_width) / i64::from(e.element_bit_width);
        if size[contiguous] < width {
            let found = size[contiguous];
            return Err(LayoutError::new(format!(
                "the block has {found} elements along the contiguous dimension {contiguous}, a swizzle of {} bytes needs {width}",
                e.swizzling_byte_width
            )));
        }
        size[contiguous] = width;
    }
    if e.fp4_padded {
        size[contiguous] = (size[contiguous] / 2).max(1);
    }
    Ok(size)
}

/// Puts tiles of [`core_matrix`] one below the other, for one box after the other.
pub(super) fn nvmma(shape: &[i64], e: &NvmmaShared) -> Result<LinearLayout, LayoutError> {
    let rank = shape.len();
    if ![0, 32, 64, 128].contains(&e.swizzling_byte_width) || ![8, 16, 32, 64].contains(&e.element_bit_width) {
        let (w, b) = (e.swizzling_byte_width, e.element_bit_width);
        return Err(LayoutError::new(format!("nvmma_shared has no swizzle of {w} bytes for elements of {b} bits")));
    }
    if rank == 0 || (rank < 2 && e.swizzling_byte_width != 0) {
        return Err(LayoutError::new("a swizzled nvmma_shared layout needs a shape of rank 2 or more"));
    }
    let share = shape_per_cta(&e.cga, shape)?;
    let tma = tma_box(&share, e)?;
    // A transposed layout is the layout of the shape with the first axis moved to the end.
    let mut seen = tma.clone();
    if e.transposed {
        seen.rotate_left(1);
    }
    let seen: Vec<u32> = seen.iter().map(|&s| s as u32).collect();
    let repeat_order =
        if e.swizzling_byte_width == 0 { Dim::axes(rank).into_iter().rev().collect() } else { Dim::axes(rank) };
    let boxed = if e.swizzling_byte_width == 0 {
        let fastest_last: Vec<u32> = (0..rank as u32).rev().collect();
        LinearLayout::identity_nd(Dim::Offset, &seen, &fastest_last).transpose_outs(&Dim::axes(rank))
    } else {
        swizzled_box(e, &tma, &seen)?
    };
    let boxed = if e.transposed { boxed.permute_axes(&rotation(rank)) } else { boxed };
    combine(&boxed.transpose_outs(&repeat_order).ensure_not_smaller(&sizes_of(&share)), &e.cga, shape)
}

/// The order that undoes moving the first axis to the end: the last axis, then the others.
fn rotation(rank: usize) -> Vec<u32> {
    let last = rank as u32 - 1;
    std::iter::once(last).chain(0..last).collect()
}

/// Puts core matrices one below the other, then side by side, until a box is full. The result is seen with the box's
/// shape `seen`.
fn swizzled_box(e: &NvmmaShared, tma: &[i64], seen: &[u32]) -> Result<LinearLayout, LayoutError> {
    let (columns, outer) = tma.split_last().expect("the rank was checked");
    let (mut rows, mut columns) = (outer.iter().product::<i64>(), *columns);
    if e.transposed {
        std::mem::swap(&mut rows, &mut columns);
    }
    let core = core_matrix(e)?;
    let (core_rows, core_columns) = (i64::from(core.out_size(Dim::axis(0))), i64::from(core.out_size(Dim::axis(1))));
    let packing = if e.fp4_padded { 2 } else { 1 };
    if rows < core_rows || columns * packing < core_columns {
        return Err(LayoutError::new(format!(
            "a box of {rows}x{columns} elements is smaller than the {core_rows}x{} that swizzling exchanges",
            core_columns / packing
        )));
    }
    let filled = core.ensure_not_smaller(&sizes_of(&[rows, columns]));
    if filled.total_out_bits() != seen.iter().map(|s| s.trailing_zeros()).sum::<u32>() {
        return Err(LayoutError::new("the swizzled tile does not fill the block"));
    }
    Ok(filled.reshape_row_major(seen))
}

/// The given bases, which fix the shape.
pub(super) fn shared_linear(shape: &[i64], offset: &Bases, block: &Bases) -> Result<LinearLayout, LayoutError> {
    let axes = Dim::axes(shape.len());
    let layout =
        LinearLayout::from_bases_inferred(&[(Dim::Offset, offset.clone()), (Dim::Block, block.clone())], &axes)?;
    if layout.out_sizes() == sizes_of(shape) && layout.is_surjective() {
        Ok(layout)
    } else {
        Err(LayoutError::new("the bases of the layout are those of another shape"))
    }
}

/// The linear part of a padded layout. It starts from the offset before padding, and [`padded_offset`] adds the
/// padding.
pub(super) fn padded(shape: &[i64], e: &PaddedShared) -> Result<LinearLayout, LayoutError> {
    for (what, v) in e.intervals.iter().flat_map(|&(interval, padding)| [("interval", interval), ("padding", padding)])
    {
        if !v.is_power_of_two() {
            return Err(LayoutError::new(format!("one {what} is {v}, expected a power of two")));
        }
    }
    let elements = shape.iter().product::<i64>();
    let padded = e
        .intervals
        .iter()
        .fold(elements, |sum, &(i, p)| sum.saturating_add((elements / i64::from(i)).saturating_mul(i64::from(p))));
    if padded > i64::from(i32::MAX) {
        return Err(LayoutError::new(format!("the padded allocation has {padded} elements")));
    }
    shared_linear(shape, &e.offset, &e.block)
}

/// Where an element lies in a padded allocation, given its offset before padding. For each pair, as many paddings are
/// added as whole intervals lie before the element. With `[32:+4]`, offset 70 is at `70 + 2·4 = 78`.
#[must_use]
pub fn padded_offset(e: &PaddedShared, offset: u32) -> u32 {
    e.intervals.iter().fold(offset, |at, &(interval, padding)| at + offset / interval * padding)
}
