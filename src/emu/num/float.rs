//! Arithmetic of floats (PTX ISA, "Floating Point Instructions", "Half Precision Floating Point Instructions").
//!
//! 1. A packed type is taken apart, and f32 operands are flushed under `.ftz`.
//! 2. The common case, f32 or f64 rounded to nearest, is the processor's own instruction.
//! 3. Everything else is computed exactly and rounded once ([`super::exact`]).
//! 4. `.sat` and `.relu` clamp the rounded result.
//!
//! A result that is NaN has every bit below the sign set (0x7fffffff in f32), whatever NaN went in. f64 keeps the
//! payload of the operand that was NaN; of several, `add` and `mul` take that of b before a, and `fma` that of b, c, a.
//!
//! Example: `add.rz.f32` of 1 and 2^-30 is 1; with `.rp` it is 0x3f800001.

use super::exact::{Exact, Number, infinity, nan, pack, unpack};
use super::types::{Flags, Rounding, Type, each};
use ttc_float::FloatKind;

/// The sign bit of a format in its register.
pub(crate) fn sign_bit(kind: FloatKind) -> u64 {
    if kind == FloatKind::TF32 { 1 << 31 } else { 1 << (kind.bits() - 1) }
}

/// Whether a pattern is NaN.
pub(crate) fn is_nan(kind: FloatKind, bits: u64) -> bool {
    match kind {
        FloatKind::F32 => f32::from_bits(bits as u32).is_nan(),
        FloatKind::F64 => f64::from_bits(bits).is_nan(),
        _ => unpack(kind, bits) == Number::Nan,
    }
}

/// A subnormal number as a zero with its sign, if `flags` say so.
pub(crate) fn flush(kind: FloatKind, bits: u64, flags: Flags) -> u64 {
    let normal = 1 << kind.mantissa_bits();
    if flags.ftz && bits & !sign_bit(kind) < normal { bits & sign_bit(kind) } else { bits }
}

/// The NaN that comes of operands of which one may be NaN. In f64 the first that is NaN gives the payload.
fn nan_of(kind: FloatKind, operands: &[u64]) -> u64 {
    if kind != FloatKind::F64 {
        return nan(kind);
    }
    const QUIET: u64 = 1 << 51;
    operands.iter().find(|&&x| is_nan(kind, x)).map_or(DEFAULT_NAN_F64, |&x| x | QUIET)
}

/// The NaN of an invalid operation in f64, such as 0 · ∞.
const DEFAULT_NAN_F64: u64 = 0xfff8_0000_0000_0000;

/// Rounds a number, clamps it as `.sat` and `.relu` say, and gives its pattern.
pub(crate) fn finish(kind: FloatKind, value: Exact, rounding: Rounding, flags: Flags) -> u64 {
    clamp(kind, pack(kind, value, rounding, flags.ftz), flags)
}

/// Applies `.sat` and `.relu` to a result.
pub(crate) fn clamp(kind: FloatKind, bits: u64, flags: Flags) -> u64 {
    if !flags.sat && !flags.relu {
        return bits;
    }
    if is_nan(kind, bits) {
        return if flags.sat { 0 } else { nan(kind) };
    }
    if bits & sign_bit(kind) != 0 {
        return 0;
    }
    let one = pack(kind, Exact::integer(1), Rounding::Nearest, false);
    if flags.sat { bits.min(one) } else { bits }
}

/// `add`
#[must_use]
pub fn add(ty: Type, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a, b], |ty, [a, b]| {
        let Some(kind) = ty.float() else { return super::integer::add(ty, a, b, flags) };
        let (a, b) = (flush(kind, a, flags), flush(kind, b, flags));
        match (kind, plain(rounding, flags)) {
            (FloatKind::F32, true) => single(single_of(a) + single_of(b)),
            (FloatKind::F64, true) => double(double_of(a) + double_of(b), &[b, a]),
            _ => sum(kind, [unpack(kind, a), unpack(kind, b)], &[b, a], rounding, flags),
        }
    })
}

