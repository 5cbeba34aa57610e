//! Comparisons (PTX ISA, "Comparison and Selection Instructions", "Floating Point Instructions: testp, copysign").
//!
//! An ordered comparison of a NaN is false; the unordered ones (`ltu` and its like) are true. On integers `lo`, `ls`,
//! `hi` and `hs` compare without a sign.

use std::cmp::Ordering;

use super::exact::{Number, unpack};
use super::float::{flush, is_nan, sign_bit};
use super::types::{Flags, Type};

macro_rules! names {
    ($(#[$doc:meta])* $ty:ident { $($name:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $ty { $($name,)* }

        impl $ty {
            /// Everything of this name, in PTX's order.
            pub const ALL: &[$ty] = &[$($ty::$name,)*];

            /// What this modifier means, without the dot.
            #[must_use]
            pub fn parse(name: &str) -> Option<$ty> {
                match name { $($text => Some($ty::$name),)* _ => None }
            }
        }
    };
}

names! {
    /// The operator of `setp` and `set`.
    Comparison {
        Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge",
        Lo "lo", Ls "ls", Hi "hi", Hs "hs",
        Equ "equ", Neu "neu", Ltu "ltu", Leu "leu", Gtu "gtu", Geu "geu",
        Num "num", Nan "nan",
    }
}

names! {
    /// The property that `testp` tests.
    Test {
        Finite "finite", Infinite "infinite", Number "number", NotANumber "notanumber", Normal "normal",
        Subnormal "subnormal",
    }
}

impl Comparison {
    /// Whether it holds for operands in this order; `None` if one is NaN.
    fn holds(self, order: Option<Ordering>) -> bool {
        use Comparison::*;
        let Some(order) = order else { return matches!(self, Equ | Neu | Ltu | Leu | Gtu | Geu | Nan) };
        match self {
            Eq | Equ => order.is_eq(),
            Ne | Neu => order.is_ne(),
            Lt | Ltu | Lo => order.is_lt(),
            Le | Leu | Ls => order.is_le(),
            Gt | Gtu | Hi => order.is_gt(),
            Ge | Geu | Hs => order.is_ge(),
            Num => true,
            Nan => false,
        }
    }
}

/// `setp` of one element. A packed type compares its low elements; see [`compare_pair`].
#[must_use]
pub fn compare(comparison: Comparison, ty: Type, a: u64, b: u64, flags: Flags) -> bool {
    use Comparison::{Hi, Hs, Lo, Ls};
    let ty = ty.element();
    let Some(kind) = ty.float() else {
        let order = if matches!(comparison, Lo | Ls | Hi | Hs) {
            (a & ty.mask()).cmp(&(b & ty.mask()))
        } else {
            ty.integer(a).cmp(&ty.integer(b))
        };
        return comparison.holds(Some(order));
    };
    let (a, b) = (flush(kind, a & ty.mask(), flags), flush(kind, b & ty.mask(), flags));
    let order = (!is_nan(kind, a) && !is_nan(kind, b)).then(|| {
        let sign = sign_bit(kind);
        let key = |v: u64| if v & sign != 0 { -((v & !sign) as i64) } else { v as i64 };
        key(a).cmp(&key(b))
    });
    comparison.holds(order)
}

/// `setp` of a packed type: the results of the low and the high elements.
#[must_use]
pub fn compare_pair(comparison: Comparison, ty: Type, a: u64, b: u64, flags: Flags) -> [bool; 2] {
    let width = ty.element().bits();
    [0, width].map(|shift| compare(comparison, ty, a >> shift, b >> shift, flags))
}

/// `testp`. Types that are no floats have none of these properties.
#[must_use]
pub fn test(property: Test, ty: Type, a: u64) -> bool {
    let Some(kind) = ty.float() else { return false };
    let number = unpack(kind, a & ty.mask());
    let normal = |x: super::exact::Exact| x.leading() >= 1 - kind.format().bias;
    match (property, number) {
        (Test::NotANumber, n) => n == Number::Nan,
        (Test::Number, n) => n != Number::Nan,
        (Test::Infinite, n) => matches!(n, Number::Infinity { .. }),
        (Test::Finite, n) => matches!(n, Number::Finite(_)),
        // The PTX ISA does not say so, but the hardware counts zeros.
        (Test::Normal, Number::Finite(x)) => x.is_zero() || normal(x),
        (Test::Subnormal, Number::Finite(x)) => !x.is_zero() && !normal(x),
        (Test::Normal | Test::Subnormal, _) => false,
    }
}

/// `copysign`: the magnitude of `b` with the sign of `a`.
#[must_use]
pub fn copysign(ty: Type, a: u64, b: u64) -> u64 {
    let sign = ty.float().map_or(0, sign_bit);
    (b & !sign | a & sign) & ty.mask()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(comparison: Comparison, a: f32, b: f32) -> bool {
        compare(comparison, Type::F32, a.to_bits().into(), b.to_bits().into(), Flags::default())
    }

    #[test]
    #[allow(clippy::float_cmp)] // the processor's own comparisons are the reference
    fn comparisons_of_f32_agree_with_the_processor() {
        let values = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, f32::INFINITY, -f32::INFINITY, f32::NAN];
        for a in values {
            for b in values {
                let unordered = a.is_nan() || b.is_nan();
                let expected = [a == b, !unordered && a != b, a < b, a <= b, a > b, a >= b];
                use Comparison::*;
                for (ordered, (relaxed, holds)) in
                    [Eq, Ne, Lt, Le, Gt, Ge].into_iter().zip([Equ, Neu, Ltu, Leu, Gtu, Geu].into_iter().zip(expected))
                {
                    assert_eq!(single(ordered, a, b), holds, "{ordered:?} {a} {b}");
                    assert_eq!(single(relaxed, a, b), holds || unordered, "{relaxed:?} {a} {b}");
                }
                assert_eq!((single(Num, a, b), single(Nan, a, b)), (!unordered, unordered));
            }
        }
    }

    #[test]
    fn integers_compare_by_the_sign_of_their_type() {
        let check = |c, ty| compare(c, ty, 0xffff_ffff, 1, Flags::default());
        assert!(check(Comparison::Lt, Type::S32));
        assert!(!check(Comparison::Lt, Type::U32));
        assert!(check(Comparison::Hi, Type::B32));
    }

    #[test]
    fn properties() {
        let all = |a: f32| Test::ALL.iter().map(|&t| test(t, Type::F32, a.to_bits().into())).collect::<Vec<_>>();
        assert_eq!(all(1.0), [true, false, true, false, true, false]);
        assert_eq!(all(1e-40), [true, false, true, false, false, true]);
        assert_eq!(all(0.0), [true, false, true, false, true, false]);
        assert_eq!(all(f32::INFINITY), [false, true, true, false, false, false]);
        assert_eq!(all(f32::NAN), [false, false, false, true, false, false]);
    }

    #[test]
    fn the_sign_comes_from_the_first_operand() {
        assert_eq!(copysign(Type::F32, 0x8000_0000, 0x3f80_0000), 0xbf80_0000);
    }
}
