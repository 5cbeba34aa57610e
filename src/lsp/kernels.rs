//! The analysis of a kernel file.
//!
//! 1. The syntax of the whole file is checked, and its names are indexed.
//! 2. Every kernel whose types are known ([`super::project`]) is lowered, with a record of what its expressions are.
//!    The passes do not run: what only they find shows when the file is compiled.
//!    A kernel that no change has reached keeps what was found before ([`super::reuse`]).
//! 3. All other functions are checked for what needs no types, and each such kernel gets a hint that says what it
//!    needs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::analysis::Analysis;
use super::project;
use super::reuse::Reuse;
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::diag::{Diagnostic, Severity, codes};
use crate::driver::Job;
use crate::driver::check::needs;
use crate::driver::input::Input;
use crate::driver::request::kernel_request;
use crate::ir::Ir;
use crate::irgen::front::top_level::TopLevel;
use crate::irgen::{Index, KernelInfo, Kind, Sights, check_untyped, index, watch_kernel};
use crate::parser::ast::FunctionDef;
use crate::source::{FileId, SourceMap, Span};

/// What is known of a kernel file.
pub(super) struct Kernels {
    pub(super) index: Index,
    /// The kernels that were lowered.
    pub(super) units: Vec<Unit>,
    pub(super) top: Arc<TopLevel>,
    pub(super) include: Vec<PathBuf>,
}

/// A kernel with its types.
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) job: Job,
    pub(super) sights: Sights,
    /// What was said while it was lowered.
    pub(super) said: Vec<Diagnostic>,
    /// The IR, if nothing was wrong.
    pub(super) lowered: Option<Arc<Lowered>>,
}

/// The IR of a kernel, and what is known of its values.
pub(super) struct Lowered {
    ir: Ir,
    axis: OnceLock<AxisInfoAnalysis>,
}

impl Unit {
    /// What is known of the kernel's values along each axis. It is found out when somebody asks.
    #[must_use]
    pub(super) fn axis(&self) -> Option<(&Ir, &AxisInfoAnalysis)> {
        let Lowered { ir, axis } = &**self.lowered.as_ref()?;
        Some((ir, axis.get_or_init(|| AxisInfoAnalysis::of_module(ir))))
    }
}

/// Analyses a kernel file; what `old` says of an older text is used where it still holds. `None` if `stop` came first.
pub(super) fn analyse(
    input: &Input,
    sources: &mut SourceMap,
    old: Option<&Arc<Analysis>>,
    stop: &Arc<AtomicBool>,
) -> Option<(Kernels, Vec<Diagnostic>)> {
    let stopped = || stop.load(Ordering::Relaxed);
    let file = input.file;
    let top = TopLevel::of(sources, file);
    let mut said = top.errors.clone();
    let has_kernels = top.functions.iter().any(|f| f.is_jit);
    if !has_kernels {
        // A Python file without kernels is none of our business.
        let index = Index::default();
        return Some((Kernels { index, units: vec![], top, include: vec![] }, vec![]));
    }
    let reuse = old.and_then(|old| Reuse::of(old, &sources.file(file).text, &top, file));
    let known = project::of_file(input, sources);
    let index = index(sources, file, &known.include);
    let mut units = vec![];
    for job in known.jobs {
        if stopped() {
            return None;
        }
        let unit = match reuse.as_ref().and_then(|r| r.unit(&job)) {
            Some(unit) => unit,
            None => match lower(job, file, sources, stop) {
                Some(unit) => unit,
                None => continue,
            },
        };
        said.extend(unit.said.iter().cloned());
        units.push(unit);
    }
    if stopped() {
        return None;
    }
    let typed: Vec<String> = units.iter().map(|u| u.name.clone()).collect();
    said.extend(check_untyped(sources, file, &known.include, &typed, &[]));
    let open = known.kernels.iter().filter(|k| k.entry && !typed.contains(&k.name));
    said.extend(open.filter_map(|k| untyped(&top, k)));
    (!stopped()).then_some((Kernels { index, units, top, include: known.include }, said))
}

/// Lowers a kernel.
fn lower(job: Job, file: FileId, sources: &mut SourceMap, stop: &Arc<AtomicBool>) -> Option<Unit> {
    let name = job.kernel.clone()?;
    let request = kernel_request(&job, &job.settled());
    let (result, sights) = watch_kernel(sources, file, &request, stop);
    let (lowered, said) = match result {
        Ok(done) => (Some(Arc::new(Lowered { ir: done.ir, axis: OnceLock::new() })), done.warnings),
        Err(said) => (None, said),
    };
    Some(Unit { name, job, sights, said, lowered })
}

/// Says that a kernel was checked without types, with the annotations that would give it some.
fn untyped(top: &TopLevel, k: &KernelInfo) -> Option<Diagnostic> {
    let def = top.functions.iter().rev().find(|f| f.is_jit && *f.name.name == k.name)?;
    let message = format!("checked without types: {}", needs(k, &[]));
    let mut hint = Diagnostic::remark(&codes::names::MISSING_PARAMETER, message).at(def.name.span, "");
    hint.severity = Severity::Note;
    let hint = hint.help("annotate the parameters: `x_ptr: \"*fp32:16\"`, `n: \"i32\"`, `BLOCK: tl.constexpr = 1024`");
    let edits = annotations(def, k);
    Some(if edits.is_empty() {
        hint
    } else {
        hint.fix_all("annotate the parameters with the types they probably have", edits)
    })
}

/// The guessed types and values of what a kernel needs, where they belong in its text.
fn annotations(def: &FunctionDef, k: &KernelInfo) -> Vec<(Span, String)> {
    let mut edits = vec![];
    for (p, info) in def.params.iter().zip(&k.params) {
        let Some(guess) = info.guess.as_ref().filter(|_| info.needed) else { continue };
        let end = Span { lo: p.span.hi, ..p.span };
        match (info.kind, &p.annotation) {
            (Kind::Constexpr, Some(_)) => edits.push((end, format!(" = {guess}"))),
            (Kind::Constexpr, None) => edits.push((end, format!(": tl.constexpr = {guess}"))),
            (_, None) if p.default.is_none() => edits.push((end, format!(": \"{guess}\""))),
            _ => {}
        }
    }
    // Python wants no parameter without a default behind one that has a default.
    let has_value = |i: usize| {
        def.params[i].default.is_some()
            || edits.iter().any(|(at, text)| at.lo == def.params[i].span.hi && text.contains(" = "))
    };
    let first = (0..def.params.len()).find(|&i| has_value(i)).unwrap_or(def.params.len());
    if (first..def.params.len()).all(has_value) {
        edits
    } else {
        edits.into_iter().filter(|(_, text)| !text.contains(" = ")).collect()
    }
}
