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
//! 1. Count the 32-bit registers that one thread loads in an iteration.
//! 2. Unroll by 4, or by 2 where four iterations' loads would take more than 64 registers. A loop whose loads take more
//!    than 32 has enough under way already.
//! 3. Loads move to the front of the unrolled body, as far as what they need allows.

use std::collections::BTreeSet;

use crate::ir::core::{Block, Ir, Op, Type};
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ScfOp, TtOp};
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

/// Registers that loads of the unrolled body may fill.
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
    let mut registers = 0;
    for op in ir.ops(body) {
        if let Some(load) = tt::Load::of(ir, op) {
            registers += Some(loaded_registers(ir.ty(load.result(ir)))?).filter(|_| !load.isVolatile(ir))?;
        } else if !ir.regions_of(op).is_empty() || !effects(ir, op).is_free() || ir.kind(op).works_across_threads() {
            return None;
        }
    }
    let asked = ir.get(looped, NUM_STAGES).is_some();
    match registers {
        _ if asked => None,
        0 => None,
        1..=16 => Some(4),
        17..=32 => Some(2),
        _ => None,
    }
    .filter(|&f| registers * f as u32 <= BUDGET)
}

/// 32-bit registers of one thread that hold a loaded tensor; `None` for scalars.
fn loaded_registers(ty: Type) -> Option<u32> {
    ty.is_tensor().then(|| (layout::elems_per_thread(ty) as u32 * ty.elem().bit_width().unwrap_or(64)).div_ceil(32))
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
