//! Floats as decimal text, the way MLIR writes them.
//!
//! 1. Infinities and NaNs are written as the hexadecimal form of their bits: `0xFF800000`.
//! 2. Other numbers are written with six significant digits in scientific form (`1.000000e+00`), if these read back to
//!    the same bits.
//! 3. Otherwise they get as many digits as the format needs (9 for f32), without exponent where at most three zeros
//!    fill up: `1.44269502`.
//!
//! The digits must equal LLVM's to the last one, so they are computed like there: the value is taken as an integer
//! times a power of ten, cut to about the wanted number of digits, and then rounded half up. Example: bf16 1.015625 has
//! seven digits; six of them, rounded up, are `1.015630e+00`.

use crate::ir::core::FloatKind;

/// The text of a float that is given by its bits.
#[must_use]
pub fn float_text(bits: u64, kind: FloatKind) -> String {
    let value = kind.to_f64(bits);
    if !value.is_finite() {
        return format!("0x{bits:X}");
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value == 0.0 {
        return format!("{sign}0.000000e+00");
    }
    let six = format!("{sign}{}", scientific(&Decimal::of(value.abs(), 6), true));
    if parse_float(&six, kind) == Some(bits) {
        return six;
    }
    let precision = 2 + (kind.mantissa_bits() as usize + 1) * 59 / 196;
    let text = plain(&Decimal::of(value.abs(), precision), precision);
    if text.contains('.') { format!("{sign}{text}") } else { format!("0x{bits:X}") }
}

/// The bits of a decimal literal in a format.
#[must_use]
pub fn parse_float(text: &str, kind: FloatKind) -> Option<u64> {
    match kind {
        FloatKind::F32 => text.parse::<f32>().ok().map(|v| u64::from(v.to_bits())),
        _ => text.parse::<f64>().ok().map(|v| kind.from_f64(v)),
    }
}

/// The number `0.digits` without the point: digits from the most significant one on, times ten to the `exp` of the last
/// one.
struct Decimal {
    digits: Vec<u8>,
    exp: i32,
}

impl Decimal {
    /// A positive finite value with at most `precision` digits and no trailing zeros.
    fn of(value: f64, precision: usize) -> Decimal {
        let raw = value.to_bits();
        let (biased, frac) = ((raw >> 52) as i32, raw & ((1 << 52) - 1));
        let (mut significand, mut exp2) = if biased == 0 { (frac, -1074) } else { (frac | 1 << 52, biased - 1075) };
        let zeros = significand.trailing_zeros();
        significand >>= zeros;
        exp2 += zeros as i32;
        let mut n = Big::from(significand);
        let mut exp = 0;
        if exp2 >= 0 {
            (0..exp2).for_each(|_| n.mul(2));
        } else {
            // This uses N · 2^-e = N · 5^e · 10^-e.
            (0..-exp2).for_each(|_| n.mul(5));
            exp = exp2;
        }
        // Digits that are surely not needed are cut. 196/59 is slightly more than the bits of a decimal digit.
        let (bits, required) = (n.bits(), (precision * 196).div_ceil(59));
        let removable = bits.saturating_sub(required) * 59 / 196;
        (0..removable).for_each(|_| {
            n.div10();
        });
        exp += removable as i32;
        let mut reversed = vec![];
        while !n.is_zero() {
            reversed.push(n.div10());
        }
        let mut d = Decimal { digits: reversed.into_iter().rev().collect(), exp };
        d.drop_zeros();
        d.round(precision);
        d
    }

    fn drop_zeros(&mut self) {
        while self.digits.len() > 1 && self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exp += 1;
        }
    }

    /// Rounds half up to `precision` digits.
    fn round(&mut self, precision: usize) {
        if self.digits.len() <= precision {
            return;
        }
        let up = self.digits[precision] >= 5;
        self.exp += (self.digits.len() - precision) as i32;
        self.digits.truncate(precision);
        if up {
            let nines = self.digits.iter().rev().take_while(|&&d| d == 9).count();
            self.digits.truncate(precision - nines);
            self.exp += nines as i32;
            match self.digits.last_mut() {
                Some(d) => *d += 1,
                None => self.digits.push(1),
            }
        }
        self.drop_zeros();
    }

    /// The digits `range` as text.
    fn text(&self, range: std::ops::Range<usize>) -> String {
        self.digits[range].iter().map(|&d| char::from(b'0' + d)).collect()
    }
}

