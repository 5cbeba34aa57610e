//! Running passes: what a pass is, pipelines and their text, and the hooks that observe a run.
//!
//! # Algorithm
//!
//! For each step of a [`Pipeline`]:
//!
//! 1. Refuse a module of another stage than the pass works on ([`stage`]).
//! 2. Tell the [`Instrumentation`]s that it begins.
//! 3. Run the pass; it says whether it changed anything, or fails with diagnostics. A module that has got too large
//!    ends the run.
//! 4. Verify the module, if the pass changed it. Invalid IR is a defect of the pass and is reported with the pass's
//!    name.
//! 5. Tell the instrumentations that it ended, how, and how long it took.
//!
//! Nothing is printed here: instrumentations and the caller decide what to do with what they are told.

use std::time::{Duration, Instant};

use crate::analysis::prepared::Prepared;
use crate::diag::codes::passes as codes;
use crate::diag::{Diagnostic, Place};
use crate::ir::core::{Ir, Loc};
use crate::target::Target;

pub use super::pipeline_text::{PassOptions, Pipeline, Step};
use super::stage;
pub use super::stage::Input;

/// What an option's value looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    Int,
    Bool,
    Str,
}

/// One option of a pass.
#[derive(Debug)]
pub struct OptionSpec {
    /// `num-warps`
    pub name: &'static str,
    pub kind: OptionKind,
    /// In the form in which it is written; empty for none.
    pub default: &'static str,
    pub doc: &'static str,
}

/// A pass. Each is one file with a `pub static PASS`.
pub struct Pass {
    /// The flag: Triton's or MLIR's own.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// What it can be run on.
    pub input: Input,
    pub options: &'static [OptionSpec],
    pub run: fn(&mut Ir, &mut PassCx) -> Result<Changed, Failed>,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether a pass changed the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    No,
    Yes,
}

impl From<bool> for Changed {
    fn from(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// A pass that could not do its work; why stands in [`PassCx::diagnostics`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed;

/// What a pass gets beside the module.
#[derive(Default)]
pub struct PassCx {
    /// The options of this run, defaults filled in.
    pub options: PassOptions,
    /// Errors, warnings and remarks, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// What was computed of the module for code generation, where that still holds.
    prepared: Option<Prepared>,
    /// Whether it holds of the module that the pass leaves, although that was changed.
    kept: bool,
}

impl PassCx {
    /// Records an error at a location and gives the failure to return.
    pub fn fail(&mut self, code: &'static crate::diag::Code, loc: Loc, message: impl Into<String>) -> Failed {
        self.diagnostics.push(at(Diagnostic::error(code, message), loc));
        Failed
    }

    /// Records that the module would have more operations than it may.
    pub fn too_many_ops(&mut self, ir: &Ir, pass: &str, loc: Loc) -> Failed {
        let text = format!("the kernel grows beyond {} operations in '{pass}'", ir.max_ops());
        let diagnostic = at(Diagnostic::error(&codes::TOO_MANY_OPS, text), loc)
            .note("calls are replaced by the bodies of the functions, and loops over `tl.static_range` are unrolled")
            .help("use `range` for long loops and `noinline` functions for large bodies, or raise the limit with --max-ops");
        self.diagnostics.push(diagnostic);
        Failed
    }

    /// Records a remark at a location.
    pub fn remark(&mut self, code: &'static crate::diag::Code, loc: Loc, message: impl Into<String>) {
        self.diagnostics.push(at(Diagnostic::remark(code, message), loc));
    }

    /// Takes what was computed of the module for code generation: by an earlier pass of the preparation, or now. A pass
    /// that leaves it true gives it back ([`PassCx::keep`]).
    ///
    /// # Errors
    /// When a type has no layout.
    pub fn prepared(&mut self, ir: &Ir, target: &Target) -> Result<Prepared, Failed> {
        if let Some(known) = self.prepared.take().filter(|p| p.is_for(target)) {
            return Ok(known);
        }
        Prepared::new(ir, target).map_err(|(op, e)| self.fail(&codes::PASS_FAILED, ir.loc(op), e.to_string()))
    }

    /// Says that this holds of the module that the pass leaves: it only added operations without results, or
    /// attributes.
    pub fn keep(&mut self, prepared: Prepared) {
        self.prepared = Some(prepared);
        self.kept = true;
    }

    /// As [`PassCx::keep`], by a pass that does not look at it.
    pub fn keep_prepared(&mut self) {
        self.kept = true;
    }

    /// An integer option; it was checked when the pipeline was made.
    #[must_use]
    pub fn int(&self, name: &str) -> i64 {
        self.options.get(name).and_then(|v| v.parse().ok()).unwrap_or(0)
    }

    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.options.get(name).is_some_and(|v| v == "true" || v == "1")
    }

    #[must_use]
    pub fn str(&self, name: &str) -> &str {
        self.options.get(name).map_or("", |v| v)
    }
}

/// Adds the position that an IR location carries as the primary label.
pub(super) fn at(diagnostic: Diagnostic, loc: Loc) -> Diagnostic {
    match place(loc) {
        Some(place) => diagnostic.at(place, ""),
        None => diagnostic,
    }
}

/// The position that an IR location carries.
pub(super) fn place(loc: Loc) -> Option<Place> {
    loc.file_line_col().map(|(file, line, col)| Place::At { file: file.to_string(), line, col })
}

/// How a step ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Unchanged,
    Changed,
    Failed,
}

