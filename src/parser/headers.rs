//! Headers of the statements that no kernel holds: `try`, `except`, `class`, `match`, `case`, `async`; and `type X = …`
//! as a whole. Nothing of them is kept, but what Python would refuse is reported.
//!
//! The grammar has no rules for them, which would make its tables larger for every line. They are cut into the
//! expressions that they hold instead, and the grammar reads those:
//!
//! 1. `class A(B, metaclass=M):` is a call, `except E as e:` an expression before `as`.
//! 2. `async for …`, `async with …` and `async def …` are the header behind `async`.
//! 3. What stands behind `match` and `case` is read as if in parentheses, since it may be a tuple without them. A
//!    pattern without its `as NAME` parts looks like an expression: `Point(x=0) | [a, *_]`.
//!
//! Type parameters (`class A[T: int]:`) are passed over: their forms are still growing from one Python to the next. For
//! the same reason a pattern may be any expression.

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{Tok, Token};

use super::ast::{Expr, ExprKind};
use super::blocks::{Header, Parser};
use super::line::Line;
use super::{explain, feed};

impl<'s> Parser<'s> {
    /// Reads the header at the place, whatever statement it belongs to, and reports what is wrong with it.
    pub(crate) fn checked_header(&mut self) -> Header<'s> {
        let header = self.header();
        self.check_header(&header);
        header
    }

    fn check_header(&mut self, header: &Header<'s>) {
        let (Some(first), true) = (header.tokens.first(), self.cx.reading() && !header.broken) else { return };
        match first.tok {
            Tok::With => {
                self.with_items(header);
                return;
            }
            Tok::If | Tok::Elif | Tok::Else | Tok::For | Tok::While | Tok::Def => {
                self.parse_header(header);
                return;
            }
            _ if !header.colon => return self.missing_colon(header),
            _ => {}
        }
        let inside = &header.tokens[1..header.tokens.len() - 1];
        match first.tok {
            Tok::Class => _ = self.class_header(inside),
            Tok::Except => self.except_header(inside),
            Tok::Async => self.async_header(header),
            Tok::Name if self.cx.slice(first.lo, first.hi) == "case" => self.case_header(inside),
            Tok::Name => self.parenthesized(inside),
            _ => self.ends_at(inside),
        }
    }

    /// Reports what stands where a header should have ended.
    fn ends_at(&mut self, rest: &[Token]) {
        if let Some(token) = rest.first() {
            let message = format!("expected `:`, found `{}`", self.cx.slice(token.lo, token.hi));
            self.cx.error(&syntax::UNEXPECTED_TOKEN, self.cx.span(token.lo, token.hi), message, "not expected here");
        }
    }

    /// Reads the header of a class, and the classes that it names in its parentheses.
    pub(crate) fn class_with_bases(&mut self) -> (Header<'s>, Vec<Expr>) {
        let header = self.header();
        let is_whole = self.cx.reading() && !header.broken && header.colon && header.tokens.len() > 1;
        if !is_whole {
            self.check_header(&header);
            return (header, vec![]);
        }
        let bases = self.class_header(&header.tokens[1..header.tokens.len() - 1]);
        (header, bases)
    }

    /// Checks what stands between `class` and the colon. Returns the classes in its parentheses.
    fn class_header(&mut self, inside: &[Token]) -> Vec<Expr> {
        let Some(name) = inside.first().filter(|t| t.tok == Tok::Name) else {
            let error = match inside.first() {
                Some(t) if t.tok.is_keyword() => explain::keyword_as_name(&self.cx, t.lo, t.hi),
                _ => Diagnostic::error(&syntax::UNEXPECTED_TOKEN, "expected a name after `class`")
                    .at(self.cx.span(self.end, self.end), "the class has no name"),
            };
            self.cx.report(error);
            return vec![];
        };
        let types = inside.get(1).filter(|t| t.tok == Tok::LBracket).and_then(|_| feed::closing(inside, 1));
        let rest = &inside[types.unwrap_or(0) + 1..];
        let Some(open) = rest.first() else { return vec![] };
        match feed::closing(rest, 0) {
            Some(close) if open.tok == Tok::LParen && close + 1 == rest.len() => {
                let call: Vec<Token> = [*name].iter().chain(rest).copied().collect();
                if let Some(Line::Expr(Expr { kind: ExprKind::Call(call), .. })) = feed::tokens(&mut self.cx, &call) {
                    return call.args;
                }
            }
            Some(close) if open.tok == Tok::LParen => self.ends_at(&rest[close + 1..]),
            _ => self.ends_at(rest),
        }
        vec![]
    }

    /// `except:`, `except E:`, `except E as e:`, `except A, B:`, and all but the first with `*`.
    fn except_header(&mut self, inside: &[Token]) {
        let caught = match inside {
            [Token { tok: Tok::Star, .. }, rest @ ..] => rest,
            [] => return,
            all => all,
        };
        match caught {
            [caught @ .., Token { tok: Tok::As, .. }, Token { tok: Tok::Name, .. }] => self.expression(caught),
            caught => self.expression(caught),
        }
    }

    fn async_header(&mut self, header: &Header<'s>) {
        let behind = Header { tokens: &header.tokens[1..], ..*header };
        if matches!(behind.tokens[0].tok, Tok::For | Tok::With | Tok::Def) {
            return self.check_header(&behind);
        }
        let span = self.cx.span(header.tokens[0].lo, header.tokens[0].hi);
        self.cx.error(
            &syntax::UNEXPECTED_TOKEN,
            span,
            "expected `def`, `for` or `with` after `async`",
            "not before it",
        );
    }

    fn case_header(&mut self, inside: &[Token]) {
        let mut depth = 0_u32;
        let guard = inside.iter().position(|t| {
            depth = if t.tok.opens() { depth + 1 } else { depth.saturating_sub(u32::from(t.tok.opener().is_some())) };
            depth == 0 && t.tok == Tok::If
        });
        let (pattern, guard) = inside.split_at(guard.unwrap_or(inside.len()));
        let mut plain = Vec::with_capacity(pattern.len());
        let mut tokens = pattern.iter().copied().peekable();
        while let Some(token) = tokens.next() {
            if token.tok != Tok::As || tokens.next_if(|t| t.tok == Tok::Name).is_none() {
                plain.push(token);
            }
        }
        self.parenthesized(&plain);
        if let [_, guard @ ..] = guard {
            self.parenthesized(guard);
        }
    }

    /// `type X = …` or `type X[T] = …`: what stands behind the sign is an expression.
    pub(crate) fn type_alias(&mut self, statement: &[Token]) {
        let sign = match statement.get(2) {
            Some(t) if t.tok == Tok::LBracket => feed::closing(statement, 2).map_or(statement.len(), |close| close + 1),
            _ => 2,
        };
        if let Some([Token { tok: Tok::Assign, .. }, value @ ..]) = statement.get(sign..) {
            self.expression(value);
        } else {
            let message = "expected `=` behind the name of a type alias";
            self.cx.error(&syntax::UNEXPECTED_TOKEN, self.cx.span(self.end, self.end), message, "missing here");
        }
    }

    /// Checks tokens that stand for one expression or, behind a comma, for a tuple.
    fn expression(&mut self, tokens: &[Token]) {
        if tokens.is_empty() {
            let message = "expected an expression, found nothing";
            self.cx.error(&syntax::UNEXPECTED_TOKEN, self.cx.span(self.end, self.end), message, "before this");
        } else {
            let _: Option<Line> = feed::tokens(&mut self.cx, tokens);
        }
    }

    /// Checks tokens as if parentheses stood around them.
    fn parenthesized(&mut self, tokens: &[Token]) {
        if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
            let open = Token { tok: Tok::LParen, lo: first.lo, hi: first.lo };
            let close = Token { tok: Tok::RParen, lo: last.hi, hi: last.hi };
            let all: Vec<Token> = [open].iter().chain(tokens).chain(&[close]).copied().collect();
            self.expression(&all);
        } else {
            self.expression(tokens);
        }
    }
}
