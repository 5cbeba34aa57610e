//! The `json` format: one object a line, for tools.
//!
//! The keys and their order are part of the command line's contract: `code`, `severity`, `message`, `file`, `line`,
//! `column`, `end_line`, `end_column`, `labels`, `notes`, `help`, `fix`. Positions are 1-based and `end_column` is
//! exclusive; they are `null` where the diagnostic has none. `labels` holds every label, the primary first, with the
//! same position keys and its `text`. `fix` is `null` or has a `title` and `edits`: position keys and the `text` that
//! replaces what stands there. Strings are whole, never clipped.

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
    fix: Option<FixObject<'a>>,
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

#[derive(Serialize)]
struct FixObject<'a> {
    title: &'a str,
    edits: Vec<LabelObject<'a>>,
}

/// Renders one diagnostic with its line break. `edits` has the places of the edits of its fix.
pub(super) fn line(d: &Diagnostic, labels: &[Located], edits: &[Located]) -> String {
    let object = Object {
        code: d.code.id,
        severity: d.severity.word(),
        message: &d.message,
        at: labels.first().map(position).unwrap_or_default(),
        labels: labels.iter().zip(&d.labels).map(|(at, l)| LabelObject { at: position(at), text: &l.text }).collect(),
        notes: &d.notes,
        help: d.help.as_deref(),
        fix: d.fix.as_ref().map(|fix| FixObject {
            title: &fix.title,
            edits: edits.iter().zip(&fix.edits).map(|(at, (_, text))| LabelObject { at: position(at), text }).collect(),
        }),
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
