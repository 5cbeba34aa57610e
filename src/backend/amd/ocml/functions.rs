//! The functions, each in the arithmetic of [`Arith`].
//!
//! Coefficients are near-minimax fits over the interval that the comment names, made by weighted least squares at
//! Chebyshev nodes. The test of the parent module measures every function against the truth in units in the last place.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E, PI};

use super::arith::{Arith, Ask, One, Two};

/// π/2 in pieces of 12, 12 and 24 bits and a rest: a product of a piece with an integer below 2^12 is exact in f32.
const HALF_PI: [f64; 4] = [1.5703125, 0.00048351287841796875, 3.138557076454162598e-7, 6.0771005065061922e-11];

/// 2/π in pieces of 24 bits: piece `i` counts multiples of 2^(-24 · (i + 1)).
const TWO_OVER_PI: [f64; 9] =
    [10680707.0, 7228996.0, 1387004.0, 2578385.0, 16069853.0, 12639074.0, 9804092.0, 4427841.0, 16666979.0];

/// ln 2 as f32 with zeros behind it, and the rest.
const LN_2_PARTS: [f64; 2] = [0.693145751953125, 1.428606765330187e-6];

/// ln 2 as f64 with 21 zeros behind it, and the rest.
const LN_2_DOUBLE: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// `sin(r) = r + r³ · S(r²)` and `cos(r) = 1 - r²/2 + r⁴ · C(r²)`, for r up to π/4.
const SIN: [f64; 4] = [-0.16666666663747196, 0.008333331832314021, -0.00019840063762000895, 2.724694590466497e-06];
const COS: [f64; 4] = [0.04166666666423009, -0.0013888887636535523, 2.4800581164626284e-05, -2.7298467848328267e-07];

/// `expm1(r) = r + r² · E(r)`, for r up to ln(2)/2.
const EXPM1: [f64; 6] = [
    0.5000000013678311,
    0.16666666757845897,
    0.04166646281513013,
    0.008333285520914124,
    0.001393388299736033,
    0.0001990792461744097,
];

/// `tanh(x) = x + x³ · T(x²)`, for x up to 0.625.
const TANH: [f64; 5] =
    [-0.33333329249514154, 0.13332794543405202, -0.0538540692236516, 0.021010079105385528, -0.006113188481736512];

/// `erf(x) = x + x · R(x²)`, for x up to 1.
const ERF: [f64; 7] = [
    0.12837916575391131,
    -0.3761262713596637,
    0.11283600176263509,
    -0.026854444592152478,
    0.005189535339785775,
    -0.0008020841283523858,
    7.88911954372059e-05,
];

/// `log2(erfc(x)) = L(x)`, for x from 0.95 to 4.
const LOG2_ERFC: [f64; 9] = [
    0.00025697885504882834,
    -1.6295635207167223,
    -0.9137061581012574,
    -0.15621283365607458,
    0.03621418695134004,
    -0.005992632370616053,
    0.0006153172572897396,
    -2.7790257514568273e-05,
    -2.448911442681412e-07,
];

/// `atan(t) = t + t³ · A(t²)`, for t up to 1.
const ATAN: [f64; 8] = [
    -0.3333332567869626,
    0.1999892724343674,
    -0.14260910850056457,
    0.10888644520342436,
    -0.08074394318586724,
    0.04985564758676041,
    -0.020706764258544716,
    0.0040599474380305185,
];

/// `1/(k + 2)!`: `exp(r) = 1 + r + r² · (…)`.
const EXP_DOUBLE: [f64; 12] = [
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// `2/(2k + 3)`: `log((1 + s)/(1 - s)) = 2s + s³ · (…)`.
const LOG_DOUBLE: [f64; 11] = [
    2.0 / 3.0,
    2.0 / 5.0,
    2.0 / 7.0,
    2.0 / 9.0,
    2.0 / 11.0,
    2.0 / 13.0,
    2.0 / 15.0,
    2.0 / 17.0,
    2.0 / 19.0,
    2.0 / 21.0,
    2.0 / 23.0,
];

/// `exp` of f32: `2^n · 2^f`, where the rest `f` of the exponent keeps its last bits.
pub(super) fn exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let log2e = f64::from(LOG2_E as f32);
    let (high, low) = (a.constant(x, log2e), a.constant(x, LOG2_E - log2e));
    let scaled = a.mul(x, high);
    let n = a.one(One::Rint, scaled);
    let minus = a.one(One::Neg, n);
    let rest = a.fma(x, high, minus);
    let rest = a.fma(x, low, rest);
    let power = a.one(One::Exp2, rest);
    let value = bounded_scale(a, power, n);
    let (small, great) = (a.below(x, -104.0), above(a, x, 89.0));
    pick(a, value, [(small, 0.0), (great, f64::INFINITY)])
}

