//! The compiler as a library: the part that the crate's front page shows.
//!
//! 1. A [`Source`] is read into the sources of one call, so that calls share nothing.
//! 2. The work runs on a thread with a large stack, since kernels may nest deeply, and a panic in it becomes a
//!    diagnostic.
//! 3. [`request`], [`run_all`], [`check`] and [`call`] do the work, both for the program `ttc` and for this module.

mod artifacts;
mod diagnostics;
mod launch;
mod options;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

pub use artifacts::Artifacts;
pub use diagnostics::{Diagnostics, Message};
pub use launch::{Element, Launch, Scalar};
pub use options::Options;

use crate::cases::call;
use crate::cases::manual::Bound;
use crate::diag::Diagnostic;
use crate::driver::input::{self, Input, Language};
use crate::driver::{Debug, Job, Outcome, check, reproducer, request, run_all};
use crate::interp;
use crate::irgen::{KernelInfo, list_kernels};
use crate::source::SourceMap;
use crate::target::Target;
use crate::threads;

/// What to compile: a kernel file, or the text of any stage.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    text: Option<String>,
}

impl Source {
    /// A file. Its extension says what it holds: a kernel (`.tk`, `.py`), IR (`.ttir`, `.ttgir`), LLVM IR (`.llir`) or
    /// PTX (`.ptx`). `-` is a kernel file on standard input.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Source {
        Source { path: path.into(), text: None }
    }

    /// A text, with the name that messages use for it. The name's extension says what the text holds, as a file's does.
    /// Since the text lies in no folder, imports are looked for in the folders of [`Options::include`] alone.
    #[must_use]
    pub fn text(name: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source { path: name.into(), text: Some(text.into()) }
    }

    fn read(&self, sources: &mut SourceMap, language: Option<Language>) -> Result<Input, Diagnostic> {
        match &self.text {
            Some(text) => input::add_text(sources, &self.path, text, language),
            None => input::read(sources, &self.path, language),
        }
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::file(path)
    }
}

/// The kernels of a source.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// All jit functions in source order. Those that can be launched have [`KernelInfo::entry`].
    pub kernels: Vec<KernelInfo>,
    /// Why the source cannot be read, or the syntax errors inside kernels. The other kernels are listed all the same.
    pub diagnostics: Diagnostics,
}

/// The findings of a check.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Errors, warnings, and a remark for what could not be checked with its types.
    pub diagnostics: Diagnostics,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
}

/// What a run in the interpreter did, beside storing into its buffers.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// How many programs ran.
    pub programs: u64,
    /// How many operations were evaluated, over all programs.
    pub operations: u64,
    /// The lines that the kernel printed: at compile time, then in the order of the programs.
    pub printed: Vec<String>,
    /// Warnings.
    pub diagnostics: Diagnostics,
}

/// A compiler for one GPU.
///
/// It holds the target and nothing else: calls on one or several compilers, from one or several threads, share no state
/// that changes, and equal inputs give equal bytes. A panic in a call is a defect of ttc: it becomes an `E0999` that
/// names a file for a report. To keep such a panic from being printed, the first call puts a panic hook before the
/// program's own, which still gets every other panic.
#[derive(Clone, Copy, Debug)]
pub struct Compiler {
    target: Target,
}

impl Compiler {
    /// A compiler for this GPU.
    #[must_use]
    pub fn new(target: Target) -> Compiler {
        Compiler { target }
    }

    /// The GPU that it compiles for.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Compiles one kernel to the stages that are asked for.
    ///
    /// # Errors
    /// Everything that is wrong with the source or the options, what a tool said, or a defect of the compiler
    /// (`E0999`).
    pub fn compile(&self, source: &Source, options: &Options) -> Result<Artifacts, Diagnostics> {
        let about = || format!("{self:?}\n{source:?}\n{options:?}");
        let want = options.wanted();
        let mut outcomes = guarded(&about, |sources| {
            let input = source.read(sources, None).map_err(|d| vec![d])?;
            request::check_options(&options.settings)?;
            request::check_reachable(&input, &want).map_err(|d| vec![d])?;
            // One input, one target and at most one configuration make one job.
            let jobs = request::jobs(&[input], sources, &options.choice(self.target, false), &options.settings)?;
            let debug = Debug { remarks: options.remarks.clone(), ..Debug::default() };
            Ok(run_all(&jobs, sources, &want, &debug, 1))
        })?;
        let Outcome { result, sources } = outcomes.0.remove(0);
        match result {
            Ok(made) => Ok(Artifacts::new(made, sources)),
            Err(errors) => Err(Diagnostics::new(errors, sources)),
        }
    }

