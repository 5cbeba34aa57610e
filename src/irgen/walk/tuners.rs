//! The decorators that give a kernel values: `@triton.heuristics` and `@triton.autotune`.
//!
//! 1. Calls of the two give a value of their own ([`Tuner`]), wherever they stand: above a kernel, behind a name
//!    (`tuned = triton.autotune(…)`, then `@tuned`), or around a function (`k = triton.heuristics({…})(k)`).
//! 2. What they are given is evaluated at once. What fails is kept as the reason, for whoever asks.
//! 3. A decorator whose name leads nowhere counts by that name, or by its keyword `configs` or `values`: packages have
//!    tuners of their own.
//!
//! Example: of `{"A": lambda args: 1, "B": unknown()}` the function of `A` is known.

use std::rc::Rc;

use super::attempt::Cause;
use super::walker::Walker;
use crate::irgen::builtins::DECORATORS;
use crate::irgen::emit::{R, quietly};
use crate::irgen::semantic::faults;
use crate::irgen::value::{Const, Func, NamedFunction, Object, Tuned, Tuner};
use crate::parser::ast::{Call, Constant, Decorator, Expr, ExprKind};

/// The keyword of what a decorator of this name is given.
fn keyword_of(name: &str) -> &'static str {
    if name == DECORATORS[0] { "configs" } else { "values" }
}

/// What a call gives a decorator of this name.
fn given<'c>(name: &str, call: &'c Call) -> Option<&'c Expr> {
    call.keyword(keyword_of(name)).or_else(|| call.args.first())
}

/// The names in the `key` of a call of `triton.autotune`, if they are written out: the arguments whose values tell one
/// use of the kernel from another.
fn key(call: &Call) -> Vec<String> {
    let list = call.keyword("key").or_else(|| call.args.get(1));
    let items = match list.map(|e| &e.kind) {
        Some(ExprKind::List(items) | ExprKind::Tuple(items)) => items.as_slice(),
        _ => &[],
    };
    let text = |e: &Expr| match &e.kind {
        ExprKind::Constant(Constant::Str(s)) => Some(s.to_string()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// Whether a decorator whose name leads nowhere is one of this name by how it is called.
fn looks_like(name: &str, call: &Call) -> bool {
    let is_named = call.func.dotted().is_some_and(|path| path.last() == Some(&name));
    call.keyword(keyword_of(name)).is_some() || (is_named && !call.args.is_empty())
}

impl Walker<'_> {
    /// What the decorators of this name (one of [`DECORATORS`]) give a kernel, the outermost first.
    pub fn tuners(&mut self, func: &Func, name: &str) -> Vec<Rc<Tuner>> {
        let is_wanted = |t: &Tuner| matches!(t.gives, Tuned::Configs(..)) == (name == DECORATORS[0]);
        let mut all: Vec<Rc<Tuner>> = func.tuners.iter().filter(|t| is_wanted(t)).cloned().collect();
        for d in func.def.decorators.iter().filter(|d| !d.is_jit()) {
            let tuner = self.isolated(func.module, |cx| cx.tuner_of(d, name));
            all.extend(tuner.filter(|t| is_wanted(t)));
        }
        all
    }

    fn tuner_of(&mut self, d: &Decorator, name: &str) -> Option<Rc<Tuner>> {
        let Some(call) = d.call() else { return self.as_tuner(&d.expr) };
        match quietly(self, |cx| cx.expr(&call.func)) {
            Ok(Object::Const(Const::Builtin(b))) if DECORATORS.contains(&b.name) => {
                (b.name == name).then(|| Rc::new(self.tuner(name, call)))
            }
            _ if looks_like(name, call) => Some(Rc::new(self.tuner(name, call))),
            Ok(Object::Const(Const::Func(_) | Const::Lambda(_))) => self.as_tuner(&d.expr),
            _ => None,
        }
    }

    fn as_tuner(&mut self, e: &Expr) -> Option<Rc<Tuner>> {
        match quietly(self, |cx| cx.expr(e)) {
            Ok(Object::Tuner(t)) => Some(t),
            _ => None,
        }
    }

    /// `triton.heuristics(…)` or `triton.autotune(…)`
    pub(super) fn tuner(&mut self, name: &str, call: &Call) -> Tuner {
        let values = given(name, call);
        let at = values.map_or(call.func.span, |e| e.span);
        let gives = if name == DECORATORS[0] {
            Tuned::Configs(values.ok_or(None).and_then(|e| self.trial(|cx| cx.expr(e))), key(call))
        } else {
            Tuned::Heuristics(values.ok_or(None).and_then(|e| self.functions(e)))
        };
        Tuner { gives, at }
    }

    /// The functions of a dict, each for itself as far as it is written out.
    fn functions(&mut self, e: &Expr) -> Result<Vec<NamedFunction>, Cause> {
        let mut all: Vec<NamedFunction> = vec![];
        let mut add = |(name, function): NamedFunction| match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = function,
            None => all.push((name, function)),
        };
        let written = match &e.kind {
            ExprKind::Dict(items) => items.iter().map(|item| (item.key.as_ref(), &item.value)).collect(),
            _ => vec![(None, e)],
        };
        for (key, value) in written {
            if let Some(key) = key {
                let name = self.trial(|cx| {
                    let key = cx.expr(key)?;
                    cx.parameter_name(&key)
                })?;
                add((name, self.trial(|cx| cx.expr(value))));
                continue;
            }
            let listed = self.trial(|cx| match cx.expr(value)? {
                Object::Dict(items) => {
                    let named = |(k, f): &(Object, Object)| Ok((cx.parameter_name(k)?, Ok(f.clone())));
                    items.iter().map(named).collect::<R<Vec<NamedFunction>>>()
                }
                other => Err(faults::expected(&mut cx.out, "a dict of functions", &other)),
            })?;
            listed.into_iter().for_each(&mut add);
        }
        Ok(all)
    }

    fn parameter_name(&mut self, key: &Object) -> R<Rc<str>> {
        match key {
            Object::Const(Const::Str(name)) => Ok(name.clone()),
            other => Err(faults::expected(&mut self.out, "the name of a parameter", other)),
        }
    }
}
