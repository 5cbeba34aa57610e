//! What operators and conversions mean: from values of the language to operations.
//!
//! - [`convert`]: constants, casts, bitcasts;
//! - [`shape`]: splat, broadcast, reshape, permute, …;
//! - [`arith`]: the operators on tensors, with their promotion;
//! - [`fold`]: the operators on compile-time values.

pub mod arith;
pub mod convert;
pub mod fold;
pub mod shape;
