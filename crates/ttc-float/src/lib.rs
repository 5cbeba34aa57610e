//! Floating-point formats as bit patterns: conversion to and from `f64` with round-to-nearest-even.
//!
//! Example: f8E4M3FN has 4 exponent bits, 3 mantissa bits, bias 7 and no infinity. Its largest value is 448 and 0x7f is
//! its only positive NaN.

/// The float types of the IR, by MLIR's names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatKind {
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
    F8E8M0FNU,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E4M3B11FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F16,
    BF16,
    TF32,
    F32,
    F64,
}

/// The meaning of the largest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Infinity and NaN as in IEEE 754.
    Ieee,
    /// There is no infinity, and all ones is NaN (`FN`).
    NanOnly,
    /// There is neither infinity nor NaN.
    Finite,
    /// Powers of two without a sign, a zero or an infinity. All ones is NaN (`FNU`).
    PowersOfTwo,
    /// There is no infinity and no negative zero, and 0x80 is NaN (`FNUZ`).
    Unsigned0,
}

/// How the bits of a format are read.
#[derive(Clone, Copy)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa without the implicit one.
    pub mantissa: u32,
    pub bias: i32,
    pub special: Special,
}

impl FloatKind {
    pub const ALL: [FloatKind; 14] = [
        FloatKind::F4E2M1FN,
        FloatKind::F6E2M3FN,
        FloatKind::F6E3M2FN,
        FloatKind::F8E8M0FNU,
        FloatKind::F8E4M3FN,
        FloatKind::F8E4M3FNUZ,
        FloatKind::F8E4M3B11FNUZ,
        FloatKind::F8E5M2,
        FloatKind::F8E5M2FNUZ,
        FloatKind::F16,
        FloatKind::BF16,
        FloatKind::TF32,
        FloatKind::F32,
        FloatKind::F64,
    ];

