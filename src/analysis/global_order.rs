//! Where the threads of a block must wait for each other because of global memory.
//!
//! A kernel is written as if a program were one thread: what it stores it finds again, and what it loads is there
//! before it stores something else in its place. All threads load a scalar, one of them stores one, and the threads
//! that hold an element of a tensor differ with its layout. So where two accesses may touch the same element in
//! different warps, a barrier must be between them. Triton leaves that to `tl.debug_barrier()`.
//!
//! # Algorithm
//!
//! 1. The accesses of a function, with who makes them ([`Holder`]). Only those matter whose array is read and written,
//!    or written in two places.
//! 2. A *state* is the set of accesses that other warps may not have made since the last barrier, each with the loops
//!    of which it has crossed the end of an iteration. States are joined over the ways through the function
//!    ([`Segments`]) until nothing changes. A barrier empties the set: those for shared memory order global memory too.
//!    An asynchronous copy reads when it is waited for.
//! 3. Two accesses conflict if one of them writes, they may meet ([`Addresses::meet`]), and no warp makes both parts.
//! 4. A conflict gets a barrier: before the loops that hold the later access and none of the earlier ones. That is done
//!    in one walk without loops, and then for what loops carry over, until nothing is left.
//!
//! Example: in `n = load(p); store(p, n + 1)` a warp that comes late would load `n + 1`. The barrier goes before the
//! store. Where only the store uses `n`, none is needed: the thread that stores uses its own ([`is_for_owners`]).
//!
//! # What is taken for granted
//!
//! See [`super::addresses`]: arrays of different parameters do not overlap, and neither do tiles of the same strides at
//! a distance that depends on parameters. Accesses through tensor descriptors are left to the source, since a barrier
//! alone does not order them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::addresses::{Addresses, Meeting, Place};
use super::allocation::Allocation;
use super::flow::{Segments, handed_to};
use super::shared_effects::{Event, Flight, events};
use super::touched::{global_touch, leads_to_memory};
use crate::ir::core::{Ir, Loc, Op, Type, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::{GLOBAL, ttg};
use crate::ir::dialects::{AmdgOp, Classes, Effects, OpKind, Traits, TtOp, TtgOp};
use crate::layout::{ConversionKind, conversion_kind, free_variable_masks, layout_of};

/// The threads of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub num_warps: u32,
    pub num_ctas: u32,
}

/// Who makes an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holder {
    /// The first thread of the block.
    First,
    /// All threads, each the same access.
    All,
    /// The threads that hold the elements of such a tensor.
    Tensor(Type),
}

#[derive(Clone, Copy, Debug)]
struct Access {
    op: Op,
    place: Place,
    holder: Holder,
    /// Of several threads that hold an element, one makes the access, or only what that one loads matters.
    owners: bool,
    reads: bool,
    writes: bool,
    atomic: bool,
    /// Whether it goes on until it is waited for.
    in_flight: bool,
}

/// An access, and of the loops that hold it those of which it has crossed the end of an iteration.
type Crossed = (usize, BTreeSet<Op>);

#[derive(Clone, Default, PartialEq, Eq)]
struct State {
    pending: BTreeSet<Crossed>,
    in_flight: BTreeSet<Crossed>,
}

impl State {
    fn join(&mut self, other: State) -> bool {
        let before = (self.pending.len(), self.in_flight.len());
        self.pending.extend(other.pending);
        self.in_flight.extend(other.in_flight);
        before != (self.pending.len(), self.in_flight.len())
    }

    /// Where control goes back to the start of a loop, for the accesses that are in it.
    fn over(&self, looped: Op, holds: impl Fn(usize) -> bool) -> State {
        let cross = |all: &BTreeSet<Crossed>| -> BTreeSet<Crossed> {
            let crossed = |(access, over): &Crossed| {
                let mut over = over.clone();
                if holds(*access) {
                    over.insert(looped);
                }
                (*access, over)
            };
            all.iter().map(crossed).collect()
        };
        State { pending: cross(&self.pending), in_flight: cross(&self.in_flight) }
    }
}

/// Accesses since the last barrier that a later one is compared with.
const MOST_PENDING: usize = 512;

/// What happens at an operation, in this order.
#[derive(Default)]
struct Happening {
    accesses: Vec<usize>,
    waits: bool,
    barrier: bool,
}

/// The analysis of one function.
struct Order<'a> {
    ir: &'a Ir,
    addresses: Addresses<'a>,
    threads: Threads,
    accesses: Vec<Access>,
    segments: Segments,
    happening: Vec<Vec<(Op, Happening)>>,
    /// Pairs of accesses that were looked at.
    known: BTreeMap<(Crossed, usize), bool>,
}