/// Observes a run. Every method does nothing unless overridden.
pub trait Instrumentation {
    /// Before step number `index` (from 0).
    fn before(&mut self, _ir: &Ir, _index: usize, _step: &Step) {}
    /// After it; `ir` is what the pass left, also when it failed.
    fn after(&mut self, _ir: &Ir, _index: usize, _step: &Step, _ended: Ended, _took: Duration) {}
}

/// Why a run stopped.
#[derive(Debug)]
pub struct Stopped {
    /// The pass at which it did.
    pub pass: &'static str,
    /// A defect in ttc (invalid IR out of valid IR) rather than a fault of the input.
    pub defect: bool,
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct Report {
    pub diagnostics: Vec<Diagnostic>,
    pub stopped: Option<Stopped>,
    pub changed: bool,
    /// What was computed of the module for code generation, if a pass did that and it still holds.
    pub prepared: Option<Prepared>,
}

impl Report {
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.stopped.is_none()
    }
}

/// Finds faults in a module; no error among them means that it is valid.
pub type Verifier = fn(&Ir) -> Vec<Diagnostic>;

/// Runs a pipeline on a valid module, with the verifier after each pass. It stops at the first pass that fails or
/// breaks the module.
pub fn run(ir: &mut Ir, pipeline: &Pipeline, verifier: Verifier, hooks: &mut [&mut dyn Instrumentation]) -> Report {
    let mut report = Report::default();
    for (index, step) in pipeline.steps.iter().enumerate() {
        if let Some(refusal) = stage::refuse(ir, step.pass) {
            report.diagnostics.push(refusal);
            report.stopped = Some(Stopped { pass: step.pass.name, defect: false });
            break;
        }
        hooks.iter_mut().for_each(|h| h.before(ir, index, step));
        let start = Instant::now();
        let mut cx =
            PassCx { options: step.options_with_defaults(), prepared: report.prepared.take(), ..PassCx::default() };
        let mut outcome = (step.pass.run)(ir, &mut cx);
        let took = start.elapsed();
        if outcome.is_ok() && ir.is_full_with(0) {
            let loc = ir.functions().first().map_or(ir.loc(ir.module()), |&f| ir.loc(f));
            outcome = Err(cx.too_many_ops(ir, step.pass.name, loc));
        }
        report.diagnostics.append(&mut cx.diagnostics);
        let ended = match outcome {
            Ok(Changed::No) => Ended::Unchanged,
            Ok(Changed::Yes) => Ended::Changed,
            Err(Failed) => Ended::Failed,
        };
        report.changed |= ended == Ended::Changed;
        report.prepared = cx.prepared.take().filter(|_| cx.kept || ended == Ended::Unchanged);
        hooks.iter_mut().for_each(|h| h.after(ir, index, step, ended, took));
        if ended == Ended::Failed {
            report.stopped = Some(Stopped { pass: step.pass.name, defect: false });
            break;
        }
        if ended == Ended::Changed && !check(ir, step, verifier, &mut report) {
            break;
        }
    }
    report
}

/// Verifies after a step.
fn check(ir: &Ir, step: &Step, verifier: Verifier, report: &mut Report) -> bool {
    let Some(first) = verifier(ir).into_iter().find(Diagnostic::is_error) else { return true };
    let mut diagnostic = Diagnostic::error(
        &codes::BROKEN_BY_PASS,
        format!("'{}' produced invalid IR: {}", step.pass.name, first.message),
    )
    .note("the module was valid before this pass; this is a defect in ttc")
    .help("--dump-dir DIR writes the module before and after each pass");
    diagnostic.labels = first.labels;
    report.diagnostics.push(diagnostic);
    report.stopped = Some(Stopped { pass: step.pass.name, defect: true });
    false
}

/// Time per pass, added up over its runs, in order of first appearance.
#[derive(Default, Debug)]
pub struct Timing {
    rows: Vec<(&'static str, usize, Duration)>,
}

impl Timing {
    /// Name, number of runs and time of each pass.
    #[must_use]
    pub fn rows(&self) -> &[(&'static str, usize, Duration)] {
        &self.rows
    }

    #[must_use]
    pub fn total(&self) -> Duration {
        self.rows.iter().map(|r| r.2).sum()
    }
}

impl Instrumentation for Timing {
    fn after(&mut self, _: &Ir, _: usize, step: &Step, _: Ended, took: Duration) {
        match self.rows.iter_mut().find(|r| r.0 == step.pass.name) {
            Some(row) => {
                row.1 += 1;
                row.2 += took;
            }
            None => self.rows.push((step.pass.name, 1, took)),
        }
    }
}
