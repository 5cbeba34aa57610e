//! The bounds of a run: the work of a program, its loops, its memory, and the time of the launch.
//!
//! 1. Each operation has a cost (`kernel_facts.rs`): 1, and more if it has many elements. A program that spends more
//!    than `max_ops` ends with a fault at the loop that it is in.
//! 2. A `while` loop is certainly endless when an iteration leaves memory and the carried values as they were, because
//!    the next iteration will do the same.
//! 3. After every 65,536 units of work, the launch's time limit is checked.
//! 4. The elements of all values of a program may take as much memory as the launch has left for each thread.

use super::fault::{self, Fault};
use super::program::{Loop, Program};
use super::value::{Lanes, Val};
use crate::diag::codes::interp as codes;
use crate::ir::{Op, ScfOp};

/// How many units of work lie between two looks at the clock.
const TICK: u64 = 1 << 16;

impl Program<'_> {
    /// Counts the work of an operation.
    #[inline]
    pub(crate) fn spend(&mut self, op: Op, cost: u64) -> Result<(), Fault> {
        let before = self.work;
        self.work += cost;
        if self.work > self.shared.options.max_ops {
            return Err(self.too_long(op));
        }
        if before / TICK != self.work / TICK
            && let Some(deadline) = self.shared.options.deadline
            && std::time::Instant::now() >= deadline
        {
            let message = "the launch took longer than its time limit".to_owned();
            return Err(Box::new(
                self.fault(op, &codes::TOO_LONG, message, "still running here")
                    .help("`--timeout SECONDS` sets the limit"),
            ));
        }
        if self.held() > self.shared.room {
            return Err(self.too_much(op));
        }
        Ok(())
    }

    pub(crate) fn enter(&mut self, op: Op) {
        self.loops.push(Loop { op, iterations: 0, since: self.work });
    }

    /// The loop in which the program has spent most of its time: the innermost that has used half of the limit.
    fn long_loop(&self) -> Option<Loop> {
        let spent = |l: &&Loop| self.work - l.since >= self.work / 2;
        self.loops
            .iter()
            .rev()
            .find(|l| self.ir.is(l.op, ScfOp::While) && spent(l))
            .or_else(|| self.loops.iter().rev().find(spent))
            .copied()
    }

    #[cold]
    fn too_long(&self, op: Op) -> Fault {
        let limit = self.shared.options.max_ops;
        let help = "`--max-ops N` raises the limit";
        let Some(l) = self.long_loop() else {
            let message = format!("the program does more than {limit} units of work");
            return Box::new(self.fault(op, &codes::TOO_LONG, message, "still running here").help(help));
        };
        let what = if self.ir.is(l.op, ScfOp::While) {
            format!("an endless loop, it seems: {} iterations, and more than {limit} units of work", l.iterations)
        } else {
            format!("the program does more than {limit} units of work, in iteration {} of a loop", l.iterations)
        };
        let mut d = *self.fault(l.op, &codes::TOO_LONG, what, "this loop");
        if let Some(p) = fault::place(self.ir.loc(op)) {
            d = d.at(p, "still running here");
        }
        Box::new(d.help(format!("check the loop's condition; {help}")))
    }

    #[cold]
    fn too_much(&self, op: Op) -> Fault {
        let message = format!("the values of the program take more than {} bytes", self.shared.room);
        Box::new(
            self.fault(op, &codes::TOO_MUCH_MEMORY, message, "computed here")
                .help("`--max-memory SIZE` raises the limit"),
        )
    }

    /// Makes a fault if an iteration of a `while` loop has changed neither memory nor what the loop carries.
    pub(crate) fn progresses(&self, op: Op, changes: u64, before: &[Val], after: &[Val]) -> Result<(), Fault> {
        if changes != self.changes.get()
            || before.len() != after.len()
            || !before.iter().zip(after).all(|(a, b)| same(a, b))
        {
            return Ok(());
        }
        let message = "an endless loop: an iteration changed nothing, so neither will the next".to_owned();
        let d = self.fault(op, &codes::TOO_LONG, message, "this loop");
        Err(Box::new(d.help(
            "check the loop's condition; one that waits can wait only for a program with a lower number: such programs run in order here",
        )))
    }
}

fn same(a: &Val, b: &Val) -> bool {
    match (&a.lanes, &b.lanes) {
        (Lanes::Splat(x), Lanes::Splat(y)) => x == y,
        (Lanes::Full(x), Lanes::Full(y)) => std::sync::Arc::ptr_eq(x, y) || x == y,
        // Blocks are compared by identity alone. A loop that makes an equal one anew goes on to the limit.
        (Lanes::Block(x), Lanes::Block(y)) => std::sync::Arc::ptr_eq(x, y),
        _ => false,
    }
}
