//! First step of `tritongpu-pipeline`: scheduled loads become asynchronous copies into buffers that rotate.
//!
//! # Algorithm
//!
//! 1. A load whose first user runs `d` stages later, and whose parts are wide enough, gets a buffer with `d` slots in
//!    front of the loop; one more where a `wgmma` that is still under way reads it, or where the user stands in a later
//!    cluster than the load.
//! 2. Loads with equally many slots share two counters, carried by the loop: the slot to fill and the slot to read.
//!    They count alike but live in different stages, so that neither has to be kept from one stage to another.
//! 3. The load becomes a copy into its slot and the end of a group, in its stage, and a wait and a read of the slot in
//!    the stage of the first user. An allocation that held the loaded tensor becomes a view of the slot.
//! 4. Everything new finds its stage through what needs it. Behind the loop all copies are waited for.

use std::collections::BTreeSet;

use super::{lower_descriptors, lower_tma};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Block, Builder, InsertPoint, Ir, Op, OpState, Type, TypeData, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, TtOp, TtgOp, TtngOp};
use crate::ir::rewrite::fold::has_no_bits;
use crate::layout;
use crate::passes::common::carry::carry;
use crate::passes::manager::PassCx;
use crate::passes::nvidia::tensor_descriptors;
use crate::passes::ttg::buffers;
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::pipeline::loads;
use crate::passes::ttg::pipeline::schedule::{Cluster, Schedule, ancestor_in, body_ops};

/// A load that becomes asynchronous.
pub(super) struct AsyncLoad {
    pub(super) op: Op,
    pub(super) slots: u32,
    contiguity: u32,
    encoding: Attr,
    /// Through a descriptor, by hardware ([`lower_tma`]).
    pub(super) is_tma: bool,
}

impl AsyncLoad {
    /// The type of one slot of its buffer.
    pub(super) fn slot_type(&self, ir: &Ir) -> Type {
        let tensor = ir.ty(ir.result(self.op));
        buffers::shared(tensor.shape(), tensor.elem(), self.encoding, true)
    }
}

/// The counters of the loads with this many slots.
pub(super) struct Group {
    pub(super) slots: u32,
    pub(super) insert: Value,
    pub(super) extract: Value,
    /// Which of two phases the mbarrier of the slot to read is in, where a load signals one.
    pub(super) phase: Option<Value>,
}

/// Rewrites the loads of one loop; the schedule on the loop's operations is brought up to date.
pub(super) fn lower(ir: &mut Ir, cx: &mut PassCx, axis: &AxisInfoAnalysis, looped: Op) {
    let Some(mut schedule) = Schedule::read(ir, looped) else { return };
    let Some(body) = ir.body(looped, 0) else { return };
    let mut plan = decide(ir, cx, axis, body, &schedule);
    for load in &mut plan {
        if !ir.ty(ir.result(load.op)).is_tensor() {
            as_tensor(ir, body, &mut schedule, load.op);
        }
    }
    if !plan.is_empty() {
        rewrite(ir, looped, body, &mut schedule, &plan);
    }
    lower_descriptors::lower(ir, looped, schedule.num_stages, Some(&mut schedule));
    schedule.write(ir, looped);
}

