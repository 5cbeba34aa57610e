//! All parameters of a kernel: `--type`, the signature or the annotations say what each is; `-D`, a configuration,
//! heuristics and defaults give the compile-time ones their values.

use std::rc::Rc;

use super::config::{self, ConfigInfo};
use super::faults::{Missing, item_help, plural};
use super::heuristics::SoFar;
use super::request::KernelRequest;
use super::signature::Item;
use super::{faults, heuristics, signature, typed};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::did_you_mean;
use crate::irgen::emit::{Emits, R, Reported};
use crate::irgen::front::launch::Launch;
use crate::irgen::front::signature::split;
use crate::irgen::value::Func;
use crate::irgen::walk::Walker;
use crate::parser::ast::ParamKind;

/// The parameters of a kernel by name, and the configuration that gave some of them their values.
pub(super) type Parameters = (Vec<(Rc<str>, Item)>, Option<ConfigInfo>);

/// All parameters of a kernel, from the signature or the annotations, with the values that `-D`, a configuration,
/// heuristics and defaults give: the first that gives one wins, but a heuristic is asked even where a configuration
/// gave a value, as in Triton. Sets the launch's options too.
pub(super) fn parameters(
    cx: &mut Walker<'_>,
    func: &Func,
    request: &KernelRequest,
    launch: &mut Launch,
) -> R<Parameters> {
    let (signature, defines) = (request.signature.as_deref(), &request.defines);
    let mut failed = take_defines(cx, func, request);
    failed |= cx.check_annotations(func).is_err();
    failed |= faults::check_jit(cx, func).is_err();
    let config = request.config.map(|n| config::choose(cx, func, n)).transpose()?;
    if let Some((_, config)) = &config {
        *launch = request.given.over(config::launch_of(config));
    }
    let heuristics = heuristics::of_kernel(cx, func);
    let params = &func.def.params;
    if let Some(p) = params.iter().find(|p| matches!(p.kind, ParamKind::VarArgs | ParamKind::VarKwargs)) {
        let diag = Diagnostic::error(
            &names::SIGNATURE_TYPE,
            format!("the kernel's parameter `{}` takes any number of arguments", p.name),
        );
        return Err(cx.out().report(diag.at(p.span, "a kernel needs a fixed list of parameters")));
    }
    let mut items = match signature {
        Some(text) => signature_items(cx, func, text)?,
        None => params.iter().map(|p| signature::of_annotation(cx, func, p)).collect(),
    };
    let tuned = |name: &str| config.as_ref().and_then(|(_, c)| c.values.iter().find(|(n, _)| **n == *name));
    let defined = |name: &str| defines.iter().rev().find(|(n, _)| *n == name);
    let has_value = |name: &str| defined(name).is_some() || tuned(name).is_some() || heuristics.gives(name);
    let typed = typed::apply(cx, func, request, &has_value, &mut items)?;
    let mut said = vec![];
    if signature.is_none() {
        said = faults::bad_annotations(cx, func, &|name| defined(name).is_some() || typed.contains(name));
        failed |= !said.is_empty();
    }
    let mut missing = vec![];
    // What the command line says, or the file in place of a signature.
    let mut fixed: Vec<bool> = items.iter().map(|i| i.settled().is_some()).collect();
    let mut defaults = vec![false; params.len()];
    for (((p, item), fixed), is_default) in params.iter().zip(&mut items).zip(&mut fixed).zip(&mut defaults) {
        if let Some((_, text)) = defined(&p.name.name) {
            if let Some(v) = signature::value(cx, text, func.module) {
                *item = Item::Const(v);
                *fixed = true;
            } else {
                failed = true;
                faults::bad_define(cx, &p.name.name, text, p.span);
            }
            continue;
        }
        let open = matches!(item, Item::Constexpr | Item::Unknown);
        if let Some((_, v)) = tuned(&p.name.name).filter(|_| open) {
            *item = Item::Const(v.clone());
        } else if open && !heuristics.gives(&p.name.name) {
            let default = p.default.as_ref().and_then(|e| cx.evaluate(func.module, e));
            match default {
                Some(v) => (*item, *is_default) = (Item::Const(v), true),
                None if said.contains(&&*p.name.name) => {}
                None => missing.push(Missing { param: p, constexpr: matches!(item, Item::Constexpr) }),
            }
        }
    }
    if !missing.is_empty() {
        let (missing, items) = (missing, items.clone());
        if heuristics::check_names(cx, func, &heuristics).is_ok() {
            faults::missing(cx, func, &missing, &items, request.config.is_none(), &heuristics);
        }
        failed = true;
    }
    if failed {
        return Err(Reported);
    }
    let options = [
        ("num_warps", request.given.num_warps.is_some()),
        ("num_stages", request.given.num_stages.is_some()),
        ("num_ctas", request.given.num_ctas.is_some()),
    ];
    let passed = options.into_iter().filter(|(_, given)| *given || config.is_some());
    let options = passed.map(|(name, _)| name.to_owned()).collect();
    let mut so_far = SoFar { items, defaults, launch: *launch, options };
    heuristics::apply(cx, func, &heuristics, &mut so_far, &fixed, request.given)?;
    *launch = so_far.launch;
    let items = params.iter().zip(so_far.items).map(|(p, item)| (Rc::from(&*p.name.name), item)).collect();
    Ok((items, config.map(|(info, _)| info)))
}

