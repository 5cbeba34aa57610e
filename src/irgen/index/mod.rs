//! Where the names of a file lead: for editors, which go to definitions and look for uses.
//!
//! 1. Every function of the file is walked, kernels and host code alike, with the names that it binds itself
//!    ([`locals`]).
//! 2. Other names are looked for at the top level of the file, and imports are followed into other files, into the
//!    library and into the compiler's own packages ([`leads`]). No value is evaluated and no type is needed.
//!
//! Example: in `offs = tl.arange(0, cdiv(n, 4))` with `from .helpers import cdiv` the name `offs` leads to itself, `tl`
//! to the package `triton.language`, `arange` to a primitive, and `cdiv` to a place in `helpers.py`.

pub mod docs;
mod leads;
mod locals;
mod reach;

use std::path::PathBuf;
use std::sync::Arc;

use super::front::space::Space;
use super::kernel::request::start;
use super::value::Builtin;
use crate::ir::MAX_OPS;
use crate::irgen::emit::Settings;
use crate::irgen::front::launch::Launch;
use crate::parser::ast::{Expr, ExprKind, FunctionDef};
use crate::source::{FileId, SourceMap, Span};
use crate::target::Target;
use leads::Finder;
use locals::Locals;

pub use reach::reaching;

/// Where a name leads.
#[derive(Clone)]
pub enum Leads {
    /// The places at which the function binds it, in the order of the text.
    Local(Arc<[Span]>),
    /// The names that files bind, the most likely one first.
    Names(Vec<Span>),
    /// A primitive of the language.
    Builtin(&'static Builtin),
    /// A package that is part of the compiler.
    Package(Space),
    /// A file.
    File(FileId),
    /// A type or another value of a package, as text.
    Known(String),
    Unknown,
}

impl Leads {
    /// The places where it is defined.
    #[must_use]
    pub fn places(&self) -> &[Span] {
        match self {
            Leads::Local(places) => places,
            Leads::Names(places) => places,
            _ => &[],
        }
    }

    /// Whether both lead to the same thing.
    #[must_use]
    pub fn is_same(&self, other: &Leads) -> bool {
        match (self, other) {
            (Leads::Builtin(a), Leads::Builtin(b)) => std::ptr::eq(*a, *b),
            (Leads::Package(a), Leads::Package(b)) => a == b,
            (Leads::File(a), Leads::File(b)) => a == b,
            (Leads::Known(a), Leads::Known(b)) => a == b,
            _ => self.places().iter().any(|p| other.places().contains(p)),
        }
    }
}

/// A name where it stands.
#[derive(Clone)]
pub struct Use {
    pub span: Span,
    pub leads: Leads,
}

/// All names of a file in the order of the text.
#[derive(Clone, Default)]
pub struct Index {
    pub uses: Vec<Use>,
}

impl Index {
    /// The name at an offset.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<&Use> {
        // A cursor right behind a word means that word, unless another one begins there.
        let within = |u: &&Use| u.span.lo <= offset && offset < u.span.hi;
        self.uses.iter().find(within).or_else(|| self.uses.iter().find(|u| u.span.touches(offset)))
    }
}

/// Finds where the names of a file lead.
#[must_use]
pub fn index(map: &mut SourceMap, file: FileId, include_dirs: &[PathBuf]) -> Index {
    let (cx, module) = start(map, file, include_dirs, settings());
    let mut indexer = Indexer { finder: Finder::new(cx, module), uses: vec![], locals: vec![] };
    indexer.top_level();
    let functions = indexer.finder.functions();
    for f in &functions {
        indexer.function(f, &functions);
    }
    let mut uses = indexer.uses;
    uses.sort_by_key(|u| (u.span.lo, u.span.hi));
    uses.dedup_by_key(|u| u.span);
    Index { uses }
}

/// No value depends on them here.
fn settings() -> Settings {
    Settings { target: Target::usual(), launch: Launch::default(), debug: false, max_ops: MAX_OPS }
}

struct Indexer<'m> {
    finder: Finder<'m>,
    uses: Vec<Use>,
    /// The names of the function that is walked, then those of the functions around it.
    locals: Vec<Locals>,
}

impl Indexer<'_> {
    fn add(&mut self, span: Span, leads: Leads) {
        self.uses.push(Use { span, leads });
    }

    /// The names that the file itself binds, and those in the values of its constants.
    fn top_level(&mut self) {
        for (span, leads, value) in self.finder.bindings() {
            self.add(span, leads);
            if let Some(value) = value {
                self.expr(&value);
            }
        }
    }

    fn function(&mut self, f: &Arc<FunctionDef>, all: &[Arc<FunctionDef>]) {
        let around = |g: &&Arc<FunctionDef>| g.span != f.span && g.span.lo <= f.span.lo && f.span.hi <= g.span.hi;
        let mut around: Vec<&Arc<FunctionDef>> = all.iter().filter(around).collect();
        around.sort_by_key(|g| g.span.hi - g.span.lo);
        self.locals = around.into_iter().map(|g| Locals::of(g)).collect();
        f.decorators.iter().for_each(|d| self.expr(&d.expr));
        for p in &f.params {
            p.annotation.iter().chain(&p.default).for_each(|e| self.expr(e));
        }
        f.returns.iter().for_each(|e| self.expr(e));
        let own = Locals::of(f);
        for (span, places) in own.bindings() {
            self.add(span, Leads::Local(places));
        }
        self.locals.insert(0, own);
        // What a nested kernel holds is its own matter.
        let inner: Vec<Span> = all
            .iter()
            .filter(|g| g.span != f.span && f.span.lo <= g.span.lo && g.span.hi <= f.span.hi)
            .map(|g| g.span)
            .collect();
        locals::expressions(&f.body, &inner, &mut |e| self.one(e));
        self.locals.clear();
    }

    fn expr(&mut self, e: &Expr) {
        crate::parser::visit::expressions(e, &mut |e| self.one(e));
    }

    /// The name that an expression itself is, or the member that it names.
    fn one(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => {
                let leads = self.name(name);
                self.add(e.span, leads);
            }
            ExprKind::Attribute { value, attr } => {
                let base = self.base(value);
                let leads = self.finder.member(&base, &attr.name);
                self.add(attr.span, leads);
            }
            ExprKind::Call(call) => {
                let names: Vec<_> = call.keywords.iter().filter_map(|k| k.name.as_ref()).collect();
                if names.is_empty() {
                    return;
                }
                let callee = self.base(&call.func);
                for name in names {
                    let leads = self.finder.parameter(&callee, &name.name);
                    self.add(name.span, leads);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, name: &str) -> Leads {
        for locals in &self.locals {
            if let Some(places) = locals.places(name) {
                return Leads::Local(places);
            }
        }
        self.finder.global(name)
    }

    fn base(&mut self, e: &Expr) -> Leads {
        match &e.kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Attribute { value, attr } => {
                let base = self.base(value);
                self.finder.member(&base, &attr.name)
            }
            _ => Leads::Unknown,
        }
    }
}
