//! `ttc report`: a kernel in all its stages, as a page for a browser.
//!
//! What `--against` names is looked at in this order: a GPU, items with `=`, a folder. Items are those of `--variant`,
//! and `arch`, `config`, `pipeline` and the parameters of a case file beside them.

use std::path::Path;

use ttc::Severity;
use ttc::diag::{Diagnostic, codes};
use ttc::driver::{Job, JobOptions, Pipelining, Variant, output, request};
use ttc::report::Against;
use ttc::source::SourceMap;
use ttc::target::Target;

use super::inputs::{case_params, choice, options, read_all};
use super::{Report, Stop, targets};
use crate::args::{KernelArgs, ReportPage, config_choice};

pub(crate) fn report(r: &ReportPage) -> Report {
    try_report(r).unwrap_or_else(|(d, s)| Report::errors(d, s))
}

fn try_report(r: &ReportPage) -> Result<Report, Stop> {
    let mut sources = SourceMap::default();
    let job = job(&r.kernel, r, &mut sources).map_err(|d| (d, sources.clone()))?;
    let against = r.against.as_deref().map(|text| against(text, r, &job, &mut sources)).transpose();
    let against = against.map_err(|d| (d, sources.clone()))?;
    let beside = against.as_ref().zip(r.against.as_deref());
    let name = match &against {
        Some(Against::Job(other)) if other.target != job.target => job.target.name,
        _ => "as asked",
    };
    let made = ttc::report::report(&job, name, beside, &sources)?;
    output::write_file(&r.output, made.html.as_bytes()).map_err(|d| (vec![d], sources.clone()))?;
    let mut report = Report::default();
    for (said, sources) in made.diagnostics {
        // Remarks stand on the page.
        let warnings = said.into_iter().filter(|d| d.severity != Severity::Remark).collect();
        report.diagnostics.push(warnings, sources);
    }
    Ok(report)
}

/// The one compilation that is asked for.
fn job(k: &KernelArgs, r: &ReportPage, sources: &mut SourceMap) -> Result<Job, Vec<Diagnostic>> {
    let inputs = read_all(k, sources)?;
    let options = JobOptions { ptxas: r.ptxas.clone(), ..options(k)? };
    let choice = choice(k, false, targets(&k.arch)?)?;
    let mut jobs = request::jobs(&inputs, sources, &choice, &options)?;
    match (jobs.pop(), jobs.len()) {
        (Some(job), 0) => Ok(job),
        (_, others) => {
            let text = format!("a report shows one compilation, and these are {}", others + 1);
            let error = Diagnostic::error(&codes::cli::BAD_OPTION, text);
            Err(vec![error.help("choose one kernel, one configuration and one GPU")])
        }
    }
}

/// What `--against` means.
fn against(text: &str, r: &ReportPage, job: &Job, sources: &mut SourceMap) -> Result<Against, Vec<Diagnostic>> {
    if let Ok(target) = Target::parse(text) {
        let k = KernelArgs { arch: vec![target.name.to_owned()], ..r.kernel.clone() };
        return Ok(Against::Job(Box::new(self::job(&k, r, sources)?)));
    }
    if Path::new(text).is_dir() {
        return Ok(Against::Folder(text.into()));
    }
    if !text.contains('=') {
        let error = bad(text, "this is neither a GPU nor a folder, and no NAME=VALUE");
        return Err(vec![error]);
    }
    let asked = Variant::parse(&format!("against: {text}")).map_err(|d| {
        let why = d.message.rsplit_once("`: ").map_or(d.message.clone(), |(_, why)| why.to_owned());
        vec![bad(text, &why)]
    })?;
    let mut k = r.kernel.clone();
    let params = case_params(&k, sources)?;
    let mut variant = job.variant.clone().unwrap_or(Variant { name: "against".into(), ..Variant::default() });
    variant.given = asked.given.or(variant.given);
    variant.types.extend(asked.types);
    for (name, value) in asked.defines {
        let other = |why: String| vec![bad(text, &why)];
        match name.as_str() {
            "arch" => k.arch = vec![value],
            "config" => k.config = Some(config_choice(&value).map_err(other)?),
            "pipeline" => k.pipeline = Some(Pipelining::parse(&value).map_err(other)?),
            _ if params.contains(&name) => {
                k.param.retain(|(n, _)| *n != name);
                k.param.push((name, value));
            }
            _ => variant.defines.push((name, value)),
        }
    }
    let job = self::job(&k, r, sources)?;
    Ok(Against::Job(Box::new(Job { variant: Some(variant), ..job })))
}

fn bad(text: &str, why: &str) -> Diagnostic {
    Diagnostic::error(&codes::cli::BAD_OPTION, format!("`--against {text}`: {why}")).help(
        "write a GPU (`--against sm_80`), what is different (`--against \"num_warps=8, BLOCK=64\"`), or a folder with \
         the stages of a compiler",
    )
}
