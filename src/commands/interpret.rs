//! `ttc interpret`: runs a kernel on the CPU.
//!
//! 1. What to run: the arguments of the command line, or the case file beside the kernel with a configuration of its parameters.
//! 2. The kernel becomes TTIR as the front end makes it, so that faults point at what the user wrote.
//! 3. What the kernel printed, the traced values and a line for each buffer that was written go to stdout; buffers go to files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ttc::cases::config::COMPILE_OPTIONS;
use ttc::cases::manual::{self, Bound, Given};
use ttc::cases::{Folder, Instance, launch};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::{self, Language};
use ttc::driver::{Job, Options, Stage, output, plan, reproducer};
use ttc::interp::{self, Arg, Checks, Memory, Trace, npy};
use ttc::ir::Ir;
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::irgen::{KernelInfo, list_kernels, lower_kernel};
use ttc::source::SourceMap;
use ttc::target::Target;

use super::Report;
use crate::args::{Interpret, Looked};

/// How far a run is, for whoever watches it.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) done: Arc<AtomicU64>,
    pub(crate) total: AtomicU64,
}

/// A launch that can begin.
struct Launch {
    ir: Ir,
    kernel: String,
    grid: [u32; 3],
    args: Vec<Arg>,
    memory: Memory,
    buffers: Vec<Bound>,
    /// The buffers that are results.
    results: Vec<String>,
    said: Vec<Diagnostic>,
    /// What `tl.static_print` printed, and which configuration runs.
    text: String,
}

pub(crate) fn interpret(i: &Interpret, progress: &Progress) -> Report {
    let mut folder = Folder { include: i.include.clone(), ..Folder::default() };
    run(i, &mut folder, progress).unwrap_or_else(|diagnostics| Report::errors(diagnostics, folder.sources))
}

fn run(i: &Interpret, folder: &mut Folder, progress: &Progress) -> Result<Report, Vec<Diagnostic>> {
    let input = input::read(&mut folder.sources, &i.file, None).map_err(|d| vec![d])?;
    if !matches!(input.language, Language::Ir(_)) {
        plan::check_reachable(&input, &[Stage::Ttir]).map_err(|d| vec![d])?;
    }
    let trace = i.trace.as_deref().map(|t| trace(t, i.program)).transpose().map_err(|d| vec![d])?;
    let target = Target::parse("sm_90a").map_err(|d| vec![d])?;
    let job = Job { input, kernel: i.kernel.clone(), config: i.config, target };
    let shown = folder.sources.clone();
    reproducer::guard(
        || format!("job: {job:#?}"),
        &shown,
        || {
            let mut launch = prepare(i, folder, &job)?;
            let outs = outs(i, &launch).map_err(|d| vec![d])?;
            let has = |l: Looked| i.check.contains(&l);
            let options = interp::Options {
                checks: Checks { races: has(Looked::Races), bounds: has(Looked::Bounds), uninit: has(Looked::Uninit) },
                trace,
                threads: i.jobs.unwrap_or(0),
                max_ops: i.max_ops,
                progress: Some(progress.done.clone()),
            };
            progress.total.store(launch.grid.iter().map(|&g| u64::from(g)).product(), Ordering::Relaxed);
            let done = interp::run(&launch.ir, &launch.kernel, launch.grid, &launch.args, &mut launch.memory, &options)?;
            let mut report = Report { stdout: describe(i, &launch, &done).into_bytes(), ..Report::default() };
            for (buffer, path) in outs {
                let bytes = npy::write(buffer.elem, &buffer.shape, &launch.memory.bytes(buffer.id));
                launch.said.extend(output::write_file(&path, &bytes).err());
            }
            report.groups.push((launch.said, folder.sources.clone()));
            Ok(report)
        },
    )
}

/// From the command line or from the case file.
fn prepare(i: &Interpret, folder: &mut Folder, job: &Job) -> Result<Launch, Vec<Diagnostic>> {
    match job.input.language {
        Language::Source if i.arg.is_empty() => {
            let case = folder.find(&job.input, i.kernel.as_deref())?;
            match case {
                Some(loaded) => from_case(i, folder, &loaded),
                None => from_arguments(i, folder, job),
            }
        }
        _ => from_arguments(i, folder, job),
    }
}

