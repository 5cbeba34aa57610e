//! Diagnostics as the protocol has them.
//!
//! A diagnostic is shown in the document at the first of its labels that lies there: a fault of an imported helper
//! shows at the call that leads to it. The other labels are related places.

use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri};

use super::library;
use super::positions::Encoding;
use crate::diag::{Diagnostic, Label, Place, Severity};
use crate::source::{FileId, LineCol, SourceMap, Span};

/// The diagnostics of a document. `own` is its file, `uri` its URI.
#[must_use]
pub(super) fn of_document(
    said: &[Diagnostic],
    sources: &SourceMap,
    own: FileId,
    uri: &Uri,
    encoding: Encoding,
) -> Vec<lsp_types::Diagnostic> {
    said.iter().map(|d| one(d, sources, own, uri, encoding)).collect()
}

fn one(d: &Diagnostic, sources: &SourceMap, own: FileId, uri: &Uri, encoding: Encoding) -> lsp_types::Diagnostic {
    let spans: Vec<Option<Span>> = d.labels.iter().map(|l| span(l, sources)).collect();
    let main = spans.iter().position(|s| s.is_some_and(|s| s.file == own));
    let range = main.and_then(|i| spans[i]).map(|s| encoding.range(sources.file(own), s)).unwrap_or_default();
    let related = d.labels.iter().zip(&spans).enumerate().filter(|(i, _)| Some(*i) != main);
    let related: Vec<DiagnosticRelatedInformation> = related
        .filter_map(|(_, (label, span))| {
            let span = (*span)?;
            let uri = if span.file == own { uri.clone() } else { library::uri_of(sources, span.file)? };
            let range = encoding.range(sources.file(span.file), span);
            Some(DiagnosticRelatedInformation { location: Location { uri, range }, message: label.text.clone() })
        })
        .collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match d.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Remark => DiagnosticSeverity::INFORMATION,
            Severity::Note => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(d.code.id.to_owned())),
        source: Some("ttc".to_owned()),
        message: message(d, main),
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

/// The message with what stands at its place, the notes and the help, a line each.
fn message(d: &Diagnostic, main: Option<usize>) -> String {
    let label = main.map(|i| d.labels[i].text.as_str()).filter(|t| !t.is_empty());
    let mut text = match label {
        Some(label) => format!("{} ({label})", d.message),
        None => d.message.clone(),
    };
    for note in &d.notes {
        text.push_str("\nnote: ");
        text.push_str(note);
    }
    if let Some(help) = &d.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    text
}

/// Where a label points, if that is a place in a file that was read.
#[must_use]
fn span(label: &Label, sources: &SourceMap) -> Option<Span> {
    match &label.place {
        Place::Span(span) => sources.get(span.file).map(|_| *span),
        Place::At { file, line, col } => {
            let file = sources.find(file)?;
            let lo = sources.file(file).offset(LineCol { line: *line, col: *col })?;
            let rest = &sources.file(file).text[lo as usize..];
            let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            Some(Span { file, lo, hi: lo + word as u32 })
        }
        Place::File(_) => None,
    }
}

/// Whether two ranges touch.
#[must_use]
pub(super) fn overlap(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}
