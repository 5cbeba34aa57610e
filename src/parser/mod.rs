//! The parser of kernel files: from tokens to the syntax tree.
//!
//! 1. [`crate::lexer`] gives logical lines and blocks.
//! 2. `items.rs` walks the top level, `functions.rs` and `blocks.rs` what lies inside functions; they cut the stream
//!    into logical lines.
//! 3. `feed.rs` hands each line to the lalrpop grammar (`grammar.lalrpop`), whose actions (`cx.rs`, `make.rs`,
//!    `params.rs`, `strings.rs`, `yard.rs`) build [`ast`] nodes. `explain.rs` puts its refusals into words.
//! 4. `changes.rs` finds the top-level names whose values host code changes.
//!
//! Because every line is parsed by itself, a syntax error costs that line only and one run reports all of them: every
//! one in a kernel, that is, a function with a jit-like decorator (`functions.rs` says which), the first one in each
//! function of the host. Host code may hold whatever Python 3 takes, also where this parser has bounds that Python has
//! not ([`limits::is_limit`]): what passes them leaves nothing in the tree.
//!
//! For example, a file may hold `import x`, `print(y)`, `print z` and a `@triton.jit` function. The tree then holds the
//! import and the function, `print(y)` is passed over, and `print z` is an error.

pub mod ast;
mod blocks;
mod changes;
mod cx;
mod explain;
mod feed;
mod functions;
mod headers;
mod items;
pub mod limits;
mod line;
mod make;
mod params;
mod strings;
pub mod visit;
mod yard;

#[allow(
    clippy::pedantic,
    clippy::restriction,
    clippy::all,
    unused,
    unreachable_pub,
    unused_qualifications,
    missing_docs
)]
mod grammar {
    lalrpop_util::lalrpop_mod!(generated, "/parser/grammar.rs");
    pub(super) use generated::LineParser;
}

use crate::diag::codes::syntax;
use crate::diag::{Diagnostic, Place};
use crate::lexer::{LexErrorKind, lex};
use crate::source::{FileId, SourceMap, Span};

use blocks::Parser;
use cx::Cx;

/// Parses a file into what its kernels can refer to, and its syntax errors in the order of their places.
///
/// The tree is useful even with errors: statements that did not parse are missing, and their functions are marked
/// [`broken`](ast::FunctionDef::broken).
#[must_use]
pub fn parse_module(map: &SourceMap, file: FileId) -> (ast::Module, Vec<Diagnostic>) {
    let text = &*map.file(file).text;
    let span = Span { file, lo: 0, hi: text.len() as u32 };
    let lexed = lex(text);
    let mut parser = Parser::new(Cx::new(text, file, false), &lexed);
    let mut items = vec![];
    while parser.peek() != crate::lexer::Tok::End {
        items.extend(parser.items());
        // A `Dedent` at the top level would end the items early. There is none, but nothing should depend on that.
        parser.at += usize::from(parser.peek() == crate::lexer::Tok::Dedent);
    }
    let mut errors = std::mem::take(&mut parser.reported);
    errors.append(&mut parser.cx.host);
    let count = parser.cx.count;
    whole_file_errors(&mut parser.cx, &lexed, &mut errors);
    // Two versions of a text make no sense in one file, so what else was found is no help.
    let conflicts = explain::conflicts(&parser.cx, &lexed.errors);
    if !conflicts.is_empty() {
        errors = conflicts;
    }
    errors.sort_by_key(position);
    if count > limits::MAX_ERRORS {
        errors.push(too_many(&parser.cx, count));
    }
    let place = |(name, (lo, hi))| (name, Span { file, lo, hi });
    let placed = |changed: changes::Changed| changed.into_iter().map(place).collect();
    let changes::Changes { file: changes, inner } = changes::changes(text, &lexed);
    let inner_changes = inner.into_iter().map(|(at, changed)| (at, placed(changed))).collect();
    (ast::Module { items, changes: placed(changes), inner_changes, span }, errors)
}

/// Parses a stand-alone expression, such as the value of `-D NAME=VALUE`. The text is added to the map under `name`, so
/// that the diagnostics can be shown.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_expr_str(map: &mut SourceMap, name: &str, text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    let file = map.add(name, None, text);
    let mut cx = Cx::new(text, file, true);
    match feed::expression(&mut cx, 0, text.len()) {
        Some(expr) if cx.errors.is_empty() => Ok(expr),
        _ => Err(cx.errors),
    }
}

/// Reports errors that concern a file even where no kernel is: characters that are no text, and a string that swallows
/// the rest of the file.
fn whole_file_errors(cx: &mut Cx<'_>, lexed: &crate::lexer::Lexed, errors: &mut Vec<Diagnostic>) {
    if let Some(at) = cx.text.find('\0') {
        let error = Diagnostic::error(&syntax::NUL_BYTE, "the file holds a NUL byte and is not source text");
        errors.push(error.at(cx.span(at as u32, at as u32 + 1), "the first one"));
    }
    for error in lexed.errors.iter().filter(|e| e.kind == LexErrorKind::TripleString) {
        let error = explain::lexical(cx, error);
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
}

fn position(error: &Diagnostic) -> u32 {
    match error.place() {
        Some(Place::Span(span)) => span.lo,
        _ => 0,
    }
}

fn too_many(cx: &Cx<'_>, count: usize) -> Diagnostic {
    let more = count - limits::MAX_ERRORS;
    let at_least = if count >= limits::GIVE_UP { "at least " } else { "" };
    let s = if more == 1 { "" } else { "s" };
    let end = cx.text.len() as u32;
    Diagnostic::error(&syntax::TOO_MANY_ERRORS, format!("and {at_least}{more} more syntax error{s} in this file"))
        .at(cx.span(end, end), format!("only the first {} are shown", limits::MAX_ERRORS))
}
