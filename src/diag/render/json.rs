//! The `json` format: one object a line, for tools.
//!
//! The keys and their order are part of the command line's contract: `code`, `severity`, `message`, `file`, `line`,
//! `column`, `end_line`, `end_column`, `labels`, `notes`, `help`. Positions are 1-based and `end_column` is exclusive;
//! they are `null` where the diagnostic has none. `labels` holds every label, the primary first, with the same position
//! keys and its `text`. Strings are whole, never clipped.

use serde::Serialize;

use super::Located;
use crate::diag::Diagnostic;

#[derive(Serialize)]
struct Object<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    at: Position<'a>,
    labels: Vec<LabelObject<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
}

#[derive(Serialize, Default)]
struct Position<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
}

#[derive(Serialize)]
struct LabelObject<'a> {
    #[serde(flatten)]
    at: Position<'a>,
    text: &'a str,
}

/// Renders one diagnostic with its line break.
pub(super) fn line(d: &Diagnostic, labels: &[Located]) -> String {
    let object = Object {
        code: d.code.id,
        severity: d.severity.word(),
        message: &d.message,
        at: labels.first().map(position).unwrap_or_default(),
        labels: labels.iter().zip(&d.labels).map(|(at, l)| LabelObject { at: position(at), text: &l.text }).collect(),
        notes: &d.notes,
        help: d.help.as_deref(),
    };
    serde_json::to_string(&object).expect("an object with string keys always serialises") + "\n"
}

fn position(at: &Located) -> Position<'_> {
    let (start, end) = at.range.unzip();
    Position {
        file: Some(&at.file),
        line: start.map(|p| p.line),
        column: start.map(|p| p.col),
        end_line: end.map(|p| p.line),
        end_column: end.map(|p| p.col),
    }
}