/// Step 1.
fn decide(ir: &Ir, cx: &mut PassCx, axis: &AxisInfoAnalysis, body: Block, schedule: &Schedule) -> Vec<AsyncLoad> {
    let mut plan = vec![];
    for op in body_ops(ir, body).into_iter().filter(|&op| ir.kind(op).is_load()) {
        let Some(distance) = stages_to_first_use(ir, body, schedule, op).filter(|&d| d > 0) else { continue };
        let ty = ir.ty(ir.result(op));
        let Some(load) = tt::Load::of(ir, op) else {
            if let Some(encoding) = descriptor_layout(ir, op) {
                let slots = distance + u32::from(feeds_wgmma(ir, op, encoding));
                if slots == 1 || loads::has_aligned_slots(ir, op) {
                    plan.push(AsyncLoad { op, slots, contiguity: 1, encoding, is_tma: true });
                }
            }
            continue;
        };
        let mut contiguity = 1;
        let encoding = if ty.is_tensor() {
            loads::buffer_encoding(ir, op)
        } else {
            Some(loads::scalar_buffer_encoding(module_attrs::threads(ir).map_or(1, |t| t.num_ctas)))
        };
        let Some(encoding) = encoding else { continue };
        let mut wide = loads::is_wide_enough(ir, axis, op);
        if ty.is_tensor() {
            wide &= loads::copy_bytes(ty, &encoding).is_some_and(|bytes| bytes >= 4);
            contiguity = loads::contiguity(ir, axis, load);
        }
        if wide {
            let encoding = Attr::encoding(encoding);
            let slots = distance + u32::from(feeds_wgmma(ir, op, encoding));
            plan.push(AsyncLoad { op, slots, contiguity, encoding, is_tma: false });
        } else if distance > 1 {
            let text = "the load is started ahead, but its parts are too narrow for an asynchronous copy: the values wait in registers";
            cx.remark(&codes::PIPELINED_IN_REGISTERS, ir.loc(op), text);
        }
    }
    plan
}

/// The layout in shared memory of what a load through a descriptor gives, if it is one and has one.
fn descriptor_layout(ir: &Ir, load: Op) -> Option<Attr> {
    let descriptor = ir.kind(load).is_descriptor_load().then(|| ir.operands(load)[0])?;
    tensor_descriptors::block_layout(ir.ty(descriptor), ir.ty(ir.result(load))).ok()
}

/// The operations of the body that use a result, also through views and through what the loop carries.
fn top_level_users(ir: &Ir, body: Block, op: Op) -> BTreeSet<Op> {
    let end = ir.terminator(body);
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut queue: Vec<Value> = ir.results(op).to_vec();
    while let Some(value) = queue.pop() {
        if !seen.insert(value) {
            continue;
        }
        for u in ir.uses(value) {
            if Some(u.op) == end {
                queue.extend(ir.args(body).get(u.index as usize + 1));
            } else if ir.kind(u.op).is_view() {
                queue.extend(ir.results(u.op));
            } else {
                found.extend(ancestor_in(ir, body, u.op));
            }
        }
    }
    found
}

/// How many stages after a load its first user runs; `None` without users.
fn stages_to_first_use(ir: &Ir, body: Block, schedule: &Schedule, load: Op) -> Option<u32> {
    let (stage, cluster) = schedule.get(load)?;
    let mut users = top_level_users(ir, body, load);
    for alloc in users.clone().into_iter().filter(|&u| ir.is(u, TtgOp::LocalAlloc)) {
        users.extend(top_level_users(ir, body, alloc));
    }
    // A user in a later cluster reads after the copy of the next iteration was started.
    let place =
        |user: Op| schedule.get(user).map(|(s, c)| s + u32::from(schedule.position(c) > schedule.position(cluster)));
    users.into_iter().filter_map(place).min()?.checked_sub(stage)
}

/// The first user of one of these operations.
pub(super) fn first_user(ir: &Ir, body: Block, schedule: &Schedule, ops: &[Op]) -> Option<Op> {
    let all: BTreeSet<Op> = ops.iter().flat_map(|&op| top_level_users(ir, body, op)).collect();
    let users: Vec<Op> = all.into_iter().filter(|&u| schedule.get(u).is_some()).collect();
    users.into_iter().reduce(|a, b| if schedule.is_before(ir, b, a) { b } else { a })
}

/// Whether users can read the buffer itself: the only one stores the tensor to shared memory, and masked elements are
/// zero.
pub(super) fn stays_in_memory(ir: &Ir, load: Op) -> Option<Op> {
    let value = ir.result(load);
    let alloc = ir.users(value).first().copied().filter(|&u| ir.has_one_use(value) && ir.is(u, TtgOp::LocalAlloc))?;
    let alike = if ir.kind(load).is_descriptor_load() {
        descriptor_layout(ir, load) == ir.ty(ir.result(alloc)).encoding()
    } else {
        masked_are_zero(ir, load)
    };
    alike.then_some(alloc)
}

