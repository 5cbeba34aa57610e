//! Which loads of a loop may find what an earlier iteration has stored, or what stands in front of them in their own,
//! so that they must not be started before that.
//!
//! 1. What the body does to global memory, in its branches and inner loops too: stores, atomic operations, copies
//!    through descriptors, calls.
//! 2. A load may find it if both may go to the same array ([`Addresses::origins`]), and to the same element in a later
//!    iteration ([`Addresses::meet`]); of a store in front of it also in the same iteration.

use std::collections::BTreeSet;

use super::addresses::{Addresses, Meeting, Place};
use super::touched::{global_touch, leads_to_memory};
use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::tt::tt;

/// What a loop stores.
pub(crate) struct StoredAhead<'a> {
    ir: &'a Ir,
    looped: Option<Op>,
    /// Addresses are followed only where something is stored.
    addresses: Option<Addresses<'a>>,
    /// Each with the operation of the body that does it, or has it inside.
    stores: Vec<(Op, Place)>,
}

impl<'a> StoredAhead<'a> {
    pub(crate) fn of_loop(ir: &'a Ir, body: Block) -> StoredAhead<'a> {
        let looped = ir.block_op(body);
        let ops = looped.map(|looped| ir.all_ops(looped)).unwrap_or_default();
        let inside = |op: Op| {
            std::iter::successors(Some(op), |&op| ir.parent_op(op)).find(|&op| ir.parent_block(op) == Some(body))
        };
        let of_op = |op: Op| stores(ir, op).into_iter().filter_map(move |place| Some((inside(op)?, place)));
        let stores: Vec<(Op, Place)> = ops.into_iter().flat_map(of_op).collect();
        let func = std::iter::successors(looped, |&op| ir.parent_op(op)).find(|&op| ir.is(op, TtOp::Func));
        let addresses = func.filter(|_| !stores.is_empty()).map(|func| Addresses::new(ir, func));
        StoredAhead { ir, looped, addresses, stores }
    }

    /// Whether a load of the body may find what an earlier iteration has stored, or its own in front of it.
    pub(crate) fn reach(&mut self, load: Op) -> bool {
        let (Some(addresses), Some(looped)) = (&mut self.addresses, self.looped) else { return false };
        let Some(&source) = self.ir.operands(load).iter().find(|&&v| leads_to_memory(self.ir.ty(v))) else {
            return false;
        };
        let place = Place::of(self.ir, load, source);
        let over = BTreeSet::from([looped]);
        let is_before =
            |store: Op| self.ir.parent_block(load) == self.ir.parent_block(store) && self.ir.is_before(store, load);
        self.stores.iter().any(|&(op, store)| {
            let mut meets = |over: &BTreeSet<Op>| addresses.meet(store, place, over, false) != Meeting::Never;
            meets(&over) || is_before(op) && meets(&BTreeSet::new())
        })
    }
}

/// What an operation stores to.
fn stores(ir: &Ir, op: Op) -> Vec<Place> {
    let called = tt::Call::of(ir, op).is_some();
    if !called && !global_touch(ir, op).writes {
        return vec![];
    }
    let mut to = ir.operands(op).iter().copied().filter(|&v| leads_to_memory(ir.ty(v)));
    if called {
        to.map(|v| Place::of(ir, op, v)).collect()
    } else {
        to.next().map(|v| Place::of(ir, op, v)).into_iter().collect()
    }
}
