//! Barriers in shared memory (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier") and fences
//! of the asynchronous proxy.
//!
//! | operation | who | instruction |
//! |---|---|---|
//! | `ttng.init_barrier`, `ttng.inval_barrier` | thread 0 | `mbarrier.init`, `mbarrier.inval` |
//! | `ttng.barrier_expect` | all wait; then thread 0 | `mbarrier.arrive.expect_tx` |
//! | `ttng.arrive_barrier` | all wait; then thread 0 | `mbarrier.arrive` with a count, in each block that is meant |
//! | `ttng.wait_barrier` | every thread | a loop around `mbarrier.try_wait.parity` |
//!
//! In loops whose copies wait for no barrier of the block ([`crate::passes::nvidia::pipeline::refill`]):
//!
//! | operation | who | instruction |
//! |---|---|---|
//! | `ttng.arrive_barrier {ttc.each_warp}` | each warp waits for its own threads; then its lane 0 | `mbarrier.arrive` |
//! | `ttng.wait_barrier {ttc.first_warp}` | every thread of the first warp, so that its lanes stay together | as above |
//! | `ttng.barrier_expect {ttc.first_warp}` | thread 0 | `mbarrier.arrive.expect_tx` |
//!
//! Each block of a cluster has an mbarrier of its own, in its own memory. With `fromCTA` or `multicastCTA` a block also
//! arrives at those of others. Where blocks arrive at the mbarriers of others, arrivals and waits order what was done
//! in the cluster, not only in the block.
//!
//! "All wait" is what the membar analysis counts on (`shared_effects`): an arrival tells others that the whole block is
//! done.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::dialect::needs_tma;
use super::ptx_builder::{Arg, PtxAsm, Reg};
use crate::codegen::lower::{Lower, Res, Val};
use crate::ir::dialects::TtngOp;
use crate::ir::dialects::discardable::{EACH_WARP, FIRST_WARP};
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Op, Value};

/// The address of an mbarrier.
pub(crate) fn address<'c>(cx: &Lower<'c, '_>, op: Op, mbarrier: Value) -> Res<Val<'c>> {
    let ty = cx.ir.ty(mbarrier);
    let blocks = i64::from(cx.num_ctas);
    if ty.shape().last() != Some(&blocks) {
        let text = format!("`{ty}` is an mbarrier that blocks of the cluster share, which is not supported yet");
        return Err(cx.unsupported(op, &text));
    }
    let base = cx.view(mbarrier)?.base;
    Ok(cx.shared_address_bits(base)?.into())
}

/// Whether this is thread 0, and `pred` holds where it is given.
fn first_thread<'c>(cx: &Lower<'c, '_>, pred: Option<Value>) -> Res<IntValue<'c>> {
    let first = cx.b.build_int_compare(IntPredicate::EQ, cx.thread_id(), cx.i32(0), "")?;
    both(cx, first, pred)
}

/// `pred` too, where it is given.
fn both<'c>(cx: &Lower<'c, '_>, this: IntValue<'c>, pred: Option<Value>) -> Res<IntValue<'c>> {
    match pred {
        Some(pred) => Ok(cx.b.build_and(this, cx.int(pred)?, "")?),
        None => Ok(this),
    }
}

/// Whether this thread is of the first warp, and `pred` holds where it is given.
fn first_warp<'c>(cx: &Lower<'c, '_>, pred: Option<Value>) -> Res<IntValue<'c>> {
    let lanes = cx.i32(u64::from(cx.options.target.warp_size()));
    let first = cx.b.build_int_compare(IntPredicate::ULT, cx.thread_id(), lanes, "")?;
    both(cx, first, pred)
}

/// The blocks at whose mbarriers an operation arrives: those that differ from this one in `bits` of the number alone.
struct Route {
    bits: u32,
    /// Whether only the first of them arrives, or each.
    from_first: bool,
}

impl Route {
    /// `from_cta` says which bits of a block's number are kept in that of the block which arrives for it; those of
    /// `multicast_cta` may differ.
    fn new(cx: &Lower<'_, '_>, from_cta: Option<i64>, multicast_cta: Option<i64>) -> Route {
        let mask = |bits: i64| bits as u32 & (cx.num_ctas - 1);
        let from = from_cta.map_or(0, |kept| mask(!kept));
        if from != 0 {
            return Route { bits: from, from_first: true };
        }
        Route { bits: multicast_cta.map_or(0, mask), from_first: false }
    }

