//! What TTGIR adds, as far as it is not asynchronous. Layouts change nothing, a buffer that is written once is the
//! tensor in it, and `wgmma` is a product. So passes up to the pipeliner can be compared by what they compute.

use super::super::fault::Fault;
use super::super::program::Program;
use super::super::value::Val;
use super::{dot, shape};
use crate::ir::{Op, TtgOp, TtngOp};

pub(crate) fn ttg(p: &mut Program<'_>, op: Op, kind: TtgOp) -> Result<(), Fault> {
    let value = match kind {
        // Threads run one after the other, so there is nothing to wait for.
        TtgOp::Barrier => return Ok(()),
        TtgOp::ConvertLayout | TtgOp::LocalLoad | TtgOp::MemDescReshape => p.operand(op, 0),
        TtgOp::MemDescTrans => shape::trans(p, op),
        TtgOp::LocalAlloc
            if p.ir.operands(op).len() == 1 && p.ir.ty(p.ir.result(op)).as_memdesc().is_some_and(|d| !d.mutable) =>
        {
            p.operand(op, 0)
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
            let reads = p.ir.operands(op).get(3).is_none_or(|&flag| p.get(flag).scalar() & 1 == 1);
            let sum = if reads { p.operand(op, 2) } else { Val::splat(0) };
            vec![dot::dot(p, op, sum)?]
        }
        TtngOp::WarpGroupDotWait => p.ir.operands(op).iter().map(|&v| p.get(v)).collect(),
        TtngOp::FenceAsyncShared => vec![],
        _ => return Err(p.unsupported(op, "")),
    };
    p.set_results(op, values);
    Ok(())
}
