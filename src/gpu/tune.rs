//! Finds the best configuration of a kernel.
//!
//! 1. All configurations are compiled, several at once. One that does not compile, that needs more registers or shared
//!    memory than the GPU has, that spills more than it may, or whose code another one has, never runs ([`prune`]).
//! 2. Every other one runs once on fresh buffers, and its results are compared with those of the first one that ran.
//! 3. It is timed by a few samples. If they take more than twice as long as the best one so far, it is dropped.
//!    Otherwise it is measured in full.
//! 4. Those within 5 % of the best are measured again, taking turns, so that no drift of the clock decides.

use std::collections::BTreeMap;

use super::arguments::{self, Arguments};
use super::bench::{Stop, interpret_command, job};
use super::measure::{Clock, Plan};
use super::program::{self, Program};
use super::prune::{self, Limits};
use super::ready::Ready;
use super::record::Time;
use super::session::Gpu;
use super::space;
use crate::cache::Cache;
use crate::cases::launch::compare;
use crate::cases::random::decode;
use crate::cases::{Config, Instance, Loaded};
use crate::diag::Diagnostic;
use crate::diag::codes::gpu as codes;
use crate::driver::{Job, JobOptions};
use crate::source::SourceMap;
use crate::target::Target;

/// What to tune, and how.
pub struct Request<'a> {
    pub loaded: &'a Loaded,
    pub sources: &'a SourceMap,
    /// What the configurations are based on: the values of the case's parameters.
    pub base: &'a Config,
    pub configs: &'a [Config],
    pub target: Target,
    pub options: JobOptions,
    pub plan: Plan,
    /// Bytes of spill stores and loads that code may have.
    pub max_spills: u32,
    pub workers: usize,
    pub cache: Option<&'a Cache>,
}

/// How a configuration fared.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It never ran or was not timed, and why.
    LeftOut(String),
    /// It was dropped after a few samples, whose median took so many microseconds.
    Slow(f64),
    Timed(Time),
}

/// A configuration with what became of it.
pub struct Attempt {
    pub instance: Option<Instance>,
    pub config: Config,
    pub program: Option<Program>,
    pub outcome: Outcome,
}

impl Attempt {
    /// The median, if the configuration was timed.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Timed(time) => Some(time.median),
            _ => None,
        }
    }
}

/// What tuning found.
pub struct Tuned {
    /// The best first, then those that were dropped, then those that were left out.
    pub attempts: Vec<Attempt>,
    /// The names of what was tuned.
    pub names: Vec<String>,
    /// Warnings: configurations that compute something else.
    pub said: Vec<Diagnostic>,
}

/// The factor beyond which a configuration is not worth measuring in full.
const TOO_SLOW: f64 = 2.0;
/// The samples that decide it.
const FEW: usize = 5;
/// How near the best one a configuration must be to be measured again, and how many are.
const NEAR: f64 = 1.05;
const FINALISTS: usize = 8;

/// Tunes a kernel for the values of a case's parameters.
///
/// # Errors
/// What is wrong with the case, or what a launch does wrong: a kernel that faults ends the run.
pub fn tune(gpu: &Gpu, clock: &mut Clock<'_>, request: &Request<'_>) -> Result<Tuned, Stop> {
    let own = |d: Diagnostic| (vec![d], request.sources.clone());
    let names = space::tuned(request.base, request.configs);
    let mut attempts = compiled(request);
    prune::prune(&mut attempts, &Limits::new(gpu, request.max_spills));
    let mut said = vec![];
    let mut run = Run { gpu, request, names: &names, memory: None, reference: None, best: f64::INFINITY };
    for attempt in &mut attempts {
        let (Some(instance), Some(program)) = (&attempt.instance, &attempt.program) else { continue };
        if attempt.outcome == waiting() {
            attempt.outcome = run.attempt(clock, instance, program, &mut said).map_err(own)?;
        }
    }
    run.finals(clock, &mut attempts).map_err(own)?;
    drop(run);
    sort(&mut attempts);
    Ok(Tuned { attempts, names, said })
}

