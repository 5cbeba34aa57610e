//! The approximate functions (PTX ISA, "Floating Point Instructions": `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`,
//! `ex2`, `tanh`, `div`; "Half Precision Floating Point Instructions": `ex2`, `tanh`).
//!
//! The GPU computes them in two steps, and so does this file:
//! 1. Its special function unit knows eight functions of a f32, and flushes subnormal numbers on both sides. [`unit`]
//!    stands for it: the function in f64, rounded to nearest. The unit interpolates in tables that are not published,
//!    and differs from that in the last bits; the PTX ISA gives the bounds.
//! 2. Around it, `ptxas` scales operands that the unit would flush. These steps are exact here: they are what `ptxas`
//!    writes for sm_80 and sm_90a.
//!
//! | instruction | around the unit |
//! |---|---|
//! | `ex2` without `.ftz` | below −126: the square of 2^(x/2) |
//! | `lg2` without `.ftz` | of a subnormal: log2(x · 2^24) − 24 |
//! | `rsqrt`, `sqrt` without `.ftz` | of a subnormal: the root of x · 2^24, times 2^12 or 2^-12 |
//! | `tanh` | a subnormal is its own |
//! | `rcp` without `.ftz` | of a subnormal or above 2^126: 1 / (x · s) · s with s = 2^24 or 1/4 |
//! | `sin`, `cos` | the unit counts turns: x · 0.15915494, rounded towards zero |
//! | `div.approx` | a · (1 / b); without `.ftz`, both are scaled by 2^24 where b is subnormal |
//! | `div.full` | likewise, and both are scaled by 1/4 where b is above 2^126 |
//!
//! Example: `ex2.approx.f32` of −130 is 2^-65 squared, 2^-130; with `.ftz` it is 0.

use super::exact::{Number, infinity, nan, pack, unpack};
use super::float::{add, flush, mul, sign_bit};
use super::types::{Flags, Rounding, Type, each};
use ttc_float::FloatKind;

/// A function of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// `ex2`: 2^x.
    Ex2,
    /// `lg2`: the logarithm to base 2.
    Lg2,
    /// `sin`, of radians.
    Sin,
    /// `cos`, of radians.
    Cos,
    /// `tanh`
    Tanh,
    /// `rcp`: 1 / x.
    Rcp,
    /// `rsqrt`: 1 / √x.
    Rsqrt,
    /// `sqrt`
    Sqrt,
}

impl Function {
    /// Every function.
    pub const ALL: [Function; 8] = [
        Function::Ex2,
        Function::Lg2,
        Function::Sin,
        Function::Cos,
        Function::Tanh,
        Function::Rcp,
        Function::Rsqrt,
        Function::Sqrt,
    ];

    /// The function of this opcode.
    #[must_use]
    pub fn parse(opcode: &str) -> Option<Function> {
        Some(match opcode {
            "ex2" => Function::Ex2,
            "lg2" => Function::Lg2,
            "sin" => Function::Sin,
            "cos" => Function::Cos,
            "tanh" => Function::Tanh,
            "rcp" => Function::Rcp,
            "rsqrt" => Function::Rsqrt,
            "sqrt" => Function::Sqrt,
            _ => return None,
        })
    }

    /// The value in f64. `sin` and `cos` take turns, as the unit does. The result for NaN is NaN.
    fn value(self, x: f64) -> f64 {
        let turn = |x: f64| (x - libm::floor(x)) * std::f64::consts::TAU;
        match self {
            Function::Ex2 => libm::exp2(x),
            Function::Lg2 => libm::log2(x),
            Function::Sin if x == 0.0 => x,
            Function::Sin => libm::sin(turn(x)),
            Function::Cos => libm::cos(turn(x)),
            Function::Tanh => libm::tanh(x),
            Function::Rcp => 1.0 / x,
            Function::Rsqrt => 1.0 / x.sqrt(),
            Function::Sqrt => x.sqrt(),
        }
    }
}

/// 2^126, above which a reciprocal is subnormal.
const LARGE: u64 = 0x7e80_0000;
const QUARTER: u64 = 0x3e80_0000;
const ONE: u64 = 0x3f80_0000;
const TWO_24: u64 = 0x4b80_0000;
const TWO_12: u64 = 0x4580_0000;
const TWO_MINUS_12: u64 = 0x3980_0000;
const MINUS_24: u64 = 0xc1c0_0000;
const HALF: u64 = 0x3f00_0000;
/// 1 / 2π, as `ptxas` writes it.
const PER_TURN: u64 = 0x3e22_f983;