    /// MLIR's name of the type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::F4E2M1FN => "f4E2M1FN",
            FloatKind::F6E2M3FN => "f6E2M3FN",
            FloatKind::F6E3M2FN => "f6E3M2FN",
            FloatKind::F8E8M0FNU => "f8E8M0FNU",
            FloatKind::F8E4M3FN => "f8E4M3FN",
            FloatKind::F8E4M3FNUZ => "f8E4M3FNUZ",
            FloatKind::F8E4M3B11FNUZ => "f8E4M3B11FNUZ",
            FloatKind::F8E5M2 => "f8E5M2",
            FloatKind::F8E5M2FNUZ => "f8E5M2FNUZ",
            FloatKind::F16 => "f16",
            FloatKind::BF16 => "bf16",
            FloatKind::TF32 => "tf32",
            FloatKind::F32 => "f32",
            FloatKind::F64 => "f64",
        }
    }

    /// The storage width in bits. As in MLIR, tf32 counts 19.
    #[must_use]
    pub fn bits(self) -> u32 {
        let f = self.format();
        u32::from(f.special != Special::PowersOfTwo) + f.exponent + f.mantissa
    }

    /// The mantissa bits without the implicit one.
    #[must_use]
    pub fn mantissa_bits(self) -> u32 {
        self.format().mantissa
    }

    /// Whether the format is one of the 8-bit ones.
    #[must_use]
    pub fn is_fp8(self) -> bool {
        self.bits() == 8
    }

    /// How its bits are read.
    pub fn format(self) -> Format {
        let f = |exponent, mantissa, bias, special| Format { exponent, mantissa, bias, special };
        match self {
            FloatKind::F4E2M1FN => f(2, 1, 1, Special::Finite),
            FloatKind::F6E2M3FN => f(2, 3, 1, Special::Finite),
            FloatKind::F6E3M2FN => f(3, 2, 3, Special::Finite),
            FloatKind::F8E8M0FNU => f(8, 0, 127, Special::PowersOfTwo),
            FloatKind::F8E4M3FN => f(4, 3, 7, Special::NanOnly),
            FloatKind::F8E4M3FNUZ => f(4, 3, 8, Special::Unsigned0),
            FloatKind::F8E4M3B11FNUZ => f(4, 3, 11, Special::Unsigned0),
            FloatKind::F8E5M2 => f(5, 2, 15, Special::Ieee),
            FloatKind::F8E5M2FNUZ => f(5, 2, 16, Special::Unsigned0),
            FloatKind::F16 => f(5, 10, 15, Special::Ieee),
            FloatKind::BF16 => f(8, 7, 127, Special::Ieee),
            FloatKind::TF32 => f(8, 10, 127, Special::Ieee),
            FloatKind::F32 => f(8, 23, 127, Special::Ieee),
            FloatKind::F64 => f(11, 52, 1023, Special::Ieee),
        }
    }

    /// The value of a bit pattern, exactly. A NaN becomes the default NaN with the pattern's sign.
    #[must_use]
    pub fn to_f64(self, bits: u64) -> f64 {
        if self == FloatKind::F64 {
            return f64::from_bits(bits);
        }
        if self == FloatKind::F32 && !f32::from_bits(bits as u32).is_nan() {
            return f64::from(f32::from_bits(bits as u32));
        }
        let Format { exponent, mantissa, bias, special } = self.format();
        if special == Special::PowersOfTwo {
            return if bits & 0xff == 0xff { f64::NAN } else { 2f64.powi((bits & 0xff) as i32 - bias) };
        }
        let negative = bits >> (exponent + mantissa) & 1 == 1;
        let exp = (bits >> mantissa & ((1 << exponent) - 1)) as i32;
        let frac = bits & ((1 << mantissa) - 1);
        let top = (1 << exponent) - 1;
        let sign = if negative { -1.0 } else { 1.0 };
        let nan = f64::NAN.copysign(sign);
        match special {
            Special::Ieee if exp == top => return if frac == 0 { sign * f64::INFINITY } else { nan },
            Special::NanOnly if exp == top && frac == (1 << mantissa) - 1 => return nan,
            Special::Unsigned0 if negative && exp == 0 && frac == 0 => return f64::NAN,
            _ => {}
        }
        // No format narrower than f64 has exponents that f64 lacks.
        let scale = |e: i32| f64::from_bits(((1023 + e) as u64) << 52);
        let magnitude = if exp == 0 {
            frac as f64 * scale(1 - bias - mantissa as i32)
        } else {
            (frac | 1 << mantissa) as f64 * scale(exp - bias - mantissa as i32)
        };
        sign * magnitude
    }

    /// The nearest bit pattern, with ties to even. A number past the largest finite value becomes infinity, or NaN
    /// where there is none, or the largest value where there is neither.
    #[must_use]
    pub fn from_f64(self, value: f64) -> u64 {
        if self == FloatKind::F64 {
            return value.to_bits();
        }
        let Format { exponent, mantissa, bias, special } = self.format();
        if special == Special::PowersOfTwo {
            return power_of_two(value, bias);
        }
        let top = (1u64 << exponent) - 1;
        let sign = u64::from(value.is_sign_negative()) << (exponent + mantissa);
        let quiet_nan = match special {
            Special::Ieee => sign | top << mantissa | 1 << (mantissa - 1),
            Special::NanOnly => sign | top << mantissa | ((1 << mantissa) - 1),
            Special::Unsigned0 => 1 << (exponent + mantissa),
            Special::Finite | Special::PowersOfTwo => 0,
        };
        if value.is_nan() {
            return quiet_nan;
        }
        let largest = match special {
            Special::Ieee => (top - 1) << mantissa | ((1 << mantissa) - 1),
            Special::NanOnly => top << mantissa | ((1 << mantissa) - 2),
            Special::Unsigned0 | Special::Finite | Special::PowersOfTwo => top << mantissa | ((1 << mantissa) - 1),
        };
        let overflow = match special {
            Special::Ieee => sign | top << mantissa,
            Special::Finite | Special::PowersOfTwo => sign | largest,
            Special::NanOnly | Special::Unsigned0 => quiet_nan,
        };
        if value.is_infinite() {
            return overflow;
        }
        let raw = value.abs().to_bits();
        if raw == 0 {
            return if special == Special::Unsigned0 { 0 } else { sign };
        }
        // An f64 subnormal is below half of every narrower format's smallest value but needs no special case: its
        // exponent clamps below.
        let exp = (raw >> 52) as i32 - 1023;
        let frac = (raw & ((1 << 52) - 1)) | 1 << 52;
        let lowest = 1 - bias;
        // These are the bits to drop: the format's normal loss, and one more for each step below its smallest normal
        // exponent.
        let drop = 52 - mantissa as i32 + (lowest - exp).max(0);
        let rounded = if drop > 54 { 0 } else { round_shift(frac, drop as u32) };
        // `rounded` includes the implicit bit for a normal number, so adding it to (exp - 1) << mantissa carries into
        // the exponent by itself.
        let magnitude = if exp >= lowest { ((exp + bias - 1) as u64) << mantissa } else { 0 }.wrapping_add(rounded);
        if magnitude > largest {
            return overflow;
        }
        if magnitude == 0 && special == Special::Unsigned0 { 0 } else { sign | magnitude }
    }
}

