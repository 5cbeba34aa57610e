//! `cse`: merges operations that compute the same.
//!
//! # Algorithm
//!
//! 1. Walk the blocks of a region down its dominator tree, with a table of the operations seen so far on the way, so that everything in the
//!    table is available here. Regions of an operation are done before the operation itself; isolated ones start with an empty table.
//! 2. Drop an operation without uses that only computes.
//! 3. An operation without effects that equals one in the table (kind, attributes, result types, operands in any order if it is commutative,
//!    regions) is replaced by that one.
//! 4. An operation that only reads memory likewise, if the other stands in the same block and nothing between the two writes.
//!
//! `%a = arith.addi %x, %y; %b = arith.addi %y, %x` leaves `%a`.

use std::collections::HashMap;

use crate::ir::core::{Attr, Block, Dominance, Ir, Loc, LocData, Name, Op, Region, Type, Value};
use crate::ir::dialects::{OpKind, Traits};
use crate::passes::analysis::effects::{effects, is_trivially_dead};
use crate::passes::manager::{Changed, Failed, Pass, PassCx};

pub static PASS: Pass = Pass { name: "cse", doc: "merge operations that compute the same", options: &[], run };

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    Ok(Changed::from(eliminate(ir, module)))
}

/// What makes two operations equal.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Key {
    kind: OpKind,
    operands: Vec<Operand>,
    attrs: Vec<(Name, Attr)>,
    types: Vec<Type>,
    /// Arguments and operations of each region.
    regions: Vec<(Vec<Type>, Vec<Key>)>,
}

#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
enum Operand {
    Outer(Value),
    /// A value inside the operation, by number.
    Inner(usize),
}

/// The operations seen on the way from the root, innermost scope last.
#[derive(Default)]
struct Known {
    table: HashMap<Key, Vec<Op>>,
    scopes: Vec<Vec<Key>>,
}

impl Known {
    fn insert(&mut self, key: Key, op: Op) {
        self.table.entry(key.clone()).or_default().push(op);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(key);
        }
    }

    fn find(&self, key: &Key) -> Option<Op> {
        self.table.get(key).and_then(|ops| ops.last()).copied()
    }

    fn leave(&mut self) {
        for key in self.scopes.pop().into_iter().flatten() {
            if let Some(ops) = self.table.get_mut(&key) {
                ops.pop();
            }
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
        known.scopes.push(vec![]);
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
        known.scopes.push(vec![]);
        changed |= block_cse(ir, block, known);
    }
    path.iter().for_each(|_| known.leave());
    changed
}

/// The dominator tree below `block`, each block with its depth.
fn depth_first(ir: &Ir, dominance: &Dominance, order: &[Block], block: Block, depth: usize, out: &mut Vec<(Block, usize)>) {
    out.push((block, depth));
    let below: Vec<Block> = order.iter().copied().filter(|&b| b != block && dominance.block_dominates(ir, block, b)).collect();
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
            changed |= if isolated { region_cse(ir, region, &mut Known::default()) } else { region_cse(ir, region, known) };
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
    let key = key_of(ir, op, &mut HashMap::new());
    if let Some(other) = known.find(&key)
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
    known.insert(key, op);
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

fn key_of(ir: &Ir, op: Op, inner: &mut HashMap<Value, usize>) -> Key {
    let mut operands: Vec<Operand> =
        ir.operands(op).iter().map(|&v| inner.get(&v).map_or(Operand::Outer(v), |&n| Operand::Inner(n))).collect();
    if ir.kind(op).has(Traits::COMMUTATIVE) {
        operands.sort();
    }
    let mut regions = vec![];
    for &region in ir.regions_of(op) {
        let Some(block) = ir.entry(region) else {
            regions.push((vec![], vec![]));
            continue;
        };
        for &arg in ir.args(block) {
            let n = inner.len();
            inner.insert(arg, n);
        }
        let mut body = vec![];
        for nested in ir.ops(block) {
            body.push(key_of(ir, nested, inner));
            for &result in ir.results(nested) {
                let n = inner.len();
                inner.insert(result, n);
            }
        }
        regions.push((ir.args(block).iter().map(|&a| ir.ty(a)).collect(), body));
    }
    let types = ir.results(op).iter().map(|&r| ir.ty(r)).collect();
    Key { kind: ir.kind(op), operands, attrs: ir.attrs(op).to_vec(), types, regions }
}
