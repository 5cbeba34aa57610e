//! Measures configurations of a case.
//!
//! 1. All configurations are compiled, several at once.
//! 2. Each gets its buffers, and its rivals the same ones: cubins of other compilers take the same arguments.
//! 3. Every program runs once, so that a fault is reported before anything is timed. Then they take turns.

use std::path::PathBuf;
use std::sync::Arc;

use super::arguments::{self, Arguments};
use super::measure::{Clock, Plan};
use super::program::{self, Made, Program};
use super::ready::Ready;
use super::record::{Rival, Row, Run, Time, texts};
use super::session::Gpu;
use super::traffic;
use crate::cache::Cache;
use crate::cases::{Config, Instance, Loaded};
use crate::diag::Diagnostic;
use crate::diag::codes::gpu as codes;
use crate::driver::{Job, JobOptions};
use crate::source::SourceMap;
use crate::target::Target;

/// What to measure, and how.
pub struct Request<'a> {
    pub loaded: &'a Loaded,
    pub sources: &'a SourceMap,
    pub configs: &'a [Config],
    pub target: Target,
    /// What holds for every compilation: the tools.
    pub options: JobOptions,
    pub plan: Plan,
    pub rivals: &'a [Against],
    /// How many compilations run at once.
    pub workers: usize,
    pub cache: Option<&'a Cache>,
}

/// What to compare with, under the name that the report has for it.
#[derive(Clone, Debug)]
pub enum Against {
    /// What was measured before.
    Earlier(String, Run),
    /// A cubin, with its JSON beside it.
    Cubin(String, PathBuf),
}

/// What went wrong, with the sources that it points into.
pub type Stop = (Vec<Diagnostic>, SourceMap);

/// The job that compiles a configuration of a case.
#[must_use]
pub fn job(loaded: &Loaded, instance: &Instance, target: Target, options: &JobOptions) -> Job {
    let options = JobOptions {
        include: loaded.include.clone(),
        ptxas: options.ptxas.clone(),
        time_limit: options.time_limit,
        ..instance.options.clone()
    };
    let kernel = Some(loaded.kernel.name.clone());
    Job { kernel, ..Job::new(loaded.input.clone(), target, Arc::new(options)) }
}

/// Measures each configuration, and hands on the warnings of the compiler.
///
/// # Errors
/// What is wrong with the case, the kernel or a rival, or what a launch does wrong.
pub fn rows(gpu: &Gpu, clock: &mut Clock<'_>, request: &Request<'_>) -> Result<(Vec<Row>, Vec<Made>), Stop> {
    let own = |d: Vec<Diagnostic>| (d, request.sources.clone());
    let Request { loaded, target, .. } = *request;
    let instance = |c: &Config| loaded.case.instance(&loaded.kernel, c);
    let instances = request.configs.iter().map(instance).collect::<Result<Vec<_>, _>>().map_err(own)?;
    let jobs: Vec<Job> = instances.iter().map(|i| job(loaded, i, target, &request.options)).collect();
    let mut made = program::compile(request.sources, &jobs, request.cache, request.workers);
    let mut rows = vec![];
    for (instance, made) in instances.iter().zip(&mut made) {
        let Some(program) = made.program.take() else {
            return Err((std::mem::take(&mut made.said), std::mem::take(&mut made.sources)));
        };
        rows.push(row(gpu, clock, request, instance, &program).map_err(|d| own(vec![d]))?);
    }
    Ok((rows, made))
}

fn row(
    gpu: &Gpu,
    clock: &mut Clock<'_>,
    request: &Request<'_>,
    instance: &Instance,
    program: &Program,
) -> Result<Row, Diagnostic> {
    let (case, config) = (&request.loaded.case, &instance.config);
    let params = texts(config);
    let memory = Arguments::upload(gpu, arguments::of_case(instance))?;
    let command = interpret_command(request.loaded, config);
    let ready = |name: &str, program: &Program| {
        let mut ready = Ready::new(gpu, name, program, instance.grid, &memory, Some(command.clone()))?;
        ready.launch()?;
        ready.wait()?;
        Ok::<_, Diagnostic>(ready)
    };
    let mut launches = vec![ready(&request.loaded.kernel.name, program)?];
    let mut rivals = vec![];
    for rival in request.rivals {
        match rival {
            Against::Cubin(name, path) => {
                let other = Program::read(path, Some(&program.descriptor))?;
                launches.push(ready(name, &other)?);
                rivals.push((name.clone(), None));
            }
            Against::Earlier(name, run) => {
                let found = run.row(&case.name, &params).ok_or_else(|| no_row(name, config))?;
                rivals.push((name.clone(), Some(found.time)));
            }
        }
    }
    let mut times = clock.measure(&mut launches, request.plan)?.into_iter().map(|t| Time::from(&t));
    let time = times.next().ok_or_else(|| no_row("the GPU", config))?;
    let rivals =
        rivals.into_iter().filter_map(|(name, earlier)| Some(Rival { name, time: earlier.or_else(|| times.next())? }));
    let (bytes, flops) = case.work(config)?;
    Ok(Row {
        case: case.name.clone(),
        params,
        time,
        bytes: bytes.or_else(|| traffic::bytes(&program.descriptor, memory.sizes()).map(|b| b as f64)),
        flops,
        registers: program.registers,
        spills: program.spills,
        shared: program.descriptor.shared,
        rivals: rivals.collect(),
    })
}

fn no_row(name: &str, config: &Config) -> Diagnostic {
    Diagnostic::error(&codes::BAD_RUN, format!("`{name}` has no row for {config}"))
        .help("measure the same configurations with `--json` before")
}

/// The command that runs a configuration in the interpreter.
#[must_use]
pub fn interpret_command(loaded: &Loaded, config: &Config) -> String {
    let known = |name: &String| loaded.case.params.iter().any(|(n, _)| n == name);
    let (params, constants): (Vec<_>, Vec<_>) = texts(config).into_iter().partition(|(n, _)| known(n));
    let word =
        |option: &str, (n, v): &(String, String)| format!(" {option} {}", crate::diag::shell_word(&format!("{n}={v}")));
    let params: String = params.iter().map(|p| word("--param", p)).collect();
    let options = |name: &str| crate::cases::config::COMPILE_OPTIONS.contains(&name);
    let constants: String = constants.iter().filter(|(n, _)| !options(n)).map(|p| word("-D", p)).collect();
    format!("ttc interpret {}.toml{params}{constants}", loaded.case.name)
}
