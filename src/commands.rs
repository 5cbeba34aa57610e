//! The subcommands. Each turns its arguments into a [`Report`]; nothing here prints.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod cache;
mod emit;
pub(crate) mod emulate;
mod inputs;
pub(crate) mod interpret;
pub(crate) mod list;
pub(crate) mod lsp;
mod measured;
pub(crate) mod report;
pub(crate) mod run;
mod summary;
pub(crate) mod tune;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use ttc::Diagnostics;
use ttc::cache::{Cache, Settings};
use ttc::diag::render::{explain as explain_code, list_codes};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::check::{self, Checked};
use ttc::driver::launchers::Launchers;
use ttc::driver::place::Placement;
use ttc::driver::request::ConfigChoice;
use ttc::driver::{
    Compiled, Debug, Job, JobOptions, Naming, Outcome, Overrides, Reuse, Stage, grids, job_key, opt, output, request,
    run_each, timings,
};
use ttc::irgen::list_kernels;
use ttc::launch::Variant;
use ttc::passes::remarks::Group;
use ttc::source::SourceMap;
use ttc::target::Target;
use ttc::threads;

use self::emit::Wanted;
use self::inputs::{choice, options, read_all};
use crate::args::{Check, Compile, Debugging};

/// What a command has to say when it is done.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) diagnostics: Diagnostics,
    /// Bytes for stdout.
    pub(crate) stdout: Vec<u8>,
    /// Text for stderr that is no diagnostic, such as dumps and timings.
    pub(crate) stderr: String,
    /// Whether the errors are about the command line.
    pub(crate) usage: bool,
}

impl Report {
    /// Text for stdout.
    pub(crate) fn text(text: String) -> Report {
        Report { stdout: text.into_bytes(), ..Report::default() }
    }

