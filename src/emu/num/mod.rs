//! The arithmetic of PTX's scalar instructions: bits in, bits out.
//!
//! A value is the low bits of a `u64`, as wide as its [`Type`]; the bits above are ignored in operands and zero in
//! results. Packed types (`f16x2`) hold two elements, the first in the low half. Nothing here has state, and nothing
//! depends on the machine that the emulator runs on.
//!
//! | file | instructions |
//! |---|---|
//! | [`types`] | the types, rounding modes and flags |
//! | `exact` | numbers of any size, and their rounding to a format |
//! | [`float`] | `add`, `sub`, `mul`, `fma`, `div`, `sqrt`, `rcp`, `min`, `max`, `abs`, `neg` of floats |
//! | [`mod@convert`] | `cvt` |
//! | [`mod@compare`] | `setp`, `set`, `testp`, `copysign` |
//! | [`integer`] | arithmetic of integers |
//! | [`bits`] | shifts, fields, permutations |
//! | [`approx`] | `ex2`, `lg2`, `sin`, `cos`, `tanh`, `rcp`, `rsqrt`, `sqrt` and `div` in their approximate forms |
//!
//! Example: `fma.rn.f32` of 2, 3 and 1:
//!
//! ```text
//! let bits = |x: f32| u64::from(x.to_bits());
//! let sum = num::fma(Type::F32, bits(2.0), bits(3.0), bits(1.0), Rounding::Nearest, Flags::default());
//! assert_eq!(sum, bits(7.0));
//! ```

pub mod approx;
pub mod bits;
pub mod compare;
pub mod convert;
pub(crate) mod exact;
pub mod float;
pub mod integer;
pub mod types;

pub use approx::{Function, approximate, div_approx, div_full};
pub use compare::{Comparison, Test, compare, copysign, test};
pub use convert::{convert, convert_pair};
pub use float::{abs, add, atomic_add_double, div, fma, max, min, mul, neg, rcp, sqrt, sub};
pub use types::{Flags, Rounding, Type};
