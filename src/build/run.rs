//! Builds what a manifest asks for, where it is not there already.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::{Plan, Settings};
use super::products;
use super::record::{self, Files, Input, Made, Output, Record};
use super::unit::Unit;
use crate::backend::Stage;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::driver::{Compiled, Debug, Job, Outcome, Reuse, output, run_each};
use crate::source::SourceMap;

/// How far a build has come, for whoever watches it.
#[derive(Debug, Default)]
pub struct Progress {
    /// The units that are done.
    pub done: AtomicU64,
    /// The units that are made, once that is known.
    pub total: AtomicU64,
}

/// What a build did.
#[derive(Default)]
pub struct Built {
    /// What is to be said, with the sources that it points into.
    pub said: Vec<(Vec<Diagnostic>, SourceMap)>,
    /// The lines that kernels printed while they were compiled.
    pub printed: Vec<String>,
    /// How many units there are.
    pub units: usize,
    /// The units that were compiled, or that a dry run found to be, each with the reason.
    pub stale: Vec<(String, String)>,
    /// Why what is made of several units was made anew, or a dry run found it to be.
    pub products: Option<String>,
    /// The folder of the outputs.
    pub out: PathBuf,
}

/// Builds what is not up to date, as far as it cannot be reused. In a dry run, it only finds out what that is.
#[must_use]
pub fn build(settings: &Settings, reuse: &Reuse<'_>, dry_run: bool, workers: usize, progress: &Progress) -> Built {
    match Plan::read(settings) {
        Ok(plan) => Builder::new(plan, settings, reuse).run(dry_run, workers, progress),
        Err(said) => Built { said: vec![said], ..Built::default() },
    }
}

/// A build that is under way.
struct Builder<'a> {
    plan: Plan,
    settings: &'a Settings,
    reuse: &'a Reuse<'a>,
    files: Files,
    built: Built,
}

type Step<T = ()> = Result<T, Vec<Diagnostic>>;

