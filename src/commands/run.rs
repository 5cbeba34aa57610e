//! `ttc run`: runs a kernel on the GPU.
//!
//! 1. The launch is prepared as `ttc interpret` does it: from a case file, or from arguments. A cubin comes with the
//!    JSON beside it, which says what it takes.
//! 2. The kernel is compiled for the GPU that is there, unless it is a cubin.
//! 3. The buffers go to the GPU, the kernel runs, and the buffers come back.
//! 4. The report is that of `ttc interpret`. Results are compared with files (`--expect`), or with the interpreter
//!    (`--check interpret`), which runs on the same arguments.

use std::path::Path;
use std::sync::Arc;

use ttc::cases::{Folder, manual};
use ttc::diag::{Diagnostic, codes, shell_word};
use ttc::driver::{Job, JobOptions, input, output, request};
use ttc::gpu::arguments::{self, Arguments};
use ttc::gpu::program::{self, Program};
use ttc::gpu::ready::Ready;
use ttc::gpu::session::Gpu;
use ttc::interp::{self, Memory, RunOptions, npy};
use ttc::irgen::front::signature::parse_type;
use ttc::source::SourceMap;
use ttc::target::Target;

use super::Report;
use super::interpret::prepare::{self, Bindings, Launch};
use super::interpret::{describe, files};
use crate::args::{self, Launched, OnGpu};

type Try<T> = Result<T, Vec<Diagnostic>>;

pub(crate) fn run(r: &args::Run) -> Report {
    let mut folder = Folder { include: r.launch.include.clone(), ..Folder::default() };
    let mut report = Report::default();
    if let Err(diagnostics) = try_run(r, &mut folder, &mut report) {
        report.diagnostics.push(diagnostics, folder.sources);
    }
    report
}

fn try_run(r: &args::Run, folder: &mut Folder, report: &mut Report) -> Try<()> {
    if r.launch.file.extension().is_some_and(|e| e == "cubin") {
        return run_cubin(r, &r.launch.file, report);
    }
    let mut launch = prepare(r, folder)?;
    report.stdout.extend(launch.text.as_bytes());
    let checks = Checks::new(&r.launch, &launch.on)?;
    let gpu = open(&r.gpu)?;
    launch.job.target = target(&r.gpu, &gpu)?;
    let program = match &r.cubin {
        None => compiled(&launch.job, &folder.sources, report)?,
        Some(path) => {
            report.diagnostics.push(std::mem::take(&mut launch.said), folder.sources.clone());
            // Only a cubin of another compiler needs to be told what the kernel takes.
            Program::read(path, None).or_else(|_| {
                let ours = compiled(&launch.job, &folder.sources, report)?;
                Program::read(path, Some(&ours.descriptor)).map_err(|d| vec![d])
            })?
        }
    };
    let on = launched(&gpu, &launch.kernel, &program, &launch.on, Some(interpret_command(&r.launch)))?;
    report.stdout.extend(described(&launch.kernel, &on, &gpu).as_bytes());
    let mut expected = checks.expected;
    if r.check.is_some() {
        let options = RunOptions { max_memory: r.launch.max_memory, ..RunOptions::default() };
        let cpu = &mut launch.on;
        interp::run(&launch.ir, &launch.kernel, cpu.grid, &cpu.args, &mut cpu.memory, &options)?;
        // What the kernel does not write holds on the GPU what it held before.
        cpu.buffers.iter().for_each(|b| cpu.memory.fill_unwritten(b.id, arguments::POISON));
        expected.extend(files::interpreted(cpu, r.launch.tolerance));
    }
    finish(&on, Checks { expected, ..checks }, r.check.is_some(), report)
}

