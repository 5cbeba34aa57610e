//! Messages of the compiler as a value that can be shown, walked, or given to a tool.

use std::fmt;
use std::sync::Arc;

use crate::diag::render::{self, Format};
use crate::diag::{Diagnostic, Severity};
use crate::driver::repeated;
use crate::source::SourceMap;
use crate::text_file;

/// Errors, warnings and remarks, with the sources that they point into.
///
/// It displays as `ttc` prints it, without colour. Iterating over it gives one [`Message`] each.
///
/// ```
/// # use ttc::{Compiler, Options, Source, Target};
/// let source = Source::text("bad.tk", "import triton\n\n@triton.jit\ndef bad(x):\n    y = x +\n");
/// let errors = Compiler::new(Target::usual()).compile(&source, &Options::new()).unwrap_err();
/// let first = errors.iter().next().unwrap();
/// assert_eq!((first.file.as_deref(), first.line), (Some("bad.tk"), Some(5)));
/// assert!(errors.to_string().contains("bad.tk:5:"));
/// assert!(errors.to_json().starts_with("{\"code\":\"E"));
/// ```
#[derive(Clone, Default)]
pub struct Diagnostics {
    groups: Vec<(Vec<Diagnostic>, SourceMap)>,
}

/// One diagnostic with its place resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The code, such as `E0203`. `ttc explain E0203` says more about it.
    pub code: &'static str,
    pub severity: Severity,
    /// What happened.
    pub message: String,
    /// The file as the user named it, if the message is about one.
    pub file: Option<String>,
    /// The line, from 1 on.
    pub line: Option<u32>,
    /// The column in characters, from 1 on.
    pub column: Option<u32>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// What the user can do.
    pub help: Option<String>,
}

impl Diagnostics {
    /// The messages in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = Message> + '_ {
        self.groups.iter().flat_map(|(said, sources)| said.iter().map(|d| message(d, sources)))
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all().count()
    }

    /// Whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether one of the messages is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.all().any(Diagnostic::is_error)
    }

    /// The messages as one JSON object a line, with the keys of `ttc --error-format json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.render(Format::Json, false)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn new(said: Vec<Diagnostic>, sources: SourceMap) -> Diagnostics {
        Diagnostics { groups: vec![(said, sources)] }
    }

    #[doc(hidden)]
    pub fn push(&mut self, said: Vec<Diagnostic>, sources: SourceMap) {
        self.groups.push((said, sources));
    }

    #[doc(hidden)]
    pub fn extend(&mut self, more: Diagnostics) {
        self.groups.extend(more.groups);
    }

    /// Leaves out errors that were said before.
    #[doc(hidden)]
    pub fn errors_once(&mut self) {
        repeated::once(&mut self.groups, Diagnostic::is_error);
    }

    /// Leaves out what was said before.
    #[doc(hidden)]
    pub fn warnings_once(&mut self) {
        repeated::once(&mut self.groups, |_| true);
    }

    #[doc(hidden)]
    pub fn all(&self) -> impl Iterator<Item = &Diagnostic> {
        self.groups.iter().flat_map(|(said, _)| said)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn render(&self, format: Format, color: bool) -> String {
        // A stage file names the kernel behind it in its locations. That file is read when a message points there.
        let load = |name: &str| text_file::read_plain_file(name.as_ref()).ok().map(Arc::from);
        let options = render::RenderOptions { format, color, load: Some(&load) };
        self.groups.iter().map(|(said, sources)| render::render(said, sources, &options)).collect()
    }
}

fn message(d: &Diagnostic, sources: &SourceMap) -> Message {
    let (file, at) = render::position(d, sources).unzip();
    let (line, column) = at.flatten().map(|p| (p.line, p.col)).unzip();
    Message {
        code: d.code.id,
        severity: d.severity,
        message: d.message.clone(),
        file,
        line,
        column,
        notes: d.notes.clone(),
        help: d.help.clone(),
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Format::Human, false))
    }
}

/// One line a message, because whoever unwraps a failed compilation wants to read why it failed.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Format::Short, false))
    }
}

impl std::error::Error for Diagnostics {}

impl From<Vec<(Vec<Diagnostic>, SourceMap)>> for Diagnostics {
    fn from(groups: Vec<(Vec<Diagnostic>, SourceMap)>) -> Diagnostics {
        Diagnostics { groups }
    }
}
