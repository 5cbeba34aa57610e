//! The barriers of a block and of a cluster ("PTX ISA, bar, barrier", "barrier.cluster").

use super::Try;
use super::block::{BlockBarrier, Complete};
use super::env::Env;
use super::warp::{Wait, Warp};
use crate::emu::decode::op::{Barrier, Reduce};
use crate::emu::observe::{Act, Meeting};
use crate::emu::order::Clock;
use crate::emu::report::Kind;

/// How many barriers a block has.
pub(crate) const BARRIERS: u64 = 16;

impl BlockBarrier {
    /// A warp leaves a complete generation. The result is what it learns.
    fn leave(&mut self, generation: u64) -> (Clock, (u32, u32)) {
        let Some(done) = self.done.get_mut(&generation) else { return (Clock::default(), (0, 0)) };
        done.left = done.left.saturating_sub(1);
        if done.left > 0 {
            return (done.clock.clone(), done.votes);
        }
        let done = self.done.remove(&generation);
        done.map_or_else(|| (Clock::default(), (0, 0)), |d| (d.clock, d.votes))
    }
}

impl Env<'_, '_> {
    /// Arrives at a barrier of the block. The warp may wait after this.
    pub(crate) fn barrier(&mut self, warp: &mut Warp, op: &Barrier, active: u32) -> Try<()> {
        if active != warp.live {
            let message = "only some lanes of the warp reach the barrier, which all must reach together";
            let mut finding = self.finding(warp, warp.live & !active, Kind::Divergence, message);
            finding.help = Some("move the barrier to where the lanes meet again".to_owned());
            return Err(Box::new(finding));
        }
        let id = self.uniform(warp, warp.reg(op.id), active)?;
        if id >= BARRIERS {
            let message = format!("a block has {BARRIERS} barriers, and this one has the number {id}");
            return Err(self.fault(warp, active, Kind::Invalid, message));
        }
        let threads = match op.threads {
            None => None,
            Some(n) => Some(self.uniform(warp, warp.reg(n), active)? as u32),
        };
        if threads.is_some_and(|n| n == 0 || !n.is_multiple_of(32)) {
            let message = format!("a barrier of {} threads: the number must be a multiple of 32", threads.unwrap_or(0));
            return Err(self.fault(warp, active, Kind::Invalid, message));
        }
        let votes = op.reduce.map_or(0, |(_, p, _)| (warp.pred(p) & active).count_ones());
        let barrier = &mut self.blocks[warp.block].barriers[id as usize];
        if barrier.arrived > 0 && barrier.threads != threads {
            let count = |n: Option<u32>| n.map_or_else(|| "all".to_owned(), |n| n.to_string());
            let message = format!(
                "this warp says that {} threads take part in barrier {id}, and one before it said {}",
                count(threads),
                count(barrier.threads)
            );
            return Err(self.fault(warp, active, Kind::Divergence, message));
        }
        barrier.threads = threads;
        barrier.arrived += 32;
        barrier.warps.push(warp.index);
        barrier.votes.0 += votes;
        barrier.votes.1 += active.count_ones();
        if let Some(order) = self.order.as_mut() {
            order.release(warp.agent, u32::MAX, &mut barrier.clock);
        }
        let generation = barrier.generation;
        let at = Meeting::Block(warp.block as u32, id as u32);
        self.observe(warp, active, || Act::Arrive { at, round: generation, releases: true });
        if op.waits {
            let reduce = op.reduce.map(|(what, _, to)| (what, to, active));
            warp.wait = Some(Wait::Barrier { id: id as usize, generation, reduce });
            self.blocks[warp.block].barriers[id as usize].waiting += 1;
        }
        self.complete_barrier(warp.block, id as usize);
        Ok(())
    }

    /// Completes a barrier if all have arrived.
    fn complete_barrier(&mut self, block: usize, id: usize) {
        let all = self.blocks[block].live_warps * 32;
        let barrier = &mut self.blocks[block].barriers[id];
        if barrier.arrived == 0 || barrier.arrived < barrier.threads.unwrap_or(all) {
            return;
        }
        let (clock, votes) = (std::mem::take(&mut barrier.clock), std::mem::take(&mut barrier.votes));
        let left = std::mem::take(&mut barrier.waiting);
        barrier.done.insert(barrier.generation, Complete { left, clock, votes });
        barrier.generation += 1;
        barrier.arrived = 0;
        barrier.warps.clear();
    }

    /// What changes when a warp has exited: barriers of the whole block wait for one warp less.
    pub(crate) fn exited(&mut self, warp: &mut Warp) -> Try<()> {
        self.observe(warp, u32::MAX, || Act::Exit);
        self.check_stores(warp);
        self.check_register_changes(warp)?;
        self.blocks[warp.block].live_warps -= 1;
        for id in 0..BARRIERS as usize {
            self.complete_barrier(warp.block, id);
        }
        self.complete_cluster();
        Ok(())
    }

