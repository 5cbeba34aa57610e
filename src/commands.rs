//! The subcommands: from arguments to what there is to say. Nothing here prints.

pub(crate) mod check;
pub(crate) mod interpret;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ttc::diag::render::{explain as explain_code, list_codes};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::{self, Input, Language};
use ttc::driver::plan::ConfigChoice;
use ttc::driver::{Compiled, Debug, Job, Options, Outcome, Stage, opt, output, plan, run_all};
use ttc::irgen::{KernelInfo, KernelParam, list_kernels};
use ttc::passes::remarks::Group;
use ttc::source::SourceMap;
use ttc::target::Target;

use crate::args::{Compile, Debugging, KernelArgs};

/// What a command has to say when it is done.
#[derive(Default)]
pub(crate) struct Report {
    /// Diagnostics with the sources they point into.
    pub(crate) groups: Vec<(Vec<Diagnostic>, SourceMap)>,
    /// Bytes for stdout.
    pub(crate) stdout: Vec<u8>,
    /// Text for stderr that is no diagnostic: dumps, timings.
    pub(crate) stderr: String,
    /// The errors are about the command line.
    pub(crate) usage: bool,
}

impl Report {
    /// Text for stdout.
    pub(crate) fn text(text: String) -> Report {
        Report { stdout: text.into_bytes(), ..Report::default() }
    }

    pub(crate) fn errors(diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Report {
        Report { groups: vec![(diagnostics, sources)], ..Report::default() }
    }
}

/// A command that stopped early: its diagnostics and the sources they point into.
type Stop = (Vec<Diagnostic>, SourceMap);

pub(crate) fn compile(c: Compile) -> Report {
    try_compile(c).unwrap_or_else(|(d, s)| Report::errors(d, s))
}

fn try_compile(c: Compile) -> Result<Report, Stop> {
    let mut sources = SourceMap::default();
    let stop = |d: Vec<Diagnostic>, s: &SourceMap| (d, s.clone());
    let want = wanted(&c.emit, c.output.as_deref()).map_err(|d| stop(vec![d], &sources))?;
    let debug = match remark_groups(&c.remarks) {
        Ok(remarks) => Debug { remarks, ..debug(&c.debugging) },
        Err(d) => return Ok(Report { usage: true, ..Report::errors(vec![d], sources) }),
    };
    let options = Options {
        maxnreg: c.maxnreg,
        fp_fusion: !c.no_fp_fusion,
        line_info: !c.no_line_info,
        triton_abi: c.triton_abi,
        debug: c.debug,
        ptxas: c.ptxas.clone(),
        locations: !c.no_locations,
        ..options(&c.kernel).map_err(|d| stop(d, &sources))?
    };
    let targets = targets(&c.kernel.arch).map_err(|d| stop(d, &sources))?;
    let inputs = read_all(&c.kernel.files, &mut sources).map_err(|d| stop(d, &sources))?;
    for input in &inputs {
        plan::check_reachable(input, &want).map_err(|d| stop(vec![d], &sources))?;
    }
    let all = c.out_dir.is_some();
    let config = c.kernel.config;
    let jobs =
        plan::jobs(&inputs, &mut sources, c.kernel.kernel.as_deref(), all, config, &targets, &options).map_err(|d| stop(d, &sources))?;
    // Metadata belongs to what is launched: a cubin, or PTX that was asked for as the result and not as a look at a stage.
    let with_metadata = want.contains(&Stage::Cubin) || (c.emit.is_empty() && want.contains(&Stage::Ptx));
    let place = Placement {
        output: c.output,
        out_dir: c.out_dir,
        archs: targets.len(),
        numbered: config == Some(ConfigChoice::All),
        with_metadata,
    };
    place.check(jobs.len(), &want).map_err(|d| stop(vec![d], &sources))?;
    let needed = if c.summary { with(&want, Stage::Cubin) } else { want.clone() };
    let workers = c.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let outcomes = run_all(&jobs, &sources, &options, &needed, &debug, workers);
    Ok(deliver(&jobs, outcomes, &want, &place, c.summary))
}

fn with(want: &[Stage], extra: Stage) -> Vec<Stage> {
    let set: BTreeSet<Stage> = want.iter().copied().chain([Stage::Ptx, extra]).collect();
    set.into_iter().collect()
}

/// Writes the artifacts of all jobs and collects what there is to say about them.
fn deliver(jobs: &[Job], outcomes: Vec<Outcome>, want: &[Stage], place: &Placement, summary: bool) -> Report {
    let mut report = Report::default();
    let mut table = vec![];
    for (job, Outcome { result, sources }) in jobs.iter().zip(outcomes) {
        let made = match result {
            Ok(made) => made,
            Err(errors) => {
                report.groups.push((errors, sources));
                continue;
            }
        };
        for text in made.printed.iter().chain(&made.dumps) {
            report.stderr.push_str(text);
            if !text.ends_with('\n') {
                report.stderr.push('\n');
            }
        }
        let mut said = made.diagnostics.clone();
        if let Err(d) = place.write(job, &made, want, &mut report.stdout) {
            said.push(d);
        }
        if !said.is_empty() {
            report.groups.push((said, sources));
        }
        table.push((job.target, made));
    }
    if summary {
        report.stdout.extend(render_summary(&table).into_bytes());
    }
    report
}

/// Where outputs go.
struct Placement {
    output: Option<PathBuf>,
    out_dir: Option<PathBuf>,
    /// How many architectures there are: with several, file names say which.
    archs: usize,
    /// All configurations are compiled: file names say which.
    numbered: bool,
    with_metadata: bool,
}

impl Placement {
    /// Several outputs need a directory.
    fn check(&self, jobs: usize, want: &[Stage]) -> Result<(), Diagnostic> {
        if self.out_dir.is_some() || jobs * want.len() <= 1 {
            return Ok(());
        }
        let what =
            if jobs > 1 { format!("{jobs} kernels, configurations or architectures") } else { format!("{} kinds of output", want.len()) };
        Err(Diagnostic::error(&codes::cli::OUTPUT_CONFLICT, format!("{what} were asked for, but there is one place to write to"))
            .help("give a directory with `--out-dir`"))
    }

