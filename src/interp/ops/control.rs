//! Control flow: terminators, the `scf`, `cf` and `ub` dialects, and calls.

use super::super::fault::Fault;
use super::super::numbers::{mask, signed, width};
use super::super::program::{Flow, Program};
use super::super::undef::Use;
use super::super::value::Val;
use crate::diag::codes::interp as codes;
use crate::ir::core::Value;
use crate::ir::dialects::scf::{cf, scf};
use crate::ir::dialects::tt::tt::Call;
use crate::ir::{CfOp, Op, OpKind, ScfOp, TtOp, UbOp};

/// Runs a terminator, which says where control goes.
pub(crate) fn terminator(p: &mut Program<'_>, op: Op) -> Result<Flow, Fault> {
    let values = |p: &Program<'_>| p.all(p.ir.operands(op));
    match p.ir.kind(op) {
        OpKind::Scf(ScfOp::Condition) => {
            let condition = scf::Condition(op);
            Ok(Flow::Condition(holds(p, op, condition.condition(p.ir))?, p.all(condition.args(p.ir))))
        }
        OpKind::Cf(CfOp::Br) => Ok(Flow::Branch(p.ir.successors(op)[0], values(p))),
        OpKind::Cf(CfOp::CondBr) => {
            let branch = cf::CondBr(op);
            let taken = usize::from(!holds(p, op, branch.condition(p.ir))?);
            Ok(Flow::Branch(p.ir.successors(op)[taken], p.all(p.ir.successor_operands(op, taken))))
        }
        OpKind::Ub(UbOp::Unreachable) => {
            Err(p.fault(op, &codes::UNREACHABLE, "control reached `ub.unreachable`".to_owned(), "reached"))
        }
        OpKind::Scf(ScfOp::Yield)
        | OpKind::Tt(TtOp::Return | TtOp::ReduceReturn | TtOp::ScanReturn | TtOp::MapElementwiseReturn) => {
            Ok(Flow::Leave(values(p)))
        }
        _ => Err(p.unsupported(op, "")),
    }
}

/// Whether the condition holds on which an operation decides.
fn holds(p: &Program<'_>, op: Op, condition: Value) -> Result<bool, Fault> {
    let v = p.get(condition);
    p.defined_scalar(op, &v, Use::Condition)?;
    Ok(v.scalar() & 1 == 1)
}

pub(crate) fn scf(p: &mut Program<'_>, op: Op, kind: ScfOp) -> Result<(), Fault> {
    let results = match kind {
        ScfOp::For => looped(p, op, counted)?,
        ScfOp::If => {
            let taken = usize::from(!holds(p, op, scf::If(op).condition(p.ir))?);
            match p.ir.regions_of(op).get(taken) {
                Some(&region) => p.region(region, vec![])?,
                None => vec![],
            }
        }
        ScfOp::While => looped(p, op, conditional)?,
        ScfOp::ExecuteRegion => p.region(p.ir.region(op, 0), vec![])?,
        // Terminators never get here.
        ScfOp::Condition | ScfOp::Yield => vec![],
    };
    p.set_results(op, results);
    Ok(())
}

