//! The top level of a file as one table: what each name is bound to, which functions there are, what is wrong.
//!
//! 1. The file is parsed and its items are flattened into one table from name to [`Binding`]s.
//! 2. A name may have several bindings (a redefinition, the arms of a `try`, the branches of an `if`). They are kept in
//!    the order in which they are to be tried: the last in the file first, but of a `try` its body first, and of an
//!    `if` its `else` first. A binding under an `if` or a `try` carries what leads to it, so that whoever resolves the
//!    name can decide it. What changes a value otherwise is noted ([`crate::parser::ast::Module::changes`]).
//! 3. A statement of the file sees what was bound above it ([`Binding::end`]), a function what the whole file binds.
//! 4. A kernel inside host functions sees their names before those of the file, in a table of its own ([`inside`]).
//!
//! The table is kept beside the file's text ([`SourceMap::derived`]) and holds nothing that changes: listing kernels,
//! listing configurations and every job, on whatever thread, read the one that the first of them made.

mod inside;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::inside::{Inside, has_kernels};
use crate::diag::Diagnostic;
use crate::irgen::front::assigned::assigned_in;
use crate::parser::ast::{
    Alias, ClassItem, Expr, ExprKind, FunctionDef, Ident, ImportFrom, ImportNames, Item, Stmt, StmtKind,
};
use crate::parser::{parse_module, visit};
use crate::source::{FileId, SourceMap, Span};

/// What a top-level name was bound to.
#[derive(Clone)]
pub enum Bound {
    Function(Arc<FunctionDef>),
    Value(Arc<Expr>),
    /// One element of a tuple assignment, by its index, and its index in that element, and so on.
    Element(Arc<Expr>, Arc<[usize]>),
    /// `import a.b as c`: the dotted path.
    Import(Arc<[String]>),
    /// `from …path import name`
    From {
        level: u32,
        path: Arc<[String]>,
        name: Arc<str>,
        /// `from …path`
        at: Span,
    },
    /// A host function that did not parse.
    Host(Arc<Vec<Diagnostic>>),
    Class(Arc<ClassBody>),
}

/// What a class of the file binds in its body.
pub struct ClassBody {
    pub name: Arc<str>,
    /// The classes that it is made of.
    pub bases: Vec<Expr>,
    pub header: Span,
    names: BTreeMap<String, Vec<Binding>>,
    /// Names whose values change in ways that are not followed, and where.
    changes: BTreeMap<String, Span>,
}

/// One binding of a name.
#[derive(Clone)]
pub struct Binding {
    pub bound: Bound,
    /// What leads here.
    pub guards: Guards,
    /// Where the name is bound: the imported name, the value, the header of a function, the name of a class.
    pub span: Span,
    /// The name itself.
    pub name: Span,
}

impl Binding {
    /// Where the binding has been made: statements behind it see it.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.span.hi.max(self.name.hi)
    }
}

/// What must be so for the control flow of a file to get somewhere.
#[derive(Clone)]
pub enum Guard {
    /// The test has this outcome.
    If(Arc<Expr>, bool),
    /// The body of the `try` comes to its end, or does not.
    Try(Arc<Tried>, bool),
}

pub type Guards = Arc<Vec<Guard>>;

/// What may fail in the body of a `try`.
pub struct Tried {
    /// [`Bound::Import`] and [`Bound::From`], `*` for a file that is imported whole, with their places.
    pub imports: Vec<(Bound, u32)>,
    /// Names and members of packages that are given another name.
    pub members: Vec<Expr>,
    /// Whether it does nothing else that may fail.
    pub is_simple: bool,
    /// The whole statement.
    pub span: Span,
}

/// `from …path import *`
#[derive(Clone)]
pub struct Star {
    pub level: u32,
    pub path: Arc<[String]>,
    /// `from …path`
    pub at: Span,
    pub guards: Guards,
}

