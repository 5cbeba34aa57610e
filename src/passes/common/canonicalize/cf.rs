//! Canonicalization of branches: blocks with one way in are merged, jumps to jumps shortened, constant conditions
//! decided.

use crate::ir::core::{Attr, Block, Op, OpState, Value};
use crate::ir::dialects::scf::cf::{Assert, CondBr};
use crate::ir::dialects::{ArithOp, CfOp, OpKind};
use crate::ir::rewrite::region_dce::incoming;
use crate::ir::rewrite::{Pattern, Rewriter};

pub static PATTERNS: &[&Pattern] = &[
    &Pattern::new("argument that every branch passes the same -> that", OpKind::Cf(CfOp::Br), uniform_arguments),
    &Pattern::new("argument that every branch passes the same -> that", OpKind::Cf(CfOp::CondBr), uniform_arguments),
    &Pattern::new("br to a block with no other way in -> merge", OpKind::Cf(CfOp::Br), merge_into_predecessor),
    &Pattern::new("br to a block that only jumps -> jump there", OpKind::Cf(CfOp::Br), br_through),
    &Pattern::new("cond_br on a constant -> br", OpKind::Cf(CfOp::CondBr), constant_condition),
    &Pattern::new("cond_br to a block that only jumps -> jump there", OpKind::Cf(CfOp::CondBr), cond_br_through),
    &Pattern::new("cond_br to one block twice -> br", OpKind::Cf(CfOp::CondBr), same_successors),
    &Pattern::new("cond_br where the condition is known", OpKind::Cf(CfOp::CondBr), known_condition),
    &Pattern::new(
        "condition used behind its own branch -> constant",
        OpKind::Cf(CfOp::CondBr),
        condition_behind_branch,
    ),
    &Pattern::new("cf.assert true -> nothing", OpKind::Cf(CfOp::Assert), true_assert),
];

fn true_assert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if rw.const_of(Assert(op).arg(rw.ir)).and_then(Attr::as_bool) != Some(true) {
        return false;
    }
    rw.erase(op);
    true
}

fn passed(rw: &Rewriter<'_>, op: Op, index: usize) -> Vec<Value> {
    rw.ir.successor_operands(op, index).to_vec()
}

fn uniform_arguments(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let mut changed = false;
    for target in rw.ir.successors(op).to_vec() {
        let ways = incoming(rw.ir, target);
        for (index, arg) in rw.ir.args(target).to_vec().into_iter().enumerate() {
            let mut values = ways.iter().map(|&(branch, s)| passed(rw, branch, s)[index]).filter(|&v| v != arg);
            let Some(first) = values.next().filter(|_| rw.ir.has_uses(arg)) else { continue };
            if values.all(|v| v == first) {
                rw.replace_all_uses(arg, first);
                changed = true;
            }
        }
    }
    changed
}

fn merge_into_predecessor(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (Some(block), target) = (rw.ir.parent_block(op), rw.ir.successors(op)[0]) else { return false };
    let is_entry = rw.ir.parent_region(target).and_then(|r| rw.ir.entry(r)) == Some(target);
    if target == block || is_entry || incoming(rw.ir, target).len() != 1 {
        return false;
    }
    let values = rw.ir.operands(op).to_vec();
    let args = rw.ir.args(target).to_vec();
    for (arg, value) in args.into_iter().zip(values) {
        rw.replace_all_uses(arg, value);
    }
    rw.erase(op);
    let moved = rw.ir.op_list(target);
    rw.ir.splice_tail(target, rw.ir.first_op(target), block);
    rw.ir.erase_blocks(&[target]);
    // What was behind the jump now stands beside its neighbours.
    if let Some(&last) = moved.last() {
        rw.touch(last);
    }
    true
}

/// If a block holds nothing but a jump and nobody else uses its arguments: where that goes, and what it passes given
/// `values`.
fn collapse(rw: &Rewriter<'_>, target: Block, values: &[Value]) -> Option<(Block, Vec<Value>)> {
    let only = rw.ir.first_op(target).filter(|&o| rw.ir.is(o, CfOp::Br) && rw.ir.next_op(o).is_none())?;
    let next = rw.ir.successors(only)[0];
    if next == target {
        return None;
    }
    let args = rw.ir.args(target);
    if args.iter().any(|&a| rw.ir.uses(a).iter().any(|u| u.op != only)) {
        return None;
    }
    let through = |v: &Value| args.iter().position(|a| a == v).map_or(*v, |i| values[i]);
    Some((next, rw.ir.operands(only).iter().map(through).collect()))
}

