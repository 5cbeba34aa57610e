//! What TTGIR adds, as far as it is not asynchronous. Layouts change nothing, a buffer that is written once is the
//! tensor in it, and `wgmma` is a product. So passes up to the pipeliner can be compared by what they compute.

use super::super::fault::Fault;
use super::super::program::Program;
use super::super::value::Val;
use super::{dot, shape};
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng;
use crate::ir::{Op, TtgOp, TtngOp};

pub(crate) fn ttg(p: &mut Program<'_>, op: Op, kind: TtgOp) -> Result<(), Fault> {
    let value = match kind {
        // Threads run one after the other, so there is nothing to wait for.
        TtgOp::Barrier => return Ok(()),
        TtgOp::ConvertLayout => p.get(ttg::ConvertLayout(op).src(p.ir)),
        TtgOp::LocalLoad => p.get(ttg::LocalLoad(op).src(p.ir)),
        TtgOp::MemDescReshape => p.get(ttg::MemDescReshape(op).src(p.ir)),
        TtgOp::MemDescTrans => {
            let view = ttg::MemDescTrans(op);
            shape::trans(p, view.src(p.ir), view.order(p.ir).unwrap_or_default(), p.ir.ty(view.result(p.ir)))
        }
        TtgOp::LocalAlloc => {
            let alloc = ttg::LocalAlloc(op);
            let constant = p.ir.ty(alloc.result(p.ir)).as_memdesc().is_some_and(|d| !d.mutable);
            let Some(src) = alloc.src(p.ir).filter(|_| constant) else { return Err(p.unsupported(op, "")) };
            p.get(src)
        }
        _ => return Err(p.unsupported(op, "")),
    };
    p.set(p.ir.result(op), value);
    Ok(())
}

pub(crate) fn ttng(p: &mut Program<'_>, op: Op, kind: TtngOp) -> Result<(), Fault> {
    let values = match kind {
        TtngOp::WarpGroupDot => {
            // If the flag is false, the accumulator is not read.
            let view = ttng::WarpGroupDot(op);
            let reads = view.use_c(p.ir).is_none_or(|flag| p.get(flag).scalar() & 1 == 1);
            let sum = if reads { p.get(view.c(p.ir)) } else { Val::splat(0) };
            vec![dot::dot(p, op, [view.a(p.ir), view.b(p.ir)], sum, view.inputPrecision(p.ir))?]
        }
        TtngOp::WarpGroupDotWait => p.ir.operands(op).iter().map(|&v| p.get(v)).collect(),
        TtngOp::FenceAsyncShared => vec![],
        _ => return Err(p.unsupported(op, "")),
    };
    p.set_results(op, values);
    Ok(())
}
