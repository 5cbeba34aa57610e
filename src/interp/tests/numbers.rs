//! Conversions and rounding, each compared with a definition.

use super::super::numbers::*;
use crate::ir::FloatKind;

#[test]
fn fast_decoding_and_encoding_agree_with_the_definition() {
    for kind in FloatKind::ALL.into_iter().filter(|k| k.bits() <= 16) {
        for bits in 0..1u64 << kind.bits() {
            let (fast, slow) = (decode(kind, bits), kind.to_f64(bits));
            assert!(f64::from(fast) == slow || fast.is_nan() && slow.is_nan(), "{} {bits:#x}", kind.name());
            // The value, its neighbours in f32, and the middle between it and the next.
            for v in [
                fast,
                fast.next_up(),
                fast.next_down(),
                f32::midpoint(fast, decode(kind, (bits + 1) & mask(kind.bits()))),
            ] {
                assert_eq!(encode(kind, v), kind.from_f64(f64::from(v)), "{} {v}", kind.name());
            }
        }
    }
}

#[test]
fn directed_rounding_brackets_the_value() {
    for kind in [FloatKind::F16, FloatKind::BF16, FloatKind::F8E5M2, FloatKind::F8E4M3FN] {
        for v in [0.1, -0.1, 1.0, 3.3, -2.7, 1e-3, 300.7, -440.1, 1e-9] {
            let at = |mode| to_f64(kind, round_to(kind, v, mode));
            let (down, up, zero) = (at(Rounding::Downward), at(Rounding::Upward), at(Rounding::TowardZero));
            assert!(down <= v && v <= up, "{} {v}: {down} {up}", kind.name());
            assert_eq!(zero.abs(), down.abs().min(up.abs()));
            let nearest = at(Rounding::ToNearestEven);
            assert!(nearest == down || nearest == up);
        }
    }
}

#[test]
fn rounding_past_the_largest_value() {
    let (rtz, rne) = (Rounding::TowardZero, Rounding::ToNearestEven);
    assert_eq!(to_f64(FloatKind::F16, round_to(FloatKind::F16, 1e6, rtz)), 65504.0);
    assert_eq!(to_f64(FloatKind::F16, round_to(FloatKind::F16, -1e6, rtz)), -65504.0);
    assert_eq!(to_f64(FloatKind::F16, round_to(FloatKind::F16, 1e6, rne)), f64::INFINITY);
    assert_eq!(to_f64(FloatKind::F8E4M3FN, round_to(FloatKind::F8E4M3FN, 1e6, rtz)), 448.0);
    assert_eq!(to_f64(FloatKind::F8E4M3FN, saturate_to(FloatKind::F8E4M3FN, -1e6)), -448.0);
    assert_eq!(to_f64(FloatKind::F8E5M2, saturate_to(FloatKind::F8E5M2, f64::INFINITY)), 57344.0);
    assert!(to_f64(FloatKind::F8E4M3FN, saturate_to(FloatKind::F8E4M3FN, f64::NAN)).is_nan());
}

#[test]
fn integers_round_once() {
    // 2^54 + 1 lies just above the middle of two f32. Through f64 it would fall on the middle and go to even.
    let v = (1i128 << 54) + (1 << 30) + 1;
    assert_eq!(f32::from_bits(from_int(FloatKind::F32, v) as u32), v as f32);
    for kind in [FloatKind::BF16, FloatKind::F16] {
        for v in [0i128, 1, -1, 2049, 2051, -4099, 65519, 65520, (1 << 62) + (1 << 54) + 1, -(1i128 << 63)] {
            let got = to_f64(kind, from_int(kind, v));
            let better = |bits: u64| {
                let w = to_f64(kind, bits);
                w.is_finite() && (w as i128 - v).abs() < (got as i128 - v).abs()
            };
            let bits = from_int(kind, v);
            assert!(
                !got.is_finite() || !better(bits + 1) && (bits & (mask(kind.bits()) >> 1) == 0 || !better(bits - 1)),
                "{} {v}",
                kind.name()
            );
        }
    }
}

#[test]
fn floats_to_integers_saturate() {
    assert_eq!(to_int(-1.9, 32, true), 0xffff_ffff);
    assert_eq!(to_int(3e9, 32, true), 0x7fff_ffff);
    assert_eq!(to_int(3e9, 32, false), 3_000_000_000);
    assert_eq!(to_int(-5.0, 32, false), 0);
    assert_eq!(to_int(f64::NAN, 32, true), 0);
    assert_eq!(to_int(1e30, 64, true), i64::MAX as u64);
}
