//! The rules for parts of buffers, and for buffers that are seen as others.
//!
//! 1. A *part* of shared memory lies at offsets that one addition reaches, so splitting an axis must not cut the
//!    swizzle pattern. A part of tensor memory starts at whole columns of 32 bits. If it does not start at a multiple
//!    of its size, the bits that carry must be neighbouring columns or rows.
//! 2. A buffer that is *seen as another* has all bytes, or columns and rows, that the other takes. A part has the bytes
//!    from its start to the first that lies elsewhere. Of the bytes between its elements, it owns only those that no
//!    element of the allocation uses.
//! 3. *TMA* writes to one block of the cluster and reads from its own, so a part of a buffer that the blocks share does
//!    not cross to another block.
//!
//! ```text
//! %1 = ttg.memdesc_subslice %0[0, 8] : 16 × 16, swizzled over 16 columns, to 16 × 8      cut: columns 8 to 15 lie at several offsets
//! %2 = ttg.memdesc_reinterpret %1    : 16 × 8 f16 of 16 × 16, to 16 × 8 f16              a row of %1 is 16 bytes, and then comes another's
//! ```

use super::Rule;
use crate::ir::core::{AttrData, Encoding, Ir, MemDesc, Op, Type};
use crate::ir::encoding::questions;
use crate::layout::solve::Pivots;
use crate::layout::{Dim, LinearLayout, layout_of};

/// The dimensions of a shape that the layout lays out. They are those that do not count buffers.
fn laid_out<'a>(m: &MemDesc, shape: &'a [i64]) -> &'a [i64] {
    let rank = questions::rank_of(m.encoding).unwrap_or(shape.len()).min(shape.len());
    &shape[shape.len() - rank..]
}

fn in_tensor_memory(m: &MemDesc) -> bool {
    *m.memory_space == AttrData::TensorMemory
}

/// Whether a basis of the cluster's blocks leads out of the part. Then the blocks have different parts of the
/// allocation, and this is one of them.
fn leaves(layout: &LinearLayout, shape: &[i64], bit: usize) -> bool {
    shape.iter().enumerate().any(|(d, &size)| i64::from(layout.basis(Dim::Block, bit, Dim::axis(d))) >= size)
}

fn crosses_blocks(layout: &LinearLayout, shape: &[i64]) -> bool {
    (0..layout.in_bits(Dim::Block) as usize).any(|bit| leaves(layout, shape, bit))
}

/// Checks step 1 for shared memory.
pub(super) fn subslice(src: Type, result: Type) -> Rule {
    let Some(m) = src.as_memdesc() else { return Ok(()) };
    let buffers = src.rank() - laid_out(m, src.shape()).len();
    if src.shape() == result.shape() {
        return Ok(());
    }
    if buffers > 0 && matches!(src.layout(), Some(Encoding::PaddedShared(_))) {
        return Err(format!("it splits {src}, whose padded layout has one dimension less"));
    }
    let Some(places) = layout_of(src).ok().and_then(LinearLayout::pseudoinvert) else { return Ok(()) };
    for dim in (buffers..src.rank()).filter(|&d| src.shape()[d] != result.shape()[d]) {
        let mut step = result.shape()[dim];
        while step < src.shape()[dim] {
            for (place, value) in places.apply(&[(Dim::axis(dim - buffers), step as u32)]) {
                if place == Dim::Offset && value != 0 && !value.is_power_of_two() {
                    return Err(format!(
                        "it cuts the swizzle pattern: element {step} along dimension {dim} is at offset {value}"
                    ));
                }
            }
            step *= 2;
        }
    }
    Ok(())
}

// ---- seen as another ----

/// The layout of what a descriptor of tensor memory shows. It leaves out elements beyond its shape, and columns behind
/// its last.
fn shown(m: &MemDesc, layout: &LinearLayout) -> LinearLayout {
    let sizes: Vec<(Dim, u32)> =
        laid_out(m, &m.shape).iter().enumerate().map(|(d, &s)| (Dim::axis(d), s as u32)).collect();
    let trimmed = layout.ensure_not_larger(&sizes, true);
    // A column is 32 bits, and what is shown takes whole columns.
    let least = (32 / m.elem.bit_width().unwrap_or(32).clamp(1, 32)).ilog2() as usize;
    let columns = trimmed.bases(Dim::Col);
    let used = columns.iter().rposition(|b| b.iter().any(|&c| c != 0)).map_or(0, |last| last + 1).max(least);
    let mut bases = trimmed.all_bases();
    if let Some((_, list)) = bases.iter_mut().find(|b| b.0 == Dim::Col) {
        list.resize(used, vec![0; sizes.len()]);
    }
    LinearLayout::from_bases(&bases, &trimmed.out_sizes()).unwrap_or(trimmed)
}

