//! Back ends, a folder a vendor: what turns TTGIR into something that a device runs.
//!
//! A [`Backend`] is everything that the rest of ttc needs of a vendor: the stages with their names, the pipelines of
//! passes, and the [`Generator`] of what is behind TTGIR: the [`Machine`] that lowering writes instructions with, the
//! library of device code, and the tools that finish. The driver finds it by the target ([`of`]) and names no vendor;
//! the list of vendors is in `src/target/mod.rs`.
//! `docs/add-a-backend.md` says how to write one.

mod amd;
mod nvidia;
mod pipelining;
mod process;

pub use pipelining::{
    Chains, Iterations, Loads, Operands, Pipelining, Programs, Refill, Rows, Slots, Stages, Steps, Versions,
};

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::analysis::prepared::Prepared;
use crate::codegen::machine::Machine;
use crate::codegen::{self, CodegenOptions, Module};
use crate::diag::Diagnostic;
use crate::diag::codes::cli::NO_SUCH_STAGE;
use crate::ir::Ir;
use crate::passes::manager::Pipeline;
use crate::ptxas::{Ahead, Stop};
use crate::target::{AmdOptions, Target, Vendor, vendors};

/// What a compilation can produce, in order. Back ends have words of their own for the last three.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Stage {
    /// TTIR behind its passes.
    Ttir,
    /// TTGIR behind its passes.
    Ttgir,
    /// LLVM IR behind its passes.
    Llir,
    /// What LLVM's back end writes: PTX.
    Assembly,
    /// What a driver loads: a cubin.
    Binary,
    /// The binary's instructions as text: SASS.
    Listing,
}

/// Which loads through pointers become copies by hardware that reads tensor descriptors, where the target has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tma {
    /// None.
    Off,
    /// As [`Tma::Device`], in the loops where it was measured to be faster: those in which warp groups run apart
    /// ([`crate::analysis::chained_products`]), and those that compute the addresses of their operands.
    #[default]
    Auto,
    /// Those of operands of matrix products in loops. The kernel makes the descriptors in front of them.
    Device,
    /// The same, where the descriptors follow from the kernel's parameters. They become more parameters, which the
    /// launch makes. Other loads are as for [`Tma::Auto`].
    Host,
}

/// What TTIR and TTGIR are made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuOptions {
    pub target: Target,
    pub num_warps: u32,
    pub num_ctas: u32,
    pub num_stages: u32,
    /// The registers that a thread may have, where the user says so.
    pub maxnreg: Option<u32>,
    pub tma: Tma,
    pub pipelining: Pipelining,
    pub amd: AmdOptions,
}

impl GpuOptions {
    /// The defaults of a launch on this target.
    #[must_use]
    pub fn new(target: Target) -> GpuOptions {
        GpuOptions {
            target,
            num_warps: 4,
            num_ctas: 1,
            num_stages: 3,
            maxnreg: None,
            tma: Tma::default(),
            pipelining: Pipelining::default(),
            amd: AmdOptions::default(),
        }
    }
}

/// How the tools behind LLVM are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tools<'a> {
    /// The assembler to run, instead of the one that is found.
    pub(crate) assembler: Option<&'a Path>,
    pub(crate) line_info: bool,
    pub(crate) fp_fusion: bool,
    /// Whether the assembler may run once more, in another way, where its answer is bad.
    pub(crate) retry: bool,
    /// The bytes of shared memory of a block, if they are known.
    pub(crate) shared: Option<u32>,
    /// How many versions of its code the assembly has, of which each program runs one.
    pub(crate) versions: u32,
    /// Where the user wrote the assembly; complaints point into it.
    pub(crate) source_name: Option<&'a str>,
    /// How long a tool may run; without limit if absent.
    pub(crate) time_limit: Option<Duration>,
    /// What ends the assembler when its answer is not needed any more.
    pub(crate) stop: Option<&'a Stop>,
    /// What code may cost by the model, where a full multiprocessor runs it, so that the assembler is asked for it in
    /// another way; another thread may still be finding out. `None` sets no limit.
    pub(crate) most_cost: Option<&'a OnceLock<f64>>,
    /// Whether a listing says from which source lines its instructions came.
    pub(crate) line_listing: bool,
}

/// What running a binary costs, by a model: cycles of a scheduler, to be compared with those of other binaries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Cost {
    /// Where as many blocks run as a multiprocessor has room for.
    pub(crate) full: f64,
    /// Where few warps run.
    pub(crate) few: f64,
    /// The blocks that it has room for.
    pub(crate) blocks: u32,
}

