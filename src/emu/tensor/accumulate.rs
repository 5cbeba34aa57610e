//! How a tensor core adds products to an accumulator.
//!
//! The PTX ISA leaves the order and the rounding open. What follows models Hopper; [`model`] holds every number that
//! was found by measuring, and nothing else in the emulator depends on them.
//!
//! # Floats
//!
//! The products along K are added in blocks. In each block:
//! 1. Products are exact. Their exponent is the sum of the operands' exponents, so their significand is in [1, 4).
//! 2. All products of the block and the accumulator are shifted to the largest of their exponents, and the bits below
//!    [`Model::fraction`] places of it are dropped (towards zero).
//! 3. What is left is added exactly, and the sum is rounded to the accumulator's format, or to [`Model::places`] if
//!    these are fewer. `wgmma` keeps 13 places of a sum of 8-bit floats in f32.
//!
//! NaN operands, 0 · ∞ and ∞ − ∞ give NaN; it does not matter which NaN came in. A sum of zeros is +0.
//!
//! # Integers and f64
//!
//! Integers are added exactly, and wrap or are clamped once. f64 is a chain of fused multiply-adds in the order of K.
//!
//! Example: 1 + 2^-30 · 1 with 25 places is 1. 1 + 16 · 2^-25 · 1 is 1 + 2^-21, since each product reaches the 25th
//! place.

use crate::emu::num::exact::{Exact, Number, infinity, nan, pack, unpack};
use crate::emu::num::{Flags, Rounding, Type, fma};
use ttc_float::FloatKind;

/// How products of one kind are added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// Products that are added at once.
    pub block: usize,
    /// Binary places that are kept below the largest exponent.
    pub fraction: i32,
    /// How a sum is rounded to the accumulator's format.
    pub rounding: Rounding,
    /// Binary places of a sum that are kept at most; the others are dropped.
    pub places: u32,
}

/// The model for operands of one type and an accumulator of another.
#[must_use]
pub fn model(operand: Type, sum: Type, asynchronous: bool) -> Model {
    let rounding = if sum.element() == Type::F16 { Rounding::Nearest } else { Rounding::Zero };
    match operand {
        Type::TF32 => Model { block: 8, fraction: 25, rounding, places: 23 },
        Type::E4M3 | Type::E5M2 if asynchronous => Model { block: 32, fraction: 13, rounding, places: 13 },
        _ => Model { block: 16, fraction: 25, rounding, places: 23 },
    }
}

/// An operand that is decoded once for all its products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Factor {
    /// The significand with the sign; 0 for a number that is not finite.
    significand: i32,
    /// The exponent of the significand's implicit one.
    exponent: i32,
    /// What it is, if it is no finite number.
    special: Option<Number>,
}

impl Factor {
    /// Decodes a pattern of a float of at most 32 bits. The low bits of a tf32 are ignored.
    #[must_use]
    pub fn new(kind: FloatKind, bits: u64) -> Factor {
        match unpack(kind, bits) {
            Number::Finite(x) => {
                let magnitude = x.magnitude as i32;
                Factor {
                    significand: if x.negative { -magnitude } else { magnitude },
                    exponent: x.exponent + kind.mantissa_bits() as i32,
                    special: None,
                }
            }
            special => Factor { significand: 0, exponent: 0, special: Some(special) },
        }
    }

    /// The same number with the other sign.
    #[must_use]
    pub fn negated(self) -> Factor {
        let special = self.special.map(|s| match s {
            Number::Infinity { negative } => Number::Infinity { negative: !negative },
            other => other,
        });
        Factor { significand: -self.significand, special, ..self }
    }

    fn is_zero(self) -> bool {
        self.special.is_none() && self.significand == 0
    }

    fn is_negative(self) -> bool {
        match self.special {
            Some(Number::Infinity { negative }) => negative,
            _ => self.significand < 0,
        }
    }
}

/// The formats of a product: of both operands, and of the accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formats {
    /// Of A.
    pub left: FloatKind,
    /// Of B.
    pub right: FloatKind,
    /// Of the accumulator: f32 or f16.
    pub sum: FloatKind,
}

/// The accumulator after the products of `left` and `right`, which are equally long.
#[must_use]
pub fn multiply_add(formats: Formats, model: Model, left: &[Factor], right: &[Factor], sum: u64) -> u64 {
    let blocks = left.chunks(model.block).zip(right.chunks(model.block));
    blocks.fold(sum, |sum, (left, right)| {
        let special = left.iter().chain(right).any(|f| f.special.is_some());
        match unpack(formats.sum, sum) {
            Number::Finite(start) if !special => block(formats, model, left, right, start),
            start => not_finite(formats.sum, left, right, start).unwrap_or_else(|| nan(formats.sum)),
        }
    })
}