/// Writes `d.ddde±x`. A padded text has at least six digits after the point, two of the exponent, and a small `e`.
fn scientific(d: &Decimal, padded: bool) -> String {
    let n = d.digits.len();
    let exp = d.exp + n as i32 - 1;
    let sign = if exp < 0 { '-' } else { '+' };
    let mut fraction = d.text(1..n);
    if padded {
        while fraction.len() < 6 {
            fraction.push('0');
        }
        return format!("{}.{fraction}e{sign}{:02}", d.digits[0], exp.abs());
    }
    if fraction.is_empty() {
        fraction.push('0');
    }
    format!("{}.{fraction}E{sign}{}", d.digits[0], exp.abs())
}

/// Writes the digits without an exponent, where at most three zeros have to be filled in.
fn plain(d: &Decimal, precision: usize) -> String {
    const MAX_PADDING: i32 = 3;
    let n = d.digits.len();
    if d.exp >= 0 {
        if d.exp > MAX_PADDING || n + d.exp as usize > precision {
            return scientific(d, false);
        }
        return d.text(0..n) + &"0".repeat(d.exp as usize);
    }
    let top = d.exp + n as i32 - 1;
    if top < -MAX_PADDING {
        return scientific(d, false);
    }
    let whole = d.exp + n as i32;
    if whole > 0 {
        format!("{}.{}", d.text(0..whole as usize), d.text(whole as usize..n))
    } else {
        format!("0.{}{}", "0".repeat(whole.unsigned_abs() as usize), d.text(0..n))
    }
}

/// A natural number of any size, with its least significant limb first.
struct Big(Vec<u32>);

impl Big {
    fn from(v: u64) -> Big {
        Big(vec![v as u32, (v >> 32) as u32])
    }

    fn mul(&mut self, by: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(by);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides by ten and gives the remainder.
    fn div10(&mut self) -> u8 {
        let mut rest = 0u64;
        for limb in self.0.iter_mut().rev() {
            let v = rest << 32 | u64::from(*limb);
            *limb = (v / 10) as u32;
            rest = v % 10;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest as u8
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|&l| l == 0)
    }

    fn bits(&self) -> usize {
        let top = self.0.iter().rposition(|&l| l != 0);
        top.map_or(0, |i| i * 32 + (32 - self.0[i].leading_zeros() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(v: f64, kind: FloatKind) -> String {
        float_text(kind.from_f64(v), kind)
    }

    #[test]
    fn short_values_are_scientific() {
        for (v, want) in [
            (1.0, "1.000000e+00"),
            (-0.5, "-5.000000e-01"),
            (0.0, "0.000000e+00"),
            (-0.0, "-0.000000e+00"),
            (65504.0, "6.550400e+04"),
        ] {
            assert_eq!(text(v, FloatKind::F32), want);
        }
    }

    #[test]
    fn long_values_keep_all_digits() {
        for (v, want) in [
            (std::f64::consts::LOG2_E, "1.44269502"),
            (1.0 / 3.0, "0.333333343"),
            (1e-5 / 3.0, "3.33333332E-6"),
            (1234.5677, "1234.56775"),
        ] {
            assert_eq!(text(v, FloatKind::F32), want);
        }
        // A whole number that needs more than six digits has no point, and MLIR then shows its bits.
        assert_eq!(text(123_456_792.0, FloatKind::F32), "0x4CEB79A3");
    }

    #[test]
    fn a_tie_in_the_last_digit_is_rounded_up() {
        assert_eq!(text(1.015_625, FloatKind::BF16), "1.015630e+00");
    }

    #[test]
    fn special_values_are_hexadecimal() {
        assert_eq!(text(f64::NEG_INFINITY, FloatKind::F32), "0xFF800000");
        assert_eq!(text(f64::INFINITY, FloatKind::F16), "0x7C00");
        assert_eq!(text(f64::NAN, FloatKind::BF16), "0x7FC0");
    }

    #[test]
    fn text_reads_back_to_the_same_bits() {
        for kind in FloatKind::ALL.into_iter().filter(|k| k.bits() <= 16) {
            for bits in 0..1u64 << kind.bits() {
                if kind.to_f64(bits).is_finite() {
                    let text = float_text(bits, kind);
                    assert_eq!(
                        parse_float(&text, kind).or_else(|| u64::from_str_radix(&text[2..], 16).ok()),
                        Some(bits),
                        "{text} {}",
                        kind.name()
                    );
                }
            }
        }
    }
}
