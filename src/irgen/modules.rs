//! Files and their top-level names: parsed once, followed across imports, never executed.
//!
//! 1. A file is parsed when it is first wanted; its items are flattened into one table from name to [`Binding`]s.
//! 2. A name may have several bindings (a redefinition, the arms of a `try`, the branches of an `if`). They are kept in the order in which
//!    they are to be tried: the last in the file first, but of a `try` its body first, and of an `if` its `else` first. A binding under an `if` carries the
//!    tests that lead to it, so that whoever resolves the name can decide them. What changes a value otherwise is noted ([`crate::parser::ast::Module::changes`]).
//! 3. An import names a built-in [`Space`] or a file: relative ones start at the importing file's folder, absolute ones at the folders given
//!    with `-I` (and `src` and `python` in them) and at every folder above the importing file.
//!
//! Example: `try: from .fast import f` / `except ImportError: from .slow import f` gives `f` two bindings; the first whose file exists and
//! defines `f` wins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::value::{Func, Space};
use crate::diag::Diagnostic;
use crate::parser::ast::{Alias, Expr, ExprKind, FunctionDef, ImportFrom, ImportNames, Item, Stmt, StmtKind};
use crate::parser::parse_module;
use crate::source::{FileId, SourceMap, Span};
use crate::text_file;

/// What a top-level name was bound to.
#[derive(Clone)]
pub enum Bound {
    Function(Rc<FunctionDef>),
    Value(Rc<Expr>),
    /// One element of a tuple assignment.
    Element(Rc<Expr>, usize),
    /// `import a.b as c`: the dotted path.
    Import(Rc<[String]>),
    /// `from …path import name`
    From {
        level: u32,
        path: Rc<[String]>,
        name: Rc<str>,
        /// `from …path`
        at: Span,
    },
    /// A host function that did not parse, or a class.
    Host(Rc<Vec<Diagnostic>>),
}

/// One binding of a name.
#[derive(Clone)]
pub struct Binding {
    pub bound: Bound,
    /// Tests with the outcome that leads here.
    pub guards: Rc<Vec<(Rc<Expr>, bool)>>,
    /// Where the name is bound: the imported name, the value, the header of a function, the name of a class.
    pub span: Span,
}

/// `from …path import *`
#[derive(Clone)]
pub struct Star {
    pub level: u32,
    pub path: Rc<[String]>,
    /// `from …path`
    pub at: Span,
}

/// A parsed file.
pub struct ModuleData {
    pub file: FileId,
    /// Dotted name used in the names of its functions in the IR.
    pub name: String,
    pub path: Option<PathBuf>,
    names: BTreeMap<String, Vec<Binding>>,
    /// `from x import *`, in the order to be tried.
    stars: Vec<Star>,
    /// Functions in source order, those nested in host code too.
    pub functions: Vec<Rc<FunctionDef>>,
    /// Syntax errors inside kernels.
    pub errors: Vec<Diagnostic>,
    /// Part of the library that is embedded in the compiler.
    pub prelude: bool,
    /// Names whose values change in ways that are not followed, and where.
    changes: BTreeMap<String, Span>,
}

impl ModuleData {
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

/// Where an import leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Space(Space),
    Module(usize),
    /// A folder without code of its own.
    Nothing,
}

/// All files of one compilation.
pub struct Modules<'m> {
    pub map: &'m mut SourceMap,
    include_dirs: Vec<PathBuf>,
    list: Vec<ModuleData>,
    by_path: BTreeMap<PathBuf, Option<usize>>,
    /// Bytes of the files that were imported.
    imported: usize,
    /// Files that an import leads to and that cannot be read.
    unreadable: BTreeMap<PathBuf, Diagnostic>,
}

