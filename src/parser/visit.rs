//! Walks over the syntax tree.
//!
//! [`statements`] visits every statement of a body, those in blocks too; [`children`] the expressions directly inside
//! of one; [`expressions`] every expression of a body. Nested functions count as part of the body that they stand in.

use super::ast::{Call, CompClause, Expr, ExprKind, FStringPart, Stmt, StmtKind};

/// Every statement in source order, outer ones first.
pub fn statements<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        f(stmt);
        for block in blocks(stmt) {
            statements(block, f);
        }
    }
}

/// The blocks of a compound statement.
#[must_use]
pub fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::If { branches, orelse } => {
            branches.iter().map(|b| b.body.as_slice()).chain([orelse.as_slice()]).collect()
        }
        StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => vec![body, orelse],
        StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => vec![body],
        StmtKind::FunctionDef(f) => vec![&f.body],
        _ => vec![],
    }
}

/// The expressions of a statement itself, without those in its blocks.
#[must_use]
pub fn own_expressions(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Expr(e) => vec![e],
        StmtKind::Assign { targets, value } => targets.iter().chain([value]).collect(),
        StmtKind::AnnAssign { target, annotation, value } => {
            [target, annotation].into_iter().chain(value.as_ref()).collect()
        }
        StmtKind::AugAssign { target, value, .. } => vec![target, value],
        StmtKind::If { branches, .. } => branches.iter().map(|b| &b.test).collect(),
        StmtKind::For { target, iter, .. } => vec![target, iter],
        StmtKind::While { test, .. } => vec![test],
        StmtKind::With { items, .. } => {
            items.iter().flat_map(|i| [&i.context].into_iter().chain(i.target.as_ref())).collect()
        }
        StmtKind::Return(e) => e.iter().collect(),
        StmtKind::Raise { exc, cause } => exc.iter().chain(cause).collect(),
        StmtKind::Assert { test, msg } => [test].into_iter().chain(msg.as_ref()).collect(),
        StmtKind::Del(targets) => targets.iter().collect(),
        _ => vec![],
    }
}

/// Every call in source order, outer ones first.
pub fn calls<'a>(body: &'a [Stmt], f: &mut dyn FnMut(&'a Call)) {
    statements(body, &mut |stmt| {
        for e in own_expressions(stmt) {
            expressions(e, &mut |e| {
                if let ExprKind::Call(call) = &e.kind {
                    f(call);
                }
            });
        }
    });
}

/// The expression and all those inside of it, outer ones first.
pub fn expressions<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(e);
    for child in children(e) {
        expressions(child, f);
    }
}

/// The expressions directly inside of one.
#[must_use]
pub fn children(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Name(_) | ExprKind::Constant(_) | ExprKind::Yield(None) => vec![],
        ExprKind::FString(s) => fields(&s.parts),
        ExprKind::Attribute { value, .. } => vec![value],
        ExprKind::Subscript { value, index } => vec![value, index],
        ExprKind::Slice(s) => [&s.lower, &s.upper, &s.step].into_iter().flatten().map(|e| &**e).collect(),
        ExprKind::Call(c) => [&c.func].into_iter().chain(&c.args).chain(c.keywords.iter().map(|k| &k.value)).collect(),
        ExprKind::UnaryOp { operand: e, .. }
        | ExprKind::Starred(e)
        | ExprKind::Yield(Some(e))
        | ExprKind::YieldFrom(e)
        | ExprKind::Await(e)
        | ExprKind::Walrus { value: e, .. } => vec![e],
        ExprKind::BinOp { left, right, .. } => vec![left, right],
        ExprKind::BoolOp { values: items, .. }
        | ExprKind::Tuple(items)
        | ExprKind::List(items)
        | ExprKind::Set(items) => items.iter().collect(),
        ExprKind::Compare { left, rest } => [&**left].into_iter().chain(rest.iter().map(|(_, e)| e)).collect(),
        ExprKind::IfExp { test, body, orelse } => vec![test, body, orelse],
        ExprKind::Lambda(l) => vec![&l.body],
        ExprKind::Dict(items) => items.iter().flat_map(|i| i.key.iter().chain([&i.value])).collect(),
        ExprKind::ListComp(c) | ExprKind::SetComp(c) | ExprKind::Generator(c) => {
            [&c.element].into_iter().chain(clauses(&c.clauses)).collect()
        }
        ExprKind::DictComp(c) => [&c.key, &c.value].into_iter().chain(clauses(&c.clauses)).collect(),
    }
}

fn clauses(all: &[CompClause]) -> impl Iterator<Item = &Expr> {
    all.iter().flat_map(|c| [&c.target, &c.iter].into_iter().chain(&c.ifs))
}

fn fields(parts: &[FStringPart]) -> Vec<&Expr> {
    let mut out = vec![];
    for part in parts {
        if let FStringPart::Field(field) = part {
            out.push(&field.value);
            out.extend(field.spec.iter().flat_map(|s| fields(s)));
        }
    }
    out
}
