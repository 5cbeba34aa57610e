//! `tt.fp_to_fp`: conversions between float formats, among them the 8-bit ones.
//!
//! f16, bf16, f32 and f64 are LLVM's. The 8-bit formats go through f32, which holds every value of theirs, by
//! arithmetic on bits that is the same on every target.
//!
//! # From 8 bits
//! e5m2 is the upper half of an f16. For the others the seven bits behind the sign, moved to where f32 has exponent and
//! mantissa, are the value but for the exponent's bias. Adding the difference of the biases gives a normal number; one
//! more, less the smallest normal number, gives a subnormal one:
//!
//! ```text
//! e4m3fn 0x01 → 0x0010_0000; + (128 - 7) << 23 = 0x3c90_0000, 2^-6 · 1.125; − 2^-6 = 2^-9
//! ```
//!
//! # To 8 bits
//! Let the format have `m` bits of mantissa, and `x` be the bits of the f32 without its sign.
//!
//! 1. A normal number: add half of the last place that stays, less 1, and that place's own bit; drop `23 - m` bits;
//!    subtract the difference of the biases. This rounds to nearest even.
//! 2. A subnormal number: add a power of two whose last place is the smallest subnormal number. f32 rounds to nearest
//!    even there, and what is behind the power is the answer.
//! 3. What is beyond the greatest number becomes that, NaN stays NaN, and formats without a negative zero get none.
//!
//! Toward zero there is no carry in step 1, and step 2 is a product made an integer.

use inkwell::values::{InstructionOpcode as I, IntValue};
use inkwell::{FloatPredicate, IntPredicate};

use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::enums::FpRounding;
use crate::ir::{FloatKind as F, Type};

/// An 8-bit format.
struct Byte {
    mantissa: u32,
    bias: u32,
    /// The byte of the greatest number.
    greatest: u32,
    /// The byte of NaN; 0x80 where that stands for it alone.
    nan: u32,
}

impl Byte {
    fn of(kind: F) -> Option<Byte> {
        let (mantissa, bias, greatest, nan) = match kind {
            F::F8E4M3FN => (3, 7, 0x7e, 0x7f),
            F::F8E5M2 => (2, 15, 0x7b, 0x7f),
            F::F8E4M3FNUZ => (3, 8, 0x7f, 0x80),
            F::F8E5M2FNUZ => (2, 16, 0x7f, 0x80),
            _ => return None,
        };
        Some(Byte { mantissa, bias, greatest, nan })
    }

    /// Whether 0x80 is NaN and no zero.
    fn is_unsigned_zero(&self) -> bool {
        self.nan == 0x80
    }

    /// Bits of f32's mantissa that this one has not.
    fn dropped(&self) -> u32 {
        23 - self.mantissa
    }
}

/// Converts all registers of a value.
///
/// # Errors
/// `E0704` where there is no such conversion.
pub(super) fn lower<'c>(
    cx: &mut Lower<'c, '_>,
    values: &[Val<'c>],
    (from, to): (F, F),
    rounding: FpRounding,
) -> Res<Vec<Val<'c>>> {
    check(from, to, rounding)?;
    values.iter().map(|&x| convert(cx, x, (from, to), rounding)).collect()
}

/// Refuses what there is no way to do.
fn check(from: F, to: F, rounding: FpRounding) -> Res<()> {
    let refuse = |why: &str| {
        Err(Diagnostic::error(&codes::UNSUPPORTED_CONVERSION, format!("`{}` to `{}`: {why}", from.name(), to.name())))
    };
    let known = |k: F| matches!(k, F::F16 | F::BF16 | F::F32 | F::F64) || Byte::of(k).is_some();
    if !known(from) || !known(to) {
        return refuse("there is no conversion of this format");
    }
    let toward_zero = from == F::F32 || Byte::of(to).is_some() && matches!(from, F::F16 | F::BF16);
    if rounding == FpRounding::Rtz && to.mantissa_bits() < from.mantissa_bits() && !toward_zero {
        return refuse("only rounding to nearest even is supported");
    }
    Ok(())
}

