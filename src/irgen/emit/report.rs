//! What is said of a kernel: errors and warnings, and the lines that it prints while it is compiled.
//!
//! Whoever finds an error calls [`Emitter::error_help`], which records the diagnostic with the chain of calls that led
//! there and returns [`Reported`]; `?` carries that up to the statement, whose targets get an erroneous value. So each
//! error is reported once and the rest of the kernel is still checked.

use super::emitter::Emitter;
use crate::diag::codes::names;
use crate::diag::{Code, Diagnostic, Label, Place};
use crate::ir::OpKind;
use crate::source::Span;

/// An error that is recorded already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reported;

pub type R<T> = Result<T, Reported>;

/// A call that is being lowered: for the chain in messages.
#[derive(Clone)]
pub struct CallSite {
    pub span: Span,
    pub callee: String,
    /// Of a function that a kernel calls and that runs at compile time: its header.
    pub host: Option<Span>,
}

/// Everything that was said so far.
#[derive(Default)]
pub(super) struct Said {
    diags: Vec<Diagnostic>,
    /// Errors found so far, repeated ones included.
    errors: u64,
    /// `static_print` lines.
    printed: Vec<String>,
    /// Calls around the current place, the innermost last.
    calls: Vec<CallSite>,
    /// Errors are dropped while it is positive: a trial evaluation.
    pub(super) quiet: u32,
    /// See [`Emitter::list_change`].
    list_changed: bool,
}

/// What [`Emitter::set_aside`] keeps.
pub struct Aside {
    diags: Vec<Diagnostic>,
    calls: Vec<CallSite>,
    quiet: u32,
    errors: u64,
    steps: u64,
}

impl Emitter {
    /// Records a diagnostic, with the calls that led here. The same message at the same place is kept once (loops
    /// unroll).
    pub fn report(&mut self, mut diag: Diagnostic) -> Reported {
        if !self.is_quiet() {
            self.said.errors += u64::from(diag.is_error());
            diag = self.said.with_calls(diag);
            let same = |d: &Diagnostic| d.code == diag.code && d.place() == diag.place() && d.message == diag.message;
            if !self.said.diags.iter().any(same) {
                self.said.diags.push(diag);
            }
        }
        Reported
    }

    /// Records an error at the current expression, with what to do about it.
    pub fn error_help(
        &mut self,
        code: &'static Code,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        let diag = Diagnostic::error(code, message).at(self.span(), label).help(help);
        self.report(diag)
    }

    /// Reports something that is part of the language but not of this compiler yet.
    pub fn unsupported(&mut self, what: &str) -> Reported {
        self.error_help(
            &names::UNSUPPORTED,
            format!("{what} is not supported yet"),
            "used here",
            "use another way to say it where there is one; docs/language.md lists what there is",
        )
    }

    /// Reports a feature of Python that kernels do not have, with what to write instead.
    pub fn no_syntax(&mut self, what: &str, help: &str) -> Reported {
        self.error_help(
            &names::NOT_IN_KERNELS,
            format!("{what} is not part of the kernel language"),
            "Python, but not Triton",
            help,
        )
    }

    /// Reports an operation of the GPU where only compile-time values are computed: most often in a function without
    /// `@triton.jit`.
    pub(super) fn not_at_compile_time(&mut self, kind: OpKind) -> Reported {
        let Some(at) = self.said.calls.iter().rposition(|c| c.host.is_some()) else {
            return self.error_help(
                &names::NOT_CONSTEXPR,
                format!("`{}` cannot be computed at compile time", kind.name()),
                "needs a value that exists only when the kernel runs",
                "at compile time there are numbers, strings, types and tuples of them; compute with tensors in a kernel",
            );
        };
        let rest = self.said.calls.split_off(at);
        let CallSite { span, callee, host } = rest[0].clone();
        let diag = Diagnostic::error(
            &names::NOT_CONSTEXPR,
            format!("`{callee}` is a plain Python function, which runs at compile time, but it computes with run-time values"),
        )
        .at(span, "called with run-time values")
        .at(host.unwrap_or(span), "this function is not compiled for the GPU")
        .help(format!("decorate `{callee}` with `@triton.jit`"));
        let reported = self.report(diag);
        self.said.calls.extend(rest);
        reported
    }

