//! Scratch memory: the bytes of shared memory that an operation needs while it runs, besides the buffers that the
//! program names.
//!
//! One row per kind of exchange that the dialects' tables state; the numbers come from the plan that code generation emits (`layout::plan`), so the
//! two cannot disagree.

use crate::ir::dialects::tt::tt::{Gather, Reduce, Scan};
use crate::ir::dialects::{Exchange, discardable};
use crate::ir::{Ir, Op, Type};
use crate::layout::encodings::DESCRIPTOR_BYTES;
use crate::layout::plan::{ConversionPlan, GatherPlan, ReducePlan, ScanPlan, shared_access::element_bytes};
use crate::layout::{Dim, LayoutError, free_variable_masks, layout_of};
use crate::target::Target;

/// Where an operation's shared memory starts, in bytes.
pub const OFFSET: &str = discardable::OFFSET.name();
/// Bytes of shared memory that a block of the module needs.
pub const SHARED: &str = discardable::SHARED.name();

/// Where a piece of global scratch memory starts in its program's part.
pub const GLOBAL_OFFSET: &str = discardable::GLOBAL_OFFSET.name();
/// Bytes of global scratch memory of one program.
pub const GLOBAL_SIZE: &str = discardable::GLOBAL_SIZE.name();
/// What the global scratch memory's start must be a multiple of.
pub const GLOBAL_ALIGNMENT: &str = discardable::GLOBAL_ALIGNMENT.name();

/// Bytes of shared memory that `op` needs for itself on this device.
///
/// # Errors
/// When a type of the operation has no layout.
pub fn scratch_bytes(ir: &Ir, op: Op, target: &Target) -> Result<u32, LayoutError> {
    let Some(exchange) = ir.spec(op).exchange else { return Ok(0) };
    match exchange {
        Exchange::Conversion => {
            let [source] = ir.all_operands(op);
            let (from, to) = (ir.ty(source), ir.ty(ir.result(op)));
            Ok(ConversionPlan::new(layout_of(from)?, layout_of(to)?, element_bits(from), &target.shared)?
                .scratch_bytes())
        }
        Exchange::Copies => atomic_bytes(ir, op),
        // Where there is no plan, code generation says why.
        Exchange::Reduce => Ok(reduce_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(&operand_bytes(ir, op)))),
        Exchange::Scan => Ok(scan_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(&operand_bytes(ir, op)))),
        Exchange::Gather => Ok(gather_plan(ir, op).map_or(0, |plan| plan.scratch_bytes(operand_bytes(ir, op)[0]))),
        Exchange::Count => Ok(bins(ir, op) * COUNTER_BYTES),
        Exchange::Descriptor => Ok(DESCRIPTOR_BYTES),
    }
}

/// Bytes of a counter, whatever the result's type.
const COUNTER_BYTES: u32 = 4;

/// The plan of a `tt.reduce`.
///
/// # Errors
/// When a type has no layout, or the blocks of a cluster would have to exchange elements.
pub fn reduce_plan(ir: &Ir, op: Op) -> Result<ReducePlan, LayoutError> {
    let result = ir.ty(*ir.results(op).first().ok_or_else(|| LayoutError::new("a reduction without results"))?);
    let result = if result.is_tensor() { Some(layout_of(result)?) } else { None };
    let reduce = Reduce(op);
    let source = reduce.srcs(ir).first().ok_or_else(|| LayoutError::new("a reduction without operands"))?;
    ReducePlan::new(layout_of(ir.ty(*source))?, axis(reduce.axis(ir)), result, &operand_bytes(ir, op))
}

/// The plan of a `tt.scan`.
///
/// # Errors
/// As [`reduce_plan`].
pub fn scan_plan(ir: &Ir, op: Op) -> Result<ScanPlan, LayoutError> {
    let scan = Scan(op);
    let source = scan.srcs(ir).first().ok_or_else(|| LayoutError::new("a scan without operands"))?;
    ScanPlan::new(layout_of(ir.ty(*source))?, axis(scan.axis(ir)), scan.reverse(ir))
}

/// The plan of a `tt.gather`.
///
/// # Errors
/// As [`reduce_plan`].
pub fn gather_plan(ir: &Ir, op: Op) -> Result<GatherPlan, LayoutError> {
    let gather = Gather(op);
    let (source, indices) = (ir.ty(gather.src(ir)), ir.ty(gather.indices(ir)));
    GatherPlan::new(layout_of(source)?, layout_of(indices)?, axis(gather.axis(ir)))
}

/// How many different values are counted.
#[must_use]
pub fn bins(ir: &Ir, op: Op) -> u32 {
    ir.ty(ir.result(op)).shape().iter().product::<i64>() as u32
}

/// An axis as an index; one that no tensor has where none is stated.
fn axis(stated: Option<i64>) -> usize {
    stated.and_then(|a| usize::try_from(a).ok()).unwrap_or(usize::MAX)
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
