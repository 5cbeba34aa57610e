//! Intervals of floats.
//!
//! An [`Interval`] holds every number that a value may be, infinities included, and says whether the value may be NaN.
//! Three things are not told apart, always towards the wider interval:
//!
//! - *Rounding.* Bounds are rounded outwards to floats. A result lies between two floats if the exact one does, in any
//!   direction of rounding, and also where LLVM fuses a product with a sum and rounds once instead of twice.
//! - *Denormals.* An instruction may take a denormal for zero, or make zero of one (`.ftz`), or not. So an interval
//!   with a denormal has zero in it: [`Interval::flushed`].
//! - *Signed zeros.* Both are zero. Where the sign shows, in the bits of a number, zero must be ruled out.
//!
//! Bounds are in 64 bits. A product of two floats of 32 bits is exact in them. A sum is not always; then the bound
//! moves to the next number outwards before it is rounded. With bounds 1 and 2^-60 the lower bound of a sum is:
//!
//! ```text
//! 1 + 2^-60 = 1 in 64 bits, inexact   ->   1 - 2^-53   ->   1 - 2^-24 in 32 bits
//! ```

/// How two values may compare: a set of the bits below.
pub(super) type Relations = u8;

pub(super) const EQUAL: Relations = 1;
pub(super) const GREATER: Relations = 2;
pub(super) const LESS: Relations = 4;
/// One of the two is NaN.
pub(super) const UNORDERED: Relations = 8;

/// A format of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Half,
    Brain,
    Single,
    Double,
}

impl Format {
    /// The smallest number above zero that is no denormal.
    fn smallest_normal(self) -> f64 {
        match self {
            Format::Half => 2f64.powi(-14),
            Format::Brain | Format::Single => f64::from(f32::MIN_POSITIVE),
            Format::Double => f64::MIN_POSITIVE,
        }
    }
}

/// What a value may be: NaN if `nan`, or a number from `low` to `high`, which are no NaN and in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Interval {
    low: f64,
    high: f64,
    nan: bool,
}

impl Interval {
    /// Anything.
    pub(super) const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// A number between two others.
    pub(super) fn numbers(low: f64, high: f64) -> Interval {
        Interval { low, high, nan: false }
    }

    /// A constant. Nothing is said of NaN.
    pub(super) fn constant(value: f64) -> Interval {
        if value.is_nan() { Interval::ANY } else { Interval::numbers(value, value) }
    }

    /// With zero, if there is a denormal.
    pub(super) fn flushed(self, format: Format) -> Interval {
        let normal = format.smallest_normal();
        let low = if self.low > 0.0 && self.low < normal { 0.0 } else { self.low };
        let high = if self.high < 0.0 && self.high > -normal { 0.0 } else { self.high };
        Interval { low, high, ..self }
    }

    /// With bounds that are floats of 32 bits.
    pub(super) fn rounded(self) -> Interval {
        Interval { low: down(self.low), high: -down(-self.high), ..self }
    }

    /// Either of two.
    pub(super) fn or(self, other: Interval) -> Interval {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Interval { low, high, nan: self.nan || other.nan }
    }

    fn may_be(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    fn may_be_infinite(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    /// How the value may compare with another.
    pub(super) fn relations(self, other: Interval) -> Relations {
        let unordered = if self.nan || other.nan { UNORDERED } else { 0 };
        relations((self.low, self.high), (other.low, other.high)) | unordered
    }

    /// The least and the greatest bits, if the value is a number above zero.
    pub(super) fn bits(self, format: Format) -> Option<(u64, u64)> {
        if self.nan || self.low <= 0.0 {
            return None;
        }
        match format {
            Format::Single => {
                let of = |bound: f64| u64::from((bound as f32).to_bits());
                let inside = self.rounded();
                Some((of(inside.low), of(inside.high)))
            }
            Format::Double => Some((self.low.to_bits(), self.high.to_bits())),
            Format::Half | Format::Brain => None,
        }
    }

    pub(super) fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low, ..self }
    }

