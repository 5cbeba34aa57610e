//! What functions have in common.

use super::arith::Arith;

/// `x · 2^n` for any `n`.
pub(super) fn bounded_scale<A: Arith>(a: &mut A, x: A::V, n: A::V) -> A::V {
    let low = a.constant(n, -1100.0);
    let is_low = a.less(n, low);
    let n = a.select(is_low, low, n);
    let high = a.constant(n, 1100.0);
    let is_high = a.less(high, n);
    let n = a.select(is_high, high, n);
    a.scale(x, n)
}

pub(super) fn above<A: Arith>(a: &mut A, x: A::V, c: f64) -> A::B {
    let c = a.constant(x, c);
    a.less(c, x)
}

/// The value, but constants where conditions hold; a later one wins.
pub(super) fn pick<A: Arith, const N: usize>(a: &mut A, mut value: A::V, cases: [(A::B, f64); N]) -> A::V {
    for (condition, constant) in cases {
        let constant = a.constant(value, constant);
        value = a.select(condition, constant, value);
    }
    value
}
