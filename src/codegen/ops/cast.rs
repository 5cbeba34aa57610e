//! Casts: between widths, between integers and floats, and reinterpretations of bits.

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use super::elementwise::elementwise;
use crate::codegen::bits::{bits_as, operand};
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::Op;
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::{FpRounding, RoundingMode};
use crate::ir::dialects::tt::tt as conversions;

/// Lowers a cast of the `arith` dialect.
pub(crate) fn arith(cx: &mut Lower<'_, '_>, op: Op, kind: ArithOp) -> Res<()> {
    let to = cx.elem_type(cx.ir.ty(cx.ir.result(op)))?;
    let opcode = match kind {
        ArithOp::Extsi => I::SExt,
        ArithOp::Extui => I::ZExt,
        ArithOp::Trunci => I::Trunc,
        ArithOp::Extf => I::FPExt,
        ArithOp::Truncf => return truncf(cx, op, to),
        ArithOp::Sitofp => I::SIToFP,
        ArithOp::Uitofp => I::UIToFP,
        ArithOp::Fptosi => I::FPToSI,
        ArithOp::Fptoui => I::FPToUI,
        ArithOp::Bitcast => return reinterpret(cx, op),
        ArithOp::IndexCast => return elementwise(cx, op, |cx, args| resize(cx, operand(args, 0)?, to)),
        _ => return Err(defect(format!("{} is no cast", kind.spec().name))),
    };
    elementwise(cx, op, |cx, args| Ok(cx.b.build_cast(opcode, operand(args, 0)?, to, "")?))
}

/// `arith.truncf` rounds to nearest even; other roundings go through the instruction that has them.
fn truncf<'c>(cx: &mut Lower<'c, '_>, op: Op, to: BasicTypeEnum<'c>) -> Res<()> {
    match view::Truncf(op).roundingmode(cx.ir) {
        None | Some(RoundingMode::ToNearestEven) => {
            elementwise(cx, op, |cx, args| Ok(cx.b.build_cast(I::FPTrunc, operand(args, 0)?, to, "")?))
        }
        Some(_) => Err(Diagnostic::error(&codes::UNSUPPORTED_CONVERSION, "`arith.truncf` rounds to nearest even only")),
    }
}

/// Signed truncation or extension of an integer; an equal width is nothing.
fn resize<'c>(cx: &mut Lower<'c, '_>, value: Val<'c>, to: BasicTypeEnum<'c>) -> Res<Val<'c>> {
    let (from, wide) = (cx.bits_of(value.get_type()), cx.bits_of(to));
    Ok(match from.cmp(&wide) {
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Less => cx.b.build_cast(I::SExt, value, to, "")?,
        std::cmp::Ordering::Greater => cx.b.build_cast(I::Trunc, value, to, "")?,
    })
}

/// The same bits as another type: `arith.bitcast`, `tt.bitcast`, `tt.int_to_ptr`, `tt.ptr_to_int`.
pub(crate) fn reinterpret(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let to = cx.elem_type(cx.ir.ty(cx.ir.result(op)))?;
    elementwise(cx, op, |cx, args| bits_as(cx, operand(args, 0)?, to))
}

/// `tt.fp_to_fp`: the machine knows what conversions it has.
pub(crate) fn floats(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = conversions::FpToFp(op);
    let kind = |v| cx.ir.ty(v).elem().as_float().ok_or_else(|| defect("a float conversion of something else"));
    let formats = (kind(view.src(cx.ir))?, kind(view.result(cx.ir))?);
    let rounding = view.rounding(cx.ir).unwrap_or(FpRounding::Rtne);
    let regs = cx.get(view.src(cx.ir))?;
    let converted = cx.machine.convert_floats(cx, &regs, formats, rounding)?;
    cx.set(view.result(cx.ir), converted);
    Ok(())
}