/// Runs a cubin with arguments from the command line.
fn run_cubin(r: &args::Run, path: &Path, report: &mut Report) -> Try<()> {
    let refuse = |option: &str, why: &str| {
        let message = format!("`{option}`: `{}` is a cubin, {why}", path.display());
        Err(vec![Diagnostic::error(&codes::cli::BAD_OPTION, message).help("start from the kernel's source")])
    };
    if r.check.is_some() {
        return refuse("--check", "and the interpreter needs the kernel's source");
    }
    if !r.launch.param.is_empty() {
        return refuse("--param", "and no case file: `ttc run CASE.toml --cubin FILE` runs a cubin as a case says");
    }
    if !r.launch.define.is_empty() || r.launch.signature.is_some() || !r.launch.types.is_empty() {
        return refuse("-D, --type or --signature", "whose types and constants are settled");
    }
    let program = Program::read(path, None).map_err(|d| vec![d])?;
    let on = bind(&r.launch, &program)?;
    let checks = Checks::new(&r.launch, &on)?;
    let gpu = open(&r.gpu)?;
    let name = &program.descriptor.symbol;
    let on = launched(&gpu, name, &program, &on, None)?;
    report.stdout.extend(described(name, &on, &gpu).as_bytes());
    finish(&on, checks, false, report)
}

/// Lays out the arguments of a cubin.
fn bind(l: &Launched, program: &Program) -> Try<Bindings> {
    let own = program.descriptor.arguments.iter().filter(|a| a.equals.is_none());
    let (mut names, mut params) = (vec![], vec![]);
    for a in own {
        let Some(ty) = parse_type(&a.ty) else {
            let message = format!("the argument `{}` of type {} cannot come from the command line", a.name, a.ty);
            let d = Diagnostic::error(&codes::gpu::BAD_LAUNCH, message);
            return Err(vec![d.help("write a case file, and run it with `--cubin`")]);
        };
        names.push(a.name.clone());
        params.push(interp::Param { name: None, ty: ty.dtype.to_ir() });
    }
    let mut memory = Memory::new();
    let (args, buffers) = manual::bind(&names, &params, prepare::arguments(l, &l.arg)?, &mut memory)?;
    let results = prepare::results(&buffers);
    Ok(Bindings { grid: l.grid.unwrap_or([1; 3]), names, args, memory, buffers, results })
}

/// What the buffers are written to and compared with.
struct Checks {
    outs: Vec<(manual::Bound, std::path::PathBuf)>,
    expected: Vec<files::Expected>,
}

impl Checks {
    fn new(l: &Launched, on: &Bindings) -> Try<Checks> {
        let outs = files::named("out", &l.out, on).map_err(|d| vec![d])?;
        let expected = files::expected(l, on).map_err(|d| vec![d])?;
        Ok(Checks { outs, expected })
    }
}

/// Prepares the launch as `ttc interpret` does, and adds the options of the compilation.
fn prepare(r: &args::Run, folder: &mut Folder) -> Try<Launch> {
    let l = &r.launch;
    let case = match l.file.extension() {
        Some(e) if e == "toml" => Some(folder.load_for(&l.file, l.kernel.as_deref())?),
        _ => None,
    };
    let input = match &case {
        Some(loaded) => loaded.input.clone(),
        None => input::read(&mut folder.sources, &l.file, None).map_err(|d| vec![d])?,
    };
    let job = Job { kernel: l.kernel.clone(), config: l.config, ..Job::new(input, Target::usual(), Arc::default()) };
    let mut launch = prepare::prepare(l, folder, &job, case)?;
    let said = (*launch.job.options).clone();
    let options = JobOptions {
        num_warps: r.num_warps.or(said.num_warps),
        num_stages: r.num_stages.or(said.num_stages),
        num_ctas: r.num_ctas.or(said.num_ctas),
        pipelining: r.pipeline.or(said.pipelining),
        maxnreg: r.maxnreg.or(said.maxnreg),
        ptxas: r.gpu.ptxas.clone(),
        ..said
    };
    request::check_options(&options)?;
    launch.job.options = Arc::new(options);
    Ok(launch)
}

pub(super) fn open(g: &OnGpu) -> Try<Gpu> {
    Gpu::open(g.device).map_err(|d| vec![d])
}

