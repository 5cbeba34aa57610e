//! `ttc build`: what a manifest names, made where it is not up to date.

use std::time::{Duration, Instant};

use ttc::build::{Built, Progress, Settings, manifest};
use ttc::driver::Reuse;
use ttc::source::SourceMap;
use ttc::threads;

use super::Report;
use crate::args::Build;

pub(crate) fn build(b: Build, progress: &Progress) -> Report {
    let start = Instant::now();
    let settings = Settings {
        manifest: if b.manifest.is_dir() { b.manifest.join(manifest::NAME) } else { b.manifest },
        out: b.out_dir,
        kernels: b.kernel,
        archs: b.arch,
        emit: b.emit,
        module: b.module,
        ptxas: b.ptxas,
        time_limit: Some(Duration::from_secs(b.ptxas_timeout)).filter(|t| !t.is_zero()),
        depfile: b.depfile,
    };
    let workers = b.jobs.unwrap_or_else(threads::usual);
    let cache = match super::open_cache(Some(!b.no_cache)) {
        Ok(cache) => cache,
        Err(d) => return Report::errors(vec![d], SourceMap::default()),
    };
    let reuse = Reuse { cache: cache.as_ref(), overrides: None };
    let built = ttc::build::build(&settings, &reuse, b.dry_run, workers, progress);
    let mut report = Report::default();
    for line in &built.printed {
        report.stderr.push_str(line);
        report.stderr.push('\n');
    }
    if b.dry_run {
        report.stdout = plan(&built).into_bytes();
    }
    let failed = built.said.iter().flat_map(|(d, _)| d).any(ttc::Diagnostic::is_error);
    if !b.dry_run && !failed {
        report.stdout = done(&built, start.elapsed()).into_bytes();
    }
    for (said, sources) in built.said {
        report.diagnostics.push(said, sources);
    }
    super::say_of_cache(cache.as_ref(), &mut report);
    report.diagnostics.errors_once();
    report
}

/// What a dry run found, a line for each thing that would be made.
fn plan(built: &Built) -> String {
    let mut lines: Vec<String> = built.stale.iter().map(|(name, why)| format!("compile {name}: {why}\n")).collect();
    lines.extend(built.products.iter().map(|why| format!("write launchers, fat binaries and the index: {why}\n")));
    if lines.is_empty() { up_to_date(built) } else { lines.concat() }
}

fn up_to_date(built: &Built) -> String {
    format!("{0} of {0} kernels in `{1}` are up to date\n", built.units, built.out.display())
}

/// One line about what was done.
fn done(built: &Built, time: Duration) -> String {
    let (compiled, all, out) = (built.stale.len(), built.units, built.out.display());
    if compiled == 0 {
        return up_to_date(built);
    }
    format!("compiled {compiled} of {all} kernels into `{out}` in {:.2} s\n", time.as_secs_f64())
}
