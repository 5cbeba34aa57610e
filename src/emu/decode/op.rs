//! What a decoded step does. One variant for each way of executing, not for each opcode: `add.f32` and `xor.b32` are
//! both [`Op::Binary`], with different functions.

use std::fmt;

pub use super::access::{Address, Order, Scope, Space, Update};
use super::slot::{Formal, Guard, Lanes, Pred, Reg};
use super::{copy_op, tensor_op};
use crate::emu::num::Type;

/// A function of one register, on all lanes.
pub type Lane1 = Box<dyn Fn(&mut Lanes, &Lanes) + Send + Sync>;
/// A function of two registers, on all lanes.
pub type Lane2 = Box<dyn Fn(&mut Lanes, &Lanes, &Lanes) + Send + Sync>;
/// A function of three registers, on all lanes.
pub type Lane3 = Box<dyn Fn(&mut Lanes, &Lanes, &Lanes, &Lanes) + Send + Sync>;
/// A function of one lane's operands.
pub type Scalar4 = Box<dyn Fn([u64; 4]) -> u64 + Send + Sync>;
/// A function of one lane's operands and the carry flag. It gives the flag as well.
pub type WithCarry = Box<dyn Fn([u64; 3], bool) -> (u64, bool) + Send + Sync>;
/// A test of two registers: a bit for each lane.
pub type Test2 = Box<dyn Fn(&Lanes, &Lanes) -> u32 + Send + Sync>;

#[derive(Debug)]
pub struct Load {
    pub space: Space,
    pub order: Order,
    pub scope: Scope,
    pub ty: Type,
    /// The results of a vector, one after the other.
    pub to: Vec<Reg>,
    /// The bits of the result registers, which may be wider than the type.
    pub to_bits: u32,
    pub address: Address,
}

#[derive(Debug)]
pub struct Store {
    pub space: Space,
    pub order: Order,
    pub scope: Scope,
    pub ty: Type,
    pub from: Vec<Reg>,
    pub address: Address,
}

pub struct Atomic {
    pub space: Space,
    pub order: Order,
    pub scope: Scope,
    pub ty: Type,
    /// The old values; empty for `red`.
    pub to: Vec<Reg>,
    pub from: Vec<Reg>,
    /// The third operand of `cas`.
    pub swap: Option<Reg>,
    pub address: Address,
    pub update: Update,
    /// The operation in shared memory, where it differs.
    pub in_shared: Option<Update>,
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    ClusterId(usize),
    NclusterId(usize),
    ClusterCtaid(usize),
    ClusterNctaid(usize),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    GridId,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    Clock,
    GlobalTimer,
    DynamicSharedSize,
    TotalSharedSize,
    Zero,
}

/// How `setp` joins a comparison with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
    Xor,
}

/// How lanes exchange a register ("PTX ISA, shfl.sync").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    Popc,
    And,
    Or,
}

/// `bar` and `barrier` of a block.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub id: Reg,
    /// How many threads take part; all of the block if it is not said.
    pub threads: Option<Reg>,
    /// Whether the warp waits.
    pub waits: bool,
    /// Whether all threads of a warp must execute it together.
    pub aligned: bool,
    /// `bar.red`: the reduction, the predicate that goes in, and where the result goes.
    pub reduce: Option<(Reduce, Guard, Target)>,
}

/// A result that is a register or a predicate.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Reg(Reg),
    Pred(Pred),
}

/// A call of a function of the module, or of the system.
#[derive(Debug)]
pub struct Call {
    pub callee: Callee,
    /// Places in the parameter space of the caller, in the order of the callee's.
    pub arguments: Vec<Formal>,
    pub results: Vec<Formal>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    Function(usize),
    /// `vprintf(format, arguments)`.
    Printf,
    /// `__assertfail(message, file, line, function, size)`.
    AssertFail,
}