/// What an assembler made.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub(crate) bytes: Vec<u8>,
    pub(crate) registers: u32,
    /// Bytes that a thread stores and loads because registers did not suffice.
    pub(crate) spill_stores: u32,
    pub(crate) spill_loads: u32,
    /// Whether no other order of instructions is worth a try: there are few spills or none, or they are the price of
    /// more blocks that share a multiprocessor.
    pub(crate) settled: bool,
    /// What running it costs by the generator's model, to be compared with other binaries of the same kernel; `None`
    /// where there is no model.
    pub(crate) cost: Option<Cost>,
    /// The assembly that it was made of, if the assembler was told more than what it was given.
    pub(crate) assembly: Option<String>,
}

impl Binary {
    /// Bytes that go to memory for want of registers, and back.
    pub(crate) fn spilled(&self) -> u32 {
        self.spill_stores.saturating_add(self.spill_loads)
    }
}

/// Code for one architecture.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) target: Target,
    /// [`Stage::Binary`] or [`Stage::Assembly`].
    pub(crate) stage: Stage,
    pub(crate) bytes: Vec<u8>,
}

/// A vendor. See the module documentation.
pub(crate) trait Backend: Sync {
    /// The stages in order, each with the word that `--emit` takes and its files end in. Those behind TTGIR are there
    /// if there is a generator.
    fn stages(&self) -> &'static [(Stage, &'static str)];

    /// TTIR as the front end makes it to optimised TTIR.
    fn ttir(&self, options: &GpuOptions) -> Pipeline;

    /// TTIR to optimised TTGIR.
    fn ttgir(&self, options: &GpuOptions) -> Pipeline;

    /// What makes the stages behind TTGIR. A back end without it is one whose text Triton finishes.
    fn generator(&self) -> Option<&'static dyn Generator>;

    /// The word for a stage.
    fn word(&self, stage: Stage) -> &'static str {
        self.stages().iter().find(|(s, _)| *s == stage).map_or("", |(_, word)| word)
    }
}

/// What makes LLVM IR, assembly and binaries of TTGIR.
pub(crate) trait Generator: Sync {
    /// TTGIR to the form that code generation reads: memory laid out, barriers inserted.
    fn llir(&self, options: &GpuOptions) -> Pipeline;

    /// How lowering writes instructions.
    fn machine(&self) -> &'static dyn Machine;

    /// The file of the vendor's library of device code.
    ///
    /// # Errors
    /// When it is not installed.
    fn library(&self) -> Result<PathBuf, Diagnostic>;

    /// The files outside of ttc that decide what the stages up to `last` become: tools, and the library where it is
    /// installed. `assembler` is the assembler that the user named.
    ///
    /// # Errors
    /// When a tool is not installed.
    fn outside(&self, last: Stage, assembler: Option<&Path>) -> Result<Vec<PathBuf>, Diagnostic>;

    /// Starts the assembler for assembly that will be there soon, if that saves time.
    fn ahead(&self, _target: &Target, _tools: &Tools<'_>) -> Option<Ahead> {
        None
    }

    /// Whether binaries say what they cost ([`Binary::cost`]).
    fn knows_cost(&self) -> bool {
        false
    }

    /// Whether it is likely that the assembler spills so many registers that another order of instructions is worth a
    /// try.
    fn may_spill(&self, _assembly: &str) -> bool {
        false
    }

    /// Whether it is likely that the assembler spills less of other assembly for the same kernel.
    fn may_spill_less(&self, _other: &str, _assembly: &str) -> bool {
        true
    }

    /// Assembly to a binary, by the assembler that was started for it with the same tools, if one was.
    ///
    /// # Errors
    /// What the tool says of the assembly, or why it cannot be run.
    fn assemble(
        &self,
        assembly: &str,
        target: &Target,
        tools: &Tools<'_>,
        ahead: Option<Ahead>,
    ) -> Result<Binary, Diagnostic>;

    /// The assembler with its version, in words: `ptxas 13.4`. `named` is the assembler that the user named.
    fn assembler(&self, named: Option<&Path>) -> String;

