//! Arithmetic of integers (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic
//! Instructions").
//!
//! Results wrap in the width of their type unless `.sat` clamps them. Where the PTX ISA leaves a result open (division
//! by zero), it is what the GPU gives: every bit is set, for quotients and remainders alike.
//!
//! Example: `mad.wide.u32` of 0xffffffff, 2 and 1 is the 64-bit 0x1ffffffff.

use super::types::{Flags, Type, limits, mask, signed};

/// A result that is exact, in the width of its type.
fn wrap(ty: Type, value: i128, flags: Flags) -> u64 {
    let (low, high) = limits(ty);
    (if flags.sat { value.clamp(low, high) } else { value }) as u64 & ty.mask()
}

/// `add`
#[must_use]
pub fn add(ty: Type, a: u64, b: u64, flags: Flags) -> u64 {
    wrap(ty, ty.integer(a) + ty.integer(b), flags)
}

/// `sub`
#[must_use]
pub fn sub(ty: Type, a: u64, b: u64, flags: Flags) -> u64 {
    wrap(ty, ty.integer(a) - ty.integer(b), flags)
}

/// `mul.lo`
#[must_use]
pub fn mul_lo(ty: Type, a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & ty.mask()
}

/// The product of two values of up to 64 bits. The product of two unsigned ones may not fit an `i128`, but wraps to the
/// right bits.
fn product(ty: Type, a: u64, b: u64) -> u128 {
    ty.integer(a).wrapping_mul(ty.integer(b)) as u128
}

/// `mul.hi`
#[must_use]
pub fn mul_hi(ty: Type, a: u64, b: u64) -> u64 {
    (product(ty, a, b) >> ty.bits()) as u64 & ty.mask()
}

/// `mul.wide`: the result has twice the bits.
#[must_use]
pub fn mul_wide(ty: Type, a: u64, b: u64) -> u64 {
    product(ty, a, b) as u64 & mask(2 * ty.bits())
}

/// `mad.lo`
#[must_use]
pub fn mad_lo(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    a.wrapping_mul(b).wrapping_add(c) & ty.mask()
}

/// `mad.hi`, whose `.sat` clamps the sum.
#[must_use]
pub fn mad_hi(ty: Type, a: u64, b: u64, c: u64, flags: Flags) -> u64 {
    add(ty, mul_hi(ty, a, b), c, flags)
}

/// `mad.wide`: `c` and the result have twice the bits.
#[must_use]
pub fn mad_wide(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    mul_wide(ty, a, b).wrapping_add(c) & mask(2 * ty.bits())
}

/// The low 24 bits of a value, with their sign.
fn low24(ty: Type, value: u64) -> i128 {
    if ty.is_signed() { i128::from(signed(value, 24)) } else { i128::from(value & 0xff_ffff) }
}

/// `mul24.lo`: the low 32 bits of a product of 24-bit values.
#[must_use]
pub fn mul24_lo(ty: Type, a: u64, b: u64) -> u64 {
    (low24(ty, a) * low24(ty, b)) as u64 & ty.mask()
}

/// `mul24.hi`: bits 16 to 47 of a product of 24-bit values.
#[must_use]
pub fn mul24_hi(ty: Type, a: u64, b: u64) -> u64 {
    ((low24(ty, a) * low24(ty, b)) >> 16) as u64 & ty.mask()
}

/// `mad24.lo`
#[must_use]
pub fn mad24_lo(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    mul24_lo(ty, a, b).wrapping_add(c) & ty.mask()
}

/// `mad24.hi`, whose `.sat` clamps the sum.
#[must_use]
pub fn mad24_hi(ty: Type, a: u64, b: u64, c: u64, flags: Flags) -> u64 {
    add(ty, mul24_hi(ty, a, b), c, flags)
}

/// `sad`: `|a − b| + c`.
#[must_use]
pub fn sad(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    (ty.integer(a) - ty.integer(b)).unsigned_abs().wrapping_add(u128::from(c)) as u64 & ty.mask()
}

/// `div`, towards zero. The lowest value divided by −1 is itself.
#[must_use]
pub fn div(ty: Type, a: u64, b: u64) -> u64 {
    match ty.integer(b) {
        0 => ty.mask(),
        divisor => (ty.integer(a) / divisor) as u64 & ty.mask(),
    }
}

/// `rem`, with the sign of the dividend.
#[must_use]
pub fn rem(ty: Type, a: u64, b: u64) -> u64 {
    match ty.integer(b) {
        0 => ty.mask(),
        divisor => (ty.integer(a) % divisor) as u64 & ty.mask(),
    }
}

/// `abs`. The lowest value is its own magnitude.
#[must_use]
pub fn abs(ty: Type, a: u64) -> u64 {
    ty.integer(a).unsigned_abs() as u64 & ty.mask()
}

/// `neg`
#[must_use]
pub fn neg(ty: Type, a: u64) -> u64 {
    a.wrapping_neg() & ty.mask()
}

/// `min` and `max` of one element. With `.relu` what is negative becomes 0.
pub(crate) fn extreme(ty: Type, a: u64, b: u64, flags: Flags, larger: bool) -> u64 {
    let (x, y) = (ty.integer(a), ty.integer(b));
    let picked = if larger { x.max(y) } else { x.min(y) };
    (if flags.relu { picked.max(0) } else { picked }) as u64 & ty.mask()
}

/// `add.cc` and `addc`: the sum with a carry, and the carry out.
#[must_use]
pub fn add_carry(ty: Type, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = u128::from(a & ty.mask()) + u128::from(b & ty.mask()) + u128::from(carry);
    (sum as u64 & ty.mask(), sum >> ty.bits() != 0)
}

