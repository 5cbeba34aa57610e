//! Hands one logical line to the grammar.
//!
//! 1. A line that is too deep is refused ([`super::limits`]).
//! 2. The [`Feed`] joins `is not` and `not in`, turns `and`, `or` and `is` into operators, and leaves out what the
//!    grammar does not want to see: the parentheses around all items of a `with`, and the type parameters of a `def`.
//! 3. What the grammar refuses is explained ([`super::explain`]).

use std::ops::Range;

use lalrpop_util::ParseError;

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{Op, Tok, Token, lex_flat};

use super::ast::Expr;
use super::cx::Cx;
use super::grammar::LineParser;
use super::line::Line;
use super::{explain, limits};

/// The tokens of a line as the grammar reads them.
struct Feed<'t> {
    tokens: &'t [Token],
    at: usize,
    /// Whether `StartExpr` comes first.
    start: bool,
    /// Token ranges to leave out, in order.
    skip: [Range<usize>; 2],
    /// Where a colon is to be added after the last token.
    colon: Option<u32>,
}

impl Iterator for Feed<'_> {
    type Item = (u32, Tok, u32);

    fn next(&mut self) -> Option<(u32, Tok, u32)> {
        if self.start {
            self.start = false;
            let lo = self.tokens.first().map_or(0, |t| t.lo);
            return Some((lo, Tok::StartExpr, lo));
        }
        for skip in &self.skip {
            if skip.start == self.at && !skip.is_empty() {
                self.at = skip.end;
            }
        }
        let Some(&token) = self.tokens.get(self.at) else {
            return self.colon.take().map(|at| (at, Tok::Colon, at));
        };
        self.at += 1;
        let (tok, hi) = match (token.tok, self.tokens.get(self.at)) {
            (Tok::Is, Some(&Token { tok: Tok::Not, hi, .. })) => (Tok::Op(Op::IsNot), hi),
            (Tok::Not, Some(&Token { tok: Tok::In, hi, .. })) => (Tok::Op(Op::NotIn), hi),
            (Tok::Is, _) => (Tok::Op(Op::Is), token.hi),
            (Tok::And, _) => (Tok::Op(Op::And), token.hi),
            (Tok::Or, _) => (Tok::Op(Op::Or), token.hi),
            (tok, _) => (tok, token.hi),
        };
        if hi != token.hi {
            self.at += 1;
        }
        Some((token.lo, tok, hi))
    }
}

/// Parses a line. If it is wrong, reports that and returns `None`. With `colon`, the line is parsed as if a colon stood
/// at its end.
pub(crate) fn line(cx: &mut Cx<'_>, tokens: &[Token], colon: Option<u32>) -> Option<Line> {
    parse(cx, Feed { tokens, at: 0, start: false, skip: skips(tokens), colon })
}

/// Parses tokens as an expression.
pub(crate) fn tokens(cx: &mut Cx<'_>, tokens: &[Token]) -> Option<Line> {
    parse(cx, Feed { tokens, at: 0, start: true, skip: [0..0, 0..0], colon: None })
}

/// Parses `text[lo..hi]` as an expression.
pub(crate) fn expression(cx: &mut Cx<'_>, lo: usize, hi: usize) -> Option<Expr> {
    let lexed = lex_flat(cx.text, lo, hi);
    if !lexed.errors.is_empty() {
        for error in &lexed.errors {
            let error = explain::lexical(cx, error);
            cx.report(error);
        }
        return None;
    }
    let end = lexed.tokens.len() - 1;
    let tokens = &lexed.tokens[..end];
    if tokens.is_empty() {
        let span = cx.span(lo as u32, hi as u32);
        cx.error(&syntax::UNEXPECTED_TOKEN, span, "expected an expression, found nothing", "here");
        return None;
    }
    match self::tokens(cx, tokens)? {
        Line::Expr(expr) => Some(expr),
        _ => None,
    }
}

fn parse(cx: &mut Cx<'_>, feed: Feed<'_>) -> Option<Line> {
    let tokens = feed.tokens;
    if let Some(token) = limits::too_deep(tokens) {
        let message = format!("the expression is nested deeper than {} levels", limits::MAX_EXPRESSION_DEPTH);
        let error = Diagnostic::error(&syntax::TOO_DEEP, message)
            .at(cx.span(token.lo, token.hi), "too deep from here")
            .help("give parts of it names");
        cx.report(error);
        return None;
    }
    let before = cx.errors.len() + cx.count;
    match LineParser::new().parse(cx, feed) {
        // If an action reported an error, nobody should compile the tree that it left.
        Ok(line) if before == cx.errors.len() + cx.count => Some(*line),
        Ok(_) => None,
        Err(error) => {
            let error = match error {
                ParseError::UnrecognizedToken { token: (lo, tok, hi), expected } => {
                    explain::unexpected(cx, tokens, Some((lo, tok, hi)), &expected)
                }
                ParseError::UnrecognizedEof { expected, .. } => explain::unexpected(cx, tokens, None, &expected),
                ParseError::InvalidToken { location } => {
                    explain::unexpected(cx, tokens, Some((location, Tok::Error, location)), &[])
                }
                ParseError::ExtraToken { token } => explain::unexpected(cx, tokens, Some(token), &[]),
                ParseError::User { error: () } => return None,
            };
            cx.report(error);
            None
        }
    }
}

/// The tokens of a header that the grammar does not see.
fn skips(tokens: &[Token]) -> [Range<usize>; 2] {
    let tok = |i: usize| tokens.get(i).map(|t| t.tok);
    match (tok(0), tok(1), tok(2)) {
        (Some(Tok::Def), Some(Tok::Name), Some(Tok::LBracket)) => {
            let close = closing(tokens, 2);
            [2..close.map_or(2, |c| c + 1), 0..0]
        }
        (Some(Tok::With), Some(Tok::LParen), _) => match closing(tokens, 1) {
            Some(close) if is_colon_or_end(tok(close + 1)) && holds_items(&tokens[2..close]) => {
                [1..2, close..close + 1]
            }
            _ => [0..0, 0..0],
        },
        _ => [0..0, 0..0],
    }
}

fn is_colon_or_end(tok: Option<Tok>) -> bool {
    matches!(tok, None | Some(Tok::Colon))
}

/// The index of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        if token.tok.opens() {
            depth += 1;
        } else if token.tok.opener().is_some() {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(i);
            }
        }
    }
    None
}

/// Whether the tokens between the parentheses after `with` are items, not the inside of a tuple, a generator or a
/// `yield`.
fn holds_items(inside: &[Token]) -> bool {
    let mut depth = 0usize;
    let mut after_comma = true;
    for token in inside {
        match token.tok {
            t if t.opens() => depth += 1,
            t if t.opener().is_some() => depth = depth.saturating_sub(1),
            Tok::For | Tok::Async | Tok::Walrus | Tok::Yield if depth == 0 => return false,
            Tok::Star if depth == 0 && after_comma => return false,
            _ => {}
        }
        after_comma = token.tok == Tok::Comma;
    }
    !inside.is_empty()
}