    /// Whether this thread arrives, which `speaks` for its block or warp: in a block that does.
    fn predicate<'c>(&self, cx: &mut Lower<'c, '_>, speaks: IntValue<'c>) -> Res<IntValue<'c>> {
        let first = if self.from_first { cx.owner_predicate(0, u64::from(self.bits))? } else { None };
        Ok(match first {
            Some(first) => cx.b.build_and(speaks, first, "")?,
            None => speaks,
        })
    }

    /// The places of the mbarrier at which this block arrives, and how the instruction names their memory.
    fn places<'c>(&self, cx: &mut Lower<'c, '_>, mbarrier: Value, own: Val<'c>) -> Res<(Vec<Val<'c>>, &'static str)> {
        if self.bits == 0 {
            return Ok((vec![own], ".shared::cta"));
        }
        let base = cx.view(mbarrier)?.base;
        let here = cx.block_in_cluster()?;
        let beside = cx.b.build_and(here, cx.i32(u64::from(!self.bits)), "")?;
        let mut places = vec![];
        for number in (0..=self.bits).filter(|number| number & !self.bits == 0) {
            let block = cx.b.build_or(beside, cx.i32(u64::from(number)), "")?;
            let there = cx.machine.in_block(cx, base, block)?;
            places.push(cx.shared_address_bits(there)?.into());
        }
        Ok((places, ".release.cluster.shared::cluster"))
    }
}

/// Whether some block arrives at the mbarriers of others, anywhere in the function of `op`.
fn arrives_in_other_blocks(cx: &Lower<'_, '_>, op: Op) -> bool {
    if cx.num_ctas == 1 {
        return false;
    }
    let ancestors = std::iter::successors(Some(op), |&o| cx.ir.parent_op(o));
    let func = ancestors.take_while(|&o| o != cx.ir.module()).last().unwrap_or(op);
    let arrives = |&op: &Op| cx.ir.is(op, TtngOp::ArriveBarrier) || cx.ir.is(op, TtngOp::BarrierExpect);
    let reaches = |op: Op| cx.ir.spec(op).reaches_blocks.is_some_and(|reaches| reaches(cx.ir, op));
    cx.ir.all_ops(func).into_iter().filter(arrives).any(reaches)
}

/// What an attribute counts, as an operand; 1 where it says nothing.
fn count<'c>(cx: &Lower<'c, '_>, stated: Option<i64>) -> Val<'c> {
    cx.i32(stated.and_then(|n| u64::try_from(n).ok()).unwrap_or(1)).into()
}

pub(super) fn init(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::InitBarrier(op);
    let at = address(cx, op, view.alloc(cx.ir))?;
    let pred = first_thread(cx, None)?;
    let arrivals = count(cx, view.count(cx.ir));
    one(cx, pred.into(), "mbarrier.init.shared::cta.b64", at, Some(arrivals))
}

pub(super) fn invalidate(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let at = address(cx, op, view::InvalBarrier(op).alloc(cx.ir))?;
    let pred = first_thread(cx, None)?;
    one(cx, pred.into(), "mbarrier.inval.shared::cta.b64", at, None)
}

/// One instruction on an mbarrier under a predicate.
fn one<'c>(cx: &mut Lower<'c, '_>, pred: Val<'c>, opcode: &str, at: Val<'c>, number: Option<Val<'c>>) -> Res<()> {
    let mut asm = PtxAsm::default();
    let pred = asm.input(Reg::Pred, pred);
    let mut args = vec![Arg::Address(asm.input(Reg::B32, at))];
    args.extend(number.map(|n| Arg::Reg(asm.input(Reg::B32, n))));
    asm.inst(Some(pred), opcode, args);
    asm.emit(cx, true)?;
    Ok(())
}

/// As [`one`], but an arrival, whose state is thrown away.
fn arrival<'c>(cx: &mut Lower<'c, '_>, pred: Val<'c>, opcode: &str, at: Val<'c>, number: Val<'c>) -> Res<()> {
    let mut asm = PtxAsm::default();
    let pred = asm.input(Reg::Pred, pred);
    let args = vec![Arg::Text("_"), Arg::Address(asm.input(Reg::B32, at)), Arg::Reg(asm.input(Reg::B32, number))];
    asm.inst(Some(pred), opcode, args);
    asm.emit(cx, true)?;
    Ok(())
}

