//! Running jobs: several at once, each on a thread of its own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::job::{Debug, Job, Outcome};
use super::overrides::Overrides;
use super::{cached, reproducer};
use crate::backend::Stage;
use crate::cache::Cache;
use crate::source::SourceMap;
use crate::threads;

/// Runs the jobs on up to `workers` threads. The outcomes come in the order of the jobs; see [`run_each`].
#[must_use]
pub fn run_all(jobs: &[Job], sources: &SourceMap, want: &[Stage], debug: &Debug, workers: usize) -> Vec<Outcome> {
    run_each(jobs, sources, want, debug, &Reuse::default(), workers, |_, outcome| outcome)
}

/// What a run uses of other runs, and what a person has written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reuse<'a> {
    /// Where compilations are kept.
    pub cache: Option<&'a Cache>,
    /// What takes the place of stages.
    pub overrides: Option<&'a Overrides>,
}

/// Runs the jobs on up to `workers` threads and gives each outcome to `finish` with the job's number, as soon as it is
/// there, on the thread of the job, so that what one job made is safe whatever becomes of the others. What `finish`
/// returns comes in the order of the jobs.
///
/// A panic in a job is a defect of ttc. It becomes an E0999 diagnostic that names a reproducer file, and the other jobs
/// go on.
pub fn run_each<T: Send + Sync>(
    jobs: &[Job],
    sources: &SourceMap,
    want: &[Stage],
    debug: &Debug,
    reuse: &Reuse<'_>,
    workers: usize,
    finish: impl Fn(usize, Outcome) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Vec<OnceLock<T>> = jobs.iter().map(|_| OnceLock::new()).collect();
    threads::crew(workers.clamp(1, jobs.len().max(1)), || {
        while let Some((index, job, slot)) = claim(jobs, &done, &next) {
            let mut sources = sources.clone();
            let shown = sources.clone();
            let work = || match reuse.overrides.and_then(|o| o.run(job, &mut sources, want, debug)) {
                Some(result) => result,
                None => cached::run(reuse.cache, job, &mut sources, want, debug),
            };
            let result = reproducer::guard(|| format!("job: {job:#?}"), &shown, work);
            let _ = slot.set(finish(index, Outcome { result, sources }));
        }
    });
    done.into_iter().map(|o| o.into_inner().expect("every job has run")).collect()
}

fn claim<'a, T>(
    jobs: &'a [Job],
    done: &'a [OnceLock<T>],
    next: &AtomicUsize,
) -> Option<(usize, &'a Job, &'a OnceLock<T>)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, jobs.get(index)?, &done[index]))
}
