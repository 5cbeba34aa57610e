//! Third step of `tritongpu-fuse-nested-loops`: a nest of two loops is brought into the form that fuses well.
//!
//! # Algorithm
//!
//! 1. Invariant operations move out of the outer loop.
//! 2. Pure operations in front of the inner loop that only operations behind it use move behind it, so that their
//!    results need not be carried.
//! 3. If `llvm.intr.assume` says that the inner loop's upper bound is above the lower one, it runs. Otherwise its
//!    bounds move in front of the outer loop, and the whole nest into the second side of an `scf.if` that tests whether
//!    the inner loop is empty (`lower >= upper`). On the first side stands a copy of the outer loop without it. If the
//!    bounds cannot move, the nest stays.

use std::collections::BTreeSet;

use super::bounds::{bounds, is_unsigned, to_hoist};
use crate::ir::core::{Builder, Dominance, Ir, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::discardable::{MUST_EXECUTE, WARP_SPECIALIZE};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::{LlvmOp, ScfOp};
use crate::ir::effects::is_speculatable;
use crate::passes::tt::licm::move_out_of_loop;
use crate::passes::ttg::pipeline::schedule::ancestor_in;

/// Whether the nest may now be fused; `changed` is set if anything moved.
pub(super) fn prepare(ir: &mut Ir, outer: Op, inner: Op, changed: &mut bool) -> bool {
    *changed |= move_out_of_loop(ir, outer, false);
    *changed |= sink(ir, inner);
    let ready = assumed_to_run(ir, inner) || speculate(ir, outer, inner);
    if ready {
        ir.put(inner, MUST_EXECUTE, true);
        *changed = true;
    }
    ready
}

/// Step 2.
fn sink(ir: &mut Ir, inner: Op) -> bool {
    let Some(body) = ir.parent_block(inner) else { return false };
    let front: Vec<Op> = ir.ops(body).take_while(|&op| op != inner).collect();
    let mut sunk: BTreeSet<Op> = BTreeSet::new();
    for &op in front.iter().rev() {
        let behind = |user: Op| ancestor_in(ir, body, user).is_some_and(|u| ir.is_before(inner, u));
        let users_sink = ir.results(op).iter().flat_map(|&r| ir.uses(r)).all(|u| behind(u.op) || sunk.contains(&u.op));
        if users_sink && is_speculatable(ir, op) && !ir.kind(op).is_product() {
            sunk.insert(op);
        }
    }
    for &op in front.iter().rev().filter(|op| sunk.contains(op)) {
        ir.move_after(op, inner);
    }
    !sunk.is_empty()
}

/// Step 3, the assumption: `lower < upper` or `upper > lower`, where it holds for this loop.
fn assumed_to_run(ir: &Ir, inner: Op) -> bool {
    let [lower, upper, _] = bounds(ir, inner);
    let dominance = Dominance::new();
    let holds = |assume: Op| {
        ir.is(assume, LlvmOp::Assume)
            && (dominance.op_dominates(ir, assume, inner) || ir.parent_block(assume) == ir.parent_block(inner))
    };
    ir.users(upper).into_iter().filter_map(|op| arith::Cmpi::of(ir, op)).any(|compare| {
        let sides = (compare.lhs(ir), compare.rhs(ir));
        let unsigned = is_unsigned(ir, inner);
        let says = match compare.predicate(ir) {
            Some(CmpiPredicate::Slt) => !unsigned && sides == (lower, upper),
            Some(CmpiPredicate::Sgt) => !unsigned && sides == (upper, lower),
            Some(CmpiPredicate::Ult) => unsigned && sides == (lower, upper),
            Some(CmpiPredicate::Ugt) => unsigned && sides == (upper, lower),
            _ => false,
        };
        says && ir.users(compare.result(ir)).into_iter().any(holds)
    })
}

/// Step 3, the two versions.
fn speculate(ir: &mut Ir, outer: Op, inner: Op) -> bool {
    let Some(hoisted) = to_hoist(ir, outer, &bounds(ir, inner)) else { return false };
    for op in hoisted {
        ir.move_before(op, outer);
    }
    let inner_bounds = bounds(ir, inner);
    let not_below = if is_unsigned(ir, inner) { CmpiPredicate::Uge } else { CmpiPredicate::Sge };
    let types: Vec<Type> = ir.results(outer).iter().map(|&r| ir.ty(r)).collect();
    let mut b = Builder::before(ir, outer);
    b.loc = b.ir.loc(inner);
    let [lower, upper, _] = inner_bounds;
    let empty = b.cmpi(not_below, lower, upper);
    let state = scf::If::state(b.loc, empty).results(&types).regions(2);
    let branch = b.insert(state);
    let mut map = Mapping::default();
    let copy = ir.clone_op(outer, &mut map);
    let results: Vec<Value> = ir.results(branch).to_vec();
    for (&old, &new) in ir.results(outer).to_vec().iter().zip(&results) {
        ir.replace_all_uses(old, new);
    }
    ir.detach(outer);
    for (side, looped) in [copy, outer].into_iter().enumerate() {
        let region = ir.region(branch, side);
        let block = ir.add_block(region, &[]);
        ir.append(block, looped);
        let state = OpState::new(ScfOp::Yield, ir.loc(inner)).operands(ir.results(looped));
        let end = ir.create_op(state);
        ir.append(block, end);
    }
    remove_copied(ir, copy, ir.parent_block(inner).map(|b| ir.ops(b).take_while(|&o| o != inner).count()));
    ir.take(copy, WARP_SPECIALIZE);
    true
}

/// Drops the inner loop of a copied nest, the operation of this number in its body.
fn remove_copied(ir: &mut Ir, copy: Op, index: Option<usize>) {
    let inner = ir.body(copy, 0).zip(index).and_then(|(b, i)| ir.ops(b).nth(i));
    let inner = inner.expect("the copy has the operations of the original");
    let inits = scf::For(inner).init(ir).to_vec();
    ir.replace_op(inner, &inits);
}