/// `sub.cc` and `subc`: the difference less a borrow, and the borrow out. PTX keeps the borrow in the carry flag.
#[must_use]
pub fn sub_borrow(ty: Type, a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (a, b) = (u128::from(a & ty.mask()), u128::from(b & ty.mask()) + u128::from(borrow));
    (a.wrapping_sub(b) as u64 & ty.mask(), a < b)
}

/// `mad.lo.cc`, `madc.lo`, `mad.hi.cc` and `madc.hi`: the low or the high half of a product, plus `c` and a carry.
#[must_use]
pub fn mad_carry(ty: Type, high: bool, [a, b, c]: [u64; 3], carry: bool) -> (u64, bool) {
    let half = if high { mul_hi(ty, a, b) } else { mul_lo(ty, a, b) };
    add_carry(ty, half, c, carry)
}

/// The element of a 32-bit register of four bytes or two halves, with the sign of `is_signed`.
fn part(value: u64, width: u32, index: u32, is_signed: bool) -> i64 {
    let bits = value >> (index * width) & mask(width);
    if is_signed { signed(bits, width) } else { bits as i64 }
}

/// `dp4a`: the sum of four products of bytes, plus `c`. Each operand is signed or not by its own type.
#[must_use]
pub fn dp4a(a_type: Type, b_type: Type, a: u64, b: u64, c: u64) -> u64 {
    let products = (0..4).map(|i| part(a, 8, i, a_type.is_signed()) * part(b, 8, i, b_type.is_signed()));
    (products.sum::<i64>() as u64).wrapping_add(c) & mask(32)
}

/// `dp2a`: the sum of two products of a half of `a` and a byte of `b`, plus `c`. `.hi` takes the upper bytes of `b`.
#[must_use]
pub fn dp2a(a_type: Type, b_type: Type, high: bool, [a, b, c]: [u64; 3]) -> u64 {
    let first = if high { 2 } else { 0 };
    let products = (0..2).map(|i| part(a, 16, i, a_type.is_signed()) * part(b, 8, first + i, b_type.is_signed()));
    (products.sum::<i64>() as u64).wrapping_add(c) & mask(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags =
        Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };

    #[test]
    fn products_of_all_widths() {
        assert_eq!(mul_hi(Type::U64, u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(mul_hi(Type::S64, u64::MAX, 1), u64::MAX);
        assert_eq!(mul_wide(Type::S32, 0xffff_ffff, 2), (-2i64) as u64);
        assert_eq!(mul_wide(Type::U16, 0xffff, 0xffff), 0xfffe_0001);
        assert_eq!(mad_wide(Type::U32, 0xffff_ffff, 2, 1), 0x1_ffff_ffff);
        assert_eq!(mul24_lo(Type::S32, 0x80_0000, 2), 0xff00_0000);
        assert_eq!(mul24_hi(Type::U32, 0xff_ffff, 0xff_ffff), 0xffff_fe00);
    }

    #[test]
    fn eight_bit_arithmetic_agrees_with_the_processor() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let (x, y) = (u64::from(a), u64::from(b));
                let (p, q) = (a as i8, b as i8);
                assert_eq!(add(Type::U8, x, y, PLAIN), u64::from(a.wrapping_add(b)));
                assert_eq!(add(Type::S8, x, y, Flags { sat: true, ..PLAIN }), u64::from(p.saturating_add(q) as u8));
                assert_eq!(sub(Type::U8, x, y, Flags { sat: true, ..PLAIN }), u64::from(a.saturating_sub(b)));
                let quotients = (a.checked_div(b), a.checked_rem(b));
                assert_eq!(mul_hi(Type::S8, x, y), u64::from(((i16::from(p) * i16::from(q)) >> 8) as u8));
                if b != 0 {
                    assert_eq!(div(Type::S8, x, y), u64::from(p.wrapping_div(q) as u8));
                    assert_eq!(rem(Type::S8, x, y), u64::from(p.wrapping_rem(q) as u8));
                }
                let expected = (quotients.0.unwrap_or(255), quotients.1.unwrap_or(255));
                assert_eq!((div(Type::U8, x, y), rem(Type::U8, x, y)), (expected.0.into(), expected.1.into()));
                assert_eq!(extreme(Type::S8, x, y, PLAIN, true), u64::from(p.max(q) as u8));
                assert_eq!(sad(Type::S8, x, y, 7), u64::from(p.abs_diff(q).wrapping_add(7)));
            }
            assert_eq!(abs(Type::S8, u64::from(a)), u64::from((a as i8).wrapping_abs() as u8));
        }
    }

    #[test]
    fn carries_chain() {
        let (low, carry) = add_carry(Type::U32, 0xffff_ffff, 1, false);
        assert_eq!((low, carry), (0, true));
        assert_eq!(add_carry(Type::U32, 0, 0, carry), (1, false));
        assert_eq!(sub_borrow(Type::U32, 0, 1, false), (0xffff_ffff, true));
        assert_eq!(sub_borrow(Type::U64, 5, 4, true), (0, false));
        assert_eq!(mad_carry(Type::U32, true, [0x8000_0000, 4, 0xffff_ffff], false), (1, true));
    }

    #[test]
    fn products_of_parts() {
        assert_eq!(dp4a(Type::S32, Type::U32, 0xff01_ff01, 0x0203_0405, 10), (10 - 2 + 3 - 4 + 5) as u64);
        assert_eq!(dp2a(Type::U32, Type::S32, true, [0x0001_0002, 0xff03_0000, 0]), (6 - 1) as u64);
    }

    #[test]
    fn min_with_relu() {
        assert_eq!(extreme(Type::S32, 0xffff_fff0, 5, Flags { relu: true, ..PLAIN }, false), 0);
    }
}
