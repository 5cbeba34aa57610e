//! Passes over the IR, and the machinery that runs them.
//!
//! - [`manager`]: what a pass is, and running a list of them; [`stage`] says which modules a pass takes;
//!   [`pipeline_text`] reads and writes such lists, [`registry`] knows every pass by name; back ends make the lists of
//!   a compilation;
//! - [`remarks`]: what a user may want to know of the result: slow accesses, conversions, shared memory;
//! - [`common`], [`tt`], [`ttg`]: the passes for any target, one file each; [`nvidia`] and
//!   [`amd`]: those for GPUs of one vendor.

pub mod amd;
pub mod common;
pub mod manager;
pub mod nvidia;
pub mod pipeline_text;
pub mod registry;
pub mod remarks;
pub mod stage;
pub mod tt;
pub mod ttg;