    /// Records a line of `static_print`.
    pub fn print_line(&mut self, line: String) {
        self.said.printed.push(line);
    }

    /// Remembers that a kernel was reported to change a list: what lists hold is not known any more, so faults of their
    /// indices say nothing.
    pub fn list_change(&mut self) {
        self.said.list_changed |= !self.is_quiet();
    }

    #[must_use]
    pub fn list_changed(&self) -> bool {
        self.said.list_changed
    }

    // ---- what was said ----

    /// Whether errors are dropped.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.said.quiet > 0
    }

    /// How many errors were found so far, repeated ones included.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.said.errors
    }

    /// Counts an error that needs no message of its own any more.
    pub fn count_error(&mut self) {
        self.said.errors += 1;
    }

    pub fn diags(&self) -> &[Diagnostic] {
        &self.said.diags
    }

    /// The diagnostics from this one on, to be changed.
    pub fn diags_from(&mut self, first: usize) -> &mut [Diagnostic] {
        &mut self.said.diags[first..]
    }

    /// Takes diagnostics in as they are.
    pub fn take_in(&mut self, diags: Vec<Diagnostic>) {
        self.said.diags.extend(diags);
    }

    pub fn take_diags(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.said.diags)
    }

    pub fn take_printed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said.printed)
    }

    // ---- calls and trials ----

    /// Enters a call; messages show it until [`Emitter::pop_call`].
    pub fn push_call(&mut self, call: CallSite) {
        self.said.calls.push(call);
    }

    pub fn pop_call(&mut self) {
        self.said.calls.pop();
    }

    /// The calls around the current place, the innermost last.
    #[must_use]
    pub fn calls(&self) -> &[CallSite] {
        &self.said.calls
    }

    /// Starts a trial whose diagnostics are not reported but looked at: what was said before, the calls and the count
    /// of steps are kept until [`Emitter::resume`].
    #[must_use]
    pub fn set_aside(&mut self) -> Aside {
        Aside {
            diags: std::mem::take(&mut self.said.diags),
            calls: std::mem::take(&mut self.said.calls),
            quiet: std::mem::take(&mut self.said.quiet),
            errors: self.said.errors,
            steps: self.spent.replace_steps(0),
        }
    }

    /// Ends a trial, and gives what was said in it.
    pub fn resume(&mut self, aside: Aside) -> Vec<Diagnostic> {
        let Aside { diags, calls, quiet, errors, steps } = aside;
        (self.said.calls, self.said.quiet, self.said.errors) = (calls, quiet, errors);
        self.spent.replace_steps(steps);
        std::mem::replace(&mut self.said.diags, diags)
    }
}

impl Said {
    /// Adds the calls that led to a diagnostic. One inside the library is shown at the user's call of it.
    fn with_calls(&self, mut diag: Diagnostic) -> Diagnostic {
        let in_library = |s: Span| s.file.is_embedded();
        let calls: Vec<&CallSite> = self.calls.iter().rev().collect();
        let library = matches!(diag.place(), Some(Place::Span(s)) if in_library(*s));
        let user = calls.iter().position(|c| !in_library(c.span));
        let shown = match user.filter(|_| library) {
            Some(at) => {
                let text = diag.labels[0].text.clone();
                diag.labels[0].text = format!("inside of `{}`, a function of the library", calls[at].callee);
                diag.labels.insert(0, Label { place: calls[at].span.into(), text });
                &calls[at + 1..]
            }
            None => &calls[..],
        };
        let mut last = None;
        for call in shown {
            // Recursion comes from one place again and again.
            if last.replace(call.span) == Some(call.span) {
                continue;
            }
            diag = diag.at(call.span, format!("in this call of `{}`", call.callee));
        }
        diag
    }
}
