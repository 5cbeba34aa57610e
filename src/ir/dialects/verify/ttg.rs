//! Rules of the `ttg` dialect: layouts, buffers in shared memory and their views, warp specialisation.

use super::{
    Type, body, context_warps, elements_agree, encloses, ensure, inside, memdesc, operand_ty, result_ty, same_contents,
    same_types,
};
use crate::ir::core::{Attr, AttrData, Encoding, Ir, MemDesc, Op};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttg::ttg as view;
use crate::ir::dialects::{OpKind, TtgOp};
use crate::ir::encoding::questions;

/// The elements stay what they are; both sides have a layout.
pub fn convert_layout(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(
        from.elem() == to.elem(),
        "it converts elements of type {} to {}, expected one type",
        from.elem(),
        to.elem()
    );
    for (name, ty) in [("operand", from), ("result", to)] {
        ensure!(ty.encoding().is_some(), "the {name} has type {ty}, which has no layout");
    }
    Ok(())
}

// ---- copies ----

/// From a tensor of pointers into a buffer that may change.
pub fn async_copy(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1));
    ensure!(src.is_tensor(), "the source has type {src}, expected a tensor of pointers");
    mutable(dst)
}

/// A store needs memory that may change.
pub(super) fn mutable(dst: Type) -> VerifyResult {
    ensure!(memdesc(dst).is_none_or(|m| m.mutable), "it writes to a buffer of type {dst}, expected a mutable one");
    Ok(())
}

/// The tensor's rank is that of the buffer's layout.
fn rank_fits(tensor: Type, buffer: &MemDesc, name: &str) -> VerifyResult {
    let rank = questions::rank_of(buffer.encoding).ok_or("the layout of the buffer has no rank")?;
    ensure!(tensor.rank() == rank, "the {name} has rank {}, and the buffer's layout has rank {rank}", tensor.rank());
    Ok(())
}

/// Of whole bytes in shared memory; all of its allocation; mutable unless a tensor is put there.
pub fn local_alloc(ir: &Ir, op: Op) -> VerifyResult {
    let result = result_ty(ir, op);
    let Some(m) = memdesc(result) else { return Ok(()) };
    ensure!(
        *m.memory_space == AttrData::SharedMemory,
        "it allocates in the space `{}`, expected `#ttg.shared_memory`",
        m.memory_space
    );
    ensure!(m.elem.bit_width().is_some_and(|b| b % 8 == 0), "an element of type {} does not fill bytes", m.elem);
    if let Some(&src) = ir.operands(op).first() {
        rank_fits(ir.ty(src), m, "source")?;
    }
    if let Some(alignment) = view::LocalAlloc(op).alignment(ir) {
        ensure!(
            alignment > 0 && alignment & (alignment - 1) == 0,
            "its alignment is {alignment}, expected a power of two"
        );
    }
    alloc(ir, op, result)
}

/// What all allocations obey, given the type of the buffer.
pub(super) fn alloc(ir: &Ir, op: Op, result: Type) -> VerifyResult {
    let Some(m) = memdesc(result) else { return Ok(()) };
    ensure!(
        m.shape == m.alloc_shape,
        "the buffer has shape {:?} of an allocation of {:?}, expected all of it",
        m.shape,
        m.alloc_shape
    );
    if let Some(&src) = ir.operand_group(op, 0).first() {
        return same_contents(("source", ir.ty(src)), ("buffer", result));
    }
    ensure!(m.mutable, "a buffer without a source has type {result}, expected a mutable one");
    Ok(())
}

/// As many elements of one type in registers as in the buffer.
pub fn local_load(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    if let Some(m) = memdesc(src) {
        rank_fits(result, m, "result")?;
    }
    same_contents(("buffer", src), ("result", result))
}

/// The other way round; the buffer may change.
pub fn local_store(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1));
    mutable(dst)?;
    if let Some(m) = memdesc(dst) {
        rank_fits(src, m, "source")?;
    }
    same_contents(("source", src), ("buffer", dst))
}