/// The state of a configuration that has not run yet.
fn waiting() -> Outcome {
    Outcome::LeftOut(String::new())
}

/// The configurations with their programs. Those that do not compile say why.
fn compiled(request: &Request<'_>) -> Vec<Attempt> {
    let loaded = request.loaded;
    let instances: Vec<_> = request.configs.iter().map(|c| loaded.case.instance(&loaded.kernel, c)).collect();
    let jobs: Vec<Job> = instances.iter().flatten().map(|i| job(loaded, i, request.target, &request.options)).collect();
    let mut made = program::compile(request.sources, &jobs, request.cache, request.workers).into_iter();
    let why = |said: &[Diagnostic]| {
        let first = said.iter().find(|d| d.is_error()).or(said.first());
        Outcome::LeftOut(first.map_or_else(String::new, |d| format!("{}: {}", d.code.id, d.message)))
    };
    let attempt = |(config, instance): (&Config, Result<Instance, Vec<Diagnostic>>)| {
        let (instance, program, outcome) = match instance {
            Err(said) => (None, None, why(&said)),
            Ok(instance) => {
                let made = made.next();
                let outcome = made.as_ref().filter(|m| m.program.is_none()).map_or_else(waiting, |m| why(&m.said));
                (Some(instance), made.and_then(|m| m.program), outcome)
            }
        };
        Attempt { instance, config: config.clone(), program, outcome }
    };
    request.configs.iter().zip(instances).map(attempt).collect()
}

/// Sorts by time; those that were not timed come last, in the order in which they were asked for.
fn sort(attempts: &mut [Attempt]) {
    let rank = |a: &Attempt| match &a.outcome {
        Outcome::Timed(time) => (0, time.median),
        Outcome::Slow(median) => (1, *median),
        Outcome::LeftOut(_) => (2, 0.0),
    };
    attempts.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
}

/// The bytes of the results by name.
type Results = BTreeMap<String, Vec<u8>>;

/// The state between configurations.
struct Run<'a> {
    gpu: &'a Gpu,
    request: &'a Request<'a>,
    names: &'a [String],
    /// The buffers, and what they were made for.
    memory: Option<(String, Arguments)>,
    /// The results of the first configuration that ran, and its words.
    reference: Option<(String, Results)>,
    /// The least median so far, in microseconds.
    best: f64,
}

