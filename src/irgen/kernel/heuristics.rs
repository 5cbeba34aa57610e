//! Heuristics: parameters whose values `@triton.heuristics` computes from the others.
//!
//! 1. The decorator's dict is evaluated as host code: names with functions of `args`.
//! 2. `args` holds the values of compile-time parameters and, for run-time ones, an [`Argument`]: it has a type and is
//!    not `None`, and whatever needs its value is not known until a launch.
//! 3. The functions are called in order, outermost decorator first; each sees what those before it gave.
//! 4. What the user gave stays. A heuristic for `num_warps` or another option sets it unless the user did.
//!
//! Example: `{"HAS_BIAS": lambda args: args["bias"] is not None}` gives `True` where `bias` is a pointer, `False` with
//! `-D bias=None`.

use std::rc::Rc;

use super::config::{check_tuned, decorator_value, set_option};
use super::signature::Item;
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::irgen::emit::{Emits, R, Reported};
use crate::irgen::front::launch::{Given, Launch, LaunchFault};
use crate::irgen::semantic::{faults, fold};
use crate::irgen::value::{Argument, Const, Func, Object};
use crate::irgen::walk::{Cause, Walker, because};
use crate::parser::ast::{Expr, Param};
use crate::source::Span;

/// A heuristic that is known by name.
#[derive(Clone)]
pub(super) struct Heuristic {
    pub name: Rc<str>,
    function: Object,
    /// The decorator's dict.
    at: Span,
}

/// The heuristics of a kernel.
#[derive(Clone, Default)]
pub(super) struct Heuristics {
    pub list: Vec<Heuristic>,
    /// Those that could not even be listed.
    unknown: Vec<(Span, Cause)>,
}

impl Heuristics {
    #[must_use]
    pub(super) fn gives(&self, name: &str) -> bool {
        self.list.iter().any(|h| *h.name == *name)
    }

    /// What to say of a parameter without a value when there are heuristics that cannot be read.
    pub(super) fn explain(&self, diag: Diagnostic) -> Diagnostic {
        self.unknown
            .iter()
            .fold(diag, |d, (at, cause)| because(d.at(*at, "these heuristics cannot be evaluated"), cause.clone()))
    }
}

/// The heuristics of a kernel, in the order in which Triton calls them.
pub(super) fn of_kernel(cx: &mut Walker<'_>, func: &Func) -> Heuristics {
    let mut all = Heuristics::default();
    let dicts: Vec<&Expr> =
        func.def.decorators.iter().filter_map(|d| decorator_value(d, "heuristics", "values")).collect();
    for e in dicts {
        let listed = cx.attempt(func.module, |cx| match cx.expr(e)? {
            Object::Dict(items) => Ok(items),
            other => Err(faults::expected(cx.out(), "a dict of functions", &other)),
        });
        match listed {
            Ok(items) => all.list.extend(items.iter().filter_map(|(k, f)| match k {
                Object::Const(Const::Str(name)) => {
                    Some(Heuristic { name: name.clone(), function: f.clone(), at: e.span })
                }
                _ => None,
            })),
            Err(cause) => all.unknown.push((e.span, cause)),
        }
    }
    all
}

/// Reports heuristics for what is neither a parameter of the kernel nor an option.
pub(super) fn check_names(cx: &mut Walker<'_>, func: &Func, all: &Heuristics) -> R<()> {
    let mut failed = Ok(());
    for h in &all.list {
        failed = failed.and(check_tuned(cx, func, &h.name, h.at, "a heuristic"));
    }
    failed
}

/// Calls the heuristics of all parameters whose value the user did not give (`fixed`) and that are no run-time
/// values by their type.
pub(super) fn apply(
    cx: &mut Walker<'_>,
    func: &Func,
    all: &Heuristics,
    items: &mut [Item],
    fixed: &[bool],
    launch: &mut Launch,
    given: Given,
) -> R<()> {
    let mut failed = false;
    for h in &all.list {
        let param = func.def.params.iter().position(|p| *p.name.name == *h.name);
        let open = match param {
            Some(i) => !fixed[i] && !items[i].is_type(),
            None => option_is_open(&h.name, given),
        };
        failed |= check_tuned(cx, func, &h.name, h.at, "a heuristic").is_err();
        if !open {
            continue;
        }
        match (call(cx, func, h, items, *launch), param) {
            (Ok(v), Some(i)) => items[i] = Item::Const(v),
            (Ok(v), None) => failed |= set_launch(cx, func, h, &v, launch).is_err(),
            (Err(cause), Some(i)) => {
                failed = true;
                unknown_heuristic(cx, func, h, &func.def.params[i], cause);
            }
            (Err(cause), None) => unknown_option(cx, func, h, *launch, cause),
        }
    }
    if failed { Err(Reported) } else { Ok(()) }
}