pub(super) fn expect(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    needs_tma(cx, op)?;
    let view = view::BarrierExpect(op);
    let at = address(cx, op, view.alloc(cx.ir))?;
    if !cx.ir.stores(op, FIRST_WARP) {
        cx.barrier()?;
    }
    let route = Route::new(cx, view.fromCTA(cx.ir), None);
    let first = first_thread(cx, Some(view.pred(cx.ir)))?;
    let pred = route.predicate(cx, first)?;
    let bytes = count(cx, view.size(cx.ir));
    let (places, space) = route.places(cx, view.alloc(cx.ir), at)?;
    let opcode = format!("mbarrier.arrive.expect_tx{space}.b64");
    places.into_iter().try_for_each(|at| arrival(cx, pred.into(), &opcode, at, bytes))
}

pub(super) fn arrive(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    // sm_90 is the first whose arrivals need not return a state.
    needs_tma(cx, op)?;
    let view = view::ArriveBarrier(op);
    let at = address(cx, op, view.alloc(cx.ir))?;
    let speaks = if cx.ir.stores(op, EACH_WARP) {
        // What the other lanes read comes before the arrival, too.
        cx.warp_barrier()?;
        let lane = cx.lane_id()?;
        let first = cx.b.build_int_compare(IntPredicate::EQ, lane, cx.i32(0), "")?;
        both(cx, first, view.pred(cx.ir))?
    } else {
        cx.barrier()?;
        first_thread(cx, view.pred(cx.ir))?
    };
    let route = Route::new(cx, view.fromCTA(cx.ir), view.multicastCTA(cx.ir));
    let pred = route.predicate(cx, speaks)?;
    let arrivals = count(cx, view.count(cx.ir));
    let (places, space) = route.places(cx, view.alloc(cx.ir), at)?;
    let opcode = format!("mbarrier.arrive{space}.b64");
    places.into_iter().try_for_each(|at| arrival(cx, pred.into(), &opcode, at, arrivals))
}

/// Every thread that waits does so for itself, so what the phase's arrivals released is visible to it.
pub(super) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::WaitBarrier(op);
    let (at, phase) = (address(cx, op, view.alloc(cx.ir))?, cx.scalar(view.phase(cx.ir))?);
    // Only sm_90 can suspend the thread until the phase ends.
    let test = if cx.options.target.has_mbarrier_try_wait() { "try_wait" } else { "test_wait" };
    let scope = if arrives_in_other_blocks(cx, op) { ".acquire.cluster" } else { "" };
    let instruction = format!("mbarrier.{test}.parity{scope}.shared::cta.b64 done, [$0], $1;");
    let mut args = vec![at, phase];
    let mut constraints = "r,r".to_owned();
    let pred = match view.pred(cx.ir) {
        pred if cx.ir.stores(op, FIRST_WARP) => Some(first_warp(cx, pred)?.into()),
        Some(pred) => Some(cx.scalar(pred)?),
        None => None,
    };
    let skip = match pred {
        Some(pred) => {
            args.push(pred);
            constraints.push_str(",b");
            "@!$2 bra.uni after;\n\t"
        }
        None => "",
    };
    let asm =
        format!("{{\n\t.reg .pred done;\n\t{skip}again:\n\t{instruction}\n\t@!done bra.uni again;\n\tafter:\n\t}}");
    constraints.push_str(",~{memory}");
    cx.inline_asm(&asm, &constraints, &[], &args, true)?;
    Ok(())
}

/// `ttng.fence_mbarrier_init_release_cluster`: other blocks may use the mbarriers that this one has made (PTX ISA,
/// "membar/fence").
pub(super) fn init_fence(cx: &mut Lower<'_, '_>) -> Res<()> {
    cx.inline_asm("fence.mbarrier_init.release.cluster;", "~{memory}", &[], &[], true)?;
    Ok(())
}

/// `ttng.fence_async_shared`
pub(super) fn fence(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    needs_tma(cx, op)?;
    let asm = if view::FenceAsyncShared(op).bCluster(cx.ir) {
        "fence.proxy.async.shared::cluster;"
    } else {
        "fence.proxy.async.shared::cta;"
    };
    cx.inline_asm(asm, "~{memory}", &[], &[], true)?;
    Ok(())
}
