//! What an observer is told of a run: every access to shared and global memory, and everything that orders accesses.
//!
//! [`Options::observe`](super::Options) asks for it, and [`Outcome::events`](super::Outcome) has it. The detectors do
//! not use it: it lets another algorithm look at the same run and come to its own judgement.

/// Something that lanes of a warp did. Events are in the order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The cluster, by its number in the grid.
    pub cluster: u32,
    /// The warp, by its number in the cluster.
    pub warp: u32,
    /// A bit for each lane that did it.
    pub lanes: u32,
    /// The line of the PTX.
    pub line: u32,
    pub act: Act,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Access(Access),
    /// An arrival somewhere, in a round.
    Arrive {
        at: Meeting,
        round: u64,
        releases: bool,
    },
    /// The warp has seen that the round is complete.
    Leave {
        at: Meeting,
        round: u64,
        acquires: bool,
    },
    /// An `mbarrier` begins.
    Init(Meeting),
    /// The bytes of an operation that signals an `mbarrier` have arrived there.
    Landed {
        operation: u32,
        at: Meeting,
        round: u64,
    },
    /// `bar.warp.sync`.
    WarpBarrier,
    /// A strong access to a place, which may synchronise.
    Synchronise {
        place: u64,
        reads: bool,
        writes: bool,
        acquires: bool,
        releases: bool,
    },
    Fence,
    /// `fence.proxy.async`.
    ProxyFence,
    /// A tensor map in global memory is written, by its address.
    MapWritten(u64),
    /// `fence.proxy.tensormap::generic.acquire`.
    MapFenced(u64),
    /// A copy uses a tensor map in global memory.
    MapUsed(u64),
    Commit(Group),
    /// A wait for all groups but for the last ones.
    Wait {
        group: Group,
        pending: u32,
        /// Only the reads of the group must be done.
        reads: bool,
    },
    /// An asynchronous product, with the registers of the accumulators and of A.
    Product {
        accumulators: Vec<u32>,
        operands: Vec<u32>,
    },
    /// `wgmma.fence`.
    ProductFence,
    /// A step that is no product touches registers of products: each with whether it is written.
    Registers(Vec<(u32, bool)>),
    /// An instruction that does nothing.
    Nothing,
    Exit,
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub memory: Memory,
    pub at: u64,
    pub bytes: u32,
    pub kind: Kind,
    /// Whether a write stores what is there already.
    pub same: bool,
    pub by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The shared memory of a block, by its number in the cluster.
    Shared(u32),
    /// A buffer, by its number.
    Global(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Read,
    Write,
    Atomic,
}

/// Who makes an access for the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The lanes themselves.
    Lanes,
    /// An asynchronous operation of a group that is open.
    Group(Group),
    /// An asynchronous operation that signals an `mbarrier`, by its number.
    Operation(u32),
}

/// The kinds of asynchronous operations that are waited for in groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// `cp.async`.
    Copy,
    /// `wgmma`.
    Product,
    /// Bulk stores.
    Bulk,
}

/// Where warps meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meeting {
    /// A barrier of a block, by its number.
    Block(u32, u32),
    Cluster,
    /// An `mbarrier`, by the block and its address.
    Mbarrier(u32, u32),
}

/// The events of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
    /// How many operations that signal an `mbarrier` there were.
    pub(crate) operations: u32,
}