/// A buffer in shared memory, indices along one of its dimensions, and values that are laid out as the indices.
fn indexed(ir: &Ir, op: Op, buffer: Type, values: (&str, Type), indices: Type) -> VerifyResult {
    let Some(m) = memdesc(buffer) else { return Ok(()) };
    let (name, values) = values;
    ensure!(
        m.encoding.as_encoding().is_some_and(questions::is_shared),
        "the buffer has the layout {}, expected one of shared memory",
        m.encoding
    );
    ensure!(
        values.shape() == indices.shape(),
        "the {name} has shape {:?}, and the indices {:?}",
        values.shape(),
        indices.shape()
    );
    ensure!(
        buffer.rank() == indices.rank(),
        "the buffer has rank {}, and the indices {}",
        buffer.rank(),
        indices.rank()
    );
    let axis = ir.get(op, view::LocalGather::ATTR.axis).unwrap_or(-1);
    ensure!((0..buffer.rank() as i64).contains(&axis), "its axis is {axis}, and the buffer has rank {}", buffer.rank());
    ensure!(
        values.encoding() == indices.encoding(),
        "the {name} has type {values} and the indices {indices}, expected one layout"
    );
    elements_agree(("buffer", buffer), (name, values))
}

/// Result and indices have one shape and layout.
pub fn local_gather(ir: &Ir, op: Op) -> VerifyResult {
    indexed(ir, op, operand_ty(ir, op, 0), ("result", result_ty(ir, op)), operand_ty(ir, op, 1))
}

/// Values and indices have one shape and layout.
pub fn local_scatter(ir: &Ir, op: Op) -> VerifyResult {
    indexed(ir, op, operand_ty(ir, op, 0), ("values", operand_ty(ir, op, 1)), operand_ty(ir, op, 2))
}

/// As `local_scatter`, of numbers, into a buffer that may change; what was there comes back.
pub fn local_atomic_scatter(ir: &Ir, op: Op) -> VerifyResult {
    let (dst, values, indices) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 2));
    mutable(dst)?;
    ensure!(
        values.elem().is_int() || values.elem().is_float(),
        "the values have elements of type {}, expected integers or floats",
        values.elem()
    );
    if let Some(m) = memdesc(dst) {
        rank_fits(values, m, "values")?;
    }
    indexed(ir, op, dst, ("values", values), indices)
}

// ---- views ----

fn same_elements_and_encoding(src: &MemDesc, result: &MemDesc) -> VerifyResult {
    ensure!(src.elem == result.elem, "the source has elements of type {}, and the result {}", src.elem, result.elem);
    ensure!(
        src.encoding == result.encoding,
        "the source has the layout {}, and the result {}",
        src.encoding,
        result.encoding
    );
    ensure!(
        src.memory_space == result.memory_space,
        "the source is in `{}`, and the result in `{}`",
        src.memory_space,
        result.memory_space
    );
    Ok(())
}

fn same_space(src: &MemDesc, result: &MemDesc) -> VerifyResult {
    ensure!(
        src.memory_space == result.memory_space,
        "the source is in `{}`, and the result in `{}`",
        src.memory_space,
        result.memory_space
    );
    ensure!(src.mutable == result.mutable, "one of source and result is mutable and the other is not");
    Ok(())
}

fn source_and_result(ir: &Ir, op: Op) -> Option<(&'static MemDesc, &'static MemDesc)> {
    Some((memdesc(operand_ty(ir, op, 0))?, memdesc(result_ty(ir, op))?))
}

