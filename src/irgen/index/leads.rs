//! Follows names at the top level of files: through bindings and imports, to where something is defined.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Leads;
use crate::irgen::builtins;
use crate::irgen::front::modules::Imported;
use crate::irgen::front::prelude;
use crate::irgen::front::space::Space;
use crate::irgen::front::top_level::{Binding, Bound, TopLevel};
use crate::irgen::value::{Const, Object};
use crate::irgen::walk::Walker;
use crate::parser::ast::{Expr, FunctionDef};
use crate::source::{SourceMap, Span};

/// How many files and names a search follows.
const MAX_HOPS: u32 = 16;

/// Follows names from one file.
pub(super) struct Finder<'m> {
    cx: Walker<'m>,
    module: usize,
    known: BTreeMap<(usize, String), Leads>,
}

impl<'m> Finder<'m> {
    pub(super) fn new(cx: Walker<'m>, module: usize) -> Finder<'m> {
        Finder { cx, module, known: BTreeMap::new() }
    }

    /// The files that were read.
    pub(super) fn into_map(self) -> &'m mut SourceMap {
        self.cx.into_map()
    }

    /// The names at the top level of a file.
    pub(super) fn names_of(&self, file: &Leads) -> Vec<String> {
        let Leads::File(file) = file else { return vec![] };
        TopLevel::of(self.cx.modules().map, *file).names().map(str::to_owned).collect()
    }

    pub(super) fn functions(&self) -> Vec<Arc<FunctionDef>> {
        self.cx.modules().get(self.module).functions.clone()
    }

    /// The names that the file binds: where each stands, where it leads, and its value if it is a constant.
    pub(super) fn bindings(&mut self) -> Vec<(Span, Leads, Option<Arc<Expr>>)> {
        let module = self.cx.modules().get(self.module);
        let all: Vec<(String, Binding)> = module
            .names()
            .flat_map(|name| module.bindings(name).iter().map(|b| (name.to_owned(), b.clone())).collect::<Vec<_>>())
            .collect();
        all.into_iter()
            .map(|(name, b)| {
                let value = match &b.bound {
                    Bound::Value(e) | Bound::Element(e, _) => Some(e.clone()),
                    _ => None,
                };
                (b.name, self.global(&name), value)
            })
            .collect()
    }

    /// A name at the top level of the file.
    pub(super) fn global(&mut self, name: &str) -> Leads {
        self.of_module(self.module, name, MAX_HOPS)
    }

    fn of_module(&mut self, module: usize, name: &str, hops: u32) -> Leads {
        let key = (module, name.to_owned());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        // What leads back to itself leads nowhere.
        self.known.insert(key.clone(), Leads::Unknown);
        let found = if hops == 0 { Leads::Unknown } else { self.search(module, name, hops - 1) };
        self.known.insert(key, found.clone());
        found
    }

    fn search(&mut self, module: usize, name: &str, hops: u32) -> Leads {
        let bindings = self.cx.modules().get(module).bindings(name).to_vec();
        let mut own = vec![];
        for b in &bindings {
            match &b.bound {
                Bound::Import(_) | Bound::From { .. } if !own.is_empty() => {}
                Bound::Import(path) => {
                    if let Some(found) = self.cx.modules_mut().import(module, 0, path) {
                        return self.imported(found);
                    }
                }
                Bound::From { level, path, name, .. } => match self.from(module, *level, path, name, hops) {
                    Leads::Unknown => {}
                    found => return found,
                },
                Bound::Function(_) | Bound::Value(_) | Bound::Element(..) | Bound::Host(_) | Bound::Class(_) => {
                    own.push(b.name);
                }
            }
        }
        if !own.is_empty() {
            return Leads::Names(own);
        }
        // An import whose file is not there leads to itself.
        if !bindings.is_empty() {
            return Leads::Names(bindings.iter().map(|b| b.name).collect());
        }
        for star in self.cx.modules().get(module).stars().to_vec() {
            match self.from(module, star.level, &star.path, name, hops) {
                Leads::Unknown => {}
                found => return found,
            }
        }
        if let Some(v) = builtins::python(name) {
            return of_value(&v);
        }
        if self.cx.modules().get(module).prelude { self.of_space(Space::Language, name) } else { Leads::Unknown }
    }

