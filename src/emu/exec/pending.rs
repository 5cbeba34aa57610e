//! Asynchronous work that has not landed.

use crate::emu::num::Type;

/// Work that will land.
pub(crate) enum Pending {
    Copy(Copy),
    /// An arrival at an `mbarrier` once the earlier copies of the lanes have landed.
    Arrive {
        warp: u32,
        lanes: u32,
        block: usize,
        at: u32,
        groups: u32,
    },
    Bulk(Box<BulkWork>),
}

/// The `cp.async` of a lane.
pub(crate) struct Copy {
    pub(crate) warp: u32,
    pub(crate) lane: usize,
    /// How many groups the lane had committed before it.
    pub(crate) group: u32,
    pub(crate) block: usize,
    pub(crate) to: u32,
    pub(crate) from: u64,
    pub(crate) bytes: u32,
    /// How many bytes are read; the others become zero.
    pub(crate) source_bytes: u32,
}

/// Neighbouring bytes on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// `None` outside of the tensor.
    pub(crate) global: Option<u64>,
    /// The distance in shared memory.
    pub(crate) shared: u32,
    pub(crate) bytes: u32,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From global memory to blocks of the cluster.
    Load,
    /// From the shared memory of a block to global memory.
    Store,
    /// From the shared memory of a block to that of another.
    Across { from_block: usize, from: u32 },
}

/// A bulk copy that has not landed.
pub(crate) struct BulkWork {
    pub(crate) way: Way,
    pub(crate) pieces: Vec<Piece>,
    /// What fills places outside of the tensor, and the type of an element.
    pub(crate) fill: (u64, Type),
    /// The blocks whose shared memory takes part.
    pub(crate) blocks: Vec<usize>,
    /// The barrier that is told, as a distance in each of the blocks.
    pub(crate) barrier: Option<u32>,
    /// The block of the barrier, if it is not that of the data.
    pub(crate) barrier_block: Option<usize>,
    pub(crate) bytes: u32,
    pub(crate) warp: u32,
    pub(crate) lane: usize,
    /// How many groups the lane had committed.
    pub(crate) group: u32,
    /// The step, for the operation of a reduction and for the detectors.
    pub(crate) function: usize,
    pub(crate) at: u32,
    /// Its number, for the observer.
    pub(crate) number: u32,
    /// What a store has read, once it has.
    pub(crate) data: Option<Vec<Vec<u8>>>,
}
