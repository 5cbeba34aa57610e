//! Kernels on a GPU: running, measuring and tuning them.
//!
//! 1. [`lock`] is the file that keeps what tuning found.

pub mod lock;
