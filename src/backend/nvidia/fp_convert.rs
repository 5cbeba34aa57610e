//! `tt.fp_to_fp`: conversions between float formats, among them the 8-bit ones.
//!
//! | from → to | how |
//! |---|---|
//! | e4m3, e5m2 → f16 | `cvt.rn.f16x2` on pairs (sm_89) |
//! | e5m2 → f16 before sm_89 | the byte is the upper half of the f16: `prmt`, four at a time |
//! | fp8 → others | through f16, then f32: both hold every value exactly |
//! | f32, f16, bf16 → fp8 | `cvt.rn.satfinite` on pairs of f16, or of f32, which holds every value of bf16 (sm_89) |
//! | f32, f16, bf16 → e5m2 before sm_89 | through f16 rounded to odd, then the lower byte is rounded away, to nearest even, four at a time |
//! | f32 → f16, bf16 | `fptrunc`, or `cvt.rz` |
//!
//! Rounding to odd: truncate to f16, and set the last bit when anything was lost. With that bit a second rounding to
//! fewer bits is right: f16 has eight mantissa bits more than e5m2, so a lost part can neither look like a tie nor hide
//! one.
//!
//! Rounding the lower bytes of two f16 in one 32-bit register: without the signs, add 0x7f and the last bit that stays
//! to each half, then take the upper bytes. 0x3c80 lies halfway between 0x3c and 0x3d: 0x3c80 + 0x7f + 0 = 0x3cff gives
//! 0x3c, the even one. A half is at most 0x7fff, so nothing carries into the other; only the NaN 0x7fff reaches 0x80,
//! and one less is 0x7f, a NaN again.
//!
//! PTX ISA, "Data Movement and Conversion Instructions: cvt".

use inkwell::values::{BasicValue, InstructionOpcode as I, IntValue};

use super::ptx_builder::{Arg, PtxAsm, Reg};
use crate::codegen::bits::{bits_as, operand, split_pair};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::FloatKind as F;
use crate::ir::dialects::enums::FpRounding;

/// Converts all registers of a value.
///
/// # Errors
/// `E0704` where the target has no such conversion.
pub(super) fn lower<'c>(
    cx: &mut Lower<'c, '_>,
    values: &[Val<'c>],
    (from, to): (F, F),
    rounding: FpRounding,
) -> Res<Vec<Val<'c>>> {
    check(cx, from, to, rounding)?;
    convert(cx, values, from, to, rounding)
}

/// Refuses what the target has no way to do.
fn check(cx: &Lower<'_, '_>, from: F, to: F, rounding: FpRounding) -> Res<()> {
    let target = cx.options.target;
    let refuse = |why: String| {
        Err(Diagnostic::error(&codes::UNSUPPORTED_CONVERSION, format!("`{}` to `{}`: {why}", from.name(), to.name())))
    };
    let known = |k: F| matches!(k, F::F8E4M3FN | F::F8E5M2 | F::F16 | F::BF16 | F::F32 | F::F64);
    if !known(from) || !known(to) {
        return refuse("there is no conversion of this format".into());
    }
    if (from == F::F8E4M3FN || to == F::F8E4M3FN) && !target.has_fp8_cvt() {
        return refuse(format!("{} has no conversions of f8E4M3FN, sm_89 and later have", target.name));
    }
    let toward_zero = matches!((from, to), (F::F32, F::F16 | F::BF16 | F::F8E5M2) | (F::F16, F::F8E5M2));
    if rounding == FpRounding::Rtz && !toward_zero && to.mantissa_bits() < from.mantissa_bits() {
        return refuse("only rounding to nearest even is supported".into());
    }
    Ok(())
}