impl<'m> Modules<'m> {
    #[must_use]
    pub fn new(map: &'m mut SourceMap, include_dirs: &[PathBuf]) -> Modules<'m> {
        let mut dirs = vec![];
        for dir in include_dirs {
            dirs.extend([dir.clone(), dir.join("src"), dir.join("python")]);
        }
        Modules { map, include_dirs: dirs, list: vec![], by_path: BTreeMap::new(), imported: 0, unreadable: BTreeMap::new() }
    }

    #[must_use]
    pub fn get(&self, module: usize) -> &ModuleData {
        &self.list[module]
    }

    /// The name of a function across files: `module.function`.
    #[must_use]
    pub fn qualified(&self, f: &Func) -> String {
        format!("{}.{}", self.list[f.module].name, f.name())
    }

    /// Parses a file that is in the source map.
    pub fn add(&mut self, file: FileId, name: &str, prelude: bool) -> usize {
        let path = self.map.file(file).path.clone();
        let (module, errors) = parse_module(self.map, file);
        let mut table = Table::default();
        table.items(module.items, &Rc::new(vec![]), true);
        let Table { names, stars, functions } = table;
        let mut names: BTreeMap<String, Vec<Binding>> = names;
        for bindings in names.values_mut() {
            bindings.reverse();
        }
        let index = self.list.len();
        if let Some(path) = &path {
            self.by_path.insert(path.clone(), Some(index));
        }
        let stars = stars.into_iter().rev().collect();
        self.list.push(ModuleData { file, name: name.to_owned(), path, names, stars, functions, errors, prelude, changes: module.changes });
        index
    }

    /// Loads a file from disk unless it is loaded.
    fn load(&mut self, path: &Path) -> Option<usize> {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        self.by_path.insert(path.to_owned(), None);
        let read = text_file::read_plain_file(path).and_then(|text| {
            // Imports share what one file may have, so that many of them are no way around it.
            self.imported += text.len();
            text_file::check_source(path, self.imported).map(|()| text)
        });
        let text = match read {
            Ok(text) => text,
            Err(why) => {
                self.unreadable.insert(path.to_owned(), why);
                return None;
            }
        };
        let file = self.map.add(path.display().to_string(), Some(path), text);
        let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let parent = path.parent().and_then(Path::file_name).map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let name = if stem == "__init__" { parent } else { format!("{parent}.{stem}") };
        Some(self.add(file, name.trim_start_matches('.'), false))
    }

    /// Why the file that one of a name's imports leads to cannot be read, if that is so.
    #[must_use]
    pub fn unreadable(&self, module: usize, name: &str) -> Option<&Diagnostic> {
        let of = |path: &[String], level: u32| {
            let bases = self.bases(module, level);
            let mut files = bases.iter().flat_map(|base| files_at(&path.iter().fold(base.clone(), |dir, part| dir.join(part))));
            files.find_map(|file| self.unreadable.get(&file))
        };
        self.list[module].bindings(name).iter().find_map(|binding| match &binding.bound {
            Bound::Import(path) => of(path, 0),
            Bound::From { level, path, name, .. } => of(path, *level).or_else(|| of(&[path, &[name.to_string()][..]].concat(), *level)),
            _ => None,
        })
    }

    /// The module at `base`, without its extension: a file or a package.
    fn at(&mut self, base: &Path) -> Option<Target> {
        let [python, kernels, init] = files_at(base);
        for file in [python, kernels] {
            if file.is_file() {
                return self.load(&file).map(Target::Module);
            }
        }
        if base.is_dir() {
            return Some(if init.is_file() { self.load(&init).map_or(Target::Nothing, Target::Module) } else { Target::Nothing });
        }
        None
    }

    /// Folders at which the import of a module may start.
    fn bases(&self, from: usize, level: u32) -> Vec<PathBuf> {
        let here = self.list[from].path.as_deref().and_then(Path::parent).map(Path::to_owned);
        if level > 0 {
            let up = here.map(|h| {
                let h = if h.as_os_str().is_empty() { PathBuf::from(".") } else { h };
                (1..level).fold(h, |dir, _| dir.join(".."))
            });
            return up.into_iter().collect();
        }
        let above = here.into_iter().flat_map(|h| h.ancestors().map(Path::to_owned).collect::<Vec<_>>()).take(16);
        self.include_dirs.iter().cloned().chain(above).collect()
    }

    /// Follows the path of an import.
    pub fn import(&mut self, from: usize, level: u32, path: &[String]) -> Option<Target> {
        if level == 0
            && let Some(space) = builtin_space(path)
        {
            return Some(Target::Space(space));
        }
        let bases = self.bases(from, level);
        bases.iter().find_map(|base| self.at(&path.iter().fold(base.clone(), |dir, part| dir.join(part))))
    }

    /// Follows `path` and then `name` as a file or package in it.
    pub fn submodule(&mut self, from: usize, level: u32, path: &[String], name: &str) -> Option<Target> {
        let mut full = path.to_vec();
        full.push(name.to_owned());
        self.import(from, level, &full)
    }
}

/// Where the module at `base` may be, in the order in which it is looked for.
fn files_at(base: &Path) -> [PathBuf; 3] {
    let with = |extension: &str| {
        let mut file = base.as_os_str().to_owned();
        file.push(extension);
        PathBuf::from(file)
    };
    [with(".py"), with(".tk"), base.join("__init__.py")]
}

/// The packages that are part of the compiler.
fn builtin_space(path: &[String]) -> Option<Space> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    Some(match parts.as_slice() {
        ["math"] => Space::PyMath,
        ["os"] => Space::Os,
        ["torch"] => Space::Torch,
        ["torch", "cuda"] => Space::TorchCuda,
        ["itertools"] => Space::Itertools,
        ["triton"] => Space::Triton,
        ["triton", "runtime"] => Space::Runtime,
        ["triton", "runtime", "driver"] => Space::Driver,
        ["triton", "language"] | ["triton", "language", "core" | "standard" | "random" | "semantic"] => Space::Language,
        // PyTorch's generated kernels import them from there.
        ["torch", "_inductor", "runtime", "triton_helpers", "libdevice"] => Space::Libdevice,
        ["torch", "_inductor", "runtime", "triton_helpers", "math"] | ["triton", "language", "math"] => Space::Math,
        ["triton", "language", "extra"] => Space::Extra,
        ["triton", "language", "target_info"] => Space::TargetInfo,
        ["triton", "language", "extra", "cuda" | "hip"] => Space::Cuda,
        ["triton", "language", "libdevice"]
        | ["triton", "language", "extra", "libdevice"]
        | ["triton", "language", "extra", "cuda" | "hip", "libdevice"] => Space::Libdevice,
        _ => return None,
    })
}

