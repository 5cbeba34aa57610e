//! A job, how it is compiled, and what it gives.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::input::Input;
use super::metadata::Metadata;
use super::variant::Variant;
use crate::backend::{Pipelining, Stage, Tma};
use crate::diag::Diagnostic;
use crate::fingerprint::file_part;
use crate::ir::MAX_OPS;
use crate::irgen::{Given, Trail, TypeRule};
use crate::passes::remarks::Group;
use crate::source::{FileId, SourceMap};
use crate::target::{AmdOptions, Target};

/// Everything about a compilation that is not its input.
#[derive(Clone, Debug)]
pub struct JobOptions {
    pub signature: Option<String>,
    /// The values of `--type NAME=TYPE`: types of parameters by name, which win over the signature.
    pub types: Vec<TypeRule>,
    /// The values of `-D NAME=VALUE`, in order.
    pub defines: Vec<(String, String)>,
    /// The values of `-I`: where imports between kernel files are looked up.
    pub include: Vec<PathBuf>,
    /// Options of the launch: `None` leaves them to the configuration, to heuristics, or to what is usual.
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    /// Choices of the software pipeliner that Triton does not have.
    pub pipelining: Option<Pipelining>,
    /// Whether to keep assertions, and to check integers for overflow, as Triton's debug mode does.
    pub debug: bool,
    pub maxnreg: Option<u32>,
    pub amd: AmdOptions,
    pub fp_fusion: bool,
    /// Whether a kernel that spills registers is compiled again, with other choices (`flow/binary.rs`).
    pub retry: bool,
    pub line_info: bool,
    /// Whether to append the two hidden pointer parameters that Triton's launcher passes.
    pub triton_abi: bool,
    pub tma: Tma,
    /// The kernel's name in PTX, the cubin and the metadata ([`super::variant::symbol`]).
    pub symbol: Option<String>,
    pub ptxas: Option<PathBuf>,
    /// How long ptxas may run. `None` sets no limit.
    pub time_limit: Option<Duration>,
    /// How many programs there are, over arguments and constants.
    pub grid: Option<String>,
    /// The grids of single kernels by their names, which win over `grid` ([`super::grids`]).
    pub grids: Vec<(String, String)>,
    /// Whether to print `loc(…)` in IR text.
    pub locations: bool,
    /// How many operations a kernel may grow to before it counts as endless.
    pub max_ops: usize,
}

impl Default for JobOptions {
    fn default() -> JobOptions {
        JobOptions {
            signature: None,
            types: vec![],
            defines: vec![],
            include: vec![],
            num_warps: None,
            num_stages: None,
            num_ctas: None,
            pipelining: None,
            debug: false,
            maxnreg: None,
            amd: AmdOptions::default(),
            fp_fusion: true,
            retry: true,
            line_info: true,
            triton_abi: false,
            tma: Tma::default(),
            symbol: None,
            ptxas: None,
            time_limit: Some(crate::ptxas::TIME_LIMIT),
            grid: None,
            grids: vec![],
            locations: true,
            max_ops: MAX_OPS,
        }
    }
}

impl JobOptions {
    /// What was said about the launch.
    #[must_use]
    pub fn given(&self) -> Given {
        let JobOptions { num_warps, num_stages, num_ctas, maxnreg, amd, .. } = *self;
        Given { num_warps, num_stages, num_ctas, maxnreg, amd }
    }
}

