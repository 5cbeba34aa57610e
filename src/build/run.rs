//! Builds what a manifest asks for, where it is not there already.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::{self, Folder};
use super::object;
use super::plan::{Plan, Settings};
use super::products;
use super::record::{self, Files, Input, Made, Record};
use super::unit::Unit;
use crate::backend::Stage;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::driver::{Compiled, Debug, Job, Outcome, Reuse, output, run_each};
use crate::fingerprint::file_part;
use crate::source::SourceMap;
use crate::target::Target;

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
        let files = Files::new(&plan.out);
        Builder { plan, settings, reuse, files, built }
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
        let mut record = Record::read(&out, tools);
        self.own(&mut record, dry_run).map_err(|d| vec![d])?;
        if record.request == request && record.made().all(|m| self.files.stale(m).is_none()) {
            self.built.units = record.units.len();
            return Ok(());
        }
        let units = self.plan.units(self.settings)?;
        self.built.units = units.len();
        let want: Vec<Stage> = self.plan.emit.stages.iter().copied().collect();
        let commands: Vec<String> = units.iter().map(|u| record::command(u, &want)).collect();
        let stale: Vec<Option<String>> =
            units.iter().zip(&commands).map(|(u, c)| self.stale(record.units.get(&u.stem()), c)).collect();
        let names = |i: usize| units[i].stem();
        self.built.stale = stale.iter().enumerate().filter_map(|(i, why)| Some((names(i), why.clone()?))).collect();
        let whole = self.settings.kernels.is_empty();
        let host = if self.plan.emit.object { object::compiler().join(" ") } else { String::new() };
        let more = [request.as_bytes(), host.as_bytes()];
        let together = record::digest(commands.iter().map(String::as_bytes).chain(more));
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
        let folder = Folder::new(&out, self.plan.inputs(self.settings, &units));
        let finished = self.compile(&units, &due, &folder, &want, workers, progress);
        let mut failed = false;
        for (&i, made) in due.iter().zip(finished) {
            let stem = units[i].stem();
            if let Some(made) = made {
                let made = Made { command: commands[i].clone(), ..made };
                let before = record.units.insert(stem, made.clone());
                folder.remove(before.iter().flat_map(|b| b.without(&made.outputs)));
            } else {
                failed = true;
                // What it made before stays known, and is removed with the kernel.
                record.units.entry(stem).or_default().again = Some("it failed".to_owned());
            }
        }
        let gone = if whole && !failed { self.superfluous(&mut record, &units) } else { BTreeMap::new() };
        if whole && !failed && products.is_some() {
            let outputs = products::write(&self.plan, self.settings, &units, &record, &folder).map_err(|d| vec![d])?;
            let before = record.products.take();
            folder.remove(before.iter().flat_map(|b| b.without(&outputs)));
            record.products = Some(Made { command: together, outputs, ..Made::default() });
        } else if let Some(products) = record.products.as_mut().filter(|_| !due.is_empty()) {
            products.again = Some("a kernel was compiled by itself".to_owned());
        }
        folder.remove(gone.values().flat_map(|m| &m.outputs));
        record.request = if whole && !failed { request } else { String::new() };
        record.write(&out).map_err(|d| vec![d])
    }

    /// Sees to it that the folder's record is of this manifest.
    ///
    /// # Errors
    /// `E0908` if the folder has outputs of another manifest, which is still there.
    fn own(&self, record: &mut Record, dry_run: bool) -> Result<(), Diagnostic> {
        let out = &self.plan.out;
        // Where the folder is not there yet, nobody has built into it.
        let Some(own) = folder::relative(out, &self.settings.manifest) else { return Ok(()) };
        let other = out.join(&record.manifest);
        if record.manifest != own && !record.manifest.as_os_str().is_empty() && other.is_file() {
            let message = format!("`{}` holds the outputs of `{}`", out.display(), other.display());
            return Err(Diagnostic::error(&cli::OUTPUT_CONFLICT, message)
                .at(Place::File(self.settings.manifest.to_string_lossy().into_owned()), "")
                .help("each manifest needs a folder of its own: `out` in `[build]`, or `--out-dir`"));
        }
        if !dry_run {
            record.manifest = own;
        }
        Ok(())
    }

    /// Why something is to be made, if it is.
    fn stale(&mut self, made: Option<&Made>, command: &str) -> Option<String> {
        let Some(made) = made else { return Some("it was not made before".to_owned()) };
        if made.again.is_none() && made.command != command {
            return Some("its options have changed".to_owned());
        }
        self.files.stale(made)
    }

    /// Compiles units, and says of each what was made. A unit that failed made nothing.
    fn compile(
        &mut self,
        units: &[Unit],
        due: &[usize],
        folder: &Folder<'_>,
        want: &[Stage],
        workers: usize,
        progress: &Progress,
    ) -> Vec<Option<Made>> {
        let jobs: Vec<Job> = due.iter().map(|&i| units[i].job.clone()).collect();
        let finished =
            run_each(&jobs, &self.plan.sources, want, &Debug::default(), self.reuse, workers, |i, outcome| {
                let done = deliver(&units[due[i]], outcome, folder);
                progress.done.fetch_add(1, Ordering::Relaxed);
                done
            });
        let mut all = vec![];
        for (Delivered { made, said, sources, printed }, &i) in finished.into_iter().zip(due) {
            all.push(made);
            self.built.printed.extend(printed);
            if !said.is_empty() {
                let kernel = &units[i].kernel;
                let said =
                    said.into_iter().map(|d| self.plan.in_its_words(d, &sources, kernel, self.settings)).collect();
                self.built.said.push((said, sources));
            }
        }
        all
    }

    /// Takes the units out of the record that the manifest has no longer. Those of architectures that this build was
    /// not asked for stay.
    fn superfluous(&self, record: &mut Record, units: &[Unit]) -> BTreeMap<String, Made> {
        let stems: BTreeSet<String> = units.iter().map(Unit::stem).collect();
        let asked = |arch: &str| {
            let mut archs = self.settings.archs.iter();
            archs.len() == 0 || archs.any(|a| Target::parse(a.trim()).is_ok_and(|t| t.name == arch))
        };
        let named = |kernel: &str| self.plan.manifest.kernel.keys().any(|k| file_part(k) == kernel);
        let stays = |stem: &String| {
            let (kernel, arch) = (stem.split('.').next(), stem.rsplit('.').next());
            stems.contains(stem) || (kernel.is_some_and(named) && !arch.is_some_and(asked))
        };
        let (kept, gone) = std::mem::take(&mut record.units).into_iter().partition(|(stem, _)| stays(stem));
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

fn deliver(unit: &Unit, Outcome { result, sources }: Outcome, folder: &Folder<'_>) -> Delivered {
    match result {
        Err(said) => Delivered { made: None, said, sources, printed: vec![] },
        Ok(mut made) => {
            let (mut said, printed) = (std::mem::take(&mut made.diagnostics), std::mem::take(&mut made.printed));
            let written = write(unit, &made, &sources, folder).map_err(|d| said.push(d)).ok();
            Delivered { made: written, said, sources, printed }
        }
    }
}

/// Writes what was made of a unit.
fn write(unit: &Unit, made: &Compiled, sources: &SourceMap, folder: &Folder<'_>) -> Result<Made, Diagnostic> {
    let read = || made.files.iter().map(|&id| sources.file(id));
    let mut outputs = vec![];
    let mut put = |name: PathBuf, bytes: &[u8]| {
        outputs.extend(folder.put(&name, bytes, read().filter_map(|f| f.path.as_deref()))?);
        Ok::<(), Diagnostic>(())
    };
    for (stage, bytes) in &made.artifacts {
        put(unit.file(*stage), bytes)?;
    }
    if made.artifacts.keys().any(|s| matches!(s, Stage::Assembly | Stage::Binary)) {
        put(unit.json(), &made.metadata.to_json())?;
    }
    let inputs = read().filter_map(|f| Some(Input::new(f.path.as_deref()?, &f.text))).collect();
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
