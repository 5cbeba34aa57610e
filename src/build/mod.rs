//! `ttc build`: everything that a manifest names, made once and again only where something changed.
//!
//! 1. [`manifest`] reads `ttc.toml`: kernels, architectures, constants, configurations, variants, and what to make.
//! 2. [`plan`] turns it into units. A unit is one kernel in one variant and configuration for one architecture: one
//!    cubin.
//!    Where the manifest asks for it, what `ttc tune` found best becomes variants ([`tuned`]).
//! 3. [`record`] knows from the last build which files each unit came from. Units whose files, options and tools are
//!    as they were, and whose outputs are as they were written, are left alone.
//! 4. [`run`] compiles the others side by side. What concerns several units is made when all of them are there: fat
//!    binaries, launchers and the index ([`products`]).
//! 5. What is wrong is said in the manifest's words ([`wording`]).
//!
//! ```toml
//! [build]
//! archs = ["sm_80", "sm_90a"]
//! emit = ["cubin", "rust"]
//!
//! [kernel.add]
//! file = "add.py"
//! types = { "*_ptr" = "*fp32:16", n = "i32" }
//! constants = { BLOCK = 1024 }
//! grid = "cdiv(n, BLOCK)"
//! ```

mod folder;
pub mod lookup;
pub mod manifest;
mod object;
mod plan;
mod products;
mod record;
mod run;
mod tuned;
mod unit;
mod wording;

pub use plan::Settings;
pub use run::{Built, Progress, build};
