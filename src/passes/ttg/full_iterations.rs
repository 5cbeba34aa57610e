//! `ttc-full-iterations`: a loop over a row does its full blocks without masks, and what is left with them.
//!
//! `for off in range(0, n, BLOCK)` with `mask = off + tl.arange(0, BLOCK) < n` needs the mask in its last iteration
//! only. Without it a load needs no predicate and no value for what it leaves out, and selects under the mask
//! disappear.
//!
//! # Algorithm
//!
//! Of each innermost `scf.for` with step S and upper bound U whose body exchanges nothing between threads:
//!
//! 1. Find the masks: `arith.cmpi slt, x, splat U`, where x is at most the induction variable plus S - 1: a splat of it
//!    plus a range that ends at S or before. Either may have got further dimensions, as the columns of a tile have.
//! 2. Put a copy of the loop in front, up to `lower + n / S * S` with `n = max(U - lower, 0)`. In all its iterations
//!    the masks are true.
//! 3. The loop itself goes on from there, with what the copy ends with; it has one iteration or none.
//! 4. Canonicalize.
//!
//! What both loops compute in front of them, such as the distances of rows, takes registers as long as either runs. So
//! a kernel that spills is compiled without the copies as well, which is taken if it spills nothing
//! (`driver/flow/binary.rs`).

use crate::ir::core::{Attr, Block, Builder, Ir, Mapping, Op, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::discardable::{DOES_THE_REST, NUM_STAGES};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::rewrite::fold;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-full-iterations",
    doc: "do a loop's full blocks without masks",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Larger bodies are not copied.
const MOST_OPS: usize = 120;

/// Whether the pass copies a loop of a module.
pub(crate) fn applies(ir: &Ir) -> bool {
    !plan(ir).is_empty()
}

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let plan = plan(ir);
    for (looped, masks) in &plan {
        split(ir, *looped, masks);
    }
    if !plan.is_empty() {
        // Accesses and selects under masks that are true lose them.
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(!plan.is_empty()))
}

/// The loops to copy, with their masks.
fn plan(ir: &Ir) -> Vec<(Op, Vec<Value>)> {
    let loops = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For));
    loops.map(|op| (op, masks(ir, op))).filter(|(_, masks)| !masks.is_empty()).collect()
}

/// Step 1.
fn masks(ir: &Ir, looped: Op) -> Vec<Value> {
    let (Some(body), header) = (ir.body(looped, 0), scf::For(looped)) else { return vec![] };
    let small = ir.ops(body).count() <= MOST_OPS && !header.unsignedCmp(ir);
    let simple = ir.ops(body).all(|op| ir.regions_of(op).is_empty() && !ir.kind(op).works_across_threads());
    let step = fold::const_of(ir, header.step(ir)).and_then(Attr::int_value);
    let Some(step) = step.filter(|&s| s > 0 && small && simple) else { return vec![] };
    let is_mask = |compare: &arith::Cmpi| {
        compare.predicate(ir) == Some(CmpiPredicate::Slt)
            && is_everywhere(ir, compare.rhs(ir), header.upper(ir))
            && is_below_next(ir, body, compare.lhs(ir), step)
    };
    let compares = ir.ops(body).filter_map(|op| arith::Cmpi::of(ir, op));
    compares.filter(is_mask).map(|compare| compare.result(ir)).collect()
}

/// Whether every element of a tensor is this scalar.
fn is_everywhere(ir: &Ir, tensor: Value, scalar: Value) -> bool {
    let known = fold::int_of(ir, scalar);
    splat_of(ir, tensor) == Some(scalar) || known.is_some() && fold::int_of(ir, narrow(ir, tensor)) == known
}

/// The scalar that every element of a tensor is.
fn splat_of(ir: &Ir, value: Value) -> Option<Value> {
    tt::Splat::defining(ir, narrow(ir, value)).map(|splat| splat.src(ir))
}

/// The tensor without dimensions of one element and without copies along a dimension: it has the same elements.
fn narrow(ir: &Ir, mut value: Value) -> Value {
    loop {
        let expanded = tt::ExpandDims::defining(ir, value).map(|op| op.src(ir));
        match expanded.or_else(|| tt::Broadcast::defining(ir, value).map(|op| op.src(ir))) {
            Some(src) => value = src,
            None => return value,
        }
    }
}

/// Whether every element is less than the induction variable of the next iteration.
fn is_below_next(ir: &Ir, body: Block, value: Value, step: i64) -> bool {
    let Some(sum) = arith::Addi::defining(ir, narrow(ir, value)) else { return false };
    let starts = |v: Value| splat_of(ir, v) == Some(ir.args(body)[0]);
    let short = |v: Value| {
        tt::MakeRange::defining(ir, narrow(ir, v)).and_then(|range| range.end(ir)).is_some_and(|end| end <= step)
    };
    let (a, b) = (sum.lhs(ir), sum.rhs(ir));
    starts(a) && short(b) || starts(b) && short(a)
}

/// Steps 2 and 3.
fn split(ir: &mut Ir, looped: Op, masks: &[Value]) {
    let header = scf::For(looped);
    let (lower, upper, step) = (header.lower(ir), header.upper(ir), header.step(ir));
    let ty = ir.ty(lower);
    let mut b = Builder::before(ir, looped);
    let zero = b.int(0, ty);
    let span = b.value(ArithOp::Subi, &[upper, lower], ty);
    let span = b.value(ArithOp::Maxsi, &[span, zero], ty);
    // As a multiple of the step, so that what is known of the step is known of where the blocks start.
    let blocks = b.value(ArithOp::Divsi, &[span, step], ty);
    let full = b.value(ArithOp::Muli, &[blocks, step], ty);
    let end = b.value(ArithOp::Addi, &[lower, full], ty);
    let mut map = Mapping::default();
    let copy = ir.clone_op(looped, &mut map);
    ir.insert_before(looped, copy);
    ir.put_operands(copy, scf::For::SLOT.upper, &[end]);
    for &mask in masks {
        let mask = map.get(mask);
        let ty = ir.ty(mask);
        let Some(def) = ir.def_op(mask) else { continue };
        let state = arith::Constant::state(ir.loc(def)).with(arith::Constant::ATTR.value, Attr::splat_bits(ty, 1));
        let all = Builder::before(ir, def).result(state, ty);
        ir.replace_all_uses(mask, all);
    }
    ir.put_operands(looped, scf::For::SLOT.lower, &[end]);
    // One iteration at most: nothing to unroll.
    ir.put(looped, NUM_STAGES, 1);
    ir.put(looped, DOES_THE_REST, true);
    let done = ir.results(copy).to_vec();
    ir.put_operands(looped, scf::For::SLOT.init, &done);
}