/// `x · 2^n` for any `n`.
fn bounded_scale<A: Arith>(a: &mut A, x: A::V, n: A::V) -> A::V {
    let low = a.constant(n, -1100.0);
    let is_low = a.less(n, low);
    let n = a.select(is_low, low, n);
    let high = a.constant(n, 1100.0);
    let is_high = a.less(high, n);
    let n = a.select(is_high, high, n);
    a.scale(x, n)
}

fn above<A: Arith>(a: &mut A, x: A::V, c: f64) -> A::B {
    let c = a.constant(x, c);
    a.less(c, x)
}

/// The value, but constants where conditions hold; a later one wins.
fn pick<A: Arith, const N: usize>(a: &mut A, mut value: A::V, cases: [(A::B, f64); N]) -> A::V {
    for (condition, constant) in cases {
        let constant = a.constant(value, constant);
        value = a.select(condition, constant, value);
    }
    value
}

/// `2^n · (1 + expm1(r)) - 1` with `x = n · ln 2 + r`.
pub(super) fn expm1<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let scaled = a.times(x, LOG2_E);
    let n = a.one(One::Rint, scaled);
    let minus = a.one(One::Neg, n);
    let mut r = x;
    for part in LN_2_PARTS {
        let part = a.constant(x, part);
        r = a.fma(minus, part, r);
    }
    let e = a.polynomial(r, &EXPM1);
    let square = a.mul(r, r);
    let small = a.fma(square, e, r);
    // Half of it all, since 2^128 is no number; without a power there is nothing to add and take away again.
    let half = a.plus(n, -1.0);
    let one = a.constant(x, 1.0);
    let power = bounded_scale(a, one, half);
    let shift = a.plus(power, -0.5);
    let sum = a.fma(power, small, shift);
    let twice = a.add(sum, sum);
    let is_small = a.equals(n, 0.0);
    let result = a.select(is_small, small, twice);
    let (low, high) = (a.below(x, -18.0), above(a, x, 89.0));
    let result = pick(a, result, [(low, -1.0), (high, f64::INFINITY)]);
    let zero = a.equals(x, 0.0);
    a.select(zero, x, result)
}

/// `log(u) · x / (u - 1)` with `u = 1 + x`: what rounding takes from `u` the quotient gives back.
pub(super) fn log1p<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let u = a.plus(x, 1.0);
    let log = a.one(One::Log, u);
    let less = a.plus(u, -1.0);
    let ratio = a.div(x, less);
    let value = a.mul(log, ratio);
    let (tiny, huge) = (a.equals(u, 1.0), above(a, x, 1e30));
    let value = a.select(huge, log, value);
    a.select(tiny, x, value)
}

/// The rest of `x` in units of π/2, as `[rest, number]`: the rest is at most π/4.
fn quadrant<A: Arith>(a: &mut A, x: A::V) -> [A::V; 2] {
    let magnitude = a.one(One::Abs, x);
    let small = a.below(magnitude, 6000.0);
    a.choose(
        small,
        |a| {
            let scaled = a.times(x, FRAC_2_PI);
            let n = a.one(One::Rint, scaled);
            let minus = a.one(One::Neg, n);
            let rest = HALF_PI.iter().fold(x, |rest, &part| {
                let part = a.constant(x, part);
                a.fma(minus, part, rest)
            });
            [rest, n]
        },
        |a| great_quadrant(a, x),
    )
}

/// [`quadrant`] of great numbers, in f64: of the product with each piece of 2/π only what is beyond multiples of 4
/// counts. The products are exact, since both factors have 24 bits.
fn great_quadrant<A: Arith>(a: &mut A, x: A::V) -> [A::V; 2] {
    let wide = a.widen(x);
    let mut sum = a.constant(wide, 0.0);
    for (i, piece) in TWO_OVER_PI.iter().enumerate() {
        let quarter = a.times(wide, piece * 2f64.powi(-24 * (i as i32 + 1) - 2));
        let whole = a.one(One::Floor, quarter);
        let rest = a.sub(quarter, whole);
        sum = a.add(sum, rest);
    }
    let quarters = a.times(sum, 4.0);
    let n = a.one(One::Rint, quarters);
    let rest = a.sub(quarters, n);
    let rest = a.times(rest, PI / 2.0);
    [a.narrow(rest), a.narrow(n)]
}