/// The target to compile for.
pub(super) fn target(g: &OnGpu, gpu: &Gpu) -> Try<Target> {
    g.arch.as_ref().map_or(Ok(gpu.target), |arch| Target::parse(arch).map_err(|d| vec![d]))
}

/// Compiles the kernel of a job. Its warnings, which are also those of the front end, become part of the report.
fn compiled(job: &Job, sources: &SourceMap, report: &mut Report) -> Try<Program> {
    let cache = super::open_cache(None).map_err(|d| vec![d])?;
    let mut made = program::compile(sources, std::slice::from_ref(job), cache.as_ref(), 1).remove(0);
    super::say_of_cache(cache.as_ref(), report);
    match made.program.take() {
        Some(program) => {
            report.diagnostics.push(made.said, made.sources);
            Ok(program)
        }
        None => Err(made.said),
    }
}

/// Runs the kernel once. The result holds the buffers as they are then.
fn launched(gpu: &Gpu, name: &str, program: &Program, on: &Bindings, command: Option<String>) -> Try<Bindings> {
    let host = arguments::of_memory(&on.names, &on.args, &on.memory, &on.buffers);
    let device = Arguments::upload(gpu, host).map_err(|d| vec![d])?;
    let mut ready = Ready::new(gpu, name, program, on.grid, &device, command).map_err(|d| vec![d])?;
    ready.launch().and_then(|()| ready.wait()).map_err(|d| vec![d])?;
    let mut memory = Memory::new();
    for b in &on.buffers {
        let bytes = device.download(&b.name).map_err(|d| vec![d])?.unwrap_or_default();
        memory.add(&b.name, b.elem, &bytes);
    }
    Ok(Bindings {
        memory,
        grid: on.grid,
        names: on.names.clone(),
        args: on.args.clone(),
        buffers: on.buffers.clone(),
        results: on.results.clone(),
    })
}

fn described(kernel: &str, on: &Bindings, gpu: &Gpu) -> String {
    let programs: u64 = on.grid.iter().map(|&n| u64::from(n)).product();
    format!("{kernel}: {programs} programs on {}\n{}", gpu.words(), describe::results(on))
}

/// Writes the buffers that `--out` names, and compares those that are expected to be something.
fn finish(on: &Bindings, checks: Checks, interpreted: bool, report: &mut Report) -> Try<()> {
    let mut said = vec![];
    for (buffer, path) in checks.outs {
        let bytes = npy::write(buffer.elem, &buffer.shape, &on.memory.bytes(buffer.id));
        said.extend(output::write_file(&path, &bytes).err());
    }
    said.extend(files::differences(&checks.expected, &on.memory));
    if interpreted && said.is_empty() {
        report.stdout.extend(b"the results are those of the interpreter\n");
    }
    if said.is_empty() { Ok(()) } else { Err(said) }
}

/// The command that runs the same in the interpreter.
pub(super) fn interpret_command(l: &Launched) -> String {
    let mut words = vec!["ttc interpret".to_owned(), shell_word(&l.file.to_string_lossy())];
    let mut add = |option: &str, value: &str| words.push(format!("{option} {}", shell_word(value)));
    l.kernel.iter().for_each(|k| add("-k", k));
    l.grid.iter().for_each(|[x, y, z]| add("--grid", &format!("{x},{y},{z}")));
    l.param.iter().for_each(|(name, value)| add("--param", &format!("{name}={value}")));
    l.arg.iter().for_each(|(name, value)| add("--arg", &format!("{name}={value}")));
    l.signature.iter().for_each(|s| add("--signature", s));
    l.types.iter().for_each(|r| add("--type", &format!("{}={}", r.pattern, r.ty)));
    l.define.iter().for_each(|(name, value)| add("-D", &format!("{name}={value}")));
    l.include.iter().for_each(|path| add("-I", &path.to_string_lossy()));
    words.join(" ")
}