/// A barrier that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Barrier {
    /// The operation before which it goes.
    pub place: Op,
    /// The accesses that it separates.
    pub first: Op,
    pub then: Op,
}

/// The barriers that a function needs. Those for shared memory are in place.
#[must_use]
pub(crate) fn barriers(ir: &Ir, func: Op, allocation: &Allocation, threads: Threads) -> Vec<Barrier> {
    let specialized = ir.all_ops(func).into_iter().any(|op| ir.is(op, TtgOp::WarpSpecialize));
    if threads.num_warps * threads.num_ctas == 1 || specialized {
        return vec![];
    }
    let mut addresses = Addresses::new(ir, func);
    let accesses = shared_arrays(accesses(ir, func, allocation), &mut addresses);
    if accesses.is_empty() {
        return vec![];
    }
    Order::new(ir, func, allocation, threads, (accesses, addresses)).barriers()
}

impl<'a> Order<'a> {
    fn new(
        ir: &'a Ir,
        func: Op,
        allocation: &Allocation,
        threads: Threads,
        (accesses, addresses): (Vec<Access>, Addresses<'a>),
    ) -> Order<'a> {
        let segments = Segments::new(ir, func);
        let in_block = threads.num_ctas == 1;
        let mut touching: BTreeMap<Op, Vec<usize>> = BTreeMap::new();
        for (index, access) in accesses.iter().enumerate() {
            touching.entry(access.op).or_default().push(index);
        }
        let happening = |&op: &Op| {
            let events = events(ir, op, allocation, false);
            let any = |is: fn(&Event) -> bool| events.iter().any(is);
            // In a cluster all blocks must wait for each other.
            let orders_all = ttg::Barrier::of(ir, op).and_then(|b| b.addrSpace(ir)).is_some_and(|s| s & GLOBAL != 0);
            let happens = Happening {
                accesses: touching.get(&op).cloned().unwrap_or_default(),
                waits: any(|e| matches!(e, Event::Complete { flight: Flight::Copy, .. })),
                barrier: any(|e| matches!(e, Event::ClusterBarrier))
                    || orders_all
                    || in_block && any(|e| *e == Event::Barrier),
            };
            (op, happens)
        };
        let happening = segments.all.iter().map(|s| s.ops.iter().map(happening).collect()).collect();
        Order { ir, addresses, threads, accesses, segments, happening, known: BTreeMap::new() }
    }

    /// Steps 2 to 4. What precedes a segment in the text decides its state but for loops, so one walk finds most of
    /// them.
    fn barriers(mut self) -> Vec<Barrier> {
        let (mut found, mut places) = (vec![], BTreeSet::new());
        let mut states = vec![State::default(); self.segments.all.len()];
        for index in 0..states.len() {
            let mut state = std::mem::take(&mut states[index]);
            let more = self.walk(index, &mut state, &places);
            places.extend(more.iter().map(|b| b.place));
            found.extend(more);
            for &next in self.segments.all[index].next.iter().filter(|&&next| !Segments::goes_back(index, next)) {
                states[next].join(state.clone());
            }
        }
        while let Some(more) = self.first_conflicts(&places) {
            places.extend(more.iter().map(|b| b.place));
            found.extend(more);
        }
        found
    }

    /// The barriers that the first segment with conflicts needs beside those given.
    fn first_conflicts(&mut self, barriers: &BTreeSet<Op>) -> Option<Vec<Barrier>> {
        let states = self.states(barriers);
        let found = |(index, mut state)| Some(self.walk(index, &mut state, barriers)).filter(|more| !more.is_empty());
        states.into_iter().enumerate().find_map(found)
    }

    /// The barriers that a segment needs beside those given. The state before it becomes the one after it, with them.
    fn walk(&mut self, segment: usize, state: &mut State, barriers: &BTreeSet<Op>) -> Vec<Barrier> {
        let mut found = vec![];
        for at in 0..self.happening[segment].len() {
            let (op, happens) = &self.happening[segment][at];
            let (op, accesses) = (*op, happens.accesses.clone());
            if barriers.contains(&op) {
                state.pending.clear();
            }
            let pairs = accesses.iter().flat_map(|&now| state.pending.iter().map(move |p| (p.clone(), now)));
            let before: Vec<usize> = pairs.filter_map(|(p, now)| self.conflict(p, now)).collect();
            // A barrier now and then keeps the comparisons few.
            let many = !accesses.is_empty() && state.pending.len() >= MOST_PENDING;
            let all: Vec<usize> = state.pending.iter().filter(|_| many).map(|p| p.0).collect();
            if let Some(&first) = before.first().or(all.first()) {
                let place = self.outside(op, if before.is_empty() { &all } else { &before });
                let place = if barriers.contains(&place) { op } else { place };
                found.push(Barrier { place, first: self.accesses[first].op, then: op });
                state.pending.clear();
            }
            self.run(segment, at, state);
        }
        found
    }