/// The top level of a parsed file.
pub struct TopLevel {
    names: BTreeMap<String, Vec<Binding>>,
    /// `from x import *`, in the order to be tried.
    stars: Vec<Star>,
    /// Functions in source order, those nested in host code too.
    pub functions: Vec<Arc<FunctionDef>>,
    /// Syntax errors inside kernels.
    pub errors: Vec<Diagnostic>,
    /// Names whose values change in ways that are not followed, and where.
    changes: BTreeMap<String, Span>,
    /// Names that have some other value here than the file gives them, which is not known, and what sets them.
    hidden: BTreeMap<String, Span>,
    /// The host functions with kernels inside.
    insides: Vec<Inside>,
    /// The headers of those kernels, each with the innermost of the functions around it.
    homes: BTreeMap<Span, usize>,
    /// The headers of functions inside classes and host functions, with the names of these, joined by points.
    owners: BTreeMap<Span, String>,
    /// Where the bodies of functions begin and end.
    bodies: Vec<(u32, u32)>,
}

impl TopLevel {
    /// The table of a file, which is parsed when it is first wanted.
    #[must_use]
    pub fn of(map: &SourceMap, file: FileId) -> Arc<TopLevel> {
        map.derived(file, || TopLevel::parse(map, file))
    }

    fn parse(map: &SourceMap, file: FileId) -> TopLevel {
        let (module, errors) = parse_module(map, file);
        let mut table = Table { inner: module.inner_changes, ..Table::default() };
        table.items(module.items, &Arc::new(vec![]), true);
        let Table { mut names, mut stars, functions, insides, homes, owners, changes, .. } = table;
        names.values_mut().for_each(|bindings| bindings.reverse());
        stars.reverse();
        let range = |f: &FunctionDef| f.body.first().zip(f.body.last()).map(|(a, b)| (a.span.lo, b.span.hi));
        let bodies = functions.iter().filter_map(|f| range(f)).collect();
        let changes = with_aliases(&names, module.changes.into_iter().chain(changes).collect());
        let hidden = BTreeMap::new();
        TopLevel { names, stars, functions, errors, changes, hidden, insides, homes, owners, bodies }
    }

    /// Whether a place of the file belongs to a function, which runs later than the statements around it.
    #[must_use]
    pub fn is_in_a_function(&self, place: u32) -> bool {
        self.bodies.iter().any(|&(lo, hi)| lo <= place && place < hi)
    }

    /// The number of the host function around a kernel, if there is one.
    #[must_use]
    pub fn inside(&self, def: &FunctionDef) -> Option<usize> {
        self.homes.get(&def.header).copied()
    }

    /// The name of a function behind those of the classes and host functions around it: `Class.kernel`.
    #[must_use]
    pub fn full_name(&self, def: &FunctionDef) -> String {
        self.owners.get(&def.header).map_or_else(|| def.name.to_string(), |owner| format!("{owner}.{}", def.name))
    }

    /// What kernels inside a host function of the file see before the names of the file, and the name of that
    /// function.
    #[must_use]
    pub fn seen_inside(&self, function: usize) -> (TopLevel, &str) {
        let inside = &self.insides[function];
        let mut seen = self.part();
        for (name, set) in &inside.names {
            match set {
                Ok(bindings) => _ = seen.names.insert(name.clone(), bindings.clone()),
                Err(span) => _ = seen.hidden.insert(name.clone(), *span),
            }
        }
        (seen, &inside.path)
    }

    /// What the body of a class of the file sees before the names of the file.
    #[must_use]
    pub fn seen_in_class(&self, class: &ClassBody) -> TopLevel {
        TopLevel { names: class.names.clone(), changes: class.changes.clone(), ..self.part() }
    }

    /// A table without names for a part of the file.
    fn part(&self) -> TopLevel {
        TopLevel {
            names: BTreeMap::new(),
            stars: vec![],
            functions: self.functions.clone(),
            errors: vec![],
            changes: BTreeMap::new(),
            hidden: BTreeMap::new(),
            insides: vec![],
            homes: BTreeMap::new(),
            owners: self.owners.clone(),
            bodies: self.bodies.clone(),
        }
    }

    /// Whether a name is bound here, or set to something that is not known.
    #[must_use]
    pub fn binds(&self, name: &str) -> bool {
        self.names.contains_key(name) || self.hidden.contains_key(name)
    }

    /// What sets a name that has some other value here than the file gives it, if that is not known.
    #[must_use]
    pub fn hidden(&self, name: &str) -> Option<Span> {
        self.hidden.get(name).copied()
    }