impl<'a> Builder<'a> {
    fn new(plan: Plan, settings: &'a Settings, reuse: &'a Reuse<'a>) -> Builder<'a> {
        let built = Built { out: plan.out.clone(), ..Built::default() };
        Builder { plan, settings, reuse, files: Files::default(), built }
    }

    fn run(mut self, dry_run: bool, workers: usize, progress: &Progress) -> Built {
        if let Err(said) = self.steps(dry_run, workers, progress) {
            self.built.said.push((said, self.plan.sources.clone()));
        }
        self.built
    }

    fn steps(&mut self, dry_run: bool, workers: usize, progress: &Progress) -> Step {
        let tools = record::tools(self.settings.ptxas.as_deref());
        let said = format!("{:?} {:?}", self.settings, self.plan.lock);
        let request = record::digest([self.plan.text.as_bytes(), said.as_bytes()]);
        let out = self.plan.out.clone();
        // Two builds of one folder wait for each other.
        let _lock = if dry_run { None } else { Some(lock(&out).map_err(|d| vec![d])?) };
        let known = Record::read(&out, &tools);
        if let Some(known) = &known
            && known.request == request
            && known.units.values().chain(&known.products).all(|m| self.files.stale(m).is_none())
        {
            self.built.units = known.units.len();
            return Ok(());
        }
        let mut record = known.unwrap_or_else(|| Record::new(tools));
        let units = self.plan.units(self.settings)?;
        self.built.units = units.len();
        let want: Vec<Stage> = self.plan.emit.stages.iter().copied().collect();
        let commands: Vec<String> = units.iter().map(|u| record::command(u, &want)).collect();
        let stale: Vec<Option<String>> =
            units.iter().zip(&commands).map(|(u, c)| self.stale(record.units.get(&u.stem()), c)).collect();
        let names = |i: usize| units[i].stem();
        self.built.stale = stale.iter().enumerate().filter_map(|(i, why)| Some((names(i), why.clone()?))).collect();
        let whole = self.settings.kernels.is_empty();
        let together = record::digest(commands.iter().map(String::as_bytes).chain([request.as_bytes()]));
        let products = match &record.products {
            _ if !whole => None,
            _ if !self.built.stale.is_empty() => Some("a kernel was compiled".to_owned()),
            made => self.stale(made.as_ref(), &together),
        };
        self.built.products.clone_from(&products);
        if dry_run {
            return Ok(());
        }
        let due: Vec<usize> = (0..units.len()).filter(|&i| stale[i].is_some()).collect();
        progress.total.store(due.len() as u64, Ordering::Relaxed);
        let finished = self.compile(&units, &due, &want, workers, progress);
        let mut failed = false;
        for (&i, made) in due.iter().zip(finished) {
            let stem = units[i].stem();
            if let Some(made) = made {
                record.units.insert(stem, Made { command: commands[i].clone(), ..made });
            } else {
                failed = true;
                record.units.remove(&stem);
            }
        }
        let usual = whole && self.settings.archs.is_empty();
        let gone: BTreeMap<String, Made> =
            if usual && !failed { self.superfluous(&mut record, &units) } else { BTreeMap::new() };
        if whole && !failed && products.is_some() {
            let before = record.products.take();
            let outputs = products::write(&self.plan, self.settings, &units, &record).map_err(|d| vec![d])?;
            remove(before.iter().flat_map(|m| &m.outputs).filter(|o| !outputs.iter().any(|n| n.path == o.path)));
            record.products = Some(Made { command: together, outputs, ..Made::default() });
        }
        remove(gone.values().flat_map(|m| &m.outputs));
        record.request = if whole && !failed { request } else { String::new() };
        record.write(&out).map_err(|d| vec![d])
    }

    /// Why something is to be made, if it is.
    fn stale(&mut self, made: Option<&Made>, command: &str) -> Option<String> {
        let Some(made) = made else { return Some("it was not made before".to_owned()) };
        if made.command != command {
            return Some("its options have changed".to_owned());
        }
        self.files.stale(made)
    }

    /// Compiles units, and says of each what was made. A unit that failed made nothing.
    fn compile(
        &mut self,
        units: &[Unit],
        due: &[usize],
        want: &[Stage],
        workers: usize,
        progress: &Progress,
    ) -> Vec<Option<Made>> {
        let jobs: Vec<Job> = due.iter().map(|&i| units[i].job.clone()).collect();
        let out = &self.plan.out;
        let finished =
            run_each(&jobs, &self.plan.sources, want, &Debug::default(), self.reuse, workers, |i, outcome| {
                let done = deliver(&units[due[i]], outcome, out);
                progress.done.fetch_add(1, Ordering::Relaxed);
                done
            });
        let mut all = vec![];
        for Delivered { made, said, sources, printed } in finished {
            all.push(made);
            self.built.printed.extend(printed);
            if !said.is_empty() {
                self.built.said.push((said, sources));
            }
        }
        all
    }

    /// Takes the units out of the record that the manifest has no longer.
    fn superfluous(&self, record: &mut Record, units: &[Unit]) -> BTreeMap<String, Made> {
        let stems: Vec<String> = units.iter().map(Unit::stem).collect();
        let (kept, gone) = std::mem::take(&mut record.units).into_iter().partition(|(stem, _)| stems.contains(stem));
        record.units = kept;
        gone
    }
}

/// What is left of a unit after its files were written.
struct Delivered {
    /// What was made, unless it failed.
    made: Option<Made>,
    said: Vec<Diagnostic>,
    sources: SourceMap,
    printed: Vec<String>,
}

fn deliver(unit: &Unit, Outcome { result, sources }: Outcome, out: &Path) -> Delivered {
    match result {
        Err(said) => Delivered { made: None, said, sources, printed: vec![] },
        Ok(mut made) => {
            let (mut said, printed) = (std::mem::take(&mut made.diagnostics), std::mem::take(&mut made.printed));
            let written = write(unit, &made, &sources, out).map_err(|d| said.push(d)).ok();
            Delivered { made: written, said, sources, printed }
        }
    }
}

/// Writes what was made of a unit.
fn write(unit: &Unit, made: &Compiled, sources: &SourceMap, out: &Path) -> Result<Made, Diagnostic> {
    let mut outputs = vec![];
    let mut put = |path: PathBuf, bytes: &[u8]| {
        output::write_file(&path, bytes)?;
        outputs.extend(Output::of(&path));
        Ok::<(), Diagnostic>(())
    };
    for (stage, bytes) in &made.artifacts {
        put(unit.path(out, *stage), bytes)?;
    }
    if made.artifacts.keys().any(|s| matches!(s, Stage::Assembly | Stage::Binary)) {
        put(unit.json(out), &made.metadata.to_json())?;
    }
    let read = made.files.iter().map(|&id| sources.file(id));
    let inputs = read.filter_map(|f| Some(Input::new(f.path.as_deref()?, &f.text))).collect();
    Ok(Made { inputs, absent: made.trail.absent(), outputs, ..Made::default() })
}

/// Takes the lock of a folder of outputs, which is made if it is not there. The lock is given back when the file is
/// closed, also when the process is killed.
fn lock(out: &Path) -> Result<File, Diagnostic> {
    output::make_dir(out)?;
    let path = out.join(".ttc-build.lock");
    let failed = |e: &std::io::Error| {
        let text = format!("cannot lock `{}`: {}", path.display(), crate::driver::input::plain(e));
        Diagnostic::error(&cli::CANNOT_WRITE, text).at(Place::File(path.to_string_lossy().into_owned()), "")
    };
    let file = File::options().create(true).append(true).open(&path).map_err(|e| failed(&e))?;
    match file.lock() {
        // Not every file system has locks. The outputs are written as a whole there as well.
        Err(e) if e.kind() != std::io::ErrorKind::Unsupported => Err(failed(&e)),
        _ => Ok(file),
    }
}

/// Removes files that were made once and are made no longer, if nobody has changed them since.
fn remove<'a>(outputs: impl IntoIterator<Item = &'a Output>) {
    for old in outputs {
        if Output::of(&old.path).is_some_and(|now| now == *old) {
            // A file that stays is no fault of this build.
            let _ = std::fs::remove_file(&old.path);
        }
    }
}
