//! Decides where outputs go, and that no two of a run go to the same place.
//!
//! 1. `-o` names the one file, and `--out-dir` holds `KERNEL[.VARIANT][.CONFIG][.ARCH].KIND`. Otherwise a cubin lies in
//!    the current directory and text goes to stdout.
//! 2. Metadata lies beside what is launched, a cubin or PTX, under the same name with `.json`.
//! 3. [`Placement::check`] finds conflicts before anything is compiled: two outputs of one path, or an output over an
//!    input. Where a name is only known after the job has run, [`Placement::write`] finds the conflict, and the file
//!    that was there first stays.
//! 4. Each job is written when it is ready, so that a later failure loses nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::input::Language;
use super::job::{Compiled, Job, Naming};
use super::{output, request};
use crate::backend::Stage;
use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::source::SourceMap;
use crate::target::Target;

/// Where the outputs of a run go.
#[derive(Debug, Default)]
pub struct Placement {
    /// The value of `-o`.
    pub output: Option<PathBuf>,
    /// The value of `--out-dir`.
    pub out_dir: Option<PathBuf>,
    /// The stages that are written.
    pub want: Vec<Stage>,
    /// Whether metadata is written too.
    pub with_metadata: bool,
    pub naming: Naming,
    /// The files that were written.
    written: Mutex<BTreeSet<PathBuf>>,
}

impl Placement {
    #[must_use]
    pub fn new(
        output: Option<PathBuf>,
        out_dir: Option<PathBuf>,
        want: Vec<Stage>,
        with_metadata: bool,
        naming: Naming,
    ) -> Placement {
        Placement { output, out_dir, want, with_metadata, naming, written: Mutex::default() }
    }

    /// Checks that every output of the jobs has a path of its own.
    ///
    /// # Errors
    /// `E0908`
    pub fn check(&self, jobs: &[Job], sources: &SourceMap) -> Result<(), Diagnostic> {
        if self.out_dir.is_none() && jobs.len() * self.want.len() > 1 {
            let kinds = || format!("{} kinds of output", self.want.len());
            let what = if jobs.len() > 1 {
                format!("{} kernels, variants, configurations or architectures", jobs.len())
            } else {
                kinds()
            };
            return Err(conflict(format!("{what} were asked for, but there is one place to write to"))
                .help("give a directory with `--out-dir`"));
        }
        let inputs: BTreeSet<PathBuf> = jobs.iter().filter_map(|j| std::fs::canonicalize(&j.input.path).ok()).collect();
        let mut paths = BTreeSet::new();
        for job in jobs {
            let kernel = request::expected_kernel(job, sources);
            for path in self.paths(job, kernel.as_deref()) {
                if std::fs::canonicalize(&path).is_ok_and(|p| inputs.contains(&p)) {
                    return Err(conflict(format!("the output `{}` is also an input", path.display()))
                        .help("write to another file or directory"));
                }
                if !paths.insert(path.clone()) {
                    return Err(taken(&path, job, kernel.as_deref()));
                }
            }
        }
        Ok(())
    }

    /// The files that a job will write. Those that are named after a kernel of an unknown name are left out.
    fn paths(&self, job: &Job, kernel: Option<&str>) -> Vec<PathBuf> {
        let Some(stem) =
            kernel.map(|k| self.naming.stem(job, k)).or_else(|| self.output.as_ref().map(|_| String::new()))
        else {
            return vec![];
        };
        let files = self.want.iter().filter_map(|s| self.path(&stem, *s, &job.target));
        files.chain(self.metadata_path(&stem, &job.target)).collect()
    }

    /// The file for one stage; `None` is stdout.
    fn path(&self, stem: &str, stage: Stage, target: &Target) -> Option<PathBuf> {
        match (&self.out_dir, &self.output) {
            (Some(dir), _) => Some(dir.join(format!("{stem}.{}", stage.word(target)))),
            (None, Some(path)) if path == Path::new("-") => None,
            (None, Some(path)) => Some(path.clone()),
            (None, None) if stage == Stage::Binary => Some(PathBuf::from(format!("{stem}.{}", stage.word(target)))),
            (None, None) => None,
        }
    }

    /// The file for the metadata, beside what is launched.
    fn metadata_path(&self, stem: &str, target: &Target) -> Option<PathBuf> {
        let launched = self.want.iter().rev().find(|s| matches!(s, Stage::Binary | Stage::Assembly));
        let path = self.path(stem, *launched.filter(|_| self.with_metadata)?, target)?;
        // A device, such as /dev/null, has nothing beside it.
        (!std::fs::metadata(&path).is_ok_and(|m| !m.is_file())).then(|| path.with_extension("json"))
    }

    /// Writes what a job made, and returns what goes to stdout.
    ///
    /// # Errors
    /// `E0906` when a file cannot be written, `E0908` when another job of the run has written it.
    pub fn write(&self, job: &Job, made: &Compiled) -> Result<Vec<u8>, Diagnostic> {
        if let Some(dir) = &self.out_dir {
            output::make_dir(dir)?;
        }
        let stem = self.naming.stem(job, &made.kernel);
        self.claim(job, &made.kernel)?;
        let mut stdout = vec![];
        for (stage, bytes) in made.artifacts.iter().filter(|(s, _)| self.want.contains(s)) {
            match self.path(&stem, *stage, &job.target) {
                Some(path) => output::write_file(&path, bytes)?,
                None => stdout.extend_from_slice(bytes),
            }
        }
        if let Some(path) = self.metadata_path(&stem, &job.target) {
            output::write_file(&path, &made.metadata.to_json())?;
        }
        Ok(stdout)
    }

    /// Takes all paths of a job, or none if another job has one of them.
    fn claim(&self, job: &Job, kernel: &str) -> Result<(), Diagnostic> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let paths = self.paths(job, Some(kernel));
        if let Some(path) = paths.iter().find(|p| written.contains(*p)) {
            return Err(taken(path, job, Some(kernel)));
        }
        written.extend(paths);
        Ok(())
    }
}

fn conflict(message: String) -> Diagnostic {
    Diagnostic::error(&cli::OUTPUT_CONFLICT, message)
}

fn taken(path: &Path, job: &Job, kernel: Option<&str>) -> Diagnostic {
    let error = conflict(format!("several outputs would be written to `{}`", path.display()));
    match kernel {
        Some(k) if job.input.language == Language::Source => error
            .note(format!("one of them is `{k}` of `{}`", job.input.path.display()))
            .help("compile kernels of one name into directories of their own"),
        _ => error.help("give each output a name or a directory of its own"),
    }
}
