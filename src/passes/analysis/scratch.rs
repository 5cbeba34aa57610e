//! Scratch memory: the bytes of shared memory that an operation needs while it runs, besides the buffers that the program names.
//!
//! One row per kind of operation; the numbers come from the plan that code generation emits (`layout::plan`), so the two cannot disagree.

use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::{Ir, Op, OpKind, Type};
use crate::layout::plan::ConversionPlan;
use crate::layout::{LayoutError, layout_of};

/// Where an operation's shared memory starts, in bytes.
pub const OFFSET: &str = "allocation.offset";
/// Bytes of shared memory that a block of the module needs.
pub const SHARED: &str = "ttg.shared";

/// Where a piece of global scratch memory starts in its program's part.
pub const GLOBAL_OFFSET: &str = "ttg.global_scratch_memory_offset";
/// Bytes of global scratch memory of one program.
pub const GLOBAL_SIZE: &str = "ttg.global_scratch_memory_size";
/// What the global scratch memory's start must be a multiple of.
pub const GLOBAL_ALIGNMENT: &str = "ttg.global_scratch_memory_alignment";

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
        OpKind::Tt(TtOp::Reduce | TtOp::Scan | TtOp::Histogram | TtOp::Gather | TtOp::AtomicRmw | TtOp::AtomicCas) => Ok(0),
        _ => Ok(0),
    }
}

/// Bits that an element takes in shared memory: whole bytes, and 64 for a pointer.
#[must_use]
pub fn element_bits(ty: Type) -> u32 {
    let elem = ty.elem();
    if elem.is_ptr() { 64 } else { elem.bit_width().unwrap_or(32).next_multiple_of(8) }
}