fn from_case(i: &Interpret, folder: &mut Folder, loaded: &ttc::cases::Loaded) -> Result<Launch, Vec<Diagnostic>> {
    if i.config.is_some() {
        let message = "`--config` chooses a configuration of `@triton.autotune`, but the case file gives the values: use `--param`, or `--arg` without it";
        return Err(vec![Diagnostic::error(&codes::cli::BAD_OPTION, message)]);
    }
    let mut config = loaded.case.default_config();
    for (name, value) in &i.param {
        loaded.case.set(&mut config, name, value).map_err(|d| vec![d])?;
    }
    let mut instance: Instance = loaded.case.instance(&loaded.kernel, &config)?;
    instance.grid = i.grid.unwrap_or(instance.grid);
    instance.options.defines.extend(i.define.iter().cloned());
    instance.options.debug = i.debug;
    let lowered = launch::lower(&mut folder.sources, loaded, &instance)?;
    let made = launch::arguments(&instance);
    let bound = |(b, id): &(&ttc::cases::config::Buffer, interp::BufferId)| Bound {
        name: b.name.clone(),
        id: *id,
        elem: b.dtype.to_ir(),
        shape: b.shape.clone(),
        unwritten: b.fill == ttc::cases::random::Fill::Poison,
    };
    let mut text: String = lowered.printed.iter().map(|l| format!("{l}\n")).collect();
    let shown = config.params.iter().filter(|(n, _)| !COMPILE_OPTIONS.contains(&n.as_str()));
    let shown: Vec<String> = shown.map(|(n, v)| format!("{n}={v}")).collect();
    let _ = writeln!(text, "{}: {}", loaded.case.name, shown.join(" "));
    Ok(Launch {
        ir: lowered.ir,
        kernel: lowered.kernel,
        grid: instance.grid,
        buffers: made.buffers.iter().map(bound).collect(),
        results: instance.outputs().map(|b| b.name.clone()).collect(),
        args: made.args,
        memory: made.memory,
        said: lowered.warnings,
        text,
    })
}

fn from_arguments(i: &Interpret, folder: &mut Folder, job: &Job) -> Result<Launch, Vec<Diagnostic>> {
    if let Some((name, _)) = i.param.first() {
        let message = format!("`--param {name}=…` needs a case file, and there is none for `{}`", i.file.display());
        return Err(vec![Diagnostic::error(&codes::interp::BAD_ARGUMENTS, message)]);
    }
    let mut given: BTreeMap<String, Given> = BTreeMap::new();
    for (name, text) in &i.arg {
        given.insert(name.clone(), manual::parse(name, text).map_err(|d| vec![d])?);
    }
    let mut text = String::new();
    let mut said = vec![];
    let (ir, kernel, names) = if job.input.language == Language::Source {
        let info = kernel_info(&mut folder.sources, job, &i.include)?;
        let signature = match &i.signature {
            Some(s) => s.clone(),
            None => manual::signature(&info, &given, &i.define).map_err(|d| vec![d])?,
        };
        let options = Options {
            signature: Some(signature),
            defines: i.define.clone(),
            include: i.include.clone(),
            debug: i.debug,
            ..Options::default()
        };
        let job = Job { kernel: Some(info.name), ..job.clone() };
        let lowered = lower_kernel(&mut folder.sources, job.input.file, &plan::kernel_request(&job, &options))?;
        text.extend(lowered.printed.iter().map(|l| format!("{l}\n")));
        said = lowered.warnings;
        (lowered.ir, lowered.kernel, lowered.params.into_iter().map(|p| p.name).collect::<Vec<_>>())
    } else {
        let mut ir = parse_module(&folder.sources, job.input.file, &ParseOptions::default())?;
        let kernel = plan::choose_kernel(&mut ir, i.kernel.as_deref(), true, &i.file.to_string_lossy()).map_err(|d| vec![d])?;
        let params = interp::params(&ir, &kernel).map_err(|d| vec![*d])?;
        let names = params.iter().enumerate().map(|(at, p)| p.name.map_or_else(|| at.to_string(), str::to_owned)).collect();
        (ir, kernel, names)
    };
    let params = interp::params(&ir, &kernel).map_err(|d| vec![*d])?;
    let mut memory = Memory::new();
    let (args, buffers) = manual::bind(&names, &params, &given, &mut memory)?;
    let results = buffers.iter().filter(|b| b.unwritten).map(|b| b.name.clone()).collect();
    Ok(Launch { ir, kernel, grid: i.grid.unwrap_or([1; 3]), args, memory, buffers, results, said, text })
}