    /// The file for one artifact; `None` is stdout.
    fn path(&self, job: &Job, made: &Compiled, extension: &str) -> Option<PathBuf> {
        if let Some(dir) = &self.out_dir {
            let arch = if self.archs > 1 { format!(".{}", job.target.name) } else { String::new() };
            let config = job.config.filter(|_| self.numbered).map_or_else(String::new, |n| format!(".{n}"));
            return Some(dir.join(format!("{}{config}{arch}.{extension}", made.kernel)));
        }
        match &self.output {
            Some(path) if path == Path::new("-") => None,
            Some(path) => Some(path.clone()),
            None if extension == Stage::Cubin.word() => Some(PathBuf::from(format!("{}.cubin", made.kernel))),
            None => None,
        }
    }

    fn write(&self, job: &Job, made: &Compiled, want: &[Stage], stdout: &mut Vec<u8>) -> Result<(), Diagnostic> {
        if let Some(dir) = &self.out_dir {
            output::make_dir(dir)?;
        }
        for (stage, bytes) in made.artifacts.iter().filter(|(s, _)| want.contains(s)) {
            match self.path(job, made, stage.word()) {
                Some(path) => output::write_file(&path, bytes)?,
                None => stdout.extend_from_slice(bytes),
            }
        }
        let launched = want.iter().rev().find(|s| matches!(s, Stage::Cubin | Stage::Ptx));
        if let Some(stage) = launched.filter(|_| self.with_metadata)
            && let Some(path) = self.path(job, made, stage.word())
        {
            output::write_file(&path.with_extension("json"), &made.metadata.to_json())?;
        }
        Ok(())
    }
}

/// The stages asked for: `--emit`, or the extension of `-o`, or a cubin.
fn wanted(emit: &[String], output: Option<&Path>) -> Result<Vec<Stage>, Diagnostic> {
    if emit.is_empty() {
        let extension = output.and_then(Path::extension).and_then(|e| e.to_str());
        return Ok(vec![extension.and_then(Stage::find).unwrap_or(Stage::Cubin)]);
    }
    let mut want = BTreeSet::new();
    for word in emit {
        let Some(stage) = Stage::find(word.trim()) else {
            let known = Stage::ALL.map(Stage::word).join(", ");
            return Err(Diagnostic::error(&codes::cli::UNKNOWN_EMIT, format!("`--emit {word}`: expected some of {known}")));
        };
        want.insert(stage);
    }
    Ok(want.into_iter().collect())
}

fn options(k: &KernelArgs) -> Result<Options, Vec<Diagnostic>> {
    let options = Options {
        signature: k.signature.clone(),
        defines: k.define.clone(),
        include: k.include.clone(),
        num_warps: k.num_warps,
        num_stages: k.num_stages,
        num_ctas: k.num_ctas,
        ..Options::default()
    };
    plan::check_options(&options)?;
    Ok(options)
}

fn debug(d: &Debugging) -> Debug {
    Debug {
        print_before: d.print_ir_before.clone(),
        print_after: d.print_ir_after.clone(),
        print_after_change: d.print_ir_after_change,
        dump_dir: d.dump_dir.clone(),
        time_passes: d.time_passes,
        verify_each: !d.no_verify_each,
        ..Debug::default()
    }
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
    if bad.is_empty() { Ok(ok.into_iter().flatten().collect()) } else { Err(bad.into_iter().filter_map(Result::err).collect()) }
}

fn read_all(files: &[PathBuf], sources: &mut SourceMap) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let (ok, bad): (Vec<_>, Vec<_>) = files.iter().map(|f| input::read(sources, f, None)).partition(Result::is_ok);
    if bad.is_empty() { Ok(ok.into_iter().flatten().collect()) } else { Err(bad.into_iter().filter_map(Result::err).collect()) }
}