    pub(super) fn absolute(self) -> Interval {
        if self.low >= 0.0 {
            self
        } else if self.high <= 0.0 {
            self.negated()
        } else {
            Interval { low: 0.0, high: self.high.max(-self.low), ..self }
        }
    }

    /// The sum, before it is rounded. Opposite infinities make NaN.
    pub(super) fn plus(self, other: Interval) -> Interval {
        let opposite = |a: Interval, b: Interval| a.may_be(f64::INFINITY) && b.may_be(f64::NEG_INFINITY);
        let nan = self.nan || other.nan || opposite(self, other) || opposite(other, self);
        Interval { low: sum_below(self.low, other.low), high: -sum_below(-self.high, -other.high), nan }
    }

    /// The product of two floats of 32 bits, before it is rounded. Zero times infinity makes NaN.
    pub(super) fn times(self, other: Interval) -> Interval {
        // Zero times infinity is NaN. The products of what is near both lie between zero and the other corners.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let corners = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        let undefined = |a: Interval, b: Interval| a.may_be(0.0) && b.may_be_infinite();
        Interval {
            low: corners.into_iter().fold(f64::INFINITY, f64::min),
            high: corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
            nan: self.nan || other.nan || undefined(self, other) || undefined(other, self),
        }
    }

    /// The larger number. If one is NaN it is the other.
    pub(super) fn larger(self, other: Interval) -> Interval {
        let mut larger = Interval { nan: self.nan && other.nan, ..self.larger_or_nan(other) };
        if self.nan {
            larger.low = larger.low.min(other.low);
        }
        if other.nan {
            larger.low = larger.low.min(self.low);
        }
        larger
    }

    /// The smaller number. If one is NaN it is the other.
    pub(super) fn smaller(self, other: Interval) -> Interval {
        self.negated().larger(other.negated()).negated()
    }

    /// The larger number, or NaN if one is.
    pub(super) fn larger_or_nan(self, other: Interval) -> Interval {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high), nan: self.nan || other.nan }
    }

    /// The smaller number, or NaN if one is.
    pub(super) fn smaller_or_nan(self, other: Interval) -> Interval {
        self.negated().larger_or_nan(other.negated()).negated()
    }

    /// The square root, which may be approximate.
    pub(super) fn square_root(self) -> Interval {
        Interval { low: 0.0, high: f64::INFINITY, nan: self.nan || self.low < 0.0 }
    }

    /// Two to the power of the value, which may be approximate.
    pub(super) fn power(self) -> Interval {
        Interval { low: 0.0, high: f64::INFINITY, nan: self.nan }
    }
}

/// How numbers of two ranges may compare.
pub(super) fn relations<T: PartialOrd>(a: (T, T), b: (T, T)) -> Relations {
    let less = if a.0 < b.1 { LESS } else { 0 };
    let greater = if a.1 > b.0 { GREATER } else { 0 };
    let equal = if a.0 <= b.1 && b.0 <= a.1 { EQUAL } else { 0 };
    less | greater | equal
}

/// The largest float of 32 bits that is not above a number.
fn down(number: f64) -> f64 {
    let near = number as f32;
    f64::from(if f64::from(near) > number { near.next_down() } else { near })
}

