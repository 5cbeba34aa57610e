//! Names and attributes: from a word in the source to a value.
//!
//! A name is looked for among the locals, then at the top level of the function's file, then among Python's builtins. A
//! top-level name is followed through its bindings ([`super::modules`]): the first whose guards do not rule it out and
//! that leads somewhere wins, unless another one could give it another value. A function sees all bindings of its file,
//! and a statement of the file those above it ([`Walker::horizon`]). Values are evaluated at compile time and
//! remembered.

use super::unbound::{dotted, where_to_look};
use super::walker::{MAX_EVALUATION_DEPTH, Walker};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::irgen::builtins;
use crate::irgen::emit::{R, Reported, quietly};
use crate::irgen::front::modules::Imported;
use crate::irgen::front::prelude;
use crate::irgen::front::space::{Space, builtin_space, is_host_part_of_triton, usual_space};
use crate::irgen::front::top_level::{Binding, Bound, Guard, Star, Tried};
use crate::irgen::semantic::fold;
use crate::irgen::semantic::fold::same;
use crate::irgen::value::{Const, Func, Object};
use crate::parser::ast::{Constant, Decorator, Expr, ExprKind, FunctionDef};
use crate::source::Span;

/// The bindings of a name from which on they are evaluated one after the other: `N += 1` hangs on those above it.
const LONG_CHAIN: usize = 16;

/// Whether control gets to a binding.
enum Way {
    Open,
    Closed,
    /// This test or `try` cannot be decided; nothing else closes the way.
    Undecided(Span),
}

