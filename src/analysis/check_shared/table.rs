//! What each operation does to shared memory, as its own documentation, the PTX ISA and the code that is made for it
//! say.
//!
//! This table is a second opinion: it shares nothing with `shared_effects`, from which barriers and fences are placed.
//! The matches over `ttg` and `ttng` have no `_`, so a new operation does not compile until somebody has said here what
//! it does.

use crate::analysis::exchange::conversion;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::discardable::{EACH_WARP, FIRST_WARP, JOINED};
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{GpuOp, OpKind, TtOp, TtgOp, TtngOp};
use crate::layout::plan::{Among, ConversionPlan};
use crate::target::Target;

use super::places::is_shared;

/// What is asynchronous; each kind has its own way to wait for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// `cp.async`: threads write, later.
    Copy,
    /// `wgmma`: the tensor cores read.
    Product,
    /// TMA reads, on the way to global memory.
    Store,
    /// TMA or another unit writes and arrives at an mbarrier.
    Signalled,
}

/// What bytes are used for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    Data,
    /// An mbarrier is made or ended, always by the same thread.
    Life,
    /// An mbarrier is used, which is atomic (PTX ISA, "mbarrier").
    Signal,
}

/// One access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Use {
    pub class: Class,
    /// Whether what was there before matters.
    pub reads: bool,
    pub writes: bool,
    /// Whether it goes through the asynchronous proxy (PTX ISA, "Async proxy").
    pub hardware: bool,
}

impl Use {
    pub(super) const READ: Use = Use { class: Class::Data, reads: true, writes: false, hardware: false };
    pub(super) const WRITE: Use = Use { class: Class::Data, reads: false, writes: true, hardware: false };
    const UPDATE: Use = Use { reads: true, ..Use::WRITE };
    const HARDWARE_READ: Use = Use { hardware: true, ..Use::READ };
    const HARDWARE_WRITE: Use = Use { hardware: true, ..Use::WRITE };
    const LIFE: Use = Use { class: Class::Life, ..Use::WRITE };
    pub(super) const SIGNAL: Use = Use { class: Class::Signal, reads: true, writes: true, hardware: false };
}

/// A step of what an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An access that is over when the thread goes on.
    Now(Value, Use),
    /// An access that begins here. `mbarrier`: where its end is signalled; `sure`: whether it happens at all.
    Begin { kind: Kind, place: Value, used: Use, mbarrier: Option<Value>, sure: bool },
    /// What of this kind began and belongs to no group yet becomes one.
    Commit(Kind),
    /// All but the last `left` groups are complete.
    Complete { kind: Kind, left: u64 },
    /// The copies of threads so far arrive at this mbarrier when they are there.
    Arrive(Value),
    /// The phase of an mbarrier with this parity is complete.
    Phase { mbarrier: Value, parity: Value },
    /// Each warp has done what came before, and arrives here, if the predicate holds.
    Leave { mbarrier: Value, pred: Option<Value> },
    /// The first warp waits for what was left, if the predicate holds.
    Enter { mbarrier: Value, parity: Value, pred: Option<Value> },
    /// The next phase of an mbarrier begins: nobody may still wait for the one before.
    Renew(Value),
    /// A wait names the groups that it is for.
    Named { token: Value, left: u64 },
    /// All threads of the block are here.
    Barrier,
    /// What the threads did comes before what hardware does next.
    Fence,
    /// A buffer starts its life.
    Alloc,
    /// All scratch memory of the operation is written, waited for unless `within_warps`, and read.
    Scratch { within_warps: bool },
    /// A callee does what it does.
    Call,
    /// Control leaves the function.
    Return,
    /// Nobody has said here what becomes of this descriptor.
    Unknown(Value),
}

/// The steps of an operation, without those inside its regions. `one_warp`: the block is one warp, so its barriers are
/// the block's.
pub(super) fn steps(ir: &Ir, op: Op, has_scratch: bool, one_warp: bool, target: &Target) -> Vec<Step> {
    let mut out = match ir.kind(op) {
        OpKind::Ttg(kind) => ttg(ir, op, kind),
        OpKind::Ttng(kind) => ttng(ir, op, kind),
        OpKind::Tt(TtOp::Call) => return vec![Step::Call],
        OpKind::Tt(TtOp::Return) => vec![Step::Return],
        // Barriers of the GPU dialect order shared memory as `ttg.barrier local` does.
        OpKind::Gpu(GpuOp::Barrier) => vec![Step::Barrier],
        // Descriptors that are handed on are the business of control flow.
        OpKind::Scf(_) | OpKind::Cf(_) | OpKind::Arith(_) => vec![],
        OpKind::Builtin(_)
        | OpKind::Ub(_)
        | OpKind::Math(_)
        | OpKind::Llvm(_)
        | OpKind::Tt(_)
        | OpKind::Amdg(_)
        | OpKind::Gcn(_)
        | OpKind::Unregistered(_) => {
            ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v))).map(|&v| Step::Unknown(v)).collect()
        }
    };
    if has_scratch {
        out.push(Step::Scratch { within_warps: !one_warp && within_warps(ir, op, target) });
    }
    out
}

