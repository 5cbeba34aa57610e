//! `ttc-split-streams`, ttc's own: a loop that reads a tile too large for a thread's registers becomes several loops,
//! each of which reads a part of it.
//!
//! A row is added up in a tile of as many elements as the author has chosen. Of 8192 elements in one warp each thread
//! has 256 sums, which are all of its registers. A load then waits for a sum that is written to memory, and few loads
//! are under way. In two loops, one after the other, there are 128 sums and as many loads at a time:
//!
//! ```text
//!                                            for off in range(…): a += load(p + off + arange(0, 4096))
//! for off in range(…):                  →    for off in range(…): b += load(p + off + arange(4096, 8192))
//!     acc += load(p + off + arange(0, 8192))
//! s = sum(acc)                               s = sum(a and b, one behind the other)
//! ```
//!
//! Each element is loaded once and computed as before, so the results have the same bits.
//!
//! # Algorithm
//!
//! Of each innermost `scf.for` that loads tensors, writes nothing, exchanges nothing between threads, and whose tensors
//! are reduced behind it:
//!
//! 1. Choose the number of parts by registers: what the loop carries, of one part, and [`IN_FLIGHT`] words that are
//!    under way are [`ROOM`] at the most. Where one part is enough, the loop stays. A tile of few rows is split into
//!    rows first, and each of these into parts then.
//! 2. Find all values that are split ([`plan`]): the tensors that the loop carries, along the axis on which a thread's
//!    registers move last, with what they are made of and what is made of them. All loads have to be split, or parts
//!    would load the same; so a loop over a tile and one of its rows stays.
//! 3. Each part gets a copy of the loop, behind copies of what it needs from outside ([`emit`]). The results are put
//!    together in front of what reads them. That moves nothing: the parts are the lower and the upper registers of the
//!    whole. A reduction adds up each part's registers first, so LLVM can do that in front of the next part's loop. It
//!    does where the loop may have no iteration: of a phi with constants it moves the additions to where the sums are.

mod emit;
mod plan;

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::ScfOp;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-split-streams",
    doc: "split loops that read tiles too large for registers into loops over parts of them",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Registers of a thread for what a loop carries and what is under way; addresses and masks take the others of 255.
const ROOM: u32 = 240;
/// Words of loads that a thread should have under way. On an H200, one warp on each multiprocessor with 256 sums took
/// 204 µs for rows that two loops of 128 sums added up in 35; with four loops it was 4.5 times as fast, and with eight
/// 3.0 times.
const IN_FLIGHT: u32 = 100;
/// Parts that a tile is split into, at the most.
const MOST_PARTS: u32 = 8;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    while split(ir) {
        changed = true;
    }
    Ok(Changed::from(changed))
}

/// Splits each loop along one axis, if that leads to fewer elements in it.
fn split(ir: &mut Ir) -> bool {
    let loops: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    let plans: Vec<plan::Plan> = loops.into_iter().filter_map(|looped| plan::of_loop(ir, looped)).collect();
    for plan in &plans {
        emit::apply(ir, plan);
    }
    if !plans.is_empty() {
        // What the parts have in common.
        let module = ir.module();
        cse::eliminate(ir, module);
    }
    !plans.is_empty()
}
