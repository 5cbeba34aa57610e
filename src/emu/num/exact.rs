//! Exact numbers and their rounding: the route that every float instruction can take.
//!
//! 1. [`unpack`] reads a bit pattern: NaN, an infinity, or an integer of up to 128 bits times a power of two.
//! 2. Sums, products, quotients and roots of such numbers are exact but for the lowest bit, which is set when anything
//!    was lost. That bit lies far below what a format keeps, so it decides ties without ever being one.
//! 3. [`pack`] rounds once to the format, with its subnormal numbers, and says what happens above its largest.
//!
//! Example: 1 + 2^-60 is 2^60 + 1 times 2^-60. Rounding to f32 keeps 24 bits; upwards that is 0x3f800001.

use std::cmp::Ordering;

use super::types::Rounding;
use ttc_float::{FloatKind, Format, Special};

/// The place of the leading one that [`Exact::normal`] moves to. Two bits stay free above: for a carry, and for none of
/// the shifts to overflow.
const TOP: i32 = 125;

/// What a bit pattern stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Nan,
    Infinity { negative: bool },
    Finite(Exact),
}

/// `magnitude · 2^exponent`, with a sign that zero has too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    pub(crate) magnitude: u128,
    pub(crate) exponent: i32,
}

impl Exact {
    pub(crate) fn zero(negative: bool) -> Exact {
        Exact { negative, magnitude: 0, exponent: 0 }
    }

    pub(crate) fn integer(value: i128) -> Exact {
        Exact { negative: value < 0, magnitude: value.unsigned_abs(), exponent: 0 }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.magnitude == 0
    }

    /// The exponent of the leading one. Zero has none.
    pub(crate) fn leading(self) -> i32 {
        self.exponent + 127 - self.magnitude.leading_zeros() as i32
    }

    /// The same number with its leading one at [`TOP`].
    fn normal(self) -> Exact {
        if self.is_zero() {
            return self;
        }
        let up = TOP - (127 - self.magnitude.leading_zeros() as i32);
        let magnitude = if up >= 0 { self.magnitude << up } else { jam(self.magnitude, -up) };
        Exact { magnitude, exponent: self.exponent - up, ..self }
    }

