//! `tritonamdgpu-fold-true-cmpi`: comparisons whose answer follows from the ranges of both sides become constants.
//!
//! ```text
//! %r = tt.make_range {start = 0, end = 64}
//! %m = arith.cmpi slt, %r, dense<64>         →  dense<true>
//! ```
//!
//! 1. Compute the ranges of a function's values ([`Ranges`]).
//! 2. Replace each comparison that they answer.

use crate::analysis::ranges::Ranges;
use crate::ir::core::{Attr, Builder, Ir, Op, Type};
use crate::ir::dialects::ArithOp;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-fold-true-cmpi",
    doc: "fold comparisons that the ranges of numbers answer",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut answered: Vec<(Op, bool)> = vec![];
    for func in ir.functions() {
        let ranges = Ranges::of(ir, func);
        let comparisons = ir.all_ops(func).into_iter().filter(|&op| ir.is(op, ArithOp::Cmpi));
        answered.extend(comparisons.filter_map(|op| Some((op, ranges.compare(ir, op)?))));
    }
    for &(op, holds) in &answered {
        let ty = ir.ty(ir.result(op));
        let value = constant(ty, holds);
        let folded = Builder::before(ir, op).constant(value);
        ir.replace_op(op, &[folded]);
    }
    Ok(Changed::from(!answered.is_empty()))
}

fn constant(ty: Type, holds: bool) -> Attr {
    if ty.is_tensor() { Attr::int_splat(ty, i64::from(holds)) } else { Attr::bool(holds) }
}
