//! Numbers as bit patterns: fast decoding and encoding of the float formats, rounding modes, integers to floats.
//!
//! 1. Formats of up to 16 bits decode through a table of `f32`, which holds each of their values exactly. `f32` and
//!    `f64` stand for themselves.
//! 2. An operation on a narrow format is computed in `f32` and rounded once to the format. For +, -, ×, ÷ and √ this
//!    equals a direct rounding, since 24 ≥ 2·11 + 2 significant bits; the hardware does the same.
//! 3. Directed rounding starts from the nearest value and steps one pattern back when that lies on the wrong side.
//!
//! Example: 1/3 in f16 is nearest to 0x3555 (below), and upward rounding gives 0x3556.

use std::sync::LazyLock;

use crate::ir::{FloatKind, Type};

/// How a conversion to a narrower format rounds.
pub(crate) use crate::ir::dialects::enums::RoundingMode as Rounding;

/// The bits of an element of this type that a lane holds: all of an integer, a float or a pointer, and at most 64.
pub(crate) fn width(ty: Type) -> u32 {
    ty.bit_width().unwrap_or(64).min(64)
}

fn build(kind: FloatKind) -> Vec<f32> {
    (0..1u64 << kind.bits()).map(|bits| kind.to_f64(bits) as f32).collect()
}

/// All values of a format of at most 16 bits. Wider formats have no table.
pub(crate) fn table(kind: FloatKind) -> Option<&'static [f32]> {
    macro_rules! tables {
        ($($kind:ident),*) => {
            match kind {
                $(FloatKind::$kind => {
                    static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| build(FloatKind::$kind));
                    Some(&TABLE)
                })*
                FloatKind::TF32 | FloatKind::F32 | FloatKind::F64 => None,
            }
        };
    }
    tables!(F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E8M0FNU, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16)
}

/// The `f32` of a pattern in a format other than f64. It is exact.
pub(crate) fn decode(kind: FloatKind, bits: u64) -> f32 {
    match table(kind) {
        Some(t) => t[bits as usize & (t.len() - 1)],
        None if kind == FloatKind::F32 => f32::from_bits(bits as u32),
        None => kind.to_f64(bits) as f32,
    }
}

/// Rounds an `f32` to the nearest pattern of a format, ties to even.
pub(crate) fn encode(kind: FloatKind, v: f32) -> u64 {
    match kind {
        FloatKind::F32 => u64::from(v.to_bits()),
        FloatKind::F64 => f64::from(v).to_bits(),
        FloatKind::BF16 if !v.is_nan() => {
            let bits = v.to_bits();
            u64::from((bits + 0x7fff + (bits >> 16 & 1)) >> 16)
        }
        FloatKind::F16 => encode_f16(v),
        _ => kind.from_f64(f64::from(v)),
    }
}

/// Rounds to f16. Normal results come from adding half of the last place as an integer, the rest from the general
/// conversion.
fn encode_f16(v: f32) -> u64 {
    let bits = v.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // The numbers from 2^-14, the least normal value, up to 65520, from which rounding gives infinity.
    if (0x3880_0000..0x477f_f000).contains(&magnitude) {
        let rebased = magnitude - (112 << 23);
        let rounded = (rebased + 0x0fff + (rebased >> 13 & 1)) >> 13;
        return u64::from(bits >> 16 & 0x8000 | rounded);
    }
    FloatKind::F16.from_f64(f64::from(v))
}

/// The value of a pattern in any format.
pub(crate) fn to_f64(kind: FloatKind, bits: u64) -> f64 {
    match kind {
        FloatKind::F64 => f64::from_bits(bits),
        FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => table(kind).map_or_else(|| kind.to_f64(bits), |t| f64::from(t[bits as usize & (t.len() - 1)])),
    }
}

