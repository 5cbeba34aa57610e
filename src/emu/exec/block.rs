//! The state of a block and of its cluster: shared memory, barriers, and the operands of products.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::emu::memory::Bytes;
use crate::emu::order::Clock;
use crate::emu::tensor::wgmma::Lines;

/// One of the 16 barriers of a block.
#[derive(Default)]
pub(crate) struct BlockBarrier {
    /// The threads that the first warp asked for; all of the block if none.
    pub(crate) threads: Option<u32>,
    pub(crate) arrived: u32,
    pub(crate) generation: u64,
    /// What those who arrived know.
    pub(crate) clock: Clock,
    /// The number of true predicates, and of all, of a reduction.
    pub(crate) votes: (u32, u32),
    pub(crate) warps: Vec<u32>,
    /// Those who wait.
    pub(crate) waiting: u32,
    /// The generations that are complete, for those who have not left. A barrier of some warps can be complete again
    /// before a warp leaves.
    pub(crate) done: BTreeMap<u64, Complete>,
}

/// A generation of a barrier that is complete.
pub(crate) struct Complete {
    /// How many have not left.
    pub(crate) left: u32,
    pub(crate) clock: Clock,
    pub(crate) votes: (u32, u32),
}

pub(crate) struct Block {
    /// Its coordinates in the grid.
    pub(crate) index: [u32; 3],
    pub(crate) shared: Bytes,
    pub(crate) barriers: Vec<BlockBarrier>,
    pub(crate) mbarriers: BTreeMap<u32, Mbarrier>,
    /// The warps that have not exited.
    pub(crate) live_warps: u32,
    /// Operands of products that the warps of a group share.
    pub(crate) operands: Operands,
    pub(crate) registers: super::registers::Registers,
}

/// The barrier of the cluster.
#[derive(Default)]
pub(crate) struct ClusterBarrier {
    pub(crate) arrived: u32,
    pub(crate) generation: u64,
    pub(crate) clock: Clock,
    pub(crate) done: Clock,
}

/// A barrier in shared memory.
pub(crate) struct Mbarrier {
    /// Its agent, for the detectors.
    pub(crate) agent: u32,
    /// The arrivals of a phase.
    pub(crate) expected: u32,
    /// The arrivals that are still to come.
    pub(crate) left: u32,
    /// The bytes that are still to come.
    pub(crate) bytes: i64,
    /// How many phases are complete.
    pub(crate) phase: u64,
    /// What those who arrived in this phase know, and what completed phases told.
    pub(crate) clock: Clock,
    pub(crate) done: Clock,
}

impl Mbarrier {
    /// Begins the next phase if this one is complete.
    pub(crate) fn settle(&mut self) {
        if self.left == 0 && self.bytes == 0 {
            self.phase += 1;
            self.left = self.expected;
            let clock = std::mem::take(&mut self.clock);
            self.done.join(&clock);
            self.done.generic.set(self.agent, self.phase as u32);
        }
    }

    /// What it still lacks, in words.
    pub(crate) fn words(&self) -> String {
        format!(
            "is in phase {}, and lacks {} of {} arrivals and {} bytes",
            self.phase, self.left, self.expected, self.bytes
        )
    }
}

/// The step, the descriptor, and whether it is the left operand.
pub(crate) type OperandKey = (usize, u32, u64, bool);

/// Operands in shared memory, decoded. The four warps of a group read the same, so that one decodes for all as long as
/// nobody writes.
#[derive(Default)]
pub(crate) struct Operands {
    pub(crate) version: u64,
    pub(crate) lines: BTreeMap<OperandKey, Arc<Lines>>,
    /// The chunks of 16 bytes that an operand is made of, which do not depend on what memory holds.
    pub(crate) chunks: BTreeMap<OperandKey, Arc<Vec<u32>>>,
}
