//! Operations that run only where their iteration exists: copies under a predicate, and how a `ttg.mask` is resolved.

use crate::ir::core::clone::Mapping;
use crate::ir::core::{Builder, InsertPoint, Ir, Op, OpState, Type, Value};
use crate::ir::dialects::classes::accumulator;
use crate::ir::dialects::keys::Slot;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, Classes, ScfOp, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::fold::is_true;

/// A copy of `op` inside a `ttg.mask` under `predicate`; its results are the mask's.
pub(super) fn masked_copy(ir: &mut Ir, op: Op, map: &mut Mapping, predicate: Value, at: InsertPoint) -> Op {
    let loc = ir.loc(op);
    let types: Vec<Type> = ir.results(op).iter().map(|&r| ir.ty(r)).collect();
    let mask = Builder::new(ir, at, loc)
        .insert(OpState::new(TtgOp::Mask, loc).operands(&[predicate]).results(&types).regions(1));
    let region = ir.region(mask, 0);
    let block = ir.add_block(region, &[]);
    let copy = ir.clone_op(op, map);
    ir.append(block, copy);
    let results = ir.results(copy).to_vec();
    Builder::new(ir, InsertPoint::End(block), loc).insert(OpState::new(TtgOp::MaskReturn, loc).operands(&results));
    mask
}

/// A copy of a product in a branch under `predicate`; its accumulator is the result otherwise. A select between the two
/// would keep both in registers.
pub(super) fn product_in_branch(ir: &mut Ir, op: Op, map: &mut Mapping, predicate: Value, at: InsertPoint) -> Op {
    let loc = ir.loc(op);
    let ty = ir.ty(ir.result(op));
    let copy = ir.clone_op(op, map);
    let accumulator = accumulator(ir, copy);
    let state = scf::If::state(loc, predicate).results(&[ty]).regions(2);
    let branch = Builder::new(ir, at, loc).insert(state);
    let result = ir.result(copy);
    for (index, value) in [Some(result), accumulator].into_iter().enumerate() {
        let region = ir.region(branch, index);
        let block = ir.add_block(region, &[]);
        if index == 0 {
            ir.append(block, copy);
        }
        let value = value.expect("a product has an accumulator");
        Builder::new(ir, InsertPoint::End(block), loc).insert(OpState::new(ScfOp::Yield, loc).operands(&[value]));
    }
    branch
}

/// How an operation is kept from running.
enum Switch {
    /// It may run anyway.
    Harmless,
    /// This operand is a mask, of the shape of the first operand.
    Mask(Slot),
    /// It is an `scf.if` with effects, whose condition can be false.
    Condition(scf::If),
    /// It goes into an `scf.if`.
    Branch,
    Impossible,
}

fn switch(ir: &Ir, op: Op) -> Switch {
    let kind = ir.kind(op);
    if effects(ir, op).is_free() || kind.belongs(Classes::RUNS_AHEAD) {
        Switch::Harmless
    } else if let Some(mask) = kind.predicate() {
        Switch::Mask(mask)
    } else if let Some(branch) = scf::If::of(ir, op) {
        Switch::Condition(branch)
    } else if kind.belongs(Classes::BRANCHES_OFF) {
        Switch::Branch
    } else {
        Switch::Impossible
    }
}

pub(super) fn can_be_switched_off(ir: &Ir, op: Op) -> bool {
    !matches!(switch(ir, op), Switch::Impossible)
}

/// Step 5, everywhere in the module.
pub fn resolve_masks(ir: &mut Ir) {
    let masks: Vec<ttg::Mask> = ir.all_ops(ir.module()).into_iter().filter_map(|op| ttg::Mask::of(ir, op)).collect();
    for found in masks {
        let (mask, predicate) = (found.0, found.pred(ir));
        let Some(block) = ir.body(mask, 0) else { continue };
        let end = ir.terminator(block);
        for op in ir.op_list(block).into_iter().filter(|&op| Some(op) != end) {
            ir.move_before(op, mask);
            switch_off(ir, op, predicate);
        }
        let values = end.map(|end| ir.operands(end).to_vec()).unwrap_or_default();
        ir.replace_op(mask, &values);
    }
}

fn switch_off(ir: &mut Ir, op: Op, predicate: Value) {
    if is_true(ir, predicate) {
        return;
    }
    match switch(ir, op) {
        Switch::Harmless | Switch::Impossible => {}
        Switch::Condition(branch) => {
            let condition = branch.condition(ir);
            let loc = ir.value_loc(predicate);
            let both = Builder::new(ir, InsertPoint::Before(op), loc).value(
                ArithOp::Andi,
                &[predicate, condition],
                Type::int(1),
            );
            ir.put_operands(op, scf::If::SLOT.condition, &[both]);
        }
        Switch::Branch => into_branch(ir, op, predicate),
        Switch::Mask(slot) => {
            let old = ir.operand_group(op, slot.group()).first().copied();
            let like = ir.ty(ir.operands(op)[0]);
            let loc = ir.value_loc(predicate);
            let mut b = Builder::new(ir, InsertPoint::Before(op), loc);
            let mut mask = predicate;
            if like.is_tensor() {
                mask = b.value(TtOp::Splat, &[predicate], like.with_elem(Type::int(1)));
            }
            if let Some(old) = old {
                let ty = b.ir.ty(mask);
                mask = b.value(ArithOp::Andi, &[mask, old], ty);
            }
            ir.put_operands(op, slot, &[mask]);
        }
    }
}

/// Puts an operation without results into a branch: into the one right in front of it, if that has the same condition.
fn into_branch(ir: &mut Ir, op: Op, predicate: Value) {
    let loc = ir.loc(op);
    let same = |branch: &scf::If| branch.condition(ir) == predicate && branch.results(ir).is_empty();
    let before = ir.prev_op(op).and_then(|o| scf::If::of(ir, o)).filter(same);
    let block = before.and_then(|branch| ir.body(branch.0, 0)).unwrap_or_else(|| {
        let branch = Builder::before(ir, op).insert(scf::If::state(loc, predicate).regions(2));
        let region = ir.region(branch, 0);
        let block = ir.add_block(region, &[]);
        Builder::new(ir, InsertPoint::End(block), loc).insert(OpState::new(ScfOp::Yield, loc));
        block
    });
    let end = ir.terminator(block).expect("a branch ends in a yield");
    ir.move_before(op, end);
}
