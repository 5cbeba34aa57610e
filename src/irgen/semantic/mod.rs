//! What operators and conversions mean: from values of the language to operations.
//!
//! - [`convert`]: casts, bitcasts, constants; `e4b15`: the float that is only bits to the IR;
//! - [`shape`]: splat, broadcast, reshape, permute, …;
//! - [`arith`]: the operators on tensors, with their promotion; [`cmp`]: comparisons;
//! - [`fold`]: the operators on compile-time values; [`operators`]: those on any values;
//! - [`index`]: `value[index]`; [`items`]: what a value holds;
//! - [`faults`]: what is said of values that do not fit.
//!
//! Every function takes an [`Emitter`](super::emit::Emitter) and values, and never sees a name or a statement.

pub mod arith;
pub mod cmp;
pub mod convert;
mod e4b15;
pub mod faults;
pub mod fold;
pub mod index;
pub mod items;
pub mod operators;
pub mod shape;