/// Sine and cosine of a rest.
fn sin_cos_of_rest<A: Arith>(a: &mut A, r: A::V) -> (A::V, A::V) {
    let square = a.mul(r, r);
    let (s, c) = (a.polynomial(square, &SIN), a.polynomial(square, &COS));
    let cube = a.mul(square, r);
    let sin = a.fma(cube, s, r);
    let fourth = a.mul(square, square);
    let (half, one) = (a.constant(r, -0.5), a.constant(r, 1.0));
    let start = a.fma(half, square, one);
    (sin, a.fma(fourth, c, start))
}

/// `n` modulo 4.
fn modulo_4<A: Arith>(a: &mut A, n: A::V) -> A::V {
    let quarter = a.times(n, 0.25);
    let whole = a.one(One::Floor, quarter);
    let four = a.constant(n, -4.0);
    a.fma(whole, four, n)
}

/// Sine of the angle `shift` quadrants further.
fn shifted_sin<A: Arith>(a: &mut A, x: A::V, shift: f64) -> A::V {
    let [rest, n] = quadrant(a, x);
    let (sin, cos) = sin_cos_of_rest(a, rest);
    let n = a.plus(n, shift);
    let n = modulo_4(a, n);
    let (first, third) = (a.equals(n, 1.0), a.equals(n, 3.0));
    let value = a.select(first, cos, sin);
    let value = a.select(third, cos, value);
    let is_negative = above(a, n, 1.5);
    let minus = a.one(One::Neg, value);
    a.select(is_negative, minus, value)
}

pub(super) fn sin<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let value = shifted_sin(a, x, 0.0);
    // Minus zero stays.
    let zero = a.equals(x, 0.0);
    a.select(zero, x, value)
}

pub(super) fn cos<A: Arith>(a: &mut A, x: A::V) -> A::V {
    shifted_sin(a, x, 1.0)
}

pub(super) fn tan<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let [rest, n] = quadrant(a, x);
    let (sin, cos) = sin_cos_of_rest(a, rest);
    let n = modulo_4(a, n);
    let (first, third) = (a.equals(n, 1.0), a.equals(n, 3.0));
    let minus = a.one(One::Neg, cos);
    let (top, bottom) = (a.select(first, minus, sin), a.select(first, sin, cos));
    let (top, bottom) = (a.select(third, minus, top), a.select(third, sin, bottom));
    let value = a.div(top, bottom);
    let zero = a.equals(x, 0.0);
    a.select(zero, x, value)
}

/// `1 - 2/(exp(2x) + 1)`, and a polynomial near zero.
pub(super) fn tanh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.one(One::Abs, x);
    let square = a.mul(x, x);
    let t = a.polynomial(square, &TANH);
    let cube = a.mul(square, x);
    let near = a.fma(cube, t, x);
    let scaled = a.times(magnitude, 2.0 * LOG2_E);
    let power = a.one(One::Exp2, scaled);
    let below = a.plus(power, 1.0);
    let two = a.constant(x, 2.0);
    let part = a.div(two, below);
    let one = a.constant(x, 1.0);
    let far = a.sub(one, part);
    let far = a.copysign(far, x);
    let is_near = a.below(magnitude, 0.625);
    a.select(is_near, near, far)
}

/// `1 - erfc(x)`, and a polynomial near zero.
pub(super) fn erf<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.one(One::Abs, x);
    let square = a.mul(x, x);
    let r = a.polynomial(square, &ERF);
    let near = a.fma(x, r, x);
    // From 4 on the rest is less than half of the last place.
    let end = a.constant(x, 4.0);
    let beyond = a.less(end, magnitude);
    let capped = a.select(beyond, end, magnitude);
    let log = a.polynomial(capped, &LOG2_ERFC);
    let rest = a.one(One::Exp2, log);
    let one = a.constant(x, 1.0);
    let far = a.sub(one, rest);
    let far = a.copysign(far, x);
    let is_near = a.below(magnitude, 0.975);
    let value = a.select(is_near, near, far);
    let nan = a.ask(Ask::Unordered, x, x);
    a.select(nan, x, value)
}

