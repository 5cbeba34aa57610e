//! What the grammar's actions share: the text, the names met so far, and where errors go.
//!
//! Errors are collected according to what is being read. Inside a kernel every error is kept, up to a limit. In a host
//! function or another statement of the host the first one is kept, as an error of the file if Python would refuse it
//! too, and to tell why the function is opaque. It makes the rest of the function be read for its blocks only.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diag::codes::syntax;
use crate::diag::{Code, Diagnostic};
use crate::lexer::number::{self, IntError};
use crate::source::{FileId, Span};

use super::ast::{Constant, Expr, ExprKind, Ident};
use super::limits;

pub(crate) struct Cx<'s> {
    pub(crate) text: &'s str,
    pub(crate) file: FileId,
    names: HashMap<&'s str, Arc<str>>,
    /// Errors of the functions being read, in the order found.
    pub(crate) errors: Vec<Diagnostic>,
    /// Errors of host code that Python would refuse, too.
    pub(crate) host: Vec<Diagnostic>,
    /// Whether a kernel is being read.
    pub(crate) kernel: bool,
    /// Whether the host function being read has failed.
    pub(crate) failed: bool,
    /// How many errors were met, kept or not.
    pub(crate) count: usize,
    /// How many f-strings the place being read is inside of.
    pub(crate) fstring_depth: u32,
}

impl<'s> Cx<'s> {
    pub(crate) fn new(text: &'s str, file: FileId, kernel: bool) -> Cx<'s> {
        Cx {
            text,
            file,
            names: HashMap::new(),
            errors: vec![],
            host: vec![],
            kernel,
            failed: false,
            count: 0,
            fstring_depth: 0,
        }
    }

    pub(crate) fn span(&self, lo: u32, hi: u32) -> Span {
        Span { file: self.file, lo, hi: hi.max(lo) }
    }

    pub(crate) fn slice(&self, lo: u32, hi: u32) -> &'s str {
        self.text.get(lo as usize..hi as usize).unwrap_or("")
    }

    pub(crate) fn report(&mut self, error: Diagnostic) {
        if self.kernel {
            self.count += 1;
            if self.count <= limits::MAX_ERRORS {
                self.errors.push(error);
            }
        } else if !self.failed {
            self.failed = true;
            if !limits::is_limit(&error) {
                self.count += 1;
                if self.count <= limits::MAX_ERRORS {
                    self.host.push(error.clone());
                }
            }
            self.errors.push(error);
        }
    }

    /// Reports an error with one label.
    pub(crate) fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>, label: &str) {
        self.report(Diagnostic::error(code, message).at(span, label));
    }

    /// Whether reading further lines can change the outcome.
    pub(crate) fn reading(&self) -> bool {
        if self.kernel { self.count < limits::GIVE_UP } else { !self.failed }
    }

    fn intern(&mut self, lo: u32, hi: u32) -> Arc<str> {
        let name = self.slice(lo, hi);
        Arc::clone(self.names.entry(name).or_insert_with(|| Arc::from(name)))
    }

    // The grammar's leaves.

    pub(crate) fn expr(&self, lo: u32, hi: u32, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span(lo, hi) }
    }

    pub(crate) fn ident(&mut self, lo: u32, hi: u32) -> Ident {
        Ident { name: self.intern(lo, hi), span: self.span(lo, hi) }
    }

    pub(crate) fn name(&mut self, lo: u32, hi: u32) -> Expr {
        Expr { kind: ExprKind::Name(self.intern(lo, hi)), span: self.span(lo, hi) }
    }

    pub(crate) fn int(&mut self, lo: u32, hi: u32) -> Expr {
        let text = self.slice(lo, hi);
        let value = number::int(text).unwrap_or_else(|error| {
            let span = self.span(lo, hi);
            let report = match error {
                IntError::TooLarge => Diagnostic::error(&syntax::BAD_NUMBER, limits::TOO_LARGE).at(span, "too large"),
                IntError::LeadingZero => {
                    Diagnostic::error(&syntax::BAD_NUMBER, "a decimal integer cannot start with 0")
                        .at(span, "starts with 0")
                        .help(format!(
                            "an octal number is written `0o{0}`, a decimal one `{0}`",
                            text.trim_start_matches(['0', '_'])
                        ))
                }
            };
            self.report(report);
            0
        });
        self.expr(lo, hi, ExprKind::Constant(Constant::Int(value)))
    }

    pub(crate) fn float(&mut self, lo: u32, hi: u32) -> Expr {
        self.expr(lo, hi, ExprKind::Constant(Constant::Float(number::float(self.slice(lo, hi)))))
    }

    pub(crate) fn imaginary(&mut self, lo: u32, hi: u32) -> Expr {
        if self.kernel {
            self.error(
                &syntax::IMAGINARY,
                self.span(lo, hi),
                "a kernel cannot use complex numbers",
                "imaginary literal",
            );
        }
        self.expr(lo, hi, ExprKind::Constant(Constant::Imaginary(number::float(self.slice(lo, hi - 1)))))
    }
}