/// Flattens items. Bindings are collected so that the last is to be tried first.
#[derive(Default)]
struct Table {
    names: BTreeMap<String, Vec<Binding>>,
    stars: Vec<Star>,
    functions: Vec<Rc<FunctionDef>>,
}

type Guards = Rc<Vec<(Rc<Expr>, bool)>>;

impl Table {
    fn bind(&mut self, name: &str, bound: Bound, guards: &Guards, span: Span) {
        self.names.entry(name.to_owned()).or_default().push(Binding { bound, guards: guards.clone(), span });
    }

    fn items(&mut self, items: Vec<Item>, guards: &Guards, visible: bool) {
        for item in items {
            self.item(item, guards, visible);
        }
    }

    /// `visible` says whether plain names bound here can be seen by kernels: not those inside a class or a host function.
    fn item(&mut self, item: Item, guards: &Guards, visible: bool) {
        match item {
            Item::Stmt(stmt) if visible => self.statement(stmt, guards),
            Item::Stmt(_) => {}
            Item::Function(f) => self.function(f, guards, visible),
            Item::Opaque(f) => {
                self.items(f.items, guards, false);
                self.bind(&f.name.name, Bound::Host(Rc::new(f.why)), guards, f.name.span);
            }
            Item::Class(c) => {
                self.items(c.items, guards, false);
                self.bind(&c.name.name, Bound::Host(Rc::default()), guards, c.name.span);
            }
            Item::Block(b) => self.items(b.items, guards, visible),
            Item::Try(t) => {
                // The body is to be tried first, hence it comes last.
                for handler in t.handlers.into_iter().rev() {
                    self.items(handler, guards, visible);
                }
                self.items(t.body, guards, visible);
                self.items(t.orelse, guards, visible);
                self.items(t.finalbody, guards, visible);
            }
            Item::If(i) => {
                let mut path = (**guards).clone();
                let mut arms = vec![];
                for branch in i.branches {
                    let Some(test) = branch.test.map(Rc::new) else {
                        arms.push((Rc::new(path.clone()), branch.items));
                        continue;
                    };
                    let mut own = path.clone();
                    own.push((test.clone(), true));
                    arms.push((Rc::new(own), branch.items));
                    path.push((test, false));
                }
                // Where no test can be decided, the `else` is tried first: tests usually ask for something special.
                for (own, items) in arms.into_iter().rev() {
                    self.items(items, &own, visible);
                }
                self.items(i.orelse, &Rc::new(path), visible);
            }
        }
    }

