//! What a kernel may cost to lower: untrusted files end with a message, within memory and time that
//! [`Settings::max_ops`](super::Settings::max_ops) bounds.
//!
//! | what | bound | example of what it stops |
//! |---|---|---|
//! | operations of the module | `max_ops` ([`crate::ir::Ir::is_full_with`]) | unrolled loops |
//! | statements that are lowered or evaluated, and calls of host functions | `max_ops` / 4 | a compile-time loop without end |
//! | elements of one compile-time value, also nested ones | `max_ops` / 4 | a tuple that is doubled forty times |
//! | elements of all compile-time values ever made, copied or compared | `max_ops` · 4 | the same in many variables |
//!
//! Sixteen bytes of a string count as an element. Whoever makes something large asks for [`Emitter::room`] first. Once
//! a bound is passed, nothing more is evaluated, and the one message says which bound it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::emitter::Emitter;
use super::report::{R, Reported};
use crate::diag::codes::names;

/// Elements that a string of so many bytes counts as.
#[must_use]
pub fn of_text(bytes: usize) -> u64 {
    bytes as u64 / 16 + 1
}

/// What was spent so far.
#[derive(Default)]
pub(super) struct Spent {
    /// Statements lowered so far; bounds unrolling.
    steps: u64,
    /// Elements of compile-time values made so far.
    elements: u64,
    /// Which bound was passed, and what to do about it.
    over: Option<(String, &'static str)>,
    /// Whether that was reported.
    said_over: bool,
    /// Somebody says here that the result is not wanted any more.
    stop: Option<Arc<AtomicBool>>,
}

impl Spent {
    pub(super) fn replace_steps(&mut self, steps: u64) -> u64 {
        std::mem::replace(&mut self.steps, steps)
    }
}

impl Emitter {
    fn max_steps(&self) -> u64 {
        self.settings().max_ops as u64 / 4
    }

    /// Elements that one compile-time value may have.
    #[must_use]
    pub fn max_value(&self) -> u64 {
        self.settings().max_ops as u64 / 4
    }

    /// Counts a statement, or a round of a compile-time loop.
    pub fn step(&mut self) -> R<()> {
        self.spent.steps += 1;
        if self.spent.steps > self.max_steps() {
            let text = format!("the kernel takes more than {} statements at compile time", self.max_steps());
            return Err(
                self.give_up(text, "loops over `tl.static_range` are unrolled; use `range` for all but short ones")
            );
        }
        self.within_bounds()
    }

    /// Gives up once this is true, as if a bound had been passed.
    pub fn stop_on(&mut self, stop: Arc<AtomicBool>) {
        self.spent.stop = Some(stop);
    }

    /// Fails once a bound has been passed.
    pub fn within_bounds(&mut self) -> R<()> {
        if self.spent.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(self.give_up("nobody waits for this any more".to_owned(), "the text has changed"));
        }
        match self.spent.over.clone() {
            Some((text, help)) => Err(self.give_up(text, help)),
            None => Ok(()),
        }
    }

    /// Asks for a compile-time value of so many elements, before it is made.
    pub fn room(&mut self, elements: u64) -> R<()> {
        self.within_bounds()?;
        self.spent.elements = self.spent.elements.saturating_add(elements);
        let all = self.settings().max_ops as u64 * 4;
        let text = if elements > self.max_value() {
            format!("a value at compile time has {elements} elements; {} is the limit", self.max_value())
        } else if self.spent.elements > all {
            format!("the values at compile time have more than {all} elements together")
        } else {
            return Ok(());
        };
        Err(self.give_up(text, "load large tables from memory, through a pointer"))
    }

    /// Counts work on values that exist: they are compared, copied, or become part of a name.
    pub fn work(&mut self, elements: u64) -> R<()> {
        self.within_bounds()?;
        self.spent.elements = self.spent.elements.saturating_add(elements);
        self.room(0)
    }

    /// Whether another operation may be made.
    pub(super) fn check_ops(&mut self) -> R<()> {
        if self.ir.is_full_with(1) {
            let text = format!("the kernel grows beyond {} operations", self.ir.max_ops());
            return Err(
                self.give_up(text, "loops over `tl.static_range` are unrolled; use `range` for all but short ones")
            );
        }
        Ok(())
    }

    /// Ends the lowering: the first time that it is said aloud, it is reported.
    fn give_up(&mut self, text: String, help: &'static str) -> Reported {
        self.spent.over.get_or_insert((text.clone(), help));
        if !self.is_quiet() && !std::mem::replace(&mut self.spent.said_over, true) {
            let help = format!("{help}, or raise the limit with --max-ops");
            return self.error_help(&names::TOO_LARGE, text, "reached here", help);
        }
        Reported
    }
}
