//! The `human` format: the message, the source lines with carets, notes and help.
//!
//! 1. A diagnostic whose labels all lie in loaded files, on lines and columns that fit on a screen, is drawn by
//!    ariadne. It gets *sheets*, not the files: a sheet has a file's line numbers, but only the lines that hold an end
//!    of a label have text, cut after [`WIDTH`] characters and without control characters. One sheet a file serves all
//!    diagnostics of a call.
//! 2. Any other diagnostic is drawn plainly: a line `--> file:line:col` for each label and, where the text is there, a
//!    part of the source line around the caret. So a label at column four million of one line shows what is near it.
//!
//! # Example of the plain form
//! ```text
//! error[E0501]: 'arith.addi' op has 1 operand, expected 2
//!   --> kernel.ttir:12:10: in this operation
//!   = note: the operands are the two summands
//!   = help: add the missing operand
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use ariadne::{Cache, Color, Config, Label, LabelAttach, Report, ReportKind, Source};

use super::{Located, many_lines, one_line, visible};
use crate::diag::{Diagnostic, Severity};
use crate::source::{FileId, LineCol, SourceMap};

/// How many characters of a source line a box shows.
const WIDTH: usize = 240;
/// How many characters of a message are shown.
const MESSAGE: usize = 2000;

/// Renders all diagnostics. Each ends with a line break.
pub(super) fn render(located: &[(&Diagnostic, Vec<Located>)], sources: &SourceMap, color: bool) -> String {
    let mut sheets = Sheets::new(located, sources);
    let mut out = String::new();
    for (d, labels) in located {
        let boxed = !labels.is_empty() && labels.iter().all(fits);
        let drawn = if boxed { draw_box(d, labels, &mut sheets, color) } else { None };
        out += &drawn.unwrap_or_else(|| draw_plain(d, labels, sources, color));
    }
    out
}

/// Whether a label can be drawn in a box.
fn fits(l: &Located) -> bool {
    l.id.is_some()
        && l.range.is_some_and(|(start, end)| {
            start.col as usize <= WIDTH && (start.line != end.line || end.col as usize <= WIDTH + 1)
        })
}

/// The first line: `error[E0203]: message`, its first word bold and in the severity's colour.
fn heading(d: &Diagnostic, color: bool) -> String {
    let number = match d.severity {
        Severity::Error => 31,
        Severity::Warning => 33,
        Severity::Remark => 34,
        Severity::Note => 32,
    };
    let (on, off) = if color { (format!("\x1b[1;{number}m"), "\x1b[0m") } else { (String::new(), "") };
    format!("{on}{}[{}]{off}: {}\n", d.severity.word(), d.code.id, one_line(&d.message, MESSAGE))
}

/// The excerpts of the files that labels point into. Ariadne counts the lines of a sheet, so a sheet starts at line 1.
struct Sheets {
    sheets: BTreeMap<FileId, Sheet>,
}

struct Sheet {
    name: String,
    source: Source<String>,
}

impl Sheets {
    fn new(located: &[(&Diagnostic, Vec<Located>)], sources: &SourceMap) -> Sheets {
        let mut lines: BTreeMap<FileId, BTreeSet<u32>> = BTreeMap::new();
        for label in located.iter().flat_map(|(_, labels)| labels).filter(|l| fits(l)) {
            if let (Some(id), Some((start, end))) = (label.id, label.range) {
                lines.entry(id).or_default().extend([start.line, end.line, end.line.saturating_sub(1).max(start.line)]);
            }
        }
        let sheets = lines.into_iter().map(|(id, lines)| (id, Sheet::new(sources, id, &lines))).collect();
        Sheets { sheets }
    }

    /// The character range of a label in its sheet. A position past the cut of a line counts as the cut.
    fn range(&self, l: &Located) -> Option<(FileId, Range<usize>)> {
        let (id, (start, end)) = (l.id?, l.range?);
        let source = &self.sheets.get(&id)?.source;
        let offset = |at: LineCol| {
            let line = source.line(at.line as usize - 1)?;
            // A line of a sheet ends with a line break, unless it is the line of an empty file. A label may point at
            // the line break but not pass it.
            Some(line.offset() + (at.col as usize - 1).min(line.len().saturating_sub(1)))
        };
        let start = offset(start)?;
        Some((id, start..offset(end)?.max(start)))
    }
}

