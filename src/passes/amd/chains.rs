//! Products that feed one another, as in attention: `q·k` and then `p·v`.

use std::collections::BTreeSet;

use crate::ir::core::{Ir, Op, Value, ValueDef};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ScfOp, TtOp};

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

/// All that depends on these values, within a region.
fn dependents(ir: &Ir, of: &[Value], home: Op) -> BTreeSet<Op> {
    let mut seen = BTreeSet::new();
    let mut queue = of.to_vec();
    while let Some(value) = queue.pop() {
        for user in ir.uses(value).iter().map(|u| u.op) {
            if same_region(ir, user, home) && seen.insert(user) {
                queue.extend(ir.results(user));
            }
        }
    }
    seen
}

/// All that a value is computed from, within a region and one iteration of its loop.
fn sources(ir: &Ir, of: Value, home: Op) -> BTreeSet<Op> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![of];
    while let Some(value) = queue.pop() {
        let Some(def) = ir.def_op(value).filter(|&def| same_region(ir, def, home)) else { continue };
        if seen.insert(def) {
            queue.extend(ir.operands(def));
        }
    }
    seen
}

/// Whether another product of the region reads what this one computes, as its operand `index`: in the same iteration of
/// a loop, or in the next one by a value that the loop carries.
#[must_use]
pub(super) fn is_head(ir: &Ir, dot: Op, index: usize) -> bool {
    let mut after = dependents(ir, ir.results(dot), dot);
    let reads = |other: Op, from: &BTreeSet<Op>| ir.def_op(factor(ir, other, index)).is_some_and(|d| from.contains(&d));
    if after.iter().any(|&op| is_dot(ir, op) && reads(op, &after)) {
        return true;
    }
    after.insert(dot);
    let results = after.iter().flat_map(|&op| ir.results(op)).flat_map(|&r| ir.uses(r));
    results.filter_map(|u| next_argument(ir, u.op, u.index as usize)).any(|arg| {
        let after = dependents(ir, &[arg], dot);
        let reads = |&op: &Op| factor(ir, op, index) == arg || reads(op, &after);
        after.iter().filter(|&&op| op != dot && is_dot(ir, op)).any(reads)
    })
}

/// Whether A of this product is computed from another product of the region, in the same iteration of a loop or in the
/// one before.
#[must_use]
pub(super) fn is_tail(ir: &Ir, dot: Op) -> bool {
    let a = factor(ir, dot, 0);
    let first = ir.def_op(a);
    let mut before = sources(ir, a, dot);
    if before.iter().any(|&op| Some(op) != first && is_dot(ir, op)) {
        return true;
    }
    before.extend(first);
    let operands = before.iter().flat_map(|&op| ir.operands(op)).copied();
    operands.chain([a]).filter_map(|value| last_yielded(ir, value)).any(|yielded| {
        let before = sources(ir, yielded, dot);
        before.into_iter().chain(ir.def_op(yielded)).any(|op| op != dot && is_dot(ir, op))
    })
}

/// The argument of the next iteration for operand `index` of a loop's end.
fn next_argument(ir: &Ir, end: Op, index: usize) -> Option<Value> {
    let block = ir.parent_block(end).filter(|_| ir.is(end, ScfOp::Yield))?;
    let looped = ir.block_op(block).filter(|&op| ir.is(op, ScfOp::For))?;
    ir.args(ir.body(looped, 0)?).get(index + 1).copied()
}

/// What the iteration before leaves for a value that a loop carries.
fn last_yielded(ir: &Ir, value: Value) -> Option<Value> {
    let ValueDef::Arg { block, index } = ir.def(value) else { return None };
    ir.block_op(block).filter(|&op| ir.is(op, ScfOp::For))?;
    ir.operands(ir.terminator(block)?).get((index as usize).checked_sub(1)?).copied()
}
