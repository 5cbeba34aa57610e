//! Plans: they say how data moves between the threads of a block, as data.
//!
//! A plan is computed from layouts alone. The pass that lays out shared memory asks it for its scratch bytes, code
//! generation emits it, and tests run it on a simulated block. The same arguments give the same plan in all three.
//!
//! - [`shared_access`]: the loads or stores between a register layout and a shared-memory layout;
//! - [`swizzle`]: the layout of shared memory that suits two register layouts;
//! - [`shuffle`]: an exchange within warps by shuffles;
//! - [`convert`]: from one layout of a tensor to another, by the cheapest of these;
//! - [`reduce`], [`scan`]: combining the elements along an axis, to one or to all prefixes;
//! - [`gather`]: picking elements by index.
//! - [`describe`](mod@describe): a plan in words.

mod along_axis;
pub mod convert;
pub mod describe;
pub mod gather;
pub mod reduce;
mod rounds;
pub mod scan;
pub mod shared_access;
pub mod shuffle;
pub mod swizzle;

pub use convert::{Among, ConversionPlan, Costs, SharedPlan, is_through_shared_memory};
pub use describe::describe;
pub use gather::GatherPlan;
pub use reduce::{ReducePlan, Weights};
pub use scan::ScanPlan;
pub use shared_access::{AccessStep, Form, SharedAccess};
pub use shuffle::ShufflePlan;
