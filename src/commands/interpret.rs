//! `ttc interpret`: runs a kernel on the CPU.
//!
//! 1. `prepare.rs` finds out what to run, from the arguments of the command line or from a case file. The kernel
//!    becomes TTIR as the front end makes it, so that faults point at what the user wrote.
//! 2. The interpreter runs it. With `--stage ptx`, `emulate.rs` compiles it and runs the compiled code.
//! 3. `describe.rs` writes to stdout what the kernel printed, the traced values, and a line for each buffer that was
//!    written. `files.rs` writes buffers to files or compares them with files.

pub(super) mod describe;
pub(super) mod files;
pub(super) mod prepare;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ttc::cases::{Folder, Loaded};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input;
use ttc::driver::{Job, output, reproducer};
use ttc::interp::{self, Checks, Trace, npy};
use ttc::target::Target;

use super::{Report, emulate};
use crate::args::{Interpret, Interpreted, Looked};

/// How far a run has come, for whoever watches it.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) done: Arc<AtomicU64>,
    pub(crate) total: AtomicU64,
}

pub(crate) fn interpret(i: &Interpret, progress: &Progress) -> Report {
    let mut folder = Folder { include: i.launch.include.clone(), ..Folder::default() };
    run(i, &mut folder, progress).unwrap_or_else(|diagnostics| Report::errors(diagnostics, folder.sources))
}

fn run(i: &Interpret, folder: &mut Folder, progress: &Progress) -> Result<Report, Vec<Diagnostic>> {
    let case = match i.launch.file.extension() {
        Some(e) if e == "toml" => Some(folder.load_for(&i.launch.file, i.launch.kernel.as_deref())?),
        _ => None,
    };
    let input = match &case {
        Some(loaded) => loaded.input.clone(),
        None => input::read(&mut folder.sources, &i.launch.file, None).map_err(|d| vec![d])?,
    };
    let trace = i.trace.as_deref().map(|t| trace(t, i.program)).transpose().map_err(|d| vec![d])?;
    let target = Target::parse("sm_90a").map_err(|d| vec![d])?;
    let job =
        Job { kernel: i.launch.kernel.clone(), config: i.launch.config, ..Job::new(input, target, Arc::default()) };
    let shown = folder.sources.clone();
    reproducer::guard(|| format!("job: {job:#?}"), &shown, || launch(i, folder, progress, &job, case, trace))
}

fn launch(
    i: &Interpret,
    folder: &mut Folder,
    progress: &Progress,
    job: &Job,
    case: Option<Loaded>,
    trace: Option<Trace>,
) -> Result<Report, Vec<Diagnostic>> {
    let mut launch = prepare::prepare(&i.launch, folder, job, case)?;
    inside(i.program, launch.on.grid).map_err(|d| vec![d])?;
    let outs = files::named("out", &i.launch.out, &launch.on).map_err(|d| vec![d])?;
    let expected = files::expected(&i.launch, &launch.on).map_err(|d| vec![d])?;
    if i.stage == Interpreted::Ptx {
        return emulate::interpret(i, folder, launch, &outs, &expected);
    }
    let total = interp::programs(launch.on.grid).map_err(|d| vec![*d])?;
    progress.total.store(total, Ordering::Relaxed);
    let options = options(i, progress, trace);
    let on = &mut launch.on;
    let done = interp::run(&launch.ir, &launch.kernel, on.grid, &on.args, &mut on.memory, &options)?;
    let mut report = Report { stdout: describe::describe(i, &launch, &done).into_bytes(), ..Report::default() };
    for (buffer, path) in outs {
        let bytes = npy::write(buffer.elem, &buffer.shape, &launch.on.memory.bytes(buffer.id));
        launch.said.extend(output::write_file(&path, &bytes).err());
    }
    launch.said.extend(files::differences(&expected, &launch.on.memory));
    report.diagnostics.push(launch.said, folder.sources.clone());
    Ok(report)
}

fn options(i: &Interpret, progress: &Progress, trace: Option<Trace>) -> interp::RunOptions {
    let has = |l: Looked| i.check.contains(&l) || i.check.contains(&Looked::All);
    interp::RunOptions {
        checks: Checks {
            races: has(Looked::Races),
            bounds: has(Looked::Bounds),
            uninit: has(Looked::Uninit),
            undefined: has(Looked::Undefined),
            promises: has(Looked::Promises),
            nan: has(Looked::Nan),
        },
        trace,
        threads: i.jobs.unwrap_or(0),
        max_ops: i.max_ops,
        deadline: i.timeout.and_then(|s| Instant::now().checked_add(Duration::from_secs(s))),
        max_faults: i.max_faults,
        max_lines: i.max_lines,
        max_memory: i.launch.max_memory,
        progress: Some(progress.done.clone()),
    }
}

/// Refuses a program outside of the grid, which would never be traced.
fn inside(program: [u32; 3], grid: [u32; 3]) -> Result<(), Diagnostic> {
    if program.iter().zip(&grid).all(|(p, g)| p < g) {
        return Ok(());
    }
    let [x, y, z] = program;
    let [gx, gy, gz] = grid;
    let message = format!("`--program {x},{y},{z}` is outside of the grid, which is {gx},{gy},{gz}");
    Err(Diagnostic::error(&codes::cli::BAD_OPTION, message).help("programs count from 0 along each axis"))
}

/// Reads the place to trace: `12`, or `softmax.tk:12`.
fn trace(text: &str, program: [u32; 3]) -> Result<Trace, Diagnostic> {
    let (file, line) = text.rsplit_once(':').map_or((None, text), |(f, l)| (Some(f.to_owned()), l));
    let bad = || {
        Diagnostic::error(&codes::cli::BAD_OPTION, format!("`--trace {text}`: expected a line number, or FILE:LINE"))
    };
    Ok(Trace { file, line: line.parse().map_err(|_| bad())?, program })
}
