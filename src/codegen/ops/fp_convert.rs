//! `tt.fp_to_fp`: conversions between float formats, among them the 8-bit ones.
//!
//! | from → to | how |
//! |---|---|
//! | e5m2 → f16 | the byte is the upper half of the f16 |
//! | e4m3 → f16 | `cvt.rn.f16x2.e4m3x2` (sm_89) |
//! | fp8 → others | through f16, then f32: both hold every value exactly |
//! | f32, f16, bf16 → fp8 | `cvt.rn.satfinite` from f32 (sm_89), which holds every value of the other two |
//! | f32, f16, bf16 → e5m2 before sm_89 | through f16 rounded to odd, then the lower byte is rounded away, to nearest even |
//! | f32 → f16, bf16 | `fptrunc`, or `cvt.rz` |
//!
//! Rounding to odd: truncate to f16, and set the last bit when anything was lost. With that bit a second rounding to fewer bits is right: f16 has eight
//! mantissa bits more than e5m2, so a lost part can neither look like a tie nor hide one.
//!
//! PTX ISA, "Data Movement and Conversion Instructions: cvt".

use inkwell::FloatPredicate;
use inkwell::values::InstructionOpcode as I;

use super::arith::operand;
use super::cast::bits_as;
use super::elementwise;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::ptx_builder::{Arg, PtxAsm, Reg};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::{FloatKind as F, Op};

/// How a conversion to fewer bits rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    TowardZero,
    NearestEven,
}

/// Lowers `tt.fp_to_fp`.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let kind = |v| cx.ir.ty(v).elem().as_float().ok_or_else(|| defect("a float conversion of something else"));
    let (from, to) = (kind(cx.ir.operand(op, 0))?, kind(cx.ir.result(op))?);
    let rounding = if cx.ir.int_attr(op, "rounding") == Some(0) { Rounding::TowardZero } else { Rounding::NearestEven };
    check(cx, from, to, rounding)?;
    elementwise(cx, op, |cx, args| convert(cx, operand(args, 0)?, from, to, rounding))
}

/// Refuses what the target has no way to do.
fn check(cx: &Lower<'_, '_>, from: F, to: F, rounding: Rounding) -> Res<()> {
    let target = cx.options.target;
    let refuse =
        |why: String| Err(Diagnostic::error(&codes::UNSUPPORTED_CONVERSION, format!("`{}` to `{}`: {why}", from.name(), to.name())));
    let known = |k: F| matches!(k, F::F8E4M3FN | F::F8E5M2 | F::F16 | F::BF16 | F::F32 | F::F64);
    if !known(from) || !known(to) {
        return refuse("there is no conversion of this format".into());
    }
    if (from == F::F8E4M3FN || to == F::F8E4M3FN) && !target.has_fp8_cvt() {
        return refuse(format!("{} has no conversions of f8E4M3FN, sm_89 and later have", target.name));
    }
    let toward_zero = matches!((from, to), (F::F32, F::F16 | F::BF16 | F::F8E5M2) | (F::F16, F::F8E5M2));
    if rounding == Rounding::TowardZero && !toward_zero && to.mantissa_bits() < from.mantissa_bits() {
        return refuse("only rounding to nearest even is supported".into());
    }
    Ok(())
}

fn convert<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, from: F, to: F, rounding: Rounding) -> Res<Val<'c>> {
    if from == to {
        return Ok(x);
    }
    match (from, to) {
        (F::F8E5M2, F::F16) => {
            let wide = cx.b.build_cast(I::ZExt, x, cx.int_type(16), "")?;
            let shifted = cx.b.build_left_shift(as_int(wide)?, cx.int_type(16).const_int(8, false), "")?;
            bits_as(cx, shifted.into(), cx.llvm.f16_type().into())
        }
        (F::F8E4M3FN, F::F16) => e4m3_to_f16(cx, x),
        (F::F8E5M2 | F::F8E4M3FN, _) => {
            let half = convert(cx, x, from, F::F16, rounding)?;
            convert(cx, half, F::F16, to, rounding)
        }
        (_, F::F8E5M2) if rounding == Rounding::TowardZero => {
            let half = if from == F::F16 { x } else { toward_zero(cx, x)? };
            upper_byte(cx, half, None)
        }
        (_, F::F8E4M3FN | F::F8E5M2) if cx.options.target.has_fp8_cvt() => {
            let single = convert(cx, x, from, F::F32, Rounding::NearestEven)?;
            native_fp8(cx, single, to)
        }
        (_, F::F8E5M2) => {
            let half = if from == F::F16 { x } else { to_odd(cx, x, from)? };
            nearest_byte(cx, half)
        }
        (F::F32, F::F16) if rounding == Rounding::TowardZero => toward_zero(cx, x),
        (F::F32, F::BF16) if rounding == Rounding::TowardZero => cx.intrinsic("llvm.nvvm.f2bf16.rz", &[], &[x]),
        (F::F16, F::BF16) | (F::BF16, F::F16) => {
            let single = convert(cx, x, from, F::F32, rounding)?;
            convert(cx, single, F::F32, to, rounding)
        }
        _ => {
            let ty = cx.elem_type(crate::ir::Type::float(to))?;
            let opcode = if to.bits() > from.bits() { I::FPExt } else { I::FPTrunc };
            Ok(cx.b.build_cast(opcode, x, ty, "")?)
        }
    }
}

