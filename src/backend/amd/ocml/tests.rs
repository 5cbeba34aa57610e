//! Measures the functions in units in the last place, on the host.
#![allow(clippy::float_cmp)] // exact answers are asked for exactly

use super::arith::{Arith, Ask, One, Two};
use super::{Own, apply, form};

/// A number and whether it is an f32.
#[derive(Clone, Copy, Debug)]
struct Num {
    value: f64,
    single: bool,
}

/// Computes with the roundings of the hardware.
struct Host;

fn rounded(value: f64, single: bool) -> Num {
    Num { value: if single { f64::from(value as f32) } else { value }, single }
}

impl Arith for Host {
    type V = Num;
    type B = bool;

    fn constant(&mut self, like: Num, value: f64) -> Num {
        rounded(value, like.single)
    }

    fn two(&mut self, op: Two, a: Num, b: Num) -> Num {
        // Rounding an operation of f64 once more is right for f32: it has more than twice the bits.
        let value = match op {
            Two::Add => a.value + b.value,
            Two::Sub => a.value - b.value,
            Two::Mul => a.value * b.value,
            Two::Div => a.value / b.value,
        };
        rounded(value, a.single)
    }

    fn one(&mut self, op: One, x: Num) -> Num {
        let value = match op {
            One::Neg => -x.value,
            One::Abs => x.value.abs(),
            One::Floor => x.value.floor(),
            One::Rint => x.value.round_ties_even(),
            One::Exp2 => x.value.exp2(),
            One::Log => x.value.ln(),
            One::Sqrt => x.value.sqrt(),
        };
        rounded(value, x.single)
    }

    fn fma(&mut self, a: Num, b: Num, c: Num) -> Num {
        if a.single {
            let value = (a.value as f32).mul_add(b.value as f32, c.value as f32);
            return Num { value: f64::from(value), single: true };
        }
        Num { value: a.value.mul_add(b.value, c.value), single: false }
    }

    fn scale(&mut self, x: Num, n: Num) -> Num {
        rounded(libm::ldexp(x.value, n.value as i32), x.single)
    }

    fn split(&mut self, x: Num) -> (Num, Num) {
        let (m, n) = libm::frexp(x.value);
        (rounded(m, x.single), rounded(f64::from(n), x.single))
    }

    fn ask(&mut self, question: Ask, a: Num, b: Num) -> bool {
        match question {
            Ask::Less => a.value < b.value,
            Ask::Equal => a.value == b.value,
            Ask::Unordered => a.value.is_nan() || b.value.is_nan(),
        }
    }

    fn both(&mut self, a: bool, b: bool) -> bool {
        a && b
    }

    fn select(&mut self, condition: bool, yes: Num, no: Num) -> Num {
        if condition { yes } else { no }
    }

    fn copysign(&mut self, magnitude: Num, sign: Num) -> Num {
        Num { value: magnitude.value.copysign(sign.value), single: magnitude.single }
    }

    fn widen(&mut self, x: Num) -> Num {
        Num { value: x.value, single: false }
    }

    fn narrow(&mut self, x: Num) -> Num {
        rounded(x.value, true)
    }

    fn choose(
        &mut self,
        condition: bool,
        yes: impl FnOnce(&mut Host) -> [Num; 2],
        no: impl FnOnce(&mut Host) -> [Num; 2],
    ) -> [Num; 2] {
        if condition { yes(self) } else { no(self) }
    }
}

fn compute(own: Own, single: bool, x: f64, y: f64) -> f64 {
    apply(&mut Host, own, rounded(x, single), rounded(y, single)).value
}

/// The distance from the truth in units of the last place of what it should be.
fn distance(got: f64, want: f64, single: bool) -> f64 {
    let want = if single { f64::from(want as f32) } else { want };
    if got == want || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    let (bits, least) = if single { (24, -149) } else { (53, -1074) };
    let place = (libm::frexp(want).1 - bits).max(least);
    libm::ldexp((got - want).abs(), -place)
}

/// Numbers of all sizes between two bounds, both signs among them where the lower bound is negative.
fn numbers(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let count = 12_000;
    let straight = (0..=count).map(move |i| low + (high - low) * f64::from(i) / f64::from(count));
    let by_size = (0..=count).flat_map(move |i| {
        let size = high * 2f64.powf(-f64::from(i) / 240.0);
        [size, -size]
    });
    straight.chain(by_size.filter(move |x| (low..=high).contains(x)))
}

