//! Rules of the `scf` dialect: what goes into a region, round a loop and out of it has the same types everywhere.

use super::{body, ending, ensure, inside, same_types, types_are};
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::{OpKind, ScfOp};

/// Bounds of one type; region arguments, yielded values and results as the initial values.
pub fn r#for(ir: &Ir, op: Op) -> VerifyResult {
    let operands = ir.operands(op);
    let (bounds, init) = operands.split_at(3.min(operands.len()));
    let ty = ir.ty(bounds[0]);
    for (name, &bound) in ["lower bound", "upper bound", "step"].iter().zip(bounds) {
        ensure!(ir.ty(bound) == ty, "its {name} has type {}, and its lower bound {ty}", ir.ty(bound));
    }
    let block = body(ir, op, 0, "body")?;
    let args = ir.args(block);
    ensure!(!args.is_empty(), "its region has no argument for the induction variable");
    ensure!(ir.ty(args[0]) == ty, "its induction variable has type {}, and its bounds have type {ty}", ir.ty(args[0]));
    same_types(ir, "carried region arguments", &args[1..], init)?;
    same_types(ir, "yielded values", ending(ir, block, ScfOp::Yield)?, init)?;
    same_types(ir, "results", ir.results(op), init)
}

/// Both regions yield the results; the second may be empty when there are none.
pub fn r#if(ir: &Ir, op: Op) -> VerifyResult {
    for (index, name) in ["then", "else"].into_iter().enumerate() {
        let Some(block) = ir.body(op, index) else {
            ensure!(index == 1, "region `then` is empty");
            ensure!(ir.results(op).is_empty(), "region `else` is empty, and there are results for it to yield");
            continue;
        };
        ensure!(ir.args(block).is_empty(), "region `{name}` has arguments, expected none");
        same_types(ir, &format!("values yielded by `{name}`"), ending(ir, block, ScfOp::Yield)?, ir.results(op))?;
    }
    Ok(())
}

/// `before` takes the initial values and passes on the results; `after` takes those and yields new initial values.
pub fn r#while(ir: &Ir, op: Op) -> VerifyResult {
    let (before, after) = (body(ir, op, 0, "before")?, body(ir, op, 1, "after")?);
    let inits = ir.operands(op);
    same_types(ir, "arguments of region `before`", ir.args(before), inits)?;
    let condition: &[Value] = ending(ir, before, ScfOp::Condition)?;
    ensure!(!condition.is_empty(), "its `scf.condition` has no condition");
    same_types(ir, "values passed on by `scf.condition`", &condition[1..], ir.results(op))?;
    same_types(ir, "arguments of region `after`", ir.args(after), ir.results(op))?;
    same_types(ir, "yielded values", ending(ir, after, ScfOp::Yield)?, inits)
}

/// Every `scf.yield` of its region gives the results.
pub fn execute_region(ir: &Ir, op: Op) -> VerifyResult {
    let entry = body(ir, op, 0, "region")?;
    ensure!(ir.args(entry).is_empty(), "its region has arguments, expected none");
    for &block in ir.blocks_of(ir.region(op, 0)) {
        if let Some(last) = ir.last_op(block).filter(|&o| ir.is(o, ScfOp::Yield)) {
            types_are(ir, "yielded values", ir.operands(last), ir.results(op).iter().map(|&r| ir.ty(r)))?;
        }
    }
    Ok(())
}

/// Stands in `scf.while`, whose rule checks its types.
pub fn condition(ir: &Ir, op: Op) -> VerifyResult {
    inside(ir, op, &[OpKind::Scf(ScfOp::While)])
}

/// Stands in an operation of the dialect, whose rule checks its types.
pub fn r#yield(ir: &Ir, op: Op) -> VerifyResult {
    let parents = [ScfOp::For, ScfOp::If, ScfOp::While, ScfOp::ExecuteRegion].map(OpKind::Scf);
    inside(ir, op, &parents)
}
