//! Statements and blocks: cuts the token stream into logical lines, hands each to the grammar, and puts the results
//! together.
//!
//! 1. A line that does not parse is reported and leaves no statement; reading goes on with the next line. A header that
//!    does not parse still has its block read, so that one slip does not hide the errors below it.
//! 2. A header ends at its first colon outside brackets that no `lambda` claims; what follows on the line is its block.
//!    Without a colon, the header is tried as if one stood at its end: if that parses, the colon is all that is
//!    missing.
//! 3. `elif` and `else` are taken by the statement before them; found anywhere else they are stray.
//! 4. What no kernel holds (`try`, `class`, `match`, `async`) is read for its blocks; `headers.rs` checks the rest.
//! 5. In a host function that has failed, lines are no longer parsed; blocks are still walked for the kernels in them.
//!
//! Example: `if a: x = 1` / `else:` / indented `y = 2` becomes one `If` with one branch and an `orelse`.

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{Lexed, Tok, Token};
use crate::source::Span;

use super::ast::{ExprKind, IfBranch, Stmt, StmtKind, WithItem};
use super::cx::Cx;
use super::line::Line;
use super::{explain, feed, limits};

pub(crate) struct Parser<'s> {
    pub(crate) cx: Cx<'s>,
    lexed: &'s Lexed,
    tokens: &'s [Token],
    pub(crate) at: usize,
    /// How many blocks the place is inside of.
    pub(crate) depth: u32,
    /// The end of the last line read.
    pub(crate) end: u32,
    /// Errors of the kernels read so far.
    pub(crate) reported: Vec<Diagnostic>,
    pub(crate) scope: Scope,
}

/// What `return`, `break` and `continue` would leave.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope {
    pub(crate) function: bool,
    pub(crate) repeated: bool,
}

/// A compound statement's line, cut at its colon.
#[derive(Clone, Copy)]
pub(crate) struct Header<'s> {
    /// With the colon, if there is one.
    pub(crate) tokens: &'s [Token],
    /// What follows the colon on the line.
    pub(crate) rest: &'s [Token],
    pub(crate) colon: bool,
    /// Whether the line holds something the lexer refused.
    pub(crate) broken: bool,
}

