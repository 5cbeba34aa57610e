//! What a function computes on the host. The entry of an operation states it, `host: Some(HostFunction::one(f32::sin,
//! f64::sin))`; constant folding and the interpreter both compute with it, so they cannot disagree.
//!
//! Functions of f32 and f64 are those of Rust's library, most of them within one unit in the last place of the exact
//! result. Who computes in narrower formats does so in f32 and rounds once; for [`HostFunction::Three`] in f64, because
//! the product of two narrow floats is exact there.

/// A function of one element of each operand.
#[derive(Clone, Copy)]
pub enum HostFunction {
    /// Of one float.
    One(OneFloat),
    /// Of two floats.
    Two(fn(f32, f32) -> f32, fn(f64, f64) -> f64),
    /// Of three floats.
    Three(fn(f32, f32, f32) -> f32, fn(f64, f64, f64) -> f64),
    /// Of the patterns of two floats, and of how many bits they have.
    Patterns(fn(u64, u64, u32) -> u64),
    /// Of one integer, sign-extended, and of how many bits it has. Bits above those of the result mean nothing.
    Integer(fn(i64, u32) -> u64),
}

/// A function of one float.
#[derive(Clone, Copy)]
pub struct OneFloat {
    pub single: fn(f32) -> f32,
    pub double: fn(f64) -> f64,
    /// Whether the result is exact in every format.
    pub exact: bool,
    /// The least argument for which constants are folded. Below it the function is not defined, and code keeps what the
    /// device makes of that.
    pub least: f64,
}

impl HostFunction {
    /// A function of one float.
    #[must_use]
    pub const fn one(single: fn(f32) -> f32, double: fn(f64) -> f64) -> HostFunction {
        HostFunction::one_from(f64::NEG_INFINITY, single, double)
    }

    /// A function of one float that is defined from `least` on.
    #[must_use]
    pub const fn one_from(least: f64, single: fn(f32) -> f32, double: fn(f64) -> f64) -> HostFunction {
        HostFunction::One(OneFloat { single, double, exact: false, least })
    }

    /// A function of one float whose result is exact in every format.
    #[must_use]
    pub const fn exact(single: fn(f32) -> f32, double: fn(f64) -> f64) -> HostFunction {
        HostFunction::One(OneFloat { single, double, exact: true, least: f64::NEG_INFINITY })
    }
}

/// Functions of bits, for the tables to name.
pub mod bits {
    use crate::ir::core::attrs::zero_extend;

    /// The magnitude of the first float with the sign of the second.
    #[must_use]
    pub fn copy_sign(x: u64, y: u64, width: u32) -> u64 {
        let sign = 1 << (width - 1);
        x & !sign | y & sign
    }

    /// The absolute value; the least integer stays.
    #[must_use]
    pub fn magnitude(x: i64, _: u32) -> u64 {
        x.wrapping_abs() as u64
    }

    #[must_use]
    pub fn leading_zeros(x: i64, width: u32) -> u64 {
        u64::from(zero_extend(x, width).leading_zeros() - (64 - width))
    }

    #[must_use]
    pub fn trailing_zeros(x: i64, width: u32) -> u64 {
        u64::from(zero_extend(x, width).trailing_zeros().min(width))
    }

    #[must_use]
    pub fn ones(x: i64, width: u32) -> u64 {
        u64::from(zero_extend(x, width).count_ones())
    }
}
