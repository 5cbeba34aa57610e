//! The dialects `amdg` and `rocdl`: which file lowers which operation.

use super::{buffer, memory, threads};
use crate::codegen::lower::{Lower, Res, defect};
use crate::ir::dialects::amdg::rocdl as view;
use crate::ir::dialects::enums::SchedGroup;
use crate::ir::dialects::{AmdgOp, GcnOp};
use crate::ir::{Op, OpKind};
use crate::layout::register_offsets;

/// Lowers an operation of AMD's dialects.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    match cx.ir.kind(op) {
        OpKind::Amdg(kind) => amdg(cx, op, kind),
        OpKind::Gcn(kind) => gcn(cx, op, kind),
        _ => Err(cx.unsupported(op, &format!("{} has no such instruction", cx.options.target))),
    }
}

fn amdg(cx: &mut Lower<'_, '_>, op: Op, kind: AmdgOp) -> Res<()> {
    match kind {
        AmdgOp::BufferLoad => buffer::load(cx, op),
        AmdgOp::BufferStore => buffer::store(cx, op),
        AmdgOp::BufferAtomicRmw => buffer::atomic_rmw(cx, op),
        AmdgOp::BufferAtomicCas => buffer::atomic_cas(cx, op),
        AmdgOp::InThreadTranspose => in_thread_transpose(cx, op),
        AmdgOp::CondBarrier => {
            let pred = cx.scalar(cx.ir.operand(op, 0))?;
            memory::guarded(cx, Some(pred), |cx| cx.effect("llvm.amdgcn.s.barrier", &[], &[]))
        }
        AmdgOp::BufferLoadToLocal => Err(cx.unsupported(op, "")),
    }
}

/// Each thread keeps its elements, in registers of another order.
fn in_thread_transpose(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let (source, result) = (cx.ir.operand(op, 0), cx.ir.result(op));
    let from = register_offsets(Lower::layout(cx.ir.ty(source))?);
    let to = register_offsets(Lower::layout(cx.ir.ty(result))?);
    let registers = cx.get(source)?;
    let found = |at| {
        let index = from.iter().position(|known| known == at);
        index.and_then(|r| registers.get(r).copied()).ok_or_else(|| defect("a thread lacks an element of its tile"))
    };
    let turned = to.iter().map(found).collect::<Res<Vec<_>>>()?;
    cx.set(result, turned);
    Ok(())
}

/// Instructions that Triton names by the dialect of their own.
fn gcn(cx: &mut Lower<'_, '_>, op: Op, kind: GcnOp) -> Res<()> {
    let number = |value: Option<i64>| value.ok_or_else(|| defect("an instruction without its number"));
    let group = |mask: Option<SchedGroup>| number(mask.map(|mask| mask as i64));
    match kind {
        GcnOp::Setprio => {
            let priority = number(view::Setprio(op).priority(cx.ir))? as u64;
            let priority = cx.int_type(16).const_int(priority, false);
            cx.effect("llvm.amdgcn.s.setprio", &[], &[priority.into()])
        }
        GcnOp::SBarrier => cx.effect("llvm.amdgcn.s.barrier", &[], &[]),
        GcnOp::SchedBarrier => {
            let mask = cx.i32(group(view::SchedBarrier(op).mask(cx.ir))? as u64);
            cx.effect("llvm.amdgcn.sched.barrier", &[], &[mask.into()])
        }
        GcnOp::SchedGroupBarrier => {
            let view = view::SchedGroupBarrier(op);
            let numbers = [group(view.mask(cx.ir))?, number(view.size(cx.ir))?, number(view.groupId(cx.ir))?];
            let args = numbers.map(|n| cx.i32(n as u64).into());
            cx.effect("llvm.amdgcn.sched.group.barrier", &[], &args)
        }
        GcnOp::WorkitemIdX => {
            let id = threads::thread_id(cx)?;
            cx.set(cx.ir.result(op), vec![id.into()]);
            Ok(())
        }
    }
}
