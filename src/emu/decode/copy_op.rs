//! Decoded asynchronous copies, and operations on the barriers in memory that they signal.

use super::access::{Address, Space, Update};
use super::slot::{Guard, Pred, Reg};
use crate::emu::num::Type;
use crate::emu::tensor::map::Field;

/// An address with its space.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub space: Space,
    pub address: Address,
}

/// What a test of an `mbarrier` asks for.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// The phase of the state that an arrival gave.
    State(Reg),
    /// The phase of this parity.
    Parity(Reg),
}

/// `mbarrier.arrive` in its forms.
#[derive(Clone, Copy, Debug)]
pub struct Arrive {
    pub at: Place,
    pub state: Option<Reg>,
    pub count: Option<Reg>,
    /// The bytes of `.expect_tx`.
    pub expect: Option<Reg>,
    /// `arrive_drop`: the thread takes no part in later phases.
    pub drop: bool,
    /// Whether it releases what the thread did before.
    pub release: bool,
}

/// `cp.async.bulk` without a tensor map.
pub struct Bulk {
    pub to: Place,
    pub from: Place,
    pub bytes: Reg,
    /// The barrier that is told; a bulk group if there is none.
    pub barrier: Option<Place>,
    /// The blocks of a multicast.
    pub blocks: Option<Reg>,
    /// The operation and the type of `cp.reduce`.
    pub reduce: Option<(Update, Type)>,
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
pub struct BulkTensor {
    /// Whether it reads global memory.
    pub load: bool,
    pub map: Reg,
    pub coordinates: Vec<Reg>,
    pub shared: Place,
    pub barrier: Option<Place>,
    pub blocks: Option<Reg>,
    pub reduce: Option<String>,
}

pub enum Async {
    /// `cp.async`.
    Copy {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<Reg>,
        ignore: Option<Guard>,
    },
    Commit,
    /// Waits until at most so many groups are pending.
    Wait {
        pending: u32,
    },
    /// `cp.async.mbarrier.arrive`.
    CopyArrive {
        at: Place,
        noinc: bool,
    },
    Init {
        at: Place,
        count: Reg,
    },
    Invalidate {
        at: Place,
    },
    Expect {
        at: Place,
        bytes: Reg,
    },
    Complete {
        at: Place,
        bytes: Reg,
    },
    Arrive(Arrive),
    /// `test_wait` and `try_wait`, which may wait.
    Test {
        p: Pred,
        at: Place,
        phase: Phase,
        waits: bool,
        acquire: bool,
    },
    PendingCount {
        d: Reg,
        state: Reg,
    },
    Bulk(Bulk),
    BulkTensor(BulkTensor),
    BulkCommit,
    BulkWait {
        pending: u32,
        read: bool,
    },
    Replace {
        at: Place,
        field: Field,
        ordinal: u32,
        value: Reg,
    },
    /// `tensormap.cp_fenceproxy`.
    CopyMap {
        to: Address,
        from: Address,
    },
}
