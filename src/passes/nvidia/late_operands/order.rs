//! The order of a block in which tiles are made late.
//!
//! # Algorithm
//!
//! 1. Going forwards, each operation that may move is *late* if its result takes more registers than its operands free.
//!    An operand frees its registers if this is its last user; a late one with no other user only what its own operands
//!    free, and a load nothing.
//! 2. Those that are not late are listed in their order. Before each come the late ones that it needs, and before those
//!    what they need, the operand first whose tree needs most registers. A load comes before its fence at the latest.
//! 3. To load again: a product, or what leads to one, that uses a tile which was loaded before another product gets a
//!    load of its own, if no fence is between and the load is cheap.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::fences::Fence;
use crate::analysis::shared_alias::SharedAlias;
use crate::analysis::tile_pressure::{user_in, words};
use crate::ir::core::{Block, Ir, Mapping, Op, Value};
use crate::ir::dialects::ttg::ttg::{LocalAlloc, LocalLoad};
use crate::ir::dialects::{Traits, TtOp, TtgOp};
use crate::ir::effects::effects;

/// A tile of fewer registers is not loaded again, nor one of wider elements: they are not loaded by whole matrices.
const LARGE: u32 = 16;
const WIDEST: u32 = 16;

/// An operation of the block by its place in the present order.
type Place = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pinned,
    /// A load from shared memory that may come as late as right before this place.
    Load(Place),
    Free,
}

/// What the order is made from.
pub(super) struct Late {
    ops: Vec<Op>,
    kinds: Vec<Kind>,
    products: Vec<bool>,
    /// The operations of the block that an operation needs, each once, with those needed inside of it.
    operands: Vec<Vec<Place>>,
    /// The registers of the results.
    words: Vec<u32>,
    delayed: Vec<bool>,
    /// Whether it is a load that is worth doing again.
    cheap: Vec<bool>,
    /// The registers that the tree of late operations above each one needs.
    needs: Vec<u32>,
    /// The loads that come before each place at the latest.
    fenced: Vec<Vec<Place>>,
}

/// A step of the new order.
enum Step {
    Op(Place),
    /// The load once more, for this user.
    Again(Place, Place),
}

impl Late {
    pub(super) fn new(ir: &Ir, func: Op, block: Block) -> Late {
        let ops = ir.op_list(block);
        let kinds = kinds(ir, func, &ops);
        let place_of: BTreeMap<Op, Place> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let operands: Vec<Vec<Place>> = ops
            .iter()
            .map(|&op| {
                let used = ir.all_ops(op).into_iter().flat_map(|inner| ir.operands(inner).to_vec());
                let mut places: Vec<Place> =
                    used.filter_map(|v| place_of.get(&ir.def_op(v)?).copied()).filter(|&p| ops[p] != op).collect();
                places.sort_unstable();
                places.dedup();
                places
            })
            .collect();
        let words: Vec<u32> = ops.iter().map(|&op| made(ir, op)).collect();
        let narrow = |op: Op| ir.results(op).iter().all(|&v| ir.ty(v).elem().bit_width().is_some_and(|w| w <= WIDEST));
        let cheap = ops.iter().zip(&words).map(|(&op, &words)| words >= LARGE && narrow(op)).collect();
        let mut fenced = vec![vec![]; ops.len()];
        for (place, kind) in kinds.iter().enumerate() {
            if let Kind::Load(fence) = *kind {
                fenced[fence].push(place);
            }
        }
        let products = ops.iter().map(|&op| ir.is(op, TtOp::Dot)).collect();
        let mut list = Late {
            kinds,
            products,
            operands,
            words,
            delayed: vec![false; ops.len()],
            cheap,
            needs: vec![0; ops.len()],
            fenced,
            ops,
        };
        list.find(ir, block);
        list
    }

    /// Step 1.
    fn find(&mut self, ir: &Ir, block: Block) {
        let mut users = vec![0; self.ops.len()];
        let mut last = vec![0; self.ops.len()];
        for (place, operands) in self.operands.iter().enumerate() {
            for &operand in operands {
                users[operand] += 1;
                last[operand] = place;
            }
        }
        let mut frees = vec![0; self.ops.len()];
        for place in 0..self.ops.len() {
            let of_operand = |&operand: &Place| match self.kinds[operand] {
                _ if last[operand] != place => 0,
                Kind::Load(_) => 0,
                _ if self.delayed[operand] && users[operand] == 1 => self.words[operand].min(frees[operand]),
                _ => self.words[operand],
            };
            let inside: u32 = self.operands[place].iter().map(of_operand).sum();
            frees[place] = inside + arguments(ir, block, self.ops[place]);
            self.delayed[place] = match self.kinds[place] {
                Kind::Pinned => false,
                Kind::Load(_) => self.words[place] > 0,
                Kind::Free => self.words[place] > frees[place],
            };
            self.needs[place] = self.tree(place);
        }
    }

    /// The registers that are needed for an operation and the late ones above it.
    fn tree(&self, place: Place) -> u32 {
        let late = self.operands[place].iter().filter(|&&operand| self.delayed[operand]);
        let mut above: Vec<(u32, u32)> = late.map(|&operand| (self.needs[operand], self.words[operand])).collect();
        above.sort_unstable_by(|a, b| b.cmp(a));
        let (mut held, mut most) = (0, self.words[place]);
        for (needs, words) in above {
            most = most.max(held + needs);
            held += words;
        }
        most.max(held)
    }

