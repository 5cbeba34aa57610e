//! Dominance between values and operations.
//!
//! Within a region the immediate dominators of its blocks come from the iterative algorithm over reverse post-order
//! (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"). The tree's blocks are then numbered parents first,
//! so that a block dominates exactly those whose numbers lie in its interval, and a query costs two look-ups. A value
//! of an enclosing region dominates everything nested after it. The trees are computed lazily for each region. After
//! the control flow of a region changed, a new [`Dominance`] is needed; adding or moving operations within blocks needs
//! nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::entity::{Block, Op, Region, Value};
use super::graph::{Ir, ValueDef};

/// For each reachable block, its number in the dominator tree and one past the largest number below it.
type Intervals = BTreeMap<Block, (usize, usize)>;

/// Dominance information over one state of the control flow.
#[derive(Default)]
pub struct Dominance {
    regions: RefCell<BTreeMap<Region, Intervals>>,
}

impl Dominance {
    #[must_use]
    pub fn new() -> Dominance {
        Dominance::default()
    }

    /// Whether block `a` dominates block `b` of the same region. An unreachable block is dominated by everything.
    #[must_use]
    pub fn block_dominates(&self, ir: &Ir, a: Block, b: Block) -> bool {
        if a == b {
            return true;
        }
        let Some(region) = ir.parent_region(b) else { return false };
        if ir.parent_region(a) != Some(region) {
            return false;
        }
        let mut regions = self.regions.borrow_mut();
        let tree = regions.entry(region).or_insert_with(|| intervals(ir, region));
        let Some(&(number, _)) = tree.get(&b) else { return true };
        tree.get(&a).is_some_and(|&(start, end)| start <= number && number < end)
    }

    /// Whether control can get to the block from the entry of its region.
    #[must_use]
    pub fn is_reachable(&self, ir: &Ir, block: Block) -> bool {
        let Some(region) = ir.parent_region(block) else { return false };
        if ir.entry(region) == Some(block) {
            return true;
        }
        self.regions.borrow_mut().entry(region).or_insert_with(|| intervals(ir, region)).contains_key(&block)
    }

    /// Whether the value is available at `op` (as an operand of it).
    #[must_use]
    pub fn value_dominates(&self, ir: &Ir, value: Value, op: Op) -> bool {
        let Some(def_block) = ir.value_block(value) else { return false };
        // The ancestor of `op` in the region of the definition.
        let Some(region) = ir.parent_region(def_block) else { return false };
        let Some(at) = ancestor_in_region(ir, op, region) else { return false };
        let Some(at_block) = ir.parent_block(at) else { return false };
        match ir.def(value) {
            ValueDef::Arg { .. } => self.block_dominates(ir, def_block, at_block),
            ValueDef::Result { op: def, .. } if at_block == def_block => def != at && ir.is_before(def, at),
            ValueDef::Result { .. } => self.block_dominates(ir, def_block, at_block),
        }
    }

    /// Whether `a` is executed before `b` on every path to `b`, where `b` may be nested deeper. `a` does not dominate
    /// itself.
    #[must_use]
    pub fn op_dominates(&self, ir: &Ir, a: Op, b: Op) -> bool {
        let Some(a_block) = ir.parent_block(a) else { return false };
        let Some(region) = ir.parent_region(a_block) else { return false };
        let Some(at) = ancestor_in_region(ir, b, region) else { return false };
        match ir.parent_block(at) {
            Some(b) if b == a_block => a != at && ir.is_before(a, at),
            Some(b) => self.block_dominates(ir, a_block, b),
            None => false,
        }
    }
}

fn ancestor_in_region(ir: &Ir, op: Op, region: Region) -> Option<Op> {
    std::iter::successors(Some(op), |&o| ir.parent_op(o))
        .find(|&o| ir.parent_block(o).and_then(|b| ir.parent_region(b)) == Some(region))
}

/// The successors of a block, through its terminator.
fn succs(ir: &Ir, block: Block) -> &[Block] {
    ir.last_op(block).map_or(&[], |t| ir.successors(t))
}

fn intervals(ir: &Ir, region: Region) -> Intervals {
    let Some(entry) = ir.entry(region) else { return BTreeMap::new() };
    let order = reverse_post_order(ir, entry);
    let number: BTreeMap<Block, usize> = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
    let mut preds: Vec<Vec<usize>> = vec![vec![]; order.len()];
    for (i, &b) in order.iter().enumerate() {
        for s in succs(ir, b) {
            preds[number[s]].push(i);
        }
    }
    let mut idom: Vec<Option<usize>> = vec![None; order.len()];
    idom[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..order.len() {
            let mut new: Option<usize> = None;
            for &p in &preds[b] {
                if idom[p].is_some() {
                    new = Some(new.map_or(p, |n| intersect(&idom, n, p)));
                }
            }
            if new.is_some() && idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    number_tree(&order, &idom)
}

/// Numbers the blocks so that each subtree of the dominator tree is an interval. A block's dominator stands before it
/// in `order`, so sizes add up from the back and numbers are given out from the front.
fn number_tree(order: &[Block], idom: &[Option<usize>]) -> Intervals {
    let mut size = vec![1; order.len()];
    for i in (1..order.len()).rev() {
        size[idom[i].unwrap_or(0)] += size[i];
    }
    // The next free number in each block's interval.
    let mut free = vec![1; order.len()];
    let mut tree = Intervals::new();
    for (i, &block) in order.iter().enumerate() {
        let start = if i == 0 { 0 } else { free[idom[i].unwrap_or(0)] };
        if i > 0 {
            free[idom[i].unwrap_or(0)] += size[i];
        }
        free[i] = start + 1;
        tree.insert(block, (start, start + size[i]));
    }
    tree
}

fn intersect(idom: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = idom[a].unwrap_or(0);
        }
        while b > a {
            b = idom[b].unwrap_or(0);
        }
    }
    a
}

/// The blocks reachable from `entry`, each before its successors except along back edges.
#[must_use]
pub fn reverse_post_order(ir: &Ir, entry: Block) -> Vec<Block> {
    let mut order = vec![];
    let mut seen = std::collections::BTreeSet::from([entry]);
    let mut stack = vec![(entry, 0)];
    while let Some((block, next)) = stack.pop() {
        if let Some(&s) = succs(ir, block).get(next) {
            stack.push((block, next + 1));
            if seen.insert(s) {
                stack.push((s, 0));
            }
        } else {
            order.push(block);
        }
    }
    order.reverse();
    order
}
