//! First steps of `tritonamdgpu-pipeline`: loads get buffers in shared memory, and the schedule is completed.
//!
//! # Algorithm
//!
//! 1. A load whose users are operands of products gets a buffer with a slot for each stage between its store and its
//!    use; one more for an asynchronous copy, which has no registers to wait in.
//! 2. The loop counts slots. The load is followed by a `ttg.local_store` to its slot, or becomes a copy with a wait;
//!    users read the slot.
//! 3. Clusters, in the order of the body: wait, load, compute, store; so that loads are under way during the products
//!    and are stored behind them.
//!
//! ```text
//! %v = tt.load %p; %x = ttg.convert_layout %v; tt.dot %x, …
//! → %n = count; %s = ttg.memdesc_index %buffer[%n]; %v = tt.load %p; ttg.local_store %v, %s      (stage 0)
//!   %x = ttg.local_load %s; tt.dot %x, …                                                         (last stage)
//! ```

use super::shared::{Filling, encoding_for_users};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Attr, Block, Builder, Encoding, InsertPoint, Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{ArithOp, TtgOp};
use crate::passes::amd::schedule_loops::chained::{
    self, GLOBAL_LOAD_STAGES, LOCAL_LOAD_STAGES, LOCAL_WRITE_STAGES, PARTS, Part,
};
use crate::passes::amd::schedule_loops::{Ahead, loads_ahead};
use crate::passes::common::carry::carry;
use crate::passes::ttg::buffers;
use crate::passes::ttg::pipeline::loads;
use crate::passes::ttg::pipeline::schedule::{Cluster, Schedule};
use crate::passes::ttg::pipeline::schedule_loops::{carried_dependencies, remaining};

/// A place in the schedule.
type Place = (u32, Cluster);

/// Where the parts of one load go.
#[derive(Clone, Copy)]
struct Places {
    load: Place,
    store: Place,
    /// `None` to stay with what reads the slot.
    wait: Option<Place>,
    read: Option<Place>,
}

/// A load with its buffer.
struct Buffered {
    load: Op,
    encoding: Encoding,
    places: Places,
}

/// Rewrites one loop, if it has a schedule.
pub(in crate::passes::amd) fn lower(
    ir: &mut Ir,
    axis: &AxisInfoAnalysis,
    looped: Op,
    async_copy: bool,
    pingpong: bool,
) {
    let Some(mut schedule) = Schedule::read(ir, looped) else { return };
    let Some(body) = ir.body(looped, 0) else { return };
    let num_stages = schedule.num_stages;
    let loads = loads_ahead(ir, axis, looped, body, num_stages);
    let wait_at_end = pingpong && num_stages == 3 && async_copy;
    let (places, slots, compute): (Box<dyn Fn(&Ahead) -> Option<Places>>, u32, Cluster);
    if chained::products(ir, body, num_stages, &loads).is_some() {
        (places, compute) = chained_places(&mut schedule);
        slots = if async_copy { 2 } else { 1 };
    } else {
        (places, slots, compute) = single_places(ir, &mut schedule, body, &loads, async_copy, wait_at_end);
    }
    let mut plan = vec![];
    for ahead in &loads {
        let Some(place) = schedule.get(ahead.load) else { continue };
        let filling = if async_copy {
            Filling::Copied { wide: loads::is_wide_enough(ir, axis, ahead.load) }
        } else {
            Filling::Stored
        };
        let found = encoding_for_users(ir, ir.result(ahead.load), filling).zip(places(ahead));
        if let Some((encoding, places)) = found {
            plan.push(Buffered { load: ahead.load, encoding, places: Places { load: place, ..places } });
        }
    }
    rewrite(ir, axis, looped, body, &mut schedule, &plan, slots, async_copy);
    let keys = schedule.in_order(ir, body);
    for stage in 0..schedule.num_stages {
        for &(op, s, cluster) in &keys {
            if s == stage {
                schedule.insert_deps(ir, op, stage, cluster, false, false);
            }
        }
    }
    carried_dependencies(ir, body, &mut schedule);
    remaining(ir, body, &mut schedule, compute);
    schedule.write(ir, looped);
}

