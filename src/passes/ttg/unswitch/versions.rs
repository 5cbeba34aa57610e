//! Two versions of a short loop, with and without what needs a condition that the loop does not change.
//!
//! # Algorithm
//!
//! Of a loop without regions in its body that writes nothing, exchanges nothing through memory of its own, and takes
//! at most [`MOST_INSTRUCTIONS`] instructions a turn:
//!
//! 1. The selects that hand on a carried value are those of step 2 of the pass. Terms of the same selects belong
//!    together.
//! 2. Without a set of terms its selects are the values that they hand on, and what only they need is not computed. The
//!    set that saves most is taken, if it saves a costly operation and at least an eighth of a turn ([`LEAST_SHARE`]).
//! 3. The loop goes under the terms, and a copy without the selects goes to the other side.
//!
//! # Example
//!
//! ```text
//! before:                                       after:
//!   for …, %a = %init                             if %last
//!     %x = exp …                                    for … as before
//!     %b = select (%mask & splat %last), %a-%x, %a  else
//!     %c = select %other, …, %b                       for …, %a = %init
//!     yield %c                                          %c = select %other, …, %a
//! ```

use std::collections::BTreeSet;

use super::{Step, all, assume, handed_on, is_costly, is_quiet, terms};
use crate::ir::core::{Block, Ir, Mapping, Op, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf::For;
use crate::layout;
use crate::passes::common::guard::guard;

/// The most instructions of a turn, one for each register of a thread that it gives a value. LLVM takes loops of 50 at
/// most, where it does the same (`-unswitch-threshold`).
const MOST_INSTRUCTIONS: usize = 100;

/// What a costly operation counts, in simple ones.
const COSTLY: usize = 8;

/// How small a share of a turn may be saved: an eighth.
const LEAST_SHARE: usize = 8;

/// Splits a loop, if that saves something.
pub(super) fn split(ir: &mut Ir, looped: For) -> bool {
    let Some(plan) = plan(ir, looped) else { return false };
    let runs = all(ir, looped, &plan.terms);
    let copy = ir.clone_op(looped.0, &mut Mapping::default());
    ir.insert_before(looped.0, copy);
    let results = ir.results(copy).to_vec();
    guard(ir, looped.0, runs, &results);
    let other = ir.parent_op(looped.0).and_then(|branch| ir.body(branch, 1));
    if let Some(end) = other.and_then(|other| ir.last_op(other)) {
        ir.move_before(copy, end);
    }
    assume(ir, looped.0, &plan.terms);
    let inner = ir.body(copy, 0).map_or_else(Vec::new, |body| ir.op_list(body));
    for at in plan.selects {
        if let Some(select) = arith::Select::of(ir, inner[at]) {
            ir.replace_all_uses(select.result(ir), select.false_value(ir));
        }
    }
    true
}

/// What a loop is split by.
struct Plan {
    terms: Vec<Value>,
    /// Where in the body the selects are that do nothing without the terms.
    selects: Vec<usize>,
}

fn plan(ir: &Ir, looped: For) -> Option<Plan> {
    let body = ir.body(looped.0, 0)?;
    let ops = ir.op_list(body);
    let (&end, _) = ops.split_last().filter(|(_, inner)| is_short(ir, inner))?;
    let turns = ir.operands(end).iter().copied().zip(ir.args(body)[1..].iter().copied());
    let steps: Vec<Step> = turns.filter_map(|turn| handed_on(ir, body, None, turn)).flatten().collect();
    let before = live(ir, end, &BTreeSet::new());
    let whole: usize = before.iter().map(|&op| cost(ir, op)).sum();
    let saved = |selects: &BTreeSet<Op>| {
        let after = live(ir, end, selects);
        let gone: Vec<Op> = before.difference(&after).copied().collect();
        let saved: usize = gone.iter().map(|&op| cost(ir, op)).sum();
        (gone.iter().any(|&op| is_costly(ir, op)) && saved * LEAST_SHARE >= whole).then_some(saved)
    };
    let sets = sets(ir, looped.0, body, &steps).into_iter();
    let worth = sets.filter_map(|(selects, terms)| Some((saved(&selects)?, selects, terms)));
    let (_, selects, terms) = worth.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let selects = ops.iter().enumerate().filter(|(_, op)| selects.contains(op)).map(|(at, _)| at).collect();
    Some(Plan { terms, selects })
}

/// Whether the operations of a body are few, and of a kind that is copied.
fn is_short(ir: &Ir, inner: &[Op]) -> bool {
    let is_value = |&value: &Value| ir.ty(value).as_memdesc().is_none();
    let is_copied = |&op: &Op| {
        let is_simple = ir.regions_of(op).is_empty() && is_quiet(ir, op) && !ir.kind(op).is_product();
        is_simple && ir.results(op).iter().all(is_value)
    };
    inner.len() <= MOST_INSTRUCTIONS
        && inner.iter().all(is_copied)
        && instructions(ir, inner).is_some_and(|count| count <= MOST_INSTRUCTIONS)
}

/// Step 1: terms that the same selects need, with these. Terms that hold anyway are left out.
fn sets(ir: &Ir, looped: Op, body: Block, steps: &[Step]) -> Vec<(BTreeSet<Op>, Vec<Value>)> {
    let known = terms::known(ir, looped, body);
    let terms: Vec<Vec<Value>> = steps.iter().map(|step| terms::of(ir, step.condition, body)).collect();
    let mut sets: Vec<(BTreeSet<Op>, Vec<Value>)> = vec![];
    for &term in terms.iter().flatten() {
        if known.contains(&term) || sets.iter().any(|(_, together)| together.contains(&term)) {
            continue;
        }
        let needing = steps.iter().zip(&terms).filter(|(_, terms)| terms.contains(&term));
        let selects: BTreeSet<Op> = needing.map(|(step, _)| step.op).collect();
        match sets.iter_mut().find(|(same, _)| *same == selects) {
            Some((_, together)) => together.push(term),
            None => sets.push((selects, vec![term])),
        }
    }
    sets
}

/// Operations of a body that what it yields needs, where some selects are the values that they hand on.
fn live(ir: &Ir, end: Op, gone: &BTreeSet<Op>) -> BTreeSet<Op> {
    let (mut live, mut queue) = (BTreeSet::new(), ir.operands(end).to_vec());
    while let Some(value) = queue.pop() {
        let Some(op) = ir.def_op(value).filter(|&op| ir.parent_block(op) == ir.parent_block(end)) else { continue };
        match arith::Select::of(ir, op).filter(|_| gone.contains(&op)) {
            Some(select) => queue.push(select.false_value(ir)),
            None if live.insert(op) => queue.extend(ir.operands(op)),
            None => {}
        }
    }
    live
}

/// About how long an operation takes, in simple operations on as many elements.
fn cost(ir: &Ir, op: Op) -> usize {
    if is_costly(ir, op) { COSTLY } else { 1 }
}

/// Instructions of operations; `None` while a tensor has no layout.
fn instructions(ir: &Ir, ops: &[Op]) -> Option<usize> {
    let results = ops.iter().flat_map(|&op| ir.results(op)).map(|&result| ir.ty(result));
    results.map(|ty| (!ty.is_tensor() || ty.encoding().is_some()).then(|| layout::elems_per_thread(ty))).sum()
}