/// The result of one job.
#[derive(Debug, Default)]
pub struct Compiled {
    pub kernel: String,
    /// The files that were read: the input and what it imports.
    pub files: Vec<FileId>,
    /// What the imports looked for.
    pub trail: Trail,
    pub artifacts: BTreeMap<Stage, Vec<u8>>,
    pub metadata: Metadata,
    /// Wall time of each stage that ran, in order.
    pub timings: Vec<(&'static str, Duration)>,
    /// The assembler and its version, if it took most of a long compilation.
    pub slow_assembler: Option<String>,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
    /// The lines that `tl.static_print` printed.
    pub printed: Vec<String>,
    /// What the options of [`struct@Debug`] asked to see, for stderr.
    pub dumps: Vec<String>,
    /// The passes that ran, if [`Debug::keep_passes`] asks for them.
    pub passes: Vec<PassText>,
    /// How many registers are in use at each instruction, as the disassembler prints it, if [`Debug::line_listing`]
    /// asks for it and the tool knows.
    pub lives: Option<String>,
}

/// A pass, and the module behind it.
#[derive(Clone, Debug)]
pub struct PassText {
    /// The stage to which the pass belongs.
    pub stage: &'static str,
    /// The pass. `input` stands for the module before the first one.
    pub pass: &'static str,
    pub time: Duration,
    /// The module, if the pass changed it.
    pub text: Option<String>,
    /// The module with its locations, behind the passes of [`Debug::keep_located`].
    pub located: Option<String>,
}

/// What to show of the pipeline.
#[derive(Clone, Debug)]
pub struct Debug {
    /// The pass before which to print the IR, or `all` for every pass.
    pub print_before: Option<String>,
    pub print_after: Option<String>,
    /// Whether to print the IR after passes that changed it.
    pub print_after_change: bool,
    /// The directory for a file with the IR after every pass.
    pub dump_dir: Option<PathBuf>,
    /// How the names of the files in that directory differ.
    pub naming: Naming,
    pub time_passes: bool,
    pub verify_each: bool,
    /// Whether to keep the passes with the modules behind them.
    pub keep_passes: bool,
    /// Passes behind which the module is kept with its locations, if the passes are kept.
    pub keep_located: BTreeSet<&'static str>,
    /// Whether a listing says from which source lines its instructions came, and what registers are in use is kept.
    pub line_listing: bool,
    /// The remarks to collect.
    pub remarks: BTreeSet<Group>,
}

impl Default for Debug {
    fn default() -> Debug {
        Debug {
            print_before: None,
            print_after: None,
            print_after_change: false,
            dump_dir: None,
            naming: Naming::default(),
            time_passes: false,
            verify_each: true,
            keep_passes: false,
            keep_located: BTreeSet::new(),
            line_listing: false,
            remarks: BTreeSet::new(),
        }
    }
}

impl Debug {
    /// The pass that an option means by its name, or `all`.
    ///
    /// # Errors
    /// `E0601` when there is no such pass.
    pub fn pass(word: &str) -> Result<String, Diagnostic> {
        if word == "all" {
            Ok(word.to_owned())
        } else {
            crate::passes::registry::named(word).map(|p| p.name.to_owned())
        }
    }
}

/// One kernel of one input for one architecture.
#[derive(Clone, Debug)]
pub struct Job {
    pub input: Input,
    /// The kernel's name. `None` stands for the only kernel of the input.
    pub kernel: Option<String>,
    /// The configuration of the kernel to take, by its number.
    pub config: Option<usize>,
    /// The specialisation.
    pub variant: Option<Variant>,
    pub target: Target,
    /// Names of `-D` and patterns of `--type` that are for other kernels of the run.
    pub for_others: BTreeSet<String>,
    /// The options of the run, before the variant and the input have had their say ([`Job::settled`]).
    pub options: Arc<JobOptions>,
}

impl Job {
    /// A job for the only kernel of an input, as the input and the options say it.
    #[must_use]
    pub fn new(input: Input, target: Target, options: Arc<JobOptions>) -> Job {
        Job { input, kernel: None, config: None, variant: None, target, for_others: BTreeSet::new(), options }
    }

    /// The name of the kernel with the class that it was asked for with, `Class.kernel`, or as it is.
    #[must_use]
    pub fn full_name<'a>(&'a self, kernel: &'a str) -> &'a str {
        self.kernel.as_deref().filter(|name| name.contains('.')).unwrap_or(kernel)
    }
}

/// The result of a job, with the sources that its diagnostics point into.
pub struct Outcome {
    pub result: Result<Compiled, Vec<Diagnostic>>,
    pub sources: SourceMap,
}

/// What the names of a job's files say beside the kernel: `KERNEL[.VARIANT][.CONFIG][.ARCH]`, so that no two jobs of a
/// run write the same file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Naming {
    /// Whether the jobs are for several architectures.
    pub archs: bool,
    /// Whether all configurations are compiled.
    pub configs: bool,
}

impl Naming {
    /// What the names must say for these jobs.
    #[must_use]
    pub fn of(jobs: &[Job], configs: bool) -> Naming {
        Naming { archs: jobs.windows(2).any(|pair| pair[0].target != pair[1].target), configs }
    }

    /// The name for a job's files: `matmul.f16.0.sm_80` for a job that compiles the variant `f16` of `matmul`.
    /// Characters that cannot stand in a file name become `_`, and the end of a long name its fingerprint. A kernel
    /// that was asked for with its class, `Class.kernel`, keeps that in front.
    #[must_use]
    pub fn stem(&self, job: &Job, kernel: &str) -> String {
        let kernel = job.full_name(kernel);
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.') { c } else { '_' };
        let kernel = file_part(&kernel.chars().map(plain).collect::<String>());
        let config = job.config.filter(|_| self.configs).map_or_else(String::new, |n| format!(".{n}"));
        let arch = if self.archs { format!(".{}", job.target.name) } else { String::new() };
        let variant = job.variant.as_ref().map_or_else(String::new, |v| format!(".{}", v.name));
        format!("{kernel}{variant}{config}{arch}")
    }
}

/// The compiler that made an output: `ttc 0.1.0 (LLVM 22.1.8)`.
#[must_use]
pub fn compiler_version() -> String {
    format!("ttc {} (LLVM {})", env!("CARGO_PKG_VERSION"), crate::codegen::llvm_version())
}
