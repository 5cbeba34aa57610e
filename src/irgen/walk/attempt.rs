//! Evaluating host code: constants, guards, configurations, in frames of their own, quietly or as a trial that says why
//! it failed.

use super::frame::Frame;
use super::walker::{MAX_EVALUATION_DEPTH, Walker};
use crate::diag::Diagnostic;
use crate::irgen::emit::{R, quietly};
use crate::irgen::value::Object;
use crate::parser::ast::Expr;

/// Why a configuration or heuristic could not be evaluated: the first thing that went wrong in it.
pub type Cause = Option<Diagnostic>;

/// Adds to a message what went wrong inside.
pub fn because(diag: Diagnostic, cause: Cause) -> Diagnostic {
    match cause {
        Some(cause) => match cause.labels.first() {
            Some(label) if !label.text.is_empty() && diag.place() != Some(&label.place) => {
                diag.at(label.place.clone(), cause.message)
            }
            _ => diag.note(cause.message),
        },
        None => diag,
    }
}

impl Walker<'_> {
    /// Evaluates an expression at the top level of a module; `None` if it is no compile-time value.
    pub fn evaluate(&mut self, module: usize, e: &Expr) -> Option<Object> {
        if self.depth > MAX_EVALUATION_DEPTH {
            return None;
        }
        self.depth += 1;
        let value = quietly(self, |cx| cx.isolated(module, |cx| cx.expr(e)));
        self.depth -= 1;
        value.ok().filter(|v| !matches!(v, Object::Error))
    }

    /// Runs `f` in a fresh compile-time frame, for a statement of the module's file.
    pub fn isolated<T>(&mut self, module: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        let new = Frame { statement: true, ..Frame::new(self.number(), module, None, true) };
        self.in_frame(new, f)
    }

    /// Runs `f` in a fresh compile-time frame, for a function of the module that is called here.
    pub(super) fn called<T>(&mut self, module: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.horizon().filter(|_| module == self.frame.module);
        let new = Frame { before, ..Frame::new(self.number(), module, None, true) };
        self.in_frame(new, f)
    }

    /// Runs `f` when all files have been read to their end.
    pub fn later<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let was = (std::mem::take(&mut self.frame.statement), self.frame.before.take());
        let result = f(self);
        (self.frame.statement, self.frame.before) = was;
        result
    }

    fn in_frame<T>(&mut self, new: Frame, f: impl FnOnce(&mut Self) -> T) -> T {
        self.waiting.push((self.frame.number, self.frame.visible()));
        let frame = std::mem::replace(&mut self.frame, new);
        let (block, naming, here) = (self.out.replace_block(None), self.naming.take(), self.out.here());
        let result = f(self);
        self.frame = frame;
        self.waiting.pop();
        self.naming = naming;
        self.out.replace_block(block);
        self.out.replace_here(here);
        result
    }

    /// Evaluates host code in a module; if it fails, says why instead of reporting it.
    pub fn attempt<T>(&mut self, module: usize, f: impl FnOnce(&mut Self) -> R<T>) -> Result<T, Cause> {
        self.trial(|cx| cx.isolated(module, f))
    }

    /// The same for host code where it stands.
    pub(super) fn trial<T>(&mut self, f: impl FnOnce(&mut Self) -> R<T>) -> Result<T, Cause> {
        let aside = self.out.set_aside();
        // What is said here may be thrown away, and then has to be said where the name is used.
        let unknown = self.names.unknown.clone();
        let result = f(self);
        self.names.unknown = unknown;
        let said = self.out.resume(aside);
        result.map_err(|_| said.into_iter().find(Diagnostic::is_error))
    }
}