    /// `from path import name`
    fn from(&mut self, module: usize, level: u32, path: &[String], name: &str, hops: u32) -> Leads {
        match self.cx.modules_mut().import(module, level, path) {
            Some(Imported::Space(space)) => return self.of_space(space, name),
            Some(Imported::Module(m)) if m != module => match self.of_module(m, name, hops) {
                Leads::Unknown => {}
                found => return found,
            },
            _ => {}
        }
        match self.cx.modules_mut().submodule(module, level, path, name) {
            Some(found) => self.imported(found),
            None => Leads::Unknown,
        }
    }

    fn imported(&self, found: Imported) -> Leads {
        match found {
            Imported::Space(space) => Leads::Package(space),
            Imported::Module(m) => Leads::File(self.cx.modules().get(m).file),
            Imported::Nothing => Leads::Unknown,
        }
    }

    fn of_space(&mut self, space: Space, name: &str) -> Leads {
        self.cx.space_attr(space, name).map_or(Leads::Unknown, |v| of_value(&v))
    }

    /// `base.attr`
    pub(super) fn member(&mut self, base: &Leads, attr: &str) -> Leads {
        match base {
            Leads::Package(space) => self.of_space(*space, attr),
            Leads::File(file) => {
                let file = *file;
                let known = (0..self.cx.modules().len()).find(|&m| self.cx.modules().get(m).file == file);
                known.map_or(Leads::Unknown, |m| self.of_module(m, attr, MAX_HOPS))
            }
            Leads::Names(places) => match self.alias(places) {
                Leads::Unknown => Leads::Unknown,
                base => self.member(&base, attr),
            },
            // Most values of kernels are tensors.
            Leads::Local(_) | Leads::Unknown => match builtins::tensor_method(attr) {
                Some(b) => Leads::Builtin(b),
                None if prelude::METHODS.contains(&attr) => self.of_space(Space::Language, attr),
                None => Leads::Unknown,
            },
            Leads::Builtin(_) | Leads::Known(_) => Leads::Unknown,
        }
    }

    /// What `tl = triton.language` leads to, by the place of `tl`.
    pub(super) fn alias(&mut self, places: &[Span]) -> Leads {
        let module = self.cx.modules().get(self.module);
        let value = module.names().flat_map(|n| module.bindings(n)).find_map(|b| match &b.bound {
            Bound::Value(e) if places.contains(&b.name) => {
                e.dotted().map(|path| path.into_iter().map(str::to_owned).collect::<Vec<_>>())
            }
            _ => None,
        });
        let Some((first, rest)) = value.as_deref().and_then(<[String]>::split_first) else { return Leads::Unknown };
        let mut at = self.global(first);
        for attr in rest {
            if matches!(at, Leads::Names(_)) {
                return Leads::Unknown;
            }
            at = self.member(&at, attr);
        }
        if matches!(at, Leads::Names(_)) { Leads::Unknown } else { at }
    }

    /// The parameter of a function that a keyword names.
    pub(super) fn parameter(&self, callee: &Leads, name: &str) -> Leads {
        let Leads::Names(places) = callee else { return Leads::Unknown };
        for &at in places {
            let top = TopLevel::of(self.cx.modules().map, at.file);
            let function = top.functions.iter().find(|f| f.name.span == at);
            if let Some(p) = function.and_then(|f| f.params.iter().find(|p| *p.name.name == *name)) {
                return Leads::Local(Arc::from([p.name.span]));
            }
        }
        Leads::Unknown
    }
}

pub(super) fn of_value(v: &Object) -> Leads {
    match v {
        Object::Const(Const::Builtin(b)) => Leads::Builtin(b),
        Object::Const(Const::Space(space)) => Leads::Package(*space),
        Object::Const(Const::Func(f)) => Leads::Names(vec![f.def.name.span]),
        other => Leads::Known(other.describe()),
    }
}
