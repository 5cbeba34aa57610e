//! Conversions between float formats.

use super::super::numbers::{self, Rounding};
use super::super::value::Lanes;
use crate::ir::{FloatKind, Type};

fn kinds(from: Type, to: Type) -> Option<(FloatKind, FloatKind)> {
    Some((from.elem().as_float()?, to.elem().as_float()?))
}

/// Converts to a wider format, which is exact.
pub(crate) fn extend(from: Type, to: Type, a: &Lanes) -> Lanes {
    match kinds(from, to) {
        Some((f, FloatKind::F32)) => a.map(|x| u64::from(numbers::decode(f, x).to_bits())),
        Some((f, t)) => a.map(|x| numbers::round_to(t, numbers::to_f64(f, x), Rounding::ToNearestEven)),
        None => a.clone(),
    }
}

/// Converts to a narrower format, in a rounding mode.
pub(crate) fn truncate(from: Type, to: Type, a: &Lanes, mode: Rounding) -> Lanes {
    match kinds(from, to) {
        Some((FloatKind::F32, t)) if mode == Rounding::ToNearestEven => {
            a.map(|x| numbers::encode(t, f32::from_bits(x as u32)))
        }
        Some((f, t)) => a.map(|x| numbers::round_to(t, numbers::to_f64(f, x), mode)),
        None => a.clone(),
    }
}

/// Runs `tt.fp_to_fp`. To 8 bits, nearest rounding saturates at the largest finite value, as `cvt.rn.satfinite` does
/// (PTX ISA, `cvt`).
pub(crate) fn fp_to_fp(from: Type, to: Type, a: &Lanes, toward_zero: bool) -> Lanes {
    match kinds(from, to) {
        Some((f, t)) if t.bits() > f.bits() => extend(from, to, a),
        Some((f, t)) if t.is_fp8() && !toward_zero => a.map(|x| numbers::saturate_to(t, numbers::to_f64(f, x))),
        Some(_) => truncate(from, to, a, if toward_zero { Rounding::TowardZero } else { Rounding::ToNearestEven }),
        None => a.clone(),
    }
}
