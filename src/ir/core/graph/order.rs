//! Keeps the order of operations. Each carries a label that grows along its block, so that two are compared in constant
//! time.
//!
//! # Algorithm
//!
//! 1. An operation that is appended or prepended gets a label [`STEP`] away from its neighbour's. One that goes between
//!    two others gets a label from the gap.
//! 2. Where the gap is used up, room is made by labelling anew the fewest operations behind it. From the operation in
//!    front of the gap on, the first `j` whose labels span more than `j²` are spread evenly over that span (Dietz and
//!    Sleator, "Two algorithms for maintaining order in a list"). Over many insertions each costs a logarithm.
//!
//! Example: with the labels 8 9 10 30, room between 8 and 9 is made at `j` = 3, because 22 > 9. The labels become 8 15
//! 22 30.

use super::{Ir, Op};

/// The distance between the labels of neighbours that were appended.
const STEP: u64 = 1 << 32;
/// The label of the first operation of a block. Others may be put in front of it.
const FIRST: u64 = 1 << 63;
/// The room that an insertion leaves in front of itself in a wide gap, so that the next ones find some on either side.
const STRIDE: u64 = 1 << 16;

impl Ir {
    /// Whether `a` stands before `b` in the same block.
    #[must_use]
    pub fn is_before(&self, a: Op, b: Op) -> bool {
        let (x, y) = (&self.ops[a], &self.ops[b]);
        x.parent.is_some() && x.parent == y.parent && x.order < y.order
    }

    /// The place of an operation in `root`. Comparing two places tells which comes first in the text, parents before
    /// what is in them. The result is `None` outside of `root`.
    #[must_use]
    pub fn place_in(&self, root: Op, op: Op) -> Option<Vec<u64>> {
        let (mut place, mut at) = (vec![], op);
        while at != root {
            let block = self.parent_block(at)?;
            let region = self.parent_region(block)?;
            let parent = self.region_op(region)?;
            let index = |found: Option<usize>| found.map(|i| i as u64);
            place.push(self.ops[at].order);
            place.push(index(self.blocks_of(region).iter().position(|&b| b == block))?);
            place.push(index(self.regions_of(parent).iter().position(|&r| r == region))?);
            at = parent;
        }
        place.reverse();
        Some(place)
    }

    /// Gives `op` a label between those of its neighbours.
    pub(super) fn set_order(&mut self, op: Op, prev: Option<Op>, next: Option<Op>) {
        let label = self.label_between(prev, next).unwrap_or_else(|| {
            // Only an insertion behind an operation can lack room, since 2³¹ operations would have to be prepended
            // first.
            if let Some(prev) = prev {
                self.make_room(prev, next);
            }
            self.label_between(prev, next).expect("room has been made")
        });
        self.ops[op].order = label;
    }

    fn label_between(&self, prev: Option<Op>, next: Option<Op>) -> Option<u64> {
        let label = |op: Op| self.ops[op].order;
        match (prev.map(label), next.map(label)) {
            (None, None) => Some(FIRST),
            (Some(low), None) => low.checked_add(STEP),
            (None, Some(high)) => high.checked_sub(STEP),
            (Some(low), Some(high)) => (high - low >= 2).then(|| low + ((high - low) / 2).min(STRIDE)),
        }
    }

    /// Labels what stands behind `prev` anew. `next` follows it. The new operation is linked already and stands
    /// between.
    fn make_room(&mut self, prev: Op, next: Option<Op>) {
        let base = self.ops[prev].order;
        let (mut behind, mut at) = (vec![], next);
        let width = loop {
            let Some(op) = at else { break (behind.len() as u64 + 1).saturating_mul(STEP).min(u64::MAX - base) };
            let (span, count) = (self.ops[op].order - base, behind.len() as u64 + 1);
            if span > count * count {
                break span;
            }
            behind.push(op);
            at = self.ops[op].next;
        };
        let step = width / (behind.len() as u64 + 1);
        for (i, op) in behind.into_iter().enumerate() {
            self.ops[op].order = base + (i as u64 + 1) * step;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::core::{Ir, Loc, Op, OpState};
    use crate::ir::dialects::UbOp;

    fn op(ir: &mut Ir) -> Op {
        ir.create_op(OpState::new(UbOp::Poison, Loc::unknown()).results(&[crate::ir::Type::int(32)]))
    }

    /// Whether labels agree with the links, for all neighbours.
    fn ordered(ir: &Ir) -> bool {
        let all = ir.op_list(ir.module_block());
        all.windows(2).all(|w| ir.is_before(w[0], w[1]) && !ir.is_before(w[1], w[0]))
    }

    #[test]
    fn crowded_places_stay_in_order() {
        let mut ir = Ir::new(Loc::unknown());
        let block = ir.module_block();
        let (first, last) = (op(&mut ir), op(&mut ir));
        ir.append(block, first);
        ir.append(block, last);
        for i in 0..3000 {
            let new = op(&mut ir);
            match i % 3 {
                0 => ir.insert_after(first, new),
                1 => ir.insert_before(last, new),
                _ => ir.prepend(block, new),
            }
        }
        assert!(ordered(&ir));
        let all = ir.op_list(block);
        for pair in all.chunks_exact(2).rev() {
            ir.move_before(pair[0], first);
        }
        assert!(ordered(&ir) && !ir.is_before(first, first));
    }

    #[test]
    fn places_follow_the_text() {
        let mut ir = Ir::new(Loc::unknown());
        let outer = ir.create_op(OpState::new(crate::ir::dialects::ScfOp::If, Loc::unknown()).regions(2));
        let (block, module) = (ir.module_block(), ir.module());
        ir.append(block, outer);
        for region in ir.regions_of(outer).to_vec() {
            let inner = ir.add_block(region, &[]);
            for _ in 0..3 {
                let new = op(&mut ir);
                ir.prepend(inner, new);
            }
        }
        let behind = op(&mut ir);
        ir.append(block, behind);
        let places: Vec<_> = ir.all_ops(module).into_iter().map(|o| ir.place_in(module, o).unwrap()).collect();
        assert!(places.is_sorted() && places.len() == 9, "{places:?}");
        assert_eq!(ir.place_in(outer, behind), None);
    }
}
