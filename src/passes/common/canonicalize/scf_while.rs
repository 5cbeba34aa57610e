//! Canonicalization of `scf.while`: the condition known inside the loop, results and carried values that nobody uses.

use super::scf::{keep_operands, with_results};
use crate::ir::core::{Attr, InsertPoint, Op, Type, Value};
use crate::ir::dialects::scf::scf::Condition;
use crate::ir::dialects::{OpKind, ScfOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub(super) static CONDITION_INSIDE: Pattern =
    Pattern::new("condition passed into the loop -> true", OpKind::Scf(ScfOp::While), condition_inside);
pub(super) static UNUSED_RESULTS: Pattern =
    Pattern::new("unused results of while -> none", OpKind::Scf(ScfOp::While), unused_results);
pub(super) static UNUSED_ARGS: Pattern =
    Pattern::new("unused carried values of while -> none", OpKind::Scf(ScfOp::While), unused_args);

fn terminator(rw: &Rewriter<'_>, op: Op, region: usize) -> Option<Op> {
    rw.ir.body(op, region).and_then(|b| rw.ir.last_op(b))
}

/// Where the condition is among the values that go on, it is true in the loop's body.
fn condition_inside(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (Some(condition), Some(after)) = (terminator(rw, op, 0), rw.ir.body(op, 1)) else { return false };
    let Some(condition) = Condition::of(rw.ir, condition) else { return false };
    let cond = condition.condition(rw.ir);
    if rw.const_of(cond).is_some() {
        return false;
    }
    let args: Vec<Value> = rw.ir.args(after).to_vec();
    let passed: Vec<Value> = condition.args(rw.ir).to_vec();
    let known: Vec<Value> =
        args.into_iter().zip(passed).filter(|&(a, p)| p == cond && rw.ir.has_uses(a)).map(|(a, _)| a).collect();
    if known.is_empty() {
        return false;
    }
    let loc = rw.ir.loc(op);
    rw.at = InsertPoint::Before(op);
    let holds = rw.constant(Attr::bool(true), loc);
    known.into_iter().for_each(|arg| rw.replace_all_uses(arg, holds));
    true
}

/// A result that is used neither after the loop nor in its body.
fn unused_results(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (Some(condition), Some(after)) = (terminator(rw, op, 0), rw.ir.body(op, 1)) else { return false };
    let (results, args) = (rw.ir.results(op).to_vec(), rw.ir.args(after).to_vec());
    let keep: Vec<bool> = results.iter().zip(&args).map(|(&r, &a)| rw.ir.has_uses(r) || rw.ir.has_uses(a)).collect();
    if keep.iter().all(|&k| k) {
        return false;
    }
    let old: Vec<Value> = results.iter().zip(&keep).filter(|(_, k)| **k).map(|(&r, _)| r).collect();
    let types: Vec<Type> = old.iter().map(|&r| rw.ir.ty(r)).collect();
    let operands = rw.ir.operands(op).to_vec();
    let new = with_results(rw, op, &operands, &types);
    keep_operands(rw, condition, |i| i == 0 || keep[i - 1]);
    for index in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        rw.ir.remove_arg(after, index);
    }
    for (old, new) in old.into_iter().zip(rw.ir.results(new).to_vec()) {
        rw.replace_all_uses(old, new);
    }
    rw.erase(op);
    true
}

/// A carried value that the first region does not use.
fn unused_args(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (Some(before), Some(next)) = (rw.ir.body(op, 0), terminator(rw, op, 1)) else { return false };
    let keep: Vec<bool> = rw.ir.args(before).iter().map(|&a| rw.ir.has_uses(a)).collect();
    if keep.iter().all(|&k| k) {
        return false;
    }
    keep_operands(rw, next, |i| keep[i]);
    keep_operands(rw, op, |i| keep[i]);
    for index in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        rw.ir.remove_arg(before, index);
    }
    true
}
