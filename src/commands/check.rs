//! `ttc check`: what is wrong with kernel files, without compiling them.
//!
//! 1. Syntax of the whole files.
//! 2. Kernels of which everything is known (annotations, `-D`, a configuration, `--signature`) are lowered and go through the passes on TTIR.
//! 3. All other functions are checked for what needs no types ([`ttc::irgen::untyped`]); a remark says which kernels those were and what they need.
//! 4. What several kernels share is reported once.

use std::collections::BTreeSet;

use ttc::diag::{Diagnostic, Place, codes};
use ttc::driver::input::{Input, Language};
use ttc::driver::{Debug, Job, Options, Outcome, plan, run_all};
use ttc::irgen::{KernelInfo, KernelParam, list_kernels};
use ttc::source::SourceMap;

use super::{Report, options, read_all, targets};
use crate::args::Check;

/// How many kernels the remark names, and parameters of each.
const SHOWN: usize = 8;

pub(crate) fn check(c: &Check) -> Report {
    let mut sources = SourceMap::default();
    let inputs = match read_all(&c.kernel.files, &mut sources) {
        Ok(inputs) => inputs,
        Err(d) => return Report::errors(d, sources),
    };
    let mut said = vec![];
    for input in inputs.iter().filter(|i| i.language == Language::Source) {
        said.extend(ttc::parser::parse_module(&sources, input.file).1);
    }
    if c.syntax_only || said.iter().any(Diagnostic::is_error) {
        return Report::errors(said, sources);
    }
    let options = match options(&c.kernel) {
        Ok(o) => o,
        Err(d) => return Report::errors(d, sources),
    };
    let targets = match targets(&c.kernel.arch) {
        Ok(t) => t,
        Err(d) => return Report::errors(d, sources),
    };
    let mut jobs = match plan::jobs(&inputs, &mut sources, c.kernel.kernel.as_deref(), true, c.kernel.config, &targets, &options) {
        Ok(j) => j,
        Err(d) => return Report::errors(d, sources),
    };
    let mut untyped = vec![];
    if c.kernel.kernel.is_none() && options.signature.is_none() {
        jobs.retain(|j| is_complete(j, &mut sources, &options));
        for input in inputs.iter().filter(|i| i.language == Language::Source) {
            untyped.extend(check_untyped(input, &jobs, &mut sources, &options));
        }
    }
    // Nothing is asked for, so a job ends after the first stage: front end and TTIR passes.
    let outcomes = run_all(&jobs, &sources, &options, &[], &Debug::default(), 1);
    let mut report = Report::default();
    for Outcome { result, sources } in outcomes {
        let said = match result {
            Ok(made) => {
                report.stderr.extend(made.printed.iter().map(|l| format!("{l}\n")));
                made.diagnostics
            }
            Err(errors) => errors,
        };
        report.groups.push((said, sources));
    }
    report.groups.push((untyped, sources));
    once(&mut report);
    report
}

/// Leaves out what was said before: kernels share functions and imports.
fn once(report: &mut Report) {
    let mut seen = BTreeSet::new();
    for (said, sources) in &mut report.groups {
        said.retain(|d| {
            let at = match d.place() {
                Some(Place::Span(s)) => format!("{}:{}", sources.file(s.file).name, s.lo),
                other => format!("{other:?}"),
            };
            seen.insert((d.code.id, at, d.message.clone()))
        });
    }
}

/// What can be said of the functions of a file that no job compiles, and which kernels were not checked with their types.
fn check_untyped(input: &Input, jobs: &[Job], sources: &mut SourceMap, options: &Options) -> Vec<Diagnostic> {
    let typed: Vec<String> = jobs.iter().filter(|j| j.input.path == input.path).filter_map(|j| j.kernel.clone()).collect();
    let defines: Vec<String> = options.defines.iter().map(|(name, _)| name.clone()).collect();
    let mut said = ttc::irgen::untyped::check_untyped(sources, input.file, &options.include, &typed, &defines);
    let (kernels, _) = list_kernels(sources, input.file, &options.include);
    let place = Place::File(sources.file(input.file).name.clone());
    if kernels.is_empty() {
        let remark =
            Diagnostic::remark(&codes::names::UNKNOWN_KERNEL, "the file has no `@triton.jit` function: only its syntax was checked");
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
    said.push(remark.help(format!("annotate the parameters, or check one kernel with `-k {} --signature …`", first.name)));
    said
}

/// "`k` needs the types or values of x, n"
fn needs(k: &KernelInfo, defines: &[String]) -> String {
    let names: Vec<&str> = k.params.iter().filter(|p| p.needed && !defines.contains(&p.name)).map(|p| p.name.as_str()).collect();
    let shown = match names.get(..SHOWN) {
        Some(some) if names.len() > SHOWN => format!("{} and {} more", some.join(", "), names.len() - SHOWN),
        _ => names.join(", "),
    };
    format!("`{}` needs the types or values of {shown}", k.name)
}

/// Whether the types and values of all parameters of a job's kernel are known without a signature.
fn is_complete(job: &Job, sources: &mut SourceMap, options: &Options) -> bool {
    if job.input.language != Language::Source {
        return true;
    }
    // Without a name the file has no kernel of its own, only functions for others.
    let Some(name) = &job.kernel else { return false };
    let (kernels, _) = list_kernels(sources, job.input.file, &options.include);
    let defined = |p: &KernelParam| options.defines.iter().any(|(name, _)| *name == p.name);
    let chosen = |p: &KernelParam| job.config.is_some() && p.source == Some(ttc::irgen::Source::Config);
    let known = |k: &KernelInfo| k.params.iter().all(|p| !p.needed || defined(p) || chosen(p));
    kernels.iter().filter(|k| k.name == *name).all(known)
}
