//! The top level of a file, of a class and of the blocks around: what kernels can refer to.
//!
//! 1. Lines are parsed by the grammar. Imports and assignments are kept; the others are left out.
//! 2. Functions are read by [`super::functions`], `if`, `try` and `class` with their blocks.
//! 3. Any other block is read for what it defines, and left out if it defines nothing.
//!
//! The first error of each line is reported.

use crate::lexer::{Tok, Token};

use super::ast::{BlockItem, ClassItem, Decorator, Expr, IfItem, Item, ItemBranch, Stmt, StmtKind, TryItem};
use super::blocks::{Header, Parser};
use super::functions::Definition;
use super::limits;
use super::line::Line;

impl<'s> Parser<'s> {
    /// The items up to the end of the block or the file.
    pub(crate) fn items(&mut self) -> Vec<Item> {
        let mut out = vec![];
        while !matches!(self.peek(), Tok::Dedent | Tok::End) {
            self.item(&mut out);
        }
        out
    }

    fn item(&mut self, out: &mut Vec<Item>) {
        if self.peek() == Tok::Indent {
            self.quietly(Self::too_far_right);
            return out.extend(self.item_block());
        }
        let first = self.first();
        match first.tok {
            _ if self.is_bound_keyword() => self.quietly(|p| p.simple_line(&mut vec![])),
            Tok::At | Tok::Def => self.definition_item(out),
            Tok::Class => out.push(self.class(vec![], first.lo)),
            Tok::If => out.push(self.if_item()),
            Tok::Try => out.push(self.try_item()),
            Tok::Async | Tok::For | Tok::While | Tok::With => self.other_block(out),
            Tok::Elif | Tok::Else | Tok::Except | Tok::Finally => self.stray_items(out),
            Tok::Name if self.is_soft_compound() => self.other_block(out),
            _ => self.simple_items(out),
        }
    }

    fn definition_item(&mut self, out: &mut Vec<Item>) {
        match self.quietly(Self::definition) {
            Definition::Function(def) => out.push(Item::Function(def)),
            Definition::Opaque(opaque) => out.push(Item::Opaque(opaque)),
            Definition::Class(decorators, lo) => out.push(self.class(decorators, lo)),
            Definition::Async => self.other_block(out),
            Definition::Nothing => {}
        }
    }

