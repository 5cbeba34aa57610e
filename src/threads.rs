//! Threads with stacks that deep recursion cannot exhaust, and what happens when the system gives none.
//!
//! 1. A stack is 256 MiB, of which only touched pages cost memory. Where the address space is limited (`ulimit -v`), it
//!    is a 64th of that limit, so that threads leave room for what they compute.
//! 2. A thread that cannot be started is tried again with a smaller stack.
//! 3. [`crew`] goes on with the threads that it got. [`on_stack`] and [`crew`] go on with the caller's own thread when
//!    they got none.
//! 4. Work that may prove needless takes a [`Core`] first, so that it slows nothing down.
//!
//! Example: under `ulimit -v 1000000` a stack is 15 MiB, and `-j 8` uses as many threads as start.

pub mod heap;

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The stack of a thread where nothing is limited.
const STACK: usize = 256 << 20;

/// A stack that is enough for all but monstrous inputs.
const LEAST: usize = 8 << 20;

/// The most threads that work at once when nobody says how many. Beyond that they cost memory and save little time.
const MOST: usize = 32;

/// Roughly the address space that a compilation needs beside its stacks.
const SPACE: usize = 256 << 20;

/// Bytes of address space that this process may use, if that is limited.
fn address_space() -> Option<usize> {
    #[cfg(unix)]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a local value that the call fills.
        let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
        (known && limit.rlim_cur != libc::RLIM_INFINITY).then(|| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
    }
    #[cfg(not(unix))]
    None
}

/// The sizes of stack to try, in bytes: each a quarter of the one before, and the least at the end.
fn sizes(limit: Option<usize>) -> impl Iterator<Item = usize> {
    let most = limit.map_or(STACK, |l| (l / 64).clamp(LEAST, STACK));
    std::iter::successors(Some(most), |&s| (s > LEAST).then_some((s / 4).max(LEAST)))
}

/// How many threads to use where nobody says: the cores, but no more than the address space has room for.
#[must_use]
pub fn usual() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST);
    address_space().map_or(cores, |l| cores.min(l / SPACE)).max(1)
}

/// Starts a thread with `start`, which gets the builder. If the system has no stack of the usual size, a smaller one is
/// tried.
///
/// # Errors
/// The system's error for the smallest stack.
pub fn start<T>(mut start: impl FnMut(Builder) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::Error::from(io::ErrorKind::OutOfMemory);
    for size in sizes(address_space()) {
        match start(Builder::new().stack_size(size)) {
            Ok(thread) => return Ok(thread),
            Err(e) => last = e,
        }
    }
    Err(last)
}

fn scoped<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl Fn() -> T + Send + Copy + 's,
) -> io::Result<ScopedJoinHandle<'s, T>> {
    let prepared = move || {
        heap::prepare();
        work()
    };
    start(|builder| builder.spawn_scoped(scope, prepared))
}

/// Runs `work` on a thread with a large stack, or on this one if there is no other.
///
/// # Panics
/// Panics if `work` panics.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // The closure can run once, but starting a thread may take several tries.
    let cell = std::sync::Mutex::new(Some(work));
    let take = || cell.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let run = || take().map(|work| work());
    let done = std::thread::scope(|scope| match scoped(scope, run) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => run(),
    });
    done.expect("the work is taken once, by the thread that runs it")
}

/// Threads of crews that work now.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Cores that are taken beside those of crews.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A core for one more thread, until this is dropped.
pub struct Core(());

impl Core {
    /// Takes a core that nobody has: neither this thread, nor crews, nor those that took one. It is `None` where there
    /// is no such core.
    #[must_use]
    pub fn take() -> Option<Core> {
        let others = BUSY.load(Ordering::Relaxed).max(1);
        let one_more = |taken| (others + taken < usual()).then_some(taken + 1);
        TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok().map(|_| Core(()))
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` on up to `count` threads at once, at least on this one.
pub fn crew(count: usize, work: impl Fn() + Sync) {
    let work = &|| {
        BUSY.fetch_add(1, Ordering::Relaxed);
        work();
        BUSY.fetch_sub(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        let started = (0..count).take_while(|_| scoped(scope, work).is_ok()).count();
        if started == 0 {
            work();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn stacks_leave_room_under_a_limit() {
        let all = |limit| sizes(limit).map(|s| s >> 20).collect::<Vec<_>>();
        assert_eq!(all(None), [256, 64, 16, 8]);
        assert_eq!(all(Some(4 << 30)), [64, 16, 8]);
        assert_eq!(all(Some(300 << 20)), [8]);
    }

    #[test]
    fn work_runs_on_every_thread_that_started_and_results_come_back() {
        let runs = AtomicUsize::new(0);
        crew(3, || {
            runs.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(runs.into_inner(), 3);
        assert_eq!(on_stack(|| "done".to_owned()), "done");
        assert!(std::panic::catch_unwind(|| on_stack(|| panic!("inside"))).is_err());
    }

    #[test]
    fn cores_are_taken_once() {
        // Other tests may take some at the same time, so only that there is an end is certain.
        let taken: Vec<Core> = std::iter::from_fn(Core::take).take(usual()).collect();
        assert!(taken.len() < usual());
    }

    #[test]
    fn a_thread_that_does_not_start_is_tried_with_smaller_stacks() {
        let tries = AtomicUsize::new(0);
        let failed = start(|_| {
            tries.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(io::Error::from(io::ErrorKind::WouldBlock))
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(tries.into_inner() >= 1);
    }
}
