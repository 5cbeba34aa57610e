//! Scratch memory: the bytes of shared memory that an operation needs while it runs, besides the buffers that the
//! program names.
//!
//! There is one row for each kind of exchange that the dialects' tables state. The numbers come from the plan that code
//! generation emits ([`super::exchange`]), so the two cannot disagree.

use super::exchange::Planned;
use crate::ir::dialects::Exchange;
use crate::ir::dialects::verify::context_ctas;
use crate::ir::{Ir, Op, Type};
use crate::layout::encodings::DESCRIPTOR_BYTES;
use crate::layout::plan::shared_access::element_bytes;
use crate::layout::{Dim, LayoutError, free_variable_masks, layout_of};

/// Bytes of shared memory that `op` needs for itself, of which this is the plan, if it has one.
///
/// # Errors
/// When a type of the operation has no layout.
pub fn scratch_bytes(ir: &Ir, op: Op, plan: Option<&Planned>) -> Result<u32, LayoutError> {
    let Some(exchange) = ir.spec(op).exchange else { return Ok(0) };
    match (exchange, plan) {
        (Exchange::Conversion, Some(Err(e))) => Err(e.clone()),
        // Where there is no plan, code generation says why.
        (Exchange::Conversion | Exchange::Reduce | Exchange::Scan | Exchange::Gather, plan) => {
            Ok(plan.and_then(|p| p.as_ref().ok()).map_or(0, |plan| plan.scratch_bytes(ir, op)))
        }
        (Exchange::Copies, _) => atomic_bytes(ir, op),
        (Exchange::Count, _) => Ok(bins(ir, op) * COUNTER_BYTES),
        (Exchange::Descriptor, _) => Ok(DESCRIPTOR_BYTES),
    }
}

/// Bytes of a counter, whatever the result's type.
const COUNTER_BYTES: u32 = 4;

/// How many different values are counted.
#[must_use]
pub fn bins(ir: &Ir, op: Op) -> u32 {
    ir.ty(ir.result(op)).shape().iter().product::<i64>() as u32
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

/// Whether blocks of a cluster hold copies of an atomic operation's result, which one of them makes.
#[must_use]
pub fn is_shared_by_blocks(ir: &Ir, op: Op) -> bool {
    if context_ctas(ir, op) == 1 || ir.results(op).is_empty() {
        return false;
    }
    let ty = ir.ty(ir.result(op));
    !ty.is_tensor() || layout_of(ty).is_ok_and(|layout| free_variable_masks(layout).block != 0)
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
    if free.lane == 0 && free.warp == 0 && !is_shared_by_blocks(ir, op) {
        return Ok(0);
    }
    let bits = layout.in_bits(Dim::Register) + layout.in_bits(Dim::Lane) + layout.in_bits(Dim::Warp);
    let copies = free.register.count_ones() + free.lane.count_ones() + free.warp.count_ones();
    Ok((element_bits(ty) / 8) << (bits - copies))
}
