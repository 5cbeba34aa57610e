//! Stages that a person has written take the place of those that ttc makes.
//!
//! 1. `TTC_OVERRIDE_DUMP=D` makes each compilation write its stages to `D/KEY/KERNEL.ptx` and the like. The key is that
//!    of the job ([`key::of_job`]): the same for every ttc, and another one for another text, type or option.
//! 2. The person changes one of the files, and sets `TTC_OVERRIDE_DIR=D`.
//! 3. A compilation that finds files under its key goes on from the latest of their stages. Stages before it that are
//!    wanted as well are made as usual. A warning names the file, and the result never reaches the cache.
//!
//! Example: `TTC_OVERRIDE_DUMP=d ttc compile add.tk`, then `vi d/*/add.ptx`, then
//! `TTC_OVERRIDE_DIR=d ttc compile add.tk`.

use std::path::{Path, PathBuf};

use super::cached::key;
use super::flow;
use super::input::{self, Input};
use super::job::{Compiled, Debug, Job};
use super::output;
use crate::backend::Stage;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::source::SourceMap;

/// The stages whose text can take the place of what ttc makes, in order.
const TEXTS: [Stage; 4] = [Stage::Ttir, Stage::Ttgir, Stage::Llir, Stage::Assembly];

/// Where stages are taken from and where they are written to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// The value of `TTC_OVERRIDE_DIR`.
    pub from: Option<PathBuf>,
    /// The value of `TTC_OVERRIDE_DUMP`.
    pub to: Option<PathBuf>,
}

impl Overrides {
    /// What the environment of this process says.
    #[must_use]
    pub fn of_environment() -> Overrides {
        let folder = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Overrides { from: folder("TTC_OVERRIDE_DIR"), to: folder("TTC_OVERRIDE_DUMP") }
    }

    /// Compiles a job with what was written for it. It is `None` if that makes no difference, so that the job is like
    /// any other.
    pub(super) fn run(
        &self,
        job: &Job,
        sources: &mut SourceMap,
        want: &[Stage],
        debug: &Debug,
    ) -> Option<Result<Compiled, Vec<Diagnostic>>> {
        if self.from.is_none() && self.to.is_none() {
            return None;
        }
        let key = key::of_job(job, sources).to_string();
        let found = match self.from.as_ref().map(|dir| latest(&dir.join(&key), job)).transpose() {
            Ok(found) => found.flatten().filter(|(stage, _)| want.iter().any(|w| w >= stage)),
            Err(d) => return Some(Err(vec![d])),
        };
        let all: Vec<Stage> = match &self.to {
            Some(_) => want.iter().copied().chain(TEXTS.into_iter().filter(|t| want.iter().any(|w| w >= t))).collect(),
            None if found.is_none() => return None,
            None => want.to_vec(),
        };
        let made = match found {
            Some((stage, file)) => overridden(job, sources, &all, debug, stage, &file),
            None => flow::run(job, sources, &all, debug, None),
        };
        Some(made.map(|made| match &self.to {
            Some(dir) => dumped(made, job, &dir.join(key), want),
            None => made,
        }))
    }
}

/// The latest stage in a folder, with its file. There is none if the folder does not exist.
fn latest(folder: &Path, job: &Job) -> Result<Option<(Stage, PathBuf)>, Diagnostic> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.sort();
    let bad = |file: &Path, why: String| {
        Diagnostic::error(&cli::BAD_OVERRIDE, why).at(Place::File(file.display().to_string()), "")
    };
    let mut last: Option<(Stage, PathBuf)> = None;
    for file in files {
        let word = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let Some(stage) = Stage::find(word).filter(|s| s.word(&job.target) == word) else { continue };
        if stage == Stage::Binary {
            let why = format!("`{}` cannot take the place of what the tools make", file.display());
            return Err(bad(&file, why).help(format!("change the {} instead", Stage::Assembly.word(&job.target))));
        }
        match &last {
            Some((known, other)) if *known == stage => {
                let why = format!("`{}` and `{}` are the same stage of one job", other.display(), file.display());
                return Err(bad(&file, why).help("keep one of them"));
            }
            Some((known, _)) if *known > stage => {}
            _ if TEXTS.contains(&stage) => last = Some((stage, file)),
            _ => {}
        }
    }
    Ok(last)
}

/// Makes the stages before `stage` as usual, and goes on from the file.
fn overridden(
    job: &Job,
    sources: &mut SourceMap,
    want: &[Stage],
    debug: &Debug,
    stage: Stage,
    file: &Path,
) -> Result<Compiled, Vec<Diagnostic>> {
    let (before, after): (Vec<Stage>, Vec<Stage>) = want.iter().partition(|&&w| w < stage);
    let original = sources.file(job.input.file).name.clone();
    let mut made = if before.is_empty() { Compiled::default() } else { flow::run(job, sources, &before, debug, None)? };
    let input: Input = input::read(sources, file, None).map_err(|d| vec![d])?;
    let rest = Job { input, kernel: None, ..job.clone() };
    let mut later = flow::run(&rest, sources, &after, debug, None)?;
    let shown = file.display();
    let warning = Diagnostic::warning(&cli::STAGE_OVERRIDDEN, format!("`{shown}` took the place of what ttc makes"))
        .at(Place::File(shown.to_string()), "")
        .help("unset `TTC_OVERRIDE_DIR` to compile the kernel itself");
    made.diagnostics.push(warning);
    made.diagnostics.append(&mut later.diagnostics);
    made.artifacts.append(&mut later.artifacts);
    made.timings.append(&mut later.timings);
    made.slow_assembler = later.slow_assembler;
    made.dumps.append(&mut later.dumps);
    // The file may call the kernel by a symbol, and outputs are named after the kernel.
    let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned());
    made.kernel = job.kernel.clone().or(stem).unwrap_or(later.kernel);
    made.metadata = later.metadata;
    made.metadata.sources.insert(0, original);
    Ok(made)
}

/// Writes the stages to a folder, and keeps those that are wanted.
fn dumped(mut made: Compiled, job: &Job, folder: &Path, want: &[Stage]) -> Compiled {
    let write = |(stage, bytes): (&Stage, &Vec<u8>)| {
        output::write_file(&folder.join(format!("{}.{}", made.kernel, stage.word(&job.target))), bytes)
    };
    let mut texts = made.artifacts.iter().filter(|(stage, _)| TEXTS.contains(stage));
    let written = output::make_dir(folder).and_then(|()| texts.try_for_each(write));
    made.diagnostics.extend(written.err());
    made.artifacts.retain(|stage, _| want.contains(stage));
    made
}
