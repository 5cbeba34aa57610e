//! Names and attributes: from a word in the source to a value.
//!
//! A name is looked for among the locals, then at the top level of the function's file, then among Python's builtins. A
//! top-level name is followed through its bindings ([`super::modules`]): the first whose guards do not rule it out and
//! that leads somewhere wins, unless another one could give it another value. Values are evaluated at compile time and
//! remembered.

use super::walker::{MAX_EVALUATION_DEPTH, Walker};
use crate::irgen::builtins;
use crate::irgen::emit::{R, Reported, quietly};
use crate::irgen::front::modules::Imported;
use crate::irgen::front::prelude;
use crate::irgen::front::space::{Space, builtin_space};
use crate::irgen::front::top_level::{Binding, Bound};
use crate::irgen::semantic::fold;
use crate::irgen::semantic::fold::same;
use crate::irgen::value::{Const, Func, Object};
use crate::parser::ast::{Constant, Decorator, Expr, ExprKind};
use crate::source::Span;

/// Whether the tests around a binding lead to it.
enum Guard {
    Open,
    Closed,
    /// This test cannot be decided; no other one closes the way.
    Undecided(Span),
}

/// Why a name may have another value than the one that was found.
enum Doubt {
    /// A binding that may count has no value that is known.
    Unknown,
    /// This test cannot be decided.
    Undecided(Span),
}