/// Whether masked elements of a load through pointers are zero, as its copy makes them.
fn masked_are_zero(ir: &Ir, load: Op) -> bool {
    tt::Load::of(ir, load).and_then(|load| load.other(ir)).is_none_or(|other| has_no_bits(ir, other))
}

/// Whether a user of a loaded tensor is an allocation that becomes a view of its slot, which has this encoding.
fn becomes_view(ir: &Ir, user: Op, encoding: Option<Attr>) -> bool {
    ir.is(user, TtgOp::LocalAlloc) && ir.ty(ir.result(user)).encoding() == encoding
}

/// Whether a `wgmma` will read the slot of a load, which has this encoding. Others may use what is loaded beside: each
/// reads the same slot.
fn feeds_wgmma(ir: &Ir, load: Op, encoding: Attr) -> bool {
    if !ir.kind(load).is_descriptor_load() && !masked_are_zero(ir, load) {
        return false;
    }
    let views = ir.users(ir.result(load)).into_iter().filter(|&u| becomes_view(ir, u, Some(encoding)));
    let mut queue: Vec<Op> = views.flat_map(|alloc| ir.users(ir.result(alloc))).collect();
    while let Some(user) = queue.pop() {
        if ir.kind(user).is_view() {
            queue.extend(ir.results(user).iter().flat_map(|&r| ir.users(r)));
        } else if ir.is(user, TtngOp::WarpGroupDot) {
            return true;
        }
    }
    false
}

/// Makes a load of a scalar one of a tensor with a single element.
fn as_tensor(ir: &mut Ir, body: Block, schedule: &mut Schedule, load: Op) {
    let Some(threads) = module_attrs::threads(ir) else { return };
    let (Some(place), Some(user)) = (schedule.get(load), first_user(ir, body, schedule, &[load])) else { return };
    let user_place = schedule.get(user).unwrap_or(place);
    let encoding =
        Attr::encoding(layout::default_blocked(&[1], threads.num_warps, threads.threads_per_warp, threads.num_ctas));
    let old = ir.result(load);
    let scalar = ir.ty(old);
    for (index, value) in ir.operands(load).to_vec().into_iter().enumerate() {
        let ty = Type::tensor(&[1], ir.ty(value), Some(encoding));
        let wide = Builder::before(ir, load).value(TtOp::Splat, &[value], ty);
        schedule.insert(ir.def_op(wide).expect("a splat"), place.0, place.1);
        ir.set_operand(load, index, wide);
    }
    ir.set_type(old, Type::tensor(&[1], scalar, Some(encoding)));
    let uses = ir.uses(old).to_vec();
    let unsplat = Builder::after(ir, load).value(TtOp::Unsplat, &[old], scalar);
    schedule.insert(ir.def_op(unsplat).expect("an unsplat"), user_place.0, user_place.1);
    for u in uses {
        ir.set_operand(u.op, u.index as usize, unsplat);
    }
}