    /// Lists the kernels of a kernel file, with their parameters and configurations. Only the options about imports
    /// matter.
    #[must_use]
    pub fn list(&self, source: &Source, options: &Options) -> Listing {
        let about = || format!("{self:?}\n{source:?}\n{options:?}");
        let listed = guarded(&about, |sources| {
            let input = source.read(sources, Some(Language::Source)).map_err(|d| vec![d])?;
            Ok(list_kernels(sources, input.file, &options.settings.include))
        });
        match listed {
            Ok(((kernels, said), sources)) => Listing { kernels, diagnostics: Diagnostics::new(said, sources) },
            Err(diagnostics) => Listing { kernels: vec![], diagnostics },
        }
    }

    /// Looks for what is wrong with a source without compiling it. It checks the syntax, then the kernels of which all
    /// types are known, then in the other functions what needs no types.
    #[must_use]
    pub fn check(&self, source: &Source, options: &Options) -> Checked {
        let about = || format!("{self:?}\n{source:?}\n{options:?}");
        let checked = guarded(&about, |sources| {
            let inputs = [source.read(sources, None).map_err(|d| vec![d])?];
            let said = check::syntax(&inputs, sources);
            if said.iter().any(Diagnostic::is_error) {
                return Err(said);
            }
            request::check_options(&options.settings)?;
            check::check(&inputs, sources, &options.choice(self.target, true), &options.settings)
        });
        match checked {
            Ok((found, _)) => Checked { diagnostics: found.groups.into(), printed: found.printed },
            Err(diagnostics) => Checked { diagnostics, printed: vec![] },
        }
    }

    /// Runs a kernel, from a kernel file or TTIR, on the CPU, with every check that `ttc interpret` makes by default.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`], or the faults of the kernel: races, accesses out of bounds, reads of memory
    /// that nobody wrote, uses of undefined elements, broken promises. The buffers are then as they were.
    pub fn interpret(&self, source: &Source, options: &Options, launch: Launch<'_>) -> Result<Run, Diagnostics> {
        let about = || format!("{self:?}\n{source:?}\n{options:?}");
        let Launch { grid, given, mut wanted } = launch;
        let ((run, warnings), sources) = guarded(&about, |sources| {
            let input = source.read(sources, None).map_err(|d| vec![d])?;
            let (kernel, config) = options.chosen();
            let job = Job { kernel, config, ..Job::new(input, self.target, Arc::default()) };
            let mut ready = call::ready(sources, &job, &options.settings, given)?;
            let how = interp::RunOptions { max_faults: MAX_FAULTS, ..interp::RunOptions::default() };
            let report = interp::run(&ready.ir, &ready.kernel, grid, &ready.args, &mut ready.memory, &how)?;
            for Bound { name, id, .. } in &ready.buffers {
                if let Some(back) = wanted.remove(name) {
                    back(&ready.memory.bytes(*id));
                }
            }
            let mut printed = ready.printed;
            printed.extend(report.printed.into_iter().map(|line| line.text));
            let run = Run { programs: report.programs, operations: report.ops, printed, ..Run::default() };
            Ok((run, ready.warnings))
        })?;
        Ok(Run { diagnostics: Diagnostics::new(warnings, sources), ..run })
    }
}

/// How many faults a run looks for, at different places.
const MAX_FAULTS: usize = 10;

/// Runs `work` with sources of its own on a thread with a large stack. Its errors are put together with these sources.
/// A panic is a defect of ttc and becomes an `E0999` with a reproducer that holds what `about` says.
fn guarded<T: Send>(
    about: &(dyn Fn() -> String + Sync),
    work: impl FnOnce(&mut SourceMap) -> Result<T, Vec<Diagnostic>> + Send,
) -> Result<(T, SourceMap), Diagnostics> {
    threads::on_stack(|| {
        let mut sources = SourceMap::default();
        let result = reproducer::guard(about, &SourceMap::default(), || work(&mut sources));
        match result {
            Ok(done) => Ok((done, sources)),
            Err(errors) => Err(Diagnostics::new(errors, sources)),
        }
    })
}

impl FromStr for Target {
    type Err = Diagnostics;

    /// Reads a name of a target: `sm_80`, `compute_80`, `80`, `8.0`, or Triton's `cuda:80`.
    fn from_str(name: &str) -> Result<Target, Diagnostics> {
        Target::parse(name).map_err(|d| Diagnostics::new(vec![d], SourceMap::default()))
    }
}