impl<'s> Parser<'s> {
    pub(crate) fn new(cx: Cx<'s>, lexed: &'s Lexed) -> Parser<'s> {
        Parser { cx, lexed, tokens: &lexed.tokens, at: 0, depth: 0, end: 0, reported: vec![], scope: Scope::default() }
    }

    // ---------------------------------------------------------------------------------------------------------- tokens

    /// The token at the place, or [`Tok::End`] past the end.
    pub(crate) fn peek(&self) -> Tok {
        self.tokens.get(self.at).map_or(Tok::End, |t| t.tok)
    }

    /// The first token of the line at the place that is not an error.
    pub(crate) fn first(&self) -> Token {
        let line = &self.tokens[self.at.min(self.tokens.len())..];
        let end = self.tokens.last().map_or(0, |t| t.hi);
        line.iter().find(|t| t.tok != Tok::Error).copied().unwrap_or(Token { tok: Tok::End, lo: end, hi: end })
    }

    pub(crate) fn lo(&self) -> u32 {
        self.tokens.get(self.at).map_or(self.end, |t| t.lo)
    }

    /// Takes the line at the place, without its end.
    pub(crate) fn line(&mut self) -> &'s [Token] {
        let tokens = &self.tokens[self.at..];
        let len = tokens
            .iter()
            .position(|t| matches!(t.tok, Tok::Newline | Tok::End | Tok::Indent | Tok::Dedent))
            .unwrap_or(tokens.len());
        self.at += len + usize::from(tokens.get(len).is_some_and(|t| t.tok == Tok::Newline));
        let line = &tokens[..len];
        self.end = line.last().map_or(self.end, |t| t.hi);
        line
    }

    /// Passes the block whose `Indent` is at the place, whatever the block holds.
    pub(crate) fn skip_block(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.tok {
                Tok::Indent => depth += 1,
                Tok::Dedent => depth -= 1,
                Tok::End => return,
                Tok::Newline => {}
                _ => self.end = token.hi,
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    pub(crate) fn span_from(&self, lo: u32) -> Span {
        self.cx.span(lo, self.end)
    }

    /// Reports what the lexer refused in the line. Returns whether there was anything.
    pub(crate) fn refused(&mut self, line: &[Token]) -> bool {
        let (Some(first), Some(last)) = (line.first(), line.last()) else { return false };
        if !line.iter().any(|t| t.tok == Tok::Error) {
            return false;
        }
        let lexed = self.lexed;
        for error in explain::faults(&self.cx, lexed.errors_in(first.lo, last.hi)) {
            self.cx.report(error);
        }
        true
    }

    // --------------------------------------------------------------------------------------------------------- headers

    /// Reads the line at the place as a header.
    pub(crate) fn header(&mut self) -> Header<'s> {
        let line = self.line();
        let broken = self.refused(line);
        let skip = line.iter().take_while(|t| t.tok == Tok::Error).count();
        let line = &line[skip..];
        match colon(line) {
            Some(i) => Header { tokens: &line[..=i], rest: &line[i + 1..], colon: true, broken },
            None => Header { tokens: line, rest: &[], colon: false, broken },
        }
    }

    pub(crate) fn parse_header(&mut self, header: &Header<'s>) -> Option<Line> {
        if header.broken || !self.cx.reading() {
            return None;
        }
        if header.colon {
            return feed::line(&mut self.cx, header.tokens, None);
        }
        let at = header.tokens.last().map_or(self.end, |t| t.hi);
        let line = feed::line(&mut self.cx, header.tokens, Some(at))?;
        self.missing_colon(header);
        Some(line)
    }

    pub(crate) fn missing_colon(&mut self, header: &Header<'s>) {
        let at = header.tokens.last().map_or(self.end, |t| t.hi);
        let keyword = header.tokens.first().map_or("", |t| self.cx.slice(t.lo, t.hi));
        let error =
            Diagnostic::error(&syntax::MISSING_COLON, format!("expected `:` at the end of the `{keyword}` header"))
                .at(self.cx.span(at, at), "`:` is missing here")
                .help("add a colon")
                .fix(self.cx.span(at, at), ":");
        self.cx.report(error);
    }

    /// Reads the block that a header governs: behind its colon, or indented below.
    pub(crate) fn suite(&mut self, header: &Header<'s>) -> Vec<Stmt> {
        let mut body = vec![];
        let outer = self.enter_block(header);
        if !header.rest.is_empty() {
            self.pieces(header.rest, &mut body);
        } else if self.peek() == Tok::Indent {
            self.block(&mut body);
        } else {
            self.missing_block(header);
        }
        self.scope = outer;
        body
    }

    pub(crate) fn missing_block(&mut self, header: &Header<'s>) {
        if header.broken || !self.cx.reading() {
            return;
        }
        let keyword = header.tokens.first().map_or("", |t| self.cx.slice(t.lo, t.hi));
        let error = Diagnostic::error(&syntax::MISSING_BLOCK, format!("expected an indented block after `{keyword}`"))
            .at(self.cx.span(self.end, self.end), "nothing is indented below this header")
            .help("indent the block, or write `pass` if it is empty");
        self.cx.report(error);
    }

    /// Sets the scope to that of the block below a header. Returns the scope around it.
    pub(crate) fn enter_block(&mut self, header: &Header<'s>) -> Scope {
        let outer = self.scope;
        match header.tokens.iter().map(|t| t.tok).find(|t| *t != Tok::Async) {
            Some(Tok::Def) => self.scope = Scope { function: true, repeated: false },
            Some(Tok::Class) => self.scope = Scope::default(),
            Some(Tok::For | Tok::While) => self.scope.repeated = true,
            _ => {}
        }
        outer
    }

    /// Reads the statements of the block whose `Indent` is at the place.
    fn block(&mut self, out: &mut Vec<Stmt>) {
        if self.depth >= limits::MAX_BLOCK_DEPTH {
            let message = format!("blocks nest deeper than {} levels", limits::MAX_BLOCK_DEPTH);
            self.cx.error(&syntax::TOO_DEEP, self.cx.span(self.lo(), self.lo()), message, "this block is not read");
            return self.skip_block();
        }
        self.at += 1;
        self.depth += 1;
        while !matches!(self.peek(), Tok::Dedent | Tok::End) {
            self.statement(out);
        }
        if self.peek() == Tok::Dedent {
            self.at += 1;
        }
        self.depth -= 1;
    }

    // ------------------------------------------------------------------------------------------------------ statements

    /// Reads the statement at the place, or several if they stand on one line.
    fn statement(&mut self, out: &mut Vec<Stmt>) {
        if self.peek() == Tok::Indent {
            self.too_far_right();
            return self.block(out);
        }
        let first = self.first();
        let lo = first.lo;
        let kind = match first.tok {
            _ if self.is_bound_keyword() => return self.simple_line(out),
            Tok::If => self.if_statement(),
            Tok::For => self.for_statement(),
            Tok::While => self.while_statement(),
            Tok::With => self.with_statement(),
            Tok::Def | Tok::At => match self.definition_statement() {
                Some(kind) => kind,
                None => return,
            },
            Tok::Elif => self.stray_clause(),
            Tok::Else | Tok::Except | Tok::Finally if !continues(out, first.tok) => self.stray_clause(),
            Tok::Try | Tok::Except | Tok::Finally | Tok::Class | Tok::Async | Tok::Else => self.unsupported(),
            Tok::Name if self.is_soft_compound() => self.unsupported(),
            _ => return self.simple_line(out),
        };
        out.push(Stmt { kind, span: self.span_from(lo) });
    }

    pub(crate) fn too_far_right(&mut self) {
        let here = self.cx.span(self.lo(), self.lo());
        let diag = Diagnostic::error(&syntax::INDENTATION, "the line is indented deeper than its block")
            .at(here, "no header above it");
        self.cx.report(diag.help("align it with the line above, or write the `if`, `for` or `def` that it belongs to"));
    }

    /// Whether a keyword is used as a name: `class = 1`.
    pub(crate) fn is_bound_keyword(&self) -> bool {
        let at = |i: usize| self.tokens.get(self.at + i).map(|t| t.tok);
        at(0).is_some_and(|t| t.is_keyword() && !matches!(t, Tok::None | Tok::True | Tok::False | Tok::Yield))
            && matches!(at(1), Some(Tok::Assign | Tok::Aug(_)))
    }

    pub(crate) fn simple_line(&mut self, out: &mut Vec<Stmt>) {
        let bound = self.is_bound_keyword();
        let line = self.line();
        if self.refused(line) || line.is_empty() {
            // A line without tokens cannot come from the layout adapter; the parser passes what stands there rather
            // than stay.
            self.at += usize::from(line.is_empty());
        } else if bound {
            let error = explain::keyword_as_name(&self.cx, line[0].lo, line[0].hi);
            self.cx.report(error);
        } else {
            self.pieces(line, out);
        }
    }

    /// Simple statements between semicolons.
    pub(crate) fn pieces(&mut self, line: &[Token], out: &mut Vec<Stmt>) {
        for piece in line.split(|t| t.tok == Tok::Semicolon) {
            let (Some(first), Some(last)) = (piece.first(), piece.last()) else {
                self.empty_piece(line, piece);
                continue;
            };
            if !self.cx.reading() {
                continue;
            }
            if starts_compound(first.tok) {
                let keyword = self.cx.slice(first.lo, first.hi);
                let message = format!("`{keyword}` must start its own line");
                self.cx.error(
                    &syntax::UNEXPECTED_TOKEN,
                    self.cx.span(first.lo, first.hi),
                    message,
                    "not behind another statement",
                );
                continue;
            }
            let span = self.cx.span(first.lo, last.hi);
            let statement = self.without_lazy(piece);
            if self.is_type_alias(piece) {
                self.type_alias(piece);
                out.push(Stmt { kind: unread("type", vec![]), span });
            } else if let Some(Line::Stmt(kind)) = feed::line(&mut self.cx, statement, None) {
                self.check_host(&kind, span);
                out.push(Stmt { kind: *kind, span });
            }
        }
    }

    /// Reports what the grammar takes and Python does not in a statement of the host: what leaves nothing, and `*x`
    /// alone. Of kernels, the front end says it.
    fn check_host(&mut self, kind: &StmtKind, span: Span) {
        if self.cx.kernel {
            return;
        }
        let value = match kind {
            StmtKind::Expr(value) | StmtKind::Return(Some(value)) | StmtKind::Assign { value, .. } => Some(&value.kind),
            StmtKind::AugAssign { value, .. } | StmtKind::AnnAssign { value: Some(value), .. } => Some(&value.kind),
            _ => None,
        };
        let (keyword, what) = match (kind, value) {
            (_, Some(ExprKind::Starred(_))) => {
                let message = "a starred expression must be in a list, a tuple or a call";
                return self.cx.error(&syntax::UNEXPECTED_TOKEN, span, message, "stands alone");
            }
            (StmtKind::Return(_), _) if !self.scope.function => ("return", "function"),
            (_, Some(ExprKind::Yield(_) | ExprKind::YieldFrom(_))) if !self.scope.function => ("yield", "function"),
            (_, Some(ExprKind::Await(_))) if !self.scope.function => ("await", "function"),
            (StmtKind::Break, _) if !self.scope.repeated => ("break", "loop"),
            (StmtKind::Continue, _) if !self.scope.repeated => ("continue", "loop"),
            _ => return,
        };
        let message = format!("`{keyword}` stands outside a {what}");
        self.cx.error(&syntax::UNEXPECTED_TOKEN, span, message, "there is nothing to leave");
    }

    /// The statement without the `lazy` of `lazy import x`, which Python 3.15 has.
    fn without_lazy<'p>(&self, piece: &'p [Token]) -> &'p [Token] {
        match piece {
            [lazy, import, ..] if matches!(import.tok, Tok::Import | Tok::From) && self.text(*lazy) == "lazy" => {
                &piece[1..]
            }
            _ => piece,
        }
    }

    /// Handles an empty statement: between two semicolons it is an error, after the last one it is fine.
    pub(crate) fn empty_piece(&mut self, line: &[Token], piece: &[Token]) {
        let end = line.as_ptr_range().end;
        if piece.as_ptr() != end || line.len() == 1 {
            let at = line
                .iter()
                .find(|t| t.tok == Tok::Semicolon)
                .map_or(self.cx.span(self.end, self.end), |t| self.cx.span(t.lo, t.hi));
            self.cx.error(&syntax::UNEXPECTED_TOKEN, at, "expected a statement, found `;`", "nothing stands before it");
        }
    }

    fn if_statement(&mut self) -> StmtKind {
        let mut branches: Vec<IfBranch> = vec![];
        let mut bodies = vec![];
        let mut whole = true;
        loop {
            let lo = self.first().lo;
            let header = self.header();
            let test = self.parse_header(&header);
            let body = self.suite(&header);
            if branches.len() == limits::MAX_BRANCHES {
                let message = format!("one `if` has more than {} branches", limits::MAX_BRANCHES);
                self.cx.error(&syntax::TOO_DEEP, self.cx.span(lo, lo), message, "this one is too many");
            }
            match test {
                Some(Line::If(test) | Line::Elif(test)) if branches.len() < limits::MAX_BRANCHES => {
                    branches.push(IfBranch { test, body, span: self.span_from(lo) });
                }
                _ => {
                    whole = false;
                    bodies.extend(body);
                }
            }
            if self.first().tok != Tok::Elif || self.at_block_end() {
                break;
            }
        }
        let orelse = self.else_clause();
        if whole {
            StmtKind::If { branches, orelse }
        } else {
            bodies.splice(0..0, branches.into_iter().flat_map(|b| b.body));
            bodies.extend(orelse);
            unread("if", bodies)
        }
    }

    /// Reads the block of an `else` at the place. Without one, the result is empty.
    fn else_clause(&mut self) -> Vec<Stmt> {
        if self.first().tok != Tok::Else || self.at_block_end() {
            return vec![];
        }
        let header = self.header();
        self.parse_header(&header);
        self.suite(&header)
    }

    fn at_block_end(&self) -> bool {
        matches!(self.peek(), Tok::Dedent | Tok::End | Tok::Indent)
    }

    fn for_statement(&mut self) -> StmtKind {
        let header = self.header();
        let line = self.parse_header(&header);
        let body = self.suite(&header);
        let orelse = self.else_clause();
        match line {
            Some(Line::For { target, iter }) => StmtKind::For { target, iter, body, orelse },
            _ => unread("for", join(body, orelse)),
        }
    }

    fn while_statement(&mut self) -> StmtKind {
        let header = self.header();
        let line = self.parse_header(&header);
        let body = self.suite(&header);
        let orelse = self.else_clause();
        match line {
            Some(Line::While(test)) => StmtKind::While { test, body, orelse },
            _ => unread("while", join(body, orelse)),
        }
    }

    fn with_statement(&mut self) -> StmtKind {
        let header = self.header();
        let items = self.with_items(&header);
        let body = self.suite(&header);
        match items {
            Some(items) => StmtKind::With { items, body },
            None => unread("with", body),
        }
    }

    pub(crate) fn with_items(&mut self, header: &Header<'s>) -> Option<Vec<WithItem>> {
        match self.parse_header(header) {
            Some(Line::With(items)) if items.is_empty() => {
                let span = self.cx.span(header.tokens[0].lo, header.tokens[0].hi);
                self.cx.error(&syntax::UNEXPECTED_TOKEN, span, "`with` needs an expression", "nothing follows it");
                None
            }
            Some(Line::With(items)) => Some(items),
            _ => None,
        }
    }

    /// Reports a clause that belongs to nothing.
    fn stray_clause(&mut self) -> StmtKind {
        let (header, keyword) = self.stray_header();
        let body = self.suite(&header);
        unread(keyword, body)
    }

    pub(crate) fn stray_header(&mut self) -> (Header<'s>, &'s str) {
        let header = self.header();
        let Some(&first) = header.tokens.first() else { return (header, "") };
        let keyword = self.cx.slice(first.lo, first.hi);
        if self.cx.reading() {
            let owner = match first.tok {
                Tok::Except | Tok::Finally => "no `try` before it at this indentation",
                _ => "no `if`, `for`, `while` or `try` before it at this indentation",
            };
            let error = Diagnostic::error(&syntax::STRAY_CLAUSE, format!("`{keyword}` belongs to no statement"))
                .at(self.cx.span(first.lo, first.hi), owner)
                .help("align it with the statement it belongs to");
            self.cx.report(error);
        }
        (header, keyword)
    }

    /// Reads a statement for its blocks only.
    fn unsupported(&mut self) -> StmtKind {
        let first = self.first();
        let keyword = self.text(first);
        let header = self.checked_header();
        let body = self.suite(&header);
        if first.tok == Tok::Try && (self.at_block_end() || !matches!(self.first().tok, Tok::Except | Tok::Finally)) {
            self.try_alone(first);
        }
        unread(keyword, body)
    }

    pub(crate) fn try_alone(&mut self, keyword: Token) {
        if self.cx.reading() {
            let error = Diagnostic::error(&syntax::STRAY_CLAUSE, "`try` has neither `except` nor `finally`")
                .at(self.cx.span(keyword.lo, keyword.hi), "nothing handles what fails in its block")
                .help("write an `except` or a `finally` at the indentation of the `try`");
            self.cx.report(error);
        }
    }

    /// Whether the line starts a compound statement with a soft keyword: `match x:` or `case y:` with a block below.
    pub(crate) fn is_soft_compound(&self) -> bool {
        let tokens = &self.tokens[self.at..];
        let Some(first) = tokens.first() else { return false };
        if !matches!(self.cx.slice(first.lo, first.hi), "match" | "case") {
            return false;
        }
        if matches!(
            tokens.get(1).map(|t| t.tok),
            Some(Tok::Assign | Tok::Colon | Tok::Dot | Tok::Aug(_) | Tok::Newline)
        ) {
            return false;
        }
        let Some(len) = tokens.iter().position(|t| matches!(t.tok, Tok::Newline | Tok::End)) else { return false };
        match colon(&tokens[..len]) {
            Some(i) if i + 1 == len => tokens.get(len + 1).is_some_and(|t| t.tok == Tok::Indent),
            // `case x: statement`
            Some(_) => self.text(*first) == "case",
            None => false,
        }
    }

    fn text(&self, token: Token) -> &'s str {
        self.cx.slice(token.lo, token.hi)
    }

    /// Whether a statement is `type X = …`.
    fn is_type_alias(&self, statement: &[Token]) -> bool {
        match statement {
            [word, name, next, ..] => {
                (name.tok, self.text(*word)) == (Tok::Name, "type") && matches!(next.tok, Tok::Assign | Tok::LBracket)
            }
            _ => false,
        }
    }
}

