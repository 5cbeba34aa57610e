//! Where the threads of a block, or of a cluster, must wait for each other because of shared memory.
//!
//! # Algorithm
//!
//! 1. A *state* is the set of accesses that some thread may not have finished since the last barrier, and of those in
//!    flight. Of each access it says at which mbarriers every warp has said since that it is through with it, and
//!    whether the first warp has waited for that: then what the first warp alone does comes after the access.
//! 2. The state before each segment of the control flow ([`Segments`]) is the union over the ways into it, computed
//!    until nothing changes. A barrier empties the set; a wait adds what was in flight.
//! 3. An operation whose access conflicts with one in the state (they overlap, and one writes) needs a barrier before
//!    it. The first segment with such operations gets its barriers, and the states are computed again: a barrier often
//!    serves what comes later.
//! 4. Loops are left out at first, then taken into account: what the end of a body leaves meets the start of the body.
//!    A barrier in the middle of the body often separates both.
//!    Slots of a pipelined loop's ring are known to be apart, within an iteration and from one to the next
//!    ([`super::slots`]), until control goes back over another loop. So a copy into a slot that the product of the
//!    iteration before has read needs a barrier, and one into a spare slot does not.
//! 5. Barriers that turned out not to be needed are taken out again, each tried in the order of the text. What is left
//!    is minimal: [`Membar::is_safe`] holds, and fails without any one of them.
//!
//! # Mbarriers in the place of barriers
//!
//! In a loop that refills slots of a buffer, the first warp waits at an mbarrier until all warps have arrived there:
//!
//! ```text
//! ttng.warp_group_dot_wait              the product of the iteration before is done        pending: reads of the slots
//! ttng.arrive_barrier %empty {each}     this warp is through with it                       …, left at %empty
//! ttng.wait_barrier %empty {first}      the first warp goes on when all warps are          …, before the first warp
//! ttng.async_tma_copy %slot {first}     conflicts with nothing, and needs no barrier
//! ```
//!
//! # Clusters
//!
//! Where blocks reach into each other's memory, the same is done for the cluster first ([`Among::Cluster`]): only
//! accesses count of which one is remote, only barriers of the cluster order them, and no block may end while others
//! may still reach into its memory. The analysis of the block then finds the cluster's barriers in place.
//!
//! # Example
//!
//! ```text
//! scf.for …
//!   barrier                       the load of the iteration before must be done
//!   ttg.local_store %x, %buffer
//!   barrier                       RAW
//!   %y = ttg.local_load %buffer
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::allocation::Allocation;
use super::flow::{Segment, Segments};
use super::shared_effects::{BufferAccess, Class, Event, Flight, events};
use super::slots::Slot;
use crate::ir::core::{Ir, Op};
use crate::layout::plan::Among;

/// Products are counted up to here.
const MOST_PRODUCTS: i64 = 64;

/// An access that some threads may not have made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    access: BufferAccess,
    /// The bytes of mbarriers at which each warp has arrived behind the access.
    /// The third number says to which blocks' mbarriers: those that differ in these bits of the number.
    left: BTreeSet<(u32, u32, u32)>,
    /// Whether the first warp has waited for one of these arrivals, and in which blocks these were.
    before_first_warp: Option<u32>,
    /// Whether the access only begins. It ends at a wait, where it is pending once more; no barrier before ends it.
    begins: bool,
}

impl Pending {
    fn new(access: BufferAccess) -> Pending {
        Pending { access, left: BTreeSet::new(), before_first_warp: None, begins: false }
    }

    fn conflicts(&self, access: &BufferAccess) -> bool {
        // The first warp makes its own accesses in their order. What is in flight when it fills a slot is in another
        // slot: a barrier would not end it.
        let apart = self.access.blocks | access.blocks;
        let waited = self.before_first_warp.is_some_and(|blocks| apart & !blocks == 0);
        let ordered = access.first_warp && (waited || self.access.first_warp && apart == 0 || self.begins);
        !ordered && self.access.conflicts(access)
    }
}

/// What may not be finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct State {
    pending: BTreeSet<Pending>,
    /// Those that the next meeting of all threads ends.
    released: BTreeSet<Pending>,
    /// With the number of groups of its kind that were started since, for those of which each operation is one.
    in_flight: BTreeSet<(Flight, BufferAccess, i64)>,
    /// Whether something goes on in other blocks.
    reached: bool,
}

