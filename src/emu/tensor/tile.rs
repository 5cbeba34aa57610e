//! Products of tiles of floats: what [`super::accumulate`] describes, for a row and eight columns at once.
//!
//! Everything is exact in f64, so that the result is the same bit for bit:
//! 1. [`Floats`] decodes an operand once: values in f64, and the exponents that the model compares.
//! 2. The largest exponent of a block, and with it the lowest place that is kept, is found for each column.
//! 3. A product has at most 22 bits, and its multiple by a power of two is exact. Conversion to an integer drops what
//!    lies below the lowest place. At most 27 bits are left, so eight products fit 32 bits.
//! 4. The sum fits 33 bits, and is exact in f64 again. Its rounding to f32 towards zero drops bits.
//!
//! A line that holds a number that is not finite, an accumulator that is none, and a result that is no normal number
//! take the way of [`multiply_add`].
//!
//! Example: with 25 places, 1.5 · 2^-26 beside 1 becomes trunc(1.5 · 2^-26 · 2^25) = 0, and 1.5 · 2^-25 becomes 1 of
//! 2^-25.

use super::accumulate::{Factor, Formats, Model, multiply_add};
use crate::emu::num::Rounding;
use ttc_float::FloatKind;

/// Lines that are side by side.
pub(super) const SIDE: usize = 8;

/// The exponent of zero: below any sum of two exponents, and so is its sum with any exponent.
const NOTHING: i32 = -20_000;

/// The elements at one place along K of eight lines.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Place {
    values: [f64; SIDE],
    /// Of the implicit one; [`NOTHING`] for zero.
    exponents: [i32; SIDE],
    patterns: [u32; SIDE],
}

/// Lines of an operand along K: rows of A or columns of B, in groups of eight.
#[derive(Clone, PartialEq, Debug)]
pub struct Floats {
    kind: FloatKind,
    k: usize,
    /// Place `p` of group `g` is number `g · k + p`.
    places: Vec<Place>,
    /// For each group, whether any line holds a number that is not finite.
    special: Vec<bool>,
}

impl Floats {
    /// Lines of zeros. Their number is a multiple of eight.
    pub(super) fn new(kind: FloatKind, lines: usize, k: usize) -> Floats {
        let groups = lines / SIDE;
        Floats { kind, k, places: vec![Place::default(); groups * k], special: vec![false; groups] }
    }

    /// Sets the pattern of an element. [`Floats::decode`] comes after all of them.
    #[inline]
    pub(super) fn set(&mut self, line: usize, place: usize, pattern: u64) {
        self.places[line / SIDE * self.k + place].patterns[line % SIDE] = pattern as u32;
    }

    /// Decodes the patterns. With `negate`, the numbers have the other sign.
    pub(super) fn decode(mut self, negate: bool) -> Floats {
        let decode = Decode::new(self.kind);
        for (group, special) in self.places.chunks_mut(self.k.max(1)).zip(&mut self.special) {
            for place in group {
                if negate {
                    place.patterns.iter_mut().for_each(|p| *p ^= decode.sign);
                }
                *special |= decode.place(place);
            }
        }
        self
    }

    fn group(&self, group: usize) -> &[Place] {
        &self.places[group * self.k..][..self.k]
    }
}

/// How the patterns of a format are read.
struct Decode {
    sign: u32,
    /// The bits of the magnitude.
    magnitude: u32,
    /// Where the exponent starts, and its bias.
    mantissa: u32,
    bias: i32,
    /// Magnitudes from here on are no finite numbers.
    end: u32,
    /// What shifts a magnitude so that its exponent is at the place of f64's, and corrects the bias.
    up: u32,
    scale: f64,
}

impl Decode {
    fn new(kind: FloatKind) -> Decode {
        let format = kind.format();
        // The pattern of tf32 is one of f32, of which the low bits are not read.
        let unused = if kind == FloatKind::TF32 { 13 } else { 0 };
        let width = format.exponent + format.mantissa;
        let end = match kind {
            FloatKind::F8E4M3FN => 0x7f,
            _ => ((1 << format.exponent) - 1) << (format.mantissa + unused),
        };
        Decode {
            sign: 1 << (width + unused),
            magnitude: ((1 << width) - 1) << unused,
            mantissa: format.mantissa + unused,
            bias: format.bias,
            end,
            up: 52 - format.mantissa - unused,
            scale: f64::from_bits((2046 - format.bias as u64) << 52),
        }
    }

    /// Decodes a place, and says whether it holds a number that is not finite. The value of such a number is 0.
    #[inline]
    fn place(&self, place: &mut Place) -> bool {
        let mut special = false;
        for i in 0..SIDE {
            let pattern = place.patterns[i];
            let magnitude = pattern & self.magnitude;
            let is_special = magnitude >= self.end;
            special |= is_special;
            // A subnormal number of the format is one of f64 here, and the product with the scale is exact.
            let value = f64::from_bits(u64::from(magnitude) << self.up) * self.scale;
            let signed = if pattern & self.sign != 0 { -value } else { value };
            let is_nothing = is_special || magnitude == 0;
            place.values[i] = if is_nothing { 0.0 } else { signed };
            let exponent = ((magnitude >> self.mantissa) as i32).max(1) - self.bias;
            place.exponents[i] = if is_nothing { NOTHING } else { exponent };
        }
        special
    }
}

