//! Drops what loops carry for nobody: a pointer that was advanced for a load that is gone.
//!
//! 1. A carried value is unused if the loop's result has no uses, and every chain of uses of the argument in the body
//!    computes and ends at the same argument's next value.
//! 2. Such a value stays what it was: the argument is handed on instead. The canonicalizer drops it then.

use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::{Effects, ScfOp};

pub(super) fn drop_unused(ir: &mut Ir) {
    let loops: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    for looped in loops {
        let Some(body) = ir.body(looped, 0) else { continue };
        let Some(end) = ir.terminator(body) else { continue };
        for (index, &result) in ir.results(looped).to_vec().iter().enumerate() {
            let arg = ir.args(body)[index + 1];
            if !ir.has_uses(result) && serves_itself(ir, arg, end, index) {
                ir.set_operand(end, index, arg);
            }
        }
    }
}

/// Step 1.
fn serves_itself(ir: &Ir, arg: Value, end: Op, index: usize) -> bool {
    let mut open = vec![arg];
    let mut seen = std::collections::BTreeSet::from([arg]);
    while let Some(value) = open.pop() {
        for u in ir.uses(value) {
            if u.op == end && u.index as usize == index {
                continue;
            }
            if ir.spec(u.op).effects != Effects::Pure || !ir.regions_of(u.op).is_empty() || ir.results(u.op).is_empty()
            {
                return false;
            }
            open.extend(ir.results(u.op).iter().filter(|&&r| seen.insert(r)));
        }
    }
    true
}
