//! `ttc-unswitch-loops`: a loop that does nothing where a condition fails that it does not change is not entered there.
//!
//! A convolution written as nested loops asks in the innermost whether the element lies in the image
//! (`if 0 <= y < height and 0 <= x < width`). What is known of `y` does not change while `x` does, yet every turn asks
//! again. For the programs at the edge, and for most turns of a transposed convolution, all of the inner loop is idle.
//!
//! # Algorithm
//!
//! Of each `scf.for`, inner loops first:
//!
//! 1. The loop is idle without a condition if its body is one `scf.if` and operations that write nothing, and without
//!    the branch a turn hands on what it was given: each yielded value is the carried one, or a result of the branch
//!    that is the carried one on the other side. Results of the loop that nobody uses may be anything.
//! 2. The condition is a conjunction (`arith.andi`). Its terms from outside of the loop go into an `scf.if` around the
//!    loop, whose other side yields what the loop starts with; the others stay.
//! 3. Canonicalize, since a loop whose only work is a loop under a condition is such a loop as well.
//!
//! Terms are the same for all threads of a program, so no barrier is passed by some of them only.

use crate::ir::core::{Block, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf::{For, If};
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::effects::effects;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::guard::guard;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-unswitch-loops",
    doc: "enter loops only where a condition that they do not change lets them do something",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for op in ir.all_ops_post(ir.module()) {
        if let Some(looped) = For::of(ir, op)
            && let Some(plan) = plan(ir, looped)
        {
            unswitch(ir, looped, &plan);
            changed = true;
        }
    }
    if changed {
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(changed))
}

/// How a loop changes.
struct Plan {
    branch: If,
    /// The terms of its condition that the loop does not change, and the others.
    outside: Vec<Value>,
    inside: Vec<Value>,
}

/// Steps 1 and 2: what to do with a loop, if anything.
fn plan(ir: &Ir, looped: For) -> Option<Plan> {
    let body = ir.body(looped.0, 0)?;
    let (&end, inner) = ir.op_list(body).split_last().map(|(end, inner)| (end, inner.to_vec()))?;
    let mut branches = inner.iter().filter(|&&op| !is_quiet(ir, op));
    let (branch, None) = (If::of(ir, *branches.next()?)?, branches.next()) else { return None };
    let other = ir.body(branch.0, 1);
    if other.is_some_and(|other| !ir.ops(other).all(|op| is_quiet(ir, op))) {
        return None;
    }
    let yields: &[Value] = other.and_then(|other| ir.last_op(other)).map_or(&[], |end| ir.operands(end));
    let handed_on = |value: Value, carried: Value| {
        let result = ir.results(branch.0).iter().position(|&result| result == value);
        value == carried || result.and_then(|at| yields.get(at)) == Some(&carried)
    };
    let mut turns = ir.operands(end).iter().zip(&ir.args(body)[1..]).zip(ir.results(looped.0));
    if !turns.all(|((&value, &carried), &result)| handed_on(value, carried) || !ir.has_uses(result)) {
        return None;
    }
    let mut terms = vec![];
    split(ir, branch.condition(ir), body, &mut terms);
    let (inside, outside): (Vec<Value>, Vec<Value>) =
        terms.into_iter().partition(|&term| ir.value_block(term) == Some(body));
    (!outside.is_empty()).then_some(Plan { branch, outside, inside })
}

/// Whether nobody sees that an operation did not run, but by its results.
fn is_quiet(ir: &Ir, op: Op) -> bool {
    let effects = effects(ir, op);
    !effects.writes && !effects.allocates && !ir.is(op, ScfOp::If) && !ir.is(op, ScfOp::While)
}

/// The terms of a conjunction, as far as a block computes it.
fn split(ir: &Ir, value: Value, body: Block, terms: &mut Vec<Value>) {
    let and = ir.def_op(value).filter(|&def| ir.parent_block(def) == Some(body));
    match and.and_then(|def| arith::Andi::of(ir, def)) {
        Some(and) => [and.lhs(ir), and.rhs(ir)].into_iter().for_each(|part| split(ir, part, body, terms)),
        None if !terms.contains(&value) => terms.push(value),
        None => {}
    }
}

/// Puts a loop under the terms that it does not change, and leaves the others in it.
fn unswitch(ir: &mut Ir, looped: For, plan: &Plan) {
    let all = |ir: &mut Ir, before: Op, terms: &[Value]| {
        let mut b = Builder::before(ir, before);
        let first = terms.first().copied().unwrap_or_else(|| b.int(1, Type::int(1)));
        terms.iter().skip(1).fold(first, |all, &term| b.value(ArithOp::Andi, &[all, term], Type::int(1)))
    };
    let rest = all(ir, plan.branch.0, &plan.inside);
    ir.put_operands(plan.branch.0, If::SLOT.condition, &[rest]);
    let runs = all(ir, looped.0, &plan.outside);
    let inits = looped.init(ir).to_vec();
    guard(ir, looped.0, runs, &inits);
}
