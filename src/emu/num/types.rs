//! The types of PTX's operands, its rounding modes, and the flags of arithmetic (PTX ISA, "Types", "Rounding
//! Modifiers").

use ttc_float::FloatKind;

macro_rules! types {
    ($($name:ident $text:literal $bits:literal,)*) => {
        /// A type of an operand.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Type { $($name,)* }

        impl Type {
            /// Every type.
            pub const ALL: &[Type] = &[$(Type::$name,)*];

            /// Its name in PTX, without the dot.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Type::$name => $text,)* }
            }

            /// The type of this name, without the dot.
            #[must_use]
            pub fn parse(name: &str) -> Option<Type> {
                match name { $($text => Some(Type::$name),)* _ => None }
            }

            /// The bits that a value takes. tf32 is held in a 32-bit register.
            #[must_use]
            pub fn bits(self) -> u32 {
                match self { $(Type::$name => $bits,)* }
            }
        }
    };
}

types! {
    Pred "pred" 1,
    B8 "b8" 8, B16 "b16" 16, B32 "b32" 32, B64 "b64" 64, B128 "b128" 128,
    U8 "u8" 8, U16 "u16" 16, U32 "u32" 32, U64 "u64" 64,
    S8 "s8" 8, S16 "s16" 16, S32 "s32" 32, S64 "s64" 64,
    U16x2 "u16x2" 32, S16x2 "s16x2" 32,
    F16 "f16" 16, F16x2 "f16x2" 32,
    BF16 "bf16" 16, BF16x2 "bf16x2" 32,
    TF32 "tf32" 32,
    F32 "f32" 32, F32x2 "f32x2" 64,
    F64 "f64" 64,
    E4M3 "e4m3" 8, E5M2 "e5m2" 8,
    E4M3x2 "e4m3x2" 16, E5M2x2 "e5m2x2" 16,
}

impl Type {
    /// How many elements a value holds: 1, or 2 for a packed type.
    #[must_use]
    pub fn lanes(self) -> u32 {
        if self.element() == self { 1 } else { 2 }
    }

    /// The type of the elements of a packed type; any other type itself.
    #[must_use]
    pub fn element(self) -> Type {
        match self {
            Type::U16x2 => Type::U16,
            Type::S16x2 => Type::S16,
            Type::F16x2 => Type::F16,
            Type::BF16x2 => Type::BF16,
            Type::F32x2 => Type::F32,
            Type::E4M3x2 => Type::E4M3,
            Type::E5M2x2 => Type::E5M2,
            other => other,
        }
    }

    /// The float format of its elements, if they are floats.
    #[must_use]
    pub fn float(self) -> Option<FloatKind> {
        match self.element() {
            Type::F16 => Some(FloatKind::F16),
            Type::BF16 => Some(FloatKind::BF16),
            Type::TF32 => Some(FloatKind::TF32),
            Type::F32 => Some(FloatKind::F32),
            Type::F64 => Some(FloatKind::F64),
            Type::E4M3 => Some(FloatKind::F8E4M3FN),
            Type::E5M2 => Some(FloatKind::F8E5M2),
            _ => None,
        }
    }

    /// Whether its elements are signed integers.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self.element(), Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// The low bits that a value takes, of a `u64`.
    #[must_use]
    pub fn mask(self) -> u64 {
        mask(self.bits())
    }

    /// A value as an integer: sign-extended for a signed type, zero-extended for any other.
    #[must_use]
    pub fn integer(self, bits: u64) -> i128 {
        if self.is_signed() { i128::from(signed(bits, self.bits())) } else { i128::from(bits & self.mask()) }
    }

    /// A value in a wider register: the sign fills it for a signed type, and zeros for any other (PTX ISA, "Operand
    /// Size Exceeding Instruction-Type Size").
    #[must_use]
    pub fn extend(self, bits: u64) -> u64 {
        if self.is_signed() { signed(bits, self.bits()) as u64 } else { bits & self.mask() }
    }
}

/// A number with the low `width` bits set.
#[must_use]
pub fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Sign-extends the low `width` bits.
#[must_use]
pub fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

