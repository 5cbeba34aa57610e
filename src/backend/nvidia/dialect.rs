//! The dialect `ttng`: which file lowers which operation.

use super::{mbarrier, tensormap, tma, wgmma};
use crate::codegen::lower::{Lower, Res};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Op, OpKind, TtngOp};
use crate::target::targets;

/// Lowers an operation of the `ttng` dialect.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let OpKind::Ttng(kind) = cx.ir.kind(op) else { return Err(cx.unsupported(op, "")) };
    match kind {
        TtngOp::InitBarrier => mbarrier::init(cx, op),
        TtngOp::InvalBarrier => mbarrier::invalidate(cx, op),
        TtngOp::BarrierExpect => mbarrier::expect(cx, op),
        TtngOp::ArriveBarrier => mbarrier::arrive(cx, op),
        TtngOp::WaitBarrier => mbarrier::wait(cx, op),
        TtngOp::FenceAsyncShared => mbarrier::fence(cx, op),
        TtngOp::AsyncTmaCopyGlobalToLocal => tma::copy_in(cx, op),
        TtngOp::AsyncTmaCopyLocalToGlobal => tma::copy_out(cx, op),
        TtngOp::AsyncTmaReduce => tma::reduce_out(cx, op),
        TtngOp::TmaStoreWait => tma::wait(cx, op),
        TtngOp::AsyncTmaGather | TtngOp::AsyncTmaScatter => Err(tma::rows(cx, op)),
        TtngOp::TensormapCreate => tensormap::create(cx, op),
        TtngOp::TensormapFenceproxyAcquire => tensormap::acquire(cx, op),
        TtngOp::ReinterpretTensorDescriptor => tma::reinterpret(cx, op),
        TtngOp::WarpGroupDot => wgmma::lower(cx, op),
        TtngOp::WarpGroupDotWait => wgmma::wait(cx, op),
        TtngOp::ClusterBarrier => cx.machine.cluster_barrier(cx, view::ClusterBarrier(op).relaxed(cx.ir)),
        TtngOp::FenceMbarrierInitReleaseCluster => mbarrier::init_fence(cx),
        TtngOp::ClcTryCancel
        | TtngOp::ClcTryCancelSync
        | TtngOp::ClcLoadResult
        | TtngOp::ClcIsCanceled
        | TtngOp::ClcGetProgramId
        | TtngOp::AsyncCopyMbarrierArrive
        | TtngOp::AsyncSharedStore
        | TtngOp::TcGen5Mma
        | TtngOp::TcGen5MmaScaled
        | TtngOp::TcGen5Commit
        | TtngOp::TmemLoad
        | TtngOp::TmemStore
        | TtngOp::TmemAlloc
        | TtngOp::TmemSubslice
        | TtngOp::TmemCopy
        | TtngOp::TmemWait
        | TtngOp::PackedArith => Err(cx.unsupported(op, "")),
    }
}

/// Refuses an operation on a target without the tensor memory accelerator and what comes with it.
pub(super) fn needs_tma(cx: &Lower<'_, '_>, op: Op) -> Res<()> {
    if cx.options.target.has_tma() {
        return Ok(());
    }
    let first = targets().find(|t| t.has_tma()).map_or("a later GPU", |t| t.name);
    let text = format!("`{}` needs {first} or later, the target is {}", cx.ir.op_name(op), cx.options.target.name);
    Err(Diagnostic::error(&codes::UNSUPPORTED_OP, text))
}
