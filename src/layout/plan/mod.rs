//! Plans: how data moves between the threads of a block, as data.
//!
//! A plan is computed from layouts alone. The pass that lays out shared memory asks it for its scratch bytes, code generation emits it, and
//! tests run it on a simulated block. The same arguments give the same plan in all three.
//!
//! - [`convert`]: from one layout of a tensor to another.

pub mod convert;

pub use convert::ConversionPlan;
