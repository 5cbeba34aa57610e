//! The options of a compilation beside its source and its target.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::driver::request::{Choice, ConfigChoice};
use crate::driver::{self, Stage, Tma};
use crate::irgen::TypeRule;
use crate::passes::remarks::Group;
use crate::target::Target;

/// The options of a compilation. Each method is an option of the command line and means the same.
///
/// ```
/// # use ttc::{Options, Stage};
/// let options = Options::new()
///     .kernel("add")
///     .signature("*fp32:16, *fp32:16, i32")
///     .define("BLOCK", 1024)
///     .num_warps(8)
///     .stages([Stage::Assembly]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    kernel: Option<String>,
    config: Option<usize>,
    stages: BTreeSet<Stage>,
    pub(super) remarks: BTreeSet<Group>,
    pub(super) settings: driver::JobOptions,
}

impl Options {
    /// The options for a source with one kernel. It is compiled to a cubin, with the types of its annotations.
    #[must_use]
    pub fn new() -> Options {
        Options::default()
    }

    /// The kernel to take. It is needed when the source holds several.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Options {
        self.kernel = Some(name.into());
        self
    }

    /// The types of all parameters, as Triton's ahead-of-time tool takes them: `*fp32:16, i32, 1024`. Without them, the
    /// annotations of the parameters say the types.
    #[must_use]
    pub fn signature(mut self, types: impl Into<String>) -> Options {
        self.settings.signature = Some(types.into());
        self
    }

    /// The type of a parameter, as [`Options::signature`] has it. The name may be a pattern, in which `*` stands for
    /// any text and `?` for one character: `param_type("stride_*", "i32")`. A name in full wins over a pattern, and
    /// both win over the signature and the annotations.
    #[must_use]
    pub fn param_type(mut self, name: impl Into<String>, ty: impl Into<String>) -> Options {
        self.settings.types.push(TypeRule::new(name, ty));
        self
    }

    /// The value of a constexpr parameter, or of a name of the file: a literal, a dtype, a tuple, or the name of a jit
    /// function.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Options {
        self.settings.defines.push((name.into(), value.to_string()));
        self
    }

    /// Adds a folder in which imports of kernel files are looked for, after those given before.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Options {
        self.settings.include.push(folder.into());
        self
    }

    /// The configuration of `@triton.autotune` to take, by its number. Other options win over what it says.
    #[must_use]
    pub fn config(mut self, number: usize) -> Options {
        self.config = Some(number);
        self
    }

    /// The warps of a block: a power of two up to 32. The default is the configuration's number, or 4.
    #[must_use]
    pub fn num_warps(mut self, warps: u32) -> Options {
        self.settings.num_warps = Some(warps);
        self
    }

    /// The stages of software pipelining. The default is the configuration's number, or 3.
    #[must_use]
    pub fn num_stages(mut self, stages: u32) -> Options {
        self.settings.num_stages = Some(stages);
        self
    }

    /// The blocks of a cluster. The default is the configuration's number, or 1.
    #[must_use]
    pub fn num_ctas(mut self, blocks: u32) -> Options {
        self.settings.num_ctas = Some(blocks);
        self
    }

    /// How many registers a thread may use.
    #[must_use]
    pub fn maxnreg(mut self, registers: u32) -> Options {
        self.settings.maxnreg = Some(registers);
        self
    }

    /// How many programs a launch has, over arguments and constants: `cdiv(n, BLOCK), 2`.
    #[must_use]
    pub fn grid(mut self, expressions: &str) -> Options {
        self.settings.grid = Some(expressions.to_owned());
        self
    }

    /// The stages to make. The default is a cubin.
    #[must_use]
    pub fn stages(mut self, stages: impl IntoIterator<Item = Stage>) -> Options {
        self.stages = stages.into_iter().collect();
        self
    }

    /// Keeps assertions, and checks integers for overflow, as Triton's debug mode does.
    #[must_use]
    pub fn debug(mut self, on: bool) -> Options {
        self.settings.debug = on;
        self
    }

    /// Whether `a * b + c` may be contracted into one rounding. The default is yes.
    #[must_use]
    pub fn fp_fusion(mut self, on: bool) -> Options {
        self.settings.fp_fusion = on;
        self
    }

    /// Whether a kernel that spills registers is compiled again with other choices. The default is yes.
    #[must_use]
    pub fn retry(mut self, on: bool) -> Options {
        self.settings.retry = on;
        self
    }

    /// Whether PTX and cubin get line tables. The default is yes.
    #[must_use]
    pub fn line_info(mut self, on: bool) -> Options {
        self.settings.line_info = on;
        self
    }

    /// Whether IR text gets `loc(…)`. The default is yes.
    #[must_use]
    pub fn locations(mut self, on: bool) -> Options {
        self.settings.locations = on;
        self
    }

    /// Appends the two hidden pointer parameters that Triton's launcher passes.
    #[must_use]
    pub fn triton_abi(mut self, on: bool) -> Options {
        self.settings.triton_abi = on;
        self
    }

    /// Which loads of tiles become copies by hardware. The default is none.
    #[must_use]
    pub fn tma(mut self, mode: Tma) -> Options {
        self.settings.tma = mode;
        self
    }

    /// The kernel's name in PTX, the cubin and the metadata. The default is its name in the source.
    #[must_use]
    pub fn symbol(mut self, name: impl Into<String>) -> Options {
        self.settings.symbol = Some(name.into());
        self
    }

    /// How many operations a kernel may grow to before it counts as endless.
    #[must_use]
    pub fn max_ops(mut self, operations: usize) -> Options {
        self.settings.max_ops = operations;
        self
    }

    /// The ptxas to run. The default is the one that the environment offers.
    #[must_use]
    pub fn ptxas(mut self, path: impl Into<PathBuf>) -> Options {
        self.settings.ptxas = Some(path.into());
        self
    }

    /// How long ptxas may run. `None` sets no limit; the default is an hour.
    #[must_use]
    pub fn ptxas_timeout(mut self, limit: Option<Duration>) -> Options {
        self.settings.time_limit = limit;
        self
    }

    /// The kinds of remarks to make about what keeps the kernel from being faster. They stand among the diagnostics of
    /// the artifacts.
    #[must_use]
    pub fn remarks(mut self, groups: impl IntoIterator<Item = Group>) -> Options {
        self.remarks = groups.into_iter().collect();
        self
    }

    /// The stages to make.
    pub(super) fn wanted(&self) -> Vec<Stage> {
        if self.stages.is_empty() { vec![Stage::Binary] } else { self.stages.iter().copied().collect() }
    }

    /// The choice of kernels. Without a name, it is all of them if `all` says so.
    pub(super) fn choice(&self, target: Target, all: bool) -> Choice {
        Choice {
            kernels: self.kernel.iter().cloned().collect(),
            all,
            config: self.config.map(ConfigChoice::One),
            variants: vec![],
            targets: vec![target],
        }
    }

    /// The name and the configuration of the kernel that is meant.
    pub(super) fn chosen(&self) -> (Option<String>, Option<usize>) {
        (self.kernel.clone(), self.config)
    }
}
