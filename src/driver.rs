//! The driver: which stage feeds which, from any input to any output.
//!
//! A [`Job`] is one kernel of one input for one architecture. [`request`] turns the user's request into jobs,
//! [`run_all`] takes each through the stages until everything it was asked for exists. The driver reads files and
//! collects diagnostics; it writes nothing and prints nothing: [`place`] and [`output`] write, `main.rs` prints.
//!
//! ```text
//! source ─ parse ─ irgen ─▶ ttir ─ passes ─▶ ttgir ─ codegen ─▶ llir ─ LLVM ─▶ ptx ─ ptxas ─▶ cubin ─ nvdisasm ─▶ sass
//! ```
//!
//! 1. The input's extension says at which stage it enters.
//! 2. Each stage runs only if something at it or after it was asked for.
//! 3. The text of a stage is made only if that stage was asked for.

mod agree;
mod amdgcn_facts;
mod cached;
mod call;
mod carried;
pub mod check;
mod flow;
pub mod grids;
pub mod hidden;
pub mod input;
mod job;
pub mod launchers;
pub mod metadata;
mod observe;
pub mod opt;
pub mod output;
mod overrides;
mod params;
pub mod place;
mod ptx_facts;
pub mod repeated;
pub mod reproducer;
pub mod request;
mod run;
pub mod timings;
pub mod variant;

pub use crate::backend::{Pipelining, Stage, Tma};
pub use cached::key::of_job as job_key;
pub use job::{Compiled, Debug, Job, JobOptions, Naming, Outcome, PassText, compiler_version};
pub use overrides::Overrides;
pub use run::{Reuse, run_all, run_each};
pub use variant::{Preset, Variant};
