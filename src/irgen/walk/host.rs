//! Host code at compile time: the dicts, lists and loops with which files write down configurations.
//!
//! Kernels have none of this. It is evaluated in frames with [`super::frame::Frame::host`], as Python would run it, on
//! values known at compile time:
//!
//! 1. Dicts are lists of pairs in the order of their keys. Lists and tuples are both [`Object::Tuple`], of
//!    different forms.
//! 2. Values never change. What changes a list in Python (`configs.append(c)`, `d["k"] = v`) binds the name to a new
//!    value, which is the same thing as long as nothing else holds the list; where something does, it is an error
//!    rather than a wrong answer.
//! 3. Calls as statements whose effect nobody can see (`warnings.warn(…)`, `logger.info(…)`) are passed.
//!
//! Example: `[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (4, 8)]` gives four configurations.

use std::rc::Rc;
use std::sync::Arc;

use super::frame::Jump;
use super::walker::Walker;
use crate::diag::codes::{names, types};
use crate::irgen::emit::R;
use crate::irgen::front::top_level::Bound;
use crate::irgen::semantic::{faults, fold, items};
use crate::irgen::value::{Const, Items, Object};
use crate::parser::ast::{
    Call, Comp, CompClause, DictComp, DictItem, Expr, ExprKind, ImportFrom, ImportNames, Stmt, StmtKind,
};
use crate::parser::visit;

/// What to write instead of a dict in a kernel.
pub const NO_DICT: &str =
    "use a name for each value, or a tuple; a dict at the top level of the file can be read in kernels";

/// Packages whose functions do nothing that an evaluation could see.
const SILENT: [&str; 4] = ["warnings", "logging", "logger", "log"];

/// Whether a statement's blocks run in order where nothing fails: the parts of a `try`.
#[must_use]
pub(super) fn passes_through(keyword: &str) -> bool {
    matches!(keyword, "try" | "except" | "else" | "finally")
}

/// Python's functions that run over what they are given later, while a loop runs.
const LAZY: [&str; 5] = ["enumerate", "zip", "map", "filter", "reversed"];

/// The names that a target binds.
fn target_names(target: &Expr) -> Vec<Arc<str>> {
    let mut names = vec![];
    visit::expressions(target, &mut |e| {
        if let ExprKind::Name(name) = &e.kind {
            names.push(name.clone());
        }
    });
    names
}