    /// A binary's instructions.
    ///
    /// # Errors
    /// Why the tool cannot be run.
    fn list(&self, binary: &[u8], tools: &Tools<'_>) -> Result<String, Diagnostic>;

    /// A binary's instructions with the numbers of registers that are in use at each, in the words of the vendor's
    /// tool; `None` where no tool knows.
    ///
    /// # Errors
    /// Why the tool cannot be run.
    fn lives(&self, binary: &[u8], tools: &Tools<'_>) -> Result<Option<String>, Diagnostic>;

    /// The registers of a thread, as a binary says it, or the assembly that it was made of.
    fn registers(&self, assembly: &str, binary: &[u8]) -> Option<u32>;

    /// Code for several architectures as one file, from which the driver chooses.
    ///
    /// # Errors
    /// What the tool says, or why it cannot be run.
    fn bundle(&self, images: &[Image], time_limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic>;

    /// The extension of such a file.
    fn bundle_extension(&self) -> &'static str;

    /// What makes the assembly, the binary or the listing, as tables of times call it.
    fn work(&self, stage: Stage) -> &'static str;
}

macro_rules! back_ends {
    ($($vendor:ident $module:ident;)*) => {
        /// Every back end.
        static ALL: &[&dyn Backend] = &[$(&$module::BACK_END,)*];

        /// The back end of a target.
        pub(crate) fn of(target: &Target) -> &'static dyn Backend {
            match target.vendor() {
                $(Vendor::$vendor => &$module::BACK_END,)*
            }
        }
    };
}
vendors!(back_ends);

/// What makes the stages behind TTGIR for a target.
///
/// # Errors
/// `E0935` when nothing does.
pub(crate) fn generator(target: &Target) -> Result<&'static dyn Generator, Diagnostic> {
    of(target).generator().ok_or_else(|| no_stage(Stage::Llir, target))
}

/// The bytes that the target can copy from global to shared memory at once, past the registers, the most first.
pub(crate) fn async_copy_bytes(target: &Target) -> &'static [u32] {
    of(target).generator().map_or(&[], |g| g.machine().async_copy_bytes())
}

/// A binary as text.
pub(crate) struct Listed {
    /// The instructions with their source lines.
    pub(crate) text: String,
    /// The instructions with the registers in use, if the vendor's tool knows.
    pub(crate) lives: Option<String>,
    /// The registers of a thread, if anything says.
    pub(crate) registers: Option<u32>,
}

/// Takes a binary apart that somebody else may have made.
///
/// # Errors
/// Why the tool cannot be run.
pub(crate) fn listing(
    target: &Target,
    assembly: &str,
    binary: &[u8],
    time_limit: Option<Duration>,
) -> Result<Listed, Diagnostic> {
    let generator = generator(target)?;
    let tools = Tools {
        assembler: None,
        line_info: true,
        fp_fusion: true,
        retry: false,
        shared: None,
        versions: 1,
        source_name: None,
        time_limit,
        stop: None,
        most_cost: None,
        line_listing: true,
    };
    let text = generator.list(binary, &tools)?;
    let lives = generator.lives(binary, &tools).unwrap_or(None);
    Ok(Listed { text, lives, registers: generator.registers(assembly, binary) })
}

/// LLVM's name of the architecture of a target, which its triples start with.
pub(crate) fn triple(target: &Target) -> Option<&'static str> {
    of(target).generator()?.machine().llvm().triple().split('-').next()
}

/// LLVM's name of the calling convention of kernels.
pub(crate) fn kernel_convention(target: &Target) -> Option<&'static str> {
    Some(of(target).generator()?.machine().llvm().kernel_convention().1)
}

/// Checks that ttc makes each stage for a target.
///
/// # Errors
/// `E0935` for the first that it does not make.
pub(crate) fn check_stages(target: &Target, want: &[Stage]) -> Result<(), Diagnostic> {
    want.iter().find(|s| s.word(target).is_empty()).map_or(Ok(()), |&stage| Err(no_stage(stage, target)))
}

/// Checks that a word for a stage is one of some target's. A word that names no stage passes.
///
/// # Errors
/// `E0935` for a word of other targets.
pub fn check_word(word: &str, targets: &[Target]) -> Result<(), Diagnostic> {
    let is_known = |t: &Target| of(t).stages().iter().any(|(_, known)| *known == word);
    match targets.first() {
        Some(first) if Stage::find(word).is_some() && !targets.iter().any(is_known) => Err(no_word(word, first)),
        _ => Ok(()),
    }
}

fn no_stage(stage: Stage, target: &Target) -> Diagnostic {
    no_word(&stage.names(), target)
}

fn no_word(names: &str, target: &Target) -> Diagnostic {
    let words: Vec<&str> = of(target).stages().iter().map(|&(_, word)| word).collect();
    let last = words.last().copied().unwrap_or_default();
    let text = format!("ttc makes no {names} for {target}: its stages are {}", words.join(", "));
    Diagnostic::error(&NO_SUCH_STAGE, text).help(format!("ask for one of them, as with `--emit {last}`"))
}

/// The words of all stages, in order, each once.
#[must_use]
pub fn words() -> Vec<&'static str> {
    let mut all: Vec<(Stage, &'static str)> = ALL.iter().flat_map(|b| b.stages().iter().copied()).collect();
    all.sort_by_key(|&(stage, _)| stage);
    all.dedup();
    all.into_iter().map(|(_, word)| word).collect()
}

