//! What the host functions around a kernel bind.
//!
//! Names of Python are looked for in the innermost function that binds them. A parameter, a variable that is set more
//! than once, one that is set in a branch or a loop, or a list that changes has a value that depends on how the
//! function runs: it has no binding here, and hides what the file calls by its name. An import, a function, and a
//! variable that is set once, by a statement of the body itself, have the binding that they would have in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Binding, Bound, Table, with_aliases};
use crate::irgen::front::assigned::assigned;
use crate::parser::ast::{FunctionDef, Ident, Stmt, StmtKind};
use crate::source::Span;

/// The names that a host function and those around it bind.
pub(super) struct Inside {
    /// The functions, from the outermost to the innermost, with points in between.
    pub(super) path: String,
    /// The bindings of each name in the order to be tried, or what sets it, where the value is not known: a parameter,
    /// or the header of a function.
    pub(super) names: BTreeMap<String, Result<Vec<Binding>, Span>>,
}

/// Whether a name is bound to a value that may change, and not to a function or a package.
fn holds_data(bindings: &[Binding]) -> bool {
    bindings.iter().any(|b| matches!(b.bound, Bound::Value(_) | Bound::Element(..)))
}

/// Whether a function has kernels inside.
pub(super) fn has_kernels(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::FunctionDef(f) => f.is_jit || has_kernels(&f.body),
        _ => blocks(stmt).into_iter().any(has_kernels),
    })
}

impl Inside {
    /// Reads a function that is inside another one, or at the top level.
    pub(super) fn new(f: &FunctionDef, outer: Option<&Inside>, changes: BTreeMap<String, Span>) -> Inside {
        let path = outer.map_or_else(|| f.name.to_string(), |outer| format!("{}.{}", outer.path, f.name));
        let mut names = outer.map_or_else(BTreeMap::new, |outer| outer.names.clone());
        let (mut elsewhere, mut changed) = (BTreeSet::new(), BTreeSet::new());
        declared(&f.body, false, &mut elsewhere, &mut changed);
        let variables = assigned(&f.body).into_iter().map(|name| (name, f.header));
        let set = variables.chain(f.params.iter().map(|p| (p.name.name.clone(), p.name.span)));
        names.extend(
            set.filter(|(name, _)| !elsewhere.contains(name)).map(|(name, span)| (name.to_string(), Err(span))),
        );
        let mut own = Table::default();
        imports(&f.body, &mut own);
        changed.extend(assigned(&f.body).into_iter().filter(|name| own.names.contains_key(&**name)));
        let mut setters: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for name in f.body.iter().flat_map(|stmt| assigned(std::slice::from_ref(stmt))) {
            *setters.entry(name).or_default() += 1;
        }
        let parameters: BTreeSet<&str> = f.params.iter().map(|p| &*p.name.name).collect();
        for stmt in &f.body {
            let [name] = &assigned(std::slice::from_ref(stmt))[..] else { continue };
            let is_once = setters.get(name) == Some(&1) && !parameters.contains(&**name);
            if !is_once || own.names.contains_key(&**name) {
                continue;
            }
            match &stmt.kind {
                StmtKind::FunctionDef(inner) => {
                    let bound = Bound::Function(Arc::new((**inner).clone()));
                    own.bind(&inner.name, bound, &Arc::default(), inner.header);
                }
                StmtKind::Assign { .. } | StmtKind::AnnAssign { .. } => {
                    own.statement(stmt.clone(), &Arc::default());
                }
                _ => {}
            }
        }
        let changes = with_aliases(&own.names, changes);
        for (name, mut bindings) in own.names {
            if let Some(place) = changes.get(&name).filter(|_| holds_data(&bindings)) {
                names.insert(name, Err(*place));
            } else if !changed.contains(&*name) && !elsewhere.contains(&*name) {
                bindings.reverse();
                names.insert(name, Ok(bindings));
            }
        }
        Inside { path, names }
    }
}

/// Imports of a function, in its blocks too.
fn imports(body: &[Stmt], table: &mut Table) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Import(_) | StmtKind::ImportFrom(_) => table.statement(stmt.clone(), &Arc::default()),
            StmtKind::FunctionDef(_) => {}
            _ => blocks(stmt).into_iter().for_each(|block| imports(block, table)),
        }
    }
}

/// Names that a function declares to be of elsewhere, and those that functions inside it change.
fn declared(body: &[Stmt], is_deeper: bool, elsewhere: &mut BTreeSet<Arc<str>>, changed: &mut BTreeSet<Arc<str>>) {
    let names = |list: &[Ident]| list.iter().map(|name| name.name.clone()).collect::<Vec<_>>();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Global(list) | StmtKind::Nonlocal(list) if !is_deeper => elsewhere.extend(names(list)),
            StmtKind::Nonlocal(list) => changed.extend(names(list)),
            StmtKind::FunctionDef(f) => declared(&f.body, true, elsewhere, changed),
            _ => blocks(stmt).into_iter().for_each(|block| declared(block, is_deeper, elsewhere, changed)),
        }
    }
}

/// The blocks of a statement.
fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::If { branches, orelse } => branches.iter().map(|b| &b.body[..]).chain([&orelse[..]]).collect(),
        StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => vec![body, orelse],
        StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => vec![body],
        _ => vec![],
    }
}
