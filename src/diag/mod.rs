//! Diagnostics as data.
//!
//! Library code never prints: it makes [`Diagnostic`]s, and the driver renders them ([`render`]). Each has a [`Code`]
//! from the tables in [`codes`] (`ttc explain CODE` prints the long text), a message that says what was expected and
//! what was found, and labels that point into the source. A label's [`Place`] is either a byte range of a file or the
//! line and column that an IR location carries.

pub mod codes;
pub mod render;
pub mod suggest;

use crate::source::Span;
pub use codes::Code;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    Error,
    Warning,
    Remark,
    Note,
}

impl Severity {
    /// The word used in every output format.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// Where a label points.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A byte range of a file in the source map.
    Span(Span),
    /// A position that an IR location carries, 1-based. The file need not be loaded.
    At { file: String, line: u32, col: u32 },
    /// A file as a whole, by name.
    File(String),
}

impl From<Span> for Place {
    fn from(span: Span) -> Place {
        Place::Span(span)
    }
}

/// A place with a few words about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub place: Place,
    pub text: String,
}

/// One message to the user. The first label is the primary one; its place is the `file:line:col` of the message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct Diagnostic {
    pub code: &'static Code,
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<Label>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// What the user can do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    pub fn warning(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    pub fn remark(code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Remark, code, message)
    }

    fn new(severity: Severity, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, severity, message: message.into(), labels: vec![], notes: vec![], help: None }
    }

    /// Adds a label; the first one added is the primary.
    pub fn at(mut self, place: impl Into<Place>, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { place: place.into(), text: text.into() });
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The primary place.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.labels.first().map(|l| &l.place)
    }

    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