#[test]
fn functions_of_one_f32_are_right_to_a_few_last_places() {
    let cases: [(Own, fn(f64) -> f64, f64, f64, f64); 14] = [
        (Own::Exp, libm::exp, -110.0, 89.0, 1.5),
        (Own::Expm1, libm::expm1, -20.0, 88.5, 2.0),
        (Own::Log1p, libm::log1p, -0.999, 1e20, 3.0),
        (Own::Sin, libm::sin, -5e4, 5e4, 2.0),
        (Own::Cos, libm::cos, -5e4, 5e4, 2.0),
        (Own::Tan, libm::tan, -5e4, 5e4, 4.0),
        (Own::Tanh, libm::tanh, -12.0, 12.0, 2.0),
        (Own::Erf, libm::erf, -5.0, 5.0, 2.0),
        (Own::Atan, libm::atan, -1e6, 1e6, 3.0),
        (Own::Asin, libm::asin, -1.0, 1.0, 4.0),
        (Own::Acos, libm::acos, -1.0, 1.0, 4.0),
        (Own::Sinh, libm::sinh, -88.0, 88.0, 4.0),
        (Own::Cosh, libm::cosh, -88.0, 88.0, 4.0),
        (Own::Sin, libm::sin, 1e30, 3e38, 8.0),
    ];
    for (own, truth, low, high, bound) in cases {
        let mut worst = (0.0, 0.0);
        for x in numbers(low, high).map(|x| f64::from(x as f32)) {
            let off = distance(compute(own, true, x, 0.0), truth(x), true);
            // Subnormal results lose bits that nobody counts on.
            if off > worst.0 && truth(x).abs() > 1e-37 {
                worst = (off, x);
            }
        }
        assert!(worst.0 <= bound, "{own:?}({}) is off by {} last places", worst.1, worst.0);
    }
}

#[test]
fn functions_of_two_f32_are_right_to_a_few_last_places() {
    for x in numbers(-30.0, 30.0).step_by(97).map(|x| f64::from(x as f32)) {
        for y in numbers(-20.0, 20.0).step_by(531).map(|y| f64::from(y as f32)) {
            let angle = distance(compute(Own::Atan2, true, x, y), libm::atan2(x, y), true);
            assert!(angle <= 4.0, "atan2({x}, {y}) is off by {angle}");
            let power = libm::pow(x, y);
            let off = distance(compute(Own::Pow, true, x, y), power, true);
            assert!(off <= 1.0 || power.abs() < 1e-37, "pow({x}, {y}) is off by {off}");
        }
    }
}

#[test]
fn functions_of_f64_are_right_to_a_few_last_places() {
    let cases: [(Own, fn(f64) -> f64, f64, f64, f64); 6] = [
        (Own::Exp64, libm::exp, -700.0, 709.0, 2.0),
        (Own::Exp2of64, libm::exp2, -1000.0, 1023.0, 2.0),
        (Own::Log64, libm::log, 1e-300, 1e300, 3.0),
        (Own::Log2of64, libm::log2, 1e-300, 1e300, 4.0),
        (Own::Log10of64, libm::log10, 1e-300, 1e300, 4.0),
        (Own::Rsqrt64, |x| 1.0 / x.sqrt(), 1e-300, 1e300, 0.0),
    ];
    for (own, truth, low, high, bound) in cases {
        for x in numbers(low, high) {
            let off = distance(compute(own, false, x, 0.0), truth(x), false);
            assert!(off <= bound, "{own:?}({x}) is off by {off} last places");
        }
    }
}

#[test]
fn the_ends_of_the_line_are_right() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let one: [(Own, f64, f64); 16] = [
        (Own::Exp, -inf, 0.0),
        (Own::Exp, inf, inf),
        (Own::Exp, nan, nan),
        (Own::Expm1, -inf, -1.0),
        (Own::Expm1, inf, inf),
        (Own::Log1p, inf, inf),
        (Own::Log1p, -1.0, -inf),
        (Own::Log1p, -2.0, nan),
        (Own::Tanh, inf, 1.0),
        (Own::Tanh, -inf, -1.0),
        (Own::Erf, inf, 1.0),
        (Own::Erf, nan, nan),
        (Own::Cosh, -inf, inf),
        (Own::Sinh, -inf, -inf),
        (Own::Log64, 0.0, -inf),
        (Own::Log64, -1.0, nan),
    ];
    for (own, x, want) in one {
        let single = !matches!(own, Own::Log64);
        let got = compute(own, single, x, 0.0);
        assert!(got == want || got.is_nan() && want.is_nan(), "{own:?}({x}) is {got}, not {want}");
    }
    for x in [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, -0.5, inf, -inf, nan] {
        for y in [0.0, -0.0, 1.0, 2.0, 3.0, -3.0, 0.5, -0.5, inf, -inf, nan] {
            for (own, want) in [(Own::Pow, libm::pow(x, y)), (Own::Atan2, libm::atan2(x, y))] {
                let got = compute(own, true, x, y);
                let same = distance(got, want, true) <= 1.0 && got.is_sign_negative() == want.is_sign_negative();
                assert!(same || got.is_nan() && want.is_nan(), "{own:?}({x}, {y}) is {got}, not {want}");
            }
        }
    }
}

#[test]
fn names_say_the_format() {
    for name in ["__ocml_sin_f32", "__ocml_exp_f64", "__ocml_fmod_f64", "__triton_hip_rint", "__ockl_clz_u32"] {
        assert!(form(name).is_some(), "{name}");
    }
    for name in ["__ocml_sin_f16", "__ocml_j0_f32", "__ocml_", "sin", "__nv_sinf"] {
        assert!(form(name).is_none(), "{name}");
    }
}