/// The bits of a place whose basis is not 0.
fn used_bits(layout: &LinearLayout, place: Dim) -> u32 {
    layout
        .bases(place)
        .iter()
        .enumerate()
        .filter(|(_, b)| b.iter().any(|&c| c != 0))
        .fold(0, |mask, (bit, _)| mask | 1 << bit)
}

/// The rows of tensor memory that an allocation takes. They are 64 where every second group of 16 is empty.
fn rows(layout: &LinearLayout) -> u32 {
    let empty = layout.bases(Dim::Row).get(4).is_some_and(|b| b.iter().all(|&c| c == 0));
    layout.in_size(Dim::Row) / if empty { 2 } else { 1 }
}

/// Checks step 2.
pub(super) fn reinterpret(src: Type, result: Type) -> Rule {
    let (Some(from), Some(to)) = (src.as_memdesc(), result.as_memdesc()) else { return Ok(()) };
    let (Ok(source), Ok(target)) = (layout_of(src), layout_of(result)) else { return Ok(()) };
    let shape = laid_out(from, &from.shape);
    if crosses_blocks(source, shape) {
        return Err(format!("the source has type {src}, a part that lies in several blocks of the cluster"));
    }
    let tensor_memory = in_tensor_memory(from);
    if tensor_memory {
        same_rows(from, source, target)?;
    }
    let (place, unit, units) = if tensor_memory { (Dim::Col, 32, "columns") } else { (Dim::Offset, 8, "bytes") };
    let length =
        |elements: u64, m: &MemDesc| (elements * u64::from(m.elem.bit_width().unwrap_or(unit as u32))).div_ceil(unit);
    let total = |m: &MemDesc, layout: &LinearLayout| {
        let buffers: i64 = m.shape[..m.shape.len() - laid_out(m, &m.shape).len()].iter().product();
        length(u64::from(layout.in_size(place)), m).saturating_mul(buffers.unsigned_abs())
    };
    let (has, needs) = (total(from, source), total(to, target));
    if needs > has {
        return Err(format!("the source takes {has} {units} and the result {needs}, expected no more than the source"));
    }
    if shape == laid_out(from, &from.alloc_shape) {
        return Ok(());
    }
    let own = contiguous(source, shape, place);
    let own = if own == u64::from(source.in_size(place)) { has } else { length(own, from) };
    if needs > own {
        return Err(format!(
            "the source is a part of {own} {units} before others that are not its own, and the result takes {needs}"
        ));
    }
    Ok(())
}

/// Checks that the result has no more rows than the source, and none of those that the source leaves out of its
/// allocation.
fn same_rows(from: &MemDesc, source: &LinearLayout, target: &LinearLayout) -> Rule {
    let visible = shown(from, source);
    let (has, needs) = (rows(&visible), rows(target));
    if needs > has {
        return Err(format!(
            "the source takes {has} rows of tensor memory and the result {needs}, expected no more than the source"
        ));
    }
    let hidden = used_bits(source, Dim::Row) & !used_bits(&visible, Dim::Row);
    if used_bits(target, Dim::Row) & hidden != 0 {
        return Err("the result has rows of tensor memory that the source, a part, leaves out".to_owned());
    }
    Ok(())
}

/// How many places from its start on belong to a part. They end at the first power of two that is no sum of the places
/// of its elements and of the places that no element of the allocation uses.
fn contiguous(layout: &LinearLayout, shape: &[i64], place: Dim) -> u64 {
    let Some(places) = layout.pseudoinvert() else { return u64::from(layout.in_size(place)) };
    let mut own: Vec<u64> = vec![];
    for (d, &size) in shape.iter().enumerate() {
        let axis = Dim::axis(d);
        own.extend((0..(size.max(1) as u64).ilog2() as usize).map(|bit| u64::from(places.basis(axis, bit, place))));
    }
    let unused = !used_bits(layout, place);
    own.extend((0..layout.in_bits(place)).filter(|bit| unused >> bit & 1 == 1).map(|bit| 1 << bit));
    let span = Pivots::of(&own);
    let first = (0..layout.in_bits(place)).find(|&bit| span.reduce(1 << bit).0 != 0);
    1 << first.unwrap_or_else(|| layout.in_bits(place))
}

// ---- tensor memory ----