/// Code for several architectures of one vendor as one file, from which the driver chooses.
///
/// # Errors
/// What the tool says, or why it cannot be run.
pub(crate) fn bundle(images: &[Image], time_limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
    images.first().map_or(Ok(vec![]), |first| generator(&first.target)?.bundle(images, time_limit))
}

/// The extension of a file with code for several architectures of a target's vendor.
///
/// # Errors
/// `E0935` when ttc makes no code for the target.
pub(crate) fn bundle_extension(target: &Target) -> Result<&'static str, Diagnostic> {
    Ok(generator(target)?.bundle_extension())
}

/// What makes a stage behind LLVM IR for a target, as tables of times call it: `ptxas`.
pub(crate) fn work(target: &Target, stage: Stage) -> &'static str {
    of(target).generator().map_or("", |generator| generator.work(stage))
}

/// Whether tables of times call an assembler so.
pub(crate) fn is_assembler(word: &str) -> bool {
    ALL.iter().filter_map(|b| b.generator()).any(|generator| generator.work(Stage::Binary) == word)
}

impl Stage {
    /// The stage of a word or file extension.
    #[must_use]
    pub fn find(word: &str) -> Option<Stage> {
        ALL.iter().flat_map(|b| b.stages()).find(|(_, w)| *w == word).map(|&(stage, _)| stage)
    }

    /// The words of this stage, of all back ends: `ptx`.
    #[must_use]
    pub fn names(self) -> String {
        let mut words: Vec<&str> = ALL.iter().map(|b| b.word(self)).filter(|w| !w.is_empty()).collect();
        words.dedup();
        words.join(" or ")
    }

    /// The word of `--emit` for a target, and the extension of its files.
    #[must_use]
    pub fn word(self, target: &Target) -> &'static str {
        of(target).word(self)
    }
}

/// TTIR as the front end makes it to optimised TTIR.
#[must_use]
pub fn ttir(options: &GpuOptions) -> Pipeline {
    of(&options.target).ttir(options)
}

/// TTIR to optimised TTGIR.
#[must_use]
pub fn ttgir(options: &GpuOptions) -> Pipeline {
    of(&options.target).ttgir(options)
}

/// TTGIR to the form that code generation reads: memory laid out, barriers inserted.
///
/// # Errors
/// `E0935` when no code is made for the target.
pub fn llir(options: &GpuOptions) -> Result<Pipeline, Diagnostic> {
    Ok(generator(&options.target)?.llir(options))
}

/// Lowers every kernel of a module of TTGIR, with what it calls, to LLVM IR, not optimised yet. `prepared` is what the
/// passes of the preparation computed of it; without that it is computed now.
///
/// # Errors
/// All that code generation cannot do with this module: E07xx with the operation's place.
pub fn lower(ir: &Ir, options: &CodegenOptions, prepared: Option<Prepared>) -> Result<Module, Vec<Diagnostic>> {
    let generator = generator(&options.target).map_err(|e| vec![e])?;
    let prepared = match prepared.filter(|p| p.is_for(&options.target)) {
        Some(prepared) => prepared,
        None => Prepared::new(ir, &options.target).map_err(|(op, e)| vec![codegen::no_layout(ir, op, &e)])?,
    };
    codegen::lower(ir, options, &prepared, generator.machine())
}

/// Reads LLVM IR text, as `--emit llir` writes it or Triton dumps it.
///
/// # Errors
/// `E0708` when it is no valid LLVM IR, `E0705` when it holds no kernel.
pub fn parse_llir(text: &str, options: &CodegenOptions) -> Result<Module, Diagnostic> {
    codegen::parse_llir(text, options, generator(&options.target)?.machine().llvm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::manager::Pipeline as Parsed;
    use crate::passes::registry;
    use crate::target::targets;

    #[test]
    fn every_back_end_has_the_stages_in_order() {
        for target in targets() {
            let stages: Vec<Stage> = of(target).stages().iter().map(|&(stage, _)| stage).collect();
            assert!(stages.is_sorted() && stages.starts_with(&[Stage::Ttir, Stage::Ttgir]), "{target}");
            assert_eq!(stages.contains(&Stage::Llir), of(target).generator().is_some(), "{target}");
        }
    }

    #[test]
    fn the_pipelines_read_back_as_they_print() {
        let all = |t: &Target| {
            let options = GpuOptions::new(*t);
            let with_tma = |tma| ttir(&GpuOptions { tma, ..options.clone() });
            [ttir(&options), with_tma(Tma::Device), with_tma(Tma::Host), ttgir(&options)]
                .into_iter()
                .chain(llir(&options))
        };
        for pipeline in targets().flat_map(all) {
            assert_eq!(
                Parsed::parse(&pipeline.to_string(), registry::named).unwrap().to_string(),
                pipeline.to_string()
            );
        }
    }
}