/// Rounds to a format in the given mode. If a finite value would become infinite, it becomes the largest finite value
/// where the mode points inwards.
pub(crate) fn round_to(kind: FloatKind, v: f64, mode: Rounding) -> u64 {
    let nearest = if kind == FloatKind::F32 { u64::from((v as f32).to_bits()) } else { kind.from_f64(v) };
    let back = to_f64(kind, nearest);
    if mode == Rounding::ToNearestEven || v.is_nan() || v.is_infinite() || back == v {
        return nearest;
    }
    let inwards = match mode {
        Rounding::TowardZero => true,
        Rounding::Downward => v > 0.0,
        Rounding::Upward => v < 0.0,
        Rounding::ToNearestAway => return nearest_away(kind, v, nearest, back),
        Rounding::ToNearestEven => return nearest,
    };
    // A format without infinity overflows to NaN. Every mode but the nearest gives its largest value.
    if back.is_nan() {
        return largest(kind, v < 0.0);
    }
    match (inwards, back.abs() > v.abs()) {
        (true, true) => nearest - 1,
        (false, false) => nearest + 1,
        _ => nearest,
    }
}

/// Rounds ties away from zero: where the value lies halfway to the next pattern outwards, that pattern is taken.
fn nearest_away(kind: FloatKind, v: f64, nearest: u64, back: f64) -> u64 {
    if back.abs() >= v.abs() || back.is_nan() {
        return nearest;
    }
    let next = to_f64(kind, nearest + 1);
    if next.is_finite() && next.abs() - v.abs() == v.abs() - back.abs() { nearest + 1 } else { nearest }
}

/// The pattern of the largest finite value.
pub(crate) fn largest(kind: FloatKind, negative: bool) -> u64 {
    if kind == FloatKind::F8E8M0FNU {
        return 0xfe;
    }
    let sign = 1u64 << (kind.bits() - 1);
    let mut bits = sign - 1;
    while !to_f64(kind, bits).is_finite() {
        // Infinity and NaN fill the top of the range, which is at most one exponent's worth of patterns.
        let step = 1u64 << kind.mantissa_bits();
        let below = bits - 1;
        bits = if to_f64(kind, bits & !(step - 1)).is_finite() { below } else { (bits & !(step - 1)) - 1 };
    }
    if negative { bits | sign } else { bits }
}

/// Rounds as the conversion instructions to 8-bit floats do: to nearest even, and what is too large becomes the largest
/// finite value.
pub(crate) fn saturate_to(kind: FloatKind, v: f64) -> u64 {
    let bits = kind.from_f64(v);
    if !v.is_nan() && !to_f64(kind, bits).is_finite() { largest(kind, v < 0.0) } else { bits }
}

/// Rounds an integer once to a format.
pub(crate) fn from_int(kind: FloatKind, v: i128) -> u64 {
    match kind {
        FloatKind::F32 => u64::from((v as f32).to_bits()),
        FloatKind::F64 => (v as f64).to_bits(),
        _ => kind.from_f64(round_to_odd(v)),
    }
}

/// An `f64` that rounds as `v` does to every format of at most 50 bits. Its last bit remembers the bits that do not
/// fit.
fn round_to_odd(v: i128) -> f64 {
    let magnitude = v.unsigned_abs();
    let width = 128 - magnitude.leading_zeros();
    if width <= 53 {
        return v as f64;
    }
    let shift = width - 53;
    let lost = magnitude & ((1 << shift) - 1) != 0;
    let odd = ((magnitude >> shift) | u128::from(lost)) as f64 * 2f64.powi(shift as i32);
    if v < 0 { -odd } else { odd }
}

/// Converts a float to an integer of a width, towards zero. As on the hardware, it saturates out of range and NaN gives
/// 0.
pub(crate) fn to_int(v: f64, width: u32, signed: bool) -> u64 {
    let (low, high) =
        if signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
    mask(width) & (v as i128).clamp(low, high) as u64
}

/// A number with the low `width` bits set.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Sign-extends a pattern of `width` bits.
pub(crate) fn signed(bits: u64, width: u32) -> i64 {
    crate::ir::core::attrs::sign_extend(bits as i64, width)
}

/// Clears the 13 mantissa bits that a tensor core does not read from a tf32 operand.
pub(crate) fn tf32(v: f32) -> f32 {
    f32::from_bits(v.to_bits() & 0xffff_e000)
}

/// Rounds to bfloat16 and back.
pub(crate) fn bf16(v: f32) -> f32 {
    decode(FloatKind::BF16, encode(FloatKind::BF16, v))
}