/// The angle of the point `(x, y)`: `atan` of the smaller by the greater, in the octant that the point lies in.
pub(super) fn atan2<A: Arith>(a: &mut A, y: A::V, x: A::V) -> A::V {
    let (up, right) = (a.one(One::Abs, y), a.one(One::Abs, x));
    let steep = a.less(right, up);
    let (low, high) = (a.select(steep, right, up), a.select(steep, up, right));
    let t = a.div(low, high);
    // Two infinities make a diagonal, two zeros an axis.
    let same = a.ask(Ask::Equal, low, high);
    let infinite = a.equals(high, f64::INFINITY);
    let diagonal = a.both(same, infinite);
    let origin = a.equals(high, 0.0);
    let t = pick(a, t, [(diagonal, 1.0), (origin, 0.0)]);
    let square = a.mul(t, t);
    let p = a.polynomial(square, &ATAN);
    let cube = a.mul(square, t);
    let angle = a.fma(cube, p, t);
    let half = a.constant(x, PI / 2.0);
    let rest = a.constant(x, PI / 2.0 - f64::from((PI / 2.0) as f32));
    let turned = a.sub(half, angle);
    let turned = a.add(turned, rest);
    let angle = a.select(steep, turned, angle);
    let one = a.constant(x, 1.0);
    let sign = a.copysign(one, x);
    let left = a.below(sign, 0.0);
    let whole = a.constant(x, PI);
    let mirrored = a.sub(whole, angle);
    let angle = a.select(left, mirrored, angle);
    let angle = a.copysign(angle, y);
    let nan = a.ask(Ask::Unordered, x, y);
    let both = a.add(x, y);
    a.select(nan, both, angle)
}

pub(super) fn atan<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let one = a.constant(x, 1.0);
    atan2(a, x, one)
}

/// The angle whose sine is `x`: of the point `(√(1 - x²), x)`.
pub(super) fn asin<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let side = other_side(a, x);
    atan2(a, x, side)
}

pub(super) fn acos<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let side = other_side(a, x);
    atan2(a, side, x)
}

/// `√((1 - x)(1 + x))`
fn other_side<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let one = a.constant(x, 1.0);
    let (below, above) = (a.sub(one, x), a.add(one, x));
    let product = a.mul(below, above);
    a.one(One::Sqrt, product)
}

/// `(e - 1/e)/2` from `expm1`, halved first, so that nothing is infinite before its time.
pub(super) fn sinh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.one(One::Abs, x);
    let far = above(a, magnitude, 9.0);
    let e = expm1(a, magnitude);
    let next = a.plus(e, 1.0);
    let part = a.div(e, next);
    let sum = a.add(e, part);
    let near = a.times(sum, 0.5);
    let great = half_exp(a, magnitude);
    let value = a.select(far, great, near);
    a.copysign(value, x)
}

pub(super) fn cosh<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let magnitude = a.one(One::Abs, x);
    let far = above(a, magnitude, 9.0);
    let e = exp(a, magnitude);
    let one = a.constant(x, 1.0);
    let other = a.div(one, e);
    let sum = a.add(e, other);
    let near = a.times(sum, 0.5);
    let great = half_exp(a, magnitude);
    a.select(far, great, near)
}

/// `exp(x)/2`, as the square of `exp(x/2)`.
fn half_exp<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let half = a.times(x, 0.5);
    let root = exp(a, half);
    let part = a.times(root, 0.5);
    a.mul(part, root)
}

/// `x^y`, by logarithm and power in f64.
pub(super) fn pow<A: Arith>(a: &mut A, x: A::V, y: A::V) -> A::V {
    let magnitude = a.one(One::Abs, x);
    let (wide, exponent) = (a.widen(magnitude), a.widen(y));
    let log = log2_double(a, wide);
    let product = a.mul(log, exponent);
    let power = exp2_double(a, product);
    let value = a.narrow(power);
    // What the logarithm does not know: zero and infinity.
    let infinity = a.constant(x, f64::INFINITY);
    let zero = a.constant(x, 0.0);
    let falls = a.less(y, zero);
    let (of_zero, of_infinity) = (a.select(falls, infinity, zero), a.select(falls, zero, infinity));
    let (is_zero, is_infinite) = (a.equals(x, 0.0), a.equals(magnitude, f64::INFINITY));
    let value = a.select(is_zero, of_zero, value);
    let value = a.select(is_infinite, of_infinity, value);
    // An infinite exponent: above one it grows, below one it falls.
    let (distance, reach) = (a.one(One::Abs, y), a.plus(magnitude, -1.0));
    let signed = a.copysign(reach, reach);
    let flipped = a.one(One::Neg, signed);
    let toward = a.select(falls, flipped, signed);
    let grows = a.less(zero, toward);
    let limit = a.select(grows, infinity, zero);
    let endless = a.equals(distance, f64::INFINITY);
    let value = a.select(endless, limit, value);
    // A negative number: the sign is that of the exponent's last bit, and there is none for parts of it.
    let signed = signed_power(a, x, y, value);
    let nan = a.ask(Ask::Unordered, x, y);
    let both = a.add(x, y);
    let value = a.select(nan, both, signed);
    let one_or_none = (a.equals(x, 1.0), a.equals(y, 0.0));
    let value = pick(a, value, [(one_or_none.0, 1.0), (one_or_none.1, 1.0)]);
    let is_one = a.equals(magnitude, 1.0);
    let unit = a.both(is_one, endless);
    pick(a, value, [(unit, 1.0)])
}