fn br_through(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let target = rw.ir.successors(op)[0];
    let Some((next, values)) = collapse(rw, target, rw.ir.operands(op)) else { return false };
    if Some(target) == rw.ir.parent_block(op) {
        return false;
    }
    rw.ir.set_successor(op, 0, next);
    rw.ir.set_operands(op, &values);
    rw.touch(op);
    true
}

fn replace_by_br(rw: &mut Rewriter<'_>, op: Op, index: usize) -> bool {
    let (values, target, loc) = (passed(rw, op, index), rw.ir.successors(op)[index], rw.ir.loc(op));
    rw.insert(OpState::new(CfOp::Br, loc).operands(&values).successors(&[target]));
    rw.erase(op);
    true
}

fn constant_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(taken) = rw.const_of(CondBr(op).condition(rw.ir)).and_then(Attr::as_bool) else { return false };
    replace_by_br(rw, op, usize::from(!taken))
}

fn same_successors(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (a, b) = (rw.ir.successors(op)[0], rw.ir.successors(op)[1]);
    if a != b {
        return false;
    }
    let (x, y) = (passed(rw, op, 0), passed(rw, op, 1));
    if x == y {
        return replace_by_br(rw, op, 0);
    }
    if incoming(rw.ir, a).len() != 2 {
        return false;
    }
    let (cond, loc) = (CondBr(op).condition(rw.ir), rw.ir.loc(op));
    let mut merged = vec![];
    for (&t, &f) in x.iter().zip(&y) {
        let ty = rw.ir.ty(t);
        merged.push(if t == f { t } else { rw.value(ArithOp::Select, loc, &[cond, t, f], ty) });
    }
    rw.insert(OpState::new(CfOp::Br, loc).operands(&merged).successors(&[a]));
    rw.erase(op);
    true
}

fn set_cond_br(rw: &mut Rewriter<'_>, op: Op, targets: [Block; 2], values: [Vec<Value>; 2]) {
    rw.ir.set_successor(op, 0, targets[0]);
    rw.ir.set_successor(op, 1, targets[1]);
    rw.put_operands(op, CondBr::SLOT.true_args, &values[0]);
    rw.put_operands(op, CondBr::SLOT.false_args, &values[1]);
}

fn cond_br_through(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let targets = [rw.ir.successors(op)[0], rw.ir.successors(op)[1]];
    let values = [passed(rw, op, 0), passed(rw, op, 1)];
    let collapsed = [collapse(rw, targets[0], &values[0]), collapse(rw, targets[1], &values[1])];
    if collapsed.iter().all(Option::is_none) {
        return false;
    }
    let [[(ta, va), (tb, vb)]] = [[(targets[0], values[0].clone()), (targets[1], values[1].clone())]];
    let [ca, cb] = collapsed;
    let ((ta, va), (tb, vb)) = (ca.unwrap_or((ta, va)), cb.unwrap_or((tb, vb)));
    set_cond_br(rw, op, [ta, tb], [va, vb]);
    true
}

/// The only way in is a branch on the same condition.
fn known_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(block) = rw.ir.parent_block(op) else { return false };
    let ways = incoming(rw.ir, block);
    let [(branch, index)] = ways[..] else { return false };
    let Some(before) = CondBr::of(rw.ir, branch).filter(|_| branch != op) else { return false };
    if before.condition(rw.ir) != CondBr(op).condition(rw.ir) {
        return false;
    }
    replace_by_br(rw, op, index)
}

/// In a block that one side of the branch alone leads to, the condition is a constant.
fn condition_behind_branch(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let cond = CondBr(op).condition(rw.ir);
    let mut changed = false;
    for (index, holds) in [(0, true), (1, false)] {
        let target = rw.ir.successors(op)[index];
        if incoming(rw.ir, target).len() != 1 {
            continue;
        }
        let users: Vec<_> = rw
            .ir
            .uses(cond)
            .iter()
            .copied()
            .filter(|u| rw.ir.parent_block(u.op) == Some(target) && u.op != op)
            .collect();
        if users.is_empty() {
            continue;
        }
        let loc = rw.ir.loc(op);
        rw.at = crate::ir::core::InsertPoint::Before(op);
        let known = rw.constant(Attr::bool(holds), loc);
        for u in users {
            rw.set_operand(u.op, u.index as usize, known);
        }
        changed = true;
    }
    changed
}