pub(crate) fn list(files: &[PathBuf], json: bool, include: &[PathBuf]) -> Report {
    let mut sources = SourceMap::default();
    let (mut text, mut said) = (String::new(), vec![]);
    for file in files {
        let input = match input::read(&mut sources, file, Some(Language::Source)) {
            Ok(input) => input,
            Err(d) => {
                said.push(d);
                continue;
            }
        };
        let (kernels, errors) = list_kernels(&mut sources, input.file, include);
        said.extend(errors);
        for kernel in kernels.iter().filter(|k| k.entry) {
            let line = if json { kernel_json(file, kernel) } else { kernel_text(file, kernel) };
            let _ = writeln!(text, "{line}");
        }
    }
    Report { groups: vec![(said, sources)], ..Report::text(text) }
}

/// `add.tk:6: vector_add(x_ptr: *fp32:16, n, BLOCK: constexpr = 1024)   needs n`, and a line for each configuration.
fn kernel_text(file: &Path, k: &KernelInfo) -> String {
    let param = |p: &KernelParam| {
        let ty = p.ty.as_ref().map_or_else(String::new, |t| format!(": {t}"));
        let value = p.value.as_ref().map_or_else(String::new, |v| format!(" = {v}"));
        let source = p.source.map_or_else(String::new, |s| format!(" ({})", s.word()));
        format!("{}{ty}{value}{source}", p.name)
    };
    let params: Vec<String> = k.params.iter().map(param).collect();
    let by_config = |p: &&KernelParam| p.source == Some(ttc::irgen::Source::Config);
    let mut needed: Vec<&str> = k.params.iter().filter(|p| p.needed && !by_config(p)).map(|p| p.name.as_str()).collect();
    if k.params.iter().filter(|p| p.needed).any(|p| by_config(&p)) {
        needed.push("--config");
    }
    let needs = if needed.is_empty() { String::new() } else { format!("   needs {}", needed.join(", ")) };
    let mut text = format!("{}:{}: {}({}){needs}", file.display(), k.line, k.name, params.join(", "));
    match &k.configs {
        Ok(configs) => configs.iter().for_each(|c| _ = write!(text, "\n    --config {}: {c}", c.index)),
        Err(why) => _ = write!(text, "\n    {}", why.message),
    }
    text
}

fn kernel_json(file: &Path, k: &KernelInfo) -> String {
    let params: Vec<_> =
        k.params.iter().map(|p| serde_json::json!({ "name": p.name, "type": p.ty, "value": p.value, "source": p.source.map(ttc::irgen::Source::word), "needed": p.needed })).collect();
    let configs = k.configs.as_ref().ok();
    serde_json::json!({ "file": file.to_string_lossy(), "line": k.line, "name": k.name, "params": params, "configs": configs }).to_string()
}

pub(crate) fn explain(code: Option<&str>) -> Report {
    let Some(id) = code else { return Report::text(list_codes()) };
    if let Some(code) = codes::find(id) {
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
        Some(path) if !said.iter().any(Diagnostic::is_error) => said.extend(output::write_file(&path, done.text.as_bytes()).err()),
        Some(_) => {}
        None => report.stdout = done.text.into_bytes(),
    }
    report.groups.push((said, sources));
    report
}

/// A table: a column for each job, a row for each fact.
fn render_summary(jobs: &[(Target, Compiled)]) -> String {
    let ms = |d: Duration| format!("{:.2} ms", d.as_secs_f64() * 1e3);
    let mut rows: Vec<(String, Vec<String>)> = vec![];
    let mut row = |name: &str, value: &dyn Fn(&(Target, Compiled)) -> String| {
        rows.push((name.to_owned(), jobs.iter().map(value).collect()));
    };
    row("", &|(t, c)| format!("{} {}", c.kernel, t.name));
    let mut stages: Vec<&str> = vec![];
    for (stage, _) in jobs.iter().flat_map(|(_, c)| &c.timings) {
        if !stages.contains(stage) {
            stages.push(stage);
        }
    }
    for stage in stages {
        row(stage, &|(_, c)| c.timings.iter().find(|(s, _)| *s == stage).map_or_else(String::new, |(_, d)| ms(*d)));
    }
    row("total", &|(_, c)| ms(c.timings.iter().map(|(_, d)| *d).sum()));
    let number = |n: Option<u32>| n.map_or_else(String::new, |n| n.to_string());
    row("registers", &|(_, c)| number(c.metadata.registers));
    row("shared memory", &|(_, c)| format!("{} bytes", c.metadata.shared));
    row("spills", &|(_, c)| format!("{} bytes", number(c.metadata.spills)));
    for stage in [Stage::Ptx, Stage::Cubin] {
        row(stage.word(), &|(_, c)| c.artifacts.get(&stage).map_or_else(String::new, |b| format!("{} bytes", b.len())));
    }
    let widths: Vec<usize> = (0..jobs.len()).map(|i| rows.iter().map(|(_, v)| v[i].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (name, values) in rows {
        let cells: String = values.iter().zip(&widths).map(|(v, w)| format!("  {v:>w$}")).collect();
        let _ = writeln!(text, "{name:14}{cells}");
    }
    text
}
