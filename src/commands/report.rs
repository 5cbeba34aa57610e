//! `ttc report`: a kernel in all its stages, as a page for a browser.

use ttc::diag::{Diagnostic, codes};
use ttc::driver::{JobOptions, output, request};
use ttc::source::SourceMap;

use super::inputs::{choice, options, read_all};
use super::{Report, Stop, targets};
use crate::args::ReportPage;

pub(crate) fn report(r: &ReportPage) -> Report {
    try_report(r).unwrap_or_else(|(d, s)| Report::errors(d, s))
}

fn try_report(r: &ReportPage) -> Result<Report, Stop> {
    let mut sources = SourceMap::default();
    let stop = |d: Vec<Diagnostic>, s: &SourceMap| (d, s.clone());
    let inputs = read_all(&r.kernel, &mut sources).map_err(|d| stop(d, &sources))?;
    let options = options(&r.kernel).map_err(|d| stop(d, &sources))?;
    let options = JobOptions { ptxas: r.ptxas.clone(), ..options };
    let targets = targets(&r.kernel.arch).map_err(|d| stop(d, &sources))?;
    let choice = choice(&r.kernel, false, targets).map_err(|d| stop(d, &sources))?;
    let jobs = request::jobs(&inputs, &mut sources, &choice, &options).map_err(|d| stop(d, &sources))?;
    let [job] = jobs.as_slice() else {
        let error = Diagnostic::error(
            &codes::cli::BAD_OPTION,
            format!("a report shows one compilation, and these are {}", jobs.len()),
        );
        return Err(stop(vec![error.help("choose one kernel, one configuration and one GPU")], &sources));
    };
    let made = ttc::report::report(job, &sources)?;
    output::write_file(&r.output, made.html.as_bytes()).map_err(|d| stop(vec![d], &sources))?;
    // Remarks stand on the page.
    let warnings = made.diagnostics.into_iter().filter(|d| d.severity != ttc::Severity::Remark).collect();
    Ok(Report::errors(warnings, made.sources))
}