    /// The bindings of a name in the order to be tried.
    #[must_use]
    pub fn bindings(&self, name: &str) -> &[Binding] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Where the file changes the value of a name in a way that is not followed.
    #[must_use]
    pub fn change(&self, name: &str) -> Option<Span> {
        self.changes.get(name).copied()
    }

    /// All names bound at top level.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Files imported whole.
    #[must_use]
    pub fn stars(&self) -> &[Star] {
        &self.stars
    }
}

/// Flattens items. Bindings are collected so that the last is to be tried first.
#[derive(Default)]
struct Table {
    names: BTreeMap<String, Vec<Binding>>,
    stars: Vec<Star>,
    functions: Vec<Arc<FunctionDef>>,
    insides: Vec<Inside>,
    homes: BTreeMap<Span, usize>,
    owners: BTreeMap<Span, String>,
    /// The classes and host functions that are being read.
    path: Vec<String>,
    /// Names that are bound in a way that is not followed, and where.
    changes: BTreeMap<String, Span>,
    /// The same for the names of functions and classes, by the place of `def` or `class`.
    inner: BTreeMap<u32, BTreeMap<String, Span>>,
    /// The host function that is being read.
    around: Option<usize>,
}

impl Table {
    fn bind(&mut self, name: &Ident, bound: Bound, guards: &Guards, span: Span) {
        let binding = Binding { bound, guards: guards.clone(), span, name: name.span };
        self.names.entry(name.to_string()).or_default().push(binding);
    }

    fn items(&mut self, items: Vec<Item>, guards: &Guards, visible: bool) {
        for item in items {
            self.item(item, guards, visible);
        }
    }

    /// `visible` says whether plain names bound here can be seen by kernels: not those inside a host function.
    fn item(&mut self, item: Item, guards: &Guards, visible: bool) {
        match item {
            Item::Stmt(stmt) if visible => self.statement(stmt, guards),
            Item::Stmt(_) => {}
            Item::Function(f) => self.function(f, guards, visible),
            Item::Opaque(f) => {
                self.within(&f.name, |table| table.items(f.items, guards, false));
                self.bind(&f.name, Bound::Host(Arc::new(f.why)), guards, f.name.span);
            }
            Item::Class(c) => {
                let name = c.name.clone();
                let body = self.class(c);
                if visible {
                    self.bind(&name, Bound::Class(Arc::new(body)), guards, name.span);
                }
            }
            Item::Block(b) => self.items(b.items, guards, visible),
            // Without a handler the file ends where it fails.
            Item::Try(t) if t.handlers.is_empty() => {
                self.items(t.body, guards, visible);
                self.items(t.orelse, guards, visible);
                self.items(t.finalbody, guards, visible);
            }
            Item::Try(t) => {
                let mut imports = vec![];
                imported(&t.body, &mut imports);
                let members: Vec<Expr> = t.body.iter().filter_map(member_of).cloned().collect();
                let does = !imports.is_empty() || !members.is_empty();
                let is_simple = does && t.body.iter().all(cannot_fail_otherwise);
                let tried = Arc::new(Tried { imports, members, is_simple, span: t.span });
                let with = |outcome: bool| {
                    let last = Guard::Try(tried.clone(), outcome);
                    Arc::new(guards.iter().cloned().chain([last]).collect::<Vec<_>>())
                };
                // The body is to be tried first, hence it comes last.
                for handler in t.handlers.into_iter().rev() {
                    self.items(handler, &with(false), visible);
                }
                self.items(t.body, &with(true), visible);
                self.items(t.orelse, &with(true), visible);
                self.items(t.finalbody, guards, visible);
            }
            Item::If(i) => {
                let mut path = (**guards).clone();
                let mut arms = vec![];
                for branch in i.branches {
                    let Some(test) = branch.test.map(Arc::new) else {
                        arms.push((Arc::new(path.clone()), branch.items));
                        continue;
                    };
                    for name in assigned_in(&test) {
                        self.changes.entry(name.to_string()).or_insert(test.span);
                    }
                    let mut own = path.clone();
                    own.push(Guard::If(test.clone(), true));
                    arms.push((Arc::new(own), branch.items));
                    path.push(Guard::If(test, false));
                }
                // Where no test can be decided, the `else` is tried first: tests usually ask for something special.
                for (own, items) in arms.into_iter().rev() {
                    self.items(items, &own, visible);
                }
                self.items(i.orelse, &Arc::new(path), visible);
            }
        }
    }