/// The biased exponent of the power of two that is nearest to a number, with ties to the even exponent. It is all ones
/// where there is none.
fn power_of_two(value: f64, bias: i32) -> u64 {
    const NAN: u64 = 0xff;
    if !value.is_finite() || value.is_sign_negative() {
        return NAN;
    }
    let (raw, lowest) = (value.to_bits(), 2f64.powi(-bias));
    if value <= lowest {
        return 0;
    }
    let (exponent, frac) = ((raw >> 52) as i64 - 1023 + i64::from(bias), raw & ((1 << 52) - 1));
    let half = 1 << 51;
    let up = frac > half || (frac == half && exponent & 1 == 1);
    let rounded = exponent + i64::from(up);
    u64::try_from(rounded).ok().filter(|&e| e < NAN).unwrap_or(NAN)
}

/// `value >> shift`, rounded to nearest with ties to even.
fn round_shift(value: u64, shift: u32) -> u64 {
    if shift == 0 {
        return value;
    }
    let (kept, lost, half) = (value >> shift, value & ((1 << shift) - 1), 1u64 << (shift - 1));
    kept + u64::from(lost > half || (lost == half && kept & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_narrow_pattern_round_trips() {
        for kind in FloatKind::ALL.into_iter().filter(|k| k.bits() <= 19) {
            for bits in 0..1u64 << kind.bits() {
                let v = kind.to_f64(bits);
                if !v.is_nan() {
                    assert_eq!(kind.from_f64(v), bits, "{} {bits:#x} = {v}", kind.name());
                }
            }
        }
    }

    #[test]
    fn f32_agrees_with_the_hardware() {
        for v in [0.1f64, -0.0, 1e-45, 1e-46, 7e-46, 3.4e38, 3.5e38, 1.0 + f64::powi(2.0, -24), f64::INFINITY, 1e-310] {
            assert_eq!(FloatKind::F32.from_f64(v), u64::from((v as f32).to_bits()), "{v}");
        }
    }

    #[test]
    fn rounding_is_to_nearest_even_between_neighbours() {
        for kind in [FloatKind::F16, FloatKind::BF16, FloatKind::F8E4M3FN, FloatKind::F8E5M2] {
            for bits in 0..(1u64 << (kind.bits() - 1)) - 1 {
                let (a, b) = (kind.to_f64(bits), kind.to_f64(bits + 1));
                if a.is_finite() && b.is_finite() {
                    let mid = f64::midpoint(a, b);
                    assert_eq!(kind.from_f64(mid), if bits & 1 == 0 { bits } else { bits + 1 });
                    assert_eq!(kind.from_f64(mid.next_down()), bits);
                    assert_eq!(kind.from_f64(mid.next_up()), bits + 1);
                }
            }
        }
    }
}