/// The lowest and the highest value of an integer type.
pub(crate) fn limits(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Applies `f` to each element of packed operands.
pub(crate) fn each<const N: usize>(ty: Type, operands: [u64; N], mut f: impl FnMut(Type, [u64; N]) -> u64) -> u64 {
    let element = ty.element();
    if element == ty {
        return f(ty, operands.map(|x| x & ty.mask())) & ty.mask();
    }
    let width = element.bits();
    (0..ty.lanes()).fold(0, |all, lane| {
        let own = operands.map(|x| x >> (lane * width) & element.mask());
        all | (f(element, own) & element.mask()) << (lane * width)
    })
}

/// How a result that does not fit is rounded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Rounding {
    /// `.rn`: to the nearest, ties to the even one.
    #[default]
    Nearest,
    /// `.rz`
    Zero,
    /// `.rm`: towards negative infinity.
    Down,
    /// `.rp`: towards positive infinity.
    Up,
    /// `.rna`: to the nearest, ties away from zero.
    NearestAway,
    /// `.rni`: to the nearest integer, ties to the even one.
    IntegerNearest,
    /// `.rzi`
    IntegerZero,
    /// `.rmi`
    IntegerDown,
    /// `.rpi`
    IntegerUp,
}

impl Rounding {
    /// The mode of this modifier, without the dot.
    #[must_use]
    pub fn parse(name: &str) -> Option<Rounding> {
        Some(match name {
            "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            "rp" => Rounding::Up,
            "rna" => Rounding::NearestAway,
            "rni" => Rounding::IntegerNearest,
            "rzi" => Rounding::IntegerZero,
            "rmi" => Rounding::IntegerDown,
            "rpi" => Rounding::IntegerUp,
            _ => return None,
        })
    }

    /// Whether the result is an integer.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Rounding::IntegerNearest | Rounding::IntegerZero | Rounding::IntegerDown | Rounding::IntegerUp)
    }

    /// The direction, without the demand that the result be an integer.
    #[must_use]
    pub fn direction(self) -> Rounding {
        match self {
            Rounding::IntegerNearest => Rounding::Nearest,
            Rounding::IntegerZero => Rounding::Zero,
            Rounding::IntegerDown => Rounding::Down,
            Rounding::IntegerUp => Rounding::Up,
            other => other,
        }
    }

    /// Whether the magnitude becomes one unit larger, of a number whose kept part is odd or even and whose lost part
    /// compares so with half a unit. `lost` is `None` if nothing was lost.
    pub(crate) fn grows(self, negative: bool, odd: bool, lost: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering::{Equal, Greater};
        let Some(lost) = lost else { return false };
        match self.direction() {
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
            Rounding::NearestAway => lost >= Equal,
            _ => lost == Greater || lost == Equal && odd,
        }
    }
}

/// The modifiers of arithmetic that are on or off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags {
    /// `.ftz`: subnormal operands and results of f32 become zeros with their sign.
    pub ftz: bool,
    /// `.sat`: floats are clamped to [0, 1] and NaN becomes 0; integers are clamped to their type.
    pub sat: bool,
    /// `.satfinite`: what is too large becomes the largest finite value.
    pub satfinite: bool,
    /// `.relu`: what is negative becomes 0.
    pub relu: bool,
    /// `.NaN`: a NaN operand of `min` or `max` gives NaN.
    pub nan: bool,
    /// `.xorsign.abs`: `min` or `max` of the magnitudes, with the exclusive or of the signs.
    pub xorsign_abs: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for &ty in Type::ALL {
            assert_eq!(Type::parse(ty.name()), Some(ty));
            assert_eq!(ty.element().bits() * ty.lanes(), ty.bits());
        }
    }

    #[test]
    fn packed_operands_are_taken_apart() {
        let sum = each(Type::U16x2, [0x0001_ffff, 0x0002_0001], |_, [a, b]| a + b);
        assert_eq!(sum, 0x0003_0000, "the low half does not carry into the high one");
    }

    #[test]
    fn a_signed_value_fills_a_wider_register_with_its_sign() {
        assert_eq!(Type::S8.extend(0x80), 0xffff_ffff_ffff_ff80);
        assert_eq!(Type::U8.extend(0xf80), 0x80);
        assert_eq!(Type::S16.integer(0xffff), -1);
    }
}
