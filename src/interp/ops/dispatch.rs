//! Which family runs which operation, and the checks that follow an operation.

use super::super::fault::Fault;
use super::super::program::{Families, Program};
use super::super::{finite, promises, spread};
use super::{arith, control, math, tt, ttg};
use crate::ir::dialects::GpuOp;
use crate::ir::{LlvmOp, Op, OpKind};

/// All families, for a program to run.
pub(crate) const FAMILIES: Families = Families { run, leave: control::terminator };

/// Runs one operation that is no terminator. Then its results are marked where they are undefined, and checked.
fn run(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    eval(p, op)?;
    if p.undefined.get() {
        spread::spread(p, op);
    }
    if p.shared.options.checks.nan {
        finite::check(p, op)?;
    }
    if p.shared.facts.promises(op) {
        promises::check(p, op)?;
    }
    Ok(())
}

fn eval(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    match p.ir.kind(op) {
        OpKind::Arith(kind) => {
            let v = arith::eval(p, op, kind)?;
            p.set(p.ir.result(op), v);
            Ok(())
        }
        OpKind::Math(kind) => {
            let v = math::eval(p, op, kind)?;
            p.set(p.ir.result(op), v);
            Ok(())
        }
        OpKind::Tt(kind) => tt::eval(p, op, kind),
        OpKind::Scf(kind) => control::scf(p, op, kind),
        OpKind::Cf(kind) => control::cf(p, op, kind),
        OpKind::Ub(kind) => {
            control::ub(p, op, kind);
            Ok(())
        }
        OpKind::Llvm(LlvmOp::Assume) => promises::assume(p, op),
        OpKind::Ttg(kind) => ttg::ttg(p, op, kind),
        OpKind::Ttng(kind) => ttg::ttng(p, op, kind),
        // Threads run one after the other, so there is nothing to wait for.
        OpKind::Gpu(GpuOp::Barrier) => Ok(()),
        OpKind::Amdg(_) | OpKind::Gcn(_) | OpKind::Builtin(_) | OpKind::Unregistered(_) => Err(p.unsupported(op, "")),
    }
}