/// The places of a loop whose loads are for one product: from the clusters 0 for loads and 1 for products to five.
fn single_places(
    ir: &Ir,
    schedule: &mut Schedule,
    body: Block,
    loads: &[Ahead],
    async_copy: bool,
    wait_at_end: bool,
) -> (Box<dyn Fn(&Ahead) -> Option<Places>>, u32, Cluster) {
    let farthest = loads.iter().map(|a| a.distance).max().unwrap_or(0);
    let last = schedule.num_stages - 1;
    let slots = (last - farthest.min(last)).max(1) + u32::from(async_copy);
    let known = schedule.in_order(ir, body);
    let mut new = Schedule::new(schedule.num_stages);
    let clusters: Vec<Cluster> = (0..5).map(|_| new.cluster_at_back()).collect();
    let (global, store) = (clusters[1], clusters[3]);
    let compute = if last == farthest { clusters[4] } else { global };
    for (op, stage, cluster) in known {
        let is_load = schedule.position(cluster) == 0;
        new.insert(op, stage, if is_load { global } else { compute });
    }
    *schedule = new;
    let (wait_stage, wait_cluster) =
        if wait_at_end { (last.saturating_sub(1), clusters[4]) } else { (last, clusters[0]) };
    let places =
        Places { load: (0, global), store: (farthest, store), wait: Some((wait_stage, wait_cluster)), read: None };
    (Box::new(move |_| Some(places)), slots, compute)
}

/// The places of a loop with two products of which one feeds the other.
fn chained_places(schedule: &mut Schedule) -> (Box<dyn Fn(&Ahead) -> Option<Places>>, Cluster) {
    let mut clusters = schedule.clusters().to_vec();
    while clusters.len() < PARTS {
        clusters.push(schedule.cluster_at_back());
    }
    let last = clusters[PARTS - 1];
    let schedule = schedule.clone();
    let places = move |ahead: &Ahead| {
        let (stage, _) = schedule.get(ahead.load)?;
        let index = usize::from(stage != GLOBAL_LOAD_STAGES[0]);
        let parts = [
            [Part::LocalWrite0, Part::AsyncWait0, Part::LocalLoad0],
            [Part::LocalWrite1, Part::AsyncWait1, Part::LocalLoad1],
        ];
        let [store, wait, read] = parts[index].map(|part| clusters[part as usize]);
        Some(Places {
            load: schedule.get(ahead.load)?,
            store: (LOCAL_WRITE_STAGES[index], store),
            wait: Some((LOCAL_LOAD_STAGES[index], wait)),
            read: Some((LOCAL_LOAD_STAGES[index], read)),
        })
    };
    (Box::new(places), last)
}

/// Steps 1 and 2.
#[allow(clippy::too_many_arguments)] // the loop with its schedule, and the plan
fn rewrite(
    ir: &mut Ir,
    axis: &AxisInfoAnalysis,
    looped: Op,
    body: Block,
    schedule: &mut Schedule,
    plan: &[Buffered],
    slots: u32,
    async_copy: bool,
) {
    let mut b = Builder::before(ir, looped);
    let [before_first, zero, one, size] = [-1, 0, 1, i64::from(slots)].map(|n| b.i32(n));
    let counter = carry(ir, looped, body, before_first);
    let loc = ir.loc(looped);
    let mut b = Builder::new(ir, InsertPoint::Start(body), loc);
    let next = b.value(ArithOp::Addi, &[counter, one], Type::int(32));
    let inside = b.cmpi(CmpiPredicate::Slt, next, size);
    let slot = b.value(ArithOp::Select, &[inside, next, zero], Type::int(32));
    let end = ir.terminator(body).expect("a loop ends in a yield");
    ir.set_operand(end, ir.operands(end).len() - 1, slot);
    for buffered in plan {
        let buffer = allocate(ir, looped, buffered, slots);
        if async_copy && copies_itself(ir, axis, buffered, slots) {
            copy(ir, axis, schedule, buffered, buffer, slot);
        } else {
            store(ir, schedule, buffered, buffer, slot);
        }
    }
}

/// The buffer of a load, in front of the loop, released behind it.
fn allocate(ir: &mut Ir, looped: Op, buffered: &Buffered, slots: u32) -> Value {
    let tensor = ir.ty(ir.result(buffered.load));
    let shape: Vec<i64> = std::iter::once(i64::from(slots)).chain(tensor.shape().iter().copied()).collect();
    let ty = buffers::shared(&shape, tensor.elem(), Attr::encoding(buffered.encoding.clone()), true);
    let loc = ir.loc(buffered.load);
    let buffer = Builder::before(ir, looped).result(ttg::LocalAlloc::state(loc, None), ty);
    Builder::after(ir, looped).op(TtgOp::LocalDealloc, &[buffer], &[]);
    buffer
}

/// Whether the hardware can copy what a thread loads straight to shared memory: it stores 32 or 128 bits a lane, lane
/// behind lane.
fn copies_itself(ir: &Ir, axis: &AxisInfoAnalysis, buffered: &Buffered, slots: u32) -> bool {
    let ty = ir.ty(ir.result(buffered.load));
    let bytes = loads::copy_bytes(ty, &buffered.encoding).unwrap_or(0);
    slots > 1 && bytes >= 4 && loads::is_wide_enough(ir, axis, buffered.load)
}

/// Makes operations in front of a load, each at a place of the schedule.
struct Staged<'a> {
    ir: &'a mut Ir,
    schedule: &'a mut Schedule,
    before: Op,
}