/// The sum of one block of finite numbers.
fn block(formats: Formats, model: Model, left: &[Factor], right: &[Factor], start: Exact) -> u64 {
    let start_bits = formats.sum.mantissa_bits() as i32;
    let mut largest = if start.is_zero() { i32::MIN } else { start.exponent + start_bits };
    for (x, y) in left.iter().zip(right) {
        if x.significand != 0 && y.significand != 0 {
            largest = largest.max(x.exponent + y.exponent);
        }
    }
    if largest == i32::MIN {
        return 0;
    }
    let lowest = largest - model.fraction;
    let magnitude = start.magnitude as i64;
    let mut total = aligned(if start.negative { -magnitude } else { magnitude }, start.exponent - lowest);
    let places = (formats.left.mantissa_bits() + formats.right.mantissa_bits()) as i32;
    for (x, y) in left.iter().zip(right) {
        let product = i64::from(x.significand) * i64::from(y.significand);
        total += aligned(product, x.exponent + y.exponent - places - lowest);
    }
    let exact = Exact { negative: total < 0, magnitude: u128::from(total.unsigned_abs()), exponent: lowest };
    let dropped = formats.sum.mantissa_bits().saturating_sub(model.places);
    pack(formats.sum, exact, model.rounding, false) >> dropped << dropped
}

/// `value · 2^shift`, towards zero.
fn aligned(value: i64, shift: i32) -> i64 {
    match shift {
        0.. if value == 0 => 0,
        0.. => value << shift,
        -63..0 => {
            let magnitude = value.unsigned_abs() >> -shift;
            if value < 0 { -(magnitude as i64) } else { magnitude as i64 }
        }
        _ => 0,
    }
}

/// The sum of a block in which something is no finite number; `None` for NaN.
fn not_finite(kind: FloatKind, left: &[Factor], right: &[Factor], start: Number) -> Option<u64> {
    let mut sign = match start {
        Number::Nan => return None,
        Number::Infinity { negative } => Some(negative),
        Number::Finite(_) => None,
    };
    for (x, y) in left.iter().zip(right) {
        if x.special == Some(Number::Nan) || y.special == Some(Number::Nan) {
            return None;
        }
        if x.special.is_none() && y.special.is_none() {
            continue;
        }
        let negative = x.is_negative() != y.is_negative();
        if x.is_zero() || y.is_zero() || sign.is_some_and(|s| s != negative) {
            return None;
        }
        sign = Some(negative);
    }
    sign.map(|negative| infinity(kind, negative))
}

/// The accumulator after the products of f64.
#[must_use]
pub fn multiply_add_double(left: &[u64], right: &[u64], sum: u64) -> u64 {
    left.iter().zip(right).fold(sum, |c, (&a, &b)| fma(Type::F64, a, b, c, Rounding::Nearest, Flags::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALVES: Formats = Formats { left: FloatKind::F16, right: FloatKind::F16, sum: FloatKind::F32 };

    fn add(left: &[f64], right: &[f64], sum: f32) -> f32 {
        let factors = |v: &[f64]| -> Vec<Factor> {
            v.iter().map(|&x| Factor::new(FloatKind::F16, FloatKind::F16.from_f64(x))).collect()
        };
        let model = model(Type::F16, Type::F32, false);
        let bits = multiply_add(HALVES, model, &factors(left), &factors(right), u64::from(sum.to_bits()));
        f32::from_bits(bits as u32)
    }

    #[test]
    fn small_integers_are_exact() {
        let left: Vec<f64> = (0..16).map(f64::from).collect();
        let right: Vec<f64> = (0..16).map(|i| f64::from(3 - i)).collect();
        let expected: f64 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
        assert_eq!(add(&left, &right, 5.0).to_bits(), (expected as f32 + 5.0).to_bits());
    }

    #[test]
    fn what_lies_too_low_is_dropped_term_by_term() {
        let tiny = [2f64.powi(-13); 16];
        assert_eq!(add(&tiny, &tiny, 1.0).to_bits(), 1f32.to_bits(), "2^-26 is below the 25th place");
        let small = [2f64.powi(-12); 16];
        assert_eq!(add(&small, &[2f64.powi(-13); 16], 1.0).to_bits(), (1.0 + 2f32.powi(-21)).to_bits());
    }

    #[test]
    fn numbers_that_are_not_finite() {
        let inf = f64::INFINITY;
        assert_eq!(add(&[inf, 1.0], &[1.0, 1.0], 0.0).to_bits(), f32::INFINITY.to_bits());
        for (left, right, sum) in [
            ([inf, inf], [1.0, -1.0], 0.0),
            ([inf, 0.0], [0.0, 0.0], 0.0),
            ([f64::NAN, 0.0], [1.0, 0.0], 0.0),
            ([inf, 0.0], [1.0, 0.0], f32::NEG_INFINITY),
        ] {
            assert_eq!(add(&left, &right, sum).to_bits(), 0x7fff_ffff);
        }
        assert_eq!(add(&[1.0], &[1.0], f32::NEG_INFINITY).to_bits(), f32::NEG_INFINITY.to_bits());
    }

    #[test]
    fn sums_of_eight_bit_floats_in_wgmma_keep_thirteen_places() {
        let formats = Formats { left: FloatKind::F8E4M3FN, right: FloatKind::F8E4M3FN, sum: FloatKind::F32 };
        let one = [Factor::new(FloatKind::F8E4M3FN, 0x38)];
        let start = 1.0 + 2f32.powi(-12) + 2f32.powi(-13);
        let sum = |asynchronous| {
            let model = model(Type::E4M3, Type::F32, asynchronous);
            f32::from_bits(multiply_add(formats, model, &one, &one, u64::from(start.to_bits())) as u32)
        };
        assert_eq!(sum(true).to_bits(), (2.0 + 2f32.powi(-12)).to_bits());
        assert_eq!(sum(false).to_bits(), (1.0 + start).to_bits());
    }
}
