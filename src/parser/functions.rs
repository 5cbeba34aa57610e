//! Functions and their decorators, and what happens to the errors found in them.
//!
//! A function is a kernel when one of its decorators is *jit-like*, which is decided from the decorator's words alone:
//! a dotted path whose last name ends in `jit`, alone or called (`@triton.jit`, `@jit`, `@gluon.jit`,
//! `@triton.jit(noinline=True)`). What lies inside a kernel is kernel code too.
//!
//! 1. Errors in a kernel, its decorators and its header are the file's errors.
//! 2. A host function with an error is [`OpaqueFunction`]: its name, the first error, and the functions found inside.
//!    That error is one of the file, too, unless Python takes what this parser cannot read.

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::{Tok, Token};

use super::ast::{Decorator, FunctionDef, Ident, Item, OpaqueFunction, Stmt, StmtKind};
use super::blocks::{Header, Parser};
use super::feed;
use super::line::Line;

/// The definition that stands below some decorators, if there is one.
pub(crate) enum Definition {
    Function(FunctionDef),
    Opaque(OpaqueFunction),
    /// A class. The parser is still at its line.
    Class(Vec<Decorator>, u32),
    /// `async def`. The parser is still at its line.
    Async,
    /// Something that cannot be decorated.
    Nothing,
}

/// The state of error collection around a function.
struct Outer {
    kernel: bool,
    failed: bool,
    mark: usize,
    count: usize,
}

impl<'s> Parser<'s> {
    /// The definition at the place as a statement.
    pub(crate) fn definition_statement(&mut self) -> Option<StmtKind> {
        Some(match self.definition() {
            Definition::Function(def) => StmtKind::FunctionDef(Box::new(def)),
            Definition::Opaque(opaque) => {
                let body = opaque.items.into_iter().filter_map(statement_of).collect();
                StmtKind::Unsupported { keyword: "def".into(), body }
            }
            Definition::Class(..) | Definition::Async => {
                let mut body = vec![];
                let first = self.first();
                let keyword = self.cx.slice(first.lo, first.hi);
                let header = self.checked_header();
                body.extend(self.suite(&header));
                StmtKind::Unsupported { keyword: keyword.into(), body }
            }
            Definition::Nothing => return None,
        })
    }

    /// Reads decorators and the function below them.
    pub(crate) fn definition(&mut self) -> Definition {
        let lo = self.first().lo;
        let is_jit = self.has_jit_decorator();
        let start = (self.at, self.end);
        let outer = self.enter(is_jit);
        let decorators = self.decorators();
        let next = self.first().tok;
        match next {
            Tok::Def => self.function(lo, decorators, is_jit, &outer),
            Tok::Async | Tok::Class => {
                let mut decorators = decorators;
                self.restore(&outer);
                if is_jit {
                    // Whatever a jit decorator means there, it makes no kernel: the lines are read as host code.
                    self.cx.errors.truncate(outer.mark);
                    self.cx.count = outer.count;
                    (self.at, self.end) = start;
                    decorators = self.decorators();
                }
                if next == Tok::Async { Definition::Async } else { Definition::Class(decorators, lo) }
            }
            _ => {
                let error = Diagnostic::error(&syntax::STRAY_CLAUSE, "expected `def` below a decorator")
                    .at(self.cx.span(lo, self.end), "decorates nothing");
                self.cx.report(error);
                self.leave(&outer, is_jit);
                Definition::Nothing
            }
        }
    }

    fn function(&mut self, lo: u32, decorators: Vec<Decorator>, is_jit: bool, outer: &Outer) -> Definition {
        let header = self.header();
        let line = self.parse_header(&header);
        let body = self.suite(&header);
        let name = self.name_of(&header);
        let span = self.span_from(lo);
        let header = self.cx.span(header.tokens[0].lo, header.tokens.last().map_or(header.tokens[0].hi, |t| t.hi));
        let kernel = self.cx.kernel;
        let (broken, why) = self.leave(outer, is_jit);
        if kernel {
            let (name, params, returns) = match line {
                Some(Line::Def { name, params, returns }) => (name, params, returns),
                _ => (name, vec![], None),
            };
            return Definition::Function(FunctionDef {
                name,
                decorators,
                params,
                returns,
                body,
                is_jit,
                broken,
                span,
                header,
            });
        }
        match line {
            Some(Line::Def { name, params, returns }) if why.is_empty() => Definition::Function(FunctionDef {
                name,
                decorators,
                params,
                returns,
                body,
                is_jit,
                broken,
                span,
                header,
            }),
            _ => {
                let mut items = vec![];
                functions_in(body, &mut items);
                Definition::Opaque(OpaqueFunction { name, decorators, items, why, span })
            }
        }
    }