impl State {
    /// Adds what another state holds; whether that was new.
    fn join(&mut self, other: &State) -> bool {
        let size = |s: &State| (s.pending.len(), s.released.len(), s.in_flight.len(), s.reached);
        let before = size(self);
        self.pending.extend(other.pending.iter().cloned());
        self.released.extend(other.released.iter().cloned());
        self.in_flight.extend(other.in_flight.iter().cloned());
        self.reached |= other.reached;
        before != size(self)
    }

    /// The state where control comes by an edge. One that goes back begins the next iteration of a loop, which sees the
    /// slots of its own ring from there. Those of other rings may be any then.
    fn over(&self, back_to: Option<&Segment>) -> Cow<'_, State> {
        let Some(to) = back_to else { return Cow::Borrowed(self) };
        let seen = |slot: Slot| (Some(slot.looped) == to.begins).then(|| slot.from_next_iteration());
        let access = |a: &BufferAccess| BufferAccess { slot: a.slot.and_then(seen), ..a.clone() };
        let pending =
            |all: &BTreeSet<Pending>| all.iter().map(|p| Pending { access: access(&p.access), ..p.clone() }).collect();
        let names_slots =
            |s: &State| s.open().any(|p| p.access.slot.is_some()) || s.in_flight.iter().any(|f| f.1.slot.is_some());
        if !names_slots(self) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(State {
            pending: pending(&self.pending),
            released: pending(&self.released),
            in_flight: self.in_flight.iter().map(|(flight, a, age)| (*flight, access(a), *age)).collect(),
            reached: self.reached,
        })
    }

    /// All threads have waited for each other.
    fn wait(&mut self) {
        self.pending.clear();
        self.released.clear();
        self.reached = false;
    }

    /// What is not ordered yet.
    fn open(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter().chain(&self.released)
    }

    /// Whether an operation's events conflict with what is pending, or would had the operation's own barriers not come
    /// before.
    fn conflicts(&self, happening: &[Event], among: Among) -> bool {
        // That mbarriers are initialised the blocks learn by a barrier that is not placed here.
        let counts = |before: &BufferAccess, now: &BufferAccess| match among {
            Among::Cluster => {
                (before.blocks | now.blocks) != 0
                    && (before.class, now.class) != (Class::MbarrierLife, Class::MbarrierUse)
            }
            Among::Block | Among::Warp => (before.blocks | now.blocks) == 0,
        };
        for event in happening {
            match event {
                Event::Access(access) | Event::InFlight(_, access) | Event::Signalled(access)
                    if self.open().any(|p| p.conflicts(access) && counts(&p.access, access)) =>
                {
                    return true;
                }
                Event::End
                    if among == Among::Cluster && (self.reached || self.open().any(|p| p.access.blocks != 0)) =>
                {
                    return true;
                }
                event if is_barrier(event, among) => return false,
                _ => {}
            }
        }
        false
    }

    fn run(&mut self, happening: &[Event], among: Among) {
        // A product is a group of its own, whatever it reads.
        if happening.iter().any(|e| matches!(e, Event::InFlight(Flight::Product, _))) {
            self.grow_older();
        }
        for event in happening {
            match event {
                event if is_barrier(event, among) => self.wait(),
                Event::Access(access) => {
                    self.pending.insert(Pending::new(access.clone()));
                }
                Event::InFlight(flight, access) => {
                    self.pending.insert(Pending { begins: true, ..Pending::new(access.clone()) });
                    self.in_flight.insert((*flight, access.clone(), 0));
                }
                Event::Complete { flight, left } => {
                    // Which copies have ended is not counted: all of them may have, or none.
                    let counted = *flight == Flight::Product && *left < MOST_PRODUCTS;
                    let may_be_done = |f: &&(Flight, BufferAccess, i64)| f.0 == *flight && (!counted || f.2 >= *left);
                    let done = self.in_flight.iter().filter(may_be_done);
                    self.pending.extend(done.map(|f| Pending::new(f.1.clone())));
                    if counted || *left == 0 {
                        self.in_flight.retain(|f| !may_be_done(&f));
                    }
                }
                Event::Leave { start, end, blocks } => self.each(|p| {
                    p.left.insert((*start, *end, *blocks));
                }),
                Event::Enter { start, end } => self.each(|p| {
                    let here = p.left.iter().filter(|at| at.0 < *end && *start < at.1).map(|at| at.2);
                    // All arrivals at these mbarriers are waited for, so the one to the fewest blocks counts.
                    if let Some(blocks) = here.reduce(|all, blocks| all & blocks) {
                        p.left.clear();
                        p.before_first_warp = Some(blocks);
                    }
                }),
                Event::Release => {
                    let made = |pending: &Pending| pending.access.class == Class::MbarrierLife;
                    let (made, rest) = std::mem::take(&mut self.pending).into_iter().partition(made);
                    self.released.append(&mut { made });
                    self.pending = rest;
                }
                Event::Meeting => self.released.clear(),
                Event::Reach => self.reached = true,
                Event::Signalled(_) | Event::Barrier | Event::ClusterBarrier | Event::End => {}
            }
        }
    }

    /// One more product has been started.
    fn grow_older(&mut self) {
        let older = |(flight, access, age): (Flight, BufferAccess, i64)| {
            (flight, access, if flight == Flight::Product { (age + 1).min(MOST_PRODUCTS) } else { age })
        };
        self.in_flight = std::mem::take(&mut self.in_flight).into_iter().map(older).collect();
    }

    /// Changes every access that the first warp has not waited for.
    fn each(&mut self, change: impl Fn(&mut Pending)) {
        let all = std::mem::take(&mut self.pending);
        let changed = all.into_iter().map(|mut p| {
            if p.before_first_warp.is_none() {
                change(&mut p);
            }
            p
        });
        self.pending = changed.collect();
    }
}

