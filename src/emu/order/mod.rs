//! Happens-before: what each warp knows of what the others did, and the accesses that nobody ordered.
//!
//! The agents are the warps of a cluster, and what works for them asynchronously. Agent numbers, for a cluster of W
//! warps:
//!
//! | numbers | agent | its time |
//! |---|---|---|
//! | `0..W` | a warp | is counted up when it releases, and at every warp-wide `.sync` |
//! | `W..2W` | the `cp.async` of a warp | the group |
//! | `2W..3W` | the `wgmma` of a warp | the group |
//! | `3W..4W` | the reads of the bulk groups of a warp | the group |
//! | `4W..5W` | the writes of the bulk groups of a warp | the group |
//! | from `5W` on | an `mbarrier`, for the copies that signal it | the phase |
//!
//! 1. A warp has a [`Clock`]: for each agent the time up to which it knows the agent's accesses. One version is for the
//!    generic proxy, one for the asynchronous proxy, which knows what a proxy fence has joined to it.
//! 2. Barriers, `mbarrier`s, fences and atomics carry clocks from those who release to those who acquire.
//! 3. Every granule of memory remembers its last write and the reads since ([`Shadow`]). An access that does not know
//!    a conflicting one of them is a race.
//!
//! Example: warp 0 stores and waits at a barrier, warp 1 waits there and loads. The barrier's clock has warp 0 at time
//! 1, the store was at time 1, so the load knows it. Without the barrier warp 1 has warp 0 at time 0: a race.

mod clock;
mod global;
mod maps;
mod scope;
mod shadow;

pub(crate) use clock::{Clock, Foreign};
pub(crate) use global::Everywhere;
pub(crate) use scope::{Home, Places};
pub(crate) use shadow::{Access, SEVERAL, Shadow};

use crate::emu::decode::op::Scope;
use scope::Fences;

/// The time of a copy that has not landed: nobody knows it.
pub(crate) const NEVER: u32 = u32::MAX;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Read,
    Write,
    /// An atomic update, which conflicts with everything but other atomics.
    Atomic,
}

/// How an access goes to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proxy {
    Generic,
    Asynchronous,
}

/// The kinds of asynchronous work that have a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Copy = 1,
    Product = 2,
    BulkRead = 3,
    BulkWrite = 4,
}

/// What the warps of a cluster know.
pub(crate) struct Order {
    warps: u32,
    /// What each warp knows: what any of its lanes knows.
    clocks: Vec<Clock>,
    /// What all lanes of each warp know, where some lanes have learned something since they last synchronised.
    apart: Vec<Option<Apart>>,
    /// For each warp its time when its lanes last synchronised, and the group of its copies that all lanes know.
    together: Vec<(u32, u32)>,
    /// For each lane of each warp the time of its own warp that it has acquired: lanes can release to each other.
    heard: Vec<[u32; 32]>,
    /// As `heard`, of single lanes: the lanes that have heard, of whom, and up to what time.
    heard_lanes: Vec<Vec<(u32, u8, u32)>>,
    /// The agents of `mbarrier`s so far.
    barriers: u32,
    /// The fences of each warp.
    fences: Vec<Fences>,
    /// The shared memory of each block.
    pub(crate) shared: Vec<Shadow>,
}

/// A warp of which some lanes know more than others.
struct Apart {
    /// What all of them know.
    all: Clock,
    /// Those that know what the warp knows.
    aware: u32,
}

/// Who makes an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    /// The agent of the access, which is the warp or something asynchronous of it.
    pub(crate) agent: u32,
    pub(crate) time: u32,
    /// [`SEVERAL`] if all lanes of the warp do it together.
    pub(crate) lane: u8,
    /// The number of the step in the program.
    pub(crate) code: u32,
    pub(crate) proxy: Proxy,
    /// Of an atomic access, who it is atomic for.
    pub(crate) scope: Scope,
}

impl Order {
    pub(crate) fn new(warps: u32, blocks: usize, shared_bytes: usize, granule: u32) -> Order {
        let mut clocks = vec![Clock::default(); warps as usize];
        clocks.iter_mut().enumerate().for_each(|(w, c)| c.generic.set(w as u32, 1));
        Order {
            warps,
            clocks,
            apart: (0..warps).map(|_| None).collect(),
            together: vec![(1, 0); warps as usize],
            heard: vec![[0; 32]; warps as usize],
            heard_lanes: vec![vec![]; warps as usize],
            barriers: 0,
            fences: vec![Fences::default(); warps as usize],
            shared: (0..blocks).map(|_| Shadow::new(shared_bytes, granule)).collect(),
        }
    }

    pub(crate) fn time(&self, warp: u32) -> u32 {
        self.clocks[warp as usize].generic.get(warp)
    }

