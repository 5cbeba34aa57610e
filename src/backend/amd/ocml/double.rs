//! Functions of f64.

use std::f64::consts::{LN_2, LOG2_E};

use super::arith::{Arith, Ask, One, Two};
use super::parts::{above, bounded_scale, pick};

/// ln 2 as f64 with 21 zeros behind it, and the rest.
const LN_2_DOUBLE: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

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
