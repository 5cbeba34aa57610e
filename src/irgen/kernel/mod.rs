//! The kernel that is asked for: which function of a file it is, what its parameters are, which configuration and
//! heuristics give them their values.
//!
//! Everything here is host code or stands around a kernel; the walk through the kernel itself is [`super::walk`]'s.

mod choose;
pub mod config;
pub mod entry;
mod faults;
mod heuristics;
pub mod list;
mod parameters;
pub mod request;
mod signature;
pub mod template;
mod typed;
pub mod untyped;