/// `atom.add.f64`: as `add`, but a NaN that goes in comes out as it is, even one that signals.
#[must_use]
pub fn atomic_add_double(old: u64, b: u64) -> u64 {
    let nan = [b, old].into_iter().find(|&x| is_nan(FloatKind::F64, x));
    nan.unwrap_or_else(|| add(Type::F64, old, b, Rounding::Nearest, Flags::default()))
}

/// `sub`
#[must_use]
pub fn sub(ty: Type, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a, b], |ty, [a, b]| match ty.float() {
        None => super::integer::sub(ty, a, b, flags),
        // A NaN keeps its sign.
        Some(kind) if is_nan(kind, b) => add(ty, a, b, rounding, flags),
        Some(kind) => add(ty, a, b ^ sign_bit(kind), rounding, flags),
    })
}

/// `mul`. For integers, which have `mul.lo`, `mul.hi` and `mul.wide`, see [`super::integer`].
#[must_use]
pub fn mul(ty: Type, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a, b], |ty, [a, b]| {
        let Some(kind) = ty.float() else { return super::integer::mul_lo(ty, a, b) };
        let (a, b) = (flush(kind, a, flags), flush(kind, b, flags));
        match (kind, plain(rounding, flags)) {
            (FloatKind::F32, true) => single(single_of(a) * single_of(b)),
            (FloatKind::F64, true) => double(double_of(a) * double_of(b), &[b, a]),
            _ => match product(unpack(kind, a), unpack(kind, b)) {
                Number::Nan => clamp(kind, nan_of(kind, &[b, a]), flags),
                Number::Infinity { negative } => clamp(kind, infinity(kind, negative), flags),
                Number::Finite(x) => finish(kind, x, rounding, flags),
            },
        }
    })
}

/// `fma`, and `mad` of floats: one rounding.
#[must_use]
pub fn fma(ty: Type, a: u64, b: u64, c: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a, b, c], |ty, [a, b, c]| {
        let Some(kind) = ty.float() else { return super::integer::mad_lo(ty, a, b, c) };
        let [a, b, c] = [a, b, c].map(|x| flush(kind, x, flags));
        if kind == FloatKind::F32 && plain(rounding, flags) {
            return single(single_fma(a, b, c));
        }
        if kind == FloatKind::F64 && plain(rounding, flags) {
            let sum = double_of(a).mul_add(double_of(b), double_of(c));
            if !sum.is_nan() {
                return sum.to_bits();
            }
        }
        let numbers = [product(unpack(kind, a), unpack(kind, b)), unpack(kind, c)];
        sum(kind, numbers, &[b, c, a], rounding, flags)
    })
}

/// `div.rn` and the other modes with IEEE's rounding.
#[must_use]
pub fn div(ty: Type, a: u64, b: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a, b], |ty, [a, b]| {
        let Some(kind) = ty.float() else { return super::integer::div(ty, a, b) };
        let (a, b) = (flush(kind, a, flags), flush(kind, b, flags));
        let (x, y) = (unpack(kind, a), unpack(kind, b));
        let negative = (a ^ b) & sign_bit(kind) != 0;
        let bits = match (x, y) {
            (Number::Nan, _) | (_, Number::Nan) | (Number::Infinity { .. }, Number::Infinity { .. }) => {
                nan_of(kind, &[a, b])
            }
            (Number::Infinity { .. }, _) => infinity(kind, negative),
            (_, Number::Infinity { .. }) => pack(kind, Exact::zero(negative), rounding, false),
            (Number::Finite(x), Number::Finite(y)) => match (x.is_zero(), y.is_zero()) {
                (true, true) => nan_of(kind, &[]),
                (false, true) => infinity(kind, negative),
                _ => return finish(kind, x.div(y), rounding, flags),
            },
        };
        clamp(kind, bits, flags)
    })
}

/// `rcp.rn` and the other modes with IEEE's rounding.
#[must_use]
pub fn rcp(ty: Type, a: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a], |ty, [a]| {
        let one = ty.float().map_or(1, |kind| pack(kind, Exact::integer(1), Rounding::Nearest, false));
        div(ty, one, a, rounding, flags)
    })
}

