//! `cse`: merges operations that compute the same.
//!
//! # Algorithm
//!
//! 1. Walk the blocks of a region down its dominator tree, with a table of the operations seen so far on the way, so
//!    that everything in the table is available here. Regions of an operation are done before the operation itself;
//!    isolated ones start with an empty table.
//! 2. Drop an operation without uses that only computes.
//! 3. An operation without effects that equals one in the table (kind, attributes, result types, operands in any order
//!    if it is commutative, regions) is replaced by that one.
//! 4. An operation that only reads memory likewise, if the other stands in the same block and nothing between the two
//!    writes.
//!
//! `%a = arith.addi %x, %y; %b = arith.addi %y, %x` leaves `%a`.

use std::hash::{Hash, Hasher as _};

use crate::ir::core::entity::Entity;
use crate::ir::core::hash::{Hasher, Map};
use crate::ir::core::{Block, Dominance, Ir, Loc, LocData, Op, Region, Value};
use crate::ir::dialects::Traits;
use crate::ir::effects::{effects, is_trivially_dead};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass =
    Pass { name: "cse", doc: "merge operations that compute the same", input: Input::Any, options: &[], run };

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    Ok(Changed::from(eliminate(ir, module)))
}

/// The operations seen on the way from the root, the last one at the end.
#[derive(Default)]
struct Known {
    /// Each with its hash and the one before it that has this hash.
    ops: Vec<(u64, Op, Option<usize>)>,
    /// The last of each hash, as an index of `ops`.
    last: Map<u64, usize>,
    /// How many operations were known where each open scope began.
    scopes: Vec<usize>,
}

impl Known {
    fn insert(&mut self, hash: u64, op: Op) {
        let before = self.last.insert(hash, self.ops.len());
        self.ops.push((hash, op, before));
    }

    /// The last operation that equals this one.
    fn find(&self, ir: &Ir, hash: u64, op: Op) -> Option<Op> {
        let mut at = self.last.get(&hash).copied();
        while let Some((_, other, before)) = at.map(|i| self.ops[i]) {
            if equal(ir, other, op, &mut vec![]) {
                return Some(other);
            }
            at = before;
        }
        None
    }

    fn enter(&mut self) {
        self.scopes.push(self.ops.len());
    }

    fn leave(&mut self) {
        let Some(start) = self.scopes.pop() else { return };
        while self.ops.len() > start {
            match self.ops.pop() {
                Some((hash, _, Some(before))) => self.last.insert(hash, before),
                Some((hash, _, None)) => self.last.remove(&hash),
                None => break,
            };
        }
    }
}

/// Merges equal operations inside `scope`. Returns whether anything changed.
pub fn eliminate(ir: &mut Ir, scope: Op) -> bool {
    let mut changed = false;
    let mut known = Known::default();
    for region in ir.regions_of(scope).to_vec() {
        changed |= region_cse(ir, region, &mut known);
    }
    changed
}

fn region_cse(ir: &mut Ir, region: Region, known: &mut Known) -> bool {
    let Some(entry) = ir.entry(region) else { return false };
    if ir.blocks_of(region).len() == 1 {
        known.enter();
        let changed = block_cse(ir, entry, known);
        known.leave();
        return changed;
    }
    // Preorder of the dominator tree: a block after its dominators, its scope closed after what it dominates.
    let dominance = Dominance::new();
    let order = crate::ir::core::dominance::reverse_post_order(ir, entry);
    let (mut changed, mut path): (bool, Vec<Block>) = (false, vec![]);
    let mut tree: Vec<(Block, usize)> = vec![];
    depth_first(ir, &dominance, &order, entry, 0, &mut tree);
    for (block, depth) in tree {
        while path.len() > depth {
            path.pop();
            known.leave();
        }
        path.push(block);
        known.enter();
        changed |= block_cse(ir, block, known);
    }
    path.iter().for_each(|_| known.leave());
    changed
}

/// The dominator tree below `block`, each block with its depth.
fn depth_first(
    ir: &Ir,
    dominance: &Dominance,
    order: &[Block],
    block: Block,
    depth: usize,
    out: &mut Vec<(Block, usize)>,
) {
    out.push((block, depth));
    let below: Vec<Block> =
        order.iter().copied().filter(|&b| b != block && dominance.block_dominates(ir, block, b)).collect();
    for &child in &below {
        // A child is dominated by no other block below.
        if !below.iter().any(|&b| b != child && dominance.block_dominates(ir, b, child)) {
            depth_first(ir, dominance, order, child, depth + 1, out);
        }
    }
}

fn block_cse(ir: &mut Ir, block: Block, known: &mut Known) -> bool {
    let mut changed = false;
    for op in ir.op_list(block) {
        let isolated = ir.kind(op).has(Traits::ISOLATED_FROM_ABOVE);
        for region in ir.regions_of(op).to_vec() {
            changed |=
                if isolated { region_cse(ir, region, &mut Known::default()) } else { region_cse(ir, region, known) };
        }
        changed |= merge(ir, op, known);
    }
    changed
}

