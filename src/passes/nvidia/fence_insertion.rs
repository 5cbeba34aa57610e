//! `triton-nvidia-gpu-fence-insertion`: orders stores to shared memory before the tensor cores read it.
//!
//! Threads store through the *generic proxy*, `wgmma` reads through the *asynchronous* one; without a fence between
//! them (PTX ISA, "Async proxy") it may read what was there before. From sm_90 on:
//! 1. For each matrix product with an operand in shared memory, find the operations of threads that wrote there: a
//!    `ttg.local_alloc` with a source, a `ttg.local_store` or a `ttg.async_copy_global_to_local` to a view of the
//!    buffer. The search goes from a view to what it is made of, and through the arguments of loops to their start
//!    values and what they yield; an argument of anything else counts as a store by it.
//! 2. If there are any, a `ttng.fence_async_shared` goes in front of the product, and out of every loop that none of
//!    the stores is in.
//! 3. Two fences after each other are one.
//!
//! ```text
//! %s = ttg.local_alloc %x                        %s = ttg.local_alloc %x
//! scf.for … {                               →    ttng.fence_async_shared {bCluster = false}
//!   ttng.warp_group_dot %s, %b, %c               scf.for … { ttng.warp_group_dot %s, %b, %c }
//! }
//! ```

use std::collections::BTreeSet;

use crate::analysis::shared_alias::viewed;
use crate::ir::core::{Builder, Ir, Op, Value, ValueDef};
use crate::ir::dialects::classes::multiplied;
use crate::ir::dialects::ttng::ttng::FenceAsyncShared;
use crate::ir::dialects::{ScfOp, Traits, TtgOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, target};

pub static PASS: Pass = Pass {
    name: "triton-nvidia-gpu-fence-insertion",
    doc: "order stores to shared memory before tensor cores read it",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    if !target(ir, cx)?.has_async_proxy() {
        return Ok(Changed::No);
    }
    let products: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.kind(op).is_product()).collect();
    let mut changed = false;
    for op in products {
        changed |= fence(ir, op);
    }
    Ok(Changed::from(changed))
}

/// Steps 2 and 3.
fn fence(ir: &mut Ir, op: Op) -> bool {
    let mut search = Search::default();
    multiplied(ir, op).into_iter().flatten().for_each(|operand| search.visit(ir, operand));
    if search.stores.is_empty() {
        return false;
    }
    let mut before = op;
    while let Some(around) = ir.parent_op(before).filter(|&o| ir.kind(o).has(Traits::LOOP)) {
        if search.stores.iter().any(|&store| store == around || ir.is_ancestor(around, store)) {
            break;
        }
        before = around;
    }
    let fence = ir.prev_op(before).and_then(|o| FenceAsyncShared::of(ir, o));
    if fence.is_some_and(|fence| !fence.bCluster(ir)) {
        return false;
    }
    let loc = ir.loc(op);
    let state = FenceAsyncShared::state(loc).with(FenceAsyncShared::ATTR.bCluster, false);
    Builder::before(ir, before).insert(state);
    true
}

/// Step 1.
#[derive(Default)]
struct Search {
    visited: BTreeSet<Value>,
    stores: BTreeSet<Op>,
}

impl Search {
    fn visit(&mut self, ir: &Ir, value: Value) {
        if ir.ty(value).as_memdesc().is_none() || !self.visited.insert(value) {
            return;
        }
        match ir.def(value) {
            ValueDef::Result { op, .. } => self.operation(ir, op, value),
            ValueDef::Arg { block, index } => self.argument(ir, ir.block_op(block), index as usize),
        }
    }

    fn operation(&mut self, ir: &Ir, op: Op, value: Value) {
        if ir.is(op, TtgOp::LocalAlloc) {
            if !ir.operands(op).is_empty() {
                self.stores.insert(op);
            }
            self.stores_to(ir, value);
        }
        if ir.is(op, ScfOp::For) || ir.is(op, ScfOp::If) || ir.is(op, ScfOp::While) {
            let index = ir.results(op).iter().position(|&r| r == value).unwrap_or(0);
            for &region in ir.regions_of(op) {
                let end = ir.entry(region).and_then(|b| ir.terminator(b)).filter(|&end| ir.is(end, ScfOp::Yield));
                if let Some(&yielded) = end.and_then(|end| ir.operands(end).get(index)) {
                    self.visit(ir, yielded);
                }
            }
        }
        for &operand in ir.operands(op) {
            self.visit(ir, operand);
        }
    }

    /// Stores to views of a buffer. Views that have other uses beside are left to
    /// `triton-nvidia-gpu-proxy-fence-insertion`, which knows where memory lies.
    fn stores_to(&mut self, ir: &Ir, buffer: Value) {
        for mut user in ir.users(buffer) {
            while viewed(ir, user).is_some() && ir.has_one_use(ir.result(user)) {
                user = ir.uses(ir.result(user))[0].op;
            }
            if ir.is(user, TtgOp::LocalStore) || ir.is(user, TtgOp::AsyncCopyGlobalToLocal) {
                self.stores.insert(user);
            }
        }
    }

    fn argument(&mut self, ir: &Ir, owner: Option<Op>, index: usize) {
        let Some(owner) = owner else { return };
        // A loop's first argument is its induction variable; its operands before the start values are its bounds.
        let (true, Some(carried)) = (ir.is(owner, ScfOp::For), index.checked_sub(1)) else {
            self.stores.insert(owner);
            return;
        };
        if let Some(&start) = ir.operands(owner).get(carried + 3) {
            self.visit(ir, start);
        }
        let end = ir.body(owner, 0).and_then(|b| ir.terminator(b));
        if let Some(&next) = end.and_then(|end| ir.operands(end).get(carried)) {
            self.visit(ir, next);
        }
    }
}
