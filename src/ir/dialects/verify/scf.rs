//! Rules of the `scf` dialect: what regions take and give.

use super::{result_type, rule, same_types, terminator, types_of};
use crate::ir::core::{Ir, Op, Type};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::spec::VerifyResult;

/// The types that a region's `scf.yield` gives; a fault if it ends in something else.
fn yielded(ir: &Ir, op: Op, region: usize, name: &str) -> Result<Vec<Type>, String> {
    match terminator(ir, op, region) {
        Some(end) if ir.is(end, ScfOp::Yield) => Ok(types_of(ir, ir.operands(end))),
        _ => Err(format!("the {name} must end in `scf.yield`")),
    }
}

fn arg_types(ir: &Ir, op: Op, region: usize) -> Vec<Type> {
    ir.entry(ir.region(op, region)).map_or(vec![], |b| types_of(ir, ir.args(b)))
}

/// Bounds and step have one type; carried values agree in initial values, arguments, yield and results.
pub fn scf_for(ir: &Ir, op: Op) -> VerifyResult {
    let operands = types_of(ir, ir.operands(op));
    let bound = operands[0];
    rule(operands[1] == bound && operands[2] == bound, || {
        format!("bounds and step must have one type, found `{bound}`, `{}` and `{}`", operands[1], operands[2])
    })?;
    rule(!ir.blocks_of(ir.region(op, 0)).is_empty(), || "the body must have a block".to_owned())?;
    let mut expected = vec![bound];
    expected.extend(&operands[3..]);
    same_types(&arg_types(ir, op, 0), "the body's arguments", &expected, "the bounds and the initial values")?;
    same_types(&types_of(ir, ir.results(op)), "the results", &operands[3..], "the initial values")?;
    same_types(&yielded(ir, op, 0, "body")?, "the yielded values", &operands[3..], "the results")
}

/// Both regions yield the results; without results the second may be empty.
pub fn scf_if(ir: &Ir, op: Op) -> VerifyResult {
    let results = types_of(ir, ir.results(op));
    let has = |r: usize| !ir.blocks_of(ir.region(op, r)).is_empty();
    rule(has(0), || "the then region must have a block".to_owned())?;
    rule(results.is_empty() || has(1), || "must have an else region because it has results".to_owned())?;
    for (region, name) in [(0, "then region"), (1, "else region")] {
        if has(region) {
            rule(arg_types(ir, op, region).is_empty(), || format!("the {name} must have no arguments"))?;
            same_types(&yielded(ir, op, region, name)?, &format!("the values yielded by the {name}"), &results, "the results")?;
        }
    }
    Ok(())
}

/// Initial values go to the first region; its condition's values to the second and to the results; the second's yield back to the first.
pub fn scf_while(ir: &Ir, op: Op) -> VerifyResult {
    let (inits, results) = (types_of(ir, ir.operands(op)), types_of(ir, ir.results(op)));
    for region in 0..2 {
        rule(!ir.blocks_of(ir.region(op, region)).is_empty(), || "both regions must have a block".to_owned())?;
    }
    same_types(&arg_types(ir, op, 0), "the first region's arguments", &inits, "the initial values")?;
    let end = terminator(ir, op, 0).filter(|&e| ir.is(e, ScfOp::Condition)).ok_or("the first region must end in `scf.condition`")?;
    same_types(&types_of(ir, &ir.operands(end)[1..]), "the values passed on by `scf.condition`", &results, "the results")?;
    same_types(&arg_types(ir, op, 1), "the second region's arguments", &results, "the results")?;
    same_types(&yielded(ir, op, 1, "second region")?, "the yielded values", &inits, "the initial values")
}

/// Every block that ends in `scf.yield` yields the results.
pub fn execute_region(ir: &Ir, op: Op) -> VerifyResult {
    let results = types_of(ir, ir.results(op));
    let blocks = ir.blocks_of(ir.region(op, 0));
    rule(!blocks.is_empty(), || "the region must have a block".to_owned())?;
    rule(arg_types(ir, op, 0).is_empty(), || "the entry block must have no arguments".to_owned())?;
    for end in blocks.iter().filter_map(|&b| ir.last_op(b)).filter(|&e| ir.is(e, ScfOp::Yield)) {
        same_types(&types_of(ir, ir.operands(end)), "the yielded values", &results, "the results")?;
    }
    Ok(())
}

/// `scf.yield` and `scf.condition` stand directly in the operation they end a region of.
pub fn ends_region(ir: &Ir, op: Op) -> VerifyResult {
    let parent = ir.parent_op(op);
    let fits = parent.is_some_and(|p| {
        let is = |k: ScfOp| ir.is(p, k);
        if ir.is(op, ScfOp::Condition) {
            is(ScfOp::While)
        } else {
            is(ScfOp::For) || is(ScfOp::If) || is(ScfOp::While) || is(ScfOp::ExecuteRegion)
        }
    });
    rule(fits, || {
        format!(
            "must stand in an operation of the `scf` dialect that takes it, found it in `{}`",
            parent.map_or("nothing", |p| ir.op_name(p))
        )
    })
}

/// A branch's condition and targets are checked with all branches; a poison's value has its type.
pub fn poison(ir: &Ir, op: Op) -> VerifyResult {
    let ty = result_type(ir, op);
    let value = ir.stored_attr(op, "value").and_then(crate::ir::core::Attr::type_of);
    rule(value.is_none_or(|v| v == ty), || format!("the value must have type `{ty}`"))
}
