//! Functions of angles, of f32.
//!
//! An angle is a number of quadrants and a rest of at most π/4. Up to 6000 the rest comes of the angle by three fused
//! steps; beyond, of its product with 2/π in many bits, of which only what is beyond multiples of 4 counts.

use std::f64::consts::{FRAC_2_PI, PI};

use super::arith::{Arith, One};
use super::parts::above;

/// π/2 in pieces of 12, 12 and 24 bits and a rest: a product of a piece with an integer below 2^12 is exact in f32.
const HALF_PI: [f64; 4] = [1.5703125, 0.00048351287841796875, 3.1385570764541626e-7, 6.077100506506192e-11];

/// 2/π in pieces of 24 bits: piece `i` counts multiples of 2^(-24 · (i + 1)).
const TWO_OVER_PI: [f64; 9] =
    [10680707.0, 7228996.0, 1387004.0, 2578385.0, 16069853.0, 12639074.0, 9804092.0, 4427841.0, 16666979.0];

/// `sin(r) = r + r³ · S(r²)` and `cos(r) = 1 - r²/2 + r⁴ · C(r²)`, for r up to π/4.
const SIN: [f64; 4] = [-0.16666666663747196, 0.008333331832314021, -0.00019840063762000895, 2.724694590466497e-06];

const COS: [f64; 4] = [0.04166666666423009, -0.0013888887636535523, 2.4800581164626284e-05, -2.7298467848328267e-07];

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
