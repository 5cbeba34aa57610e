//! Keeps what programs print and trace, up to a number of lines.
//!
//! A program keeps its first lines and counts the others. Programs end in any order, so the launch keeps what the
//! programs with the lowest numbers printed ([`All`]). Which lines are kept then does not depend on the number of
//! threads.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The first lines of one program, and how many there were.
#[derive(Debug)]
pub(crate) struct Lines<T> {
    pub(crate) kept: Vec<T>,
    pub(crate) all: u64,
}

impl<T> Default for Lines<T> {
    fn default() -> Lines<T> {
        Lines { kept: vec![], all: 0 }
    }
}

impl<T> Lines<T> {
    /// Adds a line, which is made only if there is room for it.
    pub(crate) fn push(&mut self, room: usize, line: impl FnOnce() -> T) {
        self.all += 1;
        if self.kept.len() < room {
            self.kept.push(line());
        }
    }
}

/// The first lines of a launch, in the order of the programs.
pub(crate) struct All<T> {
    room: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    programs: BTreeMap<u32, Vec<T>>,
    kept: usize,
    all: u64,
}

impl<T> All<T> {
    pub(crate) fn new(room: usize) -> All<T> {
        All { room, state: Mutex::new(State { programs: BTreeMap::new(), kept: 0, all: 0 }) }
    }

    pub(crate) fn add(&self, program: u32, lines: Lines<T>) {
        if lines.all == 0 {
            return;
        }
        let mut s = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        s.all += lines.all;
        s.kept += lines.kept.len();
        s.programs.insert(program, lines.kept);
        // The lines of the last programs go first, as long as the others fill the room.
        while let Some(last) = s.programs.last_entry().map(|e| e.get().len())
            && s.kept - last >= self.room
        {
            s.kept -= last;
            s.programs.pop_last();
        }
    }

    /// The lines that are kept, with their programs, and the number of the others.
    pub(crate) fn take(self) -> (Vec<(u32, T)>, u64) {
        let s = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let all = s.all;
        let lines = s.programs.into_iter().flat_map(|(p, lines)| lines.into_iter().map(move |l| (p, l)));
        let kept: Vec<(u32, T)> = lines.take(self.room).collect();
        let left_out = all - kept.len() as u64;
        (kept, left_out)
    }
}
