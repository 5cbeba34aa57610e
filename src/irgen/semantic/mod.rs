//! What operators and conversions mean: from values of the language to operations.
//!
//! - [`convert`]: constants, casts, bitcasts;
//! - `e4b15`: the float that is only bits to the IR;
//! - [`shape`]: splat, broadcast, reshape, permute, …;
//! - [`arith`]: the operators on tensors, with their promotion;
//! - [`fold`]: the operators on compile-time values.

pub mod arith;
pub mod convert;
mod e4b15;
pub mod fold;
pub mod shape;
