//! Parsing a text in a test, and its diagnostics as text.

use std::fmt::Write;

use ttc::diag::{Diagnostic, Place};
use ttc::parser::ast::Module;
use ttc::parser::parse_module;
use ttc::source::SourceMap;

pub(crate) fn parse(text: &str) -> (SourceMap, Module, Vec<Diagnostic>) {
    let mut map = SourceMap::default();
    let file = map.add("test.py", None, text);
    let (module, errors) = parse_module(&map, file);
    (map, module, errors)
}

/// `line:col: code: message` with labels, notes and help below.
pub(crate) fn render(map: &SourceMap, errors: &[Diagnostic]) -> String {
    let at = |place: &Place| match place {
        Place::Span(span) => {
            let at = map.line_col(*span);
            format!("{}:{} `{}`", at.line, at.col, map.text(*span).escape_debug())
        }
        other => format!("{other:?}"),
    };
    let mut out = String::new();
    for e in errors {
        let place = e.place().map(&at).unwrap_or_default();
        writeln!(out, "{place}: {}: {}", e.code.id, e.message).unwrap();
        for (i, label) in e.labels.iter().enumerate() {
            writeln!(out, "    {} {}", if i == 0 { String::new() } else { at(&label.place) }, label.text).unwrap();
        }
        if let Some(help) = &e.help {
            writeln!(out, "    help: {help}").unwrap();
        }
    }
    out
}
