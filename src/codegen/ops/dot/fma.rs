//! Products by multiply-adds: each thread holds all of K for its rows of A and its columns of B.
//!
//! 1. The fragments must agree: whatever lane, warp and block add to the rows of the result they add to the rows of A,
//!    likewise columns and B, and nobody is spread along K.
//! 2. The register of the result at (row, column) is its start value plus, for each `k` in ascending order, A's
//!    register at (row, k) times B's at (k, column). Floats are fused where that is allowed, integers multiplied and
//!    added. All results take the step of one `k` before that of the next: a column of A and a row of B are alive at
//!    once, and not all of both.
//! 3. Operands of a narrower type are widened first, signed for integers.
//!
//! Example: 2×2 elements a thread and K = 16 are 64 `fma.rn.f32`, in four chains.

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use super::fragment::{BATCH, COLUMN, Fragment, ROW};
use crate::codegen::lower::{Lower, Regs, Res, Val, defect};
use crate::ir::Op;
use crate::ir::dialects::tt::tt as view;

/// `tt.dot` whose result is in no tensor-core layout.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let dot = view::Dot(op);
    let values = [dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir)];
    let fragments = values.map(|v| Lower::layout(cx.ir.ty(v)).map(Fragment::of));
    let [Ok(Some(a)), Ok(Some(b)), Ok(Some(d))] = fragments else {
        return Err(cx.unsupported(op, "expected matrices or batches of matrices"));
    };
    if !agree(&a, &b, &d) {
        return Err(cx.unsupported(op, "the layouts of its operands are not those of operands of its result"));
    }
    let elem = cx.elem_type(cx.ir.ty(values[2]))?;
    let (left, right, start) = (widened(cx, values[0], elem)?, widened(cx, values[1], elem)?, cx.get(values[2])?);
    let mut out: Vec<Val<'_>> = start.to_vec();
    let results: Vec<_> = d.registers().collect();
    for k in a.along(COLUMN) {
        for ([batch, row, column], registers) in &results {
            let (Some(x), Some(y)) = (a.register([*batch, *row, k]), b.register([*batch, k, *column])) else {
                return Err(cx.unsupported(op, "a thread does not hold all operands of its results"));
            };
            let first = registers[0];
            out[first] = multiply_add(cx, left[x], right[y], out[first])?;
        }
    }
    for (_, registers) in &results {
        registers.iter().for_each(|&r| out[r] = out[registers[0]]);
    }
    cx.set(cx.ir.result(op), out);
    Ok(())
}

/// Whether the threads hold the rows of A and the columns of B that their results need (step 1).
fn agree(a: &Fragment, b: &Fragment, d: &Fragment) -> bool {
    let lanes = (0..d.lanes.len()).all(|i| {
        a.lane(i, ROW) == d.lane(i, ROW)
            && b.lane(i, COLUMN) == d.lane(i, COLUMN)
            && a.lane(i, COLUMN) == 0
            && b.lane(i, ROW) == 0
            && [a, b].iter().all(|x| x.lane(i, BATCH) == d.lane(i, BATCH))
    });
    let batches = a.moves_with(BATCH, d, BATCH) && b.moves_with(BATCH, d, BATCH);
    lanes
        && batches
        && a.moves_with(ROW, d, ROW)
        && b.moves_with(COLUMN, d, COLUMN)
        && a.rests_along(COLUMN)
        && b.rests_along(ROW)
}

/// The registers of an operand, widened to the type of the sum (step 3).
fn widened<'c>(cx: &mut Lower<'c, '_>, value: crate::ir::Value, to: BasicTypeEnum<'c>) -> Res<Regs<'c>> {
    let regs = cx.get(value)?;
    let narrow = |r: &Val<'c>| r.get_type() != to;
    if !regs.iter().any(narrow) {
        return Ok(regs);
    }
    let from = cx.ir.ty(value);
    let opcode = match to {
        BasicTypeEnum::FloatType(_) if regs[0].is_float_value() => I::FPExt,
        BasicTypeEnum::IntType(_) if from.elem().is_int() => I::SExt,
        _ => return Err(defect(format!("a product of elements of `{from}` in another type"))),
    };
    regs.iter().map(|&r| Ok(cx.b.build_cast(opcode, r, to, "")?)).collect()
}

fn multiply_add<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, y: Val<'c>, sum: Val<'c>) -> Res<Val<'c>> {
    match (x, y, sum) {
        (Val::IntValue(x), Val::IntValue(y), Val::IntValue(sum)) => {
            let product = cx.b.build_int_mul(x, y, "")?;
            Ok(cx.b.build_int_add(product, sum, "")?.into())
        }
        _ => cx.intrinsic("llvm.fmuladd", &[sum.get_type()], &[x, y, sum]),
    }
}