/// Runs a loop. Meanwhile the program knows that it is in this loop.
fn looped(
    p: &mut Program<'_>,
    op: Op,
    run: fn(&mut Program<'_>, Op) -> Result<Vec<Val>, Fault>,
) -> Result<Vec<Val>, Fault> {
    p.enter(op);
    let results = run(p, op)?;
    p.loops.pop();
    Ok(results)
}

/// Notes that an iteration of the innermost loop begins.
fn iterate(p: &mut Program<'_>) {
    if let Some(l) = p.loops.last_mut() {
        l.iterations += 1;
    }
}

fn counted(p: &mut Program<'_>, op: Op) -> Result<Vec<Val>, Fault> {
    let looped = scf::For(op);
    let bounds = [looped.lower(p.ir), looped.upper(p.ir), looped.step(p.ir)];
    let (w, unsigned) = (width(p.ir.ty(bounds[0])), looped.unsignedCmp(p.ir));
    let [mut at, upper, step] = bounds.map(|bound| {
        let bits = p.get(bound).scalar();
        if unsigned { i128::from(bits) } else { i128::from(signed(bits, w)) }
    });
    for bound in bounds {
        p.defined_scalar(op, &p.get(bound), Use::Bound)?;
    }
    let mut carried = p.all(looped.init(p.ir));
    if at < upper && step <= 0 {
        return Err(p.fault(op, &codes::TOO_LONG, format!("a loop with step {step} does not end"), "this loop"));
    }
    let Some(body) = p.ir.body(op, 0) else { return Ok(carried) };
    while at < upper {
        iterate(p);
        // A body without operations counts as work, too.
        p.spend(op, 1)?;
        let mut args = vec![Val::splat(at as u64 & mask(w))];
        args.append(&mut carried);
        if let Flow::Leave(values) = p.block(body, args)? {
            carried = values;
        }
        at += step;
    }
    Ok(carried)
}

fn conditional(p: &mut Program<'_>, op: Op) -> Result<Vec<Val>, Fault> {
    let mut carried: Vec<Val> = p.ir.operands(op).iter().map(|&v| p.get(v)).collect();
    let (Some(before), Some(after)) = (p.ir.body(op, 0), p.ir.body(op, 1)) else { return Ok(carried) };
    loop {
        iterate(p);
        let (start, changes) = (carried.clone(), p.changes.get());
        let (goes_on, values) = match p.block(before, carried)? {
            Flow::Condition(c, values) => (c, values),
            Flow::Leave(values) => (false, values),
            Flow::Branch(..) => return Err(p.unsupported(op, "a branch in its first region")),
        };
        if !goes_on {
            return Ok(values);
        }
        carried = match p.block(after, values)? {
            Flow::Leave(values) | Flow::Condition(_, values) => values,
            Flow::Branch(..) => return Err(p.unsupported(op, "a branch in its second region")),
        };
        p.progresses(op, changes, &start, &carried)?;
    }
}

pub(crate) fn cf(p: &mut Program<'_>, op: Op, kind: CfOp) -> Result<(), Fault> {
    match kind {
        CfOp::Assert if !holds(p, op, cf::Assert(op).arg(p.ir))? => {
            let message = format!("assertion failed: {}", cf::Assert(op).msg(p.ir).unwrap_or_default());
            p.report(op, &codes::ASSERTION, || p.fault(op, &codes::ASSERTION, message, "asserted here"))
        }
        CfOp::Assert | CfOp::Br | CfOp::CondBr => Ok(()),
    }
}

pub(crate) fn ub(p: &mut Program<'_>, op: Op, kind: UbOp) {
    match kind {
        // Nobody may rely on the value, so zero is as good as any.
        UbOp::Poison => p.set(p.ir.result(op), Val::splat(0)),
        // This is a terminator, which never gets here.
        UbOp::Unreachable => {}
    }
}

/// Runs `tt.call`.
pub(crate) fn call(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let name = Call(op).callee(p.ir).unwrap_or_default();
    let Some(callee) = p.ir.function(name).filter(|&f| p.ir.body(f, 0).is_some()) else {
        return Err(p.unsupported(op, &format!("`{name}` has no body")));
    };
    if p.stack.contains(&callee) {
        return Err(p.fault(op, &codes::TOO_DEEP, format!("`{name}` calls itself"), "called here"));
    }
    let args = p.ir.operands(op).iter().map(|&v| p.get(v)).collect();
    p.stack.push(callee);
    p.calls.push(op);
    let results = p.region(p.ir.region(callee, 0), args)?;
    p.stack.pop();
    p.calls.pop();
    p.set_results(op, results);
    Ok(())
}