/// One buffer of several: the source's shape without its first dimension.
pub fn memdesc_index(ir: &Ir, op: Op) -> VerifyResult {
    let Some((src, result)) = source_and_result(ir, op) else { return Ok(()) };
    same_elements_and_encoding(src, result)?;
    let (rank, found) = (src.shape.len(), result.shape.len());
    ensure!(
        rank == found + 1,
        "the result has rank {found}, expected {}, one less than the source's",
        rank.saturating_sub(1)
    );
    ensure!(src.shape[1..] == result.shape, "the result has shape {:?}, expected {:?}", result.shape, &src.shape[1..]);
    ensure!(
        src.alloc_shape.len() == rank,
        "the source is one of several buffers itself: its allocation is {:?}",
        src.alloc_shape
    );
    let whole = |name: &str, shape: &[i64], alloc: &[i64]| {
        ensure!(shape == alloc, "the {name} has shape {shape:?} of an allocation of {alloc:?}, expected all of it");
        Ok(())
    };
    // Some of the buffers may have been taken, but each is whole.
    whole("source", &src.shape[1..], &src.alloc_shape[1..])?;
    whole("result", &result.shape, &result.alloc_shape)?;
    let in_tensor_memory = matches!(src.encoding.as_encoding(), Some(Encoding::TensorMemory(_)));
    ensure!(!in_tensor_memory || rank == 3, "the source in tensor memory has rank {rank}, expected 3");
    Ok(())
}

/// A part of shared memory: each dimension is whole, at offset 0, or a part that lies in the source; at a multiple of
/// its size, except along the dimension that counts buffers.
pub fn memdesc_subslice(ir: &Ir, op: Op) -> VerifyResult {
    let Some((src, result)) = source_and_result(ir, op) else { return Ok(()) };
    same_elements_and_encoding(src, result)?;
    let offsets = view::MemDescSubslice(op).offsets(ir).unwrap_or_default();
    let rank = src.shape.len();
    ensure!(offsets.len() == rank, "it has {} offsets, and the source has rank {rank}", offsets.len());
    ensure!(result.shape.len() == rank, "the result has rank {}, and the source {rank}", result.shape.len());
    ensure!(
        src.encoding.as_encoding().is_some_and(questions::is_shared),
        "the source has the layout {}, expected one of shared memory",
        src.encoding
    );
    ensure!(
        src.alloc_shape == result.alloc_shape,
        "the source is of an allocation of {:?}, and the result of {:?}",
        src.alloc_shape,
        result.alloc_shape
    );
    let buffers = rank - questions::rank_of(src.encoding).unwrap_or(rank).min(rank);
    for (dim, &offset) in offsets.iter().enumerate() {
        let (whole, part) = (src.shape[dim], result.shape[dim]);
        ensure!(part <= whole, "the result has {part} elements along dimension {dim}, and the source {whole}");
        ensure!(
            part != whole || offset == 0,
            "its offset along dimension {dim}, which is not split, is {offset}, expected 0"
        );
        ensure!(
            (0..=whole - part).contains(&offset),
            "its offset along dimension {dim} is {offset}, and the source has {whole} elements there, the part {part}"
        );
        ensure!(
            dim < buffers || offset & (part - 1) == 0,
            "its offset along dimension {dim} is {offset}, expected a multiple of the part's size {part}"
        );
    }
    Ok(())
}

/// The source's shape with its dimensions permuted, and the allocation's last ones likewise.
pub fn memdesc_trans(ir: &Ir, op: Op) -> VerifyResult {
    let Some((src, result)) = source_and_result(ir, op) else { return Ok(()) };
    ensure!(src.elem == result.elem, "the source has elements of type {}, and the result {}", src.elem, result.elem);
    same_space(src, result)?;
    let order = view::MemDescTrans(op).order(ir).unwrap_or_default();
    let rank = src.shape.len();
    let permutation = order.len() == rank && (0..rank).all(|d| order.contains(&(d as i64)));
    ensure!(permutation, "its order is {order:?}, expected each dimension of the source, of rank {rank}, once");
    let permuted = |shape: &[i64]| -> Vec<i64> { order.iter().map(|&d| shape[d as usize]).collect() };
    ensure!(
        result.shape == permuted(&src.shape),
        "the result has shape {:?}, expected {:?}",
        result.shape,
        permuted(&src.shape)
    );
    let (outer, inner) = src.alloc_shape.split_at(src.alloc_shape.len() - rank);
    let expected = [outer, &permuted(inner)].concat();
    ensure!(
        result.alloc_shape == expected,
        "the result's allocation is {:?}, expected {expected:?}",
        result.alloc_shape
    );
    Ok(())
}