fn merge(ir: &mut Ir, op: Op, known: &mut Known) -> bool {
    if ir.kind(op).has(Traits::TERMINATOR) {
        return false;
    }
    if is_trivially_dead(ir, op) {
        ir.erase_op(op);
        return true;
    }
    if ir.regions_of(op).iter().any(|&r| ir.blocks_of(r).len() > 1) || ir.results(op).is_empty() {
        return false;
    }
    let effect = effects(ir, op);
    if effect.writes || effect.allocates {
        return false;
    }
    let hash = hash_of(ir, op);
    if let Some(other) = known.find(ir, hash, op)
        && (!effect.reads || ir.parent_block(other) == ir.parent_block(op) && !writes_between(ir, other, op))
    {
        if matches!(*ir.loc(other), LocData::Unknown) && ir.loc(op) != Loc::unknown() {
            let loc = ir.loc(op);
            ir.set_loc(other, loc);
        }
        let values = ir.results(other).to_vec();
        ir.replace_op(op, &values);
        return true;
    }
    known.insert(hash, op);
    false
}

fn writes_between(ir: &Ir, from: Op, to: Op) -> bool {
    let mut at = ir.next_op(from);
    while let Some(op) = at.filter(|&o| o != to) {
        if effects(ir, op).writes {
            return true;
        }
        at = ir.next_op(op);
    }
    false
}

/// A number that equal operations share. What is inside of an operation counts by its kinds alone.
fn hash_of(ir: &Ir, op: Op) -> u64 {
    let mut hasher = Hasher::default();
    ir.kind(op).hash(&mut hasher);
    ir.attrs(op).hash(&mut hasher);
    if ir.kind(op).has(Traits::COMMUTATIVE) {
        // In any order: a sum. Each number is spread first, since plain numbers have equal sums all too often:
        // `%1 + %9` and `%2 + %8`.
        let spread = |v: &Value| {
            let product = (v.index() as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            product ^ (product >> 29)
        };
        hasher.write_u64(ir.operands(op).iter().map(spread).fold(0, u64::wrapping_add));
    } else {
        ir.operands(op).hash(&mut hasher);
    }
    ir.results(op).iter().for_each(|&r| ir.ty(r).hash(&mut hasher));
    for &region in ir.regions_of(op) {
        for inner in ir.entry(region).into_iter().flat_map(|block| ir.ops(block)) {
            ir.kind(inner).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Whether two operations compute the same: kind, attributes, operands in any order if it is commutative, result types,
/// regions of one block. `pairs` are the values inside of the two that correspond.
fn equal(ir: &Ir, a: Op, b: Op, pairs: &mut Vec<(Value, Value)>) -> bool {
    let kind = ir.kind(a);
    let types = |o: Op| ir.results(o).iter().map(|&r| ir.ty(r));
    kind == ir.kind(b)
        && ir.attrs(a) == ir.attrs(b)
        && types(a).eq(types(b))
        && equal_operands(ir.operands(a), ir.operands(b), kind.has(Traits::COMMUTATIVE), pairs)
        && ir.regions_of(a).len() == ir.regions_of(b).len()
        && ir.regions_of(a).iter().zip(ir.regions_of(b)).all(|(&x, &y)| equal_regions(ir, x, y, pairs))
}

fn equal_operands(a: &[Value], b: &[Value], commutative: bool, pairs: &[(Value, Value)]) -> bool {
    let inside = |v: Value| pairs.iter().rev().find(|p| p.0 == v).map_or(v, |p| p.1);
    if !commutative {
        return a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| inside(x) == y);
    }
    let (mut a, mut b): (Vec<Value>, Vec<Value>) = (a.iter().map(|&v| inside(v)).collect(), b.to_vec());
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

fn equal_regions(ir: &Ir, a: Region, b: Region, pairs: &mut Vec<(Value, Value)>) -> bool {
    let (a, b) = match (ir.blocks_of(a), ir.blocks_of(b)) {
        (&[a], &[b]) => (a, b),
        ([], []) => return true,
        _ => return false,
    };
    let types = |block: Block| ir.args(block).iter().map(|&v| ir.ty(v));
    if !types(a).eq(types(b)) {
        return false;
    }
    pairs.extend(ir.args(a).iter().copied().zip(ir.args(b).iter().copied()));
    let (mut left, mut right) = (ir.ops(a), ir.ops(b));
    loop {
        match (left.next(), right.next()) {
            (Some(x), Some(y)) if equal(ir, x, y, pairs) => {
                pairs.extend(ir.results(x).iter().copied().zip(ir.results(y).iter().copied()));
            }
            (None, None) => return true,
            _ => return false,
        }
    }
}