    /// A generic access of a lane.
    pub(crate) fn who(&self, warp: u32, lane: u32, code: u32) -> Who {
        Who {
            warp,
            agent: warp,
            time: self.time(warp),
            lane: lane as u8,
            code,
            proxy: Proxy::Generic,
            scope: Scope::Gpu,
        }
    }

    /// The agent of a kind of asynchronous work of a warp.
    pub(crate) fn group(&self, warp: u32, group: Group) -> u32 {
        group as u32 * self.warps + warp
    }

    /// A new agent for an `mbarrier`.
    pub(crate) fn new_barrier(&mut self) -> u32 {
        self.barriers += 1;
        5 * self.warps + self.barriers - 1
    }

    /// Goes on to the next time of a warp, so that later accesses are not covered by what it has released.
    fn tick(&mut self, warp: u32) {
        let clock = &mut self.clocks[warp as usize];
        let time = clock.generic.get(warp);
        clock.generic.set(warp, time + 1);
    }

    /// A synchronisation of the lanes of a warp: each knows what the others know.
    pub(crate) fn warp_sync(&mut self, warp: u32) {
        self.tick(warp);
        let clock = &self.clocks[warp as usize].generic;
        self.together[warp as usize] = (clock.get(warp), clock.get(self.group(warp, Group::Copy)));
        self.apart[warp as usize] = None;
        self.heard_lanes[warp as usize].clear();
    }

    /// Some lanes of a warp are about to learn something.
    fn part(&mut self, warp: u32, lanes: u32) {
        let apart = &mut self.apart[warp as usize];
        if lanes == u32::MAX {
            *apart = None;
        } else {
            let all = || Apart { all: self.clocks[warp as usize].clone(), aware: 0 };
            apart.get_or_insert_with(all).aware |= lanes;
        }
    }

    /// Adds what lanes of a warp know to a clock that others will acquire.
    pub(crate) fn release(&mut self, warp: u32, lanes: u32, to: &mut Clock) {
        let time = self.time(warp);
        let from = match &self.apart[warp as usize] {
            Some(apart) if apart.aware & lanes == 0 => &apart.all,
            _ => &self.clocks[warp as usize],
        };
        if lanes == u32::MAX {
            to.join(from);
            to.generic.set(warp, to.generic.get(warp).max(time));
        } else {
            // What comes before the last synchronisation of the lanes has an earlier time.
            to.join_lanes(from, warp, lanes, (self.together[warp as usize].0 - 1, time));
        }
        self.tick(warp);
    }

    pub(crate) fn acquire(&mut self, warp: u32, lanes: u32, from: &Clock) {
        self.part(warp, lanes);
        let own = from.generic.get(warp);
        for (lane, time) in from.lanes_of(warp) {
            let known = &mut self.heard_lanes[warp as usize];
            match known.iter_mut().find(|h| h.0 == lanes && h.1 == lane) {
                Some(heard) => heard.2 = heard.2.max(time),
                None => known.push((lanes, lane, time)),
            }
        }
        let heard = self.heard[warp as usize].iter_mut().enumerate();
        heard.filter(|(lane, _)| lanes >> lane & 1 != 0).for_each(|(_, time)| *time = own.max(*time));
        self.clocks[warp as usize].join(from);
    }

    /// A barrier of whole warps is behind a warp.
    pub(crate) fn leave_barrier(&mut self, warp: u32, from: &Clock) {
        self.clocks[warp as usize].join(from);
        self.warp_sync(warp);
    }

    /// Lanes of a warp know an asynchronous agent up to a time.
    pub(crate) fn learn(&mut self, warp: u32, lanes: u32, agent: u32, time: u32) {
        self.part(warp, lanes);
        let clock = &mut self.clocks[warp as usize];
        let known = clock.generic.get(agent);
        clock.generic.set(agent, known.max(time));
    }

    /// `griddepcontrol.wait`: what the launch before this one did is known.
    pub(crate) fn wait_for_earlier(&mut self, warp: u32) {
        self.clocks[warp as usize].wait_for_earlier();
    }

    /// `fence.proxy.async`: what the warp knows is ordered before the asynchronous operations that know of the fence.
    pub(crate) fn fence_async(&mut self, warp: u32) {
        let clock = &mut self.clocks[warp as usize];
        let Clock { generic, asynchronous, .. } = clock;
        asynchronous.join(generic);
        self.tick(warp);
    }

    /// A fence: later relaxed stores release what is known now, and what relaxed loads have found is acquired.
    pub(crate) fn fence(&mut self, warp: u32, lanes: u32, scope: Scope) {
        let found = self.fences[warp as usize].acquire(scope);
        self.acquire(warp, lanes, &found);
        self.fences[warp as usize].release(scope, &self.clocks[warp as usize]);
        self.tick(warp);
    }

