//! The names that a function binds itself: parameters, targets, loop variables, the names of lambdas and
//! comprehensions. Python has one scope a function; the few names of lambdas and comprehensions are counted to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::parser::ast::{Expr, ExprKind, FunctionDef, Ident, Param, Stmt, StmtKind};
use crate::parser::visit;
use crate::source::Span;

/// The local names of a function with the places where they are bound.
#[derive(Default)]
pub(super) struct Locals {
    names: BTreeMap<Arc<str>, Arc<[Span]>>,
}

impl Locals {
    pub(super) fn of(f: &FunctionDef) -> Locals {
        let mut found = Found::default();
        found.params(&f.params);
        visit::statements(&f.body, &mut |stmt| found.stmt(stmt));
        expressions(&f.body, &[], &mut |e| found.expr(e));
        let sorted = |mut places: Vec<Span>| {
            places.sort_unstable();
            Arc::from(places)
        };
        Locals { names: found.0.into_iter().map(|(name, places)| (name, sorted(places))).collect() }
    }

    pub(super) fn places(&self, name: &str) -> Option<Arc<[Span]>> {
        self.names.get(name).cloned()
    }

    /// Every place where a name is bound, with all places of that name.
    pub(super) fn bindings(&self) -> Vec<(Span, Arc<[Span]>)> {
        self.names.values().flat_map(|places| places.iter().map(|&p| (p, places.clone()))).collect()
    }
}

#[derive(Default)]
struct Found(BTreeMap<Arc<str>, Vec<Span>>);

impl Found {
    fn add(&mut self, name: &Arc<str>, span: Span) {
        self.0.entry(name.clone()).or_default().push(span);
    }

    fn ident(&mut self, name: &Ident) {
        self.add(&name.name, name.span);
    }

    fn params(&mut self, params: &[Param]) {
        params.iter().for_each(|p| self.ident(&p.name));
    }

    fn target(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => self.add(name, e.span),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|t| self.target(t)),
            ExprKind::Starred(inner) => self.target(inner),
            _ => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| self.target(t)),
            StmtKind::AnnAssign { target, .. } | StmtKind::AugAssign { target, .. } | StmtKind::For { target, .. } => {
                self.target(target);
            }
            StmtKind::With { items, .. } => items.iter().filter_map(|i| i.target.as_ref()).for_each(|t| self.target(t)),
            StmtKind::FunctionDef(f) => self.ident(&f.name),
            StmtKind::Import(aliases) => aliases.iter().for_each(|a| self.ident(a.bound())),
            _ => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Walrus { target, .. } => self.ident(target),
            ExprKind::Lambda(l) => self.params(&l.params),
            ExprKind::ListComp(c) | ExprKind::SetComp(c) | ExprKind::Generator(c) => {
                c.clauses.iter().for_each(|c| self.target(&c.target));
            }
            ExprKind::DictComp(c) => c.clauses.iter().for_each(|c| self.target(&c.target)),
            _ => {}
        }
    }
}

/// Every expression of a body, but for those in functions at the places of `without`.
pub(super) fn expressions<'a>(body: &'a [Stmt], without: &[Span], f: &mut dyn FnMut(&'a Expr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(g) if without.contains(&g.span) => continue,
            _ => {}
        }
        for e in visit::own_expressions(stmt) {
            visit::expressions(e, f);
        }
        for block in visit::blocks(stmt) {
            expressions(block, without, f);
        }
    }
}
