//! What the text of a number literal stands for.
//!
//! Underscores may separate digits. Integers are exact up to 128 bits without sign; floats are rounded to the nearest
//! double, and a float out of range is infinite, as in Python. Example: `0x_FF` is 255, `1_000e-3` is 1.0.

/// Why an integer literal has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntError {
    /// Over `2**128 - 1`.
    TooLarge,
    /// `0777`: a decimal number other than zero cannot start with zero.
    LeadingZero,
}

/// The value of an integer literal as the lexer matched it.
///
/// # Errors
/// Fails if the value does not fit 128 bits, or if a decimal number starts with a zero.
pub fn int(text: &str) -> Result<u128, IntError> {
    let b = text.as_bytes();
    let (radix, digits) = match b.get(1).map(u8::to_ascii_lowercase) {
        Some(b'x') => (16, &b[2..]),
        Some(b'o') => (8, &b[2..]),
        Some(b'b') => (2, &b[2..]),
        _ => (10, b),
    };
    let mut value = 0u128;
    for &d in digits.iter().filter(|&&d| d != b'_') {
        let digit = (d as char).to_digit(radix).unwrap_or(0);
        value = value
            .checked_mul(u128::from(radix))
            .and_then(|v| v.checked_add(u128::from(digit)))
            .ok_or(IntError::TooLarge)?;
    }
    if radix == 10 && b.len() > 1 && b[0] == b'0' && value != 0 { Err(IntError::LeadingZero) } else { Ok(value) }
}

/// The value of a float literal, without a trailing `j`.
#[must_use]
pub fn float(text: &str) -> f64 {
    if text.contains('_') { text.replace('_', "").parse() } else { text.parse() }.unwrap_or(f64::INFINITY)
}
