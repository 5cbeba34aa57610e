//! Two questions about statements that need no types: which names they assign, and whether they may return.

use std::sync::Arc;

use crate::parser::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::source::Span;

/// Names that the statements assign, each once, in order.
#[must_use]
pub fn assigned(body: &[Stmt]) -> Vec<Arc<str>> {
    let mut names = vec![];
    collect(body, &mut names);
    names
}

fn collect(body: &[Stmt], names: &mut Vec<Arc<str>>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                walrus(value, names);
                for t in targets {
                    target_names(t, names);
                }
            }
            StmtKind::AnnAssign { target, value: Some(_), .. } => target_names(target, names),
            StmtKind::AugAssign { target, .. } => target_names(target, names),
            StmtKind::Expr(e) => walrus(e, names),
            StmtKind::If { branches, orelse } => {
                for b in branches {
                    walrus(&b.test, names);
                    collect(&b.body, names);
                }
                collect(orelse, names);
            }
            StmtKind::For { target, body, orelse, .. } => {
                target_names(target, names);
                collect(body, names);
                collect(orelse, names);
            }
            StmtKind::While { test, body, orelse } => {
                walrus(test, names);
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

/// Names that `:=` binds, where it usually stands.
fn walrus(e: &Expr, names: &mut Vec<Arc<str>>) {
    match &e.kind {
        ExprKind::Walrus { target, value } => {
            add(&target.name, names);
            walrus(value, names);
        }
        ExprKind::Compare { left, rest } => {
            walrus(left, names);
            for (_, e) in rest {
                walrus(e, names);
            }
        }
        ExprKind::BinOp { left, right, .. } => {
            walrus(left, names);
            walrus(right, names);
        }
        ExprKind::UnaryOp { operand, .. } => walrus(operand, names),
        ExprKind::BoolOp { values, .. } => values.iter().for_each(|e| walrus(e, names)),
        ExprKind::Call(call) => call.args.iter().for_each(|e| walrus(e, names)),
        _ => {}
    }
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
