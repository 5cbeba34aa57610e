//! `ttc-unroll-streams`: loops that only read global memory read several iterations' parts at once.
//!
//! A loop over a row (`for off in range(0, n, BLOCK): acc += tl.load(…)`) waits for memory once an iteration: each
//! thread has one load under way. Unrolled, the loads of several iterations stand together and wait together. Triton
//! leaves such loops alone unless their author asks for `num_stages` or an unroll factor; this pass runs after the
//! passes that both compilers share, so TTGIR stays comparable.
//!
//! # Algorithm
//!
//! Of each innermost `scf.for` whose body loads tensors, writes nothing, and exchanges nothing between threads:
//!
//! 1. Count the registers of a thread that one iteration loads, and those that live through all of the loop: tensors
//!    that it carries, and tensors from outside that cannot be computed again for the price of a move.
//! 2. Unroll by 4, or by 2, where there are as many iterations, as long as [`BUDGET`] registers hold what lives through
//!    the loop and the loads of all copies. Beyond that the loads keep other warps off the multiprocessor, which hide
//!    the wait as well as they do.
//! 3. Loads move to the front of the unrolled body, as far as what they need allows.

use std::collections::BTreeSet;

use crate::analysis::trips::trips;
use crate::ir::core::{Block, Ir, Op, Type, Value};
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, ScfOp, TtOp};
use crate::ir::effects::effects;
use crate::layout;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::tt::loop_unroll;

pub static PASS: Pass = Pass {
    name: "ttc-unroll-streams",
    doc: "let loops that only read global memory read several iterations at once",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Registers that the loads of the unrolled body and what lives through the loop may fill: half of what a thread has
/// where the warps of a multiprocessor are half of those that it can hold.
const BUDGET: u32 = 64;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let loops: Vec<(Op, i64)> = ir
        .all_ops(ir.module())
        .into_iter()
        .filter(|&op| ir.is(op, ScfOp::For))
        .filter_map(|op| Some((op, factor(ir, op)?)))
        .collect();
    for &(op, factor) in &loops {
        loop_unroll::unroll(ir, op, factor);
    }
    for &(op, _) in &loops {
        if let Some(body) = (!ir.is_erased(op)).then(|| ir.body(op, 0)).flatten() {
            hoist_loads(ir, body);
        }
    }
    if !loops.is_empty() {
        // What the copies have in common.
        (cse::PASS.run)(ir, cx)?;
    }
    Ok(Changed::from(!loops.is_empty()))
}

/// Steps 1 and 2.
fn factor(ir: &Ir, looped: Op) -> Option<i64> {
    let body = ir.body(looped, 0)?;
    let mut loaded = 0;
    let mut outside: BTreeSet<Value> = BTreeSet::new();
    for op in ir.ops(body) {
        if let Some(load) = tt::Load::of(ir, op) {
            loaded += Some(registers(ir.ty(load.result(ir)))).filter(|&r| r > 0 && !load.isVolatile(ir))?;
        } else if !ir.regions_of(op).is_empty() || !effects(ir, op).is_free() || ir.kind(op).works_across_threads() {
            return None;
        }
        outside.extend(ir.operands(op).iter().filter(|&&v| is_kept(ir, v, body)));
    }
    if ir.get(looped, NUM_STAGES).is_some() || loaded == 0 {
        return None;
    }
    let carried = ir.args(body).iter().filter(|&&v| !ir.ty(v).elem().is_ptr());
    let through: u32 = carried.chain(&outside).map(|&v| registers(ir.ty(v))).sum();
    let trips = trips(ir, For(looped)).unwrap_or(i64::MAX);
    [4, 2].into_iter().find(|&f| through + loaded * f as u32 <= BUDGET && f <= trips)
}

/// Whether a value from outside of the loop holds registers in it: not a constant, a splat or a range, nor what only
/// has the shape of one, nor addresses, most of which are one register with different offsets (as are those that the
/// loop carries).
pub(super) fn is_kept(ir: &Ir, value: Value, body: Block) -> bool {
    let Some(def) = ir.def_op(value) else { return false };
    let cheap = ir.is(def, ArithOp::Constant)
        || [TtOp::Splat, TtOp::MakeRange, TtOp::ExpandDims, TtOp::Broadcast].into_iter().any(|kind| ir.is(def, kind));
    ir.parent_block(def) != Some(body) && !cheap && !ir.ty(value).elem().is_ptr()
}

/// Registers of one thread that hold a tensor; 0 for scalars. A number of fewer than 32 bits takes one as well: what
/// uses it does so one by one.
pub(super) fn registers(ty: Type) -> u32 {
    let words = ty.elem().bit_width().unwrap_or(64).div_ceil(32);
    if ty.is_tensor() { layout::elems_per_thread(ty) as u32 * words } else { 0 }
}

/// Step 3: loads, with what they need, in front of everything else.
fn hoist_loads(ir: &mut Ir, body: Block) {
    let mut wanted: BTreeSet<Op> = BTreeSet::new();
    let mut queue: Vec<Op> = ir.ops(body).filter(|&op| ir.is(op, TtOp::Load)).collect();
    while let Some(op) = queue.pop() {
        if wanted.insert(op) {
            queue.extend(
                ir.operands(op).iter().filter_map(|&v| ir.def_op(v)).filter(|&d| ir.parent_block(d) == Some(body)),
            );
        }
    }
    let Some(first) = ir.ops(body).find(|op| !wanted.contains(op)) else { return };
    let late: Vec<Op> = ir.ops(body).skip_while(|&op| op != first).filter(|op| wanted.contains(op)).collect();
    for op in late {
        ir.move_before(op, first);
    }
}
