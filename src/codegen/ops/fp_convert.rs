//! `tt.fp_to_fp`: conversions between float formats, among them the 8-bit ones.
//!
//! | from → to | how |
//! |---|---|
//! | e4m3, e5m2 → f16 | `cvt.rn.f16x2` on pairs (sm_89) |
//! | e5m2 → f16 before sm_89 | the byte is the upper half of the f16 |
//! | fp8 → others | through f16, then f32: both hold every value exactly |
//! | f32, f16, bf16 → fp8 | `cvt.rn.satfinite` on pairs of f32 (sm_89), which holds every value of the other two |
//! | f32, f16, bf16 → e5m2 before sm_89 | through f16 rounded to odd, then the lower byte is rounded away, to nearest even |
//! | f32 → f16, bf16 | `fptrunc`, or `cvt.rz` |
//!
//! Rounding to odd: truncate to f16, and set the last bit when anything was lost. With that bit a second rounding to fewer bits is right: f16 has eight
//! mantissa bits more than e5m2, so a lost part can neither look like a tie nor hide one.
//!
//! PTX ISA, "Data Movement and Conversion Instructions: cvt".

use inkwell::FloatPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I};

use super::arith::operand;
use super::cast::bits_as;
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
    let regs = cx.get(cx.ir.operand(op, 0))?;
    let converted = convert(cx, &regs, from, to, rounding)?;
    cx.set(cx.ir.result(op), converted);
    Ok(())
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

/// Converts all registers of a value, two at a time where an instruction takes two.
fn convert<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], from: F, to: F, rounding: Rounding) -> Res<Vec<Val<'c>>> {
    let native = cx.options.target.has_fp8_cvt();
    match (from, to) {
        _ if from == to => Ok(xs.to_vec()),
        (F::F8E5M2 | F::F8E4M3FN, F::F16) if native => unpack_pairs(cx, xs, from),
        (F::F8E5M2, F::F16) => each(cx, xs, byte_to_f16),
        (F::F8E5M2 | F::F8E4M3FN, _) => through(cx, xs, [from, F::F16, to], rounding),
        (_, F::F8E5M2) if rounding == Rounding::TowardZero => {
            let half = if from == F::F16 { xs.to_vec() } else { each(cx, xs, toward_zero)? };
            each(cx, &half, |cx, h| upper_byte(cx, h, None))
        }
        (F::F32, F::F8E4M3FN | F::F8E5M2) if native => pack_pairs(cx, xs, to),
        (_, F::F8E4M3FN | F::F8E5M2) if native => through(cx, xs, [from, F::F32, to], Rounding::NearestEven),
        (F::F16, F::F8E5M2) => each(cx, xs, nearest_byte),
        (_, F::F8E5M2) => {
            let single = convert(cx, xs, from, F::F32, Rounding::NearestEven)?;
            let half = each(cx, &single, to_odd)?;
            each(cx, &half, nearest_byte)
        }
        (F::F32, F::F16) if rounding == Rounding::TowardZero => each(cx, xs, toward_zero),
        (F::F32, F::BF16) if rounding == Rounding::TowardZero => each(cx, xs, |cx, x| cx.intrinsic("llvm.nvvm.f2bf16.rz", &[], &[x])),
        (F::F16, F::BF16) | (F::BF16, F::F16) => through(cx, xs, [from, F::F32, to], rounding),
        _ => {
            let ty = cx.elem_type(crate::ir::Type::float(to))?;
            let opcode = if to.bits() > from.bits() { I::FPExt } else { I::FPTrunc };
            each(cx, xs, |cx, x| Ok(cx.b.build_cast(opcode, x, ty, "")?))
        }
    }
}

fn each<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], mut f: impl FnMut(&mut Lower<'c, '_>, Val<'c>) -> Res<Val<'c>>) -> Res<Vec<Val<'c>>> {
    xs.iter().map(|&x| f(cx, x)).collect()
}