/// Adds the products of a row with the eight columns of a group to the accumulators.
pub(super) fn multiply_add_row(
    formats: Formats,
    model: Model,
    (left, row): (&Floats, usize),
    (right, group): (&Floats, usize),
    sums: &mut [u64; SIDE],
) {
    let lane = row % SIDE;
    let is_special = left.special[row / SIDE] || right.special[group];
    let blocks = left.group(row / SIDE).chunks(model.block).zip(right.group(group).chunks(model.block));
    for (x, y) in blocks {
        if let (false, Some(results)) = (is_special, block(formats, model, (x, lane), y, sums)) {
            *sums = results;
            continue;
        }
        let factors = |places: &[Place], kind, i: usize| -> Vec<Factor> {
            places.iter().map(|p| Factor::new(kind, u64::from(p.patterns[i]))).collect()
        };
        let factors_of_row = factors(x, left.kind, lane);
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = multiply_add(formats, model, &factors_of_row, &factors(y, right.kind, i), *sum);
        }
    }
}

/// The value of an accumulator, and its exponent as in [`Place`]; `None` if it is not finite.
#[inline]
fn start(kind: FloatKind, bits: u64) -> Option<(f64, i32)> {
    let (value, mantissa, bias, top) = match kind {
        FloatKind::F16 => {
            let value = f64::from_bits((bits & 0x7fff) << 42) * f64::from_bits((2046 - 15) << 52);
            (if bits & 0x8000 != 0 { -value } else { value }, 10, 15, 0x1f)
        }
        _ => (f64::from(f32::from_bits(bits as u32)), 23, 127, 0xff),
    };
    let exponent = (bits >> mantissa & top) as i32;
    let is_finite = exponent as u64 != top;
    is_finite.then_some((value, if value == 0.0 { NOTHING } else { exponent.max(1) - bias }))
}

/// The accumulators after a block of finite numbers. `None` if an accumulator is not finite, or if a result is no
/// normal number and not zero.
#[inline]
fn block(
    formats: Formats,
    model: Model,
    (left, lane): (&[Place], usize),
    right: &[Place],
    sums: &[u64; SIDE],
) -> Option<[u64; SIDE]> {
    let mut starts = [0.0; SIDE];
    let mut largest = [NOTHING; SIDE];
    for i in 0..SIDE {
        (starts[i], largest[i]) = start(formats.sum, sums[i])?;
    }
    for (x, y) in left.iter().zip(right) {
        let exponent = x.exponents[lane];
        for (largest, of_y) in largest.iter_mut().zip(&y.exponents) {
            *largest = (*largest).max(exponent + of_y);
        }
    }
    // 2^-lowest; 0 where all is zero.
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    let scales = largest.map(|l| if l < NOTHING / 2 { 0.0 } else { power(model.fraction - l) });
    // SAFETY: what is converted is finite and below 2^27. The scale of a column is 0, or at most 2^(25 - e) for the
    // exponent e of any product or accumulator of the column, whose significand is below 4.
    let whole = |x: f64| unsafe { x.to_int_unchecked::<i32>() };
    let mut totals: [f64; SIDE] = std::array::from_fn(|i| f64::from(whole(starts[i] * scales[i])));
    for (left, right) in left.chunks(SIDE).zip(right.chunks(SIDE)) {
        let mut sums = [0i32; SIDE];
        for (x, y) in left.iter().zip(right) {
            let value = x.values[lane];
            for i in 0..SIDE {
                sums[i] += whole(value * y.values[i] * scales[i]);
            }
        }
        for i in 0..SIDE {
            totals[i] += f64::from(sums[i]);
        }
    }
    let mut results = [0; SIDE];
    for i in 0..SIDE {
        if totals[i] != 0.0 {
            results[i] = round(formats.sum, model, totals[i] * power(largest[i] - model.fraction))?;
        }
    }
    Some(results)
}

/// Rounds a sum that is not zero.
#[inline]
fn round(kind: FloatKind, model: Model, value: f64) -> Option<u64> {
    if kind == FloatKind::F16 {
        return (model.rounding == Rounding::Nearest).then(|| FloatKind::F16.from_f64(value));
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    if kind != FloatKind::F32 || model.rounding != Rounding::Zero || !(-126..128).contains(&exponent) {
        return None;
    }
    let dropped = 23u32.saturating_sub(model.places);
    let magnitude = ((exponent + 127) as u64) << 23 | (bits >> 29 & 0x7f_ffff);
    Some((bits >> 63) << 31 | magnitude >> dropped << dropped)
}

/// Lines of 8-bit integers along K, as [`Floats`] are laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Integers {
    k: usize,
    places: Vec<[i32; SIDE]>,
}

