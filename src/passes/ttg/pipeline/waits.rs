//! How many groups of asynchronous copies may still be under way at each `ttg.async_wait`, and fewer waits.
//!
//! # Algorithm
//!
//! 1. A wait names the tokens of groups. Groups end in order, so those committed after the named one may still run:
//!    their number is the least number of commits on any way from the named commit to the wait, through the loop's
//!    arguments (from before the loop and from the iteration before). Commits inside branches do not count, which errs
//!    on the safe side.
//! 2. Waits of a block between which nothing is committed, and that no loop or branch separates, become the first of
//!    them, with all tokens and the least number.

use crate::ir::core::{Builder, Ir, Op, Value, ValueDef};
use crate::ir::dialects::ttg::ttg::AsyncWait;
use crate::ir::dialects::{OpKind, ScfOp, TtgOp};

/// Sets the number of every wait and joins waits.
pub fn update(ir: &mut Ir) {
    for wait in all(ir) {
        let pending = pending_at(ir, wait);
        ir.put(wait, AsyncWait::ATTR.num, i64::from(pending));
    }
    join(ir);
}

/// The waits of a module.
#[must_use]
pub fn all(ir: &Ir) -> Vec<Op> {
    ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, TtgOp::AsyncWait)).collect()
}

/// Step 2.
pub fn join(ir: &mut Ir) {
    let waits = all(ir);
    let mut joined: Vec<Op> = vec![];
    for &wait in &waits {
        if joined.contains(&wait) {
            continue;
        }
        let group = followers(ir, wait);
        if group.len() < 2 {
            continue;
        }
        let tokens: Vec<Value> = group.iter().flat_map(|&w| ir.operands(w).to_vec()).collect();
        let least = group.iter().filter_map(|&w| AsyncWait(w).num(ir)).min().unwrap_or(0);
        let ty = ir.ty(ir.result(wait));
        let state = AsyncWait::state(ir.loc(wait), &tokens).with(AsyncWait::ATTR.num, least);
        let token = Builder::before(ir, wait).result(state, ty);
        for &old in &group {
            ir.replace_op(old, &[token]);
        }
        joined.extend(group);
    }
}

/// A wait and those after it that it can stand for.
fn followers(ir: &Ir, wait: Op) -> Vec<Op> {
    let mut group = vec![wait];
    let mut at = ir.next_op(wait);
    let ends = |o: Op| matches!(ir.kind(o), OpKind::Scf(_)) || ir.is(o, TtgOp::AsyncCommitGroup);
    while let Some(op) = at.filter(|&o| !ends(o)) {
        if ir.is(op, TtgOp::AsyncWait) {
            group.push(op);
        }
        at = ir.next_op(op);
    }
    group
}

/// How many groups may be under way at a wait (step 1).
#[must_use]
pub fn pending_at(ir: &Ir, wait: Op) -> u32 {
    least_since(ir, wait, &|op| u32::from(ir.is(op, TtgOp::AsyncCommitGroup)))
}

/// The least sum of `weight`, over the operations between a token of a wait and the wait, on any way (step 1).
pub fn least_since(ir: &Ir, wait: Op, weight: &dyn Fn(Op) -> u32) -> u32 {
    let mut least = u32::MAX;
    for &token in ir.operands(wait) {
        let home = ir.value_block(token);
        let anchor = std::iter::successors(Some(wait), |&o| ir.parent_op(o)).find(|&o| ir.parent_block(o) == home);
        let mut history = History { ir, weight, least: u32::MAX };
        least = least.min(anchor.map_or(0, |anchor| history.shortest(token, anchor, 0)));
    }
    if least == u32::MAX { 0 } else { least }
}

struct History<'a> {
    ir: &'a Ir,
    weight: &'a dyn Fn(Op) -> u32,
    /// The least sum on a whole way so far.
    least: u32,
}

impl History<'_> {
    fn sum(&self, from: Option<Op>, to: Op) -> u32 {
        let mut sum = 0;
        let mut at = from;
        while let Some(op) = at.filter(|&o| o != to) {
            sum += (self.weight)(op);
            at = self.ir.next_op(op);
        }
        sum
    }

    fn shortest(&mut self, token: Value, sink: Op, so_far: u32) -> u32 {
        let ir = self.ir;
        match ir.def(token) {
            ValueDef::Result { op, .. } => {
                self.least = self.least.min(so_far + self.sum(ir.next_op(op), sink));
                self.least
            }
            ValueDef::Arg { block, index } => {
                let Some(looped) = ir.block_op(block).filter(|&o| ir.is(o, ScfOp::For) && index > 0) else { return 0 };
                let here = so_far + self.sum(ir.first_op(block), sink);
                if here >= self.least {
                    return self.least;
                }
                let init = ir.operands(looped)[index as usize + 2];
                let from_before = self.shortest(init, looped, here);
                let Some(end) = ir.terminator(block) else { return 0 };
                let yielded = ir.operands(end)[index as usize - 1];
                let from_last = self.shortest(yielded, end, here);
                from_before.min(from_last).min(self.least)
            }
        }
    }
}
