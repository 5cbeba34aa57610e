//! The driver: which stage feeds which, from any input to any output.
//!
//! A [`Job`] is one kernel of one input for one architecture. [`plan`] turns the user's request into jobs, [`run`] takes a job through the
//! stages until everything it was asked for exists. The driver reads files and collects diagnostics; it writes nothing and prints nothing:
//! [`output`] writes, `main.rs` prints.
//!
//! ```text
//! source ─ parse ─ irgen ─▶ ttir ─ passes ─▶ ttgir ─ codegen ─▶ llir ─ LLVM ─▶ ptx ─ ptxas ─▶ cubin ─ nvdisasm ─▶ sass
//! ```
//!
//! 1. The input's extension says at which stage it enters.
//! 2. Each stage runs only if something at it or after it was asked for.
//! 3. The text of a stage is made only if that stage was asked for.

pub mod input;
pub mod metadata;
pub mod opt;
pub mod output;
pub mod reproducer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::codegen::{self, CodegenOptions};
use crate::diag::{Diagnostic, codes};
use crate::ir::Ir;
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::irgen::{self, KernelRequest, Lowered};
use crate::passes::manager::{Instrumentation, PassManager};
use crate::passes::pipelines;
use crate::ptxas;
use crate::source::SourceMap;
use crate::target::Target;
use input::{Input, Program};
use metadata::Metadata;

/// What a job can produce.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    Ttir,
    Ttgir,
    Llir,
    Ptx,
    Cubin,
    Sass,
}

impl Stage {
    pub const ALL: [Stage; 6] = [Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Ptx, Stage::Cubin, Stage::Sass];

    /// The word of `--emit` and the extension of its files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Stage::Ttir => "ttir",
            Stage::Ttgir => "ttgir",
            Stage::Llir => "llir",
            Stage::Ptx => "ptx",
            Stage::Cubin => "cubin",
            Stage::Sass => "sass",
        }
    }

    /// The stage of a word or file extension.
    #[must_use]
    pub fn find(word: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|s| s.word() == word)
    }
}

/// Everything about a compilation that is not its input.
#[derive(Clone, Debug)]
pub struct Options {
    pub signature: Option<String>,
    /// `-D NAME=VALUE`, in order.
    pub defines: Vec<(String, String)>,
    /// `-I`: where imports between kernel files are looked up.
    pub include: Vec<PathBuf>,
    pub num_warps: u32,
    pub num_stages: u32,
    pub num_ctas: u32,
    pub maxnreg: Option<u32>,
    pub fp_fusion: bool,
    pub line_info: bool,
    /// Append the two hidden pointer parameters that Triton's launcher passes.
    pub triton_abi: bool,
    pub ptxas: Option<PathBuf>,
    /// Print `loc(…)` in IR text.
    pub locations: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            signature: None,
            defines: vec![],
            include: vec![],
            num_warps: 4,
            num_stages: 3,
            num_ctas: 1,
            maxnreg: None,
            fp_fusion: true,
            line_info: true,
            triton_abi: false,
            ptxas: None,
            locations: true,
        }
    }
}

/// What one job made.
#[derive(Debug, Default)]
pub struct Compiled {
    pub kernel: String,
    pub artifacts: BTreeMap<Stage, Vec<u8>>,
    pub metadata: Metadata,
    /// Wall time of each stage that ran, in order.
    pub timings: Vec<(&'static str, Duration)>,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// The program at the stage it has reached.
enum Program2 {
    Ir(Ir),
    Llvm(codegen::Module),
    Ptx(String),
}
