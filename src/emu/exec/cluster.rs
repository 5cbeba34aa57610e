//! A cluster of blocks: its warps take turns, and asynchronous work lands between them.
//!
//! Which warp goes next, and for how many steps, comes from the seed. A cluster without an explicit size is one block.

use super::Try;
use super::block::{Block, BlockBarrier, ClusterBarrier, Operands};
use super::env::{Env, Run, World};
use super::launch::Landing;
use super::pending::Pending;
use super::random::Random;
use super::registers::Registers;
use super::warp::{Params, Wait, Warp};
use crate::emu::memory::Bytes;
use crate::emu::order::Order;
use crate::emu::report::{Finding, Kind};

/// What shared memory holds before anybody writes it.
const UNWRITTEN: u8 = 0xcd;

pub(crate) struct Cluster {
    index: u32,
    blocks: Vec<Block>,
    warps: Vec<Warp>,
    barrier: ClusterBarrier,
    pending: Vec<Pending>,
    order: Option<Order>,
    random: Random,
}

impl Cluster {
    pub(crate) fn new(run: &Run, index: u32) -> Cluster {
        let (count, per_block, threads) = (run.cluster_size(), run.warps(), run.threads());
        let shared = run.shared_bytes() as usize;
        let mut warps = vec![];
        for rank in 0..count {
            for w in 0..per_block {
                let lanes = (threads - 32 * w).min(32);
                let live = u32::MAX >> (32 - lanes);
                let mut warp = Warp::new(rank as usize, w, rank * per_block + w, live);
                let size = run.kernel().param_bytes as usize;
                warp.registers_now = super::registers::at_start(run.kernel().max_registers, threads);
                warp.params = Params { bytes: vec![0; 32 * size], size };
                warp.enter(run.kernel, run.kernel(), u64::from(rank) << super::access::RANK_SHIFT);
                warps.push(warp);
            }
        }
        let block = |rank: u32| Block {
            index: run.block_index(index, rank),
            shared: Bytes::new(shared, UNWRITTEN),
            barriers: (0..super::barrier::BARRIERS).map(|_| BlockBarrier::default()).collect(),
            mbarriers: std::collections::BTreeMap::new(),
            live_warps: per_block,
            operands: Operands::default(),
            registers: Registers::default(),
        };
        let order = || Order::new(count * per_block, count as usize, shared, run.program.shared_granule);
        Cluster {
            index,
            blocks: (0..count).map(block).collect(),
            warps,
            barrier: ClusterBarrier::default(),
            pending: vec![],
            order: run.options.check.then(order),
            random: Random::new(run.options.seed ^ u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        }
    }

    /// Runs for about so many steps. Returns whether the cluster is done.
    pub(crate) fn turn(&mut self, run: &Run, world: &mut World, most: u64) -> Try<bool> {
        let mut left = most as i64;
        while left > 0 {
            let mut env = Env {
                run,
                world,
                cluster: self.index,
                blocks: &mut self.blocks,
                barrier: &mut self.barrier,
                pending: &mut self.pending,
                order: &mut self.order,
                random: &mut self.random,
            };
            if env.landing() == Landing::Random && !env.pending.is_empty() && env.random.once_in(4) {
                let which = env.random.below(env.pending.len());
                env.land(which);
            }
            let Some(next) = ready(&mut env, &mut self.warps) else {
                if self.warps.iter().all(Warp::is_done) {
                    while !env.pending.is_empty() {
                        env.land(0);
                    }
                    return Ok(true);
                }
                if env.pending.is_empty() && self.warps.iter_mut().any(turns) {
                    continue;
                }
                if env.pending.is_empty() {
                    return Err(Box::new(deadlock(&env, &self.warps)));
                }
                // Everybody waits, so something must land.
                env.land(0);
                continue;
            };
            let turn = 1 + env.random.below(512) as u64;
            let done = env.execute(&mut self.warps[next], turn)?;
            world.instructions += done;
            if world.instructions > run.options.max_steps {
                let message = format!("the launch takes more than {} steps of warps", run.options.max_steps);
                let warp = &self.warps[next];
                let mut finding = self.finding(run, warp, Kind::Endless, message);
                finding.help = Some("a loop that waits for something that nobody does looks like this".to_owned());
                return Err(Box::new(finding));
            }
            left -= done as i64;
        }
        Ok(false)
    }

    fn finding(&self, run: &Run, warp: &Warp, kind: Kind, message: String) -> Finding {
        let code = run.code_starts[warp.function] + warp.at;
        let actor =
            crate::emu::report::Actor { block: self.blocks[warp.block].index, warp: warp.index, lanes: warp.mask };
        Finding { kind, message, site: run.site(code), actor, notes: vec![], help: None }
    }
}

/// A warp that can go on, searched from a random one on.
fn ready(env: &mut Env, warps: &mut [Warp]) -> Option<usize> {
    let first = env.random.below(warps.len());
    let count = warps.len();
    (0..count).map(|i| (first + i) % count).find(|&i| !warps[i].is_done() && env.wake(&mut warps[i]))
}

/// Lets the other side of a branch go on, where the lanes of one side wait for an `mbarrier`.
fn turns(warp: &mut Warp) -> bool {
    if warp.is_done() || !matches!(warp.wait, Some(Wait::Mbarrier { .. })) {
        return false;
    }
    let lanes = warp.mask;
    warp.parked |= lanes;
    let turned = warp.turn(false);
    if turned {
        warp.wait = None;
    } else {
        warp.parked &= !lanes;
    }
    turned
}

/// Every warp waits: who waits for what.
fn deadlock(env: &Env, warps: &[Warp]) -> Finding {
    let waiting: Vec<&Warp> = warps.iter().filter(|w| !w.is_done()).collect();
    let first = waiting[0];
    let message = format!("every warp of the {} waits", if env.blocks.len() > 1 { "cluster" } else { "block" });
    let mut finding = env.finding(first, first.mask, Kind::Deadlock, message);
    for warp in waiting {
        let actor = env.actor(warp, 0).words();
        finding.notes.push((format!("{actor} {}", env.waits_for(warp)), Some(env.run.site(env.code(warp)))));
    }
    for warp in warps.iter().filter(|w| w.is_done()) {
        finding.notes.push((format!("{} has exited", env.actor(warp, 0).words()), None));
    }
    finding
}