    /// Puts a block into the order; `again` says whether tiles may be loaded several times.
    pub(super) fn apply(&self, ir: &mut Ir, block: Block, again: bool) {
        let Some(&end) = self.ops.last() else { return };
        for step in List::new(self, again).made() {
            match step {
                Step::Op(place) if self.ops[place] == end => {}
                Step::Op(place) => ir.move_before(self.ops[place], end),
                Step::Again(load, user) => {
                    let (load, user) = (self.ops[load], self.ops[user]);
                    let copy = ir.clone_op(load, &mut Mapping::default());
                    ir.insert_before(end, copy);
                    let (old, new) = (ir.result(load), ir.result(copy));
                    ir.replace_uses_if(old, new, |ir, u| user_in(ir, u.op, block) == Some(user));
                }
            }
        }
    }
}

/// The registers that an operation makes; of a buffer those of what is stored there, since it is moved like it.
fn made(ir: &Ir, op: Op) -> u32 {
    let source = LocalAlloc::of(ir, op).and_then(|alloc| alloc.src(ir));
    let results = ir.results(op).iter().copied();
    results.chain(source).map(|value| words(ir, value)).sum()
}

/// The registers of arguments of the block that an operation is the last to use.
fn arguments(ir: &Ir, block: Block, op: Op) -> u32 {
    let is_last = |value: &Value| {
        let mut users = ir.uses(*value).iter().filter_map(|u| user_in(ir, u.op, block));
        ir.args(block).contains(value) && users.all(|user| user == op || ir.is_before(user, op))
    };
    let mut used: Vec<Value> = ir.operands(op).to_vec();
    used.sort_unstable();
    used.dedup();
    used.iter().filter(|v| is_last(v)).map(|&v| words(ir, v)).sum()
}

/// What may move, and how far.
fn kinds(ir: &Ir, func: Op, ops: &[Op]) -> Vec<Kind> {
    let alias = SharedAlias::new(ir, func);
    let mut kinds: Vec<Kind> = ops.iter().map(|&op| if is_free(ir, op) { Kind::Free } else { Kind::Pinned }).collect();
    let mut open: Vec<(Place, Value)> = vec![];
    for (place, &op) in ops.iter().enumerate() {
        let fence = if place + 1 == ops.len() { Fence::All } else { Fence::of(ir, op) };
        open.retain(|&(load, descriptor)| {
            let stops = fence.stops(&alias, descriptor);
            if stops {
                kinds[load] = Kind::Load(place);
            }
            !stops
        });
        open.extend(LocalLoad::of(ir, op).map(|load| (place, load.src(ir))));
    }
    kinds
}

/// Whether an operation may stand anywhere between its operands and its users. A buffer may that is written once and
/// read by loads only: no fence between proxies is meant for it.
fn is_free(ir: &Ir, op: Op) -> bool {
    if let Some(alloc) = LocalAlloc::of(ir, op) {
        let is_read = |user: Op| ir.is(user, TtgOp::LocalLoad);
        return alloc.src(ir).is_some()
            && effects(ir, op).is_free()
            && ir.users(ir.result(op)).into_iter().all(is_read);
    }
    let kind = ir.kind(op);
    let within = !kind.works_across_threads() || ir.is(op, TtOp::Dot);
    within && ir.regions_of(op).is_empty() && !kind.has(Traits::TERMINATOR) && effects(ir, op).is_free()
}

/// An order in the making.
struct List<'a> {
    late: &'a Late,
    again: bool,
    done: Vec<bool>,
    /// How many products were listed before each load.
    loaded: Vec<usize>,
    products: usize,
    steps: Vec<Step>,
}

impl<'a> List<'a> {
    fn new(late: &'a Late, again: bool) -> List<'a> {
        let count = late.ops.len();
        List { late, again, done: vec![false; count], loaded: vec![0; count], products: 0, steps: vec![] }
    }

    /// Steps 2 and 3.
    fn made(mut self) -> Vec<Step> {
        let late = self.late;
        let end = late.ops.len() - 1;
        for place in 0..end {
            for &load in &late.fenced[place] {
                self.demand(load, place);
            }
            if !late.delayed[place] {
                self.demand(place, place);
            }
        }
        self.operands_of(end, end);
        // What only other blocks use, or nobody.
        (0..end).for_each(|place| self.demand(place, end));
        self.demand(end, end);
        self.steps
    }

    /// Lists an operation behind what it needs; `at` is the place up to which all that is not late has been listed.
    fn demand(&mut self, wanted: Place, at: Place) {
        if self.done[wanted] {
            return;
        }
        self.operands_of(wanted, at);
        self.done[wanted] = true;
        self.loaded[wanted] = self.products;
        self.products += usize::from(self.late.products[wanted]);
        self.steps.push(Step::Op(wanted));
    }

    fn operands_of(&mut self, wanted: Place, at: Place) {
        let late = self.late;
        let mut operands = late.operands[wanted].clone();
        operands.sort_by_key(|&operand| (Reverse(late.needs[operand]), operand));
        for operand in operands {
            let again = self.again && self.done[operand] && self.loaded[operand] < self.products && late.cheap[operand];
            match late.kinds[operand] {
                Kind::Load(fence) if again && at <= fence => self.steps.push(Step::Again(operand, wanted)),
                _ => self.demand(operand, at),
            }
        }
    }
}