/// The sum of two lower bounds, or a number below it.
#[allow(clippy::float_cmp)] // what was added comes back exactly, or the sum was rounded
fn sum_below(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum.is_nan() {
        f64::NEG_INFINITY
    } else if sum - a == b && sum - b == a {
        sum
    } else {
        sum.next_down()
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    /// In order. The two smallest on either side of zero are denormals.
    const NUMBERS: [f32; 18] = [
        f32::NEG_INFINITY,
        f32::MIN,
        -8.3,
        -1.0,
        -f32::MIN_POSITIVE,
        -1e-40,
        -1e-45,
        -0.0,
        0.0,
        1e-45,
        1e-40,
        f32::MIN_POSITIVE,
        1e-8,
        0.3,
        1.0,
        1.000_000_1,
        f32::MAX,
        f32::INFINITY,
    ];

    /// The interval of some numbers in order, with NaN or without, and those numbers.
    fn intervals(of: &[f32]) -> Vec<(Interval, Vec<f32>)> {
        let mut all = vec![];
        for low in 0..of.len() {
            for numbers in (low + 1..=of.len()).map(|high| &of[low..high]) {
                let (first, last) = (f64::from(numbers[0]), f64::from(numbers[numbers.len() - 1]));
                let interval = Interval::numbers(first, last).flushed(Format::Single);
                all.push((interval, numbers.to_vec()));
                all.push((Interval { nan: true, ..interval }, [numbers, &[f32::NAN]].concat()));
            }
        }
        all
    }

    fn flush(x: f32) -> f32 {
        if x.is_subnormal() { 0f32.copysign(x) } else { x }
    }

    /// A result is in an interval, whether or not instructions make zero of denormals.
    fn check(interval: Interval, result: f32) {
        let interval = interval.flushed(Format::Single);
        for x in [result, flush(result)] {
            let holds = if x.is_nan() { interval.nan } else { interval.may_be(f64::from(x)) };
            assert!(holds, "{x:e} in {interval:?}");
        }
    }

    #[test]
    fn results_are_in_their_intervals() {
        let larger = |x: f32, y: f32| if x.is_nan() || y.is_nan() { f32::NAN } else { x.max(y) };
        let all = intervals(&NUMBERS);
        for (a, of_a) in &all {
            // Some pairs are enough.
            for (b, of_b) in all.iter().step_by(11) {
                for (x, y) in of_a.iter().flat_map(|&x| of_b.iter().map(move |&y| (x, y))) {
                    for (x, y) in [(x, y), (flush(x), flush(y))] {
                        check(a.plus(*b).rounded(), x + y);
                        check(a.plus(b.negated()).rounded(), x - y);
                        check(a.times(*b).rounded(), x * y);
                        check(a.larger(*b), x.max(y));
                        check(a.smaller(*b), x.min(y));
                        check(a.larger_or_nan(*b), larger(x, y));
                        check(a.smaller_or_nan(*b), -larger(-x, -y));
                    }
                }
            }
            for &x in of_a {
                check(a.negated(), -x);
                check(a.absolute(), x.abs());
                check(a.square_root(), flush(x).sqrt());
                check(a.power(), x.exp2());
                if let Some((low, high)) = a.bits(Format::Single) {
                    assert!((low..=high).contains(&u64::from(x.to_bits())), "{x:e} in {a:?}");
                }
            }
        }
    }

    #[test]
    fn comparisons_are_among_the_relations() {
        let all = intervals(&NUMBERS);
        for ((a, of_a), (b, of_b)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let relations = a.relations(*b);
            for (x, y) in of_a.iter().flat_map(|&x| of_b.iter().map(move |&y| (x, y))) {
                for (x, y) in [(x, y), (flush(x), flush(y))] {
                    let relation = match x.partial_cmp(&y) {
                        None => UNORDERED,
                        Some(Ordering::Less) => LESS,
                        Some(Ordering::Equal) => EQUAL,
                        Some(Ordering::Greater) => GREATER,
                    };
                    assert!(relations & relation != 0, "{x:e} and {y:e}: {a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn fused_products_are_in_their_intervals() {
        let all = intervals(&[f32::NEG_INFINITY, f32::MIN, -1.0, -1e-40, 0.0, 0.3, 3.0, 1e38, f32::INFINITY]);
        for ((a, of_a), (b, of_b)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            for (c, of_c) in all.iter().step_by(5) {
                let fused = a.times(*b).plus(*c).rounded();
                let either = a.times(*b).rounded().plus(*c).rounded();
                let corners = |of: &[f32]| [of[0], of[of.len() / 2], of[of.len() - 1]];
                for (x, y) in corners(of_a).into_iter().flat_map(|x| corners(of_b).map(|y| (x, y))) {
                    for z in corners(of_c) {
                        check(fused, x.mul_add(y, z));
                        check(either, x.mul_add(y, z));
                        check(either, x * y + z);
                    }
                }
            }
        }
    }
}
