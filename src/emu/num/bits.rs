//! Bits of integers: shifts, fields, counts and permutations (PTX ISA, "Integer Arithmetic Instructions", "Logic and
//! Shift Instructions", "Data Movement and Conversion Instructions: prmt").
//!
//! Example: `prmt.b32` of 0x33221100, 0x77665544 and the selector 0x7531 takes every other byte: 0x77553311.

use super::types::{Type, mask, signed};

/// `shl`. Amounts past the width give 0.
#[must_use]
pub fn shl(ty: Type, a: u64, amount: u64) -> u64 {
    let amount = amount as u32;
    if amount >= ty.bits() { 0 } else { a << amount & ty.mask() }
}

/// `shr`. Amounts past the width leave the sign of a signed type, and else 0.
#[must_use]
pub fn shr(ty: Type, a: u64, amount: u64) -> u64 {
    let amount = u64::from(amount as u32).min(127) as u32;
    (ty.integer(a) >> amount) as u64 & ty.mask()
}

/// How `shf`, `bmsk` and `szext` take an amount above 31.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Amount {
    /// `.clamp`
    Clamp,
    /// `.wrap`: its low five bits.
    Wrap,
}

impl Amount {
    fn of(self, amount: u64, most: u32) -> u32 {
        match self {
            Amount::Clamp => u64::from(amount as u32).min(u64::from(most)) as u32,
            Amount::Wrap => amount as u32 & 31,
        }
    }
}

/// `shf.l`: the high word of the pair `high:low` shifted left.
#[must_use]
pub fn shf_left(low: u64, high: u64, amount: u64, mode: Amount) -> u64 {
    let pair = (high & mask(32)) << 32 | low & mask(32);
    pair << mode.of(amount, 32) >> 32
}

/// `shf.r`: the low word of the pair `high:low` shifted right.
#[must_use]
pub fn shf_right(low: u64, high: u64, amount: u64, mode: Amount) -> u64 {
    let pair = (high & mask(32)) << 32 | low & mask(32);
    pair >> mode.of(amount, 32) & mask(32)
}

/// The length of a field. The PTX ISA allows 0 to 255; hardware takes 8 bits of a longer one where the operand has 32
/// bits, and takes it as it is where the operand has 64.
fn field_length(ty: Type, length: u64) -> u32 {
    if ty.bits() == 64 { (length as u32).min(0xff) } else { length as u32 & 0xff }
}

/// `bfe`: a field of `length` bits from `position` on. Past the operand, a signed field has its sign and any other
/// zeros.
#[must_use]
pub fn bfe(ty: Type, a: u64, position: u64, length: u64) -> u64 {
    let (position, length, width) = (position as u32 & 0xff, field_length(ty, length), ty.bits());
    if length == 0 {
        return 0;
    }
    let value = a & ty.mask();
    let field = if position >= width { 0 } else { value >> position };
    let last = (position + length - 1).min(width - 1);
    let negative = ty.is_signed() && value >> last & 1 == 1;
    let kept = if position >= width { 0 } else { mask(length.min(width - position)) };
    (field & kept | if negative { !kept } else { 0 }) & ty.mask()
}

/// `bfi`: puts the low `length` bits of `a` into `b` from `position` on.
#[must_use]
pub fn bfi(ty: Type, a: u64, b: u64, position: u64, length: u64) -> u64 {
    let (position, length, width) = (position as u32 & 0xff, field_length(ty, length), ty.bits());
    if position >= width {
        return b & ty.mask();
    }
    let field = mask(length.min(width - position)) << position;
    (b & !field | a << position & field) & ty.mask()
}

/// `bfind`: the place of the highest bit that differs from the sign, or 0xffffffff. With `.shiftamt` it is the shift
/// that brings this bit to the top.
#[must_use]
pub fn bfind(ty: Type, a: u64, shift_amount: bool) -> u64 {
    let value = a & ty.mask();
    let negative = ty.is_signed() && value >> (ty.bits() - 1) == 1;
    let value = if negative { !value & ty.mask() } else { value };
    match (value.checked_ilog2(), shift_amount) {
        (None, _) => mask(32),
        (Some(place), false) => u64::from(place),
        (Some(place), true) => u64::from(ty.bits() - 1 - place),
    }
}

/// `brev`
#[must_use]
pub fn brev(ty: Type, a: u64) -> u64 {
    (a & ty.mask()).reverse_bits() >> (64 - ty.bits())
}

/// `clz`
#[must_use]
pub fn clz(ty: Type, a: u64) -> u64 {
    u64::from((a & ty.mask()).leading_zeros() - (64 - ty.bits()))
}

/// `popc`
#[must_use]
pub fn popc(ty: Type, a: u64) -> u64 {
    u64::from((a & ty.mask()).count_ones())
}