    fn function(&mut self, f: FunctionDef, guards: &Guards, visible: bool) {
        if !f.is_jit {
            self.nested(&f.body, guards);
        }
        let f = Rc::new(f);
        self.functions.push(f.clone());
        let name = f.name.name.to_string();
        if visible || !self.names.contains_key(&name) {
            let span = f.header;
            self.bind(&name, Bound::Function(f), guards, span);
        }
    }

    /// Kernels defined inside a host function.
    fn nested(&mut self, body: &[Stmt], guards: &Guards) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::FunctionDef(f) if f.is_jit => self.function((**f).clone(), guards, false),
                StmtKind::FunctionDef(f) => self.nested(&f.body, guards),
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
        match stmt.kind {
            StmtKind::Import(aliases) => aliases.iter().for_each(|a| self.import(a, guards)),
            StmtKind::ImportFrom(from) => self.from(&from, guards, stmt.span),
            StmtKind::Assign { targets, value } => {
                let value = Rc::new(value);
                for t in &targets {
                    self.assign(t, &value, guards);
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => self.assign(&target, &Rc::new(value), guards),
            StmtKind::AugAssign { target, op, value } => {
                let (left, right) = (Box::new(target.clone()), Box::new(value));
                let value = Expr { kind: ExprKind::BinOp { left, op, right }, span: stmt.span };
                self.assign(&target, &Rc::new(value), guards);
            }
            _ => {}
        }
    }

    fn assign(&mut self, target: &Expr, value: &Rc<Expr>, guards: &Guards) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(name, Bound::Value(value.clone()), guards, value.span),
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                for (i, t) in targets.iter().enumerate() {
                    if let Some(name) = t.as_name() {
                        self.bind(name, Bound::Element(value.clone(), i), guards, value.span);
                    }
                }
            }
            _ => {}
        }
    }

    fn import(&mut self, alias: &Alias, guards: &Guards) {
        let path: Vec<String> = alias.path.iter().map(|p| p.name.to_string()).collect();
        let shown = if alias.asname.is_some() { path } else { path[..1].to_vec() };
        self.bind(&alias.bound().name, Bound::Import(shown.into()), guards, alias.span);
    }

    fn from(&mut self, from: &ImportFrom, guards: &Guards, stmt: Span) {
        let at = from.source_span(stmt);
        let path: Rc<[String]> = from.module.iter().map(|p| p.name.to_string()).collect();
        match &from.names {
            ImportNames::Star(_) => self.stars.push(Star { level: from.level, path, at }),
            ImportNames::List(aliases) => {
                for alias in aliases {
                    let name: Rc<str> = Rc::from(&*alias.path[0].name);
                    let bound = Bound::From { level: from.level, path: path.clone(), name, at };
                    self.bind(&alias.bound().name, bound, guards, alias.span);
                }
            }
        }
    }
}
