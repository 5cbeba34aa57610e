//! Heuristics: parameters whose values `@triton.heuristics` computes from the others.
//!
//! 1. The decorator's dict is evaluated as host code ([`Walker::tuners`]): names with functions of `args`.
//! 2. `args` holds the values of compile-time parameters and, for run-time ones, an [`Argument`]: it has a type and is
//!    not `None`, and whatever needs its value is not known until a launch.
//! 3. The functions are called in order, outermost decorator first; each sees what those before it gave.
//! 4. What the user gave stays. A heuristic for `num_warps` or another option sets it unless the user did.
//!
//! Example: `{"HAS_BIAS": lambda args: args["bias"] is not None}` gives `True` where `bias` is a pointer, `False` with
//! `-D bias=None`.

use std::rc::Rc;

use super::config::{check_tuned, set_option};
use super::signature::Item;
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::irgen::builtins::DECORATORS;
use crate::irgen::emit::{Emits, R, Reported};
use crate::irgen::front::launch::{Given, Launch, LaunchFault};
use crate::irgen::semantic::fold;
use crate::irgen::value::{Argument, Func, Object, Passed, PassedItem, Tuned};
use crate::irgen::walk::{Cause, Walker, because};
use crate::parser::ast::Param;
use crate::source::Span;

/// A heuristic that is known by name.
#[derive(Clone)]
pub(super) struct Heuristic {
    pub name: Rc<str>,
    function: Result<Object, Cause>,
    /// The decorator's dict.
    at: Span,
}

/// What is known of a launch while heuristics are called one after the other.
pub(super) struct SoFar {
    pub items: Vec<Item>,
    /// Which of the items are there by their defaults, which a launch does not pass.
    pub defaults: Vec<bool>,
    pub launch: Launch,
    /// The options that are passed for certain: those of a configuration and of the user.
    pub options: Vec<String>,
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
    for tuner in cx.tuners(func, DECORATORS[1]) {
        match &tuner.gives {
            Tuned::Heuristics(Ok(list)) => all.list.extend(list.iter().map(|(name, function)| Heuristic {
                name: name.clone(),
                function: function.clone(),
                at: tuner.at,
            })),
            Tuned::Heuristics(Err(cause)) => all.unknown.push((tuner.at, cause.clone())),
            Tuned::Configs(..) => {}
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
    so_far: &mut SoFar,
    fixed: &[bool],
    given: Given,
) -> R<()> {
    let mut failed = unknown_dicts(cx, func, all, so_far, given).is_err();
    for h in &all.list {
        let param = func.def.params.iter().position(|p| *p.name.name == *h.name);
        let open = match param {
            Some(i) => !fixed[i] && !so_far.items[i].is_type(),
            None => option_is_open(&h.name, given),
        };
        failed |= check_tuned(cx, func, &h.name, h.at, "a heuristic").is_err();
        if !open {
            continue;
        }
        match (call(cx, func, h, so_far), param) {
            (Ok(v), Some(i)) => (so_far.items[i], so_far.defaults[i]) = (Item::Const(v), false),
            (Ok(v), None) => {
                failed |= set_launch(cx, func, h, &v, &mut so_far.launch).is_err();
                so_far.options.push(h.name.to_string());
            }
            (Err(cause), Some(i)) => {
                failed = true;
                unknown_heuristic(cx, func, h, &func.def.params[i], cause);
            }
            (Err(cause), None) => unknown_option(cx, func, h, so_far.launch, cause),
        }
    }
    if failed { Err(Reported) } else { Ok(()) }
}

/// Reports heuristics that cannot even be listed, if they may give what has its default so far. What the user and
/// configurations give is probably meant to stay.
fn unknown_dicts(cx: &mut Walker<'_>, func: &Func, all: &Heuristics, so_far: &SoFar, given: Given) -> R<()> {
    let params = func.def.params.iter().zip(&so_far.defaults);
    let names: Vec<String> = params.filter(|(_, default)| **default).map(|(p, _)| p.name.to_string()).collect();
    let mut failed = false;
    for (at, cause) in &all.unknown {
        let message = format!("the heuristics of `{}` cannot be evaluated", func.name());
        if let Some(first) = names.first() {
            let list = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let diag = Diagnostic::error(&names::HEURISTIC, format!("{message}; they may give {list}"));
            let diag = because(diag.at(*at, "not known at compile time"), cause.clone());
            let _ = cx.out().report(diag.help(format!("give its value: -D {first}=…")));
            failed = true;
        } else if given.num_warps.is_none() {
            let diag =
                Diagnostic::warning(&names::HEURISTIC, format!("{message}; a heuristic for an option is passed over"));
            let diag = because(diag.at(*at, "not known at compile time"), cause.clone());
            let _ = cx.out().report(diag.help("give the options that they set: --num-warps N"));
        }
    }
    if failed { Err(Reported) } else { Ok(()) }
}

/// The parameters whose heuristics cannot be evaluated with these items.
pub(super) fn unknown(cx: &mut Walker<'_>, func: &Func, all: &Heuristics, so_far: &mut SoFar) -> Vec<String> {
    let mut names = vec![];
    for h in &all.list {
        let Some(i) = func.def.params.iter().position(|p| *p.name.name == *h.name) else { continue };
        match call(cx, func, h, so_far) {
            Ok(v) => (so_far.items[i], so_far.defaults[i]) = (Item::Const(v), false),
            Err(_) => names.push(h.name.to_string()),
        }
    }
    names
}

fn call(cx: &mut Walker<'_>, func: &Func, h: &Heuristic, so_far: &SoFar) -> Result<Object, Cause> {
    let mut passed = vec![];
    for ((p, item), is_default) in func.def.params.iter().zip(&so_far.items).zip(&so_far.defaults) {
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
        passed.push(PassedItem { name: Rc::from(name), value, certain: !is_default });
    }
    let launch = &so_far.launch;
    for (name, n) in [("num_warps", launch.num_warps), ("num_stages", launch.num_stages), ("num_ctas", launch.num_ctas)]
    {
        let certain = so_far.options.iter().any(|option| *option == *name);
        passed.push(PassedItem { name: Rc::from(name), value: Object::int(n), certain });
    }
    let params = func.def.params.iter().map(|p| Rc::from(&*p.name.name)).collect();
    let passed = Object::Passed(Rc::new(Passed { items: passed, params }));
    let function = h.function.clone()?;
    cx.attempt(func.module, |cx| {
        cx.at(h.at, |cx| {
            let was = cx.out().begin_launch(true);
            // It runs at a launch.
            let v = cx.later(|cx| cx.apply(&function, vec![passed], vec![]));
            cx.out().begin_launch(was);
            let v = v?;
            fold::known_whole(cx.out(), &v).map(|()| v)
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
