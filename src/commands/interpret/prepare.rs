//! Prepares a run of the interpreter: the kernel as TTIR, the grid, and the arguments in memory.
//!
//! 1. From a case file, which is the one that was named or the one beside the kernel, with a configuration of its
//!    parameters.
//! 2. From the command line: `--arg` gives arguments. One that is a compile-time value, because the parameter is a
//!    `tl.constexpr` or the value is `None`, counts as `-D`.

use std::fmt::Write as _;

use ttc::cases::config::COMPILE_OPTIONS;
use ttc::cases::manual::{self, Bound};
use ttc::cases::{Folder, Instance, Loaded, call, launch};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::Language;
use ttc::driver::{Job, JobOptions};
use ttc::interp::{self, Arg, Budget, Memory};
use ttc::ir::Ir;

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
    /// The lines that `tl.static_print` wrote, and which configuration runs.
    pub(super) text: String,
}

/// Prepares a launch from the command line or from the case file.
pub(super) fn prepare(
    i: &Interpret,
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
        Some(loaded) => from_case(i, folder, loaded),
        None => from_arguments(i, folder, job),
    }
}

fn from_case(i: &Interpret, folder: &mut Folder, mut loaded: Loaded) -> Result<Launch, Vec<Diagnostic>> {
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
    Ok(Launch {
        ir: ready.ir,
        kernel: ready.kernel,
        grid: i.grid.unwrap_or([1; 3]),
        args: ready.args,
        memory: ready.memory,
        results: ready.buffers.iter().filter(|b| b.unwritten).map(|b| b.name.clone()).collect(),
        buffers: ready.buffers,
        said: ready.warnings,
        text: ready.printed.iter().map(|l| format!("{l}\n")).collect(),
    })
}

/// Names, each with a text.
type Texts = Vec<(String, String)>;

/// Splits the arguments into compile-time values and others.
fn constants(i: &Interpret, folder: &mut Folder, job: &Job) -> Result<(Texts, Texts), Vec<Diagnostic>> {
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
fn arguments(i: &Interpret, texts: &[(String, String)]) -> Result<call::Arguments, Vec<Diagnostic>> {
    let mut budget = Budget::new(i.max_memory);
    let read = |(name, text): &(String, String)| {
        Ok((name.clone(), manual::parse(name, text, &mut budget).map_err(|d| vec![d])?))
    };
    texts.iter().map(read).collect()
}
