//! `ttc-keep-operands`: the first operand of a `wgmma` in a loop, if it is the same in each iteration, is kept in
//! registers.
//!
//! `wgmma` reads its second operand from shared memory, and its first one from there or from registers. An instruction
//! of `m64nNk16` takes N / 2 cycles of the tensor cores, in which shared memory delivers 64 N bytes. The operands have
//! 2048 + 32 N bytes together. So with N = 64 shared memory is as busy as the tensor cores, and copies and the other
//! products of the loop wait for it; without the first operand it is busy for half of the time. And the buffer of the
//! operand is free for others once it is in registers. What attention gains and loses by it is in docs/performance.md.
//!
//! # Algorithm
//!
//! For each `ttg.local_alloc` that stores a tensor of 16-bit elements, and that only products of `wgmma` read as their
//! first operand, in loops that it is in front of, or waits for them:
//!
//! 1. There is one group of warps. Attention on two groups lost up to 18 %. And threads copy what the loop loads: where
//!    hardware does, nothing is gained, and attention lost 3 to 28 %.
//! 2. As many blocks as before must share a multiprocessor. A thread is taken to have the results of the loop's
//!    products, their first operands that are in registers, the pointers and numbers of 64 bits that the loop carries
//!    or gets, and [`FEWEST_OTHERS`] registers before or [`MOST_OTHERS`] registers afterwards. A block has the buffers
//!    of the function, and afterwards all but this one.
//! 3. Then the operand is loaded right behind the buffer, and the products read what was loaded.

use std::collections::BTreeSet;

