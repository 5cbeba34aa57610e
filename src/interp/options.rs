//! The options of a run: which faults are looked for, what is traced, and the bounds of work and memory.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// The faults to look for, beyond those after which a program cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Two programs that touch the same address without an order, and stores whose elements overlap.
    pub races: bool,
    /// Accesses outside of a buffer. Without this check such a load gives zero and such a store does nothing.
    pub bounds: bool,
    /// Reads of memory that nobody has written.
    pub uninit: bool,
    /// Elements that a masked load without `other` left out, where they matter.
    pub undefined: bool,
    /// Promises that do not hold: `tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy` and `tl.assume`.
    pub promises: bool,
    /// Operations that make a NaN or an infinity.
    pub nan: bool,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks { races: true, bounds: true, uninit: true, undefined: true, promises: true, nan: false }
    }
}

/// A source line whose values are recorded in one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The end of the file's name, or `None` for any file.
    pub file: Option<String>,
    /// The line, from 1 on.
    pub line: u32,
    pub program: [u32; 3],
}

/// The work of one program, unless [`RunOptions::max_ops`] says otherwise: about ten seconds.
pub const MAX_OPS: u64 = 1 << 27;
/// The lines that are kept, unless [`RunOptions::max_lines`] says otherwise.
pub const MAX_LINES: usize = 10_000;
/// The memory of a launch, unless [`RunOptions::max_memory`] says otherwise: 2 GiB.
pub const MAX_MEMORY: u64 = 2 << 30;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub checks: Checks,
    pub trace: Option<Trace>,
    /// How many threads may be used. 0 means as many as there are cores.
    pub threads: usize,
    /// The work after which a program counts as endless: an operation is 1, and 1 more for every 16 elements.
    pub max_ops: u64,
    /// When the launch ends, whatever it has done by then.
    pub deadline: Option<Instant>,
    /// How many faults are looked for, at different places. A program goes on after a fault only if this is more than
    /// 1.
    pub max_faults: usize,
    /// How many lines are kept of what programs print, and of what is traced.
    pub max_lines: usize,
    /// How many bytes the buffers, the values, and what the checks remember may take together.
    pub max_memory: u64,
    /// Counts the programs that have finished, for a progress bar in another thread.
    pub progress: Option<Arc<AtomicU64>>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            checks: Checks::default(),
            trace: None,
            threads: 0,
            max_ops: MAX_OPS,
            deadline: None,
            max_faults: 1,
            max_lines: MAX_LINES,
            max_memory: MAX_MEMORY,
            progress: None,
        }
    }
}