fn convert<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, (from, to): (F, F), rounding: FpRounding) -> Res<Val<'c>> {
    if from == to {
        return Ok(x);
    }
    if let Some(format) = Byte::of(from) {
        let single = if from == F::F8E5M2 { upper_half(cx, x)? } else { widen(cx, as_int(x)?, &format)? };
        return convert(cx, single, (F::F32, to), FpRounding::Rtne);
    }
    if let Some(format) = Byte::of(to) {
        let single = convert(cx, x, (from, F::F32), FpRounding::Rtne)?;
        return narrow(cx, single, &format, rounding);
    }
    if rounding == FpRounding::Rtz && from == F::F32 && to.bits() == 16 {
        return toward_zero(cx, x, to);
    }
    let ty = cx.elem_type(Type::float(to))?;
    if from.bits() == 16 && to.bits() == 16 {
        let wide = cx.b.build_cast(I::FPExt, x, cx.llvm.f32_type(), "")?;
        return convert(cx, wide, (F::F32, to), rounding);
    }
    let opcode = if to.bits() > from.bits() { I::FPExt } else { I::FPTrunc };
    Ok(cx.b.build_cast(opcode, x, ty, "")?)
}

/// f32 to f16 or bf16, toward zero.
fn toward_zero<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, to: F) -> Res<Val<'c>> {
    if to == F::F16 {
        let pair = cx.intrinsic("llvm.amdgcn.cvt.pkrtz", &[], &[x, x.get_type().const_zero()])?;
        let Val::VectorValue(pair) = pair else { return Err(defect("a pair is no vector")) };
        return Ok(cx.b.build_extract_element(pair, cx.i32(0), "")?);
    }
    let bits = as_int(bits_as(cx, x, cx.int_type(32).into())?)?;
    let upper = cx.b.build_right_shift(bits, cx.i32(16), false, "")?;
    let half = cx.b.build_int_truncate(upper, cx.int_type(16), "")?;
    let kept = bits_as(cx, half.into(), cx.llvm.bf16_type().into())?;
    // The bits that are dropped may be all that a NaN has.
    let rounded = cx.b.build_cast(I::FPTrunc, x, cx.llvm.bf16_type(), "")?;
    let nan = is_nan(cx, x)?;
    Ok(cx.b.build_select(nan, rounded, kept, "")?)
}

fn is_nan<'c>(cx: &Lower<'c, '_>, x: Val<'c>) -> Res<IntValue<'c>> {
    let Val::FloatValue(x) = x else { return Err(defect("a float was expected")) };
    Ok(cx.b.build_float_compare(FloatPredicate::UNO, x, x, "")?)
}

/// e5m2 to f32: the byte is the upper half of an f16.
fn upper_half<'c>(cx: &Lower<'c, '_>, x: Val<'c>) -> Res<Val<'c>> {
    let short = cx.int_type(16);
    let wide = cx.b.build_int_z_extend(as_int(x)?, short, "")?;
    let moved = cx.b.build_left_shift(wide, short.const_int(8, false), "")?;
    let half = bits_as(cx, moved.into(), cx.llvm.f16_type().into())?;
    Ok(cx.b.build_cast(I::FPExt, half, cx.llvm.f32_type(), "")?)
}

/// A power of two.
fn power<'c>(cx: &Lower<'c, '_>, exponent: i32) -> Val<'c> {
    cx.llvm.f32_type().const_float(2f64.powi(exponent)).into()
}

fn single<'c>(cx: &Lower<'c, '_>, bits: IntValue<'c>) -> Res<Val<'c>> {
    bits_as(cx, bits.into(), cx.llvm.f32_type().into())
}

/// An 8-bit float to f32.
fn widen<'c>(cx: &mut Lower<'c, '_>, x: IntValue<'c>, format: &Byte) -> Res<Val<'c>> {
    let byte = cx.b.build_int_z_extend(x, cx.int_type(32), "")?;
    let magnitude = cx.b.build_and(byte, cx.i32(0x7f), "")?;
    let moved = cx.b.build_left_shift(magnitude, cx.i32(u64::from(format.dropped())), "")?;
    let biased = |by: u32| cx.b.build_int_add(moved, cx.i32(u64::from(by) << 23), "");
    let (normal, above) = (biased(127 - format.bias)?, biased(128 - format.bias)?);
    let least = power(cx, 1 - format.bias as i32);
    let subnormal = cx.b.build_binop(I::FSub, single(cx, above)?, least, "")?;
    let subnormal = as_int(bits_as(cx, subnormal, cx.int_type(32).into())?)?;
    let is_small = cx.b.build_int_compare(IntPredicate::ULT, magnitude, cx.i32(1 << format.mantissa), "")?;
    let value = cx.b.build_select(is_small, subnormal, normal, "")?.into_int_value();
    let nan_of = if format.is_unsigned_zero() { byte } else { magnitude };
    let is_nan = cx.b.build_int_compare(IntPredicate::EQ, nan_of, cx.i32(u64::from(format.nan)), "")?;
    let value = cx.b.build_select(is_nan, cx.i32(0x7fc0_0000), value, "")?.into_int_value();
    let sign = cx.b.build_left_shift(cx.b.build_and(byte, cx.i32(0x80), "")?, cx.i32(24), "")?;
    single(cx, cx.b.build_or(value, sign, "")?)
}

