//! Fourth step of `tritongpu-fuse-nested-loops`: a loop and the loops directly in its body become one.
//!
//! # Algorithm
//!
//! The body of the outer loop is `prologue 0, inner loop 0, prologue 1, inner loop 1, …, epilogue`. Iterations of the
//! fused loop are counted by `t` within one iteration of the outer loop.
//!
//! 1. In front: `inner_len = max(1, trips 0) + … + max(1, trips N) - N`, as the last iteration of one inner loop, the
//!    next prologue and the first iteration of the next loop share one iteration of the fused loop. It runs
//!    `trips(outer) * inner_len` times; lengths that depend on the outer induction variable are added up by a loop of
//!    their own, and computed again in prologue 0.
//! 2. The fused loop carries `t`, the outer induction variable, the outer loop's values, the lengths, and the induction
//!    variable and results of each inner loop and prologue. What is not known at the start is zero, or poison where
//!    there is no zero.
//! 3. For inner loop k, which starts at `start = max(1, trips 0) + … + max(1, trips k-1) - k`:
//!    - `scf.if t == start`: prologue k; the induction variable and the carried values get their start values. On the
//!      other side all stay.
//!    - `scf.if start <= t < start + trips k` (or always, if the loop is known to run): the body; the induction
//!      variable goes on.
//! 4. `scf.if t == inner_len - 1`: the epilogue. A start value from outside of the nest is set here for the next round
//!    instead of in the prologue, so that the prologue is no link in the chain of an accumulator.
//!
//! Two things that Triton leaves out: an inner loop that does not run gives its start values (Triton: what it gave the
//! last time), and a value that the outer loop carries changes no earlier than in the last iteration, if anything
//! behind prologue 0 reads it (Triton: as soon as its next value is there, unless the epilogue computes it).

use std::collections::BTreeSet;

use super::bounds::{bounds, to_hoist, to_repeat};
use super::build::Fuser;
use super::count::count;
use crate::ir::core::{Block, Ir, Op, Use, Value};
use crate::passes::ttg::pipeline::schedule::ancestor_in;

/// Operands of `scf.for` in front of the start values.
pub(super) const BOUNDS: usize = 3;

/// An inner loop that is fused.
pub(super) struct Inner {
    pub(super) op: Op,
    /// What computes its bounds from the outer induction variable; nothing if they do not depend on it.
    pub(super) repeated: Vec<Op>,
    /// The start values that come from outside of the nest.
    pub(super) fixed: Vec<Option<Value>>,
}

/// Operations of the outer body between inner loops, and those of their results that later operations use.
pub(super) struct Logue {
    pub(super) ops: Vec<Op>,
    pub(super) outputs: Vec<Value>,
}

/// A value of the outer loop that the epilogue's branch sets.
pub(super) struct Route {
    pub(super) index: usize,
}

/// Fuses `outer` with those of its inner loops that can be; the fused loop.
pub(super) fn fuse(ir: &mut Ir, outer: Op, candidates: &[Op]) -> Option<Op> {
    let inners = choose(ir, outer, candidates);
    let (first, last) = (inners.first()?.op, inners.last()?.op);
    let body = ir.body(outer, 0)?;
    let end = ir.terminator(body)?;
    let mut logues = vec![logue(ir, body, ir.first_op(body), first)];
    for pair in inners.windows(2) {
        logues.push(logue(ir, body, ir.next_op(pair[0].op), pair[1].op));
    }
    let epilogue = logue(ir, body, ir.next_op(last), end);
    let routes = routes(ir, outer, &inners, &logues[0], &epilogue);
    let counts = count(ir, outer, &inners);
    let mut fuser = Fuser::new(ir, outer, inners, logues, counts);
    for k in 0..fuser.inners.len() {
        fuser.prologue(k);
        fuser.body(k);
    }
    fuser.epilogue(&epilogue, &routes);
    Some(fuser.finish())
}

/// Moves bounds in front of the outer loop where they can move.
fn choose(ir: &mut Ir, outer: Op, candidates: &[Op]) -> Vec<Inner> {
    let mut hoisted: BTreeSet<Op> = BTreeSet::new();
    for &op in candidates {
        hoisted.extend(to_hoist(ir, outer, &bounds(ir, op)).unwrap_or_default());
    }
    let body = ir.body(outer, 0).expect("a loop has a body");
    for op in ir.op_list(body).into_iter().filter(|op| hoisted.contains(op)) {
        ir.move_before(op, outer);
    }
    let inner = |op: Op| {
        let repeated = match to_hoist(ir, outer, &bounds(ir, op)) {
            Some(_) => vec![],
            None => to_repeat(ir, outer, &bounds(ir, op))?,
        };
        let fixed = ir.operands(op)[BOUNDS..].iter().map(|&v| Some(v).filter(|&v| is_outside(ir, outer, v))).collect();
        Some(Inner { op, repeated, fixed })
    };
    // A loop that computes the bounds of another may have moved.
    candidates.iter().copied().filter(|&op| ir.parent_block(op) == Some(body)).filter_map(inner).collect()
}

pub(super) fn is_outside(ir: &Ir, outer: Op, value: Value) -> bool {
    ir.value_block(value).and_then(|b| ir.block_op(b)).is_none_or(|owner| !ir.is_ancestor(outer, owner))
}

/// The operations from `first` up to `end`.
fn logue(ir: &Ir, body: Block, first: Option<Op>, end: Op) -> Logue {
    let ops: Vec<Op> = std::iter::successors(first, |&op| ir.next_op(op)).take_while(|&op| op != end).collect();
    let inside: BTreeSet<Op> = ops.iter().copied().collect();
    let later = |u: &Use| ancestor_in(ir, body, u.op).is_some_and(|a| !inside.contains(&a));
    let outputs =
        ops.iter().flat_map(|&op| ir.results(op)).copied().filter(|&r| ir.uses(r).iter().any(later)).collect();
    Logue { ops, outputs }
}

/// The carried values that change in the epilogue only: those that it computes, in the order of its operations, and
/// those that must not change earlier.
fn routes(ir: &Ir, outer: Op, inners: &[Inner], prologue: &Logue, epilogue: &Logue) -> Vec<Route> {
    let body = ir.body(outer, 0).expect("a loop has a body");
    let end = ir.terminator(body).expect("a loop's body ends in a yield");
    let yielded = ir.operands(end);
    let mut routes = vec![];
    for output in &epilogue.outputs {
        routes.extend((0..yielded.len()).filter(|&i| yielded[i] == *output).map(|index| Route { index }));
    }
    let early: BTreeSet<Op> = prologue.ops.iter().copied().collect();
    for (index, value) in yielded.iter().enumerate() {
        let arg = ir.args(body)[index + 1];
        let is_late = |u: &Use| match ancestor_in(ir, body, u.op) {
            // The start values of the first inner loop are taken in prologue 0.
            Some(op) if op == inners[0].op => u.op != op,
            Some(op) if op == end => u.index as usize != index,
            Some(op) => !early.contains(&op),
            None => true,
        };
        if !epilogue.outputs.contains(value) && *value != arg && ir.uses(arg).iter().any(is_late) {
            routes.push(Route { index });
        }
    }
    routes
}
