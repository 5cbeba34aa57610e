//! The diagnostic: a code, a message, labels that point into the source, and what else there is to say.

use super::code::Code;
use crate::source::Span;

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

/// A change of the source that does what the help says. Tools can make it for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, as an order: "write `tl.arange`".
    pub title: String,
    /// Places with the text that replaces each. They do not overlap.
    pub edits: Vec<(Span, String)>,
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
    /// The same for a tool. It is boxed because most diagnostics have none.
    pub fix: Option<Box<Fix>>,
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
        Diagnostic { code, severity, message: message.into(), labels: vec![], notes: vec![], help: None, fix: None }
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

    /// Adds a change that ends the fault: this text in place of what stands at `span`.
    pub fn fix(self, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        let title = format!("write `{}`", text.trim());
        self.fix_all(title, vec![(span, text)])
    }

    /// Adds a change in several places.
    pub fn fix_all(mut self, title: impl Into<String>, edits: Vec<(Span, String)>) -> Diagnostic {
        self.fix = Some(Box::new(Fix { title: title.into(), edits }));
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
