//! `triton-test-loop-peeling`: takes the last iteration out of loops that are marked `__test_peel_epilogue`. No
//! compilation runs it; it is there to try the transformation.
//!
//! # Algorithm
//!
//! 1. The loop ends a step earlier, at `upper - step`.
//! 2. Behind it, where `lower < upper`, stands a copy of the body, with `lower + (upper - lower - 1) / step * step` for
//!    the induction variable and the loop's results for the carried values. Its results take the place of the loop's;
//!    on the other side those of the loop do.
//!
//! `upper - step` must not wrap around, so loops that count without sign stay as they are.
//!
//! ```text
//! for i in 0 to n step s:  body(i)      →      for i in 0 to n - s step s:  body(i)
//!                                              if 0 < n:  body((n - 1) / s * s)
//! ```

use crate::ir::core::{Builder, Ir, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::discardable::PEEL_EPILOGUE;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-test-loop-peeling",
    doc: "take the last iteration out of marked loops",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let wanted =
        |&op: &Op| For::of(ir, op).is_some_and(|looped| ir.stores(op, PEEL_EPILOGUE) && !looped.unsignedCmp(ir));
    let loops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(wanted).collect();
    for &op in &loops {
        ir.take(op, PEEL_EPILOGUE);
        peel(ir, op);
    }
    Ok(Changed::from(!loops.is_empty()))
}

fn peel(ir: &mut Ir, op: Op) {
    let looped = For(op);
    let (lower, upper, step) = (looped.lower(ir), looped.upper(ir), looped.step(ir));
    let ty = ir.ty(upper);
    let mut front = Builder::before(ir, op);
    let shorter = front.value(ArithOp::Subi, &[upper, step], ty);
    let results = ir.results(op).to_vec();
    let types: Vec<Type> = results.iter().map(|&r| ir.ty(r)).collect();
    let mut b = Builder::after(ir, op);
    let range = b.value(ArithOp::Subi, &[upper, lower], ty);
    let one = b.int(1, ty);
    let less = b.value(ArithOp::Subi, &[range, one], ty);
    let steps = b.value(ArithOp::Divsi, &[less, step], ty);
    let delta = b.value(ArithOp::Muli, &[steps, step], ty);
    let last = b.value(ArithOp::Addi, &[delta, lower], ty);
    let runs = b.cmpi(CmpiPredicate::Slt, lower, upper);
    let state = OpState::new(ScfOp::If, b.loc).operands(&[runs]).results(&types).regions(2);
    let branch = b.insert(state);
    fill(ir, op, branch, last);
    let peeled = ir.results(branch).to_vec();
    let inside = |ir: &Ir, user: Op| ir.is_ancestor(branch, user);
    for (&old, &new) in results.iter().zip(&peeled) {
        for at in ir.uses(old).to_vec() {
            if !inside(ir, at.op) {
                ir.set_operand(at.op, at.index as usize, new);
            }
        }
    }
    ir.put_operands(op, For::SLOT.upper, &[shorter]);
}

/// Step 2: the copy of the body on the first side, the loop's results on the second.
fn fill(ir: &mut Ir, op: Op, branch: Op, last: Value) {
    let (results, loc) = (ir.results(op).to_vec(), ir.loc(op));
    let Some(body) = ir.body(op, 0) else { return };
    let mut map = Mapping::default();
    let Some((&number, carried)) = ir.args(body).split_first() else { return };
    map.map(number, last);
    map.map_all(carried, &results);
    let sides = [0, 1].map(|i| ir.region(branch, i));
    let [then, otherwise] = sides.map(|region| ir.add_block(region, &[]));
    for inner in ir.op_list(body) {
        let copy = ir.clone_op(inner, &mut map);
        ir.append(then, copy);
    }
    let end = ir.create_op(OpState::new(ScfOp::Yield, loc).operands(&results));
    ir.append(otherwise, end);
}
