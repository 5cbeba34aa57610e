//! Who synchronises with whom: the scopes of releases, acquires and fences ("PTX ISA, Memory Consistency Model",
//! "Scope", "Morally strong operations", "Synchronization").
//!
//! A release reaches an acquire of the same place if each of the two has a scope that includes the other's thread. A
//! fence and a relaxed access behind it are a release with the narrower of their two scopes, and a relaxed access with
//! a fence behind it is an acquire in the same way.
//!
//! Example: block 0 stores, executes `fence.acq_rel.cta` and sets a flag with `st.relaxed.gpu`. Block 1 finds the flag
//! and executes `fence.acq_rel.gpu`. The first fence is for its own block, so block 1 does not know the store.

use std::collections::BTreeMap;

use super::clock::join_foreign;
use super::{Clock, Foreign};
use crate::emu::decode::op::Scope;

/// The scopes that differ within one GPU.
pub(crate) const SCOPES: [Scope; 3] = [Scope::Cta, Scope::Cluster, Scope::Gpu];

/// Where a warp is: the number of its cluster, and the rank of its block there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Home {
    pub(crate) cluster: u32,
    pub(crate) block: u32,
}

impl Home {
    /// Whether a scope, named by a thread here, includes the threads of another block.
    pub(crate) fn includes(self, scope: Scope, other: Home) -> bool {
        match scope {
            Scope::Cta => self == other,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

/// What was released at a place.
#[derive(Default)]
struct Released {
    /// All of it, in a program that has no scope narrower than the GPU.
    all: Foreign,
    /// By who released it, and with what scope.
    each: BTreeMap<(Home, Scope), Foreign>,
}

/// The places that synchronise, by their addresses.
#[derive(Default)]
pub(crate) struct Places {
    /// Whether the program has scopes that are narrower than the GPU.
    narrow: bool,
    released: BTreeMap<u64, Released>,
}

impl Places {
    pub(crate) fn new(narrow: bool) -> Places {
        Places { narrow, ..Places::default() }
    }

    /// What a thread learns that acquires at a place with a scope.
    pub(crate) fn acquired(&self, place: u64, home: Home, scope: Scope) -> Clock {
        let Some(released) = self.released.get(&place) else { return Clock::default() };
        if !self.narrow {
            return Clock::imported(&released.all, home.cluster);
        }
        let mut seen = Foreign::default();
        for ((from, said), clock) in &released.each {
            if from.includes(*said, home) && home.includes(scope, *from) {
                join_foreign(&mut seen, clock);
            }
        }
        Clock::imported(&seen, home.cluster)
    }

    /// Adds what a thread releases at a place with a scope.
    pub(crate) fn release(&mut self, place: u64, home: Home, scope: Scope, clock: &Clock) {
        let at = self.released.entry(place).or_default();
        let to = if self.narrow { at.each.entry((home, scope)).or_default() } else { &mut at.all };
        join_foreign(to, &clock.exported(home.cluster));
    }

    /// The scopes of fences that are told apart: all count as the GPU's where the program has none that is narrower.
    pub(crate) fn scopes(&self) -> &'static [Scope] {
        if self.narrow { &SCOPES } else { &SCOPES[2..] }
    }

    /// A scope as this program tells scopes apart.
    pub(crate) fn told(&self, scope: Scope) -> Scope {
        if self.narrow { scope.min(Scope::Gpu) } else { Scope::Gpu }
    }
}

/// What the fences of a warp carry, by scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What the warp knew at its last fence of the scope.
    known: [Option<Clock>; 3],
    /// What relaxed loads found that an acquire of the scope would have learned, for the next fence.
    found: [Clock; 3],
}

impl Fences {
    /// A relaxed load finds what was released.
    pub(crate) fn find(&mut self, scope: Scope, clock: &Clock) {
        self.found[scope as usize].join(clock);
    }

    /// A fence acquires what was found. A wider scope finds all that a narrower one does.
    pub(crate) fn acquire(&mut self, scope: Scope) -> Clock {
        let found = std::mem::take(&mut self.found[scope as usize]);
        self.found[..scope as usize].iter_mut().for_each(|f| *f = Clock::default());
        found
    }

    /// A fence releases what is known, with the relaxed stores that follow.
    pub(crate) fn release(&mut self, scope: Scope, known: &Clock) {
        self.known[scope as usize] = Some(known.clone());
    }

    /// What a relaxed store releases, by the scope of the fence.
    pub(crate) fn released(&self) -> impl Iterator<Item = (Scope, &Clock)> {
        SCOPES.iter().zip(&self.known).filter_map(|(s, known)| known.as_ref().map(|k| (*s, k)))
    }
}
