//! Kernels on a GPU: running, measuring and tuning them.
//!
//! 1. [`session`] opens the GPU. [`program`] compiles kernels, or reads cubins; [`tables`] makes of a launch descriptor
//!    the tables that `ttc-rt` launches.
//! 2. [`arguments`] brings a case's buffers to the GPU, and [`ready`] is a program that is bound to them.
//! 3. [`explain`] says what a failure means.
//! 4. [`lock`] is the file that keeps what tuning found.

pub mod arguments;
pub mod bench;
pub mod explain;

pub mod lock;
pub mod measure;
pub mod plot;
pub mod program;
pub mod prune;
pub mod ready;
pub mod record;
pub mod session;
pub mod space;
pub mod table;
pub mod tables;
pub mod traffic;
pub mod tune;
