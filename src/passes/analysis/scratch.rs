//! Scratch memory: the bytes of shared memory that an operation needs while it runs, besides the buffers that the program names.
//!
//! One row per kind of operation; the numbers come from the plan that code generation emits (`layout::plan`), so the two cannot disagree.

use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::{Ir, Op, OpKind, Type};
use crate::layout::plan::ConversionPlan;
use crate::layout::{Dim, LayoutError, free_variable_masks, layout_of};

/// Where an operation's shared memory starts, in bytes.
pub const OFFSET: &str = "allocation.offset";
/// Bytes of shared memory that a block of the module needs.
pub const SHARED: &str = "ttg.shared";

/// Bytes of shared memory that `op` needs for itself, on a GPU of this compute capability.
///
/// # Errors
/// When a type of the operation has no layout.
pub fn scratch_bytes(ir: &Ir, op: Op, capability: u32) -> Result<u32, LayoutError> {
    match ir.kind(op) {
        OpKind::Ttg(TtgOp::ConvertLayout) => {
            let (from, to) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
            Ok(ConversionPlan::new(layout_of(from)?, layout_of(to)?, element_bits(from), capability)?.scratch_bytes())
        }
        OpKind::Tt(TtOp::AtomicRmw | TtOp::AtomicCas) => atomic_bytes(ir, op),
        OpKind::Tt(TtOp::Reduce | TtOp::Scan | TtOp::Histogram | TtOp::Gather) => Ok(0),
        _ => Ok(0),
    }
}

/// Bits that an element takes in shared memory: whole bytes, and 64 for a pointer.
#[must_use]
pub fn element_bits(ty: Type) -> u32 {
    let elem = ty.elem();
    if elem.is_ptr() { 64 } else { elem.bit_width().unwrap_or(32).next_multiple_of(8) }
}

/// The result of an atomic operation that several threads hold and use: one copy of each element.
fn atomic_bytes(ir: &Ir, op: Op) -> Result<u32, LayoutError> {
    let ty = ir.ty(ir.result(op));
    if !ir.has_uses(ir.result(op)) {
        return Ok(0);
    }
    if !ty.is_tensor() {
        return Ok(element_bits(ty) / 8);
    }
    let layout = layout_of(ty)?;
    let free = free_variable_masks(layout);
    if free.lane == 0 && free.warp == 0 {
        return Ok(0);
    }
    let bits = layout.in_bits(Dim::Register) + layout.in_bits(Dim::Lane) + layout.in_bits(Dim::Warp);
    let copies = free.register.count_ones() + free.lane.count_ones() + free.warp.count_ones();
    Ok((element_bits(ty) / 8) << (bits - copies))
}
