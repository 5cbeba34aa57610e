//! Cleaning up control flow between blocks: unreachable blocks, and values that only feed themselves through block arguments.
//!
//! # Algorithm
//!
//! 1. In every region, erase the blocks that the entry does not reach.
//! 2. Mark what is alive, to a fixpoint: operations that do more than compute; what computes an operand of a live operation; a block
//!    argument with a live use, and with it the values that branches pass for it.
//! 3. Erase the arguments and operations that are not alive.
//!
//! Regions of one block need none of this: there, an operation is dead if it has no uses, and the rewriter has removed it already.

use std::collections::BTreeSet;

use crate::ir::core::dominance::reverse_post_order;
use crate::ir::core::{Block, Ir, Op, Region, Value};
use crate::ir::dialects::Traits;
use crate::passes::analysis::effects::would_be_trivially_dead;

/// Cleans up all regions in `scope`. Returns whether anything changed.
pub fn simplify_regions(ir: &mut Ir, scope: Op) -> bool {
    let regions: Vec<Region> =
        ir.all_ops(scope).into_iter().flat_map(|op| ir.regions_of(op).to_vec()).filter(|&r| ir.blocks_of(r).len() > 1).collect();
    if regions.is_empty() {
        return false;
    }
    let mut changed = false;
    for region in regions {
        if ir.region_op(region).is_some_and(|op| !ir.is_erased(op)) {
            changed |= erase_unreachable(ir, region);
        }
    }
    changed | erase_dead(ir, scope)
}

/// Erases blocks that cannot be reached from the region's entry.
pub fn erase_unreachable(ir: &mut Ir, region: Region) -> bool {
    let Some(entry) = ir.entry(region) else { return false };
    let reached: BTreeSet<Block> = reverse_post_order(ir, entry).into_iter().collect();
    let dead: Vec<Block> = ir.blocks_of(region).iter().copied().filter(|b| !reached.contains(b)).collect();
    ir.erase_blocks(&dead);
    !dead.is_empty()
}

/// Group of operands of a branch that go to successor `index`, as start and length in its flat operand list.
#[must_use]
pub fn successor_operands(ir: &Ir, branch: Op, index: usize) -> (usize, usize) {
    let first = ir.spec(branch).operands.len() - ir.spec(branch).successors;
    crate::ir::dialects::spec::operand_range(ir, branch, first + index)
}

#[derive(Default)]
struct Live {
    ops: BTreeSet<Op>,
    args: BTreeSet<Value>,
}

impl Live {
    fn value(&self, ir: &Ir, v: Value) -> bool {
        match ir.def_op(v) {
            Some(op) => self.ops.contains(&op),
            None => self.args.contains(&v),
        }
    }
}

fn erase_dead(ir: &mut Ir, scope: Op) -> bool {
    let live = mark(ir, scope);
    let mut changed = false;
    for block in ir.all_blocks(scope) {
        if Some(block) == ir.parent_region(block).and_then(|r| ir.entry(r)) {
            continue;
        }
        for index in (0..ir.args(block).len()).rev() {
            if !live.args.contains(&ir.args(block)[index]) {
                drop_passed(ir, block, index);
                changed = true;
            }
        }
    }
    let dead: Vec<Op> = ir.all_ops(scope).into_iter().skip(1).filter(|op| !live.ops.contains(op)).collect();
    for &op in &dead {
        if !ir.is_erased(op) {
            ir.set_operands(op, &[]);
        }
    }
    for op in dead.into_iter().rev() {
        if !ir.is_erased(op) {
            ir.erase_op(op);
            changed = true;
        }
    }
    for block in ir.all_blocks(scope) {
        let is_entry = Some(block) == ir.parent_region(block).and_then(|r| ir.entry(r));
        for index in (0..ir.args(block).len()).rev() {
            if !is_entry && !live.args.contains(&ir.args(block)[index]) {
                ir.remove_arg(block, index);
            }
        }
    }
    changed
}

/// Removes what branches pass for argument `index` of a block.
fn drop_passed(ir: &mut Ir, block: Block, index: usize) {
    for (branch, successor) in incoming(ir, block) {
        remove_successor_operand(ir, branch, successor, index);
    }
}

/// The branches to a block, with the number of the successor it is, in order.
#[must_use]
pub fn incoming(ir: &Ir, block: Block) -> Vec<(Op, usize)> {
    let Some(region) = ir.parent_region(block) else { return vec![] };
    let terminators = ir.blocks_of(region).iter().filter_map(|&b| ir.last_op(b));
    let edges = terminators.flat_map(|t| ir.successors(t).iter().enumerate().filter(|&(_, &s)| s == block).map(move |(i, _)| (t, i)));
    edges.collect()
}

/// Removes operand `index` of those that a branch passes to a successor.
pub fn remove_successor_operand(ir: &mut Ir, branch: Op, successor: usize, index: usize) {
    let group = ir.spec(branch).operands.len() - ir.spec(branch).successors + successor;
    let (start, _) = successor_operands(ir, branch, successor);
    let mut operands = ir.operands(branch).to_vec();
    operands.remove(start + index);
    if let Some(sizes) = ir.stored_attr(branch, "operandSegmentSizes").and_then(crate::ir::core::Attr::as_dense_array) {
        let mut sizes = sizes.to_vec();
        sizes[group] -= 1;
        ir.set_attr(branch, "operandSegmentSizes", crate::ir::core::Attr::i32_array(&sizes));
    }
    ir.set_operands(branch, &operands);
}

fn mark(ir: &Ir, scope: Op) -> Live {
    let mut live = Live::default();
    live.ops.insert(scope);
    let ops: Vec<Op> = ir.all_ops(scope).into_iter().skip(1).collect();
    let blocks = ir.all_blocks(scope);
    loop {
        let before = live.ops.len() + live.args.len();
        for &op in ops.iter().rev() {
            if !live.ops.contains(&op)
                && (ir.kind(op).has(Traits::TERMINATOR)
                    || !would_be_trivially_dead(ir, op)
                    || ir.results(op).iter().any(|&r| has_live_use(ir, &live, r)))
            {
                live.ops.insert(op);
            }
        }
        for &block in &blocks {
            let is_entry = Some(block) == ir.parent_region(block).and_then(|r| ir.entry(r));
            for &arg in ir.args(block) {
                if is_entry || has_live_use(ir, &live, arg) {
                    live.args.insert(arg);
                }
            }
        }
        if live.ops.len() + live.args.len() == before {
            return live;
        }
    }
}

fn has_live_use(ir: &Ir, live: &Live, v: Value) -> bool {
    ir.uses(v).iter().any(|u| {
        if !live.ops.contains(&u.op) {
            return false;
        }
        // A value passed to a block is as alive as the argument it becomes.
        for (i, &target) in ir.successors(u.op).iter().enumerate() {
            let (start, len) = successor_operands(ir, u.op, i);
            let at = u.index as usize;
            if (start..start + len).contains(&at) {
                return live.value(ir, ir.args(target)[at - start]);
            }
        }
        true
    })
}