/// As many elements of one type, of a source that is all of its allocation.
pub fn memdesc_reshape(ir: &Ir, op: Op) -> VerifyResult {
    let Some((src, result)) = source_and_result(ir, op) else { return Ok(()) };
    let (from, to) = (super::count(&src.shape), super::count(&result.shape));
    ensure!(
        from == to,
        "the source has shape {:?} and the result {:?}, expected as many elements",
        src.shape,
        result.shape
    );
    ensure!(src.elem == result.elem, "the source has elements of type {}, and the result {}", src.elem, result.elem);
    let alloc = &src.alloc_shape[src.alloc_shape.len() - src.shape.len()..];
    ensure!(
        alloc == src.shape,
        "the source has shape {:?} of an allocation of {:?}, expected all of it",
        src.shape,
        src.alloc_shape
    );
    same_space(src, result)
}

/// The same bytes as something else: the result is no part, the source none where there are paddings, and those are at
/// the same places. Whether the source has all bytes of the result is a question of layouts.
pub fn memdesc_reinterpret(ir: &Ir, op: Op) -> VerifyResult {
    let Some((src, result)) = source_and_result(ir, op) else { return Ok(()) };
    let pattern = |m: &MemDesc| {
        let bytes = m.elem.bit_width().unwrap_or(8) / 8;
        match m.encoding.as_encoding() {
            Some(Encoding::PaddedShared(e)) => {
                Some(e.intervals.iter().map(|(i, p)| (i * bytes, p * bytes)).collect::<Vec<_>>())
            }
            _ => None,
        }
    };
    let (from, to) = (pattern(src), pattern(result));
    ensure!(from.is_some() == to.is_some(), "one of source and result has a padded layout and the other has not");
    ensure!(from == to, "source and result are padded at different bytes: {from:?} and {to:?}");
    same_space(src, result)?;
    for (name, m) in [("source", src), ("result", result)] {
        if name == "source" && from.is_none() {
            continue;
        }
        let rank = questions::rank_of(m.encoding).unwrap_or(0).min(m.shape.len());
        let (shape, alloc) = (&m.shape[m.shape.len() - rank..], &m.alloc_shape[m.alloc_shape.len() - rank..]);
        ensure!(
            shape == alloc,
            "the {name} is a part of shape {:?} of {:?}, expected a whole buffer",
            m.shape,
            m.alloc_shape
        );
    }
    Ok(())
}

// ---- arithmetic, masks ----

/// Bytes to 16-bit floats, twice as many along the axis.
pub fn fp4_to_fp(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(src.elem().is_int_of(8), "the source has elements of type {}, expected i8", src.elem());
    let half = result.elem().as_float().is_some_and(|k| k.bits() == 16);
    ensure!(half, "the result has elements of type {}, expected f16 or bf16", result.elem());
    let (from, to) = (src.shape(), result.shape());
    ensure!(from.len() == to.len(), "the source has rank {}, and the result {}", from.len(), to.len());
    let axis = ir.get(op, view::LocalGather::ATTR.axis).unwrap_or(-1);
    ensure!((0..from.len() as i64).contains(&axis), "its axis is {axis}, and its source has rank {}", from.len());
    for (dim, (&from, &to)) in from.iter().zip(to).enumerate() {
        let expected = if dim as i64 == axis { from * 2 } else { from };
        ensure!(to == expected, "the result has {to} elements along dimension {dim}, expected {expected}");
    }
    ensure!(
        src.encoding().is_some() == result.encoding().is_some(),
        "one of source and result has a layout and the other has none"
    );
    Ok(())
}

