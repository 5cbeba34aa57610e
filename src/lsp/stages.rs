//! The analysis of a file of IR: TTIR or TTGIR.

use crate::diag::Diagnostic;
use crate::ir::Ir;
use crate::ir::text::ParseOptions;
use crate::ir::text::lexer::{self, Tok};
use crate::ir::text::marks::{self, Mark, Named};
use crate::layout;
use crate::source::{FileId, SourceMap, Span};

/// What is known of a file of IR.
pub(super) struct StageFile {
    pub(super) ir: Ir,
    /// The names of values, blocks and aliases, in the order of the text.
    marks: Vec<Mark>,
    /// The names of functions: place, name, whether it is defined there.
    symbols: Vec<(Span, String, bool)>,
}

/// Reads and verifies a file of IR.
pub(super) fn analyse(sources: &SourceMap, file: FileId) -> (StageFile, Vec<Diagnostic>) {
    let read = marks::read(sources, file, &ParseOptions { allow_unregistered: false, ..ParseOptions::default() });
    let said = match read.fault {
        Some(fault) => vec![fault],
        None => layout::verify(&read.ir),
    };
    let symbols = symbols(&sources.file(file).text, file);
    (StageFile { ir: read.ir, marks: read.marks, symbols }, said)
}

/// The symbols of a text. One behind the name of a function is its definition.
fn symbols(text: &str, file: FileId) -> Vec<(Span, String, bool)> {
    let mut found = vec![];
    let (mut at, mut defines) = (0, false);
    loop {
        let t = lexer::token(text, at);
        let word = text.get(t.start..t.end).unwrap_or("");
        match t.kind {
            Tok::End => return found,
            Tok::Symbol => {
                let span = Span { file, lo: t.start as u32, hi: t.end as u32 };
                found.push((span, word.to_owned(), std::mem::take(&mut defines)));
            }
            Tok::Word if word.rsplit('.').next() == Some("func") || word == "llvm.mlir.global" => defines = true,
            Tok::Word if matches!(word, "public" | "private" | "nested" | "external" | "internal") => {}
            _ => defines = false,
        }
        // Every token but the last has a character.
        at = t.end.max(at + 1);
    }
}

impl StageFile {
    /// The mark at an offset.
    #[must_use]
    pub(super) fn at(&self, offset: u32) -> Option<&Mark> {
        let within = |m: &&Mark| m.span.lo <= offset && offset < m.span.hi;
        self.marks.iter().find(within).or_else(|| self.marks.iter().find(|m| m.span.touches(offset)))
    }

    /// The places of the name at an offset, each with whether it is defined there. `text` is the file's.
    #[must_use]
    pub(super) fn places(&self, text: &str, offset: u32) -> Vec<(Span, bool)> {
        if let Some(mark) = self.at(offset) {
            let word = |s: Span| &text[s.lo as usize..s.hi as usize];
            // Two aliases may stand for one attribute.
            let by_name = matches!(mark.what, Named::Attr(_) | Named::Type(_));
            let same = |m: &&Mark| m.what == mark.what && (!by_name || word(m.span) == word(mark.span));
            return self.marks.iter().filter(same).map(|m| (m.span, m.defines)).collect();
        }
        let Some((_, name, _)) = self.symbols.iter().find(|(span, ..)| span.touches(offset)) else { return vec![] };
        self.symbols.iter().filter(|(_, n, _)| n == name).map(|(span, _, defines)| (*span, *defines)).collect()
    }
}
