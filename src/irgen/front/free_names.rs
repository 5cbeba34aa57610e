//! The names that a function takes from around it: those it reads where neither a parameter nor a statement before has
//! bound them.
//!
//! 1. The body is walked in the order of evaluation, with the names that are bound so far: `scale = scale(x)` reads the
//!    global `scale`, as Triton does.
//! 2. Lambdas, comprehensions and nested functions bind names for themselves alone.
//!
//! Example: `def f(scale): return helper(scale, tl.sum(scale, 0))` takes `helper` and `tl`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::parser::ast::{CompClause, Expr, ExprKind, FStringPart, FunctionDef, Param, Stmt, StmtKind};

/// The free names of a function's body and of its parameters' defaults.
#[must_use]
pub fn free_names(f: &FunctionDef) -> BTreeSet<Arc<str>> {
    let mut walk = Walk::default();
    walk.function(&f.params, |w| w.stmts(&f.body));
    walk.free
}

#[derive(Default)]
struct Walk {
    bound: BTreeSet<Arc<str>>,
    free: BTreeSet<Arc<str>>,
}

impl Walk {
    fn bind(&mut self, name: &Arc<str>) {
        self.bound.insert(name.clone());
    }

    /// Runs `inside` and forgets what it binds.
    fn scope(&mut self, inside: impl FnOnce(&mut Self)) {
        let outer = self.bound.clone();
        inside(self);
        self.bound = outer;
    }

    fn function(&mut self, params: &[Param], body: impl FnOnce(&mut Self)) {
        params.iter().filter_map(|p| p.default.as_ref()).for_each(|e| self.expr(e));
        self.scope(|w| {
            params.iter().for_each(|p| w.bind(&p.name.name));
            body(w);
        });
    }

    fn stmts(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Assign { targets, value } => {
                self.expr(value);
                targets.iter().for_each(|t| self.target(t));
            }
            StmtKind::AnnAssign { target, value, .. } => {
                self.maybe(value.as_ref());
                self.target(target);
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
                self.target(target);
            }
            StmtKind::If { branches, orelse } => {
                for b in branches {
                    self.expr(&b.test);
                    self.stmts(&b.body);
                }
                self.stmts(orelse);
            }
            StmtKind::For { target, iter, body, orelse } => {
                self.expr(iter);
                self.target(target);
                self.stmts(body);
                self.stmts(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.stmts(body);
                self.stmts(orelse);
            }
            StmtKind::With { items, body } => {
                for item in items {
                    self.expr(&item.context);
                    item.target.iter().for_each(|t| self.target(t));
                }
                self.stmts(body);
            }
            StmtKind::FunctionDef(f) => {
                self.function(&f.params, |w| w.stmts(&f.body));
                self.bind(&f.name.name);
            }
            StmtKind::Return(value) => self.maybe(value.as_ref()),
            StmtKind::Raise { exc, cause } => [exc, cause].into_iter().for_each(|e| self.maybe(e.as_ref())),
            StmtKind::Assert { test, msg } => {
                self.expr(test);
                self.maybe(msg.as_ref());
            }
            StmtKind::Del(items) => self.exprs(items),
            StmtKind::Import(names) => names.iter().for_each(|a| self.bind(&a.bound().name)),
            StmtKind::Unsupported { body, .. } => self.stmts(body),
            StmtKind::ImportFrom(_)
            | StmtKind::Global(_)
            | StmtKind::Nonlocal(_)
            | StmtKind::Pass
            | StmtKind::Break
            | StmtKind::Continue => {}
        }
    }

    /// What an assignment binds; the parts of `a[i]` and `a.b` are read.
    fn target(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => self.bind(name),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|t| self.target(t)),
            ExprKind::Starred(inner) => self.target(inner),
            _ => self.expr(e),
        }
    }

    fn exprs<'a>(&mut self, all: impl IntoIterator<Item = &'a Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn maybe(&mut self, e: Option<&Expr>) {
        self.exprs(e);
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                if !self.bound.contains(name) {
                    self.free.insert(name.clone());
                }
            }
            ExprKind::Constant(_) => {}
            ExprKind::FString(f) => self.fstring(&f.parts),
            ExprKind::Attribute { value, .. } => self.expr(value),
            ExprKind::Subscript { value, index } => self.exprs([&**value, index]),
            ExprKind::Slice(s) => self.exprs([&s.lower, &s.upper, &s.step].into_iter().flatten().map(|e| &**e)),
            ExprKind::Call(call) => {
                self.expr(&call.func);
                self.exprs(&call.args);
                self.exprs(call.keywords.iter().map(|k| &k.value));
            }
            ExprKind::UnaryOp { operand, .. } => self.expr(operand),
            ExprKind::BinOp { left, right, .. } => self.exprs([&**left, right]),
            ExprKind::BoolOp { values, .. } => self.exprs(values),
            ExprKind::Compare { left, rest } => {
                self.expr(left);
                self.exprs(rest.iter().map(|(_, e)| e));
            }
            ExprKind::IfExp { test, body, orelse } => self.exprs([&**test, body, orelse]),
            ExprKind::Lambda(l) => self.function(&l.params, |w| w.expr(&l.body)),
            ExprKind::Walrus { target, value } => {
                self.expr(value);
                self.bind(&target.name);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Set(items) => self.exprs(items),
            ExprKind::Dict(items) => items.iter().for_each(|i| self.exprs(i.key.iter().chain([&i.value]))),
            ExprKind::ListComp(c) | ExprKind::SetComp(c) | ExprKind::Generator(c) => {
                self.comprehension(&c.clauses, [&c.element]);
            }
            ExprKind::DictComp(c) => self.comprehension(&c.clauses, [&c.key, &c.value]),
            ExprKind::Starred(inner) | ExprKind::YieldFrom(inner) | ExprKind::Await(inner) => self.expr(inner),
            ExprKind::Yield(value) => self.maybe(value.as_deref()),
        }
    }

    fn comprehension<'a>(&mut self, clauses: &[CompClause], elements: impl IntoIterator<Item = &'a Expr>) {
        self.scope(|w| {
            for clause in clauses {
                w.expr(&clause.iter);
                w.target(&clause.target);
                w.exprs(&clause.ifs);
            }
            w.exprs(elements);
        });
    }

    fn fstring(&mut self, parts: &[FStringPart]) {
        for part in parts {
            if let FStringPart::Field(field) = part {
                self.expr(&field.value);
                field.spec.iter().for_each(|spec| self.fstring(spec));
            }
        }
    }
}
