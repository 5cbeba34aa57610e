//! Questions about encodings, and the rules that each must satisfy by itself.
//!
//! - [`questions`]: what an encoding is, and what its fields say without a shape: rank, parent, blocks of a cluster.
//!   Who adds an encoding answers here, and the passes need no change.
//! - [`permute`]: the same encoding with its axes in another order.
//! - [`wellformed`]: the rules, which the reader of IR text and the verifier check.

pub mod permute;
pub mod questions;
pub mod wellformed;