/// `sqrt.rn` and the other modes with IEEE's rounding. Types that are no floats have no root, and give 0.
#[must_use]
pub fn sqrt(ty: Type, a: u64, rounding: Rounding, flags: Flags) -> u64 {
    each(ty, [a], |ty, [a]| {
        let Some(kind) = ty.float() else { return 0 };
        let a = flush(kind, a, flags);
        match unpack(kind, a) {
            Number::Nan => nan_of(kind, &[a]),
            Number::Finite(x) if x.negative && !x.is_zero() => nan_of(kind, &[]),
            Number::Infinity { negative: true } => nan_of(kind, &[]),
            Number::Infinity { negative: false } => a,
            Number::Finite(x) => finish(kind, x.sqrt(), rounding, flags),
        }
    })
}

/// `min`
#[must_use]
pub fn min(ty: Type, a: u64, b: u64, flags: Flags) -> u64 {
    extreme(ty, a, b, flags, false)
}

/// `max`
#[must_use]
pub fn max(ty: Type, a: u64, b: u64, flags: Flags) -> u64 {
    extreme(ty, a, b, flags, true)
}

/// The smaller or the larger operand. One NaN gives the other operand, or NaN with `.NaN`; −0 is less than +0.
fn extreme(ty: Type, a: u64, b: u64, flags: Flags, larger: bool) -> u64 {
    each(ty, [a, b], |ty, [a, b]| {
        let Some(kind) = ty.float() else { return super::integer::extreme(ty, a, b, flags, larger) };
        let sign = sign_bit(kind);
        let (a, b) = (flush(kind, a, flags), flush(kind, b, flags));
        let (x, y) = if flags.xorsign_abs { (a & !sign, b & !sign) } else { (a, b) };
        let picked = match (is_nan(kind, x), is_nan(kind, y)) {
            (true, true) => return nan_of(kind, &[b]),
            (true, false) | (false, true) if flags.nan => return nan(kind),
            (true, false) => y,
            (false, true) => x,
            // Two's complement of the magnitude orders patterns as numbers.
            (false, false) => {
                let key = |v: u64| if v & sign != 0 { -((v & !sign) as i64) - 1 } else { v as i64 };
                if (key(x) > key(y)) == larger { x } else { y }
            }
        };
        if flags.xorsign_abs { picked & !sign | (a ^ b) & sign } else { picked }
    })
}

/// `abs`
#[must_use]
pub fn abs(ty: Type, a: u64, flags: Flags) -> u64 {
    each(ty, [a], |ty, [a]| match ty.float() {
        None => super::integer::abs(ty, a),
        Some(kind) if is_nan(kind, a) => nan_of(kind, &[a]),
        Some(kind) => flush(kind, a, flags) & !sign_bit(kind),
    })
}

/// `neg`
#[must_use]
pub fn neg(ty: Type, a: u64, flags: Flags) -> u64 {
    each(ty, [a], |ty, [a]| match ty.float() {
        None => super::integer::neg(ty, a),
        Some(kind) if is_nan(kind, a) => nan_of(kind, &[a]),
        Some(kind) => flush(kind, a, flags) ^ sign_bit(kind),
    })
}

/// Whether the processor's own instruction gives the result.
fn plain(rounding: Rounding, flags: Flags) -> bool {
    rounding == Rounding::Nearest && !(flags.ftz || flags.sat || flags.relu)
}

fn single_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn double_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn single(value: f32) -> u64 {
    if value.is_nan() { nan(FloatKind::F32) } else { u64::from(value.to_bits()) }
}

fn double(value: f64, operands: &[u64]) -> u64 {
    if value.is_nan() { nan_of(FloatKind::F64, operands) } else { value.to_bits() }
}

