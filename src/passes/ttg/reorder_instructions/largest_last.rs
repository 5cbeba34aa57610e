//! Step 7: of conversions through shared memory next to each other, the one that gives a thread most comes last.
//!
//! A conversion's loads stand in front of the next one's barriers, so all that it gives has to be in registers there.
//! Behind the last one nobody waits, and each load may stand where its value is used.
//!
//! 1. Conversions are next to each other if nothing between them has effects, exchanges elements between threads, or
//!    has regions.
//! 2. One that gives a thread at least [`CROWDING`] words, and more than the next, moves behind that one, with what is
//!    computed from it in between. A conversion of what another one gives stays behind that one.
//! 3. Go through each block backwards, so that a conversion meets those behind it in their order.
//!
//! Example: 16x16 and 16x32 doubles of which a thread wants 128 and 64 words. In this order the 128 words are live at
//! the barriers of the second conversion; in the other order 64.

use std::collections::BTreeSet;

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::ir::effects::effects;
use crate::layout::plan::is_through_shared_memory;
use crate::layout::words_per_thread;

/// The words in a thread from which on a conversion is worth a place: a quarter of its registers.
const CROWDING: usize = 64;

/// Moves conversions; whether any moved.
pub(super) fn run(ir: &mut Ir) -> bool {
    let module = ir.module();
    let large: Vec<Op> = ir.all_ops_post(module).into_iter().filter(|&op| given(ir, op) >= Some(CROWDING)).collect();
    let mut changed = false;
    for op in large.into_iter().rev() {
        while let Some((next, moving)) = overtaken_by(ir, op) {
            let mut behind = next;
            for moved in moving {
                ir.move_after(moved, behind);
                behind = moved;
            }
            changed = true;
        }
    }
    changed
}

/// The words that a thread gets of a conversion through shared memory; `None` for anything else.
fn given(ir: &Ir, op: Op) -> Option<usize> {
    let convert = ConvertLayout::of(ir, op)?;
    let [from, to] = [convert.src(ir), convert.result(ir)].map(|value| ir.ty(value));
    is_through_shared_memory(from, to).unwrap_or(false).then(|| words_per_thread(to))
}

/// The conversion next to this one that gives less and needs nothing of it, and what moves behind that: this conversion
/// and what is computed from it in between.
fn overtaken_by(ir: &Ir, op: Op) -> Option<(Op, Vec<Op>)> {
    let mut moving = vec![op];
    let mut made: BTreeSet<_> = ir.results(op).iter().copied().collect();
    let mut at = ir.next_op(op);
    while let Some(other) = at {
        let depends = ir.operands(other).iter().any(|v| made.contains(v));
        if let Some(words) = given(ir, other) {
            return (!depends && Some(words) < given(ir, op)).then_some((other, moving));
        }
        let is_quiet = ir.regions_of(other).is_empty() && effects(ir, other).is_free();
        if !is_quiet || ir.spec(other).exchange.is_some() && !ir.is(other, TtgOp::ConvertLayout) {
            return None;
        }
        if depends {
            made.extend(ir.results(other));
            moving.push(other);
        }
        at = ir.next_op(other);
    }
    None
}