/// f32 to an 8-bit float.
fn narrow<'c>(cx: &mut Lower<'c, '_>, x: Val<'c>, format: &Byte, rounding: FpRounding) -> Res<Val<'c>> {
    let word = cx.int_type(32);
    let bits = as_int(bits_as(cx, x, word.into())?)?;
    let magnitude = cx.b.build_and(bits, cx.i32(0x7fff_ffff), "")?;
    let normal = normal(cx, magnitude, format, rounding)?;
    let subnormal = subnormal(cx, magnitude, format, rounding)?;
    let least = cx.i32(u64::from(128 - format.bias) << 23);
    let is_small = cx.b.build_int_compare(IntPredicate::ULT, magnitude, least, "")?;
    let value = cx.b.build_select(is_small, subnormal, normal, "")?;
    let greatest = cx.i32(u64::from(format.greatest)).into();
    let value = as_int(cx.intrinsic("llvm.umin", &[word.into()], &[value, greatest])?)?;
    let sign = cx.b.build_right_shift(cx.b.build_and(bits, cx.i32(0x8000_0000), "")?, cx.i32(24), false, "")?;
    let mut signed = cx.b.build_or(value, sign, "")?;
    if format.is_unsigned_zero() {
        let is_zero = cx.b.build_int_compare(IntPredicate::EQ, value, cx.i32(0), "")?;
        signed = cx.b.build_select(is_zero, cx.i32(0), signed, "")?.into_int_value();
    }
    let is_nan = cx.b.build_int_compare(IntPredicate::UGT, magnitude, cx.i32(0x7f80_0000), "")?;
    let byte = cx.b.build_select(is_nan, cx.i32(u64::from(format.nan)), signed, "")?.into_int_value();
    Ok(cx.b.build_int_truncate(byte, cx.int_type(8), "")?.into())
}

/// Step 1. Numbers below the smallest normal one give anything.
fn normal<'c>(cx: &Lower<'c, '_>, magnitude: IntValue<'c>, format: &Byte, rounding: FpRounding) -> Res<IntValue<'c>> {
    let dropped = cx.i32(u64::from(format.dropped()));
    let mut rounded = magnitude;
    if rounding == FpRounding::Rtne {
        let last = cx.b.build_and(cx.b.build_right_shift(magnitude, dropped, false, "")?, cx.i32(1), "")?;
        let half = cx.i32((1 << (format.dropped() - 1)) - 1);
        rounded = cx.b.build_int_add(cx.b.build_int_add(magnitude, half, "")?, last, "")?;
    }
    let kept = cx.b.build_right_shift(rounded, dropped, false, "")?;
    Ok(cx.b.build_int_sub(kept, cx.i32(u64::from(127 - format.bias) << format.mantissa), "")?)
}

/// Step 2, for numbers below the smallest normal one.
fn subnormal<'c>(
    cx: &mut Lower<'c, '_>,
    magnitude: IntValue<'c>,
    format: &Byte,
    rounding: FpRounding,
) -> Res<IntValue<'c>> {
    let value = single(cx, magnitude)?;
    // The exponent of the smallest subnormal number.
    let place = 1 - format.bias as i32 - format.mantissa as i32;
    if rounding == FpRounding::Rtz {
        let scaled = cx.b.build_binop(I::FMul, value, power(cx, -place), "")?;
        // Great numbers, which this is not for, would be no integer of 32 bits.
        let bounded = cx.intrinsic("llvm.minnum", &[value.get_type()], &[scaled, power(cx, 8)])?;
        return as_int(cx.b.build_cast(I::FPToUI, bounded, cx.int_type(32), "")?);
    }
    let base = power(cx, place + 23);
    let sum = cx.b.build_binop(I::FAdd, value, base, "")?;
    let bits = as_int(bits_as(cx, sum, cx.int_type(32).into())?)?;
    let base = as_int(bits_as(cx, base, cx.int_type(32).into())?)?;
    Ok(cx.b.build_int_sub(bits, base, "")?)
}