const PLAIN: Flags = Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };
const FTZ: Flags = Flags { ftz: true, ..PLAIN };

/// The special function unit's result for a f32.
fn unit(function: Function, a: u64) -> u64 {
    round(FloatKind::F32, function.value(FloatKind::F32.to_f64(flush(FloatKind::F32, a, FTZ))), true)
}

/// The nearest pattern of a value, or the NaN that the GPU produces.
fn round(kind: FloatKind, value: f64, ftz: bool) -> u64 {
    let single = value as f32;
    if kind == FloatKind::F32 && single.is_finite() && single.abs() > f32::MIN_POSITIVE {
        return u64::from(single.to_bits());
    }
    match unpack(FloatKind::F64, value.to_bits()) {
        Number::Nan => nan(kind),
        Number::Infinity { negative } => infinity(kind, negative),
        Number::Finite(x) => pack(kind, x, Rounding::Nearest, ftz),
    }
}

fn times(a: u64, b: u64) -> u64 {
    mul(Type::F32, a, b, Rounding::Nearest, PLAIN)
}

fn is_subnormal(a: u64) -> bool {
    a & 0x7f80_0000 == 0
}

/// `ex2.approx` and the like. For f64, `rcp` and `rsqrt` are `.approx.ftz`, which keep the high words alone.
#[must_use]
pub fn approximate(function: Function, ty: Type, a: u64, flags: Flags) -> u64 {
    each(ty, [a], |ty, [a]| match ty {
        Type::F32 if flags.ftz => single_flushed(function, a),
        Type::F32 => single(function, a),
        Type::F64 => double(function, a),
        _ => ty.float().map_or(0, |kind| narrow(function, kind, a, flags.ftz)),
    })
}

fn turns(a: u64, flags: Flags) -> u64 {
    mul(Type::F32, a, PER_TURN, Rounding::Zero, flags)
}

fn single_flushed(function: Function, a: u64) -> u64 {
    match function {
        Function::Sin | Function::Cos => unit(function, turns(a, PLAIN)),
        _ => unit(function, a),
    }
}

fn single(function: Function, a: u64) -> u64 {
    let scaled = |by: u64, back: u64| {
        if is_subnormal(a) { times(unit(function, times(a, by)), back) } else { unit(function, a) }
    };
    match function {
        Function::Ex2 => {
            let low = f32::from_bits(a as u32) < -126.0;
            let power = unit(function, if low { times(a, HALF) } else { a });
            if low { times(power, power) } else { power }
        }
        Function::Lg2 if is_subnormal(a) => {
            add(Type::F32, unit(function, times(a, TWO_24)), MINUS_24, Rounding::Nearest, PLAIN)
        }
        Function::Rsqrt => scaled(TWO_24, TWO_12),
        Function::Sqrt => scaled(TWO_24, TWO_MINUS_12),
        Function::Rcp => {
            let scale = match a & 0x7fff_ffff {
                large if large > LARGE && large <= 0x7f80_0000 => QUARTER,
                _ if is_subnormal(a) => TWO_24,
                _ => ONE,
            };
            times(scale, unit(function, times(a, scale)))
        }
        Function::Sin | Function::Cos => unit(function, turns(a, PLAIN)),
        Function::Tanh if is_subnormal(a) => a,
        Function::Lg2 | Function::Tanh => unit(function, a),
    }
}

/// f16 and bf16: the function rounded once.
fn narrow(function: Function, kind: FloatKind, a: u64, ftz: bool) -> u64 {
    let subnormal = a & ((1 << kind.mantissa_bits()) - 1) == a & !sign_bit(kind);
    let a = if ftz && subnormal { a & sign_bit(kind) } else { a };
    round(kind, function.value(kind.to_f64(a)), ftz)
}

/// The high word of a f64 is the operand, and 20 bits of mantissa are the result.
fn double(function: Function, a: u64) -> u64 {
    const HIGH: u64 = 0xffff_ffff_0000_0000;
    let value = |bits: u64| if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits & HIGH };
    let result = function.value(f64::from_bits(value(a)));
    if result.is_nan() {
        return 0x7fff_ffff_0000_0000;
    }
    let bits = result.to_bits();
    let rounded = if result.is_finite() { bits + (1 << 31) } else { bits };
    value(rounded)
}