use crate::analysis::allocation::buffer_bytes;
use crate::analysis::chained_products::WARP_GROUP;
use crate::analysis::register_use::of_type as registers;
use crate::ir::core::{Attr, Builder, Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::ttg::ttg::{LocalAlloc, LocalLoad};
use crate::ir::dialects::ttng::ttng::WarpGroupDot;
use crate::ir::dialects::{ArithOp, ScfOp, TtOp, TtngOp};
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::blocks;
use crate::passes::ttg::module_attrs;
use crate::target::{Target, Usage};

pub static PASS: Pass = Pass {
    name: "ttc-keep-operands",
    doc: "keep first operands of products that a loop does not change in registers",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Registers of a thread that are neither results nor operands of products, nor pointers: 32 to 61 in 18 attentions.
const FEWEST_OTHERS: u32 = 32;
const MOST_OTHERS: u32 = 50;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let (Some(target), Some(threads)) = (module_attrs::target(ir), module_attrs::threads(ir)) else {
        return Ok(Changed::No);
    };
    if threads.num_warps != WARP_GROUP || threads.num_ctas != 1 {
        return Ok(Changed::No);
    }
    let mut changed = false;
    for op in ir.all_ops(ir.module()) {
        if let Some(plan) = LocalAlloc::of(ir, op).and_then(|alloc| Plan::of(ir, alloc, &target)) {
            plan.apply(ir, op);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// What reads a buffer.
struct Plan {
    /// The type of the operand in registers.
    ty: Type,
    /// The products and the waits for them, with the number of the operand that is the buffer.
    readers: Vec<(Op, usize)>,
}

impl Plan {
    fn of(ir: &Ir, alloc: LocalAlloc, target: &Target) -> Option<Plan> {
        let (stored, buffer) = (ir.ty(alloc.src(ir)?), ir.result(alloc.0));
        if stored.elem().bit_width() != Some(16) || stored.shape().len() != 2 {
            return None;
        }
        let readers: Vec<(Op, usize)> = ir.uses(buffer).iter().map(|u| (u.op, u.index as usize)).collect();
        let (mut tys, mut loops) = (BTreeSet::new(), BTreeSet::new());
        for &(op, index) in &readers {
            if let Some(product) = WarpGroupDot::of(ir, op) {
                let is_first = index == WarpGroupDot::SLOT.a.index(ir, op);
                loops.insert(ir.parent_op(op).filter(|&p| ir.is(p, ScfOp::For) && !ir.is_ancestor(p, alloc.0))?);
                tys.insert(in_registers(ir, product, stored).filter(|_| is_first)?);
            } else if !ir.is(op, TtngOp::WarpGroupDotWait) || !ir.uses(ir.results(op)[index]).is_empty() {
                return None;
            }
        }
        let mut tys = tys.into_iter();
        let (Some(ty), None) = (tys.next(), tys.next()) else { return None };
        let is_copied = |looped: Op| ir.all_ops(looped).iter().any(|&op| ir.is(op, TtngOp::AsyncTmaCopyGlobalToLocal));
        let fits = loops.into_iter().all(|looped| !is_copied(looped) && leaves_blocks(ir, looped, alloc, ty, target));
        fits.then_some(Plan { ty, readers })
    }

    fn apply(&self, ir: &mut Ir, alloc: Op) {
        let state = LocalLoad::state(ir.loc(alloc), ir.result(alloc), None);
        let value = Builder::after(ir, alloc).result(state, self.ty);
        for &(op, index) in &self.readers {
            ir.set_operand(op, index, value);
            if ir.is(op, TtngOp::WarpGroupDotWait) {
                ir.set_type(ir.results(op)[index], self.ty);
            }
        }
    }
}

/// The type of a product's first operand in registers.
fn in_registers(ir: &Ir, product: WarpGroupDot, stored: Type) -> Option<Type> {
    let parent = ir.ty(product.d(ir)).encoding()?;
    Some(stored.with_encoding(Some(Attr::encoding(Encoding::DotOp { op_idx: 0, parent, k_width: 2 }))))
}

/// Whether as many blocks share a multiprocessor when an operand of a loop's products is in registers.
fn leaves_blocks(ir: &Ir, looped: Op, alloc: LocalAlloc, operand: Type, target: &Target) -> bool {
    let bytes = |op: Op| buffer_bytes(ir.ty(ir.result(op))).unwrap_or(0);
    let (shared, held) = (blocks::shared(ir, looped), held(ir, looped) + addresses(ir, looped));
    let fit = |registers, shared| {
        let usage = Usage { warps: WARP_GROUP, registers, shared };
        target.multiprocessor().occupancy(&usage).blocks
    };
    let before = fit((held + FEWEST_OTHERS).min(Target::MAX_REGISTERS_PER_THREAD), shared);
    let after = held + registers(operand) + MOST_OTHERS;
    after <= Target::MAX_REGISTERS_PER_THREAD && fit(after, shared - bytes(alloc.0)) >= before
}

/// The registers of a thread that the products of a loop have already.
fn held(ir: &Ir, looped: Op) -> u32 {
    let Some(body) = ir.body(looped, 0) else { return 0 };
    let of_product = |product: WarpGroupDot| {
        let first = ir.ty(product.a(ir));
        registers(ir.ty(product.d(ir))) + if first.as_memdesc().is_some() { 0 } else { registers(first) }
    };
    ir.ops(body).filter_map(|op| WarpGroupDot::of(ir, op)).map(of_product).sum()
}

/// The registers of a thread that hold pointers, or numbers of 64 bits, which a loop carries or gets from outside.
fn addresses(ir: &Ir, looped: Op) -> u32 {
    let inside: Vec<Op> = ir.all_ops(looped).into_iter().filter(|&op| op != looped).collect();
    let within =
        |v: &Value| ir.value_block(*v).and_then(|b| ir.block_op(b)).is_some_and(|op| ir.is_ancestor(looped, op));
    let used = inside.iter().flat_map(|&op| ir.operands(op).to_vec()).filter(|v| !within(v));
    let carried = ir.body(looped, 0).map_or(vec![], |body| ir.args(body).to_vec());
    let all: BTreeSet<Value> = used.chain(carried).collect();
    // What is the same for all elements is one of them.
    let differ = |v: &Value| !ir.def_op(*v).is_some_and(|op| ir.is(op, TtOp::Splat) || ir.is(op, ArithOp::Constant));
    let is_wide = |ty: &Type| !ty.shape().is_empty() && (ty.elem().is_ptr() || ty.elem().bit_width() == Some(64));
    all.into_iter()
        .filter(differ)
        .map(|v| ir.ty(v))
        .filter(is_wide)
        .map(|ty| 2 * layout::elems_per_thread(ty) as u32)
        .sum()
}
