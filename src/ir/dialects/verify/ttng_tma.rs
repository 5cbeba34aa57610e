//! Rules of TMA: copies of blocks between global and shared memory by descriptor.

use super::tt_memory::block_fits;
use super::ttg::mutable;
use super::ttng::{is_barrier, one_each};
use super::{Type, context_ctas, ensure, memdesc, operand_ty};
use crate::ir::core::{Attr, Encoding, Ir, Op, TypeData};
use crate::ir::dialects::discardable::TWO_CTAS;
use crate::ir::dialects::enums::DescriptorReduceKind;
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::encoding::questions::cga_of;

/// A block of a descriptor to a buffer: tiled with a coordinate for each dimension, or im2col with those of an image
/// and offsets.
pub fn load(ir: &Ir, op: Op) -> VerifyResult {
    let of = |group: usize| ir.operand_group(op, group);
    let first = |group: usize| of(group).first().map(|&v| ir.ty(v));
    let (Some(desc), Some(barrier), Some(result)) = (first(0), first(3), first(4)) else { return Ok(()) };
    let (coords, offsets) = (of(1).len(), of(2).len());
    let im2col = matches!(*desc, TypeData::TensorDesc { im2col: true, .. });
    if im2col {
        ensure!((3..=5).contains(&coords), "it has {coords} coordinates in im2col mode, expected 3 to 5");
    } else {
        coordinates(desc, coords)?;
    }
    block_fits(desc, result)?;
    fills(ir, op, desc, barrier, result)?;
    if im2col {
        ensure!(
            offsets == coords - 2,
            "it has {offsets} offsets in im2col mode, expected {} for {coords} coordinates",
            coords - 2
        );
    } else {
        ensure!(offsets == 0, "it has {offsets} offsets, which only im2col mode has");
    }
    multicast(ir, op, result)
}

fn coordinates(desc: Type, found: usize) -> VerifyResult {
    ensure!(found == desc.rank(), "it has {found} coordinates, and the descriptor has rank {}", desc.rank());
    ensure!((1..=5).contains(&found), "it has {found} coordinates, expected 1 to 5");
    Ok(())
}

/// What every load does: it writes to a buffer laid out as the descriptor says and arrives at a barrier.
fn fills(ir: &Ir, op: Op, desc: Type, barrier: Type, result: Type) -> VerifyResult {
    is_barrier(ir, op, barrier)?;
    barrier_layout(ir, op, barrier)?;
    mutable(result)?;
    layouts_agree(desc, result)
}

/// In a module that says whether pairs of blocks work together, barriers are one for each block or one for each pair.
fn barrier_layout(ir: &Ir, op: Op, barrier: Type) -> VerifyResult {
    let module = std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).last();
    let Some(pairs) = module.and_then(|m| ir.get(m, TWO_CTAS)).and_then(Attr::as_bool) else {
        return Ok(());
    };
    let ctas = context_ctas(ir, op);
    let (single, found) = (one_each(ctas), cga_of(barrier));
    let mut paired = one_each(ctas / 2);
    paired.insert(0, vec![0]);
    ensure!(
        found == single || (pairs && found == paired),
        "the barrier has CGALayout {found:?}, expected {single:?}{}",
        if pairs { format!(" or {paired:?}") } else { String::new() }
    );
    Ok(())
}

/// Both nvmma_shared with the same swizzle; the ranks may differ.
fn layouts_agree(desc: Type, buffer: Type) -> VerifyResult {
    let Some(Encoding::NvmmaShared(b)) = buffer.layout() else {
        return Err(format!("the buffer has type {buffer}, expected an nvmma_shared layout"));
    };
    ensure!(
        b.rank as usize == buffer.rank(),
        "the buffer has rank {}, and its layout has rank {}: take one of several buffers",
        buffer.rank(),
        b.rank
    );
    let TypeData::TensorDesc { layout, .. } = *desc else { return Ok(()) };
    let agrees = matches!(layout.and_then(Attr::as_encoding), Some(Encoding::NvmmaShared(d))
        if d.transposed == b.transposed && d.swizzling_byte_width == b.swizzling_byte_width
            && d.element_bit_width == b.element_bit_width && d.fp4_padded == b.fp4_padded);
    ensure!(agrees, "the descriptor has type {desc} and the buffer {buffer}, expected one swizzle");
    ensure!(!b.transposed, "the layout of descriptor and buffer is transposed, which TMA does not do");
    Ok(())
}