impl Staged<'_> {
    fn insert(&mut self, state: crate::ir::core::OpState, place: Option<Place>) -> Op {
        let op = Builder::before(self.ir, self.before).insert(state);
        if let Some((stage, cluster)) = place {
            self.schedule.insert(op, stage, cluster);
        }
        op
    }

    fn slot(&mut self, buffer: Value, index: Value, place: Option<Place>) -> Value {
        let ty = buffers::slot_of(self.ir.ty(buffer));
        let state = ttg::MemDescIndex::state(self.ir.loc(self.before), buffer, index).results(&[ty]);
        let op = self.insert(state, place);
        self.ir.result(op)
    }

    /// Users of a loaded tensor read the slot: allocations with its encoding become views of it, others get a load.
    fn read(&mut self, value: Value, slot: Value, wait: Option<Value>, place: Option<Place>) {
        let encoding = self.ir.ty(slot).encoding();
        for u in self.ir.uses(value).to_vec() {
            if self.ir.is(u.op, TtgOp::LocalAlloc) && self.ir.ty(self.ir.result(u.op)).encoding() == encoding {
                let old = self.ir.result(u.op);
                buffers::replace(self.ir, old, slot);
                self.schedule.remove(u.op);
                self.ir.erase_op(u.op);
            }
        }
        if !self.ir.has_uses(value) {
            return;
        }
        let ty = self.ir.ty(value);
        let state = ttg::LocalLoad::state(self.ir.loc(self.before), slot, wait).results(&[ty]);
        let op = self.insert(state, place);
        let loaded = self.ir.result(op);
        self.ir.replace_all_uses(value, loaded);
        // A conversion behind it can become part of it, if both are in one place.
        if let (Some((stage, cluster)), &[user]) = (place, self.ir.users(loaded).as_slice())
            && self.ir.is(user, TtgOp::ConvertLayout)
        {
            self.schedule.insert(user, stage, cluster);
        }
    }
}

/// A load that passes through registers.
fn store(ir: &mut Ir, schedule: &mut Schedule, buffered: &Buffered, buffer: Value, index: Value) {
    let Buffered { load, places, .. } = buffered;
    let old = ir.result(*load);
    let state = tt::Load(*load);
    let (loc, ty) = (ir.loc(*load), ir.ty(old));
    let new =
        tt::Load::state(loc, state.ptr(ir), state.mask(ir), state.other(ir)).attrs(ir.attrs(*load)).results(&[ty]);
    let mut b = Staged { ir, schedule, before: *load };
    let slot = b.slot(buffer, index, Some(places.store));
    let new = b.insert(new, Some(places.load));
    let value = b.ir.result(new);
    b.insert(ttg::LocalStore::state(loc, value, slot), Some(places.store));
    b.read(old, slot, None, places.read);
    schedule.remove(*load);
    ir.erase_op(*load);
}

/// A load straight to shared memory.
fn copy(
    ir: &mut Ir,
    axis: &AxisInfoAnalysis,
    schedule: &mut Schedule,
    buffered: &Buffered,
    buffer: Value,
    index: Value,
) {
    let Buffered { load, places, .. } = buffered;
    let old = ir.result(*load);
    let plain = tt::Load(*load);
    let loc = ir.loc(*load);
    let (ptr, mask, other) = (plain.ptr(ir), plain.mask(ir), plain.other(ir));
    let contiguity = i64::from(loads::contiguity(ir, axis, plain));
    let token = Type::new(TypeData::AsyncToken);
    let (from, to) = (tt::Load::ATTR, ttg::AsyncCopyGlobalToLocal::ATTR);
    let (cache, evict, volatile) =
        (ir.stored(*load, from.cache), ir.stored(*load, from.evict), ir.stored(*load, from.isVolatile));
    let mut b = Staged { ir, schedule, before: *load };
    let slot = b.slot(buffer, index, None);
    let state = ttg::AsyncCopyGlobalToLocal::state(loc, ptr, slot, mask, other)
        .with(to.contiguity, contiguity)
        .with_some(to.cache, cache)
        .with_some(to.evict, evict)
        .with_some(to.isVolatile, volatile);
    let copied = b.insert(state.results(&[token]), Some(places.load));
    let copied = b.ir.result(copied);
    let commit = b.insert(ttg::AsyncCommitGroup::state(loc, &[copied]).results(&[token]), Some(places.load));
    let commit = b.ir.result(commit);
    let wait = ttg::AsyncWait::state(loc, &[commit]).with(ttg::AsyncWait::ATTR.num, 0).results(&[token]);
    let wait = b.insert(wait, places.wait);
    let wait = b.ir.result(wait);
    b.read(old, slot, Some(wait), places.read);
    schedule.remove(*load);
    ir.erase_op(*load);
}