    /// Runs `what`, the reading of one line of the host or one function.
    fn quietly<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.cx.errors.len();
        self.cx.failed = false;
        let result = what(self);
        self.cx.errors.truncate(mark);
        self.cx.failed = false;
        result
    }

    fn simple_items(&mut self, out: &mut Vec<Item>) {
        let line = self.line();
        if line.is_empty() {
            // Only what the layout adapter never makes leads here. The parser passes it rather than stay.
            self.at += 1;
        }
        if !self.quietly(|p| p.refused(line)) {
            self.line_items(line, out);
        }
    }

    /// The imports and assignments of a line.
    fn line_items(&mut self, line: &'s [Token], out: &mut Vec<Item>) {
        let mut stmts = vec![];
        for piece in line.split(|t| t.tok == Tok::Semicolon) {
            if piece.is_empty() {
                self.quietly(|p| p.empty_piece(line, piece));
            } else {
                self.quietly(|p| p.pieces(piece, &mut stmts));
            }
        }
        out.extend(stmts.into_iter().filter(is_definition).map(Item::Stmt));
    }

    /// The items of the block whose `Indent` is at the place.
    fn item_block(&mut self) -> Vec<Item> {
        if self.depth >= limits::MAX_BLOCK_DEPTH {
            self.skip_block();
            return vec![];
        }
        self.at += 1;
        self.depth += 1;
        let items = self.items();
        if self.peek() == Tok::Dedent {
            self.at += 1;
        }
        self.depth -= 1;
        items
    }

    /// The items a header governs.
    fn item_suite(&mut self, header: &Header<'s>) -> Vec<Item> {
        let mut items = vec![];
        let outer = self.enter_block(header);
        if !header.rest.is_empty() {
            if !header.broken {
                self.line_items(header.rest, &mut items);
            }
        } else if self.peek() == Tok::Indent {
            items.extend(self.item_block());
        } else {
            self.quietly(|p| p.missing_block(header));
        }
        self.scope = outer;
        items
    }

    fn clause(&mut self) -> Vec<Item> {
        let header = self.quietly(Self::checked_header);
        self.item_suite(&header)
    }

    /// The block of a clause that belongs to nothing.
    fn stray_items(&mut self, out: &mut Vec<Item>) {
        let (header, _) = self.quietly(Self::stray_header);
        out.extend(self.item_suite(&header));
    }

    fn class(&mut self, decorators: Vec<Decorator>, lo: u32) -> Item {
        let (header, bases) = self.quietly(Self::class_with_bases);
        let (name_lo, name_hi) = header.tokens.get(1).map_or((self.end, self.end), |t| (t.lo, t.hi));
        let name = self.cx.ident(name_lo, name_hi);
        let (from, to) =
            (header.tokens.first().map_or(name_lo, |t| t.lo), header.tokens.last().map_or(name_hi, |t| t.hi));
        let place = self.cx.span(from, to);
        let items = self.item_suite(&header);
        Item::Class(ClassItem { name, decorators, bases, items, header: place, span: self.span_from(lo) })
    }

    fn if_item(&mut self) -> Item {
        let lo = self.first().lo;
        let mut branches = vec![];
        loop {
            let (header, test) = self.quietly(|p| {
                let header = p.header();
                let test = p.test(&header);
                (header, test)
            });
            let items = self.item_suite(&header);
            branches.push(ItemBranch { test, items });
            if self.first().tok != Tok::Elif || self.at_end() {
                break;
            }
        }
        let orelse = if self.at_clause(Tok::Else) { self.clause() } else { vec![] };
        Item::If(IfItem { branches, orelse, span: self.span_from(lo) })
    }

    fn test(&mut self, header: &Header<'s>) -> Option<Expr> {
        match self.parse_header(header) {
            Some(Line::If(test) | Line::Elif(test)) => Some(test),
            _ => None,
        }
    }

    fn try_item(&mut self) -> Item {
        let first = self.first();
        let lo = first.lo;
        let body = self.clause();
        if self.at_end() || !matches!(self.first().tok, Tok::Except | Tok::Finally) {
            self.quietly(|p| p.try_alone(first));
        }
        let mut item = TryItem { body, handlers: vec![], orelse: vec![], finalbody: vec![], span: self.span_from(lo) };
        while self.at_clause(Tok::Except) {
            item.handlers.push(self.clause());
        }
        if !item.handlers.is_empty() && self.at_clause(Tok::Else) {
            item.orelse = self.clause();
        }
        if self.at_clause(Tok::Finally) {
            item.finalbody = self.clause();
        }
        item.span = self.span_from(lo);
        Item::Try(item)
    }

    fn at_end(&self) -> bool {
        matches!(self.peek(), Tok::Dedent | Tok::End | Tok::Indent)
    }

    fn at_clause(&self, tok: Tok) -> bool {
        !self.at_end() && self.first().tok == tok
    }

    /// A block that is kept only if it defines something.
    fn other_block(&mut self, out: &mut Vec<Item>) {
        let first = self.first();
        let keyword = self.cx.slice(first.lo, first.hi);
        let repeats = matches!(first.tok, Tok::Async | Tok::For | Tok::While);
        let items = self.clause();
        if !items.is_empty() {
            out.push(Item::Block(BlockItem { keyword: keyword.into(), items, span: self.span_from(first.lo) }));
        }
        if repeats && self.at_clause(Tok::Else) {
            self.other_block(out);
        }
    }
}

fn is_definition(stmt: &Stmt) -> bool {
    use StmtKind as K;
    matches!(stmt.kind, K::Import(_) | K::ImportFrom(_) | K::Assign { .. } | K::AnnAssign { .. } | K::AugAssign { .. })
}