/// `fns`: the place of the `offset`-th set bit of `value` from `base` on: upwards for a positive offset, where the
/// first is at or after `base`, downwards for a negative one. 0 asks whether `base` itself is set. 0xffffffff if there
/// is none.
#[must_use]
pub fn fns(value: u64, base: u64, offset: u64) -> u64 {
    let (value, base, offset) = (value as u32, base as u32, offset as i32);
    let set = |&place: &u32| value >> place & 1 == 1;
    // The distance of this offset does not fit, and hardware gives 0.
    if offset == i32::MIN {
        return 0;
    }
    let found = if base > 31 {
        None
    } else {
        match offset {
            0 => Some(base).filter(set),
            1.. => (base..32).filter(set).nth(offset as usize - 1),
            _ => (0..=base).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
        }
    };
    found.map_or(mask(32), u64::from)
}

/// `szext`: the low `width` bits, extended with their sign or zeros.
#[must_use]
pub fn szext(ty: Type, a: u64, width: u64, mode: Amount) -> u64 {
    match mode.of(width, 32) {
        0 => 0,
        width if ty.is_signed() => signed(a, width) as u64 & mask(32),
        width => a & mask(width),
    }
}

/// `bmsk`: `width` set bits from `position` on.
#[must_use]
pub fn bmsk(position: u64, width: u64, mode: Amount) -> u64 {
    let (position, width) = (mode.of(position, 32), mode.of(width, 32));
    mask(width) << position & mask(32)
}

/// `lop3`: the bit of `table` that each bit of `a`, `b` and `c` picks. `a` is the highest bit of the index.
#[must_use]
pub fn lop3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    let minterm = |index: u8| {
        let pick = |bit: u8, x: u64| if index >> bit & 1 == 1 { x } else { !x };
        pick(2, a) & pick(1, b) & pick(0, c)
    };
    (0..8).filter(|index| table >> index & 1 == 1).fold(0, |all, index| all | minterm(index)) & mask(32)
}

/// The modes of `prmt`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Permute {
    /// No mode: each nibble of the selector names a byte, and its high bit asks for eight copies of the byte's sign.
    #[default]
    Generic,
    /// `.f4e`: four bytes from the selected one upwards.
    Forward4,
    /// `.b4e`: four bytes from the selected one downwards.
    Backward4,
    /// `.rc8`: four copies of a byte.
    Replicate8,
    /// `.ecl`: bytes below the selected place repeat it.
    EdgeLeft,
    /// `.ecr`: bytes above the selected place repeat it.
    EdgeRight,
    /// `.rc16`: two copies of a half.
    Replicate16,
}

impl Permute {
    /// The mode of this modifier, without the dot.
    #[must_use]
    pub fn parse(name: &str) -> Option<Permute> {
        Some(match name {
            "f4e" => Permute::Forward4,
            "b4e" => Permute::Backward4,
            "rc8" => Permute::Replicate8,
            "ecl" => Permute::EdgeLeft,
            "ecr" => Permute::EdgeRight,
            "rc16" => Permute::Replicate16,
            _ => return None,
        })
    }
}

