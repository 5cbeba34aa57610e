//! Rendering of diagnostics: `human` (boxes and carets, through ariadne), `short` (one line each) and `json` (one
//! object a line).
//!
//! 1. Every label's place is resolved to a name and, where it has one, a range of lines and columns ([`Located`]). A
//!    span is clamped to its file; a line and column of an IR location is looked up by file name, first among the
//!    loaded files, then through [`RenderOptions::load`].
//! 2. The chosen format prints the resolved labels. None of them reads a source line beyond what it shows, so a line of
//!    megabytes costs no more than a short one, and no control character of a source reaches the terminal.
//!
//! # Example
//! The short form: `add.tk:3:9: error[E0203]: unknown name `offs`; help: did you mean `offsets`?`

mod human;
mod json;
mod short;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::{Code, Diagnostic, Place, codes};
use crate::source::{FileId, LineCol, SourceMap};

/// The value of `--error-format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// The source line with a caret, notes and help.
    #[default]
    Human,
    /// `file:line:col: error[E0203]: message; help: …`
    Short,
    /// One JSON object a line.
    Json,
}

/// Gives the text of a file by name, if it can.
pub type Load<'a> = dyn Fn(&str) -> Option<Arc<str>> + 'a;

/// How to render. The caller decides about colour, since it knows `--color`, `NO_COLOR` and the terminal.
#[derive(Clone, Copy, Default)]
pub struct RenderOptions<'a> {
    pub format: Format,
    pub color: bool,
    /// Reads a file that an IR location names but that was never loaded, such as the kernel behind a `.ttir` file.
    /// Without it, or where it gives `None`, the place is printed without its source line.
    pub load: Option<&'a Load<'a>>,
}

/// Renders the diagnostics in the order given. Each ends with a line break.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, options: &RenderOptions) -> String {
    let mut resolver = Resolver { sources: sources.clone(), load: options.load, loaded: BTreeMap::new() };
    let located: Vec<(&Diagnostic, Vec<Located>)> = diagnostics
        .iter()
        .map(|d| (d, d.labels.iter().map(|l| resolver.locate(&l.place, &l.text)).collect()))
        .collect();
    match options.format {
        Format::Human => human::render(&located, &resolver.sources, options.color),
        Format::Short => located.iter().map(|(d, labels)| short::line(d, labels)).collect(),
        Format::Json => located
            .iter()
            .map(|(d, labels)| {
                let edits: Vec<Located> = d
                    .fix
                    .iter()
                    .flat_map(|fix| &fix.edits)
                    .map(|(span, text)| resolver.locate(&Place::Span(*span), text))
                    .collect();
                json::line(d, labels, &edits)
            })
            .collect(),
    }
}

/// The file of a diagnostic as messages name it, with line and column where it has them.
#[must_use]
pub fn position(d: &Diagnostic, sources: &SourceMap) -> Option<(String, Option<LineCol>)> {
    let mut resolver = Resolver { sources: sources.clone(), load: None, loaded: BTreeMap::new() };
    let Located { file, range, .. } = resolver.locate(d.place()?, "");
    Some((file, range.map(|(start, _)| start)))
}

/// What `ttc explain CODE` prints.
#[must_use]
pub fn explain(code: &Code) -> String {
    format!("{}: {}\n\n{}\n", code.id, code.title, code.explain.trim())
}

/// All codes with their titles, one a line, for `ttc explain` without a code.
#[must_use]
pub fn list_codes() -> String {
    codes::all().fold(String::new(), |mut text, code| {
        let _ = writeln!(text, "{}  {}", code.id, code.title);
        text
    })
}

/// How many characters of a file name are shown: no system has longer paths.
const NAME: usize = 4096;

/// A label whose place is resolved.
struct Located {
    /// File name as shown to the user.
    file: String,
    /// The first position and the position after the last, 1-based. `None` stands for a whole file.
    range: Option<(LineCol, LineCol)>,
    /// The file with that name, if it is loaded and the position lies in it.
    id: Option<FileId>,
    /// One line of text, without control characters.
    text: String,
}

impl Located {
    /// `file:line:col`, or the file alone.
    fn to_text(&self) -> String {
        match self.range {
            Some((start, _)) => format!("{}:{}:{}", self.file, start.line, start.col),
            None => self.file.clone(),
        }
    }
}

