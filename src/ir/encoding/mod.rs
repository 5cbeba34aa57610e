//! Questions about encodings, and the rules that each must satisfy by itself.
//!
//! - [`wellformed`]: the rules, which the reader of IR text and the verifier check.

pub mod wellformed;
