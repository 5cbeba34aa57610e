//! `triton-licm`: moves what does not change in a loop out of it, loads included.
//!
//! # Algorithm
//!
//! 1. Visit loops, inner ones first, and in each its operations in order; an operation that moves has its users in the
//!    loop visited again.
//! 2. An operation moves in front of the loop if everything that it (or what is in its regions) uses comes from
//!    outside, and it may run although the loop might not: it has no effects and cannot fail.
//! 3. A load moves too, out of an `scf.for` that writes nothing. Its mask is narrowed to whether the loop runs at all
//!    (`lower < upper`), so that it touches no memory that it would not have touched.

use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::Load;
use std::collections::VecDeque;

use crate::ir::core::{Builder, Ir, Op, Type, Value};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::{ArithOp, ScfOp, Traits, TtOp};
use crate::ir::effects::{effects, is_speculatable};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-licm",
    doc: "move what does not change in a loop out of it",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    Ok(Changed::from(move_out_of_loops(ir, true)))
}

/// Moves invariant operations out of all loops; loads if asked to.
pub fn move_out_of_loops(ir: &mut Ir, with_loads: bool) -> bool {
    let loops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&o| ir.kind(o).has(Traits::LOOP)).collect();
    let mut changed = false;
    for op in loops {
        changed |= move_out_of_loop(ir, op, with_loads);
    }
    changed
}

/// Moves invariant operations out of one loop; loads if asked to.
pub fn move_out_of_loop(ir: &mut Ir, op: Op, with_loads: bool) -> bool {
    let mut changed = false;
    let reads_only = with_loads && ir.is(op, ScfOp::For) && !effects(ir, op).writes && !effects(ir, op).allocates;
    for region in ir.regions_of(op).to_vec() {
        for block in ir.blocks_of(region).to_vec() {
            let mut queue: VecDeque<Op> = ir.ops(block).collect();
            while let Some(inner) = queue.pop_front() {
                if ir.parent_block(inner) != Some(block) || !may_move(ir, op, inner, reads_only) {
                    continue;
                }
                if ir.is(inner, TtOp::Load) {
                    guard(ir, op, inner);
                }
                ir.move_before(inner, op);
                let users = ir.results(inner).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op);
                queue.extend(users.filter(|&u| ir.parent_block(u) == Some(block)));
                changed = true;
            }
        }
    }
    changed
}

fn may_move(ir: &Ir, loop_op: Op, op: Op, reads_only: bool) -> bool {
    if ir.kind(op).is_terminator() {
        return false;
    }
    let effect = effects(ir, op);
    let allowed =
        if ir.is(op, TtOp::Load) { reads_only && !effect.writes } else { effect.is_free() && is_speculatable(ir, op) };
    allowed
        && ir
            .all_ops(op)
            .into_iter()
            .all(|o| ir.operands(o).iter().all(|&v| is_outside(ir, loop_op, v) || is_inside(ir, op, v)))
}

/// The operation around a value: its definition, or the one whose region has it as an argument.
fn owner(ir: &Ir, value: Value) -> Option<Op> {
    ir.def_op(value).or_else(|| ir.value_block(value).and_then(|b| ir.block_op(b)))
}

fn is_outside(ir: &Ir, loop_op: Op, value: Value) -> bool {
    match (ir.def_op(value), owner(ir, value)) {
        (Some(def), _) => def == loop_op || !ir.is_ancestor(loop_op, def),
        (None, Some(around)) => !ir.is_ancestor(loop_op, around),
        (None, None) => false,
    }
}

fn is_inside(ir: &Ir, op: Op, value: Value) -> bool {
    owner(ir, value).is_some_and(|o| o != op && ir.is_ancestor(op, o))
        || ir.def_op(value).is_none() && owner(ir, value) == Some(op)
}

/// Narrows a load's mask to whether the loop runs.
fn guard(ir: &mut Ir, loop_op: Op, load: Op) {
    let (lower, upper) = (For(loop_op).lower(ir), For(loop_op).upper(ir));
    let mask = Load(load).mask(ir);
    let ty = ir.ty(Load(load).ptr(ir)).with_elem(Type::int(1));
    let mut b = Builder::before(ir, loop_op);
    let mut guard = b.cmpi(CmpiPredicate::Slt, lower, upper);
    if ty.is_tensor() {
        guard = b.value(TtOp::Splat, &[guard], ty);
    }
    if let Some(mask) = mask {
        guard = b.value(ArithOp::Andi, &[guard, mask], ty);
    }
    ir.put_operands(load, Load::SLOT.mask, &[guard]);
}