impl Walker<'_> {
    /// The value of a name.
    pub fn name(&mut self, name: &str) -> R<Object> {
        if let Some(v) = self.frame.scope.get(name) {
            return if matches!(v, Object::Error) { Err(Reported) } else { Ok(v.clone()) };
        }
        let module = self.frame.module;
        if let Some(v) = self.global(module, name) {
            return Ok(v);
        }
        let hidden = self.mods.get(module).hidden(name).is_some();
        if let Some(v) = builtins::python(name).filter(|_| !hidden) {
            return Ok(v);
        }
        if self.mods.get(module).prelude
            && let Some(v) = self.space_attr(Space::Language, name)
        {
            return Ok(v);
        }
        // A variable of a function around the kernel has no binding in the file; `-D` may give it.
        if let Some((v, used)) = self.names.given.get_mut(name) {
            *used = true;
            return Ok(v.clone());
        }
        Err(self.unknown_name(name))
    }

    /// A name at the top level of a module.
    pub fn global(&mut self, module: usize, name: &str) -> Option<Object> {
        let key = (module, name.to_owned());
        if let Some(known) = self.names.globals.get(&key) {
            return known.clone();
        }
        if self.depth > MAX_EVALUATION_DEPTH {
            return None;
        }
        if let Some((v, used)) = self.names.given.get_mut(name)
            && !self.mods.get(module).prelude
            && !self.mods.get(module).bindings(name).is_empty()
        {
            *used = true;
            return Some(v.clone());
        }
        if self.mods.get(module).hidden(name).is_some() {
            return None;
        }
        let bindings: Vec<Binding> = self.mods.get(module).bindings(name).to_vec();
        let mut value = self.first_bound(&key, &bindings);
        if value.as_ref().is_some_and(Object::is_data) && self.mods.get(module).change(name).is_some() {
            value = None;
        } else if value.is_none() {
            let stars = self.mods.get(module).stars().to_vec();
            value = stars.iter().find_map(|s| self.imported(module, s.level, &s.path, name));
        }
        self.names.globals.insert(key, value.clone());
        value
    }

    /// The value that the bindings of a name lead to, of which the first that has one counts. While `f = triton.jit(f)`
    /// is evaluated, `f` is what it was bound to before, so the bindings are taken from the last to the first.
    ///
    /// A function or a package may come from a later binding, since a `try` or a wrapper leads to them in the end. Data
    /// may not: where a binding before it, which may be the one that counts, has another value or none that is known,
    /// the name has none.
    fn first_bound(&mut self, key: &(usize, String), bindings: &[Binding]) -> Option<Object> {
        let (mut value, mut doubt): (Option<Object>, Option<Doubt>) = (None, None);
        for b in bindings.iter().rev() {
            let guard = self.guard(key.0, b);
            if matches!(guard, Guard::Closed) {
                continue;
            }
            let is_value = matches!(b.bound, Bound::Value(_));
            self.names.globals.insert(key.clone(), value.clone().filter(|_| is_value));
            match self.bound(key.0, &b.bound) {
                None if value.as_ref().is_some_and(Object::is_data)
                    && (is_value || matches!(b.bound, Bound::Element(..))) =>
                {
                    (value, doubt) = (None, Some(Doubt::Unknown));
                }
                None => {}
                Some(v) => match guard {
                    Guard::Undecided(test)
                        if v.is_data() && (doubt.is_some() || value.as_ref().is_some_and(|rest| !same(rest, &v))) =>
                    {
                        (value, doubt) = (None, Some(Doubt::Undecided(test)));
                    }
                    _ => (value, doubt) = (Some(v), None),
                },
            }
        }
        if let Some(Doubt::Undecided(test)) = doubt {
            self.names.undecided.insert(key.clone(), test);
        }
        value
    }

    fn guard(&mut self, module: usize, binding: &Binding) -> Guard {
        let mut guard = Guard::Open;
        for (test, outcome) in binding.guards.iter() {
            let value = self.evaluate(module, test);
            match value.and_then(|v| quietly(self, |cx| fold::truth(&mut cx.out, &v)).ok()) {
                Some(t) if t != *outcome => return Guard::Closed,
                None if matches!(guard, Guard::Open) => guard = Guard::Undecided(test.span),
                _ => {}
            }
        }
        guard
    }

    /// What a binding leads to.
    pub fn bound(&mut self, module: usize, bound: &Bound) -> Option<Object> {
        match bound {
            Bound::Function(def) => {
                // What Triton runs in Python to write operations, a kernel can call as well.
                let jit = def.is_jit || def.decorators.iter().any(Decorator::is_extern);
                let module = self.mods.home(module, def);
                Some(Const::Func(Func { def: def.clone(), module, jit }).into())
            }
            Bound::Value(e) => self.evaluate(module, e).or_else(|| imported_by_call(e)),
            Bound::Element(e, i) => match self.evaluate(module, e) {
                Some(Object::Tuple(items)) => items.get(*i).cloned(),
                Some(_) => None,
                None => imported_by_call(e),
            },
            Bound::Import(path) => self.mods.import(module, 0, path).and_then(target_value),
            Bound::From { level, path, name, .. } => self.imported(module, *level, path, name),
            Bound::Host(_) => None,
        }
    }

    /// `from path import name`
    fn imported(&mut self, module: usize, level: u32, path: &[String], name: &str) -> Option<Object> {
        match self.mods.import(module, level, path) {
            Some(Imported::Space(space)) => return self.space_attr(space, name),
            Some(Imported::Module(m)) if m != module => {
                if let Some(v) = self.global(m, name) {
                    return Some(v);
                }
            }
            _ => {}
        }
        self.mods.submodule(module, level, path, name).and_then(target_value)
    }

    /// A member of a built-in package: a primitive, a type, or a function of the prelude.
    pub fn space_attr(&mut self, space: Space, name: &str) -> Option<Object> {
        builtins::member(space, name).or_else(|| self.prelude_function(space, name))
    }

    /// A function of the prelude.
    pub(super) fn prelude_function(&mut self, space: Space, name: &str) -> Option<Object> {
        if !matches!(space, Space::Language | Space::Math) {
            return None;
        }
        let module = self.prelude_module(prelude::file_of(name)?)?;
        self.global(module, name)
    }

    /// A function of the prelude that tensors have as a method.
    pub(super) fn prelude_method(&mut self, name: &str) -> Option<Object> {
        prelude::METHODS.contains(&name).then(|| self.prelude_function(Space::Language, name)).flatten()
    }

    fn prelude_module(&mut self, file: &'static str) -> Option<usize> {
        if let Some(&module) = self.names.prelude.get(file) {
            return Some(module);
        }
        let module = prelude::add(&mut self.mods, file)?;
        self.names.prelude.insert(file, module);
        Some(module)
    }
}

/// What a function of the host imports that is given the name of one of Triton's packages, as in
/// `tl = optional_import("triton.language")` and `found, tl = try_import("triton.language")`. Whatever else it returns,
/// kernels have no use for it.
fn imported_by_call(e: &Expr) -> Option<Object> {
    let ExprKind::Call(call) = &e.kind else { return None };
    call.args.iter().find_map(|argument| {
        let ExprKind::Constant(Constant::Str(name)) = &argument.kind else { return None };
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        let is_triton = path.first().is_some_and(|first| first == "triton");
        builtin_space(&path).filter(|_| is_triton).map(|space| Const::Space(space).into())
    })
}

pub(super) fn target_value(target: Imported) -> Option<Object> {
    match target {
        Imported::Space(s) => Some(Const::Space(s).into()),
        Imported::Module(m) => Some(Const::Module(m).into()),
        Imported::Nothing => None,
    }
}