/// `cvt.rn.f16x2.e4m3x2` of one value.
fn e4m3_to_f16<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>) -> Res<Val<'c>> {
    let pair = cx.b.build_cast(I::ZExt, x, cx.int_type(16), "")?;
    let mut asm = PtxAsm::default();
    let (out, input) = (asm.output(Reg::B32), asm.input(Reg::B16, pair));
    asm.inst(None, "cvt.rn.f16x2.e4m3x2", vec![Arg::Reg(out), Arg::Reg(input)]);
    let pair = operand(&asm.emit(cx, false)?, 0)?;
    let low = cx.b.build_cast(I::Trunc, pair, cx.int_type(16), "")?;
    bits_as(cx, low, cx.llvm.f16_type().into())
}

/// `cvt.rn.satfinite.e4m3x2.f32` of one value; the upper half of the pair is 0.
fn native_fp8<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, to: F) -> Res<Val<'c>> {
    let format = if to == F::F8E4M3FN { "e4m3x2" } else { "e5m2x2" };
    let bits = bits_as(cx, x, cx.int_type(32).into())?;
    let mut asm = PtxAsm::default();
    let (out, input) = (asm.output(Reg::B16), asm.input(Reg::B32, bits));
    asm.inst(None, format!("cvt.rn.satfinite.{format}.f32"), vec![Arg::Reg(out), Arg::Text("0f00000000"), Arg::Reg(input)]);
    let pair = operand(&asm.emit(cx, false)?, 0)?;
    Ok(cx.b.build_cast(I::Trunc, pair, cx.int_type(8), "")?)
}

/// `cvt.rz.f16.f32`
fn toward_zero<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>) -> Res<Val<'c>> {
    let bits = bits_as(cx, x, cx.int_type(32).into())?;
    let mut asm = PtxAsm::default();
    let (out, input) = (asm.output(Reg::B16), asm.input(Reg::B32, bits));
    asm.inst(None, "cvt.rz.f16.f32", vec![Arg::Reg(out), Arg::Reg(input)]);
    let half = operand(&asm.emit(cx, false)?, 0)?;
    bits_as(cx, half, cx.llvm.f16_type().into())
}

/// f16 rounded to odd.
fn to_odd<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, from: F) -> Res<Val<'c>> {
    let single = convert(cx, x, from, F::F32, Rounding::NearestEven)?;
    let half = toward_zero(cx, single)?;
    let back = cx.b.build_cast(I::FPExt, half, cx.llvm.f32_type(), "")?;
    let (Val::FloatValue(a), Val::FloatValue(b)) = (single, back) else { return Err(defect("a float was expected")) };
    let lost = cx.b.build_float_compare(FloatPredicate::UNE, a, b, "")?;
    let last = cx.b.build_int_z_extend(lost, cx.int_type(16), "")?;
    let bits = as_int(bits_as(cx, half, cx.int_type(16).into())?)?;
    let odd = cx.b.build_or(bits, last, "")?;
    bits_as(cx, odd.into(), cx.llvm.f16_type().into())
}

/// The upper byte of an f16 after adding `bias`; a NaN keeps a mantissa bit.
fn upper_byte<'c>(cx: &mut Lower<'c, '_>, half: Val<'c>, bias: Option<inkwell::values::IntValue<'c>>) -> Res<Val<'c>> {
    let i16 = cx.int_type(16);
    let bits = as_int(bits_as(cx, half, i16.into())?)?;
    let sum = match bias {
        Some(bias) => cx.b.build_int_add(bits, bias, "")?,
        None => bits,
    };
    let Val::FloatValue(value) = half else { return Err(defect("a float was expected")) };
    let nan = cx.b.build_float_compare(FloatPredicate::UNO, value, value, "")?;
    let quiet = cx.b.build_or(bits, i16.const_int(0x0200, false), "")?;
    let chosen = as_int(cx.b.build_select(nan, quiet, sum, "")?)?;
    let byte = cx.b.build_right_shift(chosen, i16.const_int(8, false), false, "")?;
    Ok(cx.b.build_int_truncate(byte, cx.int_type(8), "")?.into())
}

/// f16 to e5m2, to nearest even: add 0x7f and the last bit that stays, then drop the lower byte.
/// 0x3c80 lies halfway between 0x3c and 0x3d: 0x3c80 + 0x7f + 0 = 0x3cff gives 0x3c, the even one.
fn nearest_byte<'c>(cx: &mut Lower<'c, '_>, half: Val<'c>) -> Res<Val<'c>> {
    let i16 = cx.int_type(16);
    let bits = as_int(bits_as(cx, half, i16.into())?)?;
    let shifted = cx.b.build_right_shift(bits, i16.const_int(8, false), false, "")?;
    let last = cx.b.build_and(shifted, i16.const_int(1, false), "")?;
    let bias = cx.b.build_int_add(last, i16.const_int(0x7f, false), "")?;
    upper_byte(cx, half, Some(bias))
}
