//! What a run of the interpreter needs: the kernel as TTIR, the grid, the arguments in memory.
//!
//! 1. From a case file: the one that was named, or the one beside the kernel, with a configuration of its parameters.
//! 2. From the command line: `--arg` gives arguments. One that is a compile-time value, because the parameter is a `tl.constexpr` or the value is
//!    `None`, counts as `-D`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use ttc::cases::config::COMPILE_OPTIONS;
use ttc::cases::manual::{self, Bound, Given};
use ttc::cases::{Folder, Instance, Loaded, launch};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::Language;
use ttc::driver::{Job, Options, plan};
use ttc::interp::{self, Arg, Budget, Memory};
use ttc::ir::Ir;
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::irgen::{KernelInfo, list_kernels, lower_kernel};
use ttc::source::SourceMap;

use crate::args::Interpret;

/// A launch that can begin.
pub(super) struct Launch {
    pub(super) ir: Ir,
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) args: Vec<Arg>,
    pub(super) memory: Memory,
    pub(super) buffers: Vec<Bound>,
    /// The buffers that are results.
    pub(super) results: Vec<String>,
    pub(super) said: Vec<Diagnostic>,
    /// What `tl.static_print` printed, and which configuration runs.
    pub(super) text: String,
}

/// From the command line or from the case file.
pub(super) fn prepare(i: &Interpret, folder: &mut Folder, job: &Job, case: Option<Loaded>) -> Result<Launch, Vec<Diagnostic>> {
    let case = match job.input.language {
        _ if case.is_some() => case,
        Language::Source if i.arg.is_empty() => folder.find(&job.input, i.kernel.as_deref())?,
        _ => None,
    };
    match case {
        Some(loaded) => from_case(i, folder, loaded),
        None => from_arguments(i, folder, job),
    }
}

fn from_case(i: &Interpret, folder: &mut Folder, mut loaded: Loaded) -> Result<Launch, Vec<Diagnostic>> {
    loaded.case.max_memory = i.max_memory;
    if let Some((name, _)) = i.arg.first() {
        let message = format!("`--arg {name}=…` beside a case file, which gives all arguments");
        let d = Diagnostic::error(&codes::cli::BAD_OPTION, message);
        return Err(vec![d.help("`--param` sets a parameter of the case; or name the kernel's file and give all arguments by `--arg`")]);
    }
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
    let lowered = launch::lower(&mut folder.sources, &loaded, &instance)?;
    let made = launch::arguments(&instance);
    let bound = |(b, id): &(&ttc::cases::config::Buffer, interp::BufferId)| Bound {
        name: b.name.clone(),
        id: *id,
        elem: b.dtype.to_ir(),
        shape: b.shape.clone(),
        unwritten: b.fill == ttc::cases::random::Fill::Poison,
        tolerance: b.tolerance,
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
    let (lowered, given) = if job.input.language == Language::Source { from_source(i, folder, job)? } else { from_ir(i, folder, job)? };
    let params = interp::params(&lowered.ir, &lowered.kernel).map_err(|d| vec![*d])?;
    let mut memory = Memory::new();
    let (args, buffers) = manual::bind(&lowered.names, &params, given, &mut memory)?;
    let results = buffers.iter().filter(|b| b.unwritten).map(|b| b.name.clone()).collect();
    let Module { ir, kernel, said, text, .. } = lowered;
    Ok(Launch { ir, kernel, grid: i.grid.unwrap_or([1; 3]), args, memory, buffers, results, said, text })
}

/// A kernel as TTIR.
struct Module {
    ir: Ir,
    kernel: String,
    /// Of its parameters.
    names: Vec<String>,
    said: Vec<Diagnostic>,
    text: String,
}

/// Arguments by name.
type Arguments = BTreeMap<String, Given>;

fn from_source(i: &Interpret, folder: &mut Folder, job: &Job) -> Result<(Module, Arguments), Vec<Diagnostic>> {
    let info = kernel_info(&mut folder.sources, job, &i.include)?;
    let is_constexpr = |name: &str| info.params.iter().any(|p| p.name == name && p.ty.as_deref() == Some("constexpr"));
    let (defines, rest): (Vec<_>, Vec<_>) = i.arg.iter().cloned().partition(|(name, text)| is_constexpr(name) || text == "None");
    if let Some((name, _)) = defines.iter().find(|(n, _)| i.define.iter().any(|(d, _)| d == n)) {
        let message = format!("`{name}` has two values, from `--arg` and from `-D`");
        return Err(vec![Diagnostic::error(&codes::interp::BAD_ARGUMENTS, message)]);
    }
    let define: Vec<(String, String)> = i.define.iter().cloned().chain(defines).collect();
    let given = arguments(i, &rest)?;
    let signature = match &i.signature {
        Some(s) => s.clone(),
        None => manual::signature(&info, &given, &define).map_err(|d| vec![d])?,
    };
    let options = Options { signature: Some(signature), defines: define, include: i.include.clone(), debug: i.debug, ..Options::default() };
    let job = Job { kernel: Some(info.name), ..job.clone() };
    let lowered = lower_kernel(&mut folder.sources, job.input.file, &plan::kernel_request(&job, &options))?;
    let module = Module {
        ir: lowered.ir,
        kernel: lowered.kernel,
        names: lowered.params.into_iter().map(|p| p.name).collect(),
        said: lowered.warnings,
        text: lowered.printed.iter().map(|l| format!("{l}\n")).collect(),
    };
    Ok((module, given))
}

fn from_ir(i: &Interpret, folder: &mut Folder, job: &Job) -> Result<(Module, Arguments), Vec<Diagnostic>> {
    let given = arguments(i, &i.arg)?;
    let mut ir = parse_module(&folder.sources, job.input.file, &ParseOptions::default())?;
    let kernel = plan::choose_kernel(&mut ir, i.kernel.as_deref(), true, &i.file.to_string_lossy()).map_err(|d| vec![d])?;
    let params = interp::params(&ir, &kernel).map_err(|d| vec![*d])?;
    let names = params.iter().enumerate().map(|(at, p)| p.name.map_or_else(|| at.to_string(), str::to_owned)).collect();
    Ok((Module { ir, kernel, names, said: vec![], text: String::new() }, given))
}

/// Reads arguments, which share the memory that a launch may take.
fn arguments(i: &Interpret, texts: &[(String, String)]) -> Result<Arguments, Vec<Diagnostic>> {
    let mut budget = Budget::new(i.max_memory);
    let read = |(name, text): &(String, String)| Ok((name.clone(), manual::parse(name, text, &mut budget).map_err(|d| vec![d])?));
    texts.iter().map(read).collect()
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
