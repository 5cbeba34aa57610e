//! What the choice for a product asks of the operations around it. All answers together take time that is linear in the
//! module, also where thousands of products feed one another.
//!
//! 1. Which products of a region are connected by values is found once ([`Chains::new`]); of each such group the pass
//!    then says which products have got a layout ([`Chains::settle`]).
//! 2. Whether anything that depends on a product is a product, and in how many bits a value was loaded, is kept of each
//!    operation that was looked at. Neither changes while the pass goes from the last product to the first: what takes
//!    the place of a product is one, and depends on what that did.
//!
//! ```text
//! %p = tt.dot %q, %k, %zero       group 0
//! %o = tt.dot %soft, %v, %acc     group 0: %soft comes from %p, so its warps are those of %o
//! %x = tt.dot %a, %b, %zero       group 1
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::choose::{followed, joins_neighbours};
use crate::ir::core::hash::{Map, Set};
use crate::ir::core::{Encoding, Ir, Op, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{TtOp, TtgOp};

/// The products of a module, by their number in the order of the text.
pub(super) struct Chains {
    /// The group of each product.
    groups: Vec<usize>,
    /// Of each group and rank: the `tt.dot` and `tt.dot_scaled` that are there.
    plain: Map<(usize, usize), BTreeSet<usize>>,
    /// Of each group and rank: how warps tile those with the layout of `mma.sync`.
    tiled: Map<(usize, usize), BTreeMap<usize, Vec<u32>>>,
    /// Whether an operation is a product, or one depends on it.
    reaches: Map<Op, bool>,
    /// What each operation that was looked at is loaded as.
    loaded: Map<Op, Loaded>,
}

/// What connected products say of another one.
pub(super) enum Neighbours {
    None,
    /// There are some, and none has been given warps.
    Chained,
    /// How warps tile the first one that has been given some.
    Tiled(Vec<u32>),
}

/// What the values that an operation is computed from were loaded as.
#[derive(Clone, Default)]
struct Loaded {
    /// Whether any has 4 bits.
    is_fp4: bool,
    /// The fewest bits of an element; `None` where nothing is loaded.
    bits: Option<u32>,
    /// Bits of the elements of neighbours that were joined.
    joined: BTreeSet<u32>,
}

impl Loaded {
    fn merge(&mut self, other: &Loaded) {
        self.is_fp4 |= other.is_fp4;
        self.bits = self.bits.into_iter().chain(other.bits).min();
        self.joined.extend(&other.joined);
    }
}

impl Chains {
    /// Groups `products`, which stand in the order of the text. A transposition connects nothing.
    pub(super) fn new(ir: &Ir, products: &[Op]) -> Chains {
        let (mut group_of, mut count) = (Map::default(), 0);
        for &op in products {
            if group_of.contains_key(&op) {
                continue;
            }
            group_of.extend(connected(ir, op).into_iter().filter(|&o| is_plain(ir, o)).map(|o| (o, count)));
            count += 1;
        }
        let mut this = Chains {
            groups: products.iter().map(|op| group_of[op]).collect(),
            plain: Map::default(),
            tiled: Map::default(),
            reaches: Map::default(),
            loaded: Map::default(),
        };
        for (number, &op) in products.iter().enumerate() {
            this.plain.entry((this.groups[number], rank(ir, op))).or_default().insert(number);
            this.settle(ir, number, op);
        }
        this
    }

    /// Says that product `number` is this operation now.
    pub(super) fn settle(&mut self, ir: &Ir, number: usize, op: Op) {
        let key = (self.groups[number], rank(ir, op));
        if !is_plain(ir, op) {
            self.plain.entry(key).or_default().remove(&number);
        } else if let Some(Encoding::NvidiaMma(mma)) = ir.ty(ir.result(op)).layout() {
            self.tiled.entry(key).or_default().insert(number, mma.warps_per_cta.clone());
        }
    }

    /// What the products of this rank say that values connect with product `number`, which has no layout yet.
    pub(super) fn neighbours(&self, number: usize, rank: usize) -> Neighbours {
        let key = (self.groups[number], rank);
        if let Some(warps) = self.tiled.get(&key).and_then(|tiled| tiled.values().next()) {
            return Neighbours::Tiled(warps.clone());
        }
        let others = self.plain.get(&key).is_some_and(|plain| plain.iter().take(2).any(|&other| other != number));
        if others { Neighbours::Chained } else { Neighbours::None }
    }

    /// Whether a product depends on a value, or stands inside of an operation that does.
    pub(super) fn feeds_product(&mut self, ir: &Ir, value: Value) -> bool {
        ir.uses(value).to_vec().into_iter().any(|u| self.reaches_product(ir, u.op))
    }

    fn reaches_product(&mut self, ir: &Ir, op: Op) -> bool {
        let mut path = vec![(op, dependents(ir, op))];
        let mut entered = Set::default();
        while let Some((op, next)) = path.last_mut() {
            let op = *op;
            let known = self.reaches.get(&op).copied().or_else(|| ir.kind(op).is_product().then_some(true));
            if known == Some(true) {
                self.reaches.extend(path.iter().map(|&(op, _)| (op, true)));
                return true;
            }
            let next = next.pop().filter(|_| known.is_none());
            if let Some(next) = next {
                if entered.insert(next) {
                    path.push((next, dependents(ir, next)));
                }
            } else {
                self.reaches.insert(op, false);
                path.pop();
            }
        }
        false
    }

    /// The fewest bits that an element of the value has on its way from memory.
    pub(super) fn loaded_bits(&mut self, ir: &Ir, value: Value) -> u32 {
        let own = ir.ty(value).elem().bit_width().unwrap_or(32);
        let Some(def) = ir.def_op(value) else { return own };
        let loaded = self.loaded(ir, def);
        if loaded.is_fp4 {
            return 4;
        }
        let bits = loaded.bits.map_or(own, |bits| bits.min(own));
        // Where two values are unpacked from one that was loaded, the join halves the width that a layout carries
        // through it.
        if loaded.joined.contains(&(2 * bits)) { bits / 2 } else { bits }
    }

    fn loaded(&mut self, ir: &Ir, op: Op) -> Loaded {
        let mut stack = vec![op];
        while let Some(&op) = stack.last() {
            if self.loaded.contains_key(&op) {
                stack.pop();
                continue;
            }
            let mut found = Loaded::default();
            if followed(ir, op) {
                let sources = ir.operands(op).iter().filter_map(|&v| ir.def_op(v));
                let waiting: Vec<Op> = sources.clone().filter(|source| !self.loaded.contains_key(source)).collect();
                if !waiting.is_empty() {
                    stack.extend(waiting);
                    continue;
                }
                found = loaded_here(ir, op);
                sources.for_each(|source| found.merge(&self.loaded[&source]));
            }
            self.loaded.insert(op, found);
            stack.pop();
        }
        self.loaded[&op].clone()
    }
}

/// What an operation itself adds.
fn loaded_here(ir: &Ir, op: Op) -> Loaded {
    let mut found = Loaded { is_fp4: ir.is(op, TtgOp::Fp4ToFp), ..Loaded::default() };
    if let Some(ty) = tt::Join::of(ir, op).map(|join| ir.ty(join.result(ir))).filter(|&ty| joins_neighbours(ty)) {
        found.joined.extend(ty.elem().bit_width());
    }
    if ir.kind(op).is_load() && ir.ty(ir.result(op)).is_tensor() {
        found.bits = ir.ty(ir.result(op)).elem().bit_width();
    }
    found
}

fn is_plain(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtOp::Dot) || ir.is(op, TtOp::DotScaled)
}

fn rank(ir: &Ir, op: Op) -> usize {
    ir.ty(ir.result(op)).rank()
}

/// What is inside of an operation, and what uses its results.
fn dependents(ir: &Ir, op: Op) -> Vec<Op> {
    let inside = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
    let users = ir.results(op).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op);
    inside.chain(users).collect()
}

/// The operations of `op`'s region that values connect with it; transpositions cut the connection.
fn connected(ir: &Ir, op: Op) -> Set<Op> {
    let home = ir.parent_block(op).map(|b| ir.parent_region(b));
    let inside = |o: Op| ir.parent_block(o).map(|b| ir.parent_region(b)) == home && !ir.is(o, TtOp::Trans);
    let mut seen = Set::from_iter([op]);
    let mut queue = vec![op];
    while let Some(at) = queue.pop() {
        let producers = ir.operands(at).iter().filter_map(|&v| ir.def_op(v));
        let users = ir.results(at).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op);
        queue.extend(producers.chain(users).filter(|&o| inside(o) && seen.insert(o)));
    }
    seen
}
