//! The textual form: what Triton dumps is read, and what is written here Triton reads.
//!
//! - [`printer`] writes operations, with [`names`] for values, [`writer`] for aliases and locations, [`types`], [`attrs`] and [`floats`];
//! - [`format`] reads the declarative formats of the dialects' tables; [`custom`] holds the operations that have none.

pub mod attrs;
mod custom;
pub mod floats;
pub mod format;
pub mod names;
pub mod printer;
pub mod types;
pub mod writer;

pub use printer::{PrintOptions, print_module, print_op};
