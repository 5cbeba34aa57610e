//! Conversions (PTX ISA, "Data Movement and Conversion Instructions: cvt").
//!
//! | from → to | rounding | what does not fit |
//! |---|---|---|
//! | integer → integer | none | the low bits are kept; `.sat` clamps |
//! | float → integer | an integer mode | is clamped; NaN becomes 0, or the lowest or middle value where either side has 64 bits |
//! | integer → float | any | infinity |
//! | float → float | any; an integer mode keeps a float that is an integer | infinity; `.satfinite` gives the largest value |
//!
//! Example: `cvt.rn.satfinite.e4m3x2.f32` of 1000 and 1: the first source becomes the high byte, 448, so 0x7e38.

use super::exact::{Exact, Number, infinity, largest, nan, pack, unpack};
use super::float::{clamp, flush, sign_bit};
use super::types::{Flags, Rounding, Type, limits};
use ttc_float::FloatKind;

/// `cvt` of one operand. A packed source and a packed result are converted element by element.
#[must_use]
pub fn convert(value: u64, from: Type, to: Type, rounding: Rounding, flags: Flags) -> u64 {
    let (source, target) = (from.element(), to.element());
    let one = |lane: u32| element(value >> (lane * source.bits()) & source.mask(), source, target, rounding, flags);
    (0..from.lanes().min(to.lanes())).fold(0, |all, lane| all | one(lane) << (lane * target.bits()))
}

/// `cvt` of two operands to a packed type: `high` is the first source in PTX.
#[must_use]
pub fn convert_pair(high: u64, low: u64, from: Type, to: Type, rounding: Rounding, flags: Flags) -> u64 {
    let target = to.element();
    let one = |value: u64| element(value & from.mask(), from, target, rounding, flags);
    one(high) << target.bits() | one(low)
}

fn element(value: u64, from: Type, to: Type, rounding: Rounding, flags: Flags) -> u64 {
    match (from.float(), to.float()) {
        (None, None) => between_integers(value, from, to, flags),
        (None, Some(kind)) => {
            let exact = Exact::integer(from.integer(value));
            clamp(kind, pack(kind, exact, rounding, false), flags)
        }
        (Some(kind), None) => to_integer(flush(kind, value, only_single(kind, flags)), kind, to, rounding),
        (Some(source), Some(target)) => between_floats(value, source, target, rounding, flags),
    }
}

/// `.ftz` of a conversion is about f32 alone.
fn only_single(kind: FloatKind, flags: Flags) -> Flags {
    Flags { ftz: flags.ftz && kind == FloatKind::F32, ..flags }
}

fn between_integers(value: u64, from: Type, to: Type, flags: Flags) -> u64 {
    let value = from.integer(value);
    let (low, high) = limits(to);
    (if flags.sat { value.clamp(low, high) } else { value }) as u64 & to.mask()
}

fn to_integer(value: u64, from: FloatKind, to: Type, rounding: Rounding) -> u64 {
    let (low, high) = limits(to);
    let clamped = match unpack(from, value) {
        Number::Nan if from == FloatKind::F64 || to.bits() == 64 => return 1 << (to.bits() - 1),
        Number::Nan => 0,
        Number::Infinity { negative } => {
            if negative {
                low
            } else {
                high
            }
        }
        // Past the largest integer, the exact value would not fit.
        Number::Finite(x) if !x.is_zero() && x.leading() >= 64 => {
            if x.negative {
                low
            } else {
                high
            }
        }
        Number::Finite(x) => {
            let whole = x.round_to_integer(rounding);
            let magnitude = (whole.magnitude << whole.exponent) as i128;
            (if whole.negative { -magnitude } else { magnitude }).clamp(low, high)
        }
    };
    clamped as u64 & to.mask()
}

fn between_floats(value: u64, from: FloatKind, to: FloatKind, rounding: Rounding, flags: Flags) -> u64 {
    let value = flush(from, value, only_single(from, flags));
    let saturates = flags.satfinite || matches!(to, FloatKind::F8E4M3FN | FloatKind::F8E5M2);
    // The usual conversions, through f64, which holds their numbers.
    let is_usual = |kind| matches!(kind, FloatKind::F16 | FloatKind::BF16 | FloatKind::F32);
    if is_usual(from) && is_usual(to) && rounding == Rounding::Nearest && flags == Flags::default() {
        let value = from.to_f64(value);
        if value.is_finite() {
            return to.from_f64(value);
        }
    }
    let bits = match unpack(from, value) {
        Number::Nan => nan_from(value, [from, to], rounding, flags),
        Number::Infinity { negative } if saturates => largest(to, negative),
        Number::Infinity { negative } => infinity(to, negative),
        Number::Finite(x) => {
            let x = if rounding.is_integer() { x.round_to_integer(rounding) } else { x };
            let bits = pack(to, x, rounding.direction(), only_single(to, flags).ftz);
            if saturates && bits & !sign_bit(to) == infinity(to, false) { largest(to, x.negative) } else { bits }
        }
    };
    clamp(to, bits, flags)
}

