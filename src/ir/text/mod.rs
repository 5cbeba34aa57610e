//! The textual form.

pub mod attrs;
pub mod types;