/// The sign of a power of `x`, whose magnitude is `value`.
fn signed_power<A: Arith>(a: &mut A, x: A::V, y: A::V, value: A::V) -> A::V {
    let whole = a.one(One::Floor, y);
    let half = a.times(y, 0.5);
    let half_whole = a.one(One::Floor, half);
    let (is_whole, is_even) = (a.ask(Ask::Equal, whole, y), a.ask(Ask::Equal, half_whole, half));
    let signed = a.copysign(value, x);
    let of_whole = a.select(is_even, value, signed);
    let nan = a.constant(x, f64::NAN);
    let negative = a.below(x, 0.0);
    let finite = above(a, x, -f64::INFINITY);
    let broken = a.both(negative, finite);
    let of_parts = a.select(broken, nan, value);
    a.select(is_whole, of_whole, of_parts)
}

/// `exp` of f64.
pub(super) fn exp_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let scaled = a.times(x, LOG2_E);
    let n = a.one(One::Rint, scaled);
    let minus = a.one(One::Neg, n);
    let r = LN_2_DOUBLE.iter().fold(x, |r, &part| {
        let part = a.constant(x, part);
        a.fma(minus, part, r)
    });
    let value = exp_of_rest(a, r, n);
    let (small, great) = (a.below(x, -746.0), above(a, x, 710.0));
    pick(a, value, [(small, 0.0), (great, f64::INFINITY)])
}

/// `2^x` of f64.
pub(super) fn exp2_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let n = a.one(One::Rint, x);
    let rest = a.sub(x, n);
    let r = a.times(rest, LN_2);
    let value = exp_of_rest(a, r, n);
    let (small, great) = (a.below(x, -1075.5), above(a, x, 1024.5));
    pick(a, value, [(small, 0.0), (great, f64::INFINITY)])
}

/// `2^n · exp(r)`
fn exp_of_rest<A: Arith>(a: &mut A, r: A::V, n: A::V) -> A::V {
    let p = a.polynomial(r, &EXP_DOUBLE);
    let square = a.mul(r, r);
    let sum = a.fma(square, p, r);
    let e = a.plus(sum, 1.0);
    bounded_scale(a, e, n)
}

/// `log(m)` and `n` with `x = m · 2^n`, `m` between √½ and √2.
fn log_parts<A: Arith>(a: &mut A, x: A::V) -> (A::V, A::V) {
    let (m, n) = a.split(x);
    let small = a.below(m, std::f64::consts::FRAC_1_SQRT_2);
    let (twice, less) = (a.add(m, m), a.plus(n, -1.0));
    let (m, n) = (a.select(small, twice, m), a.select(small, less, n));
    let (below, above) = (a.plus(m, -1.0), a.plus(m, 1.0));
    let s = a.two(Two::Div, below, above);
    let square = a.mul(s, s);
    let p = a.polynomial(square, &LOG_DOUBLE);
    let cube = a.mul(square, s);
    let twice = a.add(s, s);
    (a.fma(cube, p, twice), n)
}

/// What a logarithm is of zero, of infinity, and of negative numbers.
fn at_the_ends<A: Arith>(a: &mut A, x: A::V, value: A::V) -> A::V {
    let (zero, infinite, negative) = (a.equals(x, 0.0), a.equals(x, f64::INFINITY), a.below(x, 0.0));
    let value = pick(a, value, [(zero, -f64::INFINITY), (infinite, f64::INFINITY), (negative, f64::NAN)]);
    let nan = a.ask(Ask::Unordered, x, x);
    a.select(nan, x, value)
}

pub(super) fn log_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (log, n) = log_parts(a, x);
    let value = LN_2_DOUBLE.iter().rev().fold(log, |sum, &part| {
        let part = a.constant(x, part);
        a.fma(n, part, sum)
    });
    at_the_ends(a, x, value)
}

pub(super) fn log2_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (log, n) = log_parts(a, x);
    let log2e = a.constant(x, LOG2_E);
    let value = a.fma(log, log2e, n);
    at_the_ends(a, x, value)
}

pub(super) fn log10_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let log = log_double(a, x);
    a.times(log, std::f64::consts::LOG10_E)
}

/// `1/√x`
pub(super) fn rsqrt_double<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let root = a.one(One::Sqrt, x);
    let one = a.constant(x, 1.0);
    a.div(one, root)
}