    /// The earlier access, if the later one must not come before it.
    fn conflict(&mut self, before: Crossed, now: usize) -> Option<usize> {
        let key = (before, now);
        if let Some(&known) = self.known.get(&key) {
            return known.then_some(key.0.0);
        }
        let conflicts = self.conflicts(&key.0, now);
        self.known.insert(key.clone(), conflicts);
        conflicts.then_some(key.0.0)
    }

    /// Step 3.
    fn conflicts(&mut self, (before, over): &Crossed, now: usize) -> bool {
        let (a, b) = (self.accesses[*before], self.accesses[now]);
        let same_thread = (a.holder, b.holder) == (Holder::First, Holder::First);
        let order_matters = (a.writes || b.writes) && !(a.atomic && b.atomic);
        // What one statement stores in an iteration and in the next one is the source's own affair. The iterations may
        // be in copies of the loop, or one behind the other.
        let is_known = self.ir.loc(a.op) != Loc::unknown();
        let repeats = !b.reads && (*before == now || !a.reads && is_known && self.ir.loc(a.op) == self.ir.loc(b.op));
        if !order_matters || same_thread || repeats {
            return false;
        }
        match self.addresses.meet(a.place, b.place, over, true) {
            Meeting::Never => false,
            Meeting::May => true,
            Meeting::Same => !self.is_one_warp(a, b),
        }
    }

    /// Whether equal places of two tensors belong to the same warp.
    fn is_one_warp(&self, a: Access, b: Access) -> bool {
        let (Holder::Tensor(x), Holder::Tensor(y)) = (a.holder, b.holder) else { return false };
        let (Ok(one), Ok(other)) = (layout_of(x), layout_of(y)) else { return false };
        let once = |layout| {
            let free = free_variable_masks(layout);
            free.warp & (self.threads.num_warps - 1) == 0 && free.block & (self.threads.num_ctas - 1) == 0
        };
        let within = conversion_kind(one, other).is_ok_and(|kind| kind <= ConversionKind::Lanes);
        a.owners && b.owners && one == other || within && once(one) && once(other)
    }

    /// Step 4: the place of a barrier before an operation.
    fn outside(&self, op: Op, before: &[usize]) -> Op {
        let ir = self.ir;
        let mut place = op;
        for parent in std::iter::successors(ir.parent_op(op), |&p| ir.parent_op(p)) {
            let holds = before.iter().any(|&access| ir.is_ancestor(parent, self.accesses[access].op));
            if holds || ir.is(parent, TtOp::Func) {
                break;
            }
            if ir.kind(parent).has(Traits::LOOP) {
                place = parent;
            }
        }
        place
    }

    fn run(&self, segment: usize, at: usize, state: &mut State) {
        let happens = &self.happening[segment][at].1;
        if happens.waits {
            state.pending.extend(state.in_flight.iter().cloned());
        }
        for &index in &happens.accesses {
            state.pending.insert((index, BTreeSet::new()));
            if self.accesses[index].in_flight {
                state.in_flight.insert((index, BTreeSet::new()));
            }
        }
        if happens.barrier {
            state.pending.clear();
        }
    }

    fn states(&self, barriers: &BTreeSet<Op>) -> Vec<State> {
        let mut states = vec![State::default(); self.segments.all.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for index in 0..states.len() {
                let mut state = states[index].clone();
                for (at, (op, _)) in self.happening[index].iter().enumerate() {
                    if barriers.contains(op) {
                        state.pending.clear();
                    }
                    self.run(index, at, &mut state);
                }
                for &next in &self.segments.all[index].next {
                    let back = Segments::goes_back(index, next);
                    let state = match self.looped(next).filter(|_| back) {
                        Some(looped) => state.over(looped, |i| self.ir.is_ancestor(looped, self.accesses[i].op)),
                        None => state.clone(),
                    };
                    // What was passed already must be looked at again.
                    changed |= states[next].join(state) && back;
                }
            }
        }
        states
    }

    /// The loop whose body a segment starts.
    fn looped(&self, segment: usize) -> Option<Op> {
        self.segments.all[segment].ops.first().and_then(|&op| self.ir.parent_op(op))
    }
}

