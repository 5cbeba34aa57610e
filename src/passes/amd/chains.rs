//! Products that feed one another within one region, as in attention: `q·k` and then `p·v`.

use std::collections::BTreeSet;

use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::tt::tt;

/// Whether an operation is `tt.dot` or `tt.dot_scaled`.
#[must_use]
pub(super) fn is_dot(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtOp::Dot) || ir.is(op, TtOp::DotScaled)
}

/// An operand of a product, 0 or 1.
#[must_use]
pub(super) fn factor(ir: &Ir, dot: Op, index: usize) -> Value {
    if let Some(dot) = tt::Dot::of(ir, dot) {
        return if index == 0 { dot.a(ir) } else { dot.b(ir) };
    }
    let dot = tt::DotScaled(dot);
    if index == 0 { dot.a(ir) } else { dot.b(ir) }
}

fn same_region(ir: &Ir, a: Op, b: Op) -> bool {
    let home = |op: Op| ir.parent_block(op).and_then(|block| ir.parent_region(block));
    home(a) == home(b)
}

/// All that depends on the results of an operation, within its region.
fn dependents(ir: &Ir, of: Op) -> BTreeSet<Op> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![of];
    while let Some(op) = queue.pop() {
        for user in ir.results(op).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op) {
            if same_region(ir, user, of) && seen.insert(user) {
                queue.push(user);
            }
        }
    }
    seen
}

/// Whether another product of the region reads what this one computes, as its operand `index`.
#[must_use]
pub(super) fn is_head(ir: &Ir, dot: Op, index: usize) -> bool {
    let after = dependents(ir, dot);
    let reads = |&other: &Op| ir.def_op(factor(ir, other, index)).is_some_and(|def| after.contains(&def));
    after.iter().filter(|&&op| is_dot(ir, op)).any(reads)
}

/// Whether A of this product is computed from another product of the region.
#[must_use]
pub(super) fn is_tail(ir: &Ir, dot: Op) -> bool {
    let Some(first) = ir.def_op(factor(ir, dot, 0)) else { return false };
    let mut seen = BTreeSet::new();
    let mut queue = vec![first];
    while let Some(op) = queue.pop() {
        for def in ir.operands(op).iter().filter_map(|&v| ir.def_op(v)) {
            if same_region(ir, def, dot) && seen.insert(def) {
                queue.push(def);
            }
        }
    }
    seen.into_iter().any(|op| is_dot(ir, op))
}