    /// Reads a class. Its body has names of its own.
    fn class(&mut self, c: ClassItem) -> ClassBody {
        let outer = (std::mem::take(&mut self.names), std::mem::take(&mut self.changes));
        self.within(&c.name, |table| table.items(c.items, &Arc::default(), true));
        let mut names = std::mem::replace(&mut self.names, outer.0);
        let own = std::mem::replace(&mut self.changes, outer.1);
        names.values_mut().for_each(|bindings| bindings.reverse());
        let noted = self.inner.get(&c.header.lo).cloned().unwrap_or_default();
        let changes = with_aliases(&names, noted.into_iter().chain(own).collect());
        ClassBody { name: c.name.name, bases: c.bases, header: c.header, names, changes }
    }

    /// Reads what is inside a class or a host function.
    fn within(&mut self, name: &Ident, read: impl FnOnce(&mut Table)) {
        self.path.push(name.to_string());
        read(self);
        self.path.pop();
    }

    fn function(&mut self, f: FunctionDef, guards: &Guards, visible: bool) {
        if !f.is_jit && has_kernels(&f.body) {
            self.inside(&f, guards);
        }
        if let Some(around) = self.around {
            self.homes.insert(f.header, around);
        }
        if !self.path.is_empty() {
            self.owners.insert(f.header, self.path.join("."));
        }
        let f = Arc::new(f);
        self.functions.push(f.clone());
        if visible {
            let span = f.header;
            self.bind(&f.name, Bound::Function(f.clone()), guards, span);
        }
    }

    /// Reads a host function.
    fn inside(&mut self, f: &FunctionDef, guards: &Guards) {
        let around = self.around;
        let changes = self.inner.get(&f.header.lo).cloned().unwrap_or_default();
        let inside = Inside::new(f, around.map(|outer| &self.insides[outer]), changes);
        self.insides.push(inside);
        self.around = Some(self.insides.len() - 1);
        self.within(&f.name, |table| table.nested(&f.body, guards));
        self.around = around;
    }