/// What the file says about the kernel that is meant.
fn kernel_info(sources: &mut SourceMap, job: &Job, include: &[PathBuf]) -> Result<KernelInfo, Vec<Diagnostic>> {
    let (kernels, errors) = list_kernels(sources, job.input.file, include);
    if errors.iter().any(Diagnostic::is_error) {
        return Err(errors);
    }
    let fits = |k: &&KernelInfo| job.kernel.as_ref().map_or(k.entry, |n| *n == k.name);
    let chosen: Vec<&KernelInfo> = kernels.iter().filter(fits).collect();
    if let [one] = chosen[..] {
        return Ok(one.clone());
    }
    // The front end knows how to say what is wrong with the choice.
    let request = plan::kernel_request(job, &Options::default());
    lower_kernel(sources, job.input.file, &request).map(|_| kernels.first().cloned()).and_then(|k| {
        k.ok_or_else(|| vec![Diagnostic::error(&codes::interp::NO_KERNEL, format!("`{}` has no kernel", job.input.path.display()))])
    })
}

/// `12`, or `softmax.tk:12`.
fn trace(text: &str, program: [u32; 3]) -> Result<Trace, Diagnostic> {
    let (file, line) = text.rsplit_once(':').map_or((None, text), |(f, l)| (Some(f.to_owned()), l));
    let bad = || Diagnostic::error(&codes::cli::BAD_OPTION, format!("`--trace {text}`: expected a line number, or FILE:LINE"));
    Ok(Trace { file, line: line.parse().map_err(|_| bad())?, program })
}

/// The buffers to write, with their files.
fn outs(i: &Interpret, launch: &Launch) -> Result<Vec<(Bound, PathBuf)>, Diagnostic> {
    let bad = |message: String, known: &[&str]| {
        let help = if known.is_empty() { "the kernel has no buffers".to_owned() } else { format!("the buffers are {}", known.join(", ")) };
        Err(Diagnostic::error(&codes::cli::BAD_OPTION, message).help(help))
    };
    let known: Vec<&str> = launch.buffers.iter().map(|b| b.name.as_str()).collect();
    let mut all = vec![];
    for text in &i.out {
        let (name, path) = match text.split_once('=') {
            Some((name, path)) => (name.to_owned(), path),
            None => match (launch.results.as_slice(), stem(text)) {
                (_, Some(stem)) if known.contains(&stem.as_str()) => (stem, text.as_str()),
                ([one], _) => (one.clone(), text.as_str()),
                _ => return bad(format!("`--out {text}`: say which buffer, `--out NAME={text}`"), &known),
            },
        };
        let Some(buffer) = launch.buffers.iter().find(|b| b.name == name) else {
            return bad(format!("`--out {text}`: the kernel has no buffer `{name}`"), &known);
        };
        all.push((buffer.clone(), PathBuf::from(path)));
    }
    Ok(all)
}

fn stem(path: &str) -> Option<String> {
    Path::new(path).file_stem().map(|s| s.to_string_lossy().into_owned())
}

/// What the run did, as text.
fn describe(i: &Interpret, launch: &Launch, done: &interp::Report) -> String {
    let mut text = launch.text.clone();
    for p in &done.printed {
        let [x, y, z] = p.program;
        let _ = writeln!(text, "pid ({x}, {y}, {z}) {}", p.text);
    }
    for t in &done.traced {
        let name = t.name.as_ref().map_or_else(String::new, |n| format!("{n} = "));
        let _ = writeln!(text, "{}:{} {name}{} : {}\n  {}", t.line, t.col, t.op, t.ty, t.text);
    }
    if let (Some(line), true) = (&i.trace, done.traced.is_empty()) {
        let [x, y, z] = i.program;
        let _ = writeln!(text, "nothing was computed at line {line} in program ({x}, {y}, {z})");
    }
    let _ = writeln!(text, "{}: {} programs, {} operations", launch.kernel, done.programs, done.ops);
    for b in launch.buffers.iter().filter(|b| launch.results.contains(&b.name)) {
        let _ = writeln!(text, "{}", summary(b, &launch.memory));
    }
    text
}

/// `y: f32[4, 8], least -1.5, mean 0.25, greatest 3`
fn summary(b: &Bound, memory: &Memory) -> String {
    let values = memory.values(b.id);
    let sizes: Vec<String> = b.shape.iter().map(ToString::to_string).collect();
    let mut text = format!("{}: {}[{}]", b.name, b.elem, sizes.join(", "));
    if !memory.is_written(b.id) {
        text.push_str(", not written everywhere");
    }
    let numbers: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    if numbers.len() < values.len() {
        let _ = write!(text, ", {} NaN", values.len() - numbers.len());
    }
    if !numbers.is_empty() {
        let fold = |f: fn(f64, f64) -> f64| numbers.iter().copied().reduce(f).unwrap_or_default();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let _ = write!(text, ", least {}, mean {mean:.6}, greatest {}", fold(f64::min), fold(f64::max));
    }
    text
}