/// Steps 2 to 4.
fn rewrite(ir: &mut Ir, looped: Op, body: Block, schedule: &mut Schedule, plan: &[AsyncLoad]) {
    let buffers: Vec<Value> = plan.iter().map(|load| allocate(ir, looped, load)).collect();
    let mut slots: Vec<u32> = vec![];
    for load in plan {
        if !slots.contains(&load.slots) {
            slots.push(load.slots);
        }
    }
    let mut b = Builder::before(ir, looped);
    let (before_first, zero, one) = (b.i32(-1), b.i32(0), b.i32(1));
    let mut groups = vec![];
    for &n in &slots {
        let [insert, extract] = [0, 1].map(|_| carry(ir, looped, body, before_first));
        let signals = plan.iter().any(|l| l.slots == n && l.is_tma);
        let phase = signals.then(|| carry(ir, looped, body, zero));
        groups.push((n, insert, extract, phase));
    }
    let loc = ir.loc(looped);
    let mut counted = vec![];
    for (n, insert, extract, phase) in groups {
        let mut b = Builder::new(ir, InsertPoint::Start(body), loc);
        let size = b.i32(i64::from(n));
        let next = count_on(&mut b, insert, [zero, one, size]);
        let (over, read) = counted_on(&mut b, extract, [zero, one, size]);
        let flipped = phase.map(|phase| {
            let other = b.value(ArithOp::Xori, &[phase, one], Type::int(32));
            b.value(ArithOp::Select, &[over, other, phase], Type::int(32))
        });
        let group = Group { slots: n, insert: next, extract: read, phase: flipped };
        let end = ir.terminator(body).expect("a loop ends in a yield");
        let carried = [(Some(insert), Some(next)), (Some(extract), Some(read)), (phase, flipped)];
        for (arg, value) in carried.into_iter().filter_map(|(arg, value)| arg.zip(value)) {
            let index = ir.args(body).iter().position(|&a| a == arg).expect("an argument of the body") - 1;
            ir.set_operand(end, index, value);
        }
        counted.push(group);
    }
    let group_of = |load: &AsyncLoad| counted.iter().find(|g| g.slots == load.slots).expect("every load has a group");
    let mut signals = vec![None; plan.len()];
    for numbers in lower_tma::groups(ir, plan, schedule) {
        let loads: Vec<&AsyncLoad> = numbers.iter().map(|&n| &plan[n]).collect();
        let signal = lower_tma::signal(ir, looped, body, schedule, &loads, group_of(loads[0]));
        numbers.iter().for_each(|&n| signals[n] = signal);
    }
    for ((load, &buffer), signal) in plan.iter().zip(&buffers).zip(signals) {
        match signal {
            Some(signal) => lower_tma::start_ahead(ir, body, schedule, load, buffer, group_of(load), signal),
            None if load.is_tma => {}
            None => start_ahead(ir, body, schedule, load, buffer, group_of(load)),
        }
    }
    let keys = schedule.in_order(ir, body);
    for stage in 0..schedule.num_stages {
        for &(op, s, cluster) in &keys {
            if s == stage {
                schedule.insert_deps(ir, op, stage, cluster, false, true);
            }
        }
    }
    // What hardware copies is waited for where it is used.
    if plan.iter().any(|l| !l.is_tma) {
        Builder::after(ir, looped).result(ttg::AsyncWait::state(loc, &[]).with(ttg::AsyncWait::ATTR.num, 0), token());
    }
}

/// A counter's next value: 0 again after the last slot.
pub(in crate::passes::nvidia) fn count_on(b: &mut Builder<'_>, counter: Value, limits: [Value; 3]) -> Value {
    counted_on(b, counter, limits).1
}

/// Whether a counter starts over, and its next value; `limits` are 0, 1 and the number of slots.
fn counted_on(b: &mut Builder<'_>, counter: Value, [zero, one, size]: [Value; 3]) -> (Value, Value) {
    let sum = b.value(ArithOp::Addi, &[counter, one], Type::int(32));
    let over = b.cmpi(CmpiPredicate::Sge, sum, size);
    (over, b.value(ArithOp::Select, &[over, zero, sum], Type::int(32)))
}

fn token() -> Type {
    Type::new(TypeData::AsyncToken)
}

/// The buffer of a load, in front of the loop, released behind it.
fn allocate(ir: &mut Ir, looped: Op, load: &AsyncLoad) -> Value {
    let tensor = ir.ty(ir.result(load.op));
    let shape: Vec<i64> = std::iter::once(i64::from(load.slots)).chain(tensor.shape().iter().copied()).collect();
    let ty = buffers::shared(&shape, tensor.elem(), load.encoding, true);
    let loc = ir.loc(load.op);
    let buffer = Builder::before(ir, looped).result(ttg::LocalAlloc::state(loc, None), ty);
    Builder::after(ir, looped).op(TtgOp::LocalDealloc, &[buffer], &[]);
    buffer
}

/// Makes operations at one place of the code and of the schedule.
pub(super) struct Staged<'a> {
    pub(super) ir: &'a mut Ir,
    pub(super) schedule: &'a mut Schedule,
    pub(super) place: (u32, Cluster),
    pub(super) at: InsertPoint,
}

