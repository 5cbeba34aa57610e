//! Quick fixes: the changes that diagnostics bring with them.

use std::collections::HashMap;

use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri, WorkspaceEdit};

use super::analysis::Analysis;
use super::diagnostics::{of_document, overlap};
use super::library;
use super::positions::Encoding;
use crate::diag::{Diagnostic, Fix};

/// The fixes of the diagnostics that touch a range.
#[must_use]
pub(super) fn actions(a: &Analysis, range: Range, uri: &Uri, encoding: Encoding) -> Vec<CodeActionOrCommand> {
    let shown = of_document(&a.diagnostics, &a.sources, a.file, uri, encoding);
    let touched = a.diagnostics.iter().zip(shown).filter(|(_, shown)| overlap(shown.range, range));
    let action = |(d, shown): (&Diagnostic, lsp_types::Diagnostic)| {
        let fix = d.fix.as_ref()?;
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: fix.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            edit: Some(edit(a, fix, uri, encoding)?),
            diagnostics: Some(vec![shown]),
            is_preferred: Some(true),
            ..CodeAction::default()
        }))
    };
    touched.filter_map(action).collect()
}

/// The edits of a fix. One in the library cannot be made.
#[allow(clippy::mutable_key_type)] // the protocol's crate has it so
fn edit(a: &Analysis, fix: &Fix, own: &Uri, encoding: Encoding) -> Option<WorkspaceEdit> {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (span, text) in &fix.edits {
        if span.file.is_embedded() {
            return None;
        }
        let uri = if span.file == a.file { own.clone() } else { library::uri_of(&a.sources, span.file)? };
        let range = encoding.range(a.sources.file(span.file), *span);
        changes.entry(uri).or_default().push(TextEdit { range, new_text: text.clone() });
    }
    Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}
