//! Loops that can be cut into clusters: what their product reads, and that nothing else touches memory.

use std::collections::BTreeSet;

use crate::ir::core::{Block, Ir, Op, Value, ValueDef};
use crate::ir::dialects::arith::arith::Cmpi;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg::{LocalLoad, LocalStore, MemDescIndex};
use crate::ir::dialects::{OpKind, ScfOp, TtOp, TtgOp};
use crate::passes::amd::chains::is_dot;

/// A loop with one product, and the operations that bring its operands.
pub(super) struct Found {
    pub(super) looped: Op,
    pub(super) dot: Op,
    pub(super) global_loads: Vec<Op>,
    pub(super) local_loads: Vec<Op>,
    pub(super) local_stores: Vec<Op>,
}

impl Found {
    pub(super) fn of(ir: &Ir, looped: Op) -> Option<Found> {
        let body = ir.body(looped, 0)?;
        // What is inside an operation comes before it.
        let all = ir.all_ops_post(looped);
        let of = |kind: OpKind| -> Vec<Op> { all.iter().copied().filter(|&op| ir.kind(op) == kind).collect() };
        let dots: Vec<Op> = all.iter().copied().filter(|&op| is_dot(ir, op)).collect();
        let &[dot] = dots.as_slice() else { return None };
        if !ir.is(dot, TtOp::Dot) || ir.parent_block(dot) != Some(body) || !of(TtgOp::AsyncWait.into()).is_empty() {
            return None;
        }
        let carried =
            |&load: &Op| matches!(ir.def(LocalLoad(load).src(ir)), ValueDef::Arg { block, .. } if block == body);
        let global_loads = of(TtOp::Load.into());
        let local_loads: Vec<Op> = of(TtgOp::LocalLoad.into()).into_iter().filter(carried).collect();
        let local_stores = of(TtgOp::LocalStore.into());
        if global_loads.len() < 2 || local_loads.len() < 2 {
            return None;
        }
        let sources = Sources::of(ir, dot);
        let skips = is_persistent(ir, body);
        let mut kept = vec![];
        for (all, own) in [
            (global_loads, &sources.global_loads),
            (local_loads, &sources.local_loads),
            (local_stores, &sources.local_stores),
        ] {
            let (own, others): (Vec<Op>, Vec<Op>) = all.into_iter().partition(|op| own.contains(op));
            if weight(ir, looped, &others, skips) != 0 || own.iter().any(|&op| ir.parent_block(op) != Some(body)) {
                return None;
            }
            kept.push(own);
        }
        let [global_loads, local_loads, local_stores] = <[Vec<Op>; 3]>::try_from(kept).ok()?;
        let fits = global_loads.len() == 2 && local_loads.len() == 2;
        let fits = fits && global_loads.iter().all(|&load| has_steady_mask(ir, looped, load));
        fits.then_some(Found { looped, dot, global_loads, local_loads, local_stores })
    }
}

/// Whether the mask of a load, if it has one, is the same in every iteration. Others are of tiles at a border along K,
/// for which the new order is not made.
fn has_steady_mask(ir: &Ir, looped: Op, load: Op) -> bool {
    let mut seen = BTreeSet::new();
    let mut queue: Vec<Value> = tt::Load(load).mask(ir).into_iter().collect();
    while let Some(value) = queue.pop() {
        let home = ir.value_block(value).and_then(|block| ir.block_op(block));
        let inside = home.is_some_and(|op| ir.is_ancestor(looped, op));
        match ir.def(value) {
            ValueDef::Arg { .. } if inside => return false,
            ValueDef::Result { op, .. } if inside && seen.insert(op) => queue.extend(ir.operands(op)),
            _ => {}
        }
    }
    true
}

/// The memory operations that bring a product's operands.
struct Sources {
    global_loads: BTreeSet<Op>,
    local_loads: BTreeSet<Op>,
    local_stores: BTreeSet<Op>,
}

impl Sources {
    fn of(ir: &Ir, dot: Op) -> Sources {
        let dot = tt::Dot(dot);
        let mut local_loads = nearest(ir, dot.a(ir), TtgOp::LocalLoad.into());
        local_loads.extend(nearest(ir, dot.b(ir), TtgOp::LocalLoad.into()));
        let slots: BTreeSet<Op> =
            local_loads.iter().flat_map(|&op| nearest(ir, LocalLoad(op).src(ir), TtgOp::MemDescIndex.into())).collect();
        let users = slots.iter().flat_map(|&op| ir.users(MemDescIndex(op).result(ir)));
        let local_stores: BTreeSet<Op> = users.filter(|&user| ir.is(user, TtgOp::LocalStore)).collect();
        let global_loads =
            local_stores.iter().flat_map(|&op| nearest(ir, LocalStore(op).src(ir), TtOp::Load.into())).collect();
        Sources { global_loads, local_loads, local_stores }
    }
}

/// The first operations of a kind on each way to a value, through what loops carry.
fn nearest(ir: &Ir, value: Value, kind: OpKind) -> BTreeSet<Op> {
    let (mut found, mut seen, mut args) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut queue = vec![value];
    while let Some(value) = queue.pop() {
        match ir.def(value) {
            ValueDef::Arg { block, index } => {
                let end = ir.terminator(block).filter(|&end| ir.is(end, ScfOp::Yield));
                let is_loop = ir.block_op(block).is_some_and(|op| ir.is(op, ScfOp::For));
                let at = if is_loop { (index as usize).checked_sub(1) } else { Some(index as usize) };
                let yielded = end.zip(at).and_then(|(end, at)| ir.operands(end).get(at).copied());
                queue.extend(yielded.filter(|_| args.insert(value)));
            }
            ValueDef::Result { op, .. } => {
                if !seen.insert(op) {
                    continue;
                }
                if ir.kind(op) == kind {
                    found.insert(op);
                } else {
                    queue.extend(ir.operands(op));
                }
            }
        }
    }
    found
}

/// Whether a loop has the form of a persistent product: a branch on an equality, the product, and another one.
fn is_persistent(ir: &Ir, body: Block) -> bool {
    let (mut branch, mut product) = (false, false);
    for op in ir.ops(body) {
        if let Some(found) = scf::If::of(ir, op) {
            let equal =
                Cmpi::defining(ir, found.condition(ir)).is_some_and(|c| c.predicate(ir) == Some(CmpiPredicate::Eq));
            if branch || !equal {
                return false;
            }
            branch = true;
        } else if ir.is(op, TtOp::Dot) {
            if product || !branch {
                return false;
            }
            (product, branch) = (true, false);
        }
    }
    branch && product
}

/// How many of these operations an iteration runs; with `skips`, branches are not taken.
fn weight(ir: &Ir, looped: Op, ops: &[Op], skips: bool) -> usize {
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for &op in ops {
        let Some(parent) = ir.parent_op(op) else { continue };
        if parent == looped {
            count += 1;
        } else if seen.insert(parent) {
            let of = |index: usize| {
                let inside = ir.regions_of(parent).get(index).and_then(|&r| ir.entry(r));
                inside.map_or(0, |block| ir.ops(block).filter(|&o| ir.kind(o) == ir.kind(op)).count())
            };
            count += match ir.is(parent, ScfOp::If) {
                false => 1,
                true if skips => of(1),
                true => of(0).max(of(1)),
            };
        }
    }
    count
}