    /// `barrier.cluster.arrive`.
    pub(crate) fn cluster_arrive(&mut self, warp: &mut Warp, release: bool, active: u32) -> Try<()> {
        if active != warp.live {
            let message = "only some lanes of the warp reach the cluster's barrier";
            return Err(self.fault(warp, warp.live & !active, Kind::Divergence, message));
        }
        if warp.cluster_arrived.is_some() {
            let message = "the warp arrives at the cluster's barrier again, and has not waited there";
            return Err(self.fault(warp, active, Kind::Divergence, message));
        }
        let round = self.barrier.generation;
        self.observe(warp, active, || Act::Arrive { at: Meeting::Cluster, round, releases: release });
        warp.cluster_arrived = Some(round);
        self.barrier.arrived += 1;
        match self.order.as_mut() {
            Some(order) if release => order.release(warp.agent, u32::MAX, &mut self.barrier.clock),
            Some(order) => order.release_fenced(warp.agent, &mut self.barrier.clock),
            None => {}
        }
        self.complete_cluster();
        Ok(())
    }

    fn complete_cluster(&mut self) {
        let live: u32 = self.blocks.iter().map(|b| b.live_warps).sum();
        if self.barrier.arrived > 0 && self.barrier.arrived >= live {
            self.barrier.generation += 1;
            self.barrier.arrived = 0;
            self.barrier.done = std::mem::take(&mut self.barrier.clock);
        }
    }

    /// `barrier.cluster.wait`.
    pub(crate) fn cluster_wait(&mut self, warp: &mut Warp, active: u32) -> Try<()> {
        let Some(generation) = warp.cluster_arrived.take() else {
            let message = "the warp waits at the cluster's barrier without having arrived";
            return Err(self.fault(warp, active, Kind::Divergence, message));
        };
        warp.wait = Some(Wait::Cluster { generation });
        Ok(())
    }

    /// Whether what a warp waits for has happened. If so, the warp goes on.
    pub(crate) fn wake(&mut self, warp: &mut Warp) -> bool {
        let Some(wait) = &warp.wait else { return true };
        let ready = match wait {
            Wait::Barrier { id, generation, .. } => self.blocks[warp.block].barriers[*id].generation > *generation,
            Wait::Cluster { generation } => self.barrier.generation > *generation,
            Wait::Mbarrier { block, at, phase } => {
                self.blocks[*block].mbarriers.get(at).is_none_or(|m| m.phase > *phase)
            }
            Wait::Registers { need } => self.has_free_registers(warp.block, *need),
        };
        if !ready {
            return false;
        }
        self.observe_leave(warp);
        let clock = match warp.wait.take() {
            Some(Wait::Barrier { id, generation, reduce }) => {
                let (clock, votes) = self.blocks[warp.block].barriers[id].leave(generation);
                if let Some((what, to, lanes)) = reduce {
                    let (yes, all) = votes;
                    let value = match what {
                        Reduce::Popc => yes,
                        Reduce::And => u32::from(yes == all),
                        Reduce::Or => u32::from(yes > 0),
                    };
                    warp.set_target(to, value, lanes);
                }
                clock
            }
            Some(Wait::Cluster { .. }) => self.barrier.done.clone(),
            // The step is executed again, and acquires by itself.
            Some(Wait::Mbarrier { .. } | Wait::Registers { .. }) | None => return true,
        };
        if let Some(order) = self.order.as_mut() {
            order.leave_barrier(warp.agent, &clock);
        }
        true
    }

    /// Tells the observer that the wait of a warp for others is over.
    fn observe_leave(&mut self, warp: &Warp) {
        let (at, round) = match &warp.wait {
            Some(Wait::Barrier { id, generation, .. }) => (Meeting::Block(warp.block as u32, *id as u32), *generation),
            Some(Wait::Cluster { generation }) => (Meeting::Cluster, *generation),
            // The test that is executed again says so.
            Some(Wait::Mbarrier { .. } | Wait::Registers { .. }) | None => return,
        };
        self.observe(warp, warp.live, || Act::Leave { at, round, acquires: true });
    }

    /// What a warp waits for, in words.
    pub(crate) fn waits_for(&self, warp: &Warp) -> String {
        match &warp.wait {
            None => "waits for nothing".to_owned(),
            Some(Wait::Barrier { id, .. }) => {
                let barrier = &self.blocks[warp.block].barriers[*id];
                let all = self.blocks[warp.block].live_warps * 32;
                let needed = barrier.threads.unwrap_or(all);
                format!("waits at barrier {id}, where {} of {needed} threads have arrived", barrier.arrived)
            }
            Some(Wait::Cluster { .. }) => {
                format!("waits at the cluster's barrier, where {} warps have arrived", self.barrier.arrived)
            }
            Some(Wait::Registers { need }) => self.waits_for_registers(warp.block, *need),
            Some(Wait::Mbarrier { block, at, .. }) => match self.blocks[*block].mbarriers.get(at) {
                Some(m) => format!("waits for the `mbarrier` at {at:#x}, which {}", m.words()),
                None => format!("waits for an `mbarrier` at {at:#x} that is gone"),
            },
        }
    }
}