/// The step.
pub enum Op {
    Unary {
        f: Lane1,
        d: Reg,
        a: Reg,
    },
    Binary {
        f: Lane2,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Ternary {
        f: Lane3,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Quaternary {
        f: Scalar4,
        d: Reg,
        a: [Reg; 4],
    },
    Carry {
        f: WithCarry,
        d: Reg,
        a: [Reg; 3],
        reads: bool,
        writes: bool,
    },
    Compare {
        f: Test2,
        d: Pred,
        d2: Option<Pred>,
        a: Reg,
        b: Reg,
        join: Option<(Join, Guard)>,
    },
    /// `setp` of a packed type: a predicate for each half.
    ComparePair {
        low: Test2,
        high: Test2,
        d: Pred,
        d2: Pred,
        a: Reg,
        b: Reg,
        join: Option<(Join, Guard)>,
    },
    Select {
        d: Reg,
        a: Reg,
        b: Reg,
        p: Guard,
    },
    /// `d = (a op b)`, of predicates; the operand's own negation comes with it.
    PredLogic {
        f: fn(u32, u32) -> u32,
        d: Pred,
        a: Guard,
        b: Guard,
    },
    Move {
        d: Reg,
        a: Reg,
    },
    /// A wide register of narrow ones, the lowest first.
    Pack {
        d: Reg,
        from: Vec<Reg>,
        bits: u32,
    },
    Unpack {
        to: Vec<Reg>,
        a: Reg,
        bits: u32,
    },
    Special {
        d: Reg,
        what: Special,
    },
    Load(Box<Load>),
    Store(Box<Store>),
    Atomic(Box<Atomic>),
    /// `cvta` from the space, or to it.
    Cvta {
        d: Reg,
        a: Reg,
        space: Space,
        to: bool,
    },
    IsSpace {
        d: Pred,
        a: Reg,
        space: Space,
    },
    /// `mapa`: the address of the same variable in another block of the cluster.
    Mapa {
        d: Reg,
        a: Reg,
        rank: Reg,
        generic: bool,
    },
    GetRank {
        d: Reg,
        a: Reg,
        generic: bool,
    },
    Branch {
        target: u32,
        meet: u32,
    },
    BranchTable {
        index: Reg,
        targets: Vec<u32>,
        meet: u32,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    Nop,
    Fence {
        order: Order,
        scope: Scope,
    },
    /// `fence.proxy.async`.
    FenceAsync,
    /// `fence.proxy.tensormap::generic.acquire` of a map; a release has none.
    FenceTensorMap {
        map: Option<Address>,
    },
    /// `griddepcontrol.wait`.
    GridWait,
    Shuffle {
        d: Reg,
        p: Option<Pred>,
        a: Reg,
        b: Reg,
        c: Reg,
        members: Reg,
        mode: Shuffle,
    },
    Vote {
        d: Target,
        p: Guard,
        members: Reg,
        mode: Vote,
    },
    Match {
        d: Reg,
        p: Option<Pred>,
        a: Reg,
        members: Reg,
        all: bool,
    },
    Redux {
        f: fn(u64, u64) -> u64,
        d: Reg,
        a: Reg,
        members: Reg,
    },
    ActiveMask {
        d: Reg,
    },
    Elect {
        d: Reg,
        p: Pred,
        members: Reg,
    },
    WarpBarrier {
        members: Reg,
    },
    Barrier(Box<Barrier>),
    ClusterArrive {
        release: bool,
    },
    ClusterWait {
        acquire: bool,
    },
    Async(Box<copy_op::Async>),
    Tensor(Box<tensor_op::Tensor>),
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Functions have no text; the place of a step leads to the instruction.
        f.write_str("Op")
    }
}

impl fmt::Debug for Atomic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Atomic {{ {:?} {:?} {:?} {:?} }}", self.space, self.order, self.scope, self.ty)
    }
}

/// A function on all lanes, of one on a lane. Each use is compiled on its own.
pub(super) fn lift1(f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Lane1 {
    Box::new(move |d, a| {
        for i in 0..32 {
            d[i] = f(a[i]);
        }
    })
}

pub(super) fn lift2(f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Lane2 {
    Box::new(move |d, a, b| {
        for i in 0..32 {
            d[i] = f(a[i], b[i]);
        }
    })
}

pub(super) fn lift3(f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static) -> Lane3 {
    Box::new(move |d, a, b, c| {
        for i in 0..32 {
            d[i] = f(a[i], b[i], c[i]);
        }
    })
}

pub(super) fn lift_test(f: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Test2 {
    Box::new(move |a, b| (0..32).fold(0, |bits, i| bits | u32::from(f(a[i], b[i])) << i))
}