/// Whether the operation's own protocol lets only the threads of a warp wait for each other: the plan that code is made
/// from says so, and a tensor map is written by one warp alone.
fn within_warps(ir: &Ir, op: Op, target: &Target) -> bool {
    if !ir.is(op, TtgOp::ConvertLayout) {
        return ir.is(op, TtngOp::TensormapCreate);
    }
    match conversion(ir, op, target) {
        Ok(ConversionPlan::Shared(plan)) => plan.among() == Among::Warp,
        _ => true,
    }
}

fn ttg(ir: &Ir, op: Op, kind: TtgOp) -> Vec<Step> {
    use TtgOp as T;
    let left = |pending: Option<i64>| pending.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    match kind {
        T::LocalAlloc if !is_shared(ir.ty(ir.result(op))) => vec![],
        T::LocalAlloc if ir.operands(op).is_empty() => vec![Step::Alloc],
        T::LocalAlloc => vec![Step::Alloc, Step::Now(ir.result(op), Use::WRITE)],
        T::LocalLoad => vec![Step::Now(ttg::LocalLoad(op).src(ir), Use::READ)],
        T::LocalGather => vec![Step::Now(ttg::LocalGather(op).src(ir), Use::READ)],
        T::LocalStore => vec![Step::Now(ttg::LocalStore(op).dst(ir), Use::WRITE)],
        // Elements that no index names stay.
        T::LocalScatter => vec![Step::Now(ttg::LocalScatter(op).dst(ir), Use::UPDATE)],
        T::LocalAtomicScatterRmw => vec![Step::Now(ttg::LocalAtomicScatterRmw(op).dst(ir), Use::UPDATE)],
        T::AsyncCopyGlobalToLocal => {
            let place = ttg::AsyncCopyGlobalToLocal(op).result(ir);
            vec![Step::Begin { kind: Kind::Copy, place, used: Use::WRITE, mbarrier: None, sure: true }]
        }
        T::AsyncCommitGroup => vec![Step::Commit(Kind::Copy)],
        T::AsyncWait => {
            let left = left(ttg::AsyncWait(op).num(ir));
            let named = ir.operands(op).iter().map(|&token| Step::Named { token, left });
            named.chain([Step::Complete { kind: Kind::Copy, left }]).collect()
        }
        T::Barrier if ttg::Barrier(op).addrSpace(ir).is_some_and(|spaces| spaces & 1 != 0) => vec![Step::Barrier],
        // Other spaces are no promise about this one.
        T::Barrier => vec![],
        // The other warps start behind a barrier.
        T::WarpSpecializePartitions => vec![Step::Barrier],
        // What a descriptor shows is followed where it is used.
        T::MemDescIndex
        | T::MemDescSubslice
        | T::MemDescTrans
        | T::MemDescReshape
        | T::MemDescReinterpret
        | T::LocalDealloc => vec![],
        // Only scratch memory, if any.
        T::ConvertLayout | T::Fp4ToFp | T::PredicateStage | T::GlobalScratchAlloc | T::WarpId => vec![],
        // Their regions are walked through.
        T::Mask | T::MaskReturn | T::WarpSpecialize | T::WarpYield | T::WarpReturn => vec![],
        T::InlineAsm => ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v))).map(|&v| Step::Unknown(v)).collect(),
    }
}