/// The parameters whose heuristics cannot be evaluated with these items.
pub(super) fn unknown(cx: &mut Walker<'_>, func: &Func, all: &Heuristics, items: &mut [Item]) -> Vec<String> {
    let mut names = vec![];
    for h in &all.list {
        let Some(i) = func.def.params.iter().position(|p| *p.name.name == *h.name) else { continue };
        match call(cx, func, h, items, Launch::default()) {
            Ok(v) => items[i] = Item::Const(v),
            Err(_) => names.push(h.name.to_string()),
        }
    }
    names
}

fn call(cx: &mut Walker<'_>, func: &Func, h: &Heuristic, items: &[Item], launch: Launch) -> Result<Object, Cause> {
    let key = |name: &str| Object::from(Const::str(name));
    let mut args = vec![];
    for (p, item) in func.def.params.iter().zip(items) {
        let name = &*p.name.name;
        let value = match item {
            Item::Value { ty, .. } | Item::Desc(ty) => {
                Object::Argument(Rc::new(Argument { name: name.to_owned(), ty: *ty }))
            }
            other => match other.settled() {
                Some(v) => v,
                None => continue,
            },
        };
        args.push((key(name), value));
    }
    for (name, n) in [("num_warps", launch.num_warps), ("num_stages", launch.num_stages), ("num_ctas", launch.num_ctas)]
    {
        args.push((key(name), Object::int(n)));
    }
    cx.attempt(func.module, |cx| {
        cx.at(h.at, |cx| {
            // It runs at a launch.
            let v = cx.later(|cx| cx.apply(&h.function, vec![Object::dict(args)], vec![]))?;
            fold::known(cx.out(), &v).map(|()| v)
        })
    })
}

/// The value of a heuristic for an option.
fn set_launch(cx: &mut Walker<'_>, func: &Func, h: &Heuristic, v: &Object, launch: &mut Launch) -> R<()> {
    if !set_option(launch, &h.name, v) {
        return Ok(());
    }
    match launch.faults().into_iter().find(|f| f.name == &*h.name) {
        None => Ok(()),
        Some(LaunchFault { name, nearest, expected, .. }) => {
            let message = format!("a heuristic of `{}` gives `{name}={}`: expected {expected}", func.name(), v.show());
            let diagnostic = Diagnostic::error(&names::BAD_CONFIG, message).at(h.at, "in these heuristics");
            Err(cx.out().report(diagnostic.help(format!("`--{} {nearest}` takes its place", name.replace('_', "-")))))
        }
    }
}

fn unknown_heuristic(cx: &mut Walker<'_>, func: &Func, h: &Heuristic, p: &Param, cause: Cause) {
    let message = format!("the heuristic for `{}` of `{}` cannot be evaluated", h.name, func.name());
    let diag = Diagnostic::error(&names::HEURISTIC, message).at(p.span, "no value");
    let _ = cx.out().report(because(diag, cause).help(format!("give its value: -D {}=…", h.name)));
}

fn unknown_option(cx: &mut Walker<'_>, func: &Func, h: &Heuristic, launch: Launch, cause: Cause) {
    let mut used = String::new();
    for (name, n) in [("num_warps", launch.num_warps), ("num_stages", launch.num_stages), ("num_ctas", launch.num_ctas)]
    {
        if *h.name == *name {
            used = format!("; it is {n}");
        }
    }
    let option = h.name.replace('_', "-");
    let message = format!("the heuristic for `{}` of `{}` cannot be evaluated{used}", h.name, func.name());
    let diag = Diagnostic::warning(&names::HEURISTIC, message).at(h.at, "in these heuristics");
    let _ = cx.out().report(because(diag, cause).help(format!("give its value: --{option} N")));
}

/// Whether this names an option that the user left open.
fn option_is_open(name: &str, given: Given) -> bool {
    match name {
        "num_warps" => given.num_warps.is_none(),
        "num_stages" => given.num_stages.is_none(),
        "num_ctas" => given.num_ctas.is_none(),
        "maxnreg" => given.maxnreg.is_none(),
        _ => given.amd.clone().named(name).is_some_and(|slot| slot.is_none()),
    }
}
