//! `ttc-unswitch-loops`: what a loop does under a condition that it does not change, it does not do where that fails.
//!
//! A convolution written as nested loops asks in the innermost whether the element lies in the image
//! (`if 0 <= y < height and 0 <= x < width`). What is known of `y` does not change while `x` does, yet every turn asks
//! again. For the programs at the edge, and for most turns of a transposed convolution, all of the inner loop is idle.
//!
//! Kernels that work on tensors write the same as `grad = tl.where(valid & is_last & (col == last), grad - x, grad)`,
//! where `valid` and `is_last` are scalars.
//!
//! # Algorithm
//!
//! Of each `scf.for`, inner loops first:
//!
//! 1. A condition is a conjunction (`arith.andi`, also of tensors). Its terms are the scalars from outside of the loop
//!    that must hold where it holds anywhere ([`terms`]).
//! 2. The loop is idle without a term if it writes nothing then and a turn hands on what it was given. A yielded value
//!    is handed on if it is the carried one, a result of the body's one `scf.if` that is the carried one on the other
//!    side, or `arith.select` of something new and a value that is handed on. All of these conditions must have the
//!    term. Results of the loop that nobody uses may be anything.
//! 3. Such terms go into an `scf.if` around the loop, whose other side yields what the loop starts with. Inside of the
//!    loop they are true. A loop without a branch must also load or compute something that costs more than the test.
//! 4. A short loop in which only some of the selects have a term becomes two ([`versions`]).
//! 5. Canonicalize, since a loop whose only work is a loop under a condition is such a loop as well.
//!
//! Terms are the same for all threads of a program, so no barrier is passed by some of them only.

mod terms;
mod versions;

use crate::ir::core::{Block, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf::{For, If};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};
use crate::ir::effects::effects;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::guard::guard;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-unswitch-loops",
    doc: "run loops, or parts of them, only where a condition that they do not change lets them do something",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for op in ir.all_ops_post(ir.module()) {
        let Some(looped) = For::of(ir, op) else { continue };
        if let Some(terms) = needed(ir, looped) {
            enter_under(ir, looped, &terms);
            changed = true;
        }
        changed |= versions::split(ir, looped);
    }
    if changed {
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(changed))
}

/// Steps 1 and 2: the terms without any of which a loop is idle, if there are such terms.
fn needed(ir: &Ir, looped: For) -> Option<Vec<Value>> {
    let body = ir.body(looped.0, 0)?;
    let (&end, inner) = ir.op_list(body).split_last().map(|(end, inner)| (end, inner.to_vec()))?;
    let mut busy = inner.iter().copied().filter(|&op| !is_quiet(ir, op));
    let branch = match (busy.next(), busy.next()) {
        (None, _) => inner.iter().any(|&op| is_costly(ir, op)).then_some(None)?,
        (Some(op), None) => Some(idle_else(ir, op)?),
        _ => return None,
    };
    let mut conditions: Vec<Value> = branch.iter().map(|branch| branch.condition(ir)).collect();
    let turns = ir.operands(end).iter().zip(&ir.args(body)[1..]).zip(ir.results(looped.0));
    for ((&value, &carried), _) in turns.filter(|&(_, &result)| ir.has_uses(result)) {
        conditions.extend(handed_on(ir, body, branch, (value, carried))?.iter().map(|step| step.condition));
    }
    let mut sets = conditions.iter().map(|&condition| terms::of(ir, condition, body));
    let first = sets.next()?;
    let common = sets.fold(first, |common, set| common.into_iter().filter(|term| set.contains(term)).collect());
    let known = terms::known(ir, looped.0, body);
    let new: Vec<Value> = common.into_iter().filter(|term| !known.contains(term)).collect();
    (!new.is_empty()).then_some(new)
}

/// Whether nobody sees that an operation did not run, but by its results.
fn is_quiet(ir: &Ir, op: Op) -> bool {
    let effects = effects(ir, op);
    !effects.writes && !effects.allocates && !ir.is(op, ScfOp::If) && !ir.is(op, ScfOp::While)
}

