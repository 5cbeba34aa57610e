//! Finds what is wrong with kernel files, without compiling them.
//!
//! 1. The syntax of the whole files is checked ([`syntax`]).
//! 2. Kernels of which everything is known (annotations, `--type`, `-D`, a configuration, `--signature`) are lowered
//!    and go through the passes on TTIR.
//! 3. All other functions are checked for what needs no types ([`irgen::check_untyped`]). A remark says which kernels
//!    those were and what they need.
//! 4. What concerns several kernels is reported once.

use std::collections::BTreeMap;

use super::input::{Input, Language};
use super::job::{Debug, Job, JobOptions, Outcome};
use super::repeated::once;
use super::request::{self, Choice};
use super::run::run_all;
use crate::diag::{Diagnostic, Place, codes, shell_word};
use crate::irgen;
use crate::irgen::front::top_level::TopLevel;
use crate::irgen::{KernelInfo, KernelParam, Kind, Source, list_kernels};
use crate::source::{FileId, SourceMap};

/// How many kernels the remark names, and how many parameters of each.
const SHOWN: usize = 8;

/// The findings in some files.
#[derive(Default)]
pub struct Checked {
    /// Diagnostics with the sources that they point into.
    pub groups: Vec<(Vec<Diagnostic>, SourceMap)>,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
}

/// Finds the syntax errors of kernel files.
#[must_use]
pub fn syntax(inputs: &[Input], sources: &SourceMap) -> Vec<Diagnostic> {
    let kernels = inputs.iter().filter(|i| i.language == Language::Source);
    kernels.flat_map(|i| TopLevel::of(sources, i.file).errors.clone()).collect()
}

/// Finds what is wrong with the chosen kernels, or with everything in the files. Their syntax must be right.
///
/// # Errors
/// Fails if the choice is impossible.
pub fn check(
    inputs: &[Input],
    sources: &mut SourceMap,
    choice: &Choice,
    options: &JobOptions,
) -> Result<Checked, Vec<Diagnostic>> {
    let mut jobs = request::jobs(inputs, sources, choice, options)?;
    let mut untyped = vec![];
    let preset = inputs.iter().any(|i| i.preset.kernel.is_some());
    if choice.kernels.is_empty() && options.signature.is_none() && !preset {
        let mut known: BTreeMap<FileId, Vec<KernelInfo>> = BTreeMap::new();
        for input in inputs.iter().filter(|i| i.language == Language::Source) {
            known.insert(input.file, list_kernels(sources, input.file, &options.include).0);
        }
        jobs.retain(|j| is_complete(j, known.get(&j.input.file).map(Vec::as_slice)));
        for input in inputs {
            let Some(kernels) = known.get(&input.file) else { continue };
            untyped.extend(check_untyped(input, kernels, &jobs, sources, options));
        }
    }
    // No stage is asked for, so a job ends after the first one: the front end and the TTIR passes.
    let outcomes = run_all(&jobs, sources, &[], &Debug::default(), 1);
    let mut checked = Checked::default();
    for Outcome { result, sources } in outcomes {
        let said = match result {
            Ok(made) => {
                checked.printed.extend(made.printed);
                made.diagnostics
            }
            Err(errors) => errors,
        };
        checked.groups.push((said, sources));
    }
    checked.groups.push((untyped, sources.clone()));
    once(&mut checked.groups, |_| true);
    Ok(checked)
}

/// Checks the functions of a file that no job compiles, and says which kernels were not checked with their types.
fn check_untyped(
    input: &Input,
    kernels: &[KernelInfo],
    jobs: &[Job],
    sources: &mut SourceMap,
    options: &JobOptions,
) -> Vec<Diagnostic> {
    let typed: Vec<String> =
        jobs.iter().filter(|j| j.input.path == input.path).filter_map(|j| j.kernel.clone()).collect();
    let defines: Vec<String> = options.defines.iter().map(|(name, _)| name.clone()).collect();
    let mut said = irgen::check_untyped(sources, input.file, &options.include, &typed, &defines);
    let place = Place::File(sources.file(input.file).name.clone());
    if kernels.is_empty() {
        let remark = Diagnostic::remark(
            &codes::names::UNKNOWN_KERNEL,
            "the file has no `@triton.jit` function: only its syntax was checked",
        );
        said.push(remark.at(place, ""));
        return said;
    }
    let open: Vec<&KernelInfo> = kernels.iter().filter(|k| k.entry && !typed.contains(&k.name)).collect();
    let Some(first) = open.first() else { return said };
    let count = if open.len() == 1 { "1 kernel was".to_owned() } else { format!("{} kernels were", open.len()) };
    let message = format!("{count} checked without types, for names, calls and statements only");
    let remark = Diagnostic::remark(&codes::names::MISSING_PARAMETER, message).at(place, "");
    let mut remark = open.iter().take(SHOWN).fold(remark, |d, k| d.note(needs(k, &defines)));
    if open.len() > SHOWN {
        remark = remark.note(format!("and {} more kernels", open.len() - SHOWN));
    }
    let file = shell_word(&input.path.to_string_lossy());
    said.push(remark.help(format!(
        "annotate the parameters, or check one kernel with its types: `ttc list --template {file} -k {}` shows how",
        first.name
    )));
    said
}

/// Says what a kernel needs: "`k` needs the types or values of x, n".
#[must_use]
pub fn needs(k: &KernelInfo, defines: &[String]) -> String {
    let names: Vec<&str> =
        k.params.iter().filter(|p| p.needed && !defines.contains(&p.name)).map(|p| p.name.as_str()).collect();
    let shown = match names.get(..SHOWN) {
        Some(some) if names.len() > SHOWN => format!("{} and {} more", some.join(", "), names.len() - SHOWN),
        _ => names.join(", "),
    };
    format!("`{}` needs the types or values of {shown}", k.name)
}

/// Whether the types and values of all parameters of a job's kernel are known without a signature. `kernels` are the
/// kernels of its file. A stage file always has its types.
#[must_use]
pub fn is_complete(job: &Job, kernels: Option<&[KernelInfo]>) -> bool {
    let Some(kernels) = kernels else { return true };
    let options = job.settled();
    if options.signature.is_some() {
        return true;
    }
    // A job without a name stands for a file that has no kernel of its own, only functions for others.
    let Some(name) = &job.kernel else { return false };
    let defined = |p: &KernelParam| options.defines.iter().any(|(name, _)| *name == p.name);
    let chosen = |p: &KernelParam| job.config.is_some() && p.source == Some(Source::Config);
    let typed =
        |p: &KernelParam| options.types.iter().any(|r| r.fits(&p.name) && (p.kind != Kind::Constexpr || r.is_exact()));
    let known = |k: &KernelInfo| k.params.iter().all(|p| !p.needed || defined(p) || chosen(p) || typed(p));
    kernels.iter().filter(|k| k.is_called(name)).all(known)
}