/// `a · b + c`, rounded once. The product is exact in f64. The sum is rounded to odd, so that rounding it again to f32
/// is right.
fn single_fma(a: u64, b: u64, c: u64) -> f32 {
    let (product, addend) = (f64::from(single_of(a)) * f64::from(single_of(b)), f64::from(single_of(c)));
    let sum = product + addend;
    // What the sum lost (Knuth's TwoSum).
    let part = sum - product;
    let lost = (product - (sum - part)) + (addend - part);
    if lost == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum as f32;
    }
    let outwards = (lost > 0.0) == (sum > 0.0);
    f64::from_bits(if outwards { sum.to_bits() + 1 } else { sum.to_bits() - 1 }) as f32
}

/// The exact product.
fn product(a: Number, b: Number) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Finite(a), Number::Finite(b)) => Number::Finite(a.mul(b)),
        (Number::Infinity { negative }, Number::Finite(x)) | (Number::Finite(x), Number::Infinity { negative }) => {
            if x.is_zero() { Number::Nan } else { Number::Infinity { negative: negative != x.negative } }
        }
        (Number::Infinity { negative: x }, Number::Infinity { negative: y }) => Number::Infinity { negative: x != y },
    }
}

/// The sum of two numbers, rounded and clamped. `operands` are the patterns that a NaN may come from.
fn sum(kind: FloatKind, [a, b]: [Number; 2], operands: &[u64], rounding: Rounding, flags: Flags) -> u64 {
    let bits = match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => nan_of(kind, operands),
        (Number::Infinity { negative: x }, Number::Infinity { negative: y }) if x != y => nan_of(kind, operands),
        (Number::Infinity { negative }, _) | (_, Number::Infinity { negative }) => infinity(kind, negative),
        (Number::Finite(a), Number::Finite(b)) => return finish(kind, a.add(b, rounding), rounding, flags),
    };
    clamp(kind, bits, flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags =
        Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };

    fn single_bits(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    /// Patterns of f32 that stress rounding: random ones, and those around zero, one and the limits.
    fn patterns() -> Vec<u64> {
        let mut all: Vec<u64> = [
            0u32,
            1,
            0x7f_ffff,
            0x80_0000,
            0x80_0001,
            0x3f7f_ffff,
            0x3f80_0000,
            0x3f80_0001,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7fc0_0000,
        ]
        .into_iter()
        .flat_map(|x| [u64::from(x), u64::from(x) | 0x8000_0000])
        .collect();
        let mut state = 7u32;
        for _ in 0..200 {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            all.push(u64::from(state ^ state >> 15));
        }
        all
    }

    #[test]
    fn the_exact_route_agrees_with_the_processor_in_f32() {
        let patterns = patterns();
        let close =
            |a: u64, b: f32| if b.is_nan() { assert_eq!(a, 0x7fff_ffff) } else { assert_eq!(a, single_bits(b)) };
        let two = |a, b, f: fn(Exact, Exact) -> Exact| match (unpack(FloatKind::F32, a), unpack(FloatKind::F32, b)) {
            (Number::Finite(x), Number::Finite(y)) => Some(pack(FloatKind::F32, f(x, y), Rounding::Nearest, false)),
            _ => None,
        };
        for &a in &patterns {
            for &b in &patterns {
                let (x, y) = (single_of(a), single_of(b));
                close(add(Type::F32, a, b, Rounding::Nearest, PLAIN), x + y);
                close(sub(Type::F32, a, b, Rounding::Nearest, PLAIN), x - y);
                close(div(Type::F32, a, b, Rounding::Nearest, PLAIN), x / y);
                if let Some(bits) = two(a, b, |x, y| x.add(y, Rounding::Nearest)) {
                    close(bits, x + y);
                }
                if let Some(bits) = two(a, b, Exact::mul) {
                    close(bits, x * y);
                }
                for &c in &patterns[..40] {
                    let exact = sum(
                        FloatKind::F32,
                        [product(unpack(FloatKind::F32, a), unpack(FloatKind::F32, b)), unpack(FloatKind::F32, c)],
                        &[],
                        Rounding::Nearest,
                        PLAIN,
                    );
                    assert_eq!(single(single_fma(a, b, c)), exact, "{x:e} {y:e} {:e}", single_of(c));
                }
            }
            close(sqrt(Type::F32, a, Rounding::Nearest, PLAIN), single_of(a).sqrt());
        }
    }

    #[test]
    fn halves_agree_with_f64_rounded_once() {
        // Sums and products of f16 are exact in f64.
        for a in (0..0x1_0000u64).step_by(97) {
            for b in (0..0x1_0000u64).step_by(203) {
                let (x, y) = (FloatKind::F16.to_f64(a), FloatKind::F16.to_f64(b));
                let check = |bits: u64, value: f64| {
                    assert_eq!(bits, if value.is_nan() { 0x7fff } else { FloatKind::F16.from_f64(value) }, "{x} {y}");
                };
                check(add(Type::F16, a, b, Rounding::Nearest, PLAIN), x + y);
                check(mul(Type::F16, a, b, Rounding::Nearest, PLAIN), x * y);
            }
        }
    }

    #[test]
    fn packed_halves_are_two_sums() {
        let both = add(Type::F16x2, 0x3c00_4000, 0x4000_3c00, Rounding::Nearest, PLAIN);
        assert_eq!(both, 0x4200_4200);
    }

    #[test]
    fn clamps() {
        let sat = Flags { sat: true, ..PLAIN };
        assert_eq!(add(Type::F32, single_bits(3.0), single_bits(1.0), Rounding::Nearest, sat), single_bits(1.0));
        assert_eq!(add(Type::F32, single_bits(-3.0), single_bits(1.0), Rounding::Nearest, sat), 0);
        assert_eq!(add(Type::F32, 0x7fc0_0000, 0, Rounding::Nearest, sat), 0);
        assert_eq!(add(Type::F32, 0x8000_0000, 0x8000_0000, Rounding::Nearest, sat), 0, "no negative zero");
        let relu = Flags { relu: true, ..PLAIN };
        assert_eq!(fma(Type::F16, 0xbc00, 0x3c00, 0, Rounding::Nearest, relu), 0);
        assert_eq!(fma(Type::F16, 0xfe00, 0x3c00, 0, Rounding::Nearest, relu), 0x7fff);
    }

    #[test]
    fn minima_and_maxima() {
        let nan = 0x7fc0_0000;
        let (one, two) = (single_bits(1.0), single_bits(-2.0));
        assert_eq!(min(Type::F32, one, two, PLAIN), two);
        assert_eq!(max(Type::F32, one, nan, PLAIN), one);
        assert_eq!(max(Type::F32, one, nan, Flags { nan: true, ..PLAIN }), 0x7fff_ffff);
        assert_eq!(max(Type::F32, 0x8000_0000, 0, PLAIN), 0);
        assert_eq!(min(Type::F32, 0, 0x8000_0000, PLAIN), 0x8000_0000);
        assert_eq!(min(Type::F32, one, two, Flags { xorsign_abs: true, ..PLAIN }), single_bits(-1.0));
    }

    #[test]
    fn subnormal_numbers_are_flushed_before_and_after() {
        let ftz = Flags { ftz: true, ..PLAIN };
        assert_eq!(add(Type::F32, 0x8000_0001, 0, Rounding::Nearest, ftz), 0);
        assert_eq!(mul(Type::F32, 0x8080_0000, single_bits(0.5), Rounding::Nearest, ftz), 0x8000_0000);
        assert_eq!(abs(Type::F32, 0x8000_0001, ftz), 0);
    }

    #[test]
    fn of_several_nans_the_second_operand_counts_first() {
        let (quiet, signals) = (0x7ff8_0000_0000_0001, 0xfff4_0000_0000_0001);
        let near = Rounding::Nearest;
        assert_eq!(add(Type::F64, quiet, signals, near, PLAIN), 0xfffc_0000_0000_0001);
        assert_eq!(mul(Type::F64, signals, quiet, Rounding::Zero, PLAIN), quiet);
        assert_eq!(fma(Type::F64, signals, 0, quiet, near, PLAIN), quiet);
        assert_eq!(fma(Type::F64, 0, signals, quiet, near, PLAIN), 0xfffc_0000_0000_0001);
        assert_eq!(atomic_add_double(quiet, signals), signals, "an atomic operation passes it on as it is");
    }
}