fn signature_items(cx: &mut Walker<'_>, func: &Func, text: &str) -> R<Vec<Item>> {
    let parts = split(text);
    let params = &func.def.params;
    if parts.len() != params.len() {
        let (items, all) = (plural(parts.len(), "item"), plural(params.len(), "parameter"));
        let message = format!("the signature has {items}, the kernel `{}` has {all}", func.name());
        let diag = Diagnostic::error(&names::SIGNATURE_LENGTH, message).at(func.def.header, all);
        let help = faults::length_help(cx, func, text, &parts);
        return Err(cx.out().report(diag.help(help)));
    }
    let mut items = vec![];
    let mut failed = false;
    if let Some(types) = as_types(&parts) {
        let message = format!("`{}` in the signature is neither a type nor a value", parts[0]);
        let diag = Diagnostic::error(&names::SIGNATURE_TYPE, message).at(params[0].span, "for this parameter");
        let help =
            format!("the items of a signature have no names, in the order of the parameters; with names write {types}");
        return Err(cx.out().report(diag.help(help)));
    }
    for (p, part) in params.iter().zip(parts) {
        if let Some(item) = signature::item(cx, part, func.module).filter(Item::is_type)
            && matches!(signature::of_annotation(cx, func, p), Item::Constexpr)
        {
            failed = true;
            let message = format!("`{}` is a compile-time value, so it has no type `{part}`", p.name);
            let diag = Diagnostic::error(&names::BAD_TYPE, message).at(p.span, "declared as `tl.constexpr`");
            let _ = cx.out().report(diag.help("give its value in the signature, as in `…,128`"));
            items.push(item);
        } else if let Some(item) = signature::item(cx, part, func.module) {
            items.push(item);
        } else {
            failed = true;
            let message = format!("`{part}` in the signature is neither a type nor a value");
            let diag = Diagnostic::error(&names::SIGNATURE_TYPE, message).at(p.span, "for this parameter");
            let _ = cx.out().report(diag.help(item_help(part)));
        }
    }
    if failed { Err(Reported) } else { Ok(items) }
}

/// The options that say what a signature of `NAME=TYPE` items means, if it is one.
fn as_types(parts: &[&str]) -> Option<String> {
    let named = |part: &&str| {
        let (name, ty) = part.split_once('=')?;
        let is_name = name.trim().chars().all(|c| c.is_alphanumeric() || c == '_') && !name.trim().is_empty();
        let option = if ty.trim().starts_with(|c: char| c.is_ascii_digit()) { "-D" } else { "--type" };
        is_name.then(|| format!("{option} \"{}={}\"", name.trim(), ty.trim()))
    };
    parts.iter().map(named).collect::<Option<Vec<_>>>().map(|options| options.join(" "))
}

/// Takes `-D` for names of the file and of files that it imports, and reports those for nothing.
fn take_defines(cx: &mut Walker<'_>, func: &Func, request: &KernelRequest) -> bool {
    let mut failed = false;
    for (name, text) in &request.defines {
        if func.def.params.iter().any(|p| *p.name.name == **name) {
            continue;
        }
        // A parameter that is misspelt; other names may be found in files that are not read yet.
        if !request.for_others.contains(name)
            && cx.modules().bindings(func.module, name).is_empty()
            && let Some(help) = did_you_mean(name, func.def.params.iter().map(|p| &*p.name.name))
        {
            failed = true;
            let message = format!("the kernel `{}` has no parameter `{name}`", func.name());
            let _ = cx
                .out()
                .report(Diagnostic::error(&names::BAD_DEFINE, message).at(func.def.header, "this kernel").help(help));
            continue;
        }
        if let Some(v) = signature::value(cx, text, func.module) {
            cx.give(name, v);
        } else {
            failed = true;
            faults::bad_define(cx, name, text, func.def.header);
        }
    }
    cx.forget_globals();
    failed
}