    pub(crate) fn errors(diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Report {
        Diagnostics::new(diagnostics, sources).into()
    }
}

impl From<Diagnostics> for Report {
    fn from(diagnostics: Diagnostics) -> Report {
        Report { diagnostics, ..Report::default() }
    }
}

/// What a command that stopped early gives: its diagnostics and the sources that they point into.
type Stop = (Vec<Diagnostic>, SourceMap);

pub(crate) fn compile(c: Compile) -> Report {
    try_compile(c).unwrap_or_else(|(d, s)| Report::errors(d, s))
}

fn try_compile(c: Compile) -> Result<Report, Stop> {
    let mut sources = SourceMap::default();
    sources.remap(c.remap_path_prefix.clone());
    let stop = |d: Vec<Diagnostic>, s: &SourceMap| (d, s.clone());
    let Wanted { stages: want, languages } =
        emit::wanted(&c.emit, c.output.as_deref()).map_err(|d| stop(vec![d], &sources))?;
    let debug = match remark_groups(&c.remarks).and_then(|remarks| Ok(Debug { remarks, ..debug(&c.debugging)? })) {
        Ok(debug) => debug,
        Err(d) => return Ok(Report { usage: true, ..Report::errors(vec![d], sources) }),
    };
    let mut options = JobOptions {
        maxnreg: c.maxnreg,
        fp_fusion: !c.no_fp_fusion,
        tma: c.tma.into(),
        retry: !c.no_retry,
        line_info: !c.no_line_info,
        triton_abi: c.triton_abi,
        debug: c.debug,
        ptxas: c.ptxas.clone(),
        time_limit: Some(Duration::from_secs(c.ptxas_timeout)).filter(|t| !t.is_zero()),
        locations: !c.no_locations,
        max_ops: c.max_ops,
        symbol: c.symbol.clone(),
        ..options(&c.kernel).map_err(|d| stop(d, &sources))?
    };
    grids::set(&mut options, &c.grid).map_err(|d| stop(vec![d], &sources))?;
    let targets = targets(&c.kernel.arch).map_err(|d| stop(d, &sources))?;
    let inputs = read_all(&c.kernel, &mut sources).map_err(|d| stop(d, &sources))?;
    for input in &inputs {
        request::check_reachable(input, &want).map_err(|d| stop(vec![d], &sources))?;
    }
    let all = c.out_dir.is_some() || !languages.is_empty();
    let choice = choice(&c.kernel, all, targets).map_err(|d| stop(d, &sources))?;
    let jobs = request::jobs(&inputs, &mut sources, &choice, &options).map_err(|d| stop(d, &sources))?;
    emit::check(&c.emit, c.output.as_deref(), &jobs).map_err(|d| stop(vec![d], &sources))?;
    let (cache, overrides) =
        (open_cache(c.cache.then_some(true)).map_err(|d| stop(vec![d], &sources))?, Overrides::of_environment());
    // Metadata belongs to what the driver loads, which is a cubin or PTX.
    let with_metadata = want.iter().any(|s| matches!(s, Stage::Binary | Stage::Assembly));
    let naming = Naming::of(&jobs, choice.config == Some(ConfigChoice::All));
    if c.print_key {
        return Ok(Report::text(keys(&jobs, &mut sources, naming)));
    }
    let launchers = emit::launchers(&c, languages, &want).map_err(|d| stop(vec![d], &sources))?;
    let place = Placement::new(c.output, c.out_dir, want.clone(), with_metadata, naming);
    place.check(&jobs, &sources).map_err(|d| stop(vec![d], &sources))?;
    let needed = if c.summary || launchers.wanted() { with(&want, Stage::Binary) } else { want };
    let debug = Debug { naming, ..debug };
    let workers = c.jobs.unwrap_or_else(threads::usual);
    let reuse = Reuse { cache: cache.as_ref(), overrides: Some(&overrides) };
    let delivered = run_each(&jobs, &sources, &needed, &debug, &reuse, workers, |i, outcome| {
        deliver(&jobs[i], outcome, &place, &launchers, Shown { summary: c.summary, times: debug.time_passes })
    });
    let (mut report, variants) = collect(delivered, c.summary, naming);
    say_of_cache(cache.as_ref(), &mut report);
    // A kernel that is missing would only be noticed by the program that calls it.
    if launchers.wanted()
        && !report.diagnostics.has_errors()
        && let Err(d) = launchers.write(variants)
    {
        report.diagnostics.push(vec![d], sources);
    }
    Ok(report)
}

/// The cache, if `TTC_CACHE` asks for it, or else an option of the command line.
fn open_cache(option: Option<bool>) -> Result<Option<Cache>, Diagnostic> {
    let variable = std::env::var_os("TTC_CACHE").unwrap_or_default().to_string_lossy().into_owned();
    let asked = match (option, variable.as_str()) {
        (Some(false), _) | (_, "0") => false,
        (Some(true), "") | (_, "1") => true,
        (None, "") => false,
        (_, other) => {
            let text = format!("`TTC_CACHE={other}`: expected 1 or 0");
            return Err(
                Diagnostic::error(&codes::cli::BAD_OPTION, text).help("`TTC_CACHE_DIR` names the folder of the cache")
            );
        }
    };
    if asked { Settings::of_environment().map(|settings| Some(Cache::new(&settings))) } else { Ok(None) }
}

/// Adds what there is to say of a cache at the end of a run.
fn say_of_cache(cache: Option<&Cache>, report: &mut Report) {
    let said = cache.map_or_else(Vec::new, Cache::finish);
    if !said.is_empty() {
        report.diagnostics.push(said, SourceMap::default());
    }
}

/// The keys of jobs, a line each: the key, and the names that the job's files have.
fn keys(jobs: &[Job], sources: &mut SourceMap, naming: Naming) -> String {
    let line = |job: &Job| {
        let kernel = request::expected_kernel(job, sources).or_else(|| {
            let (kernels, _) = list_kernels(sources, job.input.file, &job.options.include);
            kernels.into_iter().find(|k| k.entry).map(|k| k.name)
        });
        let kernel = kernel.unwrap_or_else(|| job.input.stem());
        format!("{} {}\n", job_key(job, sources), naming.stem(job, &kernel))
    };
    jobs.iter().map(line).collect()
}

fn with(want: &[Stage], extra: Stage) -> Vec<Stage> {
    let set: BTreeSet<Stage> = want.iter().copied().chain([Stage::Assembly, extra]).collect();
    set.into_iter().collect()
}

/// What is left to say of a job after its files are written.
struct Delivered {
    report: Report,
    /// The job and what was made, for the summary.
    made: Option<(Job, Compiled)>,
    /// What was made as a variant of a kernel, for launchers.
    variant: Option<(String, Variant)>,
}

/// What to show of a job beside its diagnostics.
#[derive(Clone, Copy)]
struct Shown {
    summary: bool,
    /// Whether to show the time of each stage.
    times: bool,
}

/// Writes the artifacts of a job and collects what there is to say about them.
fn deliver(
    job: &Job,
    Outcome { result, sources }: Outcome,
    place: &Placement,
    launchers: &Launchers,
    shown: Shown,
) -> Delivered {
    let mut made = match result {
        Ok(made) => made,
        Err(errors) => return Delivered { report: Report::errors(errors, sources), made: None, variant: None },
    };
    let mut report = Report::default();
    for text in made.printed.iter().chain(&made.dumps) {
        report.stderr.push_str(text);
        if !text.ends_with('\n') {
            report.stderr.push('\n');
        }
    }
    if shown.times {
        report.stderr.push_str(&timings::table(&made.timings));
        report.stderr.extend(timings::note(&made));
    }
    let mut said = std::mem::take(&mut made.diagnostics);
    match place.write(job, &made) {
        Ok(stdout) => report.stdout = stdout,
        Err(d) => said.push(d),
    }
    let variant = launchers.wanted().then(|| launchers.variant(job, &made));
    let variant = variant.transpose().map_err(|d| said.push(d)).ok().flatten();
    if !said.is_empty() {
        report.diagnostics.push(said, sources);
    }
    Delivered { report, made: shown.summary.then(|| (job.clone(), made)), variant }
}

/// Puts the results of all jobs into one report, in their order, and collects the variants of kernels.
fn collect(delivered: Vec<Delivered>, summary: bool, naming: Naming) -> (Report, Vec<(String, Variant)>) {
    let mut all = Report::default();
    let (mut table, mut variants) = (vec![], vec![]);
    for Delivered { report, made, variant } in delivered {
        variants.extend(variant);
        all.diagnostics.extend(report.diagnostics);
        all.stderr.push_str(&report.stderr);
        all.stdout.extend(report.stdout);
        table.extend(made);
    }
    all.diagnostics.errors_once();
    if summary {
        all.stdout.extend(summary::table(&table, naming).into_bytes());
    }
    (all, variants)
}

fn debug(d: &Debugging) -> Result<Debug, Diagnostic> {
    Ok(Debug {
        print_before: d.print_ir_before.as_deref().map(Debug::pass).transpose()?,
        print_after: d.print_ir_after.as_deref().map(Debug::pass).transpose()?,
        print_after_change: d.print_ir_after_change,
        dump_dir: d.dump_dir.clone(),
        time_passes: d.time_passes,
        verify_each: !d.no_verify_each,
        ..Debug::default()
    })
}

/// The groups that `--remarks` names.
fn remark_groups(words: &[String]) -> Result<BTreeSet<Group>, Diagnostic> {
    let mut groups = BTreeSet::new();
    for word in words.iter().map(|w| w.trim()) {
        match Group::find(word) {
            Some(group) => groups.extend([group]),
            None if word == "all" => groups.extend(Group::ALL),
            None => {
                let known = Group::ALL.map(Group::word).join(", ");
                return Err(Diagnostic::error(
                    &codes::cli::UNKNOWN_REMARKS,
                    format!("`--remarks {word}`: expected some of {known}, or all"),
                ));
            }
        }
    }
    Ok(groups)
}

fn targets(archs: &[String]) -> Result<Vec<Target>, Vec<Diagnostic>> {
    let (ok, bad): (Vec<_>, Vec<_>) = archs.iter().map(|a| Target::parse(a.trim())).partition(Result::is_ok);
    if bad.is_empty() {
        Ok(ok.into_iter().flatten().collect())
    } else {
        Err(bad.into_iter().filter_map(Result::err).collect())
    }
}

pub(crate) fn check(c: &Check) -> Report {
    let mut sources = SourceMap::default();
    match try_check(c, &mut sources) {
        Ok(found) => Report {
            stderr: found.printed.iter().map(|l| format!("{l}\n")).collect(),
            ..Diagnostics::from(found.groups).into()
        },
        Err(said) => Report::errors(said, sources),
    }
}

fn try_check(c: &Check, sources: &mut SourceMap) -> Result<Checked, Vec<Diagnostic>> {
    let inputs = read_all(&c.kernel, sources)?;
    let said = check::syntax(&inputs, sources);
    if c.syntax_only || said.iter().any(Diagnostic::is_error) {
        return Err(said);
    }
    let (options, targets) = (options(&c.kernel)?, targets(&c.kernel.arch)?);
    check::check(&inputs, sources, &choice(&c.kernel, true, targets)?, &options)
}

pub(crate) fn explain(code: Option<&str>) -> Report {
    let Some(id) = code else { return Report::text(list_codes()) };
    // `E0216` is also found by `e216` and `216`.
    let digits = id.trim_start_matches(['E', 'e']);
    if let Some(code) = codes::find(id).or_else(|| codes::find(&format!("E{digits:0>4}"))) {
        Report::text(explain_code(code))
    } else {
        let d = Diagnostic::error(&codes::cli::UNKNOWN_CODE, format!("there is no code `{id}`"))
            .help("`ttc explain` without a code lists them all");
        Report::errors(vec![d], SourceMap::default())
    }
}

pub(crate) fn opt(args: &[OsString]) -> Report {
    let mut sources = SourceMap::default();
    let request = match opt::parse_args(args) {
        Ok(request) if request.help => return Report::text(opt::help()),
        Ok(request) => request,
        Err(d) => return Report { usage: true, ..Report::errors(vec![d], sources) },
    };
    let done = match opt::run(&request, &mut sources) {
        Ok(done) => done,
        Err(d) => return Report::errors(vec![d], sources),
    };
    let mut report = Report { stderr: done.dumps.concat(), ..Report::default() };
    let mut said = done.diagnostics;
    match request.output.filter(|p| p != Path::new("-")) {
        Some(path) if !said.iter().any(Diagnostic::is_error) => {
            said.extend(output::write_file(&path, done.text.as_bytes()).err());
        }
        Some(_) => {}
        None => report.stdout = done.text.into_bytes(),
    }
    report.diagnostics.push(said, sources);
    report
}