    /// Kernels defined inside a host function.
    fn nested(&mut self, body: &[Stmt], guards: &Guards) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::FunctionDef(f) if f.is_jit => self.function((**f).clone(), guards, false),
                StmtKind::FunctionDef(f) => {
                    // It sees the same names as the kernels beside it.
                    if let Some(around) = self.around {
                        self.homes.insert(f.header, around);
                    }
                    if has_kernels(&f.body) {
                        self.inside(f, guards);
                    }
                }
                StmtKind::If { branches, orelse } => {
                    for b in branches {
                        self.nested(&b.body, guards);
                    }
                    self.nested(orelse, guards);
                }
                StmtKind::With { body, .. } | StmtKind::Unsupported { body, .. } => self.nested(body, guards),
                _ => {}
            }
        }
    }

    fn statement(&mut self, stmt: Stmt, guards: &Guards) {
        for name in visit::own_expressions(&stmt).into_iter().flat_map(assigned_in) {
            self.changes.entry(name.to_string()).or_insert(stmt.span);
        }
        match stmt.kind {
            StmtKind::Import(aliases) => aliases.iter().for_each(|a| self.import(a, guards)),
            StmtKind::ImportFrom(from) => self.from(&from, guards, stmt.span),
            StmtKind::Assign { targets, value } => {
                let value = Arc::new(value);
                for t in &targets {
                    self.assign(t, &value, guards);
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => self.assign(&target, &Arc::new(value), guards),
            StmtKind::AugAssign { target, op, value } => {
                let (left, right) = (Box::new(target.clone()), Box::new(value));
                let value = Expr { kind: ExprKind::BinOp { left, op, right }, span: stmt.span };
                self.assign(&target, &Arc::new(value), guards);
            }
            _ => {}
        }
    }

    fn assign(&mut self, target: &Expr, value: &Arc<Expr>, guards: &Guards) {
        self.assign_part(target, value, &mut vec![], guards);
    }

    /// Binds a target to the part of a value with this path.
    fn assign_part(&mut self, target: &Expr, value: &Arc<Expr>, path: &mut Vec<usize>, guards: &Guards) {
        match &target.kind {
            ExprKind::Name(name) => {
                let name = Ident { name: name.clone(), span: target.span };
                let bound = if path.is_empty() {
                    Bound::Value(value.clone())
                } else {
                    Bound::Element(value.clone(), path.as_slice().into())
                };
                self.bind(&name, bound, guards, value.span);
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                let is_star = |t: &Expr| matches!(t.kind, ExprKind::Starred(_));
                let star = targets.iter().position(is_star).unwrap_or(targets.len());
                for (i, t) in targets.iter().enumerate().take(star) {
                    path.push(i);
                    self.assign_part(t, value, path, guards);
                    path.pop();
                }
                for name in targets[star..].iter().flat_map(names_of) {
                    self.changes.entry(name.to_string()).or_insert(target.span);
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, alias: &Alias, guards: &Guards) {
        self.bind(alias.bound(), import_of(alias), guards, alias.span);
    }

    fn from(&mut self, from: &ImportFrom, guards: &Guards, stmt: Span) {
        match &from.names {
            ImportNames::Star(_) => {
                let (path, at) = (path_of(from), from.source_span(stmt));
                self.stars.push(Star { level: from.level, path, at, guards: guards.clone() });
            }
            ImportNames::List(aliases) => {
                for alias in aliases {
                    self.bind(alias.bound(), from_of(from, alias, stmt), guards, alias.span);
                }
            }
        }
    }
}

fn import_of(alias: &Alias) -> Bound {
    let path: Vec<String> = alias.path.iter().map(|p| p.name.to_string()).collect();
    let shown = if alias.asname.is_some() { path } else { path[..1].to_vec() };
    Bound::Import(shown.into())
}

fn from_of(from: &ImportFrom, alias: &Alias, stmt: Span) -> Bound {
    let (path, name) = (path_of(from), Arc::from(&*alias.path[0].name));
    Bound::From { level: from.level, path, name, at: from.source_span(stmt) }
}

fn path_of(from: &ImportFrom) -> Arc<[String]> {
    from.module.iter().map(|p| p.name.to_string()).collect()
}

/// The imports of a block itself.
fn imported(items: &[Item], all: &mut Vec<(Bound, u32)>) {
    for item in items {
        let Item::Stmt(stmt) = item else { continue };
        match &stmt.kind {
            StmtKind::Import(aliases) => {
                let whole = |a: &Alias| Bound::Import(a.path.iter().map(|p| p.name.to_string()).collect());
                all.extend(aliases.iter().map(|a| (whole(a), stmt.span.lo)));
            }
            StmtKind::ImportFrom(from) => match &from.names {
                ImportNames::Star(_) => {
                    let (path, at) = (path_of(from), from.source_span(stmt.span));
                    all.push((Bound::From { level: from.level, path, name: Arc::from("*"), at }, stmt.span.lo));
                }
                ImportNames::List(aliases) => {
                    all.extend(aliases.iter().map(|a| (from_of(from, a, stmt.span), stmt.span.lo)));
                }
            },
            _ => {}
        }
    }
}

/// The member of a package that a part of a `try` gives another name.
fn member_of(item: &Item) -> Option<&Expr> {
    match item {
        Item::Stmt(Stmt { kind: StmtKind::Assign { value, .. }, .. }) if value.dotted().is_some() => Some(value),
        _ => None,
    }
}

/// Whether a part of a `try` cannot fail, but for an import and a member that is not there.
fn cannot_fail_otherwise(item: &Item) -> bool {
    match item {
        Item::Function(_) | Item::Opaque(_) => true,
        Item::Stmt(stmt) => match &stmt.kind {
            StmtKind::Import(_) | StmtKind::ImportFrom(_) | StmtKind::Pass => true,
            StmtKind::Assign { value, .. } | StmtKind::AnnAssign { value: Some(value), .. } => is_plain(value),
            StmtKind::Expr(e) => matches!(e.kind, ExprKind::Constant(_)),
            _ => false,
        },
        _ => false,
    }
}

/// A constant, `tl.constexpr` of one, or a member of a package.
fn is_plain(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Constant(_) => true,
        ExprKind::Call(call) => {
            let is_constexpr = call.func.dotted().is_some_and(|path| path.last() == Some(&"constexpr"));
            is_constexpr && call.keywords.is_empty() && call.args.iter().all(is_plain)
        }
        _ => value.dotted().is_some(),
    }
}

/// The names of a target.
fn names_of(target: &Expr) -> Vec<Arc<str>> {
    let mut names = vec![];
    visit::expressions(target, &mut |e| {
        if let ExprKind::Name(name) = &e.kind {
            names.push(name.clone());
        }
    });
    names
}

/// The changes of names, and of those that hold the same list or dict: `M = L` and `M.append(5)` change `L` too.
fn with_aliases(names: &BTreeMap<String, Vec<Binding>>, mut changes: BTreeMap<String, Span>) -> BTreeMap<String, Span> {
    let mut open: Vec<(String, Span)> = changes.clone().into_iter().collect();
    while let Some((name, span)) = open.pop() {
        for binding in names.get(&name).into_iter().flatten() {
            let Bound::Value(value) = &binding.bound else { continue };
            if let Some(other) = value.as_name().filter(|other| !changes.contains_key(*other)) {
                changes.insert(other.to_owned(), span);
                open.push((other.to_owned(), span));
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irgen::list_kernels;
    use crate::source::SourceFile;

    const KERNEL: &str = "import triton\n@triton.jit\ndef k(x):\n    helper(x)\n";

    #[test]
    fn clones_of_a_map_share_what_was_parsed_and_other_maps_do_not() {
        let mut map = SourceMap::default();
        let file = map.add("k.tk", None, KERNEL);
        let before = map.clone();
        let top = TopLevel::of(&map, file);
        assert_eq!((top.functions.len(), top.bindings("k").len()), (1, 1));
        assert!(Arc::ptr_eq(&top, &TopLevel::of(&before, file)));
        let mut other = SourceMap::default();
        let again = other.add("k.tk", None, KERNEL);
        assert!(!Arc::ptr_eq(&top, &TopLevel::of(&other, again)));
    }

    #[test]
    fn an_embedded_file_is_parsed_once_for_all_maps() {
        let file = Arc::new(SourceFile::embedded("<prelude>/k.tk".to_owned(), KERNEL));
        let mut maps = [SourceMap::default(), SourceMap::default()];
        maps[1].add("other.tk", None, "");
        let ids = maps.each_mut().map(|map| map.embed(0, &file));
        assert_eq!(ids[0], ids[1]);
        assert!(Arc::ptr_eq(&TopLevel::of(&maps[0], ids[0]), &TopLevel::of(&maps[1], ids[1])));
        assert_eq!(maps[1].find("<prelude>/k.tk"), Some(ids[1]));
        assert_eq!(maps[1].iter().count(), 2);
    }

    #[test]
    fn a_value_may_hang_on_many_before_it() {
        let steps = "N += 1\n".repeat(300);
        let text = format!("import triton\nN = 0\n{steps}@triton.jit\ndef k(x, B=N):\n    pass\nN = 7\n");
        let mut map = SourceMap::default();
        let file = map.add("k.py", None, text);
        assert_eq!(list_kernels(&mut map, file, &[]).0[0].params[1].value.as_deref(), Some("300"));
    }

    #[test]
    fn a_second_question_reads_no_import_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lib.py"), "N = 4\n").unwrap();
        let path = folder.path().join("k.py");
        let text = "import triton\nimport triton.language as tl\nfrom lib import N\n@triton.jit\ndef k(x, B: tl.constexpr = N):\n    pass\n";
        let mut map = SourceMap::default();
        let file = map.add("k.py", Some(&path), text);
        let value = |map: &mut SourceMap| list_kernels(map, file, &[]).0[0].params[1].value.clone();
        assert_eq!(value(&mut map).as_deref(), Some("4"));
        let files = map.iter().count();
        std::fs::remove_file(folder.path().join("lib.py")).unwrap();
        std::fs::write(folder.path().join("lib.py"), "N = 8\n").unwrap();
        assert_eq!(value(&mut map).as_deref(), Some("4"));
        assert_eq!(map.iter().count(), files);
    }
}
