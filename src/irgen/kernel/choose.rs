//! Which function of a file is the kernel: the one of a name, or the only one that can be launched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::diag::{Diagnostic, Place};
use crate::irgen::emit::{Emits, R};
use crate::irgen::front::free_names::free_names;
use crate::irgen::front::top_level::Bound;
use crate::irgen::value::{Const, Func, Object};
use crate::irgen::walk::Walker;
use crate::parser::ast::{Constant, Decorator, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use crate::source::Span;

/// The kernel of this name, or the only one that can be launched.
pub(super) fn choose(cx: &mut Walker<'_>, module: usize, name: Option<&str>) -> R<Func> {
    let file = cx.modules().get(module).file;
    let place = Place::File(cx.modules().map.file(file).name.clone());
    let jit = compiled(cx, module);
    if let Some(name) = name {
        // What the file calls by the name in the end: the last definition mostly, or another function.
        if let Some(Object::Const(Const::Func(f))) = cx.global(module, name)
            && f.jit
        {
            if let Some((test, _)) = cx.choice(module, name) {
                doubtful(cx, module, &f.def, Some(test), &[]);
            }
            return Ok(f);
        }
        // One inside a class or a host function.
        let full_name = |f: &FunctionDef| cx.modules().get(module).full_name(f);
        let called: Vec<&Arc<FunctionDef>> = jit.iter().filter(|f| is_called(&full_name(f), name)).collect();
        if let Some((&def, others)) = called.split_last() {
            if !others.is_empty() {
                doubtful(cx, module, def, None, others);
            }
            let module = cx.modules_mut().home(module, def);
            return Ok(Func::new(def.clone(), module, true));
        }
        let plain = cx.modules().get(module).functions.iter().rev().find(|f| *f.name.name == *name).cloned();
        if let Some(def) = plain {
            return Err(cx.out().report(not_decorated(&def)));
        }
        let known = command_names(cx, module, &jit);
        let diag = Diagnostic::error(&names::UNKNOWN_KERNEL, format!("the file has no kernel `{name}`")).at(place, "");
        let near = nearest(name, known.iter().map(String::as_str));
        return Err(cx.out().report(match near {
            Some(n) => diag.help(format!("did you mean `{n}`?")),
            None if known.is_empty() => diag.help("a kernel is a function decorated with `@triton.jit`"),
            None => diag.help(format!("its kernels are {}", known.join(", "))),
        }));
    }
    let launchable: Vec<&Arc<FunctionDef>> =
        jit.iter().zip(entries(&jit)).filter_map(|(f, entry)| entry.then_some(f)).collect();
    match launchable.as_slice() {
        [only] => Ok(of_file(cx, module, only)),
        [] => {
            let misspelt = cx.modules().get(module).functions.iter().find(|f| jit_typo(f).is_some()).cloned();
            if let Some(def) = misspelt {
                return Err(cx.out().report(not_decorated(&def)));
            }
            let diag = Diagnostic::error(&names::UNKNOWN_KERNEL, "the file has no kernel").at(place, "");
            Err(cx.out().report(diag.help("a kernel is a function decorated with `@triton.jit` that returns nothing")))
        }
        several => {
            let known = command_names(cx, module, &several.iter().map(|&f| f.clone()).collect::<Vec<_>>());
            let diag = Diagnostic::error(&names::AMBIGUOUS_KERNEL, format!("the file has {} kernels", several.len()))
                .at(place, "");
            Err(cx.out().report(diag.help(format!("choose one with -k: {}", known.join(", ")))))
        }
    }
}

/// Whether a kernel of this full name, `Class.kernel`, may be meant by a name: the last part or several, or all of it.
pub(super) fn is_called(full_name: &str, name: &str) -> bool {
    full_name.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// What the command line calls functions of a file: their names, or those with what is around them where several have
/// one name.
pub(super) fn command_names(cx: &Walker<'_>, module: usize, all: &[Arc<FunctionDef>]) -> Vec<String> {
    let is_only = |f: &FunctionDef| all.iter().filter(|other| other.name.name == f.name.name).count() == 1;
    let name = |f: &FunctionDef| if is_only(f) { f.name.to_string() } else { cx.modules().get(module).full_name(f) };
    all.iter().map(|f| name(f)).collect()
}

/// The functions of a file that are compiled, in source order: those with `@triton.jit`, and those that the file hands
/// to `triton.jit` under another name.
pub(super) fn compiled(cx: &mut Walker<'_>, module: usize) -> Vec<Arc<FunctionDef>> {
    let data = cx.modules().get(module);
    let mut handed: Vec<(String, Arc<str>)> = vec![];
    for name in data.names() {
        for binding in data.bindings(name) {
            let Bound::Value(value) = &binding.bound else { continue };
            let ExprKind::Call(call) = &value.kind else { continue };
            let arguments = call.args.iter().filter_map(Expr::as_name);
            handed.extend(arguments.map(|function| (name.to_owned(), function.into())));
        }
    }
    let is_handed = |cx: &mut Walker<'_>, def: &Arc<FunctionDef>| {
        let mut names = handed.iter().filter(|(_, function)| *function == def.name.name);
        names.any(|(name, _)| {
            matches!(cx.global(module, name), Some(Object::Const(Const::Func(f))) if f.jit && Arc::ptr_eq(&f.def, def))
        })
    };
    let all = data.functions.clone();
    all.into_iter().filter(|f| f.is_jit || is_handed(cx, f)).collect()
}

/// Warns of a kernel that is one of several of its name.
fn doubtful(cx: &mut Walker<'_>, module: usize, taken: &FunctionDef, test: Option<Span>, others: &[&Arc<FunctionDef>]) {
    let name = &*taken.name.name;
    let mut diag = Diagnostic::warning(&names::DOUBTFUL, format!("which kernel `{name}` is meant is not known"))
        .at(taken.header, "ttc takes this one");
    if let Some(test) = test {
        diag = diag.at(test, "depends on this, which only Python can decide");
    }
    diag = others.iter().fold(diag, |diag, other| diag.at(other.header, "this one has the same name"));
    let data = cx.modules().get(module);
    let all: BTreeSet<String> = others.iter().map(|f| &***f).chain([taken]).map(|f| data.full_name(f)).collect();
    let help = if all.len() == others.len() + 1 && all.len() > 1 {
        format!("name the one you mean with what is around it: {}", all.into_iter().collect::<Vec<_>>().join(", "))
    } else {
        "if that is the wrong one, give the one you mean another name".to_owned()
    };
    let _ = cx.out().report(diag.help(help));
}

/// A jit function of a file, with what the file puts around it when it gives it its own name again.
pub(super) fn of_file(cx: &mut Walker<'_>, module: usize, def: &Arc<FunctionDef>) -> Func {
    match cx.global(module, &def.name.name) {
        Some(Object::Const(Const::Func(f))) if Arc::ptr_eq(&f.def, def) => f,
        _ => Func::new(def.clone(), cx.modules_mut().home(module, def), true),
    }
}

/// Whether each jit function can be launched: it returns nothing and no other one names it.
pub(super) fn entries(all: &[Arc<FunctionDef>]) -> Vec<bool> {
    let mut named: BTreeMap<Arc<str>, BTreeSet<usize>> = BTreeMap::new();
    for (i, f) in all.iter().enumerate() {
        for name in free_names(f) {
            named.entry(name).or_default().insert(i);
        }
    }
    let by_another = |i: usize| {
        named.get(&*all[i].name.name).is_some_and(|by| by.iter().any(|&j| all[j].name.name != all[i].name.name))
    };
    all.iter().enumerate().map(|(i, f)| !returns_value(&f.body) && !by_another(i)).collect()
}

fn returns_value(body: &[Stmt]) -> bool {
    body.iter().any(|s| match &s.kind {
        StmtKind::Return(Some(e)) => !matches!(e.kind, ExprKind::Constant(Constant::None)),
        StmtKind::If { branches, orelse } => branches.iter().any(|b| returns_value(&b.body)) || returns_value(orelse),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => returns_value(body),
        _ => false,
    })
}

/// The decorator that was probably meant to be `@triton.jit`.
fn jit_typo(def: &FunctionDef) -> Option<&Decorator> {
    let near = |d: &&Decorator| {
        d.path().and_then(|p| p.last().copied()).is_some_and(|n| nearest(n, ["jit"].into_iter()).is_some())
    };
    def.decorators.iter().find(near).filter(|_| !def.is_jit)
}

/// The message for a function that was named as the kernel and is not compiled.
fn not_decorated(def: &FunctionDef) -> Diagnostic {
    let diag = Diagnostic::error(
        &names::UNKNOWN_KERNEL,
        format!("`{}` is no kernel: it is not decorated with `@triton.jit`", def.name),
    );
    match jit_typo(def) {
        Some(d) => diag
            .at(d.span, "this decorator is not known")
            .at(def.header, "this function")
            .help("did you mean `@triton.jit`?")
            .fix(d.expr.span, "triton.jit"),
        None => diag
            .at(def.header, "a plain Python function")
            .help("write `@triton.jit` above it")
            .fix(Span { hi: def.header.lo, ..def.header }, "@triton.jit\n"),
    }
}