/// Checks step 1 for tensor memory.
pub(super) fn tmem_subslice(ir: &Ir, op: Op) -> Rule {
    let (src, result) = (super::ty(ir, op, 0), ir.ty(ir.result(op)));
    let (Some(m), Ok(layout)) = (src.as_memdesc(), layout_of(src)) else { return Ok(()) };
    let buffers = src.rank() - laid_out(m, src.shape()).len();
    let dim = usize::try_from(ir.int_attr(op, "dim").unwrap_or(1)).unwrap_or(0);
    let Some(axis) = dim.checked_sub(buffers).map(Dim::axis) else { return Ok(()) };
    let (offset, part) = (ir.int_attr(op, "offset").unwrap_or(0) as u64, result.shape()[dim] as u64);
    let layout = shown(m, layout);
    if offset & (part - 1) != 0 && !carries(&layout, axis, offset, part) {
        return Err(format!(
            "its offset is {offset}, and its {part} elements along dimension {dim} do not lie side by side from there on"
        ));
    }
    let shape: Vec<i64> = (buffers..src.rank()).map(|d| if d == dim { part as i64 } else { i64::MAX }).collect();
    if crosses_blocks(&layout, &shape) {
        return Err(format!("it cuts along dimension {dim} between blocks of the cluster"));
    }
    let Some(places) = layout.pseudoinvert() else { return Ok(()) };
    let column =
        places.apply(&[(axis, offset as u32)]).into_iter().find(|p| p.0 == Dim::Col).map_or(0, |p| u64::from(p.1));
    let bits = column * u64::from(src.bit_width().unwrap_or(32));
    if bits % 32 != 0 {
        return Err(format!("its offset is {offset}, {bits} bits from the start, expected whole columns of 32 bits"));
    }
    Ok(())
}

/// Whether adding `offset` to the coordinates of a part carries only through neighbouring columns, or rows. The carry
/// goes from the lowest bit of the offset to the highest bit that the part changes. A part of 256 at 208 goes from 208
/// to 463, and the bits 16 to 256 are neighbours.
fn carries(layout: &LinearLayout, axis: Dim, offset: u64, part: u64) -> bool {
    let (first, last) = (offset.trailing_zeros(), (offset ^ (offset + part - 1)).ilog2());
    let others: Vec<Dim> = layout.out_dims().filter(|&d| d != axis).collect();
    let moves = |place: Dim, at: usize, bit: u32| {
        layout.basis(place, at, axis) == 1 << bit && others.iter().all(|&d| layout.basis(place, at, d) == 0)
    };
    let count = (last + 1 - first) as usize;
    [Dim::Row, Dim::Col].into_iter().any(|place| {
        let bits = layout.in_bits(place) as usize;
        (0..=bits.saturating_sub(count))
            .any(|start| count <= bits && (0..count).all(|i| moves(place, start + i, first + i as u32)))
    })
}

/// Checks a copy from shared memory, which writes 128 bits at once: four columns of 32 bits side by side. Scales have
/// instructions of their own.
pub(super) fn copied_columns(dst: Type) -> Rule {
    let (Some(m), Ok(layout)) = (dst.as_memdesc(), layout_of(dst)) else { return Ok(()) };
    if matches!(dst.layout(), Some(Encoding::TensorMemoryScales { .. })) {
        return Ok(());
    }
    let columns = shown(m, layout).bases(Dim::Col);
    let dense = columns.iter().take_while(|b| b.iter().any(|&c| c != 0)).count();
    if dense >= 2 {
        Ok(())
    } else {
        Err(format!("the destination has {} bits side by side in a row, expected at least 128", 32 << dense))
    }
}

// ---- TMA ----

/// Checks step 3 for a load. It may write at most to the pair of blocks that its barrier is for.
pub(super) fn load_target(buffer: Type, barrier: Type) -> Rule {
    let (Some(m), Ok(layout)) = (buffer.as_memdesc(), layout_of(buffer)) else { return Ok(()) };
    let shape = laid_out(m, &m.shape);
    let copies = layout_of(barrier).map_or(0, |b| super::free_variable_masks(b).block);
    let crossed =
        (0..layout.in_bits(Dim::Block) as usize).any(|bit| leaves(layout, shape, bit) && (bit > 0 || copies > 1));
    if crossed {
        Err(format!("the buffer has type {buffer}, a part that may lie in another block than the barrier"))
    } else {
        Ok(())
    }
}

/// Checks step 3 for a store.
pub(super) fn store_source(buffer: Type) -> Rule {
    let (Some(m), Ok(layout)) = (buffer.as_memdesc(), layout_of(buffer)) else { return Ok(()) };
    let crossed = crosses_blocks(layout, laid_out(m, &m.shape));
    if crossed {
        Err(format!("the buffer has type {buffer}, a part that may lie in another block of the cluster"))
    } else {
        Ok(())
    }
}
