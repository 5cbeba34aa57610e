//! Happens-before: what each warp knows of what the others did, and the accesses that nobody ordered.
//!
//! The agents are the warps of a cluster, and what works for them asynchronously. Agent numbers, for a cluster of W warps:
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
//! Example: warp 0 stores and waits at a barrier, warp 1 waits there and loads. The barrier's clock has warp 0 at time 1,
//! the store was at time 1, so the load knows it. Without the barrier warp 1 has warp 0 at time 0: a race.

mod clock;
mod global;
mod maps;
mod shadow;

pub(crate) use clock::{Clock, Foreign};
pub(crate) use global::Everywhere;
pub(crate) use shadow::{Access, Shadow};

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
    clocks: Vec<Clock>,
    /// For each warp the group of its copies that its last warp-wide synchronisation covers.
    settled: Vec<u32>,
    /// The agents of `mbarrier`s so far.
    barriers: u32,
    /// What the warp knew at its last release fence, for the relaxed stores after it.
    released: Vec<Option<Clock>>,
    /// What relaxed loads have found, for the next fence.
    found: Vec<Clock>,
    /// The shared memory of each block.
    pub(crate) shared: Vec<Shadow>,
}

/// Who makes an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) warp: u32,
    /// The agent of the access, which is the warp or something asynchronous of it.
    pub(crate) agent: u32,
    pub(crate) time: u32,
    pub(crate) lane: u8,
    /// The number of the step in the program.
    pub(crate) code: u32,
    pub(crate) proxy: Proxy,
}

impl Order {
    pub(crate) fn new(warps: u32, blocks: usize, shared_bytes: usize, granule: u32) -> Order {
        let mut clocks = vec![Clock::default(); warps as usize];
        clocks.iter_mut().enumerate().for_each(|(w, c)| c.generic.set(w as u32, 1));
        Order {
            warps,
            clocks,
            settled: vec![0; warps as usize],
            barriers: 0,
            released: vec![None; warps as usize],
            found: vec![Clock::default(); warps as usize],
            shared: (0..blocks).map(|_| Shadow::new(shared_bytes, granule)).collect(),
        }
    }

    pub(crate) fn time(&self, warp: u32) -> u32 {
        self.clocks[warp as usize].generic.get(warp)
    }

    /// A generic access of a lane.
    pub(crate) fn who(&self, warp: u32, lane: u32, code: u32) -> Who {
        Who { warp, agent: warp, time: self.time(warp), lane: lane as u8, code, proxy: Proxy::Generic }
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
        let copies = Group::Copy as u32 * self.warps + warp;
        self.settled[warp as usize] = clock.generic.get(copies);
    }

    /// A synchronisation of the lanes of a warp.
    pub(crate) fn warp_sync(&mut self, warp: u32) {
        self.tick(warp);
    }

    /// Adds what a warp knows to a clock that others will acquire.
    pub(crate) fn release(&mut self, warp: u32, to: &mut Clock) {
        to.join(&self.clocks[warp as usize]);
        self.tick(warp);
    }

    pub(crate) fn acquire(&mut self, warp: u32, from: &Clock) {
        self.clocks[warp as usize].join(from);
    }

    /// The warp knows an asynchronous agent up to a time.
    pub(crate) fn learn(&mut self, warp: u32, agent: u32, time: u32) {
        let clock = &mut self.clocks[warp as usize];
        let known = clock.generic.get(agent);
        clock.generic.set(agent, known.max(time));
    }

    /// `fence.proxy.async`: what the warp knows is ordered before the asynchronous operations that know of the fence.
    pub(crate) fn fence_async(&mut self, warp: u32) {
        let clock = &mut self.clocks[warp as usize];
        let Clock { generic, asynchronous, .. } = clock;
        asynchronous.join(generic);
        self.tick(warp);
    }

    /// A fence: later relaxed stores release what is known now, and what relaxed loads have found is acquired.
    pub(crate) fn fence(&mut self, warp: u32) {
        let found = std::mem::take(&mut self.found[warp as usize]);
        self.clocks[warp as usize].join(&found);
        self.released[warp as usize] = Some(self.clocks[warp as usize].clone());
        self.tick(warp);
    }

    /// A synchronising access to a place whose clock is `at`.
    pub(crate) fn synchronise(&mut self, warp: u32, at: &mut Clock, acquires: bool, releases: bool, reads: bool) {
        if reads {
            if acquires {
                self.clocks[warp as usize].join(at);
            } else {
                self.found[warp as usize].join(at);
            }
        }
        if releases {
            self.release(warp, at);
        } else if let Some(known) = &self.released[warp as usize] {
            at.join(known);
        }
    }

    pub(crate) fn clock(&self, warp: u32) -> &Clock {
        &self.clocks[warp as usize]
    }

    /// Whether who makes an access knows another one of the same cluster.
    pub(crate) fn knows(&self, who: &Who, other: &Access, written: bool) -> bool {
        let clock = &self.clocks[who.warp as usize];
        let agent = u32::from(other.agent);
        if other.time == NEVER {
            return false;
        }
        if who.proxy == Proxy::Asynchronous {
            // A generic write must be known to the asynchronous proxy.
            let generic_write = written && agent < 2 * self.warps;
            let side = if generic_write { &clock.asynchronous } else { &clock.generic };
            let own = agent == who.warp && !generic_write;
            return own || side.get(agent) >= other.time || agent == who.agent && agent >= self.warps;
        }
        if agent == who.warp {
            // Lanes of one warp are ordered by its synchronisations.
            return other.lane == who.lane || other.time < self.time(who.warp);
        }
        if agent == self.group(who.warp, Group::Copy) {
            let known = if other.lane == who.lane { clock.generic.get(agent) } else { self.settled[who.warp as usize] };
            return known >= other.time;
        }
        clock.generic.get(agent) >= other.time
    }
}