/// What is sent to several blocks is held by several.
fn multicast(ir: &Ir, op: Op, result: Type) -> VerifyResult {
    let asked = ir.stores(op, view::AsyncTmaCopyGlobalToLocal::ATTR.multicast);
    let copies = cga_of(result).iter().any(|b| b.iter().all(|&c| c == 0));
    ensure!(!asked || copies, "it sends to several blocks, and the layout of {result} has no copies in other blocks");
    Ok(())
}

fn is_fp4_padded(ty: Type) -> bool {
    matches!(ty.layout(), Some(Encoding::NvmmaShared(e)) if e.fp4_padded)
}

fn no_padding(ty: Type) -> VerifyResult {
    ensure!(!is_fp4_padded(ty), "the buffer has type {ty}, and only loads of blocks pad 4-bit elements");
    Ok(())
}

/// A buffer to a block of a descriptor.
pub fn store(ir: &Ir, op: Op) -> VerifyResult {
    let (desc, src) = (operand_ty(ir, op, 0), ir.ty(ir.operands(op)[ir.operands(op).len() - 1]));
    coordinates(desc, ir.operands(op).len() - 2)?;
    block_fits(desc, src)?;
    no_padding(src)?;
    layouts_agree(desc, src)
}

/// As `store`, of elements that memory can combine in this way.
pub fn reduce(ir: &Ir, op: Op) -> VerifyResult {
    store(ir, op)?;
    combines(ir, op)
}

/// Whether memory can combine elements as a reduction through a descriptor asks for; also of `tt.descriptor_reduce`,
/// which is valid where it is replaced by other operations.
pub fn combines(ir: &Ir, op: Op) -> VerifyResult {
    let TypeData::TensorDesc { elem, .. } = *operand_ty(ir, op, 0) else { return Ok(()) };
    let kind = view::AsyncTmaReduce(op).kind(ir).unwrap_or(DescriptorReduceKind::Add);
    let (bits, plain) = (elem.signless(), !matches!(*elem, TypeData::SignedInt { signed: true, .. }));
    let half = bits.as_float().is_some_and(|k| k.bits() == 16);
    let int = bits.is_int_of(32) || bits.is_int_of(64);
    let good = match kind {
        DescriptorReduceKind::Add => bits.is_int_of(32) || (bits.is_int_of(64) && plain) || half || bits == Type::f32(),
        DescriptorReduceKind::Min | DescriptorReduceKind::Max => int || half,
        DescriptorReduceKind::And | DescriptorReduceKind::Or | DescriptorReduceKind::Xor => int,
        DescriptorReduceKind::Inc | DescriptorReduceKind::Dec => false,
    };
    ensure!(good, "memory does not combine elements of type {elem} by `{kind}`");
    Ok(())
}

/// Rows by index to a buffer.
pub fn gather(ir: &Ir, op: Op) -> VerifyResult {
    let (desc, offsets, barrier, result) =
        (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 3), operand_ty(ir, op, 4));
    fills(ir, op, desc, barrier, result)?;
    no_padding(result)?;
    multicast(ir, op, result)?;
    rows(desc, offsets, result)
}

/// Rows of a buffer to memory by index.
pub fn scatter(ir: &Ir, op: Op) -> VerifyResult {
    let (desc, offsets, src) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 3));
    no_padding(src)?;
    layouts_agree(desc, src)?;
    rows(desc, offsets, src)
}

fn rows(desc: Type, offsets: Type, buffer: Type) -> VerifyResult {
    ensure!(offsets.elem().is_int_of(32), "the row numbers have type {offsets}, expected i32");
    super::tt_memory::rows(desc, offsets, buffer)?;
    let Some(m) = memdesc(buffer) else { return Ok(()) };
    let alloc = &m.alloc_shape[m.alloc_shape.len() - m.shape.len()..];
    ensure!(
        m.shape == alloc,
        "the buffer has shape {:?} of an allocation of {:?}, expected all of it",
        m.shape,
        m.alloc_shape
    );
    Ok(())
}