/// Whether all these threads wait.
fn is_barrier(event: &Event, among: Among) -> bool {
    matches!(event, Event::ClusterBarrier) || matches!(event, Event::Barrier) && among != Among::Cluster
}

/// The analysis of one function.
pub struct Membar {
    segments: Segments,
    /// Which threads wait for each other: those of the block, or of the cluster.
    among: Among,
    /// For each segment its operations that touch shared memory, with what they do.
    happening: Vec<Vec<(Op, Vec<Event>)>>,
}

impl Membar {
    /// Prepares the analysis of a function whose memory is allocated. Nothing that conflicts with it is pending when it
    /// starts: its callers see to that, for whom a call writes to all of the callee's memory.
    #[must_use]
    pub fn new(ir: &Ir, func: Op, allocation: &Allocation, one_warp: bool, among: Among) -> Membar {
        let segments = Segments::new(ir, func);
        let of_op = |&op: &Op| {
            let events = events(ir, op, allocation, one_warp);
            (!events.is_empty()).then_some((op, events))
        };
        let happening = segments.all.iter().map(|s| s.ops.iter().filter_map(of_op).collect()).collect();
        Membar { segments, among, happening }
    }

    /// The operations that need a barrier before them, in the order of the text.
    #[must_use]
    pub fn barriers(&self) -> Vec<Op> {
        let mut chosen = self.without_loops();
        while let Some(more) = self.first_conflicts(&chosen) {
            chosen.extend(more);
        }
        let order: Vec<Op> =
            self.happening.iter().flatten().map(|(op, _)| *op).filter(|op| chosen.contains(op)).collect();
        self.drop_needless(&mut chosen);
        order.into_iter().filter(|op| chosen.contains(op)).collect()
    }

    /// Step 5. Whether a barrier is needed shows by the next one in its segment, since from there on the states are the
    /// same with it and without it. Only the last one of a segment needs a look at what follows the segment.
    fn drop_needless(&self, chosen: &mut BTreeSet<Op>) {
        let mut states = self.states(chosen);
        for (index, happening) in self.happening.iter().enumerate() {
            let mut state = states[index].clone();
            for (at, (op, events)) in happening.iter().enumerate() {
                if chosen.remove(op) {
                    let needed = match self.needed_here(&state, &happening[at..], chosen) {
                        Some(needed) => needed,
                        None => !self.stays_safe(&mut states, index, chosen),
                    };
                    if needed {
                        chosen.insert(*op);
                        state.wait();
                    }
                }
                state.run(events, self.among);
            }
        }
    }

