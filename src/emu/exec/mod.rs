//! The executor.
//!
//! 1. `run.rs` checks a launch, lays out the parameters and runs the clusters of the grid, several at once so that
//!    blocks that wait for each other go on.
//! 2. `cluster.rs` schedules the warps of a cluster, and lands asynchronous work.
//! 3. `step.rs` executes the steps of a warp until it waits. The other files hold a family of instructions each.
//!
//! A warp has one program counter, the mask of the lanes that are there, and a stack of the lanes that are elsewhere
//! and of the places where they meet.

mod access;
mod atomic;
mod barrier;
mod block;
mod bulk;
mod call;
mod cluster;
mod copy;
mod diverge;
mod env;
mod exchange;
mod in_flight;
mod lanes;
pub mod launch;
mod maps;
mod matrix;
mod mbarrier;
mod memory;
mod pending;
mod print;
mod product;
mod random;
mod registers;
pub mod run;
mod special;
mod step;
mod trace;
mod warp;

use super::report::Finding;

/// Why a run stops.
pub(crate) type Fault = Box<Finding>;
pub(crate) type Try<T> = Result<T, Fault>;
