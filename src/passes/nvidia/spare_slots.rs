//! `ttc-spare-slots`: a ring of buffers gets one slot more where a barrier in each iteration is saved by it.
//!
//! A `wgmma` runs on while its loop goes on, and is waited for in the next iteration. Behind that wait, copies fill the
//! slot that it has read. But a warp knows of its own product only, so all warps meet first:
//!
//! ```text
//! ttg.async_wait                  iteration j: what it reads is there
//! ttg.barrier local               … for all warps
//! ttng.warp_group_dot_wait        the product of j - 1 is done
//! ttng.warp_group_dot             reads slot j of 3
//! ttg.barrier local               … for all warps
//! ttg.async_copy_global_to_local  into slot j + 2, which is slot j - 1
//! ```
//!
//! With four slots the copy fills that of iteration j - 2, whose product every warp had waited for at the first
//! barrier. So the second one is not needed, and warps drift apart by up to an iteration.
//!
//! # Algorithm
//!
//! Of each `scf.for`:
//!
//! 1. A ring is taken if an asynchronous copy of the loop fills its slots, a product of at least [`ROWS`] rows that is
//!    still under way at the end of the body reads one, and that is the slot which the next iteration fills ([`Slot`]).
//!    All other users of the ring must be views in front of the loop, of constant slots, or in its body, by counters of
//!    the loop. A loop with [`NARROW`] copies of less than 16 bytes a thread stays: they go through the L1 cache, which
//!    has what shared memory leaves.
//! 2. The ring gets one slot more, and its views in the loop get counters of their own. What the loop's other rings
//!    count stays.
//! 3. This is kept if [`Membar`] asks for fewer barriers in the loop then, and as many blocks share a multiprocessor
//!    ([`at_once`]), whose threads have the results of the loop's products.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::membar::Membar;
use crate::analysis::prepared::Prepared;
use crate::analysis::register_use::of_type as registers;
use crate::analysis::slots::{Ring, Slot};
use crate::ir::core::{Builder, Ir, MemDesc, Op, Type, TypeData, Value};
use crate::ir::dialects::ttg::ttg::{AsyncCopyGlobalToLocal, LocalAlloc, MemDescIndex};
use crate::ir::dialects::ttng::ttng::{WarpGroupDot, WarpGroupDotWait};
use crate::ir::dialects::{ScfOp, TtgOp};
use crate::ir::rewrite::fold::const_of;
use crate::layout;
use crate::layout::plan::Among;
use crate::passes::common::carry::carry;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::blocks::at_once;
use crate::passes::nvidia::pipeline::count_on;
use crate::passes::ttg::allocate_shared_memory::{self, CAPABILITY};
use crate::passes::ttg::module_attrs;
use crate::target::Target;

pub static PASS: Pass = Pass {
    name: "ttc-spare-slots",
    doc: "give rings of buffers a further slot where that saves a barrier in each iteration",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

/// The rows of two groups of warps, or of two instructions of one. On an H200, attention ran at 1.005 to 1.05 of its
/// speed by a spare slot, and with 64 rows at 0.97, 1.00 and 1.01.
const ROWS: i64 = 128;

/// The narrow copies of a thread from which on a slot costs more than it gives. On an H200, a convolution with 32 of
/// 4 bytes ran at 0.87 of its speed, and a product with 16 at 1.09.
const NARROW: usize = 32;
/// Bytes of a copy that does not go through the L1 cache.
const WIDE: u32 = 16;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    if module_attrs::threads(ir).is_none_or(|t| t.num_ctas != 1) {
        return Ok(Changed::No);
    }
    let target = allocate_shared_memory::target(ir, cx)?;
    let loops: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    let mut changed = false;
    for looped in loops {
        let rings = rings(ir, looped);
        if rings.is_empty() {
            continue;
        }
        let now = cx.prepared(ir, &target)?;
        let mut trial = ir.clone();
        rings.iter().for_each(|&ring| widen(&mut trial, looped, ring));
        match Prepared::new(&trial, &target) {
            Ok(then) if gains(ir, &trial, looped, (&now, &then), &target) => {
                *ir = trial;
                cx.keep(then);
                changed = true;
            }
            _ => cx.keep(now),
        }
    }
    Ok(Changed::from(changed))
}

/// Step 3.
fn gains(ir: &Ir, trial: &Ir, looped: Op, (now, then): (&Prepared, &Prepared), target: &Target) -> bool {
    let (Some(before), Some(after)) = (blocks(ir, looped, now, target), blocks(trial, looped, then, target)) else {
        return false;
    };
    before <= after && barriers(trial, looped, then) < barriers(ir, looped, now)
}

/// How many blocks share a multiprocessor, at the most.
fn blocks(ir: &Ir, looped: Op, prepared: &Prepared, target: &Target) -> Option<u32> {
    let products = ir.body(looped, 0).map_or(vec![], |body| ir.op_list(body));
    let held: u32 = products.iter().filter_map(|&op| WarpGroupDot::of(ir, op)).map(|p| registers(ir.ty(p.d(ir)))).sum();
    at_once(ir, prepared, held, target)
}