/// Makes a statement of which only the blocks are known.
fn unread(keyword: &str, body: Vec<Stmt>) -> StmtKind {
    StmtKind::Unsupported { keyword: keyword.into(), body }
}

fn join(mut body: Vec<Stmt>, orelse: Vec<Stmt>) -> Vec<Stmt> {
    body.extend(orelse);
    body
}

/// Whether a clause can follow the last of these statements: one of a `try`, or an `async for`. Those that the parser
/// knows as a whole have taken their clauses already.
fn continues(out: &[Stmt], clause: Tok) -> bool {
    let Some(StmtKind::Unsupported { keyword, .. }) = out.last().map(|s| &s.kind) else { return false };
    match clause {
        Tok::Except => matches!(&**keyword, "try" | "except"),
        Tok::Finally => matches!(&**keyword, "try" | "except" | "else"),
        _ => matches!(&**keyword, "except" | "async"),
    }
}

fn starts_compound(tok: Tok) -> bool {
    matches!(tok, Tok::If | Tok::For | Tok::While | Tok::With | Tok::Def | Tok::At | Tok::Elif | Tok::Else)
        || matches!(tok, Tok::Try | Tok::Except | Tok::Finally | Tok::Class | Tok::Async)
}

/// The index of the colon that ends a header.
fn colon(line: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    let mut lambdas = 0usize;
    for (i, token) in line.iter().enumerate() {
        match token.tok {
            t if t.opens() => depth += 1,
            t if t.opener().is_some() => depth = depth.saturating_sub(1),
            Tok::Lambda if depth == 0 => lambdas += 1,
            Tok::Colon if depth == 0 && lambdas == 0 => return Some(i),
            Tok::Colon if depth == 0 => lambdas -= 1,
            _ => {}
        }
    }
    None
}