impl Run<'_> {
    /// Brings the buffers of a configuration to the GPU, unless those of the last one are the same.
    fn upload(&mut self, instance: &Instance, program: &Program) -> Result<(), Diagnostic> {
        let wanted = format!("{:?}", instance.args);
        match &mut self.memory {
            Some((made_for, memory)) if *made_for == wanted => memory.restore(Some(&program.descriptor)),
            _ => {
                // The old buffers go before the new ones come.
                self.memory = None;
                let memory = Arguments::upload(self.gpu, arguments::of_case(instance))?;
                self.memory = Some((wanted, memory));
                Ok(())
            }
        }
    }

    fn attempt(
        &mut self,
        clock: &mut Clock<'_>,
        instance: &Instance,
        program: &Program,
        said: &mut Vec<Diagnostic>,
    ) -> Result<Outcome, Diagnostic> {
        self.upload(instance, program)?;
        let words = space::words(self.names, &instance.config);
        let Some((_, memory)) = &self.memory else { return Ok(Outcome::LeftOut("it has no buffers".to_owned())) };
        let ready = Ready::new(self.gpu, &self.name(&words), program, instance.grid, memory, self.command(instance));
        let mut ready = match ready {
            Ok(ready) => ready,
            Err(d) => return Ok(Outcome::LeftOut(format!("{}: {}", d.code.id, d.message))),
        };
        ready.launch().and_then(|()| ready.wait())?;
        let mut results = Results::new();
        for b in instance.outputs() {
            results.insert(b.name.clone(), memory.download(&b.name)?.unwrap_or_default());
        }
        if let Some(why) = differs(&mut self.reference, instance, &results, &words, said) {
            return Ok(Outcome::LeftOut(why));
        }
        let mut launches = [ready];
        clock.samples(&mut launches, 1)?;
        let few = clock.samples(&mut launches, FEW)?[0].median();
        if few > TOO_SLOW * self.best {
            return Ok(Outcome::Slow(few));
        }
        let time = Time::from(&clock.measure(&mut launches, self.request.plan)?[0]);
        self.best = self.best.min(time.median);
        Ok(Outcome::Timed(time))
    }

    /// What messages call a launch.
    fn name(&self, words: &str) -> String {
        format!("{} {words}", self.request.loaded.kernel.name)
    }

    fn command(&self, instance: &Instance) -> Option<String> {
        Some(interpret_command(self.request.loaded, &instance.config))
    }

    /// Measures the best configurations again, taking turns.
    fn finals(&mut self, clock: &mut Clock<'_>, attempts: &mut [Attempt]) -> Result<(), Diagnostic> {
        let mut order: Vec<usize> =
            (0..attempts.len()).filter(|&i| attempts[i].median().is_some_and(|m| m <= NEAR * self.best)).collect();
        let time = |i: &usize| attempts[*i].median().unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| time(a).total_cmp(&time(b)));
        order.truncate(FINALISTS);
        // Turns need one set of buffers.
        let args = |i: &usize| attempts[*i].instance.as_ref().map(|n| format!("{:?}", n.args));
        let same = order.windows(2).all(|w| args(&w[0]) == args(&w[1]));
        let Some(first) = order.first().filter(|_| order.len() > 1 && same) else { return Ok(()) };
        let Attempt { instance: Some(instance), program: Some(program), .. } = &attempts[*first] else {
            return Ok(());
        };
        self.upload(instance, program)?;
        let Some((_, memory)) = &self.memory else { return Ok(()) };
        let mut launches = vec![];
        for &i in &order {
            let Attempt { instance: Some(instance), program: Some(program), config, .. } = &attempts[i] else {
                continue;
            };
            let name = self.name(&space::words(self.names, config));
            launches.push(Ready::new(self.gpu, &name, program, instance.grid, memory, self.command(instance))?);
        }
        let times = clock.measure(&mut launches, self.request.plan)?;
        drop(launches);
        for (i, times) in order.into_iter().zip(&times) {
            attempts[i].outcome = Outcome::Timed(Time::from(times));
        }
        Ok(())
    }
}

/// Says how the results differ from those of the first configuration that ran. The first one becomes the reference.
fn differs(
    reference: &mut Option<(String, Results)>,
    instance: &Instance,
    results: &Results,
    words: &str,
    said: &mut Vec<Diagnostic>,
) -> Option<String> {
    let Some((first, wanted)) = reference else {
        *reference = Some((words.to_owned(), results.clone()));
        return None;
    };
    for b in instance.outputs() {
        let (got, want) = (results.get(&b.name)?, wanted.get(&b.name)?);
        if got == want {
            continue;
        }
        let Err(m) = compare(&decode(b.dtype, got), &decode(b.dtype, want), b.tolerance) else { continue };
        let how = format!(
            "`{}` differs at {} of {} elements; the worst is [{}]: {} and {}",
            b.name,
            m.count,
            b.len(),
            m.index,
            m.got,
            m.want
        );
        let message = format!("{words} computes something else than {first}: {how}");
        said.push(
            Diagnostic::warning(&codes::DISAGREE, message)
                .help("`ttc run` with `--check interpret` says which of them is right, for smaller sizes"),
        );
        return Some(format!("E1113: other results than {first}"));
    }
    None
}
