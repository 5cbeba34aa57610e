//! Where a kernel file's types come from when nobody gives them on a command line. The first that knows a kernel wins:
//!
//! 1. the nearest manifest above the file (`ttc.toml`), if it names the file;
//! 2. the annotations of the parameters, with the first configuration of `@triton.autotune`;
//! 3. the case file beside it (`.toml`).
//!
//! A kernel of which none knows enough is checked without types.

use std::path::PathBuf;
use std::sync::Arc;

use crate::build::lookup;
use crate::cases::Folder;
use crate::driver::check::is_complete;
use crate::driver::input::Input;
use crate::driver::{Job, JobOptions};
use crate::irgen::{KernelInfo, list_kernels};
use crate::source::SourceMap;
use crate::target::Target;

/// What is known of a file's kernels.
pub(super) struct Known {
    pub(super) kernels: Vec<KernelInfo>,
    /// A job for each kernel whose types and values are known.
    pub(super) jobs: Vec<Job>,
    pub(super) include: Vec<PathBuf>,
}

/// Finds the types of a file's kernels.
pub(super) fn of_file(input: &Input, sources: &mut SourceMap) -> Known {
    let on_disk = sources.file(input.file).path.is_some();
    let manifest = on_disk.then(|| lookup::nearest(&input.path)).flatten();
    let built = manifest.map_or_else(Vec::new, |manifest| lookup::jobs_of(&manifest, input, sources));
    let include = built.first().map(|j| j.options.include.clone()).unwrap_or_default();
    let kernels = list_kernels(sources, input.file, &include).0;
    let options = Arc::new(JobOptions { include: include.clone(), ..JobOptions::default() });
    let mut jobs = vec![];
    for k in kernels.iter().filter(|k| k.entry || built.iter().any(|j| j.kernel.as_deref() == Some(&k.name))) {
        if let Some(job) = built.iter().find(|j| j.kernel.as_deref() == Some(&k.name)) {
            jobs.push(job.clone());
            continue;
        }
        let config = k.configs.as_ref().ok().and_then(|c| c.first()).map(|c| c.index);
        let plain =
            Job { kernel: Some(k.name.clone()), config, ..Job::new(input.clone(), Target::usual(), options.clone()) };
        if is_complete(&plain, Some(&kernels)) {
            jobs.push(plain);
        } else if on_disk && let Some(job) = of_case(&Job { config: None, ..plain }, k, sources) {
            jobs.push(job);
        }
    }
    Known { kernels, jobs, include }
}

/// What the case file of a kernel says, if there is one and nothing is wrong with it: `ttc interpret` says what is.
fn of_case(plain: &Job, kernel: &KernelInfo, sources: &mut SourceMap) -> Option<Job> {
    let mut folder = Folder { sources: std::mem::take(sources), include: plain.options.include.clone() };
    let found = folder.find(&plain.input, Some(&kernel.name));
    *sources = folder.sources;
    let loaded = found.ok().flatten()?;
    let preset = loaded.case.preset(&loaded.kernel, &loaded.case.default_config()).ok()?;
    let input = Input { preset, ..plain.input.clone() };
    Some(Job { input, ..plain.clone() })
}