    /// The function's name, also when its header does not parse.
    fn name_of(&mut self, header: &Header<'s>) -> Ident {
        if let Some(&Token { tok: Tok::Name, lo, hi }) = header.tokens.get(1) {
            self.cx.ident(lo, hi)
        } else {
            let at = header.tokens[0].hi;
            self.cx.ident(at, at)
        }
    }

    fn enter(&mut self, is_jit: bool) -> Outer {
        let outer =
            Outer { kernel: self.cx.kernel, failed: self.cx.failed, mark: self.cx.errors.len(), count: self.cx.count };
        self.cx.kernel |= is_jit;
        self.cx.failed = false;
        outer
    }

    fn restore(&mut self, outer: &Outer) {
        self.cx.kernel = outer.kernel;
        self.cx.failed = outer.failed;
    }

    /// Ends a function: whether a kernel has errors, and the errors of a host function.
    fn leave(&mut self, outer: &Outer, is_jit: bool) -> (bool, Vec<Diagnostic>) {
        let broken = self.cx.kernel && self.cx.count > outer.count;
        let errors = if self.cx.kernel && !is_jit { vec![] } else { self.cx.errors.split_off(outer.mark) };
        let kernel = self.cx.kernel;
        self.restore(outer);
        if kernel {
            self.reported.extend(errors);
            (broken, vec![])
        } else {
            (false, errors)
        }
    }

    fn decorators(&mut self) -> Vec<Decorator> {
        let mut all = vec![];
        while self.first().tok == Tok::At {
            let line = self.line();
            if self.refused(line) || !self.cx.reading() {
                continue;
            }
            if let Some(Line::Decorator(expr)) = feed::line(&mut self.cx, line, None) {
                let span = self.cx.span(line[0].lo, line[line.len() - 1].hi);
                all.push(Decorator { expr, span });
            }
        }
        all
    }

    /// Whether one of the decorator lines from the place on is jit-like.
    fn has_jit_decorator(&mut self) -> bool {
        let start = (self.at, self.end);
        let mut found = false;
        while self.first().tok == Tok::At {
            let line = self.line();
            found |= self.is_jit_line(line);
        }
        (self.at, self.end) = start;
        found
    }

    /// `@ a . b . jit` with nothing or a call behind.
    fn is_jit_line(&self, line: &[Token]) -> bool {
        let mut words = line.iter().skip_while(|t| t.tok != Tok::At).skip(1);
        loop {
            let Some(&Token { tok: Tok::Name, lo, hi }) = words.next() else { return false };
            match words.next().map(|t| t.tok) {
                Some(Tok::Dot) => {}
                None | Some(Tok::LParen | Tok::Error) => return self.cx.slice(lo, hi).ends_with("jit"),
                _ => return false,
            }
        }
    }
}

/// A function that a host function which failed still holds, as a statement.
fn statement_of(item: Item) -> Option<Stmt> {
    match item {
        Item::Function(def) => Some(Stmt { span: def.span, kind: StmtKind::FunctionDef(Box::new(def)) }),
        _ => None,
    }
}

/// Collects the functions among statements, in order and at any depth of blocks.
fn functions_in(body: Vec<Stmt>, out: &mut Vec<Item>) {
    for stmt in body {
        match stmt.kind {
            StmtKind::FunctionDef(def) => out.push(Item::Function(*def)),
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    functions_in(branch.body, out);
                }
                functions_in(orelse, out);
            }
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                functions_in(body, out);
                functions_in(orelse, out);
            }
            StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => functions_in(body, out),
            _ => {}
        }
    }
}