/// The NaN of a conversion. One from or to f64 keeps the sign and the upper bits of the payload, but `.ftz` makes the
/// f32 the hardware's NaN before. bf16 becomes f32 by a shift, and `.rna.tf32` drops bits of the pattern; with
/// `.satfinite`, it subtracts the last place as it does from an infinity.
fn nan_from(value: u64, [from, to]: [FloatKind; 2], rounding: Rounding, flags: Flags) -> u64 {
    let kept = match (from, to) {
        (FloatKind::BF16, FloatKind::F32) => return value << 16,
        (FloatKind::F32, FloatKind::TF32) if rounding == Rounding::NearestAway => {
            const PLACE: u64 = 0x2000;
            return (value & !(PLACE - 1)) - if flags.satfinite { PLACE } else { 0 };
        }
        (FloatKind::F32, FloatKind::F64) if flags.ftz => nan(from),
        (FloatKind::F64, _) | (_, FloatKind::F64) => value,
        _ => return nan(to),
    };
    let fraction = kept & ((1 << from.mantissa_bits()) - 1);
    let (source, target) = (from.mantissa_bits(), to.mantissa_bits());
    let moved = if source > target { fraction >> (source - target) } else { fraction << (target - source) };
    let negative = kept & sign_bit(from) != 0;
    infinity(to, negative) | 1 << (target - 1) | moved
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags =
        Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };

    fn single(x: f32) -> u64 {
        u64::from(x.to_bits())
    }

    #[test]
    fn integers_wrap_or_are_clamped() {
        let to = |value, from, to, sat| convert(value, from, to, Rounding::Nearest, Flags { sat, ..PLAIN });
        assert_eq!(to(0x1ff, Type::U32, Type::U8, false), 0xff);
        assert_eq!(to(0x80, Type::S8, Type::S32, false), 0xffff_ff80);
        assert_eq!(to(0x1ff, Type::S32, Type::S8, true), 0x7f);
        assert_eq!(to(0xffff_ffff, Type::S32, Type::U16, true), 0);
        assert_eq!(to(0xffff_ffff, Type::U32, Type::S32, true), 0x7fff_ffff);
    }

    #[test]
    fn floats_become_integers() {
        let to = |x: f32, ty, rounding| convert(single(x), Type::F32, ty, rounding, PLAIN);
        for (x, expected) in [(2.5, [2, 2, 2, 3]), (-2.5, [-2, -2, -3, -2]), (3.5, [4, 3, 3, 4]), (1e-40, [0, 0, 0, 1])]
        {
            let modes = [Rounding::IntegerNearest, Rounding::IntegerZero, Rounding::IntegerDown, Rounding::IntegerUp];
            assert_eq!(modes.map(|m| to(x, Type::S32, m) as i32), expected, "{x}");
        }
        assert_eq!(to(1e10, Type::S32, Rounding::IntegerZero), 0x7fff_ffff);
        assert_eq!(to(-1.0, Type::U32, Rounding::IntegerZero), 0);
        assert_eq!(to(f32::NAN, Type::S32, Rounding::IntegerZero), 0);
        assert_eq!(to(f32::NAN, Type::U64, Rounding::IntegerZero), 1 << 63);
        assert_eq!(to(f32::INFINITY, Type::U64, Rounding::IntegerZero), u64::MAX);
        assert_eq!(to(300.0, Type::U8, Rounding::IntegerZero), 255);
    }

    #[test]
    fn floats_agree_with_the_processor() {
        let mut state = 3u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bits = state ^ state >> 31;
            let wide = f64::from_bits(bits & !(0x7ff << 52) | (1023 - 160 + (bits >> 52 & 0x1ff) % 300) << 52);
            let narrow = wide as f32;
            assert_eq!(convert(wide.to_bits(), Type::F64, Type::F32, Rounding::Nearest, PLAIN), single(narrow));
            if narrow.is_finite() {
                assert_eq!(
                    convert(single(narrow), Type::F32, Type::F64, Rounding::Nearest, PLAIN),
                    f64::from(narrow).to_bits()
                );
                let whole = convert(single(narrow), Type::F32, Type::S64, Rounding::IntegerZero, PLAIN);
                assert_eq!(whole as i64, narrow as i64);
            }
            let integer = bits as i64 >> (bits & 63);
            assert_eq!(convert(integer as u64, Type::S64, Type::F32, Rounding::Nearest, PLAIN), single(integer as f32));
            assert_eq!(convert(bits, Type::U64, Type::F64, Rounding::Nearest, PLAIN), (bits as f64).to_bits());
        }
    }

    #[test]
    fn eight_bit_floats_saturate() {
        let pair = |high, low, to| {
            convert_pair(
                single(high),
                single(low),
                Type::F32,
                to,
                Rounding::Nearest,
                Flags { satfinite: true, ..PLAIN },
            )
        };
        assert_eq!(pair(1000.0, 1.0, Type::E4M3x2), 0x7e38);
        assert_eq!(pair(-f32::INFINITY, f32::NAN, Type::E5M2x2), 0xfb7f);
        assert_eq!(pair(464.0, 465.0, Type::E4M3x2), 0x7e7e, "past 448 there is nothing to round to");
        assert_eq!(convert(0x7e38, Type::E4M3x2, Type::F16x2, Rounding::Nearest, PLAIN), 0x5f00_3c00);
    }

    #[test]
    fn every_eight_bit_float_is_a_half() {
        for ty in [Type::E4M3, Type::E5M2] {
            for bits in 0..256u64 {
                let half = convert(bits, ty, Type::F16, Rounding::Nearest, PLAIN);
                let kind = ty.float().unwrap();
                if kind.to_f64(bits).is_nan() {
                    assert_eq!(half, 0x7fff);
                } else if kind.to_f64(bits).is_finite() {
                    assert_eq!(FloatKind::F16.to_f64(half).to_bits(), kind.to_f64(bits).to_bits());
                    assert_eq!(convert(half, Type::F16, ty, Rounding::Nearest, PLAIN), bits);
                }
            }
        }
    }

    #[test]
    fn floats_round_to_integers_and_stay_floats() {
        let round = |x: f32, mode| convert(single(x), Type::F32, Type::F32, mode, PLAIN);
        assert_eq!(round(-0.5, Rounding::IntegerNearest), 0x8000_0000);
        assert_eq!(round(2.5, Rounding::IntegerUp), single(3.0));
        assert_eq!(round(1e30, Rounding::IntegerDown), single(1e30));
    }

    #[test]
    fn tf32_rounds_ties_away() {
        let round = |bits| convert(bits, Type::F32, Type::TF32, Rounding::NearestAway, PLAIN);
        assert_eq!(round(0x3f80_1000), 0x3f80_2000);
        assert_eq!(round(0x3f80_0fff), 0x3f80_0000);
        assert_eq!(round(0x7f7f_ffff), 0x7f80_0000);
    }

    #[test]
    fn some_conversions_keep_the_payload_of_a_nan() {
        let of = |bits, from, to, rounding, flags| convert(bits, from, to, rounding, flags);
        let near = |bits, from, to| of(bits, from, to, Rounding::Nearest, PLAIN);
        assert_eq!(near(0xfff4_0000_0000_0001, Type::F64, Type::F32), 0xffe0_0000);
        assert_eq!(near(0xffa0_0001, Type::F32, Type::F64), 0xfffc_0000_2000_0000);
        assert_eq!(near(0xffa1, Type::BF16, Type::F32), 0xffa1_0000);
        assert_eq!(near(0xfd01, Type::F16, Type::F32), 0x7fff_ffff);
        let ftz = Flags { ftz: true, ..PLAIN };
        assert_eq!(of(0xffa0_0001, Type::F32, Type::F64, Rounding::Nearest, ftz), 0x7fff_ffff_e000_0000);
        let finite = Flags { satfinite: true, ..PLAIN };
        assert_eq!(of(0xffa0_0001, Type::F32, Type::TF32, Rounding::NearestAway, finite), 0xff9f_e000);
        assert_eq!(near(0xffa0_0001, Type::F32, Type::TF32), 0x7fff_e000);
    }
}
