//! `tritongpu-combine-tensor-select-and-if`: a choice between tensors under a condition that an `scf.if` tests anyway
//! becomes a result of it.
//!
//! A select of tensors costs an instruction a register and keeps both alive; as a result of the branch it costs
//! nothing.
//!
//! # Algorithm
//!
//! 1. Inside an `scf.if`, the result of a select under the same condition is the value of that side.
//! 2. A select of tensors joins the first `scf.if` of its block under its condition that comes after it and before all
//!    its users: both sides yield their value, and the result replaces the select.

use std::collections::BTreeMap;

use crate::ir::core::{Ir, Op, OpState, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-combine-tensor-select-and-if",
    doc: "make selects of tensors results of an `scf.if` under the same condition",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let selects: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ArithOp::Select)).collect();
    let mut changed = false;
    for &select in &selects {
        changed |= resolve_inside(ir, select);
    }
    // Which branch takes which selects, in order of the selects.
    let mut order: Vec<Op> = vec![];
    let mut joined: BTreeMap<Op, Vec<Op>> = BTreeMap::new();
    for &select in &selects {
        if let Some(branch) = branch_for(ir, select) {
            if !joined.contains_key(&branch) {
                order.push(branch);
            }
            joined.entry(branch).or_default().push(select);
        }
    }
    for branch in order {
        join(ir, branch, &joined[&branch]);
        changed = true;
    }
    Ok(Changed::from(changed))
}

/// The index of the region of `branch` that holds `op`.
fn side_of(ir: &Ir, branch: Op, op: Op) -> Option<usize> {
    let mut at = op;
    loop {
        let region = ir.parent_region(ir.parent_block(at)?)?;
        let parent = ir.parent_op(at)?;
        if parent == branch {
            return ir.regions_of(branch).iter().position(|&r| r == region);
        }
        at = parent;
    }
}

fn branches_on(ir: &Ir, condition: Value) -> Vec<Op> {
    let mut ops: Vec<Op> = ir.uses(condition).iter().map(|u| u.op).filter(|&op| ir.is(op, ScfOp::If)).collect();
    ops.sort_unstable();
    ops.dedup();
    ops
}

/// What a select gives on a side of a branch with the same condition.
fn chosen(ir: &Ir, select: Op, side: usize) -> Value {
    let select = arith::Select(select);
    if side == 0 { select.true_value(ir) } else { select.false_value(ir) }
}

/// Step 1.
fn resolve_inside(ir: &mut Ir, select: Op) -> bool {
    let result = ir.result(select);
    let mut plan = vec![];
    for branch in branches_on(ir, arith::Select(select).condition(ir)) {
        for user in ir.uses(result) {
            if let Some(side) = side_of(ir, branch, user.op) {
                plan.push((user.op, user.index as usize, chosen(ir, select, side)));
            }
        }
    }
    for &(op, index, value) in &plan {
        ir.set_operand(op, index, value);
    }
    !plan.is_empty()
}

/// Step 2: the branch that a select may join.
fn branch_for(ir: &Ir, select: Op) -> Option<Op> {
    let result = ir.result(select);
    if !ir.ty(result).is_tensor() {
        return None;
    }
    let block = ir.parent_block(select)?;
    let mut candidates = branches_on(ir, arith::Select(select).condition(ir));
    candidates.retain(|&op| ir.parent_block(op) == Some(block) && ir.is_before(select, op));
    candidates.sort_unstable();
    candidates.dedup();
    candidates
        .sort_by(|&a, &b| if ir.is_before(a, b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater });
    let in_block =
        |op: Op| std::iter::successors(Some(op), |&o| ir.parent_op(o)).find(|&o| ir.parent_block(o) == Some(block));
    candidates.into_iter().find(|&branch| {
        ir.uses(result).iter().all(|u| in_block(u.op).is_none_or(|user| user != branch && ir.is_before(branch, user)))
    })
}

/// Gives a branch the selects as further results.
fn join(ir: &mut Ir, branch: Op, selects: &[Op]) {
    for &select in selects {
        let result = add_result(ir, branch, [chosen(ir, select, 0), chosen(ir, select, 1)]);
        ir.replace_op(select, &[result]);
    }
}

/// Gives an `scf.if` one more result: what each side yields.
pub fn add_result(ir: &mut Ir, branch: Op, sides: [Value; 2]) -> Value {
    for (side, value) in sides.into_iter().enumerate() {
        let body = ir.body(branch, side).unwrap_or_else(|| ir.add_block(ir.region(branch, side), &[]));
        if let Some(end) = ir.terminator(body) {
            let values: Vec<Value> = ir.operands(end).iter().copied().chain([value]).collect();
            ir.set_operands(end, &values);
        } else {
            let end = ir.create_op(OpState::new(ScfOp::Yield, ir.loc(branch)).operands(&[value]));
            ir.append(body, end);
        }
    }
    let ty = ir.ty(sides[0]);
    ir.add_result(branch, ty)
}
