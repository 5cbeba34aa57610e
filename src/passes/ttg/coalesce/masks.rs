//! Masks that data decides.
//!
//! Where a mask lets through single elements, a vector of them is accessed one by one: threads whose elements are
//! neighbours then leave gaps between those of a warp, and each access touches as many sectors as the whole vector. The
//! bound of an array splits vectors only where it ends, so it counts for nothing here (`ttc-whole-vectors`). A mask
//! that was loaded does so anywhere.

use std::collections::BTreeSet;

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::arith::arith::{Andi, Cmpi, Ori};
use crate::ir::dialects::tt::tt::{Broadcast, ExpandDims};

/// How many neighbours along an axis, of `vector`, a mask lets through together or not at all, as far as data decides.
pub(super) fn decided_together(ir: &Ir, analysis: &AxisInfoAnalysis, mask: Value, axis: usize, vector: i64) -> i64 {
    let (mut seen, mut queue) = (BTreeSet::new(), vec![(mask, axis)]);
    let mut least = vector;
    while let Some((term, axis)) = queue.pop() {
        let known = analysis.get(term).and_then(|info| info.constancy.get(axis).copied());
        let Some(together) = known.filter(|&together| together < least && seen.insert((term, axis))) else { continue };
        let Some(op) = ir.def_op(term) else { continue };
        if Andi::of(ir, op).is_some() || Ori::of(ir, op).is_some() {
            queue.extend(ir.operands(op).iter().map(|&side| (side, axis)));
        } else if let Some(broadcast) = Broadcast::of(ir, op) {
            queue.push((broadcast.src(ir), axis));
        } else if let Some(expand) = ExpandDims::of(ir, op) {
            let new = expand.axis(ir).map_or(axis, |new| new as usize);
            queue.extend((new != axis).then(|| (expand.src(ir), axis - usize::from(new < axis))));
        } else if is_data(ir, analysis, op, axis) {
            least = together.max(1);
        }
    }
    least
}

/// Whether what was loaded decides a mask for each element along an axis. Numbers that follow one another are compared
/// with a bound, though one that was loaded may add to them.
fn is_data(ir: &Ir, analysis: &AxisInfoAnalysis, op: Op, axis: usize) -> bool {
    let is_run = |value: Value| {
        let runs = |elements: &[i64]| elements.get(axis).is_some_and(|&elements| elements > 1);
        analysis.get(value).is_some_and(|info| runs(&info.constancy) || runs(&info.contiguity))
    };
    match Cmpi::of(ir, op) {
        Some(_) => ir.operands(op).iter().any(|&side| !is_run(side) && is_loaded(ir, side)),
        None => is_loaded(ir, ir.result(op)),
    }
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