/// The region yields the results.
pub fn mask(ir: &Ir, op: Op) -> VerifyResult {
    let block = body(ir, op, 0, "region")?;
    same_types(ir, "values that its region returns", super::ending(ir, block, TtgOp::MaskReturn)?, ir.results(op))
}

/// Stands in `ttg.mask`.
pub fn mask_return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Ttg(TtgOp::Mask)])
}

/// Sizes that are there.
pub fn global_scratch_alloc(ir: &Ir, op: Op) -> VerifyResult {
    let alignment = view::GlobalScratchAlloc(op).alignment(ir).unwrap_or(0);
    ensure!(alignment > 0 && alignment & (alignment - 1) == 0, "its alignment is {alignment}, expected a power of two");
    let bytes = view::GlobalScratchAlloc(op).nbytes(ir).unwrap_or(-1);
    ensure!(bytes >= 0, "it allocates {bytes} bytes");
    Ok(())
}

/// The spaces are those that have a bit.
pub fn barrier(ir: &Ir, op: Op) -> VerifyResult {
    let spaces = view::Barrier(op).addrSpace(ir).unwrap_or(-1);
    ensure!((0..32).contains(&spaces), "addrSpace is {spaces}, expected bits for five spaces");
    Ok(())
}

// ---- warp specialisation ----

/// Warp groups are four warps; partitions have a power of two of them each.
pub fn warp_specialize(ir: &Ir, op: Op) -> VerifyResult {
    ensure!(ir.entry(ir.region(op, 0)).is_some(), "region `defaultRegion` is empty");
    let holder =
        ir.entry(ir.region(op, 1)).and_then(|b| ir.first_op(b)).filter(|&h| ir.is(h, TtgOp::WarpSpecializePartitions));
    let holder =
        holder.ok_or("its second region starts with something else, expected only `ttg.warp_specialize.partitions`")?;
    let array = |name| ir.stored_attr(op, name).and_then(Attr::as_dense_array);
    let (partitions, warps) = (ir.regions_of(holder).len(), array("partitionNumWarps").unwrap_or_default());
    ensure!(
        partitions == warps.len(),
        "it has {partitions} partitions, and `partitionNumWarps` has {} entries",
        warps.len()
    );
    for (at, &n) in warps.iter().enumerate() {
        ensure!(n > 0 && n & (n - 1) == 0, "partition #{at} has {n} warps, expected a power of two");
    }
    if let Some(starts) = array("warpGroupStartIds") {
        ensure!(
            starts.len() == warps.len(),
            "`warpGroupStartIds` has {} entries, and there are {} partitions",
            starts.len(),
            warps.len()
        );
    }
    ensure!(!encloses(ir, op, TtgOp::WarpSpecialize), "it stands inside another `ttg.warp_specialize`");
    if let Some(around) = context_warps(ir, op) {
        ensure!(around % 4 == 0, "its kernel has {around} warps, expected a multiple of 4");
    }
    Ok(())
}

/// Each partition takes the captures.
pub fn partitions(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Ttg(TtgOp::WarpSpecialize)])?;
    for (at, _) in ir.regions_of(op).iter().enumerate() {
        let block = ir.entry(ir.region(op, at)).ok_or_else(|| format!("partition #{at} is empty, expected a block"))?;
        same_types(ir, &format!("arguments of partition #{at}"), ir.args(block), ir.operands(op))?;
    }
    Ok(())
}

/// In the default region, with the results' types.
pub fn warp_yield(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Ttg(TtgOp::WarpSpecialize)])?;
    let parent = ir.parent_op(op).ok_or("it is in no operation")?;
    same_types(ir, "values", ir.operands(op), ir.results(parent))
}

/// In a partition.
pub fn warp_return(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Ttg(TtgOp::WarpSpecializePartitions)])
}
