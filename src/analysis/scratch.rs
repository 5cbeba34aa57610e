//! Scratch memory: the bytes of shared memory that an operation needs while it runs, besides the buffers that the
//! program names.
//!
//! One row per kind of operation; the numbers come from the plan that code generation emits (`layout::plan`), so the
//! two cannot disagree.

use crate::ir::dialects::{TtOp, TtgOp, TtngOp};
use crate::ir::{Ir, Op, OpKind, Type};
use crate::layout::encodings::DESCRIPTOR_BYTES;
use crate::layout::plan::{ConversionPlan, GatherPlan, ReducePlan, ScanPlan, shared_access::element_bytes};
use crate::layout::{Dim, LayoutError, free_variable_masks, layout_of};
use crate::target::Target;

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

/// Bytes of shared memory that `op` needs for itself on this device.
///
/// # Errors
/// When a type of the operation has no layout.
pub fn scratch_bytes(ir: &Ir, op: Op, target: &Target) -> Result<u32, LayoutError> {
    match ir.kind(op) {
        OpKind::Ttg(TtgOp::ConvertLayout) => {
            let (from, to) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
            Ok(ConversionPlan::new(layout_of(from)?, layout_of(to)?, element_bits(from), &target.shared)?
                .scratch_bytes())
        }
        OpKind::Tt(TtOp::AtomicRmw | TtOp::AtomicCas | TtOp::AtomicLoad | TtOp::AtomicPoll) => atomic_bytes(ir, op),
        // Where there is no plan, code generation says why.
        OpKind::Tt(TtOp::Reduce) => {
            Ok(reduce_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(&operand_bytes(ir, op))))
        }
        OpKind::Tt(TtOp::Scan) => Ok(scan_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(&operand_bytes(ir, op)))),
        OpKind::Tt(TtOp::Gather) => {
            Ok(gather_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(operand_bytes(ir, op)[0])))
        }
        OpKind::Tt(TtOp::Histogram) => Ok(histogram_bins(ir, op) * HISTOGRAM_COUNTER_BYTES),
        OpKind::Ttng(TtngOp::TensormapCreate) => Ok(DESCRIPTOR_BYTES),
        _ => Ok(0),
    }
}

/// Bytes in which `tt.histogram` counts, whatever its result's type.
const HISTOGRAM_COUNTER_BYTES: u32 = 4;

/// The plan of a `tt.reduce`.
///
/// # Errors
/// When a type has no layout, or the blocks of a cluster would have to exchange elements.
pub fn reduce_plan(ir: &Ir, op: Op) -> Result<ReducePlan, LayoutError> {
    let result = ir.ty(*ir.results(op).first().ok_or_else(|| LayoutError::new("a reduction without results"))?);
    let result = if result.is_tensor() { Some(layout_of(result)?) } else { None };
    ReducePlan::new(layout_of(ir.ty(ir.operand(op, 0)))?, axis(ir, op), result, &operand_bytes(ir, op))
}

/// The plan of a `tt.scan`.
///
/// # Errors
/// As [`reduce_plan`].
pub fn scan_plan(ir: &Ir, op: Op) -> Result<ScanPlan, LayoutError> {
    ScanPlan::new(layout_of(ir.ty(ir.operand(op, 0)))?, axis(ir, op), ir.bool_attr(op, "reverse"))
}

/// The plan of a `tt.gather`.
///
/// # Errors
/// As [`reduce_plan`].
pub fn gather_plan(ir: &Ir, op: Op) -> Result<GatherPlan, LayoutError> {
    GatherPlan::new(layout_of(ir.ty(ir.operand(op, 0)))?, layout_of(ir.ty(ir.operand(op, 1)))?, axis(ir, op))
}

/// Number of values that a `tt.histogram` counts.
#[must_use]
pub fn histogram_bins(ir: &Ir, op: Op) -> u32 {
    ir.ty(ir.result(op)).shape().iter().product::<i64>() as u32
}

/// The axis of an operation; one that no tensor has when it states none.
fn axis(ir: &Ir, op: Op) -> usize {
    ir.int_attr(op, "axis").and_then(|a| usize::try_from(a).ok()).unwrap_or(usize::MAX)
}

/// Bytes of an element of each operand.
#[must_use]
pub fn operand_bytes(ir: &Ir, op: Op) -> Vec<u32> {
    ir.operands(op).iter().map(|&v| element_bytes(element_bits(ir.ty(v)))).collect()
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