/// The barriers that a loop needs.
fn barriers(ir: &Ir, looped: Op, prepared: &Prepared) -> usize {
    let one_warp = module_attrs::threads(ir).is_some_and(|t| t.num_warps == 1);
    let around = prepared.functions.iter().find(|(func, _)| ir.is_ancestor(**func, looped));
    let all =
        around.map_or(vec![], |(&func, f)| Membar::new(ir, func, &f.allocation, one_warp, Among::Block).barriers());
    all.into_iter().filter(|&op| ir.is_ancestor(looped, op)).count()
}

/// Step 1.
fn rings(ir: &Ir, looped: Op) -> BTreeSet<Value> {
    let ops = ir.body(looped, 0).map_or(vec![], |body| ir.op_list(body));
    let slot = |value: Value| Slot::of(ir, value).filter(|slot| slot.looped == looped);
    let copies = || ops.iter().filter_map(|&op| AsyncCopyGlobalToLocal::of(ir, op));
    if copies().map(|copy| narrow_copies(ir, copy)).sum::<usize>() >= NARROW {
        return BTreeSet::new();
    }
    let filled: Vec<Slot> = copies().filter_map(|copy| slot(copy.result(ir))).collect();
    if filled.is_empty() {
        return BTreeSet::new();
    }
    let open = under_way(ir, &ops).into_iter().filter(|p| ir.ty(p.d(ir)).shape()[0] >= ROWS);
    let read: Vec<Slot> = open.flat_map(|p| [p.a(ir), p.b(ir)]).filter_map(slot).collect();
    let meets = |fill: &&Slot| read.iter().any(|r| r.buffer == fill.buffer && r.from_next_iteration() == **fill);
    filled.iter().filter(meets).map(|s| s.buffer).filter(|&ring| counts_alone(ir, looped, ring)).collect()
}

/// How many copies of less than [`WIDE`] bytes a thread makes.
fn narrow_copies(ir: &Ir, copy: AsyncCopyGlobalToLocal) -> usize {
    let elements = layout::elems_per_thread(ir.ty(copy.src(ir)));
    let wide = copy.contiguity(ir).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
    let bits = ir.ty(copy.result(ir)).elem().bit_width().unwrap_or(WIDE * 8);
    if wide * bits < WIDE * 8 { elements / wide as usize } else { 0 }
}

/// The asynchronous products that a body does not wait for.
fn under_way(ir: &Ir, ops: &[Op]) -> Vec<WarpGroupDot> {
    let mut open = vec![];
    for &op in ops {
        if let Some(product) = WarpGroupDot::of(ir, op) {
            if product.isAsync(ir) {
                open.push(product);
            } else {
                open.clear();
            }
        } else if let Some(wait) = WarpGroupDotWait::of(ir, op) {
            let left = wait.pendings(ir).and_then(|left| usize::try_from(left).ok()).unwrap_or(open.len());
            open.drain(..open.len().saturating_sub(left));
        }
    }
    open
}

/// Whether a ring is indexed by constants in front of a loop, and by counters of the loop in it, and nowhere else.
fn counts_alone(ir: &Ir, looped: Op, ring: Value) -> bool {
    let is_ours = |user: Op| {
        if ir.is(user, TtgOp::LocalDealloc) {
            return true;
        }
        let Some(view) = MemDescIndex::of(ir, user) else { return false };
        let in_front = ir.parent_block(user) == ir.parent_block(looped) && ir.is_before(user, looped);
        if in_front {
            return const_of(ir, view.index(ir)).is_some();
        }
        ir.parent_op(user) == Some(looped) && Ring::of(ir, view.index(ir)).is_some_and(|ring| ring.looped == looped)
    };
    ir.def_op(ring).is_some_and(|op| LocalAlloc::of(ir, op).is_some()) && ir.users(ring).into_iter().all(is_ours)
}

/// Step 2.
fn widen(ir: &mut Ir, looped: Op, ring: Value) {
    let (Some(desc), Some(body)) = (ir.ty(ring).as_memdesc().cloned(), ir.body(looped, 0)) else { return };
    let more = |shape: &[i64]| [&[shape[0] + 1], &shape[1..]].concat();
    let (shape, alloc_shape) = (more(&desc.shape), more(&desc.alloc_shape));
    let slots = shape[0];
    ir.set_type(ring, Type::new(TypeData::MemDesc(MemDesc { shape, alloc_shape, ..desc })));
    let mut counters: BTreeMap<usize, Value> = BTreeMap::new();
    let views = ir.users(ring).into_iter().filter(|&user| ir.parent_op(user) == Some(looped));
    for view in views.filter_map(|op| MemDescIndex::of(ir, op)).collect::<Vec<_>>() {
        let old = view.index(ir);
        let (Some(known), Some(counted)) = (Ring::of(ir, old), ir.def_op(old)) else { continue };
        let next = *counters.entry(known.at).or_insert_with(|| {
            let mut b = Builder::before(ir, looped);
            let (start, zero, one, size) = (b.i32(known.start), b.i32(0), b.i32(1), b.i32(slots));
            let counter = carry(ir, looped, body, start);
            let next = count_on(&mut Builder::before(ir, counted), counter, [zero, one, size]);
            let at = ir.args(body).iter().position(|&arg| arg == counter).map_or(0, |at| at - 1);
            if let Some(end) = ir.terminator(body) {
                ir.set_operand(end, at, next);
            }
            next
        });
        ir.set_operand(view.0, MemDescIndex::SLOT.index.index(ir, view.0), next);
    }
}