impl Walker<'_> {
    /// The lists that a loop over such a function's value goes through, to be kept while it runs: they may not change.
    pub(super) fn lists_in(&self, iter: &Expr) -> Vec<Object> {
        let ExprKind::Call(call) = &iter.kind else { return vec![] };
        let is_lazy = self.frame.host && call.func.as_name().is_some_and(|name| LAZY.contains(&name));
        let names = call.args.iter().filter_map(Expr::as_name).filter(|_| is_lazy);
        names.filter_map(|name| self.frame.local(name).cloned()).collect()
    }

    /// `{k: v, **other}`
    pub fn dict(&mut self, items: &[DictItem]) -> R<Object> {
        if !self.frame.host {
            return Err(self.out.no_syntax("a dict", NO_DICT));
        }
        let mut all = Rc::new(Items::new(vec![]));
        for item in items {
            let value = self.expr(&item.value)?;
            let added = match &item.key {
                Some(key) => Rc::new(Items::new(vec![(self.expr(key)?, value)])),
                None => match value {
                    Object::Dict(more) => more,
                    other => return Err(faults::expected(&mut self.out, "a dict after `**`", &other)),
                },
            };
            all = Rc::new(fold::merge_dicts(&mut self.out, &all, &added)?);
        }
        Ok(Object::Dict(all))
    }

    /// `{k: v for … in …}`
    pub fn dict_comprehension(&mut self, c: &DictComp) -> R<Object> {
        if !self.frame.host {
            return Err(self.out.no_syntax("a dict", NO_DICT));
        }
        let mut all = vec![];
        self.clauses(&c.clauses, &mut |cx| {
            let pair = (cx.expr(&c.key)?, cx.expr(&c.value)?);
            all.push(pair);
            Ok(())
        })?;
        Ok(Object::Dict(Rc::new(fold::merge_dicts(&mut self.out, &[], &all)?)))
    }

    /// A comprehension with any number of `for`s, whose names end with it.
    pub fn host_comprehension(&mut self, c: &Comp) -> R<Object> {
        let mut out = vec![];
        self.clauses(&c.clauses, &mut |cx| {
            let v = cx.expr(&c.element)?;
            out.push(v);
            Ok(())
        })?;
        Ok(Object::list(out))
    }

    fn clauses(&mut self, clauses: &[CompClause], element: &mut dyn FnMut(&mut Self) -> R<()>) -> R<()> {
        let before = self.frame.scope.clone();
        let result = self.clause(clauses, element);
        // What `:=` sets stays.
        for name in clauses.iter().flat_map(|c| target_names(&c.target)) {
            match before.get(&name) {
                Some(v) => self.frame.scope.set(&name, v.clone()),
                None => self.frame.scope.remove(&name),
            }
        }
        result
    }

    fn clause(&mut self, clauses: &[CompClause], element: &mut dyn FnMut(&mut Self) -> R<()>) -> R<()> {
        let Some((first, rest)) = clauses.split_first() else { return element(self) };
        let over = self.expr(&first.iter)?;
        let Some(items) = items::iterate(&over) else {
            return Err(faults::no_unrolling(&mut self.out, &over, "a comprehension"));
        };
        for item in items {
            self.host_step()?;
            self.bind_target(&first.target, item);
            let mut keep = true;
            for test in &first.ifs {
                let v = self.expr(test)?;
                keep = fold::truth(&mut self.out, &v)?;
                if !keep {
                    break;
                }
            }
            if keep {
                self.clause(rest, element)?;
            }
        }
        Ok(())
    }

    /// Counts a step of host code.
    fn host_step(&mut self) -> R<()> {
        self.out.step()
    }

    /// A call that stands as a statement of host code; `None` if it is like any other expression.
    pub fn host_call(&mut self, call: &Call) -> Option<R<()>> {
        if call.func.dotted().is_some_and(|path| path.len() > 1 && SILENT.contains(&path[0])) {
            return Some(Ok(()));
        }
        let ExprKind::Attribute { value, attr } = &call.func.kind else { return None };
        let ExprKind::Name(name) = &value.kind else { return None };
        let (method, known) = (&*attr.name, self.frame.scope.get(name)?);
        if !matches!((known, method), (Object::Tuple(_), "append" | "extend" | "insert") | (Object::Dict(_), "update"))
        {
            return None;
        }
        Some(self.change(name, method, call))
    }

    fn change(&mut self, name: &Arc<str>, method: &str, call: &Call) -> R<()> {
        let args = self.exprs(&call.args)?;
        if !call.keywords.is_empty() {
            return Err(self
                .out
                .no_syntax("a keyword in a call that changes a list or a dict", "pass the values without keywords"));
        }
        self.own(name)?;
        let old = self.frame.scope.get(name).cloned().unwrap_or(Object::Error);
        let new = match (&old, method, args.as_slice()) {
            (Object::Tuple(items), "append", [v]) => Object::list(items.iter().chain([v]).cloned().collect()),
            (Object::Tuple(items), "extend", [more]) => {
                let Some(more) = items::iterate(more) else {
                    return Err(faults::expected(&mut self.out, "something to run over", more));
                };
                Object::list(items.iter().cloned().chain(more).collect())
            }
            (Object::Tuple(items), "insert", [Object::Const(Const::Int(at)), v]) => {
                let mut items = items.to_vec();
                let at = if *at < 0 { at + items.len() as i128 } else { *at }.clamp(0, items.len() as i128);
                items.insert(at as usize, v.clone());
                Object::list(items)
            }
            (Object::Dict(items), "update", [Object::Dict(more)]) => {
                Object::Dict(Rc::new(fold::merge_dicts(&mut self.out, items, more)?))
            }
            _ => {
                return Err(self.out.error_help(
                    &names::BAD_ARGUMENTS,
                    format!("`{method}` does not take these arguments"),
                    "in this call",
                    "as Python does: `append(x)`, `extend(list)`, `insert(index, x)`, `update(dict)`",
                ));
            }
        };
        let new = fold::made(&mut self.out, new)?;
        self.frame.scope.set(name, new);
        Ok(())
    }

    /// Refuses to change what another name or value holds too: the other one would have to change with it.
    pub(super) fn own(&mut self, name: &Arc<str>) -> R<()> {
        let holders = match self.frame.scope.get(name) {
            Some(Object::Tuple(items)) => Rc::strong_count(items),
            Some(Object::Dict(items)) => Rc::strong_count(items),
            _ => 1,
        };
        if holders > 1 {
            return Err(self.out.error_help(
                &names::UNSUPPORTED,
                format!("changing `{name}`, which has another name too, is not supported at compile time"),
                "changed here",
                format!("make a copy first: `{name} = list({name})`"),
            ));
        }
        Ok(())
    }

    /// `name[key] = value`
    pub fn assign_item(&mut self, target: &Expr, value: Object) -> R<()> {
        let ExprKind::Subscript { value: base, index } = &target.kind else {
            return Err(self.out.no_syntax("this assignment", "assign to a name"));
        };
        let ExprKind::Name(name) = &base.kind else {
            return Err(self.out.no_syntax("assignment to an element of an expression", "give the list a name first"));
        };
        let key = self.expr(index)?;
        self.own(name)?;
        let changed = match (self.frame.scope.get(name), &key) {
            (Some(Object::Dict(items)), _) => {
                let items = items.clone();
                Object::Dict(Rc::new(fold::merge_dicts(&mut self.out, &items, &[(key, value)])?))
            }
            (Some(Object::Tuple(items)), Object::Const(Const::Int(i))) => {
                let at = if *i < 0 { i + items.len() as i128 } else { *i };
                let mut items = items.to_vec();
                match usize::try_from(at).ok().and_then(|i| items.get_mut(i)) {
                    Some(slot) => *slot = value,
                    None => {
                        return Err(self.out.error_help(
                            &types::INDEX,
                            format!("the index {i} is outside of the list"),
                            "out of range",
                            format!("the list has {} items", items.len()),
                        ));
                    }
                }
                Object::list(items)
            }
            _ => {
                return Err(self
                    .out
                    .no_syntax("assignment to an element of anything but a list or a dict", "make a new value"));
            }
        };
        let changed = fold::made(&mut self.out, changed)?;
        self.frame.scope.set(name, changed);
        Ok(())
    }

    /// The body of a `try` in a host function. If it fails, so does the function: what would be raised is not known. An
    /// import that is not found may be found by Python, so what comes of it is not known either.
    pub(super) fn host_try(&mut self, body: &[Stmt]) -> R<()> {
        for stmt in body {
            self.stmts(std::slice::from_ref(stmt));
            let names: Vec<&Arc<str>> = match &stmt.kind {
                StmtKind::Import(aliases) => aliases.iter().map(|a| &a.bound().name).collect(),
                StmtKind::ImportFrom(ImportFrom { names: ImportNames::List(aliases), .. }) => {
                    aliases.iter().map(|a| &a.bound().name).collect()
                }
                _ => continue,
            };
            if names.iter().any(|name| matches!(self.frame.scope.get(name), Some(Object::Error))) {
                return Err(self.at(stmt.span, |cx| cx.out.unsupported("a `try` around an import that is not found")));
            }
        }
        Ok(())
    }

    /// An import inside a host function. What cannot be found is an error where it is used.
    pub fn host_import(&mut self, stmt: &Stmt) {
        let module = self.frame.module;
        let mut bind = |name: &Arc<str>, bound: &Bound| {
            let value = self.bound(module, bound).unwrap_or(Object::Error);
            self.frame.scope.set(name, value);
        };
        match &stmt.kind {
            StmtKind::Import(aliases) => {
                for a in aliases {
                    let path: Vec<String> = a.path.iter().map(|p| p.name.to_string()).collect();
                    let shown = if a.asname.is_some() { path } else { path[..1].to_vec() };
                    bind(&a.bound().name, &Bound::Import(shown.into()));
                }
            }
            StmtKind::ImportFrom(from) => {
                let path: Arc<[String]> = from.module.iter().map(|p| p.name.to_string()).collect();
                let ImportNames::List(aliases) = &from.names else { return };
                for a in aliases {
                    let name = Arc::from(&*a.path[0].name);
                    bind(
                        &a.bound().name,
                        &Bound::From { level: from.level, path: path.clone(), name, at: from.source_span(stmt.span) },
                    );
                }
            }
            _ => {}
        }
    }

    /// Ends a round of a compile-time loop: whether the loop goes on.
    pub fn next_round(&mut self) -> R<bool> {
        self.host_step()?;
        Ok(self.frame.jump.take() != Some(Jump::Break) && self.is_live())
    }
}