impl Sheet {
    fn new(sources: &SourceMap, id: FileId, lines: &BTreeSet<u32>) -> Sheet {
        let file = sources.file(id);
        let mut text = String::new();
        let mut at = 1;
        for &line in lines {
            text.extend(std::iter::repeat_n('\n', (line - at) as usize));
            at = line + 1;
            let mut chars = file.line(line).chars();
            text.extend(chars.by_ref().take(WIDTH).map(visible));
            text.push_str(if chars.next().is_some() { "…" } else { " " });
            text.push('\n');
        }
        Sheet { name: one_line(&file.name, super::NAME), source: Source::from(text) }
    }
}

impl Cache<FileId> for &mut Sheets {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.sheets.get(id).map(|s| &s.source).ok_or("no sheet for this file")
    }

    fn display<'a>(&self, id: &'a FileId) -> Option<impl std::fmt::Display + 'a> {
        self.sheets.get(id).map(|s| s.name.clone())
    }
}

/// The diagnostic with its labels drawn by ariadne, or `None` when a label has no place on its sheet.
///
/// The heading is ours, the same as the plain form's, and ariadne's first line is dropped. Labels are handed over from
/// top to bottom, the primary's file first: ariadne would otherwise draw a file once for each label that stands above
/// the one before it.
fn draw_box(d: &Diagnostic, labels: &[Located], sheets: &mut Sheets, color: bool) -> Option<String> {
    let config =
        Config::new().with_color(color).with_label_attach(LabelAttach::Start).with_cross_gap(false).with_tab_width(4);
    let ranges: Vec<(FileId, Range<usize>)> = labels.iter().map(|l| sheets.range(l)).collect::<Option<_>>()?;
    let primary = ranges.first()?.clone();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&i| (ranges[i].0 != primary.0, ranges[i].0, labels[i].range.map(|(_, end)| end)));
    let mut report = Report::build(ReportKind::Error, primary).with_config(config);
    for i in order {
        let tint = if i == 0 { main_color(d.severity) } else { Color::Cyan };
        // Ariadne draws no caret for a label without words.
        let words = if labels[i].text.is_empty() { "here" } else { &*labels[i].text };
        report.add_label(Label::new(ranges[i].clone()).with_message(words).with_color(tint).with_priority(-(i as i32)));
    }
    d.notes.iter().for_each(|n| report.add_note(many_lines(n)));
    d.help.iter().for_each(|h| report.add_help(many_lines(h)));
    let mut bytes = Vec::new();
    report.finish().write(sheets, &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let body = text.lines().skip(1).map(|l| l.trim_end().to_owned() + "\n");
    Some(heading(d, color) + &body.collect::<String>())
}

fn main_color(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Remark => Color::Blue,
        Severity::Note => Color::Green,
    }
}

/// The diagnostic without a box.
fn draw_plain(d: &Diagnostic, labels: &[Located], sources: &SourceMap, color: bool) -> String {
    let mut out = heading(d, color);
    for label in labels {
        let text = if label.text.is_empty() { String::new() } else { format!(": {}", label.text) };
        let _ = writeln!(out, "  --> {}{text}", label.to_text());
        if let (Some(id), Some((start, end))) = (label.id, label.range) {
            out += &excerpt(sources.file(id).line(start.line), start, end);
        }
    }
    for (word, text) in d.notes.iter().map(|n| ("note", n)).chain(d.help.iter().map(|h| ("help", h))) {
        let text = many_lines(text).replace('\n', "\n          ");
        let _ = writeln!(out, "  = {word}: {text}");
    }
    out
}

/// The part of a line around a range, and carets below it. Cuts are marked with `…`.
///
/// For column 1000 it shows columns 960 to 1059 and up to 60 carets.
fn excerpt(line: &str, start: LineCol, end: LineCol) -> String {
    const BEFORE: usize = 40;
    let from = (start.col as usize - 1).saturating_sub(BEFORE);
    let mut chars = line.chars().skip(from).map(visible).map(|c| if c == '\t' { ' ' } else { c });
    let shown: String = chars.by_ref().take(100).collect();
    let (left, right) = (if from > 0 { "…" } else { "" }, if chars.next().is_some() { "…" } else { "" });
    let width = if end.line == start.line { end.col.saturating_sub(start.col) as usize } else { usize::MAX };
    let pad = start.col as usize - 1 - from;
    let carets = width.clamp(1, 60).min(shown.chars().count().saturating_sub(pad).max(1));
    let gap = " ".repeat(pad + left.chars().count());
    format!("    | {left}{shown}{right}\n    | {gap}{}\n", "^".repeat(carets))
}