impl Integers {
    /// Lines of zeros. Their number is a multiple of eight.
    pub(super) fn new(lines: usize, k: usize) -> Integers {
        Integers { k, places: vec![[0; SIDE]; lines / SIDE * k] }
    }

    #[inline]
    pub(super) fn set(&mut self, line: usize, place: usize, value: i32) {
        self.places[line / SIDE * self.k + place][line % SIDE] = value;
    }
}

/// [`multiply_add_row`] for integers, which [`super::accumulate`] describes too. With `saturate` sums are clamped to 32
/// bits with a sign.
pub(super) fn multiply_add_integers(
    (left, row): (&Integers, usize),
    (right, group): (&Integers, usize),
    saturate: bool,
    sums: &mut [u64; SIDE],
) {
    let (lefts, rights) = (&left.places[row / SIDE * left.k..], &right.places[group * right.k..]);
    // 32 products of 8 bits by 8 bits fit.
    let mut products = [0i32; SIDE];
    for (x, y) in lefts[..left.k].iter().zip(&rights[..right.k]) {
        let value = x[row % SIDE];
        for i in 0..SIDE {
            products[i] += value * y[i];
        }
    }
    for i in 0..SIDE {
        let total = i64::from(sums[i] as u32 as i32) + i64::from(products[i]);
        let clamped = if saturate { total.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) } else { total };
        sums[i] = u64::from(clamped as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::super::accumulate::model;
    use super::*;
    use crate::emu::num::Type;

    /// Patterns that lie far apart and near each other, and some that are no finite numbers.
    fn pattern(state: &mut u64, kind: FloatKind, mode: u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = *state >> 20 ^ *state >> 43;
        let width = if kind == FloatKind::TF32 { 32 } else { u64::from(kind.bits()) };
        let any = x & ((1 << width) - 1);
        match (mode, x >> 38 & 0xf) {
            (0, _) => any,
            (_, 0) => 0,
            (_, 1) => 1 << (width - 1),
            (1, n) => {
                kind.from_f64((n as f64 - 8.0) * if x >> 36 & 1 == 0 { 0.25 } else { 1.5 })
                    << if kind == FloatKind::TF32 { 13 } else { 0 }
            }
            (_, _) => any & !(1 << (width - 2)) | (x >> 37 & 1) << (width - 2),
        }
    }

    /// The fast way and the long way agree on every bit.
    #[test]
    fn tiles_agree_with_single_sums() {
        let (mut state, mut compared) = (1, 0);
        let kinds = [Type::F16, Type::BF16, Type::TF32, Type::E4M3, Type::E5M2];
        for round in 0..3000 {
            let (ty, mode) = (kinds[round % 5], (round / 5 % 4) as u64);
            let kind = ty.float().unwrap();
            let sum = if round % 3 == 0 && ty != Type::BF16 && ty != Type::TF32 { Type::F16 } else { Type::F32 };
            let sum_kind = sum.float().unwrap();
            let model = model(ty, sum, round % 2 == 0);
            let formats = Formats { left: kind, right: kind, sum: sum_kind };
            let k = [8, 16, 32][round / 7 % 3];
            let (mut left, mut right) = (Floats::new(kind, 8, k), Floats::new(kind, 8, k));
            for line in 0..8 {
                for place in 0..k {
                    left.set(line, place, pattern(&mut state, kind, mode));
                    right.set(line, place, pattern(&mut state, kind, mode));
                }
            }
            let negate = round % 11 == 0;
            let (left, right) = (left.decode(negate), right.decode(false));
            let starts: [u64; SIDE] = std::array::from_fn(|_| pattern(&mut state, sum_kind, mode));
            let mut sums = starts;
            multiply_add_row(formats, model, (&left, 3), (&right, 0), &mut sums);
            let line = |f: &Floats, i: usize| -> Vec<Factor> {
                f.places.iter().map(|p| Factor::new(kind, u64::from(p.patterns[i]))).collect()
            };
            for i in 0..SIDE {
                let want = multiply_add(formats, model, &line(&left, 3), &line(&right, i), starts[i]);
                assert_eq!(sums[i], want, "{ty:?} {sum:?} k {k} mode {mode} round {round}, {:#x}", starts[i]);
                compared += usize::from(!left.special[0] && !right.special[0]);
            }
        }
        assert!(compared > 8000, "{compared} sums took the fast way");
    }

    #[test]
    fn integers_wrap_or_are_clamped() {
        let mut ones = Integers::new(8, 4);
        (0..4).for_each(|place| (0..8).for_each(|line| ones.set(line, place, 127)));
        let sum = |saturate| {
            let mut sums = [0x7fff_ffff; SIDE];
            multiply_add_integers((&ones, 3), (&ones, 0), saturate, &mut sums);
            sums[5]
        };
        assert_eq!(sum(true), 0x7fff_ffff);
        assert_eq!(sum(false), 0x8000_0000 + 4 * 127 * 127 - 1);
    }
}