    /// A relaxed arrival at the barrier of the cluster: it releases what fences before it covered.
    pub(crate) fn release_fenced(&self, warp: u32, to: &mut Clock) {
        let fenced = self.fences[warp as usize].released().filter(|(scope, _)| *scope >= Scope::Cluster);
        fenced.for_each(|(_, known)| to.join(known));
    }

    /// A synchronising read of a place. A relaxed one finds what the next fence acquires.
    pub(crate) fn read_place(
        &mut self,
        (warp, lane, home): (u32, usize, Home),
        at: (&Places, u64),
        acquires: bool,
        scope: Scope,
    ) {
        let (places, place) = at;
        if acquires {
            self.acquire(warp, 1 << lane, &places.acquired(place, home, scope));
            return;
        }
        for fence in places.scopes() {
            self.fences[warp as usize].find(*fence, &places.acquired(place, home, scope.min(*fence)));
        }
    }

    /// A synchronising write to a place. A relaxed one releases what the fences before it covered.
    pub(crate) fn write_place(
        &mut self,
        (warp, lane, home): (u32, usize, Home),
        at: (&mut Places, u64),
        releases: bool,
        scope: Scope,
    ) {
        let (places, place) = at;
        if releases {
            let mut clock = Clock::default();
            self.release(warp, 1 << lane, &mut clock);
            places.release(place, home, scope, &clock);
            return;
        }
        for (fence, known) in self.fences[warp as usize].released() {
            places.release(place, home, scope.min(fence), known);
        }
    }

    /// The rank of the block of a warp, or of the warp that something asynchronous works for.
    pub(crate) fn block_of(&self, agent: u32) -> u32 {
        let per_block = self.warps / self.shared.len().max(1) as u32;
        agent % self.warps / per_block.max(1)
    }

    /// What any lane of a warp knows.
    pub(crate) fn clock(&self, warp: u32) -> &Clock {
        &self.clocks[warp as usize]
    }

    /// What a lane of a warp knows.
    fn known(&self, warp: u32, lane: u8) -> &Clock {
        match &self.apart[warp as usize] {
            Some(apart) if lane != SEVERAL && apart.aware >> lane & 1 == 0 => &apart.all,
            _ => &self.clocks[warp as usize],
        }
    }

    /// Whether who makes an access knows another one of the same cluster.
    #[inline]
    pub(crate) fn knows(&self, who: &Who, other: &Access, written: bool) -> bool {
        let agent = u32::from(other.agent);
        // The usual case: an access of another warp, by the generic proxy.
        if who.proxy == Proxy::Generic && agent < self.warps && agent != who.warp {
            return other.time != NEVER && self.known(who.warp, who.lane).knows_lane(agent, other.lane, other.time);
        }
        self.knows_own_or_asynchronous(who, other, written)
    }

    fn knows_own_or_asynchronous(&self, who: &Who, other: &Access, written: bool) -> bool {
        let clock = self.known(who.warp, who.lane);
        let agent = u32::from(other.agent);
        let (together, copies) = self.together[who.warp as usize];
        // Lanes of one warp are ordered by its synchronisations, and by what one of them has acquired.
        let is_ordered = || {
            let heard = self.heard[who.warp as usize].get(who.lane as usize).is_some_and(|&time| other.time <= time);
            let of_lane = |h: &(u32, u8, u32)| {
                u32::from(who.lane) < 32 && h.0 >> who.lane & 1 != 0 && h.1 == other.lane && other.time <= h.2
            };
            who.lane == SEVERAL
                || other.lane == who.lane
                || other.time < together
                || heard
                || self.heard_lanes[who.warp as usize].iter().any(of_lane)
        };
        let own = agent == who.warp && is_ordered();
        if other.time == NEVER {
            return false;
        }
        if who.proxy == Proxy::Asynchronous {
            // A generic write must be known to the asynchronous proxy.
            let generic_write = written && agent < 2 * self.warps;
            if agent < self.warps && agent != who.warp && !generic_write {
                return clock.knows_lane(agent, other.lane, other.time);
            }
            let side = if generic_write { &clock.asynchronous } else { &clock.generic };
            if agent == who.warp {
                return own && (!generic_write || side.get(agent) >= other.time);
            }
            return side.get(agent) >= other.time || agent == who.agent && agent >= self.warps;
        }
        if agent == who.warp {
            return own;
        }
        if agent == self.group(who.warp, Group::Copy) {
            let known = if other.lane == who.lane { clock.generic.get(agent) } else { copies };
            return known >= other.time;
        }
        clock.generic.get(agent) >= other.time
    }
}