    /// The product of two numbers of at most 64 bits, exactly.
    pub(crate) fn mul(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum. What cancels to zero is positive, or negative when rounding downwards (IEEE 754, 6.3).
    pub(crate) fn add(self, other: Exact, rounding: Rounding) -> Exact {
        let (a, b) = (self.normal(), other.normal());
        if a.is_zero() && b.is_zero() {
            let negative = if a.negative == b.negative { a.negative } else { rounding == Rounding::Down };
            return Exact::zero(negative);
        }
        if a.is_zero() || b.is_zero() {
            return if a.is_zero() { b } else { a };
        }
        let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let shifted = jam(small.magnitude, large.exponent - small.exponent);
        if large.negative == small.negative {
            return Exact { magnitude: large.magnitude + shifted, ..large };
        }
        match large.magnitude.cmp(&shifted) {
            Ordering::Equal => Exact::zero(rounding == Rounding::Down),
            Ordering::Greater => Exact { magnitude: large.magnitude - shifted, ..large },
            Ordering::Less => {
                Exact { negative: small.negative, magnitude: shifted - large.magnitude, exponent: large.exponent }
            }
        }
    }

    /// The quotient of two numbers of at most 60 bits, of which the second is not zero.
    pub(crate) fn div(self, other: Exact) -> Exact {
        let negative = self.negative != other.negative;
        if self.is_zero() {
            return Exact::zero(negative);
        }
        let up = self.magnitude.leading_zeros();
        let (numerator, denominator) = (self.magnitude << up, other.magnitude);
        let quotient = numerator / denominator;
        let rest = numerator % denominator;
        Exact {
            negative,
            magnitude: quotient | u128::from(rest != 0),
            exponent: self.exponent - up as i32 - other.exponent,
        }
    }

    /// The square root of a positive number of at most 60 bits.
    pub(crate) fn sqrt(self) -> Exact {
        if self.is_zero() {
            return self;
        }
        // The exponent that is left must be even.
        let up = self.magnitude.leading_zeros() as i32;
        let up = if (self.exponent - up) % 2 == 0 { up } else { up - 1 };
        let square = self.magnitude << up;
        let root = square.isqrt();
        Exact {
            negative: self.negative,
            magnitude: root | u128::from(root * root != square),
            exponent: (self.exponent - up) / 2,
        }
    }

    /// Rounds to an integer.
    pub(crate) fn round_to_integer(self, rounding: Rounding) -> Exact {
        if self.exponent >= 0 {
            return self;
        }
        let magnitude = round_off(self.magnitude, -self.exponent, self.negative, rounding);
        Exact { magnitude, exponent: 0, ..self }
    }
}

/// `value >> shift`, with the lowest bit set when any bit was lost.
pub(crate) fn jam(value: u128, shift: i32) -> u128 {
    if shift >= 128 {
        return u128::from(value != 0);
    }
    let kept = value >> shift;
    kept | u128::from(kept << shift != value)
}

/// `value >> shift`, rounded.
fn round_off(value: u128, shift: i32, negative: bool, rounding: Rounding) -> u128 {
    let (kept, lost) = match shift {
        // The same for numbers of 64 bits, which most are.
        1..64 if value >> 64 == 0 => {
            let value = value as u64;
            let rest = value & ((1 << shift) - 1);
            (u128::from(value >> shift), (rest != 0).then(|| rest.cmp(&(1 << (shift - 1)))))
        }
        129.. => (0, (value != 0).then_some(Ordering::Less)),
        128 => (0, (value != 0).then(|| value.cmp(&(1 << 127)))),
        _ => {
            let (kept, rest) = (value >> shift, value & ((1 << shift) - 1));
            (kept, (rest != 0).then(|| rest.cmp(&(1 << (shift - 1)))))
        }
    };
    kept + u128::from(rounding.grows(negative, kept & 1 == 1, lost))
}

/// The bits of a format below the sign. tf32 has those of f32, whose low 13 are not read.
fn layout(kind: FloatKind) -> (Format, u32) {
    (kind.format(), if kind == FloatKind::TF32 { 13 } else { 0 })
}

/// What a bit pattern stands for.
pub(crate) fn unpack(kind: FloatKind, bits: u64) -> Number {
    let (Format { exponent, mantissa, bias, special }, unused) = layout(kind);
    let bits = bits >> unused;
    let negative = bits >> (exponent + mantissa) & 1 == 1;
    let biased = bits >> mantissa & ((1 << exponent) - 1);
    let fraction = bits & ((1 << mantissa) - 1);
    let top = (1 << exponent) - 1;
    if biased == top {
        match special {
            Special::Ieee if fraction == 0 => return Number::Infinity { negative },
            Special::Ieee => return Number::Nan,
            _ if fraction == (1 << mantissa) - 1 => return Number::Nan,
            _ => {}
        }
    }
    let (whole, power) = if biased == 0 { (fraction, 1) } else { (fraction | 1 << mantissa, biased as i32) };
    Number::Finite(Exact { negative, magnitude: u128::from(whole), exponent: power - bias - mantissa as i32 })
}

/// The NaN that the hardware produces: every bit below the sign is set, in tf32 every bit that the format has.
pub(crate) fn nan(kind: FloatKind) -> u64 {
    match kind {
        FloatKind::TF32 => 0x7fff_e000,
        FloatKind::F64 => 0x7fff_ffff_ffff_ffff,
        _ => (1 << (kind.bits() - 1)) - 1,
    }
}

/// The pattern of an infinity, or of the largest value in a format that has none.
pub(crate) fn infinity(kind: FloatKind, negative: bool) -> u64 {
    let (Format { exponent, mantissa, special, .. }, unused) = layout(kind);
    let top = ((1u64 << exponent) - 1) << mantissa;
    let magnitude = if special == Special::Ieee { top } else { return largest(kind, negative) };
    (magnitude | u64::from(negative) << (exponent + mantissa)) << unused
}

/// The pattern of the largest finite value.
pub(crate) fn largest(kind: FloatKind, negative: bool) -> u64 {
    let (Format { exponent, mantissa, special, .. }, unused) = layout(kind);
    let top = ((1u64 << exponent) - 1) << mantissa;
    let magnitude = if special == Special::Ieee { top - 1 } else { top | ((1 << mantissa) - 2) };
    (magnitude | u64::from(negative) << (exponent + mantissa)) << unused
}

/// Rounds to a format. With `flush`, what is below the smallest normal number after rounding to the format's precision
/// becomes zero.
pub(crate) fn pack(kind: FloatKind, value: Exact, rounding: Rounding, flush: bool) -> u64 {
    let (Format { exponent, mantissa, bias, .. }, unused) = layout(kind);
    let sign = u64::from(value.negative) << (exponent + mantissa);
    if value.is_zero() {
        return sign << unused;
    }
    let lowest = 1 - bias;
    let leading = value.leading();
    let scaled = |power: i32| {
        let shift = power - mantissa as i32 - value.exponent;
        if shift <= 0 { value.magnitude << -shift } else { round_off(value.magnitude, shift, value.negative, rounding) }
    };
    if flush && leading < lowest {
        let carried = scaled(leading) >> (mantissa + 1) == 1;
        if !(carried && leading + 1 == lowest) {
            return sign << unused;
        }
    }
    let power = leading.max(lowest);
    let rounded = scaled(power);
    // The implicit one of a normal number, added to the exponent less one, gives the exponent; so does a carry.
    let pattern = (((power - lowest) as u128) << mantissa) + rounded;
    let limit = u128::from(largest(kind, false) >> unused);
    if pattern > limit {
        let outwards = match rounding.direction() {
            Rounding::Zero => false,
            Rounding::Down => value.negative,
            Rounding::Up => !value.negative,
            _ => true,
        };
        return if outwards { infinity(kind, value.negative) } else { largest(kind, value.negative) };
    }
    (sign | pattern as u64) << unused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finite(kind: FloatKind, bits: u64) -> Exact {
        match unpack(kind, bits) {
            Number::Finite(x) => x,
            other => panic!("{bits:#x} is {other:?}"),
        }
    }

    #[test]
    fn narrow_patterns_round_trip_and_agree_with_the_table_of_formats() {
        for kind in [FloatKind::F16, FloatKind::BF16, FloatKind::F8E4M3FN, FloatKind::F8E5M2] {
            for bits in 0..1u64 << kind.bits() {
                let value = kind.to_f64(bits);
                match unpack(kind, bits) {
                    Number::Nan => assert!(value.is_nan()),
                    Number::Infinity { negative } => {
                        assert!(value.is_infinite() && value.is_sign_negative() == negative);
                    }
                    Number::Finite(x) => {
                        assert_eq!(pack(kind, x, Rounding::Nearest, false), bits);
                        assert_eq!(pack(FloatKind::F64, x, Rounding::Nearest, false), value.to_bits());
                    }
                }
            }
        }
    }

    #[test]
    #[allow(clippy::float_cmp)] // a wrong last bit is a fault
    fn sums_products_quotients_and_roots_agree_with_the_processor() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Exponents near each other, so that sums are not always the larger operand.
                let bits = state ^ state >> 29;
                f64::from_bits(bits & !(0x7ff << 52) | (1023 - 40 + (bits >> 52 & 0x3f)) << 52)
            };
            let (a, b) = (next(), next());
            let exact = |x: f64| finite(FloatKind::F64, x.to_bits());
            let check =
                |x: Exact, y: f64| assert_eq!(f64::from_bits(pack(FloatKind::F64, x, Rounding::Nearest, false)), y);
            check(exact(a).add(exact(b), Rounding::Nearest), a + b);
            check(exact(a).mul(exact(b)), a * b);
            check(exact(a).div(exact(b)), a / b);
            check(exact(a.abs()).sqrt(), a.abs().sqrt());
        }
    }

    #[test]
    fn directed_rounding_steps_to_the_right_neighbour() {
        let third = Exact::integer(1).div(Exact::integer(3));
        let to = |mode| pack(FloatKind::F16, third, mode, false);
        assert_eq!(
            [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up].map(to),
            [0x3555, 0x3555, 0x3555, 0x3556]
        );
        let to = |mode| pack(FloatKind::F16, Exact { negative: true, ..third }, mode, false);
        assert_eq!(
            [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up].map(to),
            [0xb555, 0xb555, 0xb556, 0xb555]
        );
    }

    #[test]
    fn what_is_too_large_becomes_infinity_or_the_largest_value() {
        let huge = Exact { negative: true, magnitude: 1, exponent: 200 };
        let to = |mode| pack(FloatKind::F32, huge, mode, false);
        assert_eq!(
            [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up].map(to),
            [0xff80_0000, 0xff7f_ffff, 0xff80_0000, 0xff7f_ffff]
        );
        assert_eq!(pack(FloatKind::F8E4M3FN, huge, Rounding::Nearest, false), 0xfe);
    }

    #[test]
    fn flushing_looks_at_the_result_rounded_to_full_precision() {
        let just_below = |bits: i32| Exact { negative: false, magnitude: (1 << bits) - 1, exponent: -126 - bits };
        // 24 bits hold it, so it is subnormal; 26 bits round to the smallest normal number.
        assert_eq!(pack(FloatKind::F32, just_below(24), Rounding::Nearest, true), 0);
        assert_eq!(pack(FloatKind::F32, just_below(24), Rounding::Nearest, false), 0x0080_0000);
        assert_eq!(pack(FloatKind::F32, just_below(26), Rounding::Nearest, true), 0x0080_0000);
    }
}