/// A name of a module with the number of its bindings that count.
pub(super) type Key = (usize, String, usize);

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
        if let Some(v) = self.frame.local(name) {
            return if matches!(v, Object::Error) { Err(Reported) } else { Ok(v.clone()) };
        }
        let module = self.frame.module;
        if self.frame.hiding.iter().chain(&self.frame.own).any(|n| &**n == name) {
            return Err(self.unknown_name(name));
        }
        let horizon = self.horizon();
        if let Some(v) = self.global_before(module, name, horizon) {
            self.warn_of_choice(module, name, &v);
            self.warn_of_assumed(&v);
            return Ok(v);
        }
        let hidden = self.mods.get(module).hidden(name).is_some();
        let binder = self.mods.binder(module, name);
        let lacks = self.names.lacking.contains(&(binder, name.to_owned()));
        if let Some(v) = builtins::python(name).filter(|_| !hidden && !lacks) {
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

    /// The place in the file above which names are bound for what is evaluated here; `None` if all of them are.
    pub(super) fn horizon(&self) -> Option<u32> {
        let (data, span) = (self.mods.get(self.frame.module), self.out.span());
        let is_above = self.frame.statement && span.file == data.file && !data.is_in_a_function(span.lo);
        if is_above { Some(span.lo) } else { self.frame.before }
    }

    /// A name at the top level of a module, when the file has been read to its end.
    pub fn global(&mut self, module: usize, name: &str) -> Option<Object> {
        self.global_before(module, name, None)
    }

    /// The same for a statement that stands at a place of the file.
    fn global_before(&mut self, module: usize, name: &str, before: Option<u32>) -> Option<Object> {
        let module = self.mods.binder(module, name);
        let data = self.mods.get(module);
        let is_above = |end: u32| before.is_none_or(|place| end <= place);
        let bindings = data.bindings(name).iter().filter(|b| is_above(b.end()));
        let stars = data.stars().iter().filter(|s| is_above(s.at.hi));
        let key = (module, name.to_owned(), bindings.clone().count() + stars.clone().count());
        if let Some(known) = self.names.globals.get(&key) {
            return known.clone();
        }
        let (bindings, stars): (Vec<Binding>, Vec<Star>) = (bindings.cloned().collect(), stars.cloned().collect());
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
        if bindings.len() > LONG_CHAIN {
            // From the first on, so that none hangs on a long chain of others.
            let mut ends: Vec<u32> = bindings.iter().map(Binding::end).collect();
            ends.sort_unstable();
            ends.pop();
            for end in ends {
                let _ = self.global_before(module, name, Some(end));
            }
        }
        let (mut value, place) = self.first_bound(&key, &bindings);
        if value.as_ref().is_some_and(Object::is_data) && self.mods.get(module).change(name).is_some() {
            value = None;
        } else {
            // Files that import each other whole lead back here.
            self.names.globals.insert(key.clone(), value.clone());
            // What a file imports whole takes the place of what was bound above, if that is certain.
            let whole = stars.iter().find_map(|s| {
                let way = self.way(module, &s.guards, s.at.lo);
                let counts = value.is_none() || (s.at.lo > place && matches!(way, Way::Open));
                let counts = counts && !matches!(way, Way::Closed);
                counts.then(|| self.imported_whole(module, s, name)).flatten()
            });
            value = whole.or(value);
        }
        self.names.globals.insert(key, value.clone());
        value
    }

    /// The value that the bindings of a name lead to, of which the first that has one counts, and where that stands.
    /// They are taken from the last to the first: what a later one says is kept until one before it says otherwise.
    ///
    /// A function or a package may come from a later binding, since a `try` or a wrapper leads to them in the end. Data
    /// may not: where a binding before it, which may be the one that counts, has another value or none that is known,
    /// the name has none.
    fn first_bound(&mut self, key: &Key, bindings: &[Binding]) -> (Option<Object>, u32) {
        let (mut value, mut doubt): (Option<Object>, Option<Doubt>) = (None, None);
        let (mut place, mut choice) = (0, None);
        // Behind one that counts for certain no other is asked.
        self.names.globals.insert(key.clone(), None);
        let certain = bindings.iter().position(|b| {
            matches!(self.way(key.0, &b.guards, b.name.lo), Way::Open) && self.bound(key.0, &b.bound).is_some()
        });
        let asked = certain.map_or(bindings, |last| &bindings[..=last]);
        for b in asked.iter().rev() {
            let way = self.way(key.0, &b.guards, b.name.lo);
            if matches!(way, Way::Closed) {
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
                None if matches!(way, Way::Open) && matches!(b.bound, Bound::Import(_) | Bound::From { .. }) => {
                    (value, doubt, choice) = (None, None, None);
                    self.names.lacking.insert((key.0, key.1.clone()));
                }
                None => {}
                Some(v) => {
                    let differs = value.as_ref().is_some_and(|rest| !same(rest, &v));
                    let is_data = v.is_data() || matches!(v, Object::Const(Const::Type(_)));
                    match way {
                        Way::Undecided(test) if is_data && (doubt.is_some() || differs) => {
                            (value, doubt) = (None, Some(Doubt::Undecided(test)));
                        }
                        Way::Undecided(test) if differs => {
                            (value, doubt, place, choice) = (Some(v), None, b.name.lo, Some((test, b.span)));
                        }
                        _ => (value, doubt, place, choice) = (Some(v), None, b.name.lo, None),
                    }
                }
            }
        }
        if let Some(Doubt::Undecided(test)) = doubt {
            self.names.undecided.insert((key.0, key.1.clone()), test);
        }
        if let Some(choice) = choice {
            self.names.choices.insert((key.0, key.1.clone()), choice);
        }
        (value, place)
    }

    /// The test that chooses one of several functions of a name and is not known here, and the one that is taken.
    pub fn choice(&mut self, module: usize, name: &str) -> Option<(Span, Span)> {
        let module = self.mods.binder(module, name);
        self.names.choices.remove(&(module, name.to_owned()))
    }

    /// Warns of a function that is one of several, of which a test decides that is not known here.
    fn warn_of_choice(&mut self, module: usize, name: &str, v: &Object) {
        let is_function = matches!(v, Object::Const(Const::Func(_) | Const::Builtin(_)));
        if self.frame.host || !is_function || self.out.is_quiet() {
            return;
        }
        let Some((test, taken)) = self.choice(module, name) else { return };
        let diag = Diagnostic::warning(&names::DOUBTFUL, format!("which `{name}` the file means is not known"))
            .at(self.out.span(), "used here")
            .at(test, "depends on this, which only Python can decide")
            .at(taken, "ttc takes this one")
            .help("if that is the wrong one, ask something that ttc knows, such as `triton.__version__`, or name the one you mean");
        let _ = self.out.report(diag);
    }

    /// Whether control gets to a place behind these guards.
    fn way(&mut self, module: usize, guards: &[Guard], place: u32) -> Way {
        let mut way = Way::Open;
        for guard in guards {
            let (outcome, wanted, span) = match guard {
                Guard::If(test, wanted) => {
                    let value = self.evaluate(module, test);
                    (value.and_then(|v| quietly(self, |cx| fold::truth(&mut cx.out, &v)).ok()), *wanted, test.span)
                }
                Guard::Try(tried, true) => match self.comes_to_its_end(module, tried) {
                    // What stands above the import that fails has run.
                    Err(fails) if place < fails => (None, true, tried.span),
                    outcome => (outcome.unwrap_or(Some(false)), true, tried.span),
                },
                Guard::Try(tried, false) => {
                    (self.comes_to_its_end(module, tried).unwrap_or(Some(false)), false, tried.span)
                }
            };
            match outcome {
                Some(outcome) if outcome != wanted => return Way::Closed,
                None if matches!(way, Way::Open) => way = Way::Undecided(span),
                _ => {}
            }
        }
        way
    }

    /// Whether all that is done in a `try` succeeds, which is not known of packages that are not there, and of calls.
    /// An error is the place of an import that fails for certain.
    fn comes_to_its_end(&mut self, module: usize, tried: &Tried) -> Result<Option<bool>, u32> {
        let mut known = tried.is_simple.then_some(true);
        if tried.members.iter().any(|member| self.evaluate(module, member).is_none()) {
            known = None;
        }
        for (import, at) in &tried.imports {
            let (level, path, name) = match import {
                Bound::Import(path) => (0, path, None),
                Bound::From { level, path, name, .. } => (*level, path, Some(name).filter(|name| &***name != "*")),
                _ => continue,
            };
            if is_host_part_of_triton(path) {
                continue;
            }
            let found = self.mods.import(module, level, path);
            let lacks = match (found, name) {
                (Some(Imported::Module(m)), Some(name)) if m != module => {
                    let binds = !self.mods.bindings(m, name).is_empty() || !self.mods.get(m).stars().is_empty();
                    !binds && self.mods.submodule(module, level, path, name).is_none()
                }
                _ => false,
            };
            if lacks {
                return Err(*at);
            }
            if found.is_none() || name.is_some_and(|name| self.imported(module, level, path, name).is_none()) {
                known = None;
            }
        }
        Ok(known)
    }

    /// What a binding leads to.
    pub fn bound(&mut self, module: usize, bound: &Bound) -> Option<Object> {
        match bound {
            Bound::Function(def) => {
                // What Triton runs in Python to write operations, a kernel can call as well.
                let jit = def.is_jit || def.decorators.iter().any(Decorator::is_extern);
                let module = self.mods.home(module, def);
                let plain = Const::Func(Func::new(def.clone(), module, jit)).into();
                if jit { Some(plain) } else { self.decorated(module, def, plain) }
            }
            Bound::Value(e) => self.evaluate(module, e).or_else(|| imported_by_call(e)),
            Bound::Element(e, path) => {
                let Some(whole) = self.evaluate(module, e) else { return imported_by_call(e) };
                path.iter().try_fold(whole, |whole, &i| match whole {
                    Object::Tuple(items) => items.get(i).cloned(),
                    _ => None,
                })
            }
            Bound::Import(path) => self.mods.import(module, 0, path).and_then(target_value),
            Bound::From { level, path, name, at } => {
                self.imported(module, *level, path, name).or_else(|| self.assumed(module, (*level, path, name), *at))
            }
            Bound::Host(_) => None,
            // What is set from outside of it is not followed.
            Bound::Class(class) => {
                let is_changed = self.mods.get(module).change(&class.name).is_some();
                (!is_changed).then(|| Const::HostClass(self.mods.class(module, class), class.name.clone()).into())
            }
        }
    }

    /// What the decorators of a plain function make of it. `None` where host code that cannot be evaluated decides.
    fn decorated(&mut self, module: usize, def: &FunctionDef, plain: Object) -> Option<Object> {
        let mut others = def.decorators.iter().rev().filter(|d| !d.keeps());
        others.try_fold(plain, |function, decorator| {
            let made = self.attempt(module, |cx| {
                let decorator = cx.expr(&decorator.expr)?;
                cx.apply(&decorator, vec![function], vec![])
            });
            made.ok()
        })
    }

    /// A name that a file imports whole with others: those of `__all__`, or all without an underscore in front.
    fn imported_whole(&mut self, module: usize, star: &Star, name: &str) -> Option<Object> {
        let m = match self.mods.import(module, star.level, &star.path)? {
            Imported::Module(m) if m != module => m,
            Imported::Space(space) if !name.starts_with('_') => return self.space_attr(space, name),
            _ => return None,
        };
        match self.global(m, "__all__") {
            Some(Object::Tuple(items)) => {
                let is_listed = items.iter().any(|v| same(v, &Const::str(name).into()));
                is_listed.then(|| self.imported(module, star.level, &star.path, name)).flatten()
            }
            _ if name.starts_with('_') => None,
            // A part of the package is no name of it unless something there imports it.
            _ => self.global(m, name),
        }
    }

    /// `from path import name`
    pub fn imported(&mut self, module: usize, level: u32, path: &[String], name: &str) -> Option<Object> {
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

    /// What `from path import name` means where there is no such file, and the name is one that everybody gives a part
    /// of Triton: projects import it by way of a file of their own, and a kernel that was copied from one lacks it.
    fn assumed(&mut self, module: usize, (level, path, name): (u32, &[String], &str), at: Span) -> Option<Object> {
        let is_tritons = level == 0 && path.first().is_some_and(|first| first == "triton");
        let is_missing = !is_tritons && self.mods.import(module, level, path).is_none();
        let space = usual_space(name).filter(|_| is_missing)?;
        self.names.assumed.push((space, level, path.to_vec(), at));
        Some(Const::Space(space).into())
    }

    /// Warns, where a kernel uses a part of Triton, of those that are [assumed](Walker::assumed) to be one.
    fn warn_of_assumed(&mut self, v: &Object) {
        if self.frame.host || self.out.is_quiet() || !matches!(v, Object::Const(Const::Space(_))) {
            return;
        }
        for (space, level, path, at) in std::mem::take(&mut self.names.assumed) {
            let taken = format!("ttc takes this for `{}`", space.name());
            let message = format!("`{}` was not found", dotted(level, &path));
            let diag = Diagnostic::warning(&names::IMPORT, message).at(at, taken);
            let _ = self.out.report(diag.help(where_to_look(level, &path)));
        }
    }

    /// A member of a built-in package: a primitive, a type, or a function of the prelude.
    pub fn space_attr(&mut self, space: Space, name: &str) -> Option<Object> {
        builtins::member(space, name).or_else(|| self.prelude_function(space, name))
    }

    /// A function of the prelude.
    pub(super) fn prelude_function(&mut self, space: Space, name: &str) -> Option<Object> {
        if space != Space::Language {
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