impl Staged<'_> {
    pub(super) fn insert(&mut self, state: OpState, ty: Type) -> Value {
        let op = self.effect(state.results(&[ty]));
        self.ir.result(op)
    }

    /// As [`Staged::insert`], of an operation whose results do not matter.
    pub(super) fn effect(&mut self, state: OpState) -> Op {
        let loc = state.loc;
        let mut b = Builder::new(self.ir, self.at, loc);
        let op = b.insert(state);
        self.at = b.point();
        self.schedule.insert(op, self.place.0, self.place.1);
        op
    }

    /// A slot of a buffer.
    pub(super) fn slot(&mut self, buffer: Value, index: Value) -> Value {
        let ty = buffers::slot_of(self.ir.ty(buffer));
        let loc = self.ir.value_loc(buffer);
        self.insert(ttg::MemDescIndex::state(loc, buffer, index), ty)
    }
}

/// Step 3.
fn start_ahead(ir: &mut Ir, body: Block, schedule: &mut Schedule, load: &AsyncLoad, buffer: Value, group: &Group) {
    let op = load.op;
    let (Some(place), Some(user)) = (schedule.get(op), first_user(ir, body, schedule, &[op])) else { return };
    let Some(plain) = tt::Load::of(ir, op) else { return };
    let user_place = schedule.get(user).unwrap_or(place);
    let loc = ir.loc(op);
    let result = ir.result(op);
    let (ptr, mask, other) = (plain.ptr(ir), plain.mask(ir), plain.other(ir));
    let mut b = Staged { ir, schedule, place, at: InsertPoint::Before(op) };
    let slot = b.slot(buffer, group.insert);
    let state = ttg::AsyncCopyGlobalToLocal::state(loc, ptr, slot, mask, other);
    let (from, to) = (tt::Load::ATTR, ttg::AsyncCopyGlobalToLocal::ATTR);
    let state = state
        .with(to.contiguity, i64::from(load.contiguity))
        .with_some(to.cache, b.ir.stored(op, from.cache))
        .with_some(to.evict, b.ir.stored(op, from.evict))
        .with_some(to.isVolatile, b.ir.stored(op, from.isVolatile));
    let copy = b.insert(state, token());
    let commit = b.insert(ttg::AsyncCommitGroup::state(loc, &[copy]), token());
    b.place = user_place;
    let wait = ttg::AsyncWait::state(loc, &[commit]).with(ttg::AsyncWait::ATTR.num, 0);
    let wait = b.insert(wait, token());
    let read = b.slot(buffer, group.extract);
    let ty = b.ir.ty(result);
    match other.filter(|&o| !has_no_bits(b.ir, o)) {
        // The copy fills masked elements with zeros.
        Some(other) if b.ir.has_uses(result) => {
            let loaded = b.insert(ttg::LocalLoad::state(loc, read, Some(wait)), ty);
            let mask = mask.unwrap_or(other);
            let chosen = b.insert(arith::Select::state(loc, mask, loaded, other), ty);
            b.ir.replace_all_uses(result, chosen);
        }
        Some(_) => {}
        None => read_slot(&mut b, result, read, Some(wait)),
    }
    schedule.remove(op);
    ir.erase_op(op);
}

/// Users of a loaded tensor read the slot: allocations with its encoding become views of it, others get a load.
pub(super) fn read_slot(b: &mut Staged<'_>, result: Value, slot: Value, wait: Option<Value>) {
    let encoding = b.ir.ty(slot).encoding();
    for u in b.ir.uses(result).to_vec() {
        if becomes_view(b.ir, u.op, encoding) {
            let old = b.ir.result(u.op);
            for view in buffers::replace(b.ir, old, slot) {
                b.schedule.insert(view, b.place.0, b.place.1);
            }
            b.schedule.remove(u.op);
            b.ir.erase_op(u.op);
        }
    }
    if b.ir.has_uses(result) {
        let (ty, loc) = (b.ir.ty(result), b.ir.value_loc(result));
        let loaded = b.insert(ttg::LocalLoad::state(loc, slot, wait), ty);
        b.ir.replace_all_uses(result, loaded);
    }
}
