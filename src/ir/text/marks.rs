//! Where the names of a module stand in its text: for editors, which go to definitions and look for uses.
//!
//! The parser leaves a [`Mark`] for each name that it reads, if it is asked to. A fault ends the reading, but what was
//! read before it is kept.
//!
//! Example: `%1 = arith.addi %0, %0 : i32` leaves a mark that defines the value `%1` and two that use `%0`.

use super::lexer::{self, Token};
use super::parser::{Meaning, ParseOptions, Parser};
use crate::diag::Diagnostic;
use crate::ir::core::{Attr, Block, Ir, Type, Value};
use crate::source::{FileId, SourceMap, Span};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    Value(Value),
    Block(Block),
    /// The alias of an attribute, such as a layout.
    Attr(Attr),
    /// The alias of a type.
    Type(Type),
}

/// A name in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub span: Span,
    pub what: Named,
    /// Whether the name gets its meaning here.
    pub defines: bool,
}

/// What was read of a file.
pub struct Read {
    /// The module, as far as it was read.
    pub ir: Ir,
    /// The names in the order of the text.
    pub marks: Vec<Mark>,
    /// What ended the reading.
    pub fault: Option<Diagnostic>,
}

/// Reads a module as [`super::parse_module`] does, with the places of its names.
#[must_use]
pub fn read(map: &SourceMap, file: FileId, opts: &ParseOptions) -> Read {
    let mut parser = Parser::new(map, file, *opts);
    parser.marks = Some(Marks::default());
    let fault = parser.file().err().map(|d| *d);
    let Marks { mut marks, replaced } = parser.marks.take().unwrap_or_default();
    for mark in &mut marks {
        if let Named::Value(value) = &mut mark.what
            && let Some(&(_, now)) = replaced.iter().find(|(placeholder, _)| placeholder == value)
        {
            *value = now;
        }
    }
    marks.sort_by_key(|m| (m.span.lo, m.span.hi));
    marks.dedup();
    Read { ir: parser.ir, marks, fault }
}

/// What the parser collects.
#[derive(Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    /// Placeholders of values that were used before their definition, with the values.
    replaced: Vec<(Value, Value)>,
}

impl Parser<'_> {
    pub(super) fn mark(&mut self, span: Span, what: Named, defines: bool) {
        if let Some(marks) = &mut self.marks {
            marks.marks.push(Mark { span, what, defines });
        }
    }

    /// Marks the name of an alias. A definition begins its line, and `=` follows it.
    pub(super) fn mark_alias(&mut self, at: Token, meaning: Meaning) {
        let follows = lexer::token(self.text, at.end);
        let begins = self.text[..at.start].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n');
        let defines = self.word_of(follows) == "=" && begins;
        match meaning {
            Meaning::Attr(attr) => self.mark(self.span(at), Named::Attr(attr), defines),
            Meaning::Type(ty) => self.mark(self.span(at), Named::Type(ty), defines),
            Meaning::Loc(_) => {}
        }
    }

    pub(super) fn mark_replaced(&mut self, placeholder: Value, value: Value) {
        if let Some(marks) = &mut self.marks {
            marks.replaced.push((placeholder, value));
        }
    }
}
