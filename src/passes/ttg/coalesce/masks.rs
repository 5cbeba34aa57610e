//! Masks that data decides.
//!
//! Where a mask lets through single elements, a vector of them is accessed one by one: threads whose elements are
//! neighbours then leave gaps between those of a warp, and each access touches as many sectors as the whole vector. The
//! bound of an array splits vectors only where it ends, so it counts for nothing here (`ttc-whole-vectors`). A mask
//! that was loaded does so anywhere.

use std::collections::BTreeSet;

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Ir, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::arith::arith::{Andi, Cmpi, Ori};
use crate::ir::dialects::tt::tt::{Broadcast, ExpandDims};

/// How many neighbours along an axis, of `vector`, a mask lets through together or not at all, as far as data decides.
pub(super) fn decided_together(ir: &Ir, analysis: &AxisInfoAnalysis, mask: Value, axis: usize, vector: i64) -> i64 {
    let part = |part: Value, axis: usize| decided_together(ir, analysis, part, axis, vector);
    let Some(together) = analysis.get(mask).and_then(|info| info.constancy.get(axis).copied()) else { return vector };
    let Some(op) = ir.def_op(mask).filter(|_| together < vector) else { return vector };
    if Andi::of(ir, op).is_some() || Ori::of(ir, op).is_some() {
        return ir.operands(op).iter().map(|&side| part(side, axis)).min().unwrap_or(vector);
    }
    if let Some(broadcast) = Broadcast::of(ir, op) {
        return part(broadcast.src(ir), axis);
    }
    if let Some(expand) = ExpandDims::of(ir, op) {
        let new = expand.axis(ir).map_or(axis, |new| new as usize);
        return if new == axis { vector } else { part(expand.src(ir), axis - usize::from(new < axis)) };
    }
    // Numbers that follow one another are compared with a bound, though one that was loaded may add to them.
    let is_run = |value: Value| {
        let known = |info: &Vec<i64>| info.get(axis).is_some_and(|&elements| elements > 1);
        analysis.get(value).is_some_and(|info| known(&info.constancy) || known(&info.contiguity))
    };
    let is_data = match Cmpi::of(ir, op) {
        Some(_) => ir.operands(op).iter().any(|&side| !is_run(side) && is_loaded(ir, side)),
        None => is_loaded(ir, mask),
    };
    if is_data { together.max(1) } else { vector }
}

/// Whether a tensor is computed from one that was loaded.
fn is_loaded(ir: &Ir, tensor: Value) -> bool {
    let (mut seen, mut queue) = (BTreeSet::from([tensor]), vec![tensor]);
    while let Some(value) = queue.pop() {
        let Some(op) = ir.def_op(value).filter(|_| ir.ty(value).is_tensor()) else { continue };
        if ir.is(op, TtOp::Load) {
            return true;
        }
        queue.extend(ir.operands(op).iter().filter(|&&operand| seen.insert(operand)));
    }
    false
}