/// Finds the file behind a place, loading it when it must.
struct Resolver<'a> {
    sources: SourceMap,
    load: Option<&'a Load<'a>>,
    /// The answers of [`Resolver::load`], so that a missing file is asked for once.
    loaded: BTreeMap<String, Option<FileId>>,
}

impl Resolver<'_> {
    fn locate(&mut self, place: &Place, text: &str) -> Located {
        let text = one_line(text, 400);
        match place {
            Place::Span(span) => {
                let Some(file) = self.sources.get(span.file) else {
                    return Located { file: "<unknown>".to_owned(), range: None, id: None, text };
                };
                let (lo, hi) = clamp(&file.text, span.lo, span.hi);
                let range = Some((file.line_col(lo), file.line_col(hi)));
                Located { file: one_line(&file.name, NAME), range, id: Some(span.file), text }
            }
            Place::File(name) => Located { file: one_line(name, NAME), range: None, id: None, text },
            Place::At { file, line: 0, .. } => Located { file: one_line(file, NAME), range: None, id: None, text },
            Place::At { file, line, col } => {
                let start = LineCol { line: *line, col: (*col).max(1) };
                let id = self.find(file).filter(|&id| self.sources.file(id).offset(start).is_some());
                let end = id.map_or(start, |id| word_end(self.sources.file(id).line(*line), start));
                Located { file: one_line(file, NAME), range: Some((start, end)), id, text }
            }
        }
    }

    /// The file with this name or path.
    fn find(&mut self, name: &str) -> Option<FileId> {
        let by_path = || {
            self.sources
                .iter()
                .find(|(_, f)| f.path.as_deref().is_some_and(|p| p.as_os_str() == name))
                .map(|(id, _)| id)
        };
        if let Some(id) = self.sources.find(name).or_else(by_path) {
            return Some(id);
        }
        if let Some(known) = self.loaded.get(name) {
            return *known;
        }
        let id = self.load.and_then(|load| load(name)).map(|text| self.sources.add(name, None, text));
        self.loaded.insert(name.to_owned(), id);
        id
    }
}

/// A byte range clamped to the text and moved to character boundaries: the start goes down, the end up. A backwards
/// range becomes empty.
fn clamp(text: &str, lo: u32, hi: u32) -> (u32, u32) {
    let mut lo = (lo as usize).min(text.len());
    let mut hi = (hi as usize).min(text.len());
    while !text.is_char_boundary(lo) {
        lo -= 1;
    }
    while !text.is_char_boundary(hi) {
        hi += 1;
    }
    (lo as u32, hi.max(lo) as u32)
}

/// The column after the word that starts at a position, or after one character. For `x = load(p)` and column 5 it is
/// column 9.
fn word_end(line: &str, start: LineCol) -> LineCol {
    let skip = start.col as usize - 1;
    let word = line.chars().skip(skip).take(80).take_while(|c| c.is_alphanumeric() || *c == '_').count();
    LineCol { line: start.line, col: start.col + word.max(1) as u32 }
}

/// A character that a terminal shows as itself. Control characters and those that reorder text become `�`, and other
/// white space becomes a blank.
fn visible(c: char) -> char {
    match c {
        '\t' | ' ' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        c if c.is_whitespace() => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Cuts a text to one line of at most `limit` characters. A run of line breaks becomes one blank.
fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut pending = false;
    for (count, c) in text.trim().chars().enumerate() {
        if count >= limit {
            line.push('…');
            break;
        }
        if matches!(c, '\n' | '\r') {
            pending = true;
            continue;
        }
        if std::mem::take(&mut pending) {
            line.push(' ');
        }
        line.push(visible(c));
    }
    line
}

/// Cuts each line of a text to 1000 characters. Of more than 80 lines the middle is left out.
fn many_lines(text: &str) -> String {
    const EDGE: usize = 40;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let clipped = |l: &&str| {
        let indent: String = l.chars().take_while(|c| *c == ' ').take(80).collect();
        indent + &one_line(l, 1000)
    };
    if lines.len() <= 2 * EDGE {
        return lines.iter().map(clipped).collect::<Vec<_>>().join("\n");
    }
    let mut shown: Vec<String> = lines[..EDGE].iter().map(clipped).collect();
    shown.push(format!("… {} lines …", lines.len() - 2 * EDGE));
    shown.extend(lines[lines.len() - EDGE..].iter().map(clipped));
    shown.join("\n")
}