/// Whether an operation takes much longer than a test of a scalar.
fn is_costly(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    let divides = [ArithOp::Divsi, ArithOp::Divui, ArithOp::Remsi, ArithOp::Remui].map(OpKind::from).contains(&kind);
    let calls = kind == TtOp::ExternElementwise.into();
    kind.is_load() || kind.is_expensive_math() || kind.works_across_threads() || divides || calls
}

/// A branch whose other side does nothing.
fn idle_else(ir: &Ir, op: Op) -> Option<If> {
    let branch = If::of(ir, op)?;
    let idle = ir.body(op, 1).is_none_or(|other| ir.ops(other).all(|op| is_quiet(ir, op)));
    idle.then_some(branch)
}

/// A select, or the branch of a body, that hands on a value where a condition does not hold.
#[derive(Clone, Copy)]
struct Step {
    op: Op,
    condition: Value,
    /// The value that is handed on.
    old: Value,
}

/// The steps that hand on a carried value, from what the turn yields on; `None` if something else is yielded.
fn handed_on(ir: &Ir, body: Block, branch: Option<If>, (value, carried): (Value, Value)) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = vec![];
    let mut value = value;
    while value != carried {
        let op = ir.def_op(value).filter(|&op| ir.parent_block(op) == Some(body))?;
        let step = if let Some(select) = arith::Select::of(ir, op) {
            Step { op, condition: select.condition(ir), old: select.false_value(ir) }
        } else {
            let branch = branch.filter(|branch| branch.0 == op)?;
            let at = ir.results(op).iter().position(|&result| result == value)?;
            let end = ir.body(op, 1).and_then(|other| ir.last_op(other))?;
            Step { op, condition: branch.condition(ir), old: ir.operands(end)[at] }
        };
        value = step.old;
        steps.push(step);
    }
    Some(steps)
}

/// Step 3.
fn enter_under(ir: &mut Ir, looped: For, terms: &[Value]) {
    let runs = all(ir, looped, terms);
    let inits = looped.init(ir).to_vec();
    guard(ir, looped.0, runs, &inits);
    assume(ir, looped.0, terms);
}

/// The conjunction of terms, in front of a loop. Those that others imply are left out.
fn all(ir: &mut Ir, looped: For, terms: &[Value]) -> Value {
    let strongest = ir.body(looped.0, 0).map_or_else(Vec::new, |body| terms::strongest(ir, terms, body));
    let mut b = Builder::before(ir, looped.0);
    let first = strongest.first().copied().unwrap_or_else(|| b.int(1, Type::int(1)));
    strongest.iter().skip(1).fold(first, |all, &term| b.value(ArithOp::Andi, &[all, term], Type::int(1)))
}

/// Makes terms true inside of a loop, also as elements of tensors and as parts of masks from outside.
fn assume(ir: &mut Ir, looped: Op, terms: &[Value]) {
    let mut queue = terms.to_vec();
    while let Some(holds) = queue.pop() {
        let ty = ir.ty(holds);
        if ir.users(holds).iter().any(|&user| ir.is_ancestor(looped, user)) {
            let known = Builder::before(ir, looped).int(1, ty);
            replace_inside(ir, looped, holds, known);
        }
        for user in ir.users(holds) {
            if ir.is_ancestor(looped, user) {
                continue;
            }
            if terms::keeps_elements(ir, user) {
                queue.push(ir.result(user));
            } else if let Some(and) = arith::Andi::of(ir, user) {
                let other = if and.lhs(ir) == holds { and.rhs(ir) } else { and.lhs(ir) };
                replace_inside(ir, looped, and.result(ir), other);
            }
        }
    }
}

fn replace_inside(ir: &mut Ir, looped: Op, old: Value, new: Value) {
    ir.replace_uses_if(old, new, |ir, user| ir.is_ancestor(looped, user.op));
}
