//! The elements of buffers, and the small floats that Rust has no type for.

mod sealed {
    pub trait Sealed {}
}

/// A type whose values are plain bits, any of which are a value.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {}

/// Elements that have the bits of a `T`, so that a buffer of them can be passed where a kernel takes a pointer to `T`.
///
/// # Safety
/// Both types have the same size, and any bits are a value of either.
pub unsafe trait Holds<T>: Copy {}

// SAFETY: it is the same type.
unsafe impl<T: Element> Holds<T> for T {}

macro_rules! elements {
    ($($ty:ty)*) => { $(impl sealed::Sealed for $ty {} impl Element for $ty {})* };
}
elements!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 usize isize);

/// A float of 16 or 8 bits: its bits, and nothing else.
macro_rules! floats {
    ($($(#[$doc:meta])* $name:ident($bits:ty);)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name(pub $bits);

        impl sealed::Sealed for $name {}
        impl Element for $name {}
        // SAFETY: the size is that of the bits, any of which are a value.
        unsafe impl Holds<$name> for $bits {}
        // SAFETY: as above.
        unsafe impl Holds<$bits> for $name {}
    )* };
}

floats! {
    /// The bits of a float of IEEE 754's binary16, `tl.float16`.
    F16(u16);
    /// The bits of the upper half of an f32, `tl.bfloat16`.
    Bf16(u16);
    /// The bits of a float with 4 bits of exponent and 3 of mantissa and without infinities, `tl.float8e4nv`.
    F8E4M3(u8);
    /// The bits of a float with 5 bits of exponent and 2 of mantissa, `tl.float8e5`.
    F8E5M2(u8);
    /// The bits of a float with 4 bits of exponent, biased by 15, and 3 of mantissa, `tl.float8e4b15`.
    F8E4B15(u8);
}

impl Bf16 {
    /// The nearest value; of two equally near ones that with an even mantissa. NaN stays NaN.
    #[must_use]
    pub fn from_f32(value: f32) -> Bf16 {
        let bits = value.to_bits();
        if value.is_nan() {
            return Bf16((bits >> 16) as u16 | 0x40);
        }
        // Half of the last bit that stays, less one if that bit is 0, carries exactly where rounding goes up.
        Bf16(((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }

    /// The same value.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

impl F16 {
    /// The nearest value; of two equally near ones that with an even mantissa. What is too large becomes infinite, and
    /// NaN stays NaN.
    #[must_use]
    pub fn from_f32(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if value.is_nan() {
            return F16(sign | 0x7e00 | (magnitude >> 13 & 0x3ff) as u16);
        }
        // From 65520 on, the nearest value would need a larger exponent.
        if magnitude >= 0x477f_f000 {
            return F16(sign | 0x7c00);
        }
        // Below 2^-14 the values are multiples of 2^-24. Adding 0.5, whose last bit is 2^-24, rounds to such a
        // multiple.
        if magnitude < 0x3880_0000 {
            let rounded = (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits();
            return F16(sign | rounded as u16);
        }
        // Half of the last bit that stays, less one if that bit is 0, carries exactly where rounding goes up. The
        // exponent's bias is 15 and not 127.
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        F16(sign | ((rounded >> 13) - ((127 - 15) << 10)) as u16)
    }

    /// The same value.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff);
        let bits = match magnitude >> 10 {
            // The values below 2^-14 are multiples of 2^-24.
            0 => (magnitude as f32 / 16_777_216.0).to_bits(),
            31 => 0x7f80_0000 | (magnitude & 0x3ff) << 13,
            _ => (magnitude << 13) + ((127 - 15) << 23),
        };
        f32::from_bits(sign | bits)
    }
}

#[cfg(feature = "half")]
mod half_types {
    use super::{Bf16, F16, Holds};

    // SAFETY: both are the 16 bits of the same format, and any bits are a value.
    unsafe impl Holds<F16> for half::f16 {}
    // SAFETY: as above.
    unsafe impl Holds<Bf16> for half::bf16 {}

    macro_rules! conversions {
        ($($ours:ident $theirs:ident)*) => { $(
            impl From<half::$theirs> for $ours {
                fn from(value: half::$theirs) -> $ours {
                    $ours(value.to_bits())
                }
            }
            impl From<$ours> for half::$theirs {
                fn from(value: $ours) -> half::$theirs {
                    half::$theirs::from_bits(value.0)
                }
            }
            impl super::sealed::Sealed for half::$theirs {}
            impl super::Element for half::$theirs {}
        )* };
    }
    conversions!(F16 f16 Bf16 bf16);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_float_survives_and_neighbours_round_to_even() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (F16(bits), Bf16(bits));
            if half.to_f32().is_nan() {
                assert!(F16::from_f32(half.to_f32()).to_f32().is_nan());
            } else {
                assert_eq!(F16::from_f32(half.to_f32()), half, "{bits:#x}");
            }
            if brain.to_f32().is_nan() {
                assert!(Bf16::from_f32(brain.to_f32()).to_f32().is_nan());
            } else {
                assert_eq!(Bf16::from_f32(brain.to_f32()), brain, "{bits:#x}");
            }
            // Half way between two values, the even one is nearer; a little further, the upper one.
            let next = F16(bits + u16::from(bits & 0x7fff < 0x7c00));
            let (low, high) = (f64::from(half.to_f32()), f64::from(next.to_f32()));
            if high.is_finite() && low.is_finite() && half != next {
                let middle = f64::midpoint(low, high) as f32;
                let even = if bits % 2 == 0 { half } else { next };
                assert_eq!(F16::from_f32(middle), even, "{bits:#x}");
                let beyond = f32::from_bits(middle.to_bits() + 1);
                assert_eq!(F16::from_f32(beyond), next, "{bits:#x}");
            }
        }
        assert_eq!(F16::from_f32(65519.9), F16(0x7bff));
        assert_eq!(F16::from_f32(65520.0), F16(0x7c00));
        assert_eq!(F16::from_f32(-1e9), F16(0xfc00));
        assert_eq!(Bf16::from_f32(f32::MAX), Bf16(0x7f80));
    }
}
