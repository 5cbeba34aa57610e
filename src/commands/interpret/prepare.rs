//! Prepares a run of the interpreter: the kernel as TTIR, the grid, and the arguments in memory.
//!
//! 1. From a case file, which is the one that was named or the one beside the kernel, with a configuration of its
//!    parameters.
//! 2. From the command line: `--arg` gives arguments. One that is a compile-time value, because the parameter is a
//!    `tl.constexpr` or the value is `None`, counts as `-D`.

use std::fmt::Write as _;
use std::sync::Arc;

use ttc::cases::config::COMPILE_OPTIONS;
use ttc::cases::manual::{self, Bound};
use ttc::cases::{Folder, Instance, Loaded, call, launch};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::Language;
use ttc::driver::{Job, JobOptions};
use ttc::interp::{self, Arg, Budget, Memory};
use ttc::ir::Ir;

use crate::args::Launched;

/// A launch that can begin.
pub(in crate::commands) struct Launch {
    pub(in crate::commands) ir: Ir,
    pub(in crate::commands) kernel: String,
    pub(in crate::commands) on: Bindings,
    pub(in crate::commands) said: Vec<Diagnostic>,
    /// The lines that `tl.static_print` wrote, and which configuration runs.
    pub(in crate::commands) text: String,
    /// The compilation of the same kernel for the same arguments.
    pub(in crate::commands) job: Job,
}

/// The grid, and the arguments in memory.
pub(in crate::commands) struct Bindings {
    pub(in crate::commands) grid: [u32; 3],
    /// The names of the arguments that the kernel takes, in order.
    pub(in crate::commands) names: Vec<String>,
    pub(in crate::commands) args: Vec<Arg>,
    pub(in crate::commands) memory: Memory,
    pub(in crate::commands) buffers: Vec<Bound>,
    /// The buffers that are results.
    pub(in crate::commands) results: Vec<String>,
}

/// Prepares a launch from the command line or from the case file.
pub(in crate::commands) fn prepare(
    i: &Launched,
    folder: &mut Folder,
    job: &Job,
    case: Option<Loaded>,
) -> Result<Launch, Vec<Diagnostic>> {
    let case = match job.input.language {
        _ if case.is_some() => case,
        Language::Source if i.arg.is_empty() => folder.find(&job.input, i.kernel.as_deref())?,
        _ => None,
    };
    match case {
        Some(loaded) => from_case(i, folder, job, loaded),
        None => from_arguments(i, folder, job),
    }
}

fn from_case(i: &Launched, folder: &mut Folder, job: &Job, mut loaded: Loaded) -> Result<Launch, Vec<Diagnostic>> {
    loaded.case.max_memory = i.max_memory;
    if let Some((name, _)) = i.arg.first() {
        let message = format!("`--arg {name}=…` cannot go with a case file, which gives all arguments");
        let d = Diagnostic::error(&codes::cli::BAD_OPTION, message);
        return Err(vec![d.help(
            "`--param` sets a parameter of the case; or name the kernel's file and give all arguments by `--arg`",
        )]);
    }
    let typed = i.types.first().map(|r| format!("--type {}={}", r.pattern, r.ty));
    if let Some(option) = typed.or_else(|| i.signature.as_ref().map(|s| format!("--signature \"{s}\""))) {
        let message = format!("`{option}` cannot go with a case file, which says the types of its buffers");
        return Err(vec![
            Diagnostic::error(&codes::cli::BAD_OPTION, message)
                .help("change `dtype` in the case, or give all arguments by `--arg`"),
        ]);
    }
    if i.config.is_some() {
        let message = "`--config` chooses a configuration of `@triton.autotune`, but the case file gives the values: \
                       use `--param`, or `--arg` without it";
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
    let on = Bindings {
        grid: instance.grid,
        names: instance.args.iter().map(|a| a.name().to_owned()).collect(),
        buffers: made.buffers.iter().map(bound).collect(),
        results: instance.outputs().map(|b| b.name.clone()).collect(),
        args: made.args,
        memory: made.memory,
    };
    let options = JobOptions { include: loaded.include.clone(), ..instance.options };
    let kernel = Some(loaded.kernel.name.clone());
    let job = Job { kernel, ..Job::new(loaded.input, job.target, Arc::new(options)) };
    Ok(Launch { ir: lowered.ir, kernel: lowered.kernel, on, said: lowered.warnings, text, job })
}

fn from_arguments(i: &Launched, folder: &mut Folder, job: &Job) -> Result<Launch, Vec<Diagnostic>> {
    if let Some((name, _)) = i.param.first() {
        let message = format!("`--param {name}=…` needs a case file, and there is none for `{}`", i.file.display());
        return Err(vec![Diagnostic::error(&codes::interp::BAD_ARGUMENTS, message)]);
    }
    let (defines, rest) = match job.input.language {
        Language::Source => constants(i, folder, job)?,
        _ => (vec![], i.arg.clone()),
    };
    let options = JobOptions {
        signature: i.signature.clone(),
        types: i.types.clone(),
        defines: i.define.iter().cloned().chain(defines).collect(),
        include: i.include.clone(),
        debug: i.debug,
        ..JobOptions::default()
    };
    let ready = call::ready(&mut folder.sources, job, &options, arguments(i, &rest)?)?;
    let options = match &ready.signature {
        // It says all types.
        Some(_) => JobOptions { signature: ready.signature, types: vec![], ..options },
        None => options,
    };
    let text = ready.printed.iter().map(|l| format!("{l}\n")).collect();
    let on = Bindings {
        grid: i.grid.unwrap_or([1; 3]),
        names: ready.names,
        args: ready.args,
        memory: ready.memory,
        results: results(&ready.buffers),
        buffers: ready.buffers,
    };
    let job = Job { kernel: Some(ready.kernel.clone()), options: Arc::new(options), ..job.clone() };
    Ok(Launch { ir: ready.ir, kernel: ready.kernel, on, said: ready.warnings, text, job })
}

/// The results of a launch whose arguments came from the command line: the buffers that nobody had written.
pub(in crate::commands) fn results(buffers: &[Bound]) -> Vec<String> {
    buffers.iter().filter(|b| b.unwritten).map(|b| b.name.clone()).collect()
}

/// Names, each with a text.
type Texts = Vec<(String, String)>;

/// Splits the arguments into compile-time values and others.
fn constants(i: &Launched, folder: &mut Folder, job: &Job) -> Result<(Texts, Texts), Vec<Diagnostic>> {
    let info = call::kernel_info(&mut folder.sources, job, &i.include)?;
    let is_constexpr = |name: &str| info.params.iter().any(|p| p.name == name && p.ty.as_deref() == Some("constexpr"));
    let (defines, rest): (Texts, Texts) =
        i.arg.iter().cloned().partition(|(name, text)| is_constexpr(name) || text == "None");
    if let Some((name, _)) = defines.iter().find(|(n, _)| i.define.iter().any(|(d, _)| d == n)) {
        let message = format!("`{name}` has two values, from `--arg` and from `-D`");
        return Err(vec![Diagnostic::error(&codes::interp::BAD_ARGUMENTS, message)]);
    }
    Ok((defines, rest))
}

/// Reads arguments. They share the memory that a launch may take.
pub(in crate::commands) fn arguments(
    i: &Launched,
    texts: &[(String, String)],
) -> Result<call::Arguments, Vec<Diagnostic>> {
    let mut budget = Budget::new(i.max_memory);
    let read = |(name, text): &(String, String)| {
        Ok((name.clone(), manual::parse(name, text, &mut budget).map_err(|d| vec![d])?))
    };
    texts.iter().map(read).collect()
}
