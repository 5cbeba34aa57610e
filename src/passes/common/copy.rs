//! Code that is there twice: once for what is known under a condition, and once for the rest.

use std::collections::BTreeSet;

use crate::ir::core::{Block, Builder, Ir, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::discardable::VERSIONS;

/// Puts operations of one block into the second side of an `scf.if` in front of `end`, and copies of them, behind
/// copies of `also`, into the first. All that they need is there. What others need of them comes out of the branch.
/// The mapping learns the values of the copies, and the module how many versions there are.
pub(crate) fn copy_under(
    ir: &mut Ir,
    condition: Value,
    (moved, also): (&[Op], &[Op]),
    end: Op,
    map: &mut Mapping,
) -> Option<Op> {
    let &first = moved.first()?;
    let inside: BTreeSet<Op> = moved.iter().copied().collect();
    let made: Vec<Value> = moved.iter().flat_map(|&op| ir.results(op).to_vec()).collect();
    let is_needed = |ir: &Ir, value: Value| ir.users(value).into_iter().any(|user| !is_in(ir, user, &inside));
    let results: Vec<Value> = made.into_iter().filter(|&value| is_needed(ir, value)).collect();
    let types: Vec<Type> = results.iter().map(|&value| ir.ty(value)).collect();
    let loc = ir.loc(first);
    let branch = OpState::new(ScfOp::If, loc).operands(&[condition]).results(&types).regions(2);
    let branch = Builder::before(ir, end).insert(branch);
    let copy = ir.add_block(ir.region(branch, 0), &[]);
    for &op in also.iter().chain(moved) {
        let copied = ir.clone_op(op, map);
        ir.append(copy, copied);
    }
    let yielded: Vec<Value> = results.iter().map(|&value| map.get(value)).collect();
    end_with(ir, branch, copy, &yielded);
    let rest = ir.add_block(ir.region(branch, 1), &[]);
    let others = ir.results(branch).to_vec();
    for (&old, new) in results.iter().zip(others) {
        ir.replace_uses_if(old, new, |ir, used| !is_in(ir, used.op, &inside));
    }
    let last = end_with(ir, branch, rest, &results);
    for &op in moved {
        ir.move_before(op, last);
    }
    ir.put(ir.module(), VERSIONS, 2);
    Some(branch)
}

/// Ends a side of a branch.
fn end_with(ir: &mut Ir, branch: Op, side: Block, values: &[Value]) -> Op {
    let end = ir.create_op(OpState::new(ScfOp::Yield, ir.loc(branch)).operands(values));
    ir.append(side, end);
    end
}

/// Whether an operation is one of these, or inside of one.
fn is_in(ir: &Ir, op: Op, ops: &BTreeSet<Op>) -> bool {
    std::iter::successors(Some(op), |&op| ir.parent_op(op)).any(|op| ops.contains(&op))
}