    /// Whether nothing conflicts after a barrier of this segment was taken out. The states are those of the function
    /// with the barrier; where the answer is yes they become those without it. Only what the barrier held back is
    /// followed, and only as far as it changes a state.
    fn stays_safe(&self, states: &mut [State], segment: usize, barriers: &BTreeSet<Op>) -> bool {
        let mut grown: BTreeMap<usize, State> = BTreeMap::new();
        let mut open = vec![segment];
        while let Some(index) = open.pop() {
            let mut state = grown.get(&index).unwrap_or(&states[index]).clone();
            if !self.conflicts_in(index, &mut state, barriers).is_empty() {
                return false;
            }
            for &next in &self.segments.all[index].next {
                let over = state.over(self.back_to(index, next));
                if grown.entry(next).or_insert_with(|| states[next].clone()).join(&over) {
                    open.push(next);
                }
            }
        }
        for (index, state) in grown {
            states[index] = state;
        }
        true
    }

    /// Whether accesses conflict, from this state up to the next barrier; `None` when none follows in the segment and
    /// nothing conflicts.
    fn needed_here(&self, state: &State, happening: &[(Op, Vec<Event>)], barriers: &BTreeSet<Op>) -> Option<bool> {
        let mut state = state.clone();
        for (op, events) in happening {
            if barriers.contains(op) {
                return Some(false);
            }
            if state.conflicts(events, self.among) {
                return Some(true);
            }
            if events.iter().any(|e| is_barrier(e, self.among)) {
                return Some(false);
            }
            state.run(events, self.among);
        }
        None
    }

    /// Whether no two accesses conflict, given barriers before these operations.
    #[must_use]
    pub fn is_safe(&self, barriers: &BTreeSet<Op>) -> bool {
        self.first_conflicts(barriers).is_none()
    }

    /// Step 3 without loops. What precedes a segment in the text decides its state, so one walk is enough.
    fn without_loops(&self) -> BTreeSet<Op> {
        let mut chosen = BTreeSet::new();
        let mut states = vec![State::default(); self.segments.all.len()];
        for (index, segment) in self.segments.all.iter().enumerate() {
            let mut state = std::mem::take(&mut states[index]);
            chosen.extend(self.conflicts_in(index, &mut state, &chosen));
            for &next in segment.next.iter().filter(|&&next| !Segments::goes_back(index, next)) {
                states[next].join(&state);
            }
        }
        chosen
    }

    /// Step 3: the operations of the first segment with conflicts that need barriers beside those given.
    fn first_conflicts(&self, barriers: &BTreeSet<Op>) -> Option<Vec<Op>> {
        let states = self.states(barriers);
        let found = |(index, mut state)| Some(self.conflicts_in(index, &mut state, barriers)).filter(|f| !f.is_empty());
        states.into_iter().enumerate().find_map(found)
    }

    /// The operations of a segment that need barriers beside those given. The state before the segment becomes the
    /// state after it, with these barriers.
    fn conflicts_in(&self, segment: usize, state: &mut State, barriers: &BTreeSet<Op>) -> Vec<Op> {
        let mut found = vec![];
        for (op, events) in &self.happening[segment] {
            if barriers.contains(op) {
                state.wait();
            } else if state.conflicts(events, self.among) {
                found.push(*op);
                state.wait();
            }
            state.run(events, self.among);
        }
        found
    }

    /// The segment where an edge ends, if it goes back.
    fn back_to(&self, from: usize, to: usize) -> Option<&Segment> {
        Segments::goes_back(from, to).then(|| &self.segments.all[to])
    }

    /// Step 2: the state before each segment.
    fn states(&self, barriers: &BTreeSet<Op>) -> Vec<State> {
        let mut states = vec![State::default(); self.segments.all.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, segment) in self.segments.all.iter().enumerate() {
                let mut state = states[index].clone();
                for (op, events) in &self.happening[index] {
                    if barriers.contains(op) {
                        state.wait();
                    }
                    state.run(events, self.among);
                }
                for &next in &segment.next {
                    let new = states[next].join(&state.over(self.back_to(index, next)));
                    // What was passed already must be looked at again.
                    changed |= new && Segments::goes_back(index, next);
                }
            }
        }
        states
    }
}

#[cfg(test)]
mod tests;