/// Converts all registers of a value, two at a time where an instruction takes two.
fn convert<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], from: F, to: F, rounding: FpRounding) -> Res<Vec<Val<'c>>> {
    let native = cx.options.target.has_fp8_cvt();
    match (from, to) {
        _ if from == to => Ok(xs.to_vec()),
        (F::F8E5M2 | F::F8E4M3FN, F::F16) if native => unpack_pairs(cx, xs, from),
        (F::F8E5M2, F::F16) => bytes_to_halves(cx, xs),
        (F::F8E5M2 | F::F8E4M3FN, _) => through(cx, xs, [from, F::F16, to], rounding),
        (F::F16, F::F8E5M2) if rounding == FpRounding::Rtz => halves_to_bytes(cx, xs, quiet_pair, upper_bytes),
        (_, F::F8E5M2) if rounding == FpRounding::Rtz => halves_to_bytes(cx, xs, toward_zero_pair, upper_bytes),
        (F::F16, F::F8E4M3FN | F::F8E5M2) if native => pack_halves(cx, xs, to),
        (F::F32, F::F8E4M3FN | F::F8E5M2) if native => pack_pairs(cx, xs, to),
        (_, F::F8E4M3FN | F::F8E5M2) if native => through(cx, xs, [from, F::F32, to], FpRounding::Rtne),
        (F::F16, F::F8E5M2) => halves_to_bytes(cx, xs, quiet_pair, nearest_bytes),
        (_, F::F8E5M2) => {
            let single = convert(cx, xs, from, F::F32, FpRounding::Rtne)?;
            halves_to_bytes(cx, &single, odd_pair, nearest_bytes)
        }
        (F::F32, F::F16) if rounding == FpRounding::Rtz => each(cx, xs, toward_zero),
        (F::F32, F::BF16) if rounding == FpRounding::Rtz => {
            each(cx, xs, |cx, x| cx.intrinsic("llvm.nvvm.f2bf16.rz", &[], &[x]))
        }
        (F::F16, F::BF16) | (F::BF16, F::F16) => through(cx, xs, [from, F::F32, to], rounding),
        _ => {
            let ty = cx.elem_type(crate::ir::Type::float(to))?;
            let opcode = if to.bits() > from.bits() { I::FPExt } else { I::FPTrunc };
            each(cx, xs, |cx, x| Ok(cx.b.build_cast(opcode, x, ty, "")?))
        }
    }
}

fn each<'c>(
    cx: &mut Lower<'c, '_>,
    xs: &[Val<'c>],
    mut f: impl FnMut(&mut Lower<'c, '_>, Val<'c>) -> Res<Val<'c>>,
) -> Res<Vec<Val<'c>>> {
    xs.iter().map(|&x| f(cx, x)).collect()
}

/// Two conversions, one after the other.
fn through<'c>(
    cx: &mut Lower<'c, '_>,
    xs: &[Val<'c>],
    [from, middle, to]: [F; 3],
    rounding: FpRounding,
) -> Res<Vec<Val<'c>>> {
    let middle_values = convert(cx, xs, from, middle, rounding)?;
    convert(cx, &middle_values, middle, to, rounding)
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

/// `cvt.rn.satfinite.e4m3x2.f16x2` and its like.
fn pack_halves<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], to: F) -> Res<Vec<Val<'c>>> {
    let format = if to == F::F8E4M3FN { "e4m3x2" } else { "e5m2x2" };
    let mut out = Vec::with_capacity(xs.len());
    for two in xs.chunks(2) {
        let halves = pair(cx, two)?;
        let halves = bits_as(cx, halves, cx.int_type(32).into())?;
        let mut asm = PtxAsm::default();
        let (result, input) = (asm.output(Reg::B16), asm.input(Reg::B32, halves));
        asm.inst(None, format!("cvt.rn.satfinite.{format}.f16x2"), vec![Arg::Reg(result), Arg::Reg(input)]);
        let bytes = operand(&asm.emit(cx, false)?, 0)?;
        split_pair(cx, bytes, cx.int_type(8).into(), two.len(), &mut out)?;
    }
    Ok(out)
}

/// f16 from e5m2: each byte is the upper half of a result.
fn bytes_to_halves<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>]) -> Res<Vec<Val<'c>>> {
    let mut out = Vec::with_capacity(xs.len());
    for four in xs.chunks(4) {
        let mut vector = cx.int_type(8).vec_type(4).const_zero();
        for (i, &x) in four.iter().enumerate() {
            vector = cx.b.build_insert_element(vector, x, cx.i32(i as u64), "")?;
        }
        let word = as_int(bits_as(cx, vector.into(), cx.int_type(32).into())?)?;
        for (two, selector) in four.chunks(2).zip([0x5140, 0x7362]) {
            let halves = permute(cx, cx.i32(0), word, cx.i32(selector))?;
            split_pair(cx, halves.into(), cx.llvm.f16_type().into(), two.len(), &mut out)?;
        }
    }
    Ok(out)
}

/// `prmt`
pub(super) fn permute<'c>(
    cx: &mut Lower<'c, '_>,
    a: IntValue<'c>,
    b: IntValue<'c>,
    selector: IntValue<'c>,
) -> Res<IntValue<'c>> {
    as_int(cx.intrinsic("llvm.nvvm.prmt", &[], &[a.into(), b.into(), selector.into()])?)
}

/// Makes a 32-bit register of two f16 from one or two values.
type Halve = for<'c> fn(&mut Lower<'c, '_>, &[Val<'c>]) -> Res<IntValue<'c>>;
/// Makes four bytes from two such registers.
type Narrow = for<'c> fn(&mut Lower<'c, '_>, [IntValue<'c>; 2]) -> Res<IntValue<'c>>;