/// Two conversions, one after the other.
fn through<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], [from, middle, to]: [F; 3], rounding: Rounding) -> Res<Vec<Val<'c>>> {
    let middle_values = convert(cx, xs, from, middle, rounding)?;
    convert(cx, &middle_values, middle, to, rounding)
}

/// f16 from e5m2: the byte is its upper half.
fn byte_to_f16<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>) -> Res<Val<'c>> {
    let wide = cx.b.build_cast(I::ZExt, x, cx.int_type(16), "")?;
    let shifted = cx.b.build_left_shift(as_int(wide)?, cx.int_type(16).const_int(8, false), "")?;
    bits_as(cx, shifted.into(), cx.llvm.f16_type().into())
}

/// A vector of values; a last value without a partner gets a zero.
fn pair<'c>(cx: &Lower<'c, '_>, xs: &[Val<'c>]) -> Res<Val<'c>> {
    let first = operand(xs, 0)?;
    let mut vector = Lower::vector_type(first.get_type(), 2)?.const_zero();
    for (i, &x) in xs.iter().enumerate() {
        vector = cx.b.build_insert_element(vector, x, cx.i32(i as u64), "")?;
    }
    Ok(vector.as_basic_value_enum())
}

/// The elements of a pair that came as an integer; as many as there were values.
fn split_pair<'c>(cx: &Lower<'c, '_>, pair: Val<'c>, elem: BasicTypeEnum<'c>, count: usize, out: &mut Vec<Val<'c>>) -> Res<()> {
    let Val::VectorValue(vector) = cx.b.build_bit_cast(pair, Lower::vector_type(elem, 2)?, "")? else {
        return Err(defect("a pair is no vector"));
    };
    for i in 0..count {
        out.push(cx.b.build_extract_element(vector, cx.i32(i as u64), "")?);
    }
    Ok(())
}

/// `cvt.rn.f16x2.e4m3x2` and its like.
fn unpack_pairs<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], from: F) -> Res<Vec<Val<'c>>> {
    let format = if from == F::F8E4M3FN { "e4m3x2" } else { "e5m2x2" };
    let mut out = Vec::with_capacity(xs.len());
    for two in xs.chunks(2) {
        let bytes = pair(cx, two)?;
        let bytes = bits_as(cx, bytes, cx.int_type(16).into())?;
        let mut asm = PtxAsm::default();
        let (to, input) = (asm.output(Reg::B32), asm.input(Reg::B16, bytes));
        asm.inst(None, format!("cvt.rn.f16x2.{format}"), vec![Arg::Reg(to), Arg::Reg(input)]);
        let halves = operand(&asm.emit(cx, false)?, 0)?;
        split_pair(cx, halves, cx.llvm.f16_type().into(), two.len(), &mut out)?;
    }
    Ok(out)
}

/// `cvt.rn.satfinite.e4m3x2.f32` and its like; the first source becomes the upper byte.
fn pack_pairs<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], to: F) -> Res<Vec<Val<'c>>> {
    let format = if to == F::F8E4M3FN { "e4m3x2" } else { "e5m2x2" };
    let mut out = Vec::with_capacity(xs.len());
    for two in xs.chunks(2) {
        let mut asm = PtxAsm::default();
        let result = asm.output(Reg::B16);
        let low = bits_as(cx, operand(two, 0)?, cx.int_type(32).into())?;
        let low = asm.input(Reg::B32, low);
        let high = match two.get(1) {
            Some(&x) => {
                let bits = bits_as(cx, x, cx.int_type(32).into())?;
                Arg::Reg(asm.input(Reg::B32, bits))
            }
            None => Arg::Text("0f00000000"),
        };
        asm.inst(None, format!("cvt.rn.satfinite.{format}.f32"), vec![Arg::Reg(result), high, Arg::Reg(low)]);
        let bytes = operand(&asm.emit(cx, false)?, 0)?;
        split_pair(cx, bytes, cx.int_type(8).into(), two.len(), &mut out)?;
    }
    Ok(out)
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

/// f16 from f32, rounded to odd.
fn to_odd<'c>(cx: &mut Lower<'c, '_>, single: Val<'c>) -> Res<Val<'c>> {
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