/// Step 1: the accesses of a function, in the order of the text.
fn accesses(ir: &Ir, func: Op, allocation: &Allocation) -> Vec<Access> {
    let mut found = vec![];
    for op in ir.all_ops(func) {
        let touch = global_touch(ir, op);
        let called = tt::Call::of(ir, op).is_some();
        if !called && !(goes_to_memory(ir, op) && (touch.reads || touch.writes)) {
            continue;
        }
        let addresses: Vec<Value> = ir.operands(op).iter().copied().filter(|&v| leads_to_memory(ir.ty(v))).collect();
        // A callee may do anything with each of them. Other operations go where the first one says.
        let Some(&address) = addresses.first() else { continue };
        let offsets = Place::of(ir, op, address).offsets;
        let owners = !called && (touch.writes || is_for_owners(ir, op));
        let holder = match ir.ty(offsets.unwrap_or(address)) {
            ty if ty.is_tensor() => Holder::Tensor(ty),
            _ if owners => Holder::First,
            _ => Holder::All,
        };
        let in_flight = events(ir, op, allocation, false).iter().any(|e| matches!(e, Event::InFlight(Flight::Copy, _)));
        for &address in &addresses[..if called { addresses.len() } else { 1 }] {
            found.push(Access {
                op,
                place: Place::of(ir, op, address),
                holder,
                owners,
                reads: called || touch.reads,
                writes: called || touch.writes,
                atomic: ir.kind(op).belongs(Classes::ATOMIC),
                in_flight,
            });
        }
    }
    found
}

/// Whether an operation accesses global memory by the addresses of each thread.
fn goes_to_memory(ir: &Ir, op: Op) -> bool {
    let buffer = matches!(
        ir.kind(op),
        OpKind::Amdg(
            AmdgOp::BufferLoad
                | AmdgOp::BufferLoadToLocal
                | AmdgOp::BufferStore
                | AmdgOp::BufferAtomicRmw
                | AmdgOp::BufferAtomicCas
        )
    );
    let kind = ir.kind(op);
    buffer
        || ir.is(op, TtgOp::AsyncCopyGlobalToLocal)
        || kind.belongs(Classes::GLOBAL_ACCESS) && !kind.belongs(Classes::DESCRIPTOR_ACCESS)
}

/// Whether of a value that several threads load only the one matters that would store it: every use ends in a store,
/// by way of operations on each element and of control flow that hands values on.
fn is_for_owners(ir: &Ir, load: Op) -> bool {
    let mut open: Vec<Value> = ir.results(load).to_vec();
    let mut seen: BTreeSet<Value> = open.iter().copied().collect();
    while let Some(value) = open.pop() {
        for u in ir.uses(value) {
            let next = match handed_to(ir, *u) {
                Some(next) => next,
                None if ir.is(u.op, TtOp::Store) => vec![],
                None if keeps_places(ir, u.op, ir.ty(value)) => ir.results(u.op).to_vec(),
                None => return false,
            };
            open.extend(next.into_iter().filter(|&v| seen.insert(v)));
        }
    }
    true
}

/// Whether each thread computes with what it holds of a value of this type, and holds the same places of the results.
fn keeps_places(ir: &Ir, op: Op, ty: Type) -> bool {
    let elementwise = ir.kind(op).has(Traits::ELEMENTWISE) || ir.is(op, TtOp::Addptr);
    let alike = |v: &Value| ir.ty(*v).shape() == ty.shape() && ir.ty(*v).encoding() == ty.encoding();
    elementwise && ir.spec(op).effects == Effects::Pure && ir.results(op).iter().all(alike)
}

/// The accesses to arrays that are read and written, or written in two places.
fn shared_arrays(accesses: Vec<Access>, addresses: &mut Addresses<'_>) -> Vec<Access> {
    let mut counts: BTreeMap<Value, (usize, usize)> = BTreeMap::new();
    let origins: Vec<Rc<BTreeSet<Value>>> = accesses.iter().map(|a| addresses.origins(a.place.address)).collect();
    for (access, origins) in accesses.iter().zip(&origins) {
        for origin in origins.iter() {
            let count = counts.entry(*origin).or_default();
            count.0 += usize::from(access.reads);
            count.1 += usize::from(access.writes);
        }
    }
    let matters = |origins: &BTreeSet<Value>| {
        origins.iter().any(|o| {
            let (reads, writes) = counts[o];
            writes > 1 || writes > 0 && reads > 0
        })
    };
    accesses.into_iter().zip(&origins).filter(|(_, origins)| matters(origins)).map(|(access, _)| access).collect()
}