/// `div.approx.f32`
#[must_use]
pub fn div_approx(a: u64, b: u64, flags: Flags) -> u64 {
    let (a, b) = if !flags.ftz && is_subnormal(b) { (times(a, TWO_24), times(b, TWO_24)) } else { (a, b) };
    mul(Type::F32, a, unit(Function::Rcp, b), Rounding::Nearest, flags)
}

/// `div.full.f32`
#[must_use]
pub fn div_full(a: u64, b: u64, flags: Flags) -> u64 {
    let scale = |x: u64| mul(Type::F32, x, QUARTER, Rounding::Nearest, flags);
    let magnitude = b & 0x7fff_ffff;
    let large = magnitude > LARGE && magnitude <= 0x7f80_0000;
    let (a, b) = if large { (scale(a), scale(b)) } else { (a, b) };
    div_approx(a, b, flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A power of two. In `f32`, a large negative exponent gives 0 without optimisation: one divided by infinity.
    fn power(exponent: i32) -> f32 {
        2f64.powi(exponent) as f32
    }

    fn bits(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    fn of(function: Function, x: f32, flags: Flags) -> f32 {
        f32::from_bits(approximate(function, Type::F32, bits(x), flags) as u32)
    }

    #[test]
    fn values_at_the_ends() {
        use Function::*;
        let inf = f32::INFINITY;
        for (function, x, expected) in [
            (Ex2, -inf, 0.0),
            (Ex2, inf, inf),
            (Ex2, 1e-40, 1.0),
            (Ex2, 10.0, 1024.0),
            (Lg2, 0.0, -inf),
            (Lg2, inf, inf),
            (Lg2, 8.0, 3.0),
            (Rcp, inf, 0.0),
            (Rcp, -0.0, -inf),
            (Rcp, 4.0, 0.25),
            (Rsqrt, 0.0, inf),
            (Rsqrt, inf, 0.0),
            (Rsqrt, 16.0, 0.25),
            (Sqrt, 9.0, 3.0),
            (Sin, 0.0, 0.0),
            (Cos, 0.0, 1.0),
            (Tanh, inf, 1.0),
            (Tanh, -0.0, -0.0),
        ] {
            assert_eq!(of(function, x, FTZ).to_bits(), expected.to_bits(), "{function:?} {x}");
        }
        for (function, x) in [(Lg2, -1.0), (Rsqrt, -1.0), (Sqrt, -1.0), (Sin, inf), (Cos, -inf), (Ex2, f32::NAN)] {
            assert_eq!(of(function, x, PLAIN).to_bits(), 0x7fff_ffff, "{function:?} {x}");
        }
    }

    #[test]
    #[allow(clippy::float_cmp)] // powers of two come out exactly
    fn subnormal_numbers_survive_without_ftz() {
        let tiny = f32::from_bits(1 << 20);
        assert_eq!(of(Function::Ex2, -130.0, PLAIN), power(-130));
        assert_eq!(of(Function::Tanh, tiny, PLAIN), tiny);
        assert_eq!(of(Function::Ex2, -130.0, FTZ), 0.0);
        assert_eq!(of(Function::Lg2, tiny, PLAIN), -129.0);
        assert_eq!(of(Function::Lg2, tiny, FTZ), f32::NEG_INFINITY);
        assert_eq!(of(Function::Rcp, power(127), PLAIN), power(-127));
        assert_eq!(of(Function::Rcp, power(127), FTZ), 0.0);
        assert_eq!(of(Function::Rsqrt, power(-130), PLAIN), power(65));
        assert_eq!(of(Function::Sqrt, power(-130), PLAIN), power(-65));
    }

    #[test]
    fn quotients() {
        let huge = bits(power(127));
        assert_eq!(div_full(huge, huge, PLAIN), ONE);
        assert_eq!(div_approx(huge, huge, FTZ), 0, "the reciprocal is flushed");
        assert_eq!(div_full(bits(1.0), bits(4.0), FTZ), bits(0.25));
        let tiny = bits(power(-130));
        assert_eq!(div_approx(tiny, tiny, PLAIN), ONE);
    }

    #[test]
    fn halves_and_high_words() {
        assert_eq!(approximate(Function::Ex2, Type::F16x2, 0x4000_3c00, PLAIN), 0x4400_4000);
        assert_eq!(approximate(Function::Tanh, Type::BF16, 0x7f80, PLAIN), 0x3f80);
        let third = f64::from_bits(approximate(Function::Rcp, Type::F64, 3f64.to_bits(), PLAIN));
        assert!((third - 1.0 / 3.0).abs() < 2f64.powi(-22) && third.to_bits() as u32 == 0);
    }
}
