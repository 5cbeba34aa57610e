//! Passes over the IR, the analyses they share, and the machinery that runs them.
//!
//! - [`manager`]: what a pass is, and running a list of them; [`stage`] says which modules a pass takes;
//!   [`pipeline_text`] reads and writes such lists, [`pipelines`] makes the ones of a compilation, [`registry`] knows
//!   every pass by name;
//! - [`rewrite`]: the greedy rewriter that patterns run in; [`fold`]: folding one operation;
//! - [`remarks`]: what a user may want to know of the result: slow accesses, conversions, shared memory;
//! - [`analysis`]: facts that passes and code generation ask for;
//! - [`common`], [`tt`], [`ttg`]: the passes, one file each.

pub mod analysis;
pub mod common;
pub mod fold;
pub mod manager;
pub mod pipeline_text;
pub mod pipelines;
pub mod registry;
pub mod remarks;
pub mod rewrite;
pub mod stage;
pub mod tt;
pub mod ttg;
