//! Whether matrix products of a loop wait for one another within an iteration.
//!
//! In attention, the result of `Q·K` goes through the softmax into `P·V`. Between the two, warps compute element by
//! element, and the units that multiply matrices stand idle, unless other warps use them. In a loop over the tiles of
//! one product all warps wait for the same copies, and little is gained when some of them run ahead.
//!
//! ```text
//! %s = ttng.warp_group_dot %q, %k
//! %p = math.exp2 %s
//! %o = ttng.warp_group_dot %p, %v, %acc        chained: %p comes from another product of this iteration
//! ```

use std::collections::BTreeSet;

use crate::ir::core::{Ir, Op, Value, ValueDef};
use crate::ir::dialects::{ScfOp, TtngOp};

/// Warps that multiply together.
pub const WARP_GROUP: u32 = 4;

/// Whether warp groups gain from running apart in a loop: one of its products waits for another, and each warp has rows
/// of its own in all of them (16, what a `wgmma` gives a warp), so that no warp waits for another's elements.
#[must_use]
pub fn warps_may_drift(ir: &Ir, looped: Op, num_warps: u32) -> bool {
    num_warps > WARP_GROUP && have_rows_of_their_own(ir, looped, num_warps) && !waited_for(ir, looped).is_empty()
}

/// Whether a loop is two products of which one waits for the other, in groups of warps with rows of their own: the
/// first product of the next iteration may run beside the last one, in one group of warps, too.
#[must_use]
pub fn is_chain_of_two(ir: &Ir, looped: Op, num_warps: u32) -> bool {
    num_warps >= WARP_GROUP
        && have_rows_of_their_own(ir, looped, num_warps)
        && products(ir, looped).len() == 2
        && waited_for(ir, looped).len() == 1
}

/// Whether each warp has rows of its own in all products of a loop.
fn have_rows_of_their_own(ir: &Ir, looped: Op, num_warps: u32) -> bool {
    let rows =
        |op: Op| ir.results(op).first().and_then(|&r| ir.ty(r).shape().iter().rev().nth(1).copied()).unwrap_or(0);
    products(ir, looped).into_iter().all(|op| rows(op) >= i64::from(16 * num_warps))
}

/// The products of a loop from which A or B of another product of the same iteration comes.
#[must_use]
pub fn waited_for(ir: &Ir, looped: Op) -> BTreeSet<Op> {
    let operands = products(ir, looped).into_iter().flat_map(|op| ir.operands(op).iter().take(2).copied());
    products_before(ir, looped, operands.collect())
}

/// The products whose innermost loop this is.
#[must_use]
pub fn products(ir: &Ir, looped: Op) -> Vec<Op> {
    let all = ir.all_ops(looped).into_iter();
    all.filter(|&op| ir.kind(op).is_product() && loop_around(ir, op) == Some(looped)).collect()
}

/// The innermost loop around an operation.
#[must_use]
pub fn loop_around(ir: &Ir, op: Op) -> Option<Op> {
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For))
}

/// The products on whose results values depend without going around the loop, up to the next product each.
fn products_before(ir: &Ir, looped: Op, values: Vec<Value>) -> BTreeSet<Op> {
    let (mut open, mut found) = (values, BTreeSet::new());
    let mut seen: BTreeSet<Value> = open.iter().copied().collect();
    while let Some(value) = open.pop() {
        let ValueDef::Result { op, index } = ir.def(value) else { continue };
        if !ir.is_ancestor(looped, op) || op == looped {
            continue;
        }
        if ir.kind(op).is_product() {
            found.insert(op);
            continue;
        }
        // A wait hands each operand on as the result of the same number.
        let from: Vec<Value> = if ir.is(op, TtngOp::WarpGroupDotWait) {
            ir.operands(op).get(index as usize).copied().into_iter().collect()
        } else {
            let ends =
                ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r).to_vec()).filter_map(|b| ir.terminator(b));
            ends.chain([op]).flat_map(|o| ir.operands(o).to_vec()).collect()
        };
        open.extend(from.into_iter().filter(|&v| seen.insert(v)));
    }
    found
}
