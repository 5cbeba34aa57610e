//! What a kernel may cost to lower: untrusted files end with a message, within memory and time that
//! [`super::lower::Options::max_ops`] bounds.
//!
//! | what | bound | example of what it stops |
//! |---|---|---|
//! | operations of the module | `max_ops` ([`crate::ir::Ir::is_full_with`]) | unrolled loops |
//! | statements that are lowered or evaluated, and calls of host functions | `max_ops` / 4 | a compile-time loop without end |
//! | elements of one compile-time value, also nested ones | `max_ops` / 4 | a tuple that is doubled forty times |
//! | elements of all compile-time values ever made, copied or compared | `max_ops` · 4 | the same in many variables |
//!
//! Sixteen bytes of a string count as an element. Whoever makes something large asks for [`Lower::room`] first. Once a
//! bound is passed, nothing more is evaluated, and the one message says which bound it was.

use super::lower::{Lower, R, Reported};
use super::semantic::fold::merged;
use super::value::{Items, Val};
use crate::diag::codes::names;

/// Elements that a string of so many bytes counts as.
#[must_use]
pub fn of_text(bytes: usize) -> u64 {
    bytes as u64 / 16 + 1
}

impl Lower<'_> {
    fn max_steps(&self) -> u64 {
        self.options.max_ops as u64 / 4
    }

    fn max_value(&self) -> u64 {
        self.options.max_ops as u64 / 4
    }

    /// Counts a statement, or a round of a compile-time loop.
    pub fn step(&mut self) -> R<()> {
        self.steps += 1;
        if self.steps > self.max_steps() {
            let text = format!("the kernel takes more than {} statements at compile time", self.max_steps());
            return Err(
                self.give_up(text, "loops over `tl.static_range` are unrolled; use `range` for all but short ones")
            );
        }
        self.within_bounds()
    }

    /// Fails once a bound has been passed.
    pub fn within_bounds(&mut self) -> R<()> {
        match self.over.clone() {
            Some((text, help)) => Err(self.give_up(text, help)),
            None => Ok(()),
        }
    }

    /// Asks for a compile-time value of so many elements, before it is made.
    pub fn room(&mut self, elements: u64) -> R<()> {
        self.within_bounds()?;
        self.elements = self.elements.saturating_add(elements);
        let all = self.options.max_ops as u64 * 4;
        let text = if elements > self.max_value() {
            format!("a value at compile time has {elements} elements; {} is the limit", self.max_value())
        } else if self.elements > all {
            format!("the values at compile time have more than {all} elements together")
        } else {
            return Ok(());
        };
        Err(self.give_up(text, "load large tables from memory, through a pointer"))
    }

    /// Counts work on values that exist: they are compared, copied, or become part of a name.
    pub fn work(&mut self, elements: u64) -> R<()> {
        self.within_bounds()?;
        self.elements = self.elements.saturating_add(elements);
        self.room(0)
    }

    /// Checks a value that was just made.
    pub fn made(&mut self, v: Val) -> R<Val> {
        let (all, own) = (v.weight(), v.own_weight());
        if all > self.max_value() {
            self.room(all)?;
        } else if own > 1 {
            self.room(own)?;
        }
        Ok(v)
    }

    /// `{**a, **b}`, which compares every key of `b` with those before it.
    pub fn merge_dicts(&mut self, a: &[(Val, Val)], b: &[(Val, Val)]) -> R<Items<(Val, Val)>> {
        let (n, m) = (a.len() as u64, b.len() as u64);
        self.work(n + m * (n + m) / 16)?;
        Ok(merged(a, b))
    }

    /// Whether another operation may be made.
    pub fn check_ops(&mut self) -> R<()> {
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
        self.over.get_or_insert((text.clone(), help));
        if self.quiet == 0 && !std::mem::replace(&mut self.said_over, true) {
            let help = format!("{help}, or raise the limit with --max-ops");
            return self.error_help(&names::TOO_LARGE, text, "reached here", help);
        }
        Reported
    }
}
