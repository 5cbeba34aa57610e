//! Loads through descriptors that run ahead: copies by hardware into slots of a buffer, with mbarriers that rotate like
//! the slots.
//!
//! # Algorithm
//!
//! 1. Loads that stand in one stage and cluster, with as many slots, and none of which is used before the last of them,
//!    share an mbarrier for each slot: it is told the bytes of all of them.
//! 2. The mbarriers are made in front of the loop and end behind it. In the body, the slot's mbarrier is told to expect
//!    the bytes in front of the first load of a group; behind the last one, in the stage of the first user, every
//!    thread waits for the phase in which the slot is.
//! 3. A load becomes the copy into its slot. Users read the slot behind the wait.
//!
//! A phase lasts as long as it takes to go through all slots once, so the bit that tells it from the next one flips
//! when the counter of the slots that are read starts over.

use super::lower_loads::{AsyncLoad, Group, Staged, first_user, read_slot, stays_in_memory};
use crate::ir::core::{Attr, Block, Builder, InsertPoint, Ir, Loc, Op, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{TtgOp, TtngOp};
use crate::layout::encodings::tma_bytes;
use crate::passes::nvidia::tma_lowering;
use crate::passes::ttg::pipeline::schedule::{Schedule, ancestor_in};
use crate::passes::ttg::{buffers, module_attrs};

/// What a load of a group signals, and where its users wait.
#[derive(Clone, Copy)]
pub(super) struct Signal {
    barrier: Value,
    wait: Op,
}

/// Step 1: the loads of each group, as numbers of the plan.
pub(super) fn groups(ir: &Ir, plan: &[AsyncLoad], schedule: &Schedule) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    let grouped = |groups: &[Vec<usize>], i: usize| groups.iter().any(|g| g.contains(&i));
    for first in 0..plan.len() {
        if !plan[first].is_tma || grouped(&groups, first) {
            continue;
        }
        let mut group = vec![first];
        let mut users = users_of(ir, plan[first].op);
        let mut next = ir.next_op(plan[first].op);
        while let Some(op) = next {
            let number = plan.iter().position(|l| l.is_tma && l.op == op);
            if users.contains(&op) || number.is_some_and(|n| grouped(&groups, n)) {
                break;
            }
            if let Some(n) = number {
                if plan[n].slots != plan[first].slots {
                    break;
                }
                if schedule.get(op) == schedule.get(plan[first].op) {
                    group.push(n);
                    users.extend(users_of(ir, op));
                }
            }
            next = ir.next_op(op);
        }
        groups.push(group);
    }
    groups
}

/// The operations of a load's block that use it. An allocation that only holds it goes, and its users count.
fn users_of(ir: &Ir, load: Op) -> Vec<Op> {
    let home = ir.parent_block(load);
    let alloc = stays_in_memory(ir, load).filter(|&a| ir.parent_block(a) == home);
    let direct = ir.users(ir.result(alloc.unwrap_or(load)));
    direct.into_iter().filter_map(|u| home.and_then(|block| ancestor_in(ir, block, u))).collect()
}

/// Step 2 for one group. The loads themselves are still there.
pub(super) fn signal(
    ir: &mut Ir,
    looped: Op,
    body: Block,
    schedule: &mut Schedule,
    loads: &[&AsyncLoad],
    group: &Group,
) -> Option<Signal> {
    let (first, last) = (loads.first()?.op, loads.last()?.op);
    let phase = group.phase?;
    let bytes: u32 = loads.iter().filter_map(|l| tma_bytes(l.slot_type(ir)).ok()).sum();
    let barriers = allocate(ir, looped, group.slots);
    let place = schedule.get(first)?;
    let mut b = Staged { ir, schedule, place, at: InsertPoint::Before(first) };
    let loc = b.ir.loc(looped);
    let barrier = b.slot(barriers, group.insert);
    let always = always(&mut b, loc);
    let expect = ttng::BarrierExpect::state(loc, barrier, always);
    b.effect(expect.with(ttng::BarrierExpect::ATTR.size, i64::from(bytes)));
    let all: Vec<Op> = loads.iter().map(|l| l.op).collect();
    let user = first_user(b.ir, body, b.schedule, &all)?;
    b.place = b.schedule.get(user)?;
    b.at = InsertPoint::After(last);
    let read = b.slot(barriers, group.extract);
    let wait = b.effect(ttng::WaitBarrier::state(loc, read, phase, None, &[]));
    Some(Signal { barrier, wait })
}

/// The constant `true`.
fn always(b: &mut Staged<'_>, loc: Loc) -> Value {
    b.insert(arith::Constant::state(loc).with(arith::Constant::ATTR.value, Attr::bool(true)), Type::int(1))
}

/// As many mbarriers as slots, ready in front of the loop.
fn allocate(ir: &mut Ir, looped: Op, slots: u32) -> Value {
    let num_ctas = module_attrs::threads(ir).map_or(1, |t| t.num_ctas);
    let ty = buffers::mbarriers(Some(slots), num_ctas);
    let mut b = Builder::before(ir, looped);
    let barriers = b.value(TtgOp::LocalAlloc, &[], ty);
    for i in 0..slots {
        let number = b.i32(i64::from(i));
        let one = b.value(TtgOp::MemDescIndex, &[barriers, number], buffers::slot_of(ty));
        let state = ttng::InitBarrier::state(b.loc, one).with(ttng::InitBarrier::ATTR.count, 1);
        b.insert(state);
    }
    let mut b = Builder::after(ir, looped);
    for i in 0..slots {
        let number = b.i32(i64::from(i));
        let one = b.value(TtgOp::MemDescIndex, &[barriers, number], buffers::slot_of(ty));
        b.op(TtngOp::InvalBarrier, &[one], &[]);
    }
    b.op(TtgOp::LocalDealloc, &[barriers], &[]);
    barriers
}

/// Step 3.
pub(super) fn start_ahead(
    ir: &mut Ir,
    body: Block,
    schedule: &mut Schedule,
    load: &AsyncLoad,
    buffer: Value,
    group: &Group,
    signal: Signal,
) {
    let op = load.op;
    let (Some(place), Some(user)) = (schedule.get(op), first_user(ir, body, schedule, &[op])) else { return };
    let user_place = schedule.get(user).unwrap_or(place);
    let (loc, result) = (ir.loc(op), ir.result(op));
    let mut b = Staged { ir, schedule, place, at: InsertPoint::Before(op) };
    let slot = b.slot(buffer, group.insert);
    let always = always(&mut b, loc);
    let copies = tma_lowering::copy_in(&mut Builder::before(b.ir, op), op, signal.barrier, slot, always);
    for copy in copies {
        b.schedule.insert(copy, place.0, place.1);
    }
    b.at = InsertPoint::After(signal.wait);
    b.place = user_place;
    let read = b.slot(buffer, group.extract);
    read_slot(&mut b, result, read, None);
    schedule.remove(op);
    ir.erase_op(op);
}