/// e5m2, four values at a time: two pairs of f16, then their upper bytes.
fn halves_to_bytes<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>], halve: Halve, narrow: Narrow) -> Res<Vec<Val<'c>>> {
    let mut out = Vec::with_capacity(xs.len());
    for four in xs.chunks(4) {
        let mut words = [cx.i32(0); 2];
        for (word, two) in words.iter_mut().zip(four.chunks(2)) {
            *word = halve(cx, two)?;
        }
        let bytes = narrow(cx, words)?;
        let Val::VectorValue(vector) = cx.b.build_bit_cast(bytes, cx.int_type(8).vec_type(4), "")? else {
            return Err(defect("four bytes are no vector"));
        };
        for i in 0..four.len() {
            out.push(cx.b.build_extract_element(vector, cx.i32(i as u64), "")?);
        }
    }
    Ok(out)
}

/// Two f16 as they are, but every NaN as 0x7fff, which has its mantissa bits in the upper byte too. `fma` by one, since
/// nothing else touches NaNs only.
fn quiet_pair<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>]) -> Res<IntValue<'c>> {
    let halves = pair(cx, xs)?;
    let bits = bits_as(cx, halves, cx.int_type(32).into())?;
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B32);
    let input = asm.input(Reg::B32, bits);
    let (one, zero) =
        (asm.input(Reg::B32, cx.i32(0x3c00_3c00).into()), asm.input(Reg::B32, cx.i32(0x8000_8000).into()));
    asm.inst(None, "fma.rn.f16x2", vec![Arg::Reg(out), Arg::Reg(input), Arg::Reg(one), Arg::Reg(zero)]);
    as_int(operand(&asm.emit(cx, false)?, 0)?)
}

/// `cvt.rz.f16x2.f32`; the first source becomes the upper half.
fn toward_zero_pair<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>]) -> Res<IntValue<'c>> {
    let low = operand(xs, 0)?;
    let high = xs.get(1).copied().unwrap_or_else(|| low.get_type().const_zero());
    let halves = cx.intrinsic("llvm.nvvm.ff2f16x2.rz", &[], &[high, low])?;
    as_int(bits_as(cx, halves, cx.int_type(32).into())?)
}

/// Two f16 from f32, rounded to odd: 1 is or-ed in where converting back gives other bits.
fn odd_pair<'c>(cx: &mut Lower<'c, '_>, xs: &[Val<'c>]) -> Res<IntValue<'c>> {
    let word = toward_zero_pair(cx, xs)?;
    let mut halves = vec![];
    split_pair(cx, word.into(), cx.llvm.f16_type().into(), xs.len(), &mut halves)?;
    let mut odd = word;
    for (i, (&x, half)) in xs.iter().zip(halves).enumerate() {
        let back = cx.b.build_cast(I::FPExt, half, cx.llvm.f32_type(), "")?;
        let (x, back) =
            (as_int(bits_as(cx, x, cx.int_type(32).into())?)?, as_int(bits_as(cx, back, cx.int_type(32).into())?)?);
        let lost = cx.b.build_xor(x, back, "")?;
        let one = as_int(cx.intrinsic("llvm.umin", &[lost.get_type().into()], &[lost.into(), cx.i32(1).into()])?)?;
        let moved = cx.b.build_left_shift(one, cx.i32(16 * i as u64), "")?;
        odd = cx.b.build_or(odd, moved, "")?;
    }
    Ok(odd)
}

/// The upper bytes of four f16.
fn upper_bytes<'c>(cx: &mut Lower<'c, '_>, [low, high]: [IntValue<'c>; 2]) -> Res<IntValue<'c>> {
    permute(cx, low, high, cx.i32(0x7531))
}

/// The upper bytes of four f16, rounded to nearest even; see the module's documentation.
fn nearest_bytes<'c>(cx: &mut Lower<'c, '_>, words: [IntValue<'c>; 2]) -> Res<IntValue<'c>> {
    let signs = upper_bytes(cx, words)?;
    let mut rounded = words;
    for word in &mut rounded {
        let magnitude = cx.b.build_and(*word, cx.i32(0x7fff_7fff), "")?;
        let shifted = cx.b.build_right_shift(*word, cx.i32(8), false, "")?;
        let last = cx.b.build_and(shifted, cx.i32(0x0001_0001), "")?;
        let biased = cx.b.build_int_add(magnitude, cx.i32(0x007f_007f), "")?;
        *word = cx.b.build_int_add(biased, last, "")?;
    }
    let bytes = upper_bytes(cx, rounded)?;
    let over = cx.b.build_and(bytes, cx.i32(0x8080_8080), "")?;
    let one = cx.b.build_right_shift(over, cx.i32(7), false, "")?;
    let fixed = cx.b.build_int_sub(bytes, one, "")?;
    let sign = cx.b.build_and(signs, cx.i32(0x8080_8080), "")?;
    Ok(cx.b.build_or(fixed, sign, "")?)
}
