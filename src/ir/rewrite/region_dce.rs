//! Cleaning up control flow between blocks: unreachable blocks, and values that only feed themselves through block
//! arguments.
//!
//! # Algorithm
//!
//! 1. In every region, erase the blocks that the entry does not reach.
//! 2. Mark what is alive, to a fixpoint: operations that do more than compute; what computes an operand of a live
//!    operation; a block argument with a live use, and with it the values that branches pass for it.
//! 3. Erase the arguments and operations that are not alive.
//! 4. On request, merge blocks that hold equal operations and go on to the same blocks: branches to the second go to
//!    the first. Early returns make such blocks.
//!
//! Regions of one block need none of this: there, an operation is dead if it has no uses, and the rewriter has removed
//! it already.

use std::collections::BTreeSet;

use crate::ir::core::dominance::reverse_post_order;
use crate::ir::core::{Block, Ir, Op, Region, Value};
use crate::ir::dialects::Traits;
use crate::ir::effects::would_be_trivially_dead;

/// Cleans up all regions in `scope`. Returns whether anything changed.
pub fn simplify_regions(ir: &mut Ir, scope: Op, merge: bool) -> bool {
    let regions: Vec<Region> = ir
        .all_ops(scope)
        .into_iter()
        .flat_map(|op| ir.regions_of(op).to_vec())
        .filter(|&r| ir.blocks_of(r).len() > 1)
        .collect();
    if regions.is_empty() {
        return false;
    }
    let alive = |ir: &Ir, region: Region| ir.region_op(region).is_some_and(|op| !ir.is_erased(op));
    let mut changed = false;
    for &region in &regions {
        if alive(ir, region) {
            changed |= erase_unreachable(ir, region);
        }
    }
    changed |= erase_dead(ir, scope);
    for region in regions {
        if merge && alive(ir, region) {
            changed |= merge_equal_blocks(ir, region);
        }
    }
    changed
}

/// Merges blocks without arguments whose operations are equal, operand by operand.
fn merge_equal_blocks(ir: &mut Ir, region: Region) -> bool {
    let mut changed = false;
    let mut kept: Vec<Block> = vec![];
    for block in ir.blocks_of(region).to_vec().into_iter().skip(1) {
        let Some(&first) = kept.iter().find(|&&k| equal_blocks(ir, k, block)) else {
            kept.push(block);
            continue;
        };
        for (branch, index) in incoming(ir, block) {
            ir.set_successor(branch, index, first);
        }
        ir.erase_blocks(&[block]);
        changed = true;
    }
    changed
}

/// Whether two blocks do the same. Their values must not be used outside of them.
fn equal_blocks(ir: &Ir, a: Block, b: Block) -> bool {
    let (xs, ys) = (ir.op_list(a), ir.op_list(b));
    if !ir.args(a).is_empty() || !ir.args(b).is_empty() || xs.len() != ys.len() {
        return false;
    }
    let mut same = std::collections::BTreeMap::new();
    for (&x, &y) in xs.iter().zip(&ys) {
        let operands = ir.operands(x).iter().zip(ir.operands(y)).all(|(v, w)| v == w || same.get(v) == Some(w));
        let types = ir.results(x).iter().map(|&r| ir.ty(r)).eq(ir.results(y).iter().map(|&r| ir.ty(r)));
        let local = |o: Op, block: Block| {
            ir.results(o).iter().flat_map(|&r| ir.uses(r)).all(|u| ir.parent_block(u.op) == Some(block))
        };
        let plain =
            ir.regions_of(x).is_empty() && ir.regions_of(y).is_empty() && ir.operands(x).len() == ir.operands(y).len();
        let equal = ir.kind(x) == ir.kind(y) && ir.attrs(x) == ir.attrs(y) && ir.successors(x) == ir.successors(y);
        if !(plain && equal && operands && types && local(x, a) && local(y, b)) {
            return false;
        }
        same.extend(ir.results(x).iter().copied().zip(ir.results(y).iter().copied()));
    }
    true
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
    let start = ir.successor_slot(branch, index).index(ir, branch);
    (start, ir.successor_operands(branch, index).len())
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
    let edges = terminators
        .flat_map(|t| ir.successors(t).iter().enumerate().filter(|&(_, &s)| s == block).map(move |(i, _)| (t, i)));
    edges.collect()
}

/// Removes operand `index` of those that a branch passes to a successor.
pub fn remove_successor_operand(ir: &mut Ir, branch: Op, successor: usize, index: usize) {
    let mut passed = ir.successor_operands(branch, successor).to_vec();
    passed.remove(index);
    ir.put_operands(branch, ir.successor_slot(branch, successor), &passed);
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
