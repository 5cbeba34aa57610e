//! Functions of f32 but those of angles.
//!
//! Coefficients are near-minimax fits over the interval that the comment names, made by weighted least squares at
//! Chebyshev nodes. The test of the parent module measures every function against the truth in units in the last place.

use std::f64::consts::{LOG2_E, PI};

use super::arith::{Arith, Ask, One};
use super::double::{exp2_double, log2_double};
use super::parts::{above, bounded_scale, pick};

/// ln 2 as f32 with zeros behind it, and the rest.
const LN_2_PARTS: [f64; 2] = [0.693145751953125, 1.428606765330187e-6];

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
    0.1283791657539113,
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
