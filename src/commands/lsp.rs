//! `ttc lsp`: the language server.

use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::plain;
use ttc::source::SourceMap;

use super::Report;

pub(crate) fn lsp() -> Report {
    match ttc::lsp::serve() {
        Ok(()) => Report::default(),
        Err(e) => {
            let error =
                Diagnostic::error(&codes::cli::LANGUAGE_SERVER, format!("the language server stops: {}", plain(&e)));
            Report::errors(
                vec![error.help("an editor starts it and talks to it; docs/editors.md says how")],
                SourceMap::default(),
            )
        }
    }
}