fn ttng(ir: &Ir, op: Op, kind: TtngOp) -> Vec<Step> {
    use TtngOp as N;
    let left = |pending: Option<i64>| pending.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let shared: Vec<Value> = ir.operands(op).iter().copied().filter(|&v| is_shared(ir.ty(v))).collect();
    let alone = ir.stores(op, FIRST_WARP);
    let begin = |kind, place, used, mbarrier, sure| Step::Begin { kind, place, used, mbarrier, sure };
    match kind {
        N::FenceAsyncShared => vec![Step::Fence],
        N::TensormapFenceproxyAcquire if ir.stores(op, JOINED) => vec![],
        // One warp acquires, and a barrier holds the others.
        N::ClusterBarrier | N::TensormapFenceproxyAcquire => vec![Step::Barrier],
        N::InitBarrier => vec![Step::Now(ttng::InitBarrier(op).alloc(ir), Use::LIFE)],
        N::InvalBarrier => vec![Step::Now(ttng::InvalBarrier(op).alloc(ir), Use::LIFE)],
        // One thread speaks for all, behind a barrier.
        N::BarrierExpect if alone => {
            let mbarrier = ttng::BarrierExpect(op).alloc(ir);
            vec![Step::Renew(mbarrier), Step::Now(mbarrier, Use::SIGNAL)]
        }
        N::BarrierExpect => vec![Step::Barrier, Step::Now(ttng::BarrierExpect(op).alloc(ir), Use::SIGNAL)],
        N::ArriveBarrier if ir.stores(op, EACH_WARP) => {
            let arrival = ttng::ArriveBarrier(op);
            let (mbarrier, pred) = (arrival.alloc(ir), arrival.pred(ir));
            vec![Step::Leave { mbarrier, pred }]
        }
        N::ArriveBarrier => vec![Step::Barrier, Step::Now(ttng::ArriveBarrier(op).alloc(ir), Use::SIGNAL)],
        N::WaitBarrier => {
            let wait = ttng::WaitBarrier(op);
            let (mbarrier, parity) = (wait.alloc(ir), wait.phase(ir));
            if alone {
                return vec![Step::Enter { mbarrier, parity, pred: wait.pred(ir) }];
            }
            vec![Step::Now(mbarrier, Use { writes: false, ..Use::SIGNAL }), Step::Phase { mbarrier, parity }]
        }
        N::AsyncCopyMbarrierArrive => {
            let mbarrier = ttng::AsyncCopyMbarrierArrive(op).barrier(ir);
            vec![Step::Now(mbarrier, Use::SIGNAL), Step::Arrive(mbarrier)]
        }
        N::WarpGroupDot => {
            let started = shared.iter().map(|&v| begin(Kind::Product, v, Use::HARDWARE_READ, None, true));
            let waits =
                (!ttng::WarpGroupDot(op).isAsync(ir)).then_some(Step::Complete { kind: Kind::Product, left: 0 });
            started.chain([Step::Commit(Kind::Product)]).chain(waits).collect()
        }
        N::WarpGroupDotWait => {
            vec![Step::Complete { kind: Kind::Product, left: left(ttng::WarpGroupDotWait(op).pendings(ir)) }]
        }
        N::AsyncTmaCopyGlobalToLocal | N::AsyncTmaGather => {
            // The mbarrier is named before the destination, and a predicate behind both.
            let sure = ir
                .operands(op)
                .last()
                .and_then(|&pred| crate::ir::rewrite::fold::const_of(ir, pred)?.int_value())
                .is_some_and(|v| v != 0);
            let [mbarrier, place] = shared[..] else { return shared.into_iter().map(Step::Unknown).collect() };
            vec![
                Step::Now(mbarrier, Use::SIGNAL),
                begin(Kind::Signalled, place, Use::HARDWARE_WRITE, Some(mbarrier), sure),
            ]
        }
        N::AsyncSharedStore | N::ClcTryCancel => {
            let [place, mbarrier] = shared[..] else { return shared.into_iter().map(Step::Unknown).collect() };
            let used = if kind == N::ClcTryCancel { Use::HARDWARE_WRITE } else { Use::WRITE };
            vec![Step::Now(mbarrier, Use::SIGNAL), begin(Kind::Signalled, place, used, Some(mbarrier), true)]
        }
        N::AsyncTmaCopyLocalToGlobal | N::AsyncTmaReduce | N::AsyncTmaScatter => {
            let started = shared.iter().map(|&v| begin(Kind::Store, v, Use::HARDWARE_READ, None, true));
            started.chain([Step::Commit(Kind::Store)]).collect()
        }
        N::TmaStoreWait => {
            vec![Step::Complete { kind: Kind::Store, left: left(ttng::TmaStoreWait(op).pendings(ir)) }]
        }
        N::ClcLoadResult => vec![Step::Now(ttng::ClcLoadResult(op).src(ir), Use::READ)],
        N::TmemCopy => background(&shared, &[]),
        N::TcGen5Mma => background(&shared, ttng::TcGen5Mma(op).barriers(ir)),
        N::TcGen5MmaScaled => background(&shared, ttng::TcGen5MmaScaled(op).barriers(ir)),
        N::TcGen5Commit => {
            let mbarrier = ttng::TcGen5Commit(op).barrier(ir);
            vec![Step::Barrier, Step::Now(mbarrier, Use::SIGNAL), Step::Arrive(mbarrier)]
        }
        // Nothing lies in shared memory, or only scratch.
        N::FenceMbarrierInitReleaseCluster | N::ClcTryCancelSync | N::ClcIsCanceled | N::ClcGetProgramId => vec![],
        N::TmemLoad | N::TmemStore | N::TmemAlloc | N::TmemSubslice | N::TmemWait | N::PackedArith => vec![],
        N::ReinterpretTensorDescriptor | N::TensormapCreate => vec![],
    }
}

/// `tcgen05` reads its operands in the background and tells mbarriers when it is done, those that it names or that of a
/// commit behind it.
fn background(shared: &[Value], mbarriers: &[Value]) -> Vec<Step> {
    let begin =
        |place, mbarrier| Step::Begin { kind: Kind::Signalled, place, used: Use::HARDWARE_READ, mbarrier, sure: true };
    let operands = shared.iter().filter(|v| !mbarriers.contains(v)).map(|&v| begin(v, mbarriers.first().copied()));
    mbarriers.iter().map(|&m| Step::Now(m, Use::SIGNAL)).chain(operands).collect()
}
