//! Descriptors that a loop makes anew in each iteration: written to slots of scratch memory that rotate, so that copies
//! under way keep theirs.
//!
//! # Algorithm
//!
//! 1. Every `tt.make_tensor_descriptor` of the body, also in branches, gets as many slots as the pipeline has stages
//!    ahead; one more where the body holds a `wgmma`, which may lag behind by an iteration.
//! 2. Each has a counter of its own, carried by the loop: the slot to write next. It counts on only where the
//!    descriptor is made, so a branch hands it out.
//!
//! ```text
//! %d = tt.make_tensor_descriptor …     →    %at = tt.addptr %scratch, %slot * 128
//!                                           ttng.tensormap_create %at, …; ttng.tensormap_fenceproxy_acquire %at
//!                                           %d = ttng.reinterpret_tensor_descriptor %at
//!                                           %next = %slot + 1 == slots ? 0 : %slot + 1
//! ```

use super::lower_loads::count_on;
use crate::ir::core::{Block, Builder, InsertPoint, Ir, Op, Type, Value};
use crate::ir::dialects::{ArithOp, ScfOp, TtOp, TtngOp};
use crate::layout::encodings::DESCRIPTOR_BYTES;
use crate::passes::common::carry::carry;
use crate::passes::nvidia::tensor_descriptors::Recipe;
use crate::passes::nvidia::tma_lowering::scratch;
use crate::passes::ttg::pipeline::schedule::Schedule;

/// Rewrites the descriptors of one loop; `stages` counts the pipeline's.
pub(super) fn lower(ir: &mut Ir, looped: Op, stages: u32, mut schedule: Option<&mut Schedule>) {
    let Some(body) = ir.body(looped, 0) else { return };
    let lags = ir.ops(body).any(|op| ir.is(op, TtngOp::WarpGroupDot));
    let slots = stages.saturating_sub(1) + u32::from(lags);
    let makes: Vec<(Op, Recipe)> = ir
        .all_ops(looped)
        .into_iter()
        .filter(|&op| ir.is(op, TtOp::MakeTensorDesc) && in_branches(ir, body, op))
        .filter_map(|op| Some((op, Recipe::new(ir, op).ok()?)))
        .collect();
    if makes.is_empty() || slots == 0 {
        return;
    }
    let memories: Vec<Value> = makes
        .iter()
        .map(|&(op, _)| {
            let loc = ir.loc(op);
            scratch(&mut Builder::new(ir, InsertPoint::Before(looped), loc), slots * DESCRIPTOR_BYTES)
        })
        .collect();
    let mut b = Builder::before(ir, looped);
    let (zero, one, size) = (b.i32(0), b.i32(1), b.i32(i64::from(slots)));
    let counters: Vec<Value> = makes.iter().map(|_| carry(ir, looped, body, zero)).collect();
    for (((make, recipe), memory), counter) in makes.into_iter().zip(memories).zip(counters) {
        let before = ir.prev_op(make);
        let mut b = Builder::before(ir, make);
        let bytes = b.i32(i64::from(DESCRIPTOR_BYTES));
        let offset = b.value(ArithOp::Muli, &[bytes, counter], Type::int(32));
        let at = b.value(TtOp::Addptr, &[memory, offset], b.ir.ty(memory));
        let made = recipe.emit(&mut b, make, at);
        let next = count_on(&mut b, counter, [zero, one, size]);
        let place = schedule.as_ref().and_then(|s| s.get(make));
        if let (Some(schedule), Some((stage, cluster))) = (schedule.as_deref_mut(), place) {
            let mut new = before.map_or_else(|| ir.parent_block(make).and_then(|b| ir.first_op(b)), |o| ir.next_op(o));
            while let Some(op) = new.filter(|&o| o != make) {
                schedule.insert(op, stage, cluster);
                new = ir.next_op(op);
            }
            schedule.remove(make);
        }
        hand_out(ir, body, make, counter, next);
        if let Some(&descriptor) = made.last() {
            let value = ir.result(descriptor);
            ir.replace_op(make, &[value]);
        }
    }
}

/// Whether an operation stands in a body, or in branches in it.
fn in_branches(ir: &Ir, body: Block, op: Op) -> bool {
    let mut at = op;
    while ir.parent_block(at) != Some(body) {
        match ir.parent_op(at) {
            Some(parent) if ir.is(parent, ScfOp::If) => at = parent,
            _ => return false,
        }
    }
    true
}

/// Makes the loop carry the counter's new value. Around every branch on the way, the other side keeps the old one.
fn hand_out(ir: &mut Ir, body: Block, make: Op, counter: Value, next: Value) {
    let (mut at, mut value) = (make, next);
    while ir.parent_block(at) != Some(body) {
        let (Some(home), Some(branch)) = (ir.parent_block(at), ir.parent_op(at)) else { return };
        let loc = ir.loc(branch);
        for region in ir.regions_of(branch).to_vec() {
            let block = ir.entry(region).unwrap_or_else(|| ir.add_block(region, &[]));
            let given = if block == home { value } else { counter };
            match ir.terminator(block).filter(|&end| ir.is(end, ScfOp::Yield)) {
                Some(end) => {
                    let operands: Vec<Value> = ir.operands(end).iter().copied().chain([given]).collect();
                    ir.set_operands(end, &operands);
                }
                None => {
                    Builder::new(ir, InsertPoint::End(block), loc).op(ScfOp::Yield, &[given], &[]);
                }
            }
        }
        value = ir.add_result(branch, Type::int(32));
        at = branch;
    }
    let index = ir.args(body).iter().position(|&a| a == counter).expect("an argument of the body") - 1;
    let end = ir.terminator(body).expect("a loop ends in a yield");
    ir.set_operand(end, index, value);
}
