//! Putting operations of a loop in a new order, one behind the other.

use super::slices::Slices;
use crate::ir::core::{Builder, Ir, Loc, Op, OpState};
use crate::ir::dialects::GcnOp;
use crate::ir::dialects::amdg::rocdl::{SBarrier, SchedBarrier, Setprio};
use crate::ir::dialects::enums::SchedGroup;
use crate::ir::dialects::ttg::ttg::Barrier;

/// Shared memory, among the address spaces of `ttg.barrier`.
const LOCAL: i64 = 1;

pub(super) fn barrier_state(loc: Loc) -> OpState {
    Barrier::state(loc).with(Barrier::ATTR.addrSpace, LOCAL)
}

/// A place in a block, behind the last operation that was put there.
pub(super) struct Mover<'a> {
    ir: &'a mut Ir,
    loc: Loc,
    pub(super) at: Op,
}

impl Mover<'_> {
    pub(super) fn behind(ir: &mut Ir, looped: Op, at: Op) -> Mover<'_> {
        let loc = ir.loc(looped);
        Mover { ir, loc, at }
    }

    pub(super) fn append(&mut self, op: Op) {
        self.ir.move_after(op, self.at);
        self.at = op;
    }

    fn insert(&mut self, state: OpState) -> Op {
        self.at = Builder::after(self.ir, self.at).insert(state);
        self.at
    }

    /// Instructions of other kinds than the mask's stay on their side.
    pub(super) fn sched_barrier(&mut self, mask: i64) -> Op {
        let mask = if mask == 0 { SchedGroup::None } else { SchedGroup::NonMemNonSideeffect };
        self.insert(SchedBarrier::state(self.loc).with(SchedBarrier::ATTR.mask, mask))
    }

    pub(super) fn set_priority(&mut self, high: bool) {
        let state = OpState::new(GcnOp::Setprio, self.loc).with(Setprio::ATTR.priority, i64::from(high));
        self.insert(state);
    }

    pub(super) fn with_priority(&mut self, op: Op) {
        self.set_priority(true);
        self.append(op);
        self.set_priority(false);
    }

    pub(super) fn warp_barrier(&mut self) {
        self.insert(SBarrier::state(self.loc));
    }

    /// The end of a cluster.
    pub(super) fn cluster_barrier(&mut self) {
        self.insert(barrier_state(self.loc));
        self.sched_barrier(0);
    }

    /// The loads of a slice.
    pub(super) fn slice(&mut self, slices: &Slices, index: usize) {
        for (view, load) in &slices.loads[index] {
            self.append(*view);
            self.append(*load);
        }
    }

    /// Moves an operation here. From below, with what it needs; from above, unless something between reads it.
    pub(super) fn up(&mut self, op: Op) {
        let border = self.at;
        if self.ir.is_before(border, op) {
            let mut needed = vec![];
            self.needs(op, border, &mut needed);
            needed.into_iter().for_each(|op| self.append(op));
        } else {
            let block = self.ir.parent_block(border);
            let users: Vec<Op> = self.ir.results(op).iter().flat_map(|&r| self.ir.users(r)).collect();
            let between =
                |&user: &Op| user != border && self.ir.parent_block(user) == block && self.ir.is_before(user, border);
            if !users.iter().any(between) {
                self.append(op);
            }
        }
    }

    /// What an operation needs behind `border`, and the operation.
    fn needs(&self, op: Op, border: Op, found: &mut Vec<Op>) {
        let block = self.ir.parent_block(border);
        for def in self.ir.operands(op).iter().filter_map(|&v| self.ir.def_op(v)) {
            if self.ir.parent_block(def) == block && self.ir.is_before(border, def) && !found.contains(&def) {
                self.needs(def, border, found);
            }
        }
        found.push(op);
    }
}