/// `prmt`: four of the eight bytes of `a` and `b`, the bytes of `a` first.
#[must_use]
pub fn prmt(a: u64, b: u64, selector: u64, mode: Permute) -> u64 {
    let bytes = (b & mask(32)) << 32 | a & mask(32);
    let byte = |index: u64| bytes >> (8 * (index & 7)) & 0xff;
    let start = selector & 3;
    (0..4u64).fold(0, |all, place| {
        let value = match mode {
            Permute::Generic => {
                let nibble = selector >> (4 * place) & 0xf;
                let picked = byte(nibble);
                if nibble & 8 == 0 { picked } else { 0xff * (picked >> 7) }
            }
            Permute::Forward4 => byte(start + place),
            Permute::Backward4 => byte(start.wrapping_sub(place)),
            Permute::Replicate8 => byte(start),
            Permute::EdgeLeft => byte(place.max(start)),
            Permute::EdgeRight => byte(place.min(start)),
            Permute::Replicate16 => byte(2 * (selector & 1) + (place & 1)),
        };
        all | value << (8 * place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_past_the_width() {
        assert_eq!(shl(Type::B32, 1, 31), 0x8000_0000);
        assert_eq!(shl(Type::B32, 1, 32), 0);
        assert_eq!(shr(Type::S32, 0x8000_0000, 40), 0xffff_ffff);
        assert_eq!(shr(Type::U16, 0x8000, 0xffff_ffff), 0);
        assert_eq!(shr(Type::U64, u64::MAX, 63), 1);
    }

    #[test]
    fn funnels() {
        let (low, high) = (0x89ab_cdef, 0x0123_4567);
        assert_eq!(shf_left(low, high, 8, Amount::Wrap), 0x2345_6789);
        assert_eq!(shf_left(low, high, 40, Amount::Wrap), 0x2345_6789);
        assert_eq!(shf_left(low, high, 40, Amount::Clamp), low);
        assert_eq!(shf_right(low, high, 8, Amount::Wrap), 0x6789_abcd);
        assert_eq!(shf_right(low, high, 32, Amount::Clamp), high);
    }

    /// The pseudocode of the PTX ISA, bit by bit.
    fn bfe_by_bits(ty: Type, a: u64, position: u64, length: u64) -> u64 {
        let (msb, position, length) = (ty.bits() - 1, position as u32 & 0xff, length as u32 & 0xff);
        let bit = |i: u32| a >> i & 1;
        let sign = if !ty.is_signed() || length == 0 { 0 } else { bit((position + length - 1).min(msb)) };
        (0..=msb).fold(0, |d, i| {
            let value = if i < length && position + i <= msb { bit(position + i) } else { sign };
            d | value << i
        })
    }

    #[test]
    fn fields_agree_with_the_specification() {
        for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
            for position in (0..256).step_by(5).chain(28..34) {
                for length in (0..256).step_by(7).chain(28..34) {
                    for a in [0x9234_5678_8765_4321, 0, u64::MAX, 0x8000_0000_7fff_ffff] {
                        let value = a & ty.mask();
                        assert_eq!(
                            bfe(ty, a, position, length),
                            bfe_by_bits(ty, value, position, length),
                            "{ty:?} {position} {length}"
                        );
                    }
                }
            }
        }
        assert_eq!((bfe(Type::U32, 0xff, 4, 0x100), bfe(Type::U64, 0xff, 4, 0x100)), (0, 0xf), "a length past 8 bits");
        assert_eq!(bfi(Type::B32, 0xff, 0, 4, 4), 0xf0);
        assert_eq!(bfi(Type::B32, 0xff, 0x1234, 32, 4), 0x1234);
        assert_eq!(bfi(Type::B64, u64::MAX, 0, 60, 200), 0xf << 60);
    }

    #[test]
    fn places() {
        assert_eq!(bfind(Type::U32, 0x10, false), 4);
        assert_eq!(bfind(Type::U32, 0x10, true), 27);
        assert_eq!(bfind(Type::S32, 0xffff_ffef, false), 4);
        assert_eq!(bfind(Type::S64, u64::MAX, false), 0xffff_ffff);
        assert_eq!((clz(Type::B32, 1), clz(Type::B64, 0), popc(Type::B32, 0xff0f)), (31, 64, 12));
        assert_eq!(brev(Type::B32, 1), 0x8000_0000);
        assert_eq!((fns(0xaaaa_aaaa, 3, 1), fns(0xaaaa_aaaa, 3, 2), fns(0xaaaa_aaaa, 3, -2i32 as u64)), (3, 5, 1));
        assert_eq!((fns(0xaaaa_aaaa, 4, 0), fns(0, 0, 1)), (0xffff_ffff, 0xffff_ffff));
        assert_eq!(fns(0xaaaa_aaaa, 15, i32::MIN as u64), 0);
    }

    #[test]
    fn masks() {
        assert_eq!(bmsk(4, 8, Amount::Clamp), 0xff0);
        assert_eq!(bmsk(28, 8, Amount::Clamp), 0xf000_0000);
        assert_eq!(bmsk(36, 40, Amount::Wrap), 0xff0);
        assert_eq!(bmsk(0, 40, Amount::Clamp), 0xffff_ffff);
        assert_eq!(szext(Type::S32, 0x80, 8, Amount::Clamp), 0xffff_ff80);
        assert_eq!(szext(Type::U32, 0x180, 8, Amount::Clamp), 0x80);
        assert_eq!(szext(Type::S32, 0x180, 0, Amount::Clamp), 0);
    }

    #[test]
    fn tables_of_three_operands() {
        let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa);
        assert_eq!(lop3(a, b, c, 0x80), a & b & c);
        assert_eq!(lop3(a, b, c, 0x96), a ^ b ^ c);
        assert_eq!(lop3(a, b, c, 0xca), a & b | !a & c & 0xffff_ffff);
    }

    #[test]
    fn permutations() {
        let (a, b) = (0x3322_1180, 0x7766_5544);
        assert_eq!(prmt(a, b, 0x7531, Permute::Generic), 0x7755_3311);
        assert_eq!(prmt(a, b, 0x0008, Permute::Generic), 0x8080_80ff);
        assert_eq!(prmt(a, b, 2, Permute::Forward4), 0x5544_3322);
        assert_eq!(prmt(a, b, 1, Permute::Backward4), 0x6677_8011);
        assert_eq!(prmt(a, b, 3, Permute::Replicate8), 0x3333_3333);
        assert_eq!(prmt(a, b, 2, Permute::EdgeLeft), 0x3322_2222);
        assert_eq!(prmt(a, b, 1, Permute::EdgeRight), 0x1111_1180);
        assert_eq!(prmt(a, b, 1, Permute::Replicate16), 0x3322_3322);
    }
}
