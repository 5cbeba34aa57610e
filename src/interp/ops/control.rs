//! Control flow: terminators, the `scf`, `cf` and `ub` dialects, calls.

use super::super::fault::Fault;
use super::super::numbers::{mask, signed};
use super::super::program::{Flow, Program};
use super::super::value::Val;
use super::arith::width;
use crate::diag::codes::interp as codes;
use crate::ir::{CfOp, Op, OpKind, ScfOp, TtOp, UbOp};

/// Where a terminator goes.
pub(crate) fn terminator(p: &mut Program<'_>, op: Op) -> Result<Flow, Fault> {
    let values = |p: &Program<'_>, skip: usize| p.ir.operands(op).iter().skip(skip).map(|&v| p.get(v)).collect::<Vec<_>>();
    match p.ir.kind(op) {
        OpKind::Scf(ScfOp::Condition) => Ok(Flow::Condition(p.operand(op, 0).scalar() & 1 == 1, values(p, 1))),
        OpKind::Cf(CfOp::Br) => Ok(Flow::Branch(p.ir.successors(op)[0], values(p, 0))),
        OpKind::Cf(CfOp::CondBr) => {
            let taken = p.operand(op, 0).scalar() & 1 == 1;
            let (successor, group) = if taken { (0, 1) } else { (1, 2) };
            Ok(Flow::Branch(p.ir.successors(op)[successor], p.group(op, group)))
        }
        OpKind::Ub(UbOp::Unreachable) => Err(p.fault(op, &codes::UNREACHABLE, "control reached `ub.unreachable`".to_owned(), "reached")),
        OpKind::Scf(ScfOp::Yield) | OpKind::Tt(TtOp::Return | TtOp::ReduceReturn | TtOp::ScanReturn | TtOp::MapElementwiseReturn) => {
            Ok(Flow::Leave(values(p, 0)))
        }
        _ => Err(p.unsupported(op, "")),
    }
}

pub(crate) fn scf(p: &mut Program<'_>, op: Op, kind: ScfOp) -> Result<(), Fault> {
    let results = match kind {
        ScfOp::For => counted(p, op)?,
        ScfOp::If => {
            let taken = usize::from(p.operand(op, 0).scalar() & 1 == 0);
            match p.ir.regions_of(op).get(taken) {
                Some(&region) => p.region(region, vec![])?,
                None => vec![],
            }
        }
        ScfOp::While => conditional(p, op)?,
        ScfOp::ExecuteRegion => p.region(p.ir.region(op, 0), vec![])?,
        // Terminators do not get here.
        ScfOp::Condition | ScfOp::Yield => vec![],
    };
    p.set_results(op, results);
    Ok(())
}

fn counted(p: &mut Program<'_>, op: Op) -> Result<Vec<Val>, Fault> {
    let w = width(p.ir.ty(p.ir.operand(op, 0)));
    let unsigned = p.ir.stored_attr(op, "unsignedCmp").is_some();
    let bound = |i: usize| {
        let bits = p.operand(op, i).scalar();
        if unsigned { i128::from(bits) } else { i128::from(signed(bits, w)) }
    };
    let (mut at, upper, step) = (bound(0), bound(1), bound(2));
    let mut carried: Vec<Val> = p.ir.operands(op)[3..].iter().map(|&v| p.get(v)).collect();
    if at < upper && step <= 0 {
        return Err(p.fault(op, &codes::TOO_LONG, format!("a loop with step {step} does not end"), "this loop"));
    }
    let Some(body) = p.ir.body(op, 0) else { return Ok(carried) };
    while at < upper {
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
    }
}

pub(crate) fn cf(p: &mut Program<'_>, op: Op, kind: CfOp) -> Result<(), Fault> {
    match kind {
        CfOp::Assert if p.operand(op, 0).scalar() & 1 == 0 => {
            let message = format!("assertion failed: {}", p.ir.str_attr(op, "msg").unwrap_or_default());
            Err(p.fault(op, &codes::ASSERTION, message, "asserted here"))
        }
        CfOp::Assert | CfOp::Br | CfOp::CondBr => Ok(()),
    }
}

pub(crate) fn ub(p: &mut Program<'_>, op: Op, kind: UbOp) {
    match kind {
        // Nobody may rely on the value: zero is as good as any.
        UbOp::Poison => p.set(p.ir.result(op), Val::splat(0)),
        // A terminator: it does not get here.
        UbOp::Unreachable => {}
    }
}

/// `tt.call`
pub(crate) fn call(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let name = p.ir.str_attr(op, "callee").unwrap_or_default();
    let Some(callee) = p.ir.function(name).filter(|&f| p.ir.body(f, 0).is_some()) else {
        return Err(p.unsupported(op, &format!("`{name}` has no body")));
    };
    if p.stack.contains(&callee) {
        return Err(p.fault(op, &codes::TOO_DEEP, format!("`{name}` calls itself"), "called here"));
    }
    let args = p.ir.operands(op).iter().map(|&v| p.get(v)).collect();
    p.stack.push(callee);
    let results = p.region(p.ir.region(callee, 0), args)?;
    p.stack.pop();
    p.set_results(op, results);
    Ok(())
}
