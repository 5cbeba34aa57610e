//! Questions about statements that need no types: which names they assign, and how, and whether they may return.

use std::sync::Arc;

use crate::parser::ast::{CompClause, Expr, ExprKind, Stmt, StmtKind};
use crate::parser::visit;
use crate::source::Span;

/// Names that the statements assign, each once, in order.
#[must_use]
pub fn assigned(body: &[Stmt]) -> Vec<Arc<str>> {
    let mut names = vec![];
    collect(body, &mut names);
    names
}

/// Names that an expression assigns by `:=`.
#[must_use]
pub fn assigned_in(e: &Expr) -> Vec<Arc<str>> {
    let mut names = vec![];
    walrus(e, &mut names);
    names
}

/// Names that the targets of comprehensions bind: in kernels, unlike in Python, they stay bound.
#[must_use]
pub fn bound_by_comprehensions(body: &[Stmt]) -> Vec<Arc<str>> {
    let mut names = vec![];
    let mut clauses = |all: &[CompClause]| all.iter().for_each(|c| target_names(&c.target, &mut names));
    let mut inside = |e: &Expr| match &e.kind {
        ExprKind::ListComp(c) | ExprKind::SetComp(c) | ExprKind::Generator(c) => clauses(&c.clauses),
        ExprKind::DictComp(c) => clauses(&c.clauses),
        _ => {}
    };
    visit::statements(body, &mut |stmt| {
        visit::own_expressions(stmt).into_iter().for_each(|e| visit::expressions(e, &mut |e| inside(e)));
    });
    names
}

/// Names that only `for` loops and comprehensions assign, as their variables.
#[must_use]
pub fn only_counted(body: &[Stmt]) -> Vec<Arc<str>> {
    let (mut counted, mut other) = (bound_by_comprehensions(body), vec![]);
    sort_by_setter(body, &mut counted, &mut other);
    counted.retain(|name| !other.contains(name));
    counted
}

fn sort_by_setter(body: &[Stmt], counted: &mut Vec<Arc<str>>, other: &mut Vec<Arc<str>>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::For { target, iter, body, orelse } => {
                target_names(target, counted);
                walrus(iter, other);
                sort_by_setter(body, counted, other);
                sort_by_setter(orelse, counted, other);
            }
            StmtKind::If { branches, orelse } => {
                for b in branches {
                    walrus(&b.test, other);
                    sort_by_setter(&b.body, counted, other);
                }
                sort_by_setter(orelse, counted, other);
            }
            _ => collect(std::slice::from_ref(stmt), other),
        }
    }
}

fn collect(body: &[Stmt], names: &mut Vec<Arc<str>>) {
    for stmt in body {
        visit::own_expressions(stmt).into_iter().for_each(|e| walrus(e, names));
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target_names(t, names)),
            StmtKind::AnnAssign { target, value: Some(_), .. } => target_names(target, names),
            StmtKind::AugAssign { target, .. } => target_names(target, names),
            StmtKind::If { branches, orelse } => {
                branches.iter().for_each(|b| collect(&b.body, names));
                collect(orelse, names);
            }
            StmtKind::For { target, body, orelse, .. } => {
                target_names(target, names);
                collect(body, names);
                collect(orelse, names);
            }
            StmtKind::While { body, orelse, .. } => {
                collect(body, names);
                collect(orelse, names);
            }
            StmtKind::With { items, body } => {
                items.iter().filter_map(|i| i.target.as_ref()).for_each(|t| target_names(t, names));
                collect(body, names);
            }
            StmtKind::Unsupported { body, .. } => collect(body, names),
            StmtKind::FunctionDef(f) => add(&f.name.name, names),
            _ => {}
        }
    }
}

fn add(name: &Arc<str>, names: &mut Vec<Arc<str>>) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}

fn target_names(target: &Expr, names: &mut Vec<Arc<str>>) {
    match &target.kind {
        ExprKind::Name(name) => add(name, names),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|t| target_names(t, names)),
        ExprKind::Starred(inner) => target_names(inner, names),
        _ => {}
    }
}

/// Names that `:=` binds, anywhere in an expression.
fn walrus(e: &Expr, names: &mut Vec<Arc<str>>) {
    visit::expressions(e, &mut |e| {
        if let ExprKind::Walrus { target, .. } = &e.kind {
            add(&target.name, names);
        }
    });
}

/// Whether a `return` stands anywhere in the statements.
#[must_use]
pub fn returns(body: &[Stmt]) -> bool {
    first_return(body).is_some()
}

/// Where the first `return` in the statements stands.
#[must_use]
pub fn first_return(body: &[Stmt]) -> Option<Span> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Return(_) => Some(stmt.span),
        StmtKind::If { branches, orelse } => {
            branches.iter().find_map(|b| first_return(&b.body)).or_else(|| first_return(orelse))
        }
        StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
            first_return(body).or_else(|| first_return(orelse))
        }
        StmtKind::With { body, .. } => first_return(body),
        _ => None,
    })
}
