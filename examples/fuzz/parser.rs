//! The check of the parser's fuzz target, for the loop in `main.rs` and for cargo-fuzz.

use ttc::diag::Place;
use ttc::parser::{ast::dump, parse_expr_str, parse_module};
use ttc::source::SourceMap;

/// Parses the text as a file and, if it is short, as an expression; panics on what must never happen.
pub(crate) fn check(text: &str) {
    let mut map = SourceMap::default();
    let file = map.add("fuzz.py", None, text);
    let (module, errors) = parse_module(&map, file);
    for error in &errors {
        assert!(!error.labels.is_empty(), "a message without a place: {error:?}");
        for label in &error.labels {
            let Place::Span(span) = &label.place else { panic!("not a span: {error:?}") };
            assert!(text.get(span.lo as usize..span.hi as usize).is_some(), "not in the text: {error:?}");
        }
    }
    let broken = module.functions().iter().any(|f| f.broken);
    assert!(!broken || !errors.is_empty(), "a broken kernel without a message");
    // Walks the whole tree; a depth that the limits miss overflows here.
    let tree = dump::module(&module);
    assert!(tree.len() < 1 << 30);
    if text.len() < 200 {
        let _ = parse_expr_str(&mut map, "expression", text);
    }
}
