//! What the warps of a cluster share: the blocks' shared memory and barriers, global memory, asynchronous work, and
//! what was found.

use std::collections::BTreeSet;

use super::Fault;
use super::block::{Block, ClusterBarrier};
use super::launch::{Landing, Options};
use super::pending::Pending;
use super::random::Random;
use super::warp::Warp;
use crate::emu::decode::program::{Function, Place, Program};
use crate::emu::memory::Memory;
use crate::emu::observe::{Act, Event, Log};
use crate::emu::order::{Everywhere, Order};
use crate::emu::report::{Actor, Finding, Kind, Site};

/// What all clusters of a launch share and nobody changes.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) kernel: usize,
    pub(crate) memory: &'a Memory,
    pub(crate) options: &'a Options,
    /// The parameters of the kernel.
    pub(crate) params: Vec<u8>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) dynamic_shared: u32,
    /// The number of the first step of each function, counted over the program.
    pub(crate) code_starts: Vec<u32>,
}

impl Run<'_> {
    pub(crate) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub(crate) fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    pub(crate) fn cluster_size(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// The bytes of shared memory of a block.
    pub(crate) fn shared_bytes(&self) -> u32 {
        self.program.dynamic_shared_start + self.dynamic_shared
    }

    pub(crate) fn kernel(&self) -> &Function {
        &self.program.functions[self.kernel]
    }

    /// The place of a step, by its number in the program.
    pub(crate) fn place(&self, code: u32) -> Place {
        let function = self.code_starts.partition_point(|&start| start <= code) - 1;
        let index = (code - self.code_starts[function]) as usize;
        self.program.functions[function].places.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn site(&self, code: u32) -> Site {
        Site::new(self.program, self.place(code))
    }
}

/// What the clusters of a launch find and share.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) findings: Vec<Finding>,
    /// The kinds and steps that were reported.
    pub(crate) seen: BTreeSet<(Kind, u32, u32)>,
    pub(crate) printed: Vec<String>,
    pub(crate) trace: Vec<String>,
    /// What the observer is told, if there is one.
    pub(crate) log: Option<Log>,
    pub(crate) everywhere: Everywhere,
    pub(crate) instructions: u64,
    /// The deterministic clock of `%globaltimer`.
    pub(crate) timer: u64,
}

pub(crate) struct Env<'a, 'w> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) world: &'w mut World,
    /// The number of the cluster in the grid.
    pub(crate) cluster: u32,
    pub(crate) blocks: &'w mut Vec<Block>,
    pub(crate) barrier: &'w mut ClusterBarrier,
    pub(crate) pending: &'w mut Vec<Pending>,
    pub(crate) order: &'w mut Option<Order>,
    pub(crate) random: &'w mut Random,
}

impl Env<'_, '_> {
    pub(crate) fn landing(&self) -> Landing {
        self.run.options.landing
    }

    /// The number of a warp's step in the program.
    pub(crate) fn code(&self, warp: &Warp) -> u32 {
        self.run.code_starts[warp.function] + warp.at
    }

    pub(crate) fn actor(&self, warp: &Warp, lanes: u32) -> Actor {
        Actor { block: self.blocks[warp.block].index, warp: warp.index, lanes }
    }

    /// Tells the observer, if there is one, what lanes of a warp do.
    #[inline]
    pub(crate) fn observe(&mut self, warp: &Warp, lanes: u32, act: impl FnOnce() -> Act) {
        if self.world.log.is_some() {
            let code = self.code(warp);
            self.observe_at(warp.agent, lanes, code, act);
        }
    }

    /// Tells the observer what happens for a warp whose step is elsewhere.
    pub(crate) fn observe_at(&mut self, warp: u32, lanes: u32, code: u32, act: impl FnOnce() -> Act) {
        if let Some(log) = &mut self.world.log {
            let line = self.run.place(code).at.line;
            log.events.push(Event { cluster: self.cluster, warp, lanes, line, act: act() });
        }
    }

    /// Makes a finding about the step that a warp executes.
    pub(crate) fn finding(&self, warp: &Warp, lanes: u32, kind: Kind, message: impl Into<String>) -> Finding {
        Finding {
            kind,
            message: message.into(),
            site: self.run.site(self.code(warp)),
            actor: self.actor(warp, lanes),
            notes: vec![],
            help: None,
        }
    }

    /// A finding that ends the run.
    pub(crate) fn fault(&self, warp: &Warp, lanes: u32, kind: Kind, message: impl Into<String>) -> Fault {
        Box::new(self.finding(warp, lanes, kind, message))
    }

    /// Notes a finding after which the run goes on, unless the same was found at this step before. `other` is the step
    /// of the other side, if there is one.
    pub(crate) fn note(&mut self, warp: &Warp, other: u32, kind: Kind, make: impl FnOnce(&Self) -> Finding) {
        let code = self.code(warp);
        if self.world.findings.len() < self.run.options.max_findings && self.world.seen.insert((kind, code, other)) {
            let finding = make(self);
            self.world.findings.push(finding);
        }
    }
}
