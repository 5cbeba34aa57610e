//! What is wrong with a signature, an annotation or a `-D`, and what to write instead.
//!
//! 1. An item that is no type is compared with the names that types have in other languages ([`OTHER_NAMES`]), then
//!    with the known ones.
//! 2. A signature of the wrong length may end with a comma, or lack commas; else the message holds one to copy
//!    ([`super::template`]).
//! 3. All parameters about which too little is known are one message (E0216), with options to copy.
//!
//! Example: `*f32` is probably `*fp32`; of `*fp32:8` the 8 says nothing.

use super::heuristics::Heuristics;
use super::request::KernelRequest;
use super::signature::Item;
use super::template::{self, Guesses};
use super::{config, signature};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::nearest;
use crate::irgen::emit::{Emits, R, Reported};
use crate::irgen::front::signature::parse_type;
use crate::irgen::types::Dtype;
use crate::irgen::value::{Const, Func, Object};
use crate::irgen::walk::Walker;
use crate::parser::ast::{Constant, ExprKind, Param};
use crate::source::Span;

/// How many parameters a message names.
const SHOWN: usize = 8;

/// `1 item`, `2 items`
pub(super) fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The types of other languages by their names, with those of signatures.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["f16", "float16_t", "__half"], "fp16"),
    (&["f32", "float32_t", "single"], "fp32"),
    (&["f64", "float64_t"], "fp64"),
    (&["bfloat", "__nv_bfloat16"], "bf16"),
    (&["f8", "fp8", "float8", "e5m2", "f8e5m2", "fp8e5m2"], "fp8e5"),
    (&["e4m3", "f8e4m3", "fp8e4m3", "f8e4m3fn", "fp8e4", "e4m3fn"], "fp8e4nv"),
    (&["long", "size_t", "int64_t", "ssize_t"], "i64"),
    (&["int32_t"], "i32"),
    (&["uint", "uint32_t", "unsigned"], "u32"),
    (&["uint64_t"], "u64"),
    (&["int8_t"], "i8"),
    (&["uint8_t"], "u8"),
    (&["int16_t"], "i16"),
];

/// What to do about an item of a signature, or an annotation, that is no type.
pub(super) fn item_help(text: &str) -> String {
    let (body, hint) = text.rsplit_once(':').map_or((text, None), |(b, h)| (b.trim(), Some(h.trim())));
    if let Some(hint) = hint
        && let Some(ty) = parse_type(body)
    {
        if hint == "1" {
            return format!(
                "`:1` says that an integer is 1, and `{}` is none: give the value itself",
                ty.dtype.short()
            );
        }
        if hint == "16" {
            return format!(
                "`:16` says that an address or an integer is a multiple of 16, and `{}` is neither: leave it out",
                ty.dtype.short()
            );
        }
        return format!("`:{hint}` says nothing: there are `:16` (divisible by 16) and `:1` (equal to 1)");
    }
    let stars: String = body.chars().take_while(|c| *c == '*').collect();
    let word = body.trim_start_matches('*').trim_end_matches('*').trim();
    let stars = if body.ends_with('*') { "*".to_owned() } else { stars };
    let other =
        OTHER_NAMES.iter().find(|(words, _)| words.contains(&&*word.to_ascii_lowercase())).map(|(_, here)| *here);
    let known = || {
        Dtype::ALL
            .iter()
            .filter(|d| **d != Dtype::Void)
            .flat_map(|d| [d.short(), d.name().to_owned()])
            .collect::<Vec<_>>()
    };
    let near = |word: &str| nearest(word, known().iter().map(String::as_str)).map(str::to_owned);
    let exact = Dtype::parse(word).map(Dtype::short);
    match other.map(str::to_owned).or(exact).or_else(|| near(word)) {
        Some(here) => format!("did you mean `{stars}{here}`?"),
        None => "types are `i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e5 fp8e4b15 fp16 bf16 fp32 fp64`, pointers `*TYPE`, with `:16` for divisible by 16; a compile-time value is a literal or `constexpr`".to_owned(),
    }
}

/// Reports annotations that are strings and nearly types: `"int33"`, `"*fp32:8"`. Any other text may be meant for
/// people.
pub(super) fn check_nearly_types(cx: &mut Walker<'_>, func: &Func) {
    for p in &func.def.params {
        let Some(ExprKind::Constant(Constant::Str(text))) = p.annotation.as_ref().map(|a| &a.kind) else {
            continue;
        };
        let nearly = text.rsplit_once(':').is_some_and(|(body, _)| parse_type(body).is_some())
            || item_help(text).starts_with("did you mean");
        if nearly && signature::item(cx, text, func.module).is_none() {
            bad_annotation(cx, p, text);
        }
    }
}

fn bad_annotation(cx: &mut Walker<'_>, p: &Param, text: &str) {
    let at = p.annotation.as_ref().map_or(p.span, |a| a.span);
    let message = format!("the annotation \"{text}\" of `{}` is neither a type nor a value", p.name);
    let help = item_help(text);
    let meant = help.strip_prefix("did you mean `").and_then(|h| h.strip_suffix("`?")).map(|t| format!("\"{t}\""));
    let diag = Diagnostic::error(&names::SIGNATURE_TYPE, message).at(at, "read as an item of a signature").help(help);
    let _ = cx.out().report(match meant {
        Some(text) => diag.fix(at, text),
        None => diag,
    });
}

/// Without a signature an annotation that is a string must be an item of one, unless a value or a type that is given
/// makes it needless. Gives the parameters that were reported.
pub(super) fn bad_annotations<'f>(
    cx: &mut Walker<'_>,
    func: &'f Func,
    is_given: &dyn Fn(&str) -> bool,
) -> Vec<&'f str> {
    let mut said = vec![];
    for p in &func.def.params {
        let Some(ExprKind::Constant(Constant::Str(text))) = p.annotation.as_ref().map(|a| &a.kind) else {
            continue;
        };
        if p.default.is_some() || is_given(&p.name.name) || signature::item(cx, text, func.module).is_some() {
            continue;
        }
        said.push(&*p.name.name);
        bad_annotation(cx, p, text);
    }
    said
}

/// What `triton.jit` takes.
const JIT: [&str; 8] = [
    "fn",
    "version",
    "repr",
    "launch_metadata",
    "do_not_specialize",
    "do_not_specialize_on_alignment",
    "debug",
    "noinline",
];

/// Reports keywords of `@triton.jit(…)` that it does not have.
pub(super) fn check_jit(cx: &mut Walker<'_>, func: &Func) -> R<()> {
    let mut failed = false;
    for call in func.def.decorators.iter().filter_map(|d| d.call()) {
        let callee = cx.attempt(func.module, |cx| cx.expr(&call.func));
        if !matches!(callee, Ok(Object::Const(Const::Builtin(b))) if b.name == "jit") {
            continue;
        }
        for name in call.keywords.iter().filter_map(|k| k.name.as_ref()).filter(|name| !JIT.contains(&&*name.name)) {
            failed = true;
            let diag = Diagnostic::error(&names::BAD_ARGUMENTS, format!("`triton.jit` has no parameter `{name}`"))
                .at(name.span, "not known")
                .help(format!("its parameters are {}", JIT.join(", ")));
            let _ = cx.out().report(diag);
        }
    }
    if failed { Err(Reported) } else { Ok(()) }
}

/// What is wrong with a signature whose length does not fit.
pub(super) fn length_help(cx: &mut Walker<'_>, func: &Func, text: &str, parts: &[&str]) -> String {
    let params = &func.def.params;
    if parts.last().is_some_and(|p| p.is_empty()) && parts.len() == params.len() + 1 {
        return "the signature ends with a comma, which starts one more item".to_owned();
    }
    let others: Vec<&str> = text.split([';', ' ', '\t']).filter(|p| !p.is_empty()).collect();
    if parts.len() == 1 && others.len() == params.len() {
        return "items are separated by commas".to_owned();
    }
    let items: Vec<Item> = params.iter().map(|p| signature::of_annotation(cx, func, p)).collect();
    let names: Vec<&str> = params.iter().map(|p| &*p.name.name).collect();
    let functions = cx.modules().get(func.module).functions.clone();
    let template = template::signature(func, &items, &Guesses::of(&func.def, &functions));
    format!("give one item for each of: {}; for example --signature \"{template}\"", names.join(", "))
}

pub(super) fn bad_define(cx: &mut Walker<'_>, name: &str, text: &str, span: Span) {
    let diag = Diagnostic::error(&names::BAD_DEFINE, format!("the value `{text}` of `{name}` cannot be evaluated"))
        .at(span, "for this parameter")
        .help(
            "a value is a number, `True`, `None`, a quoted string ('gelu'), a dtype (tl.float16), a tuple, or the name of \
             a function: one of the file, or one of another file with the path of an import (package.file.function)",
        );
    let _ = cx.out().report(diag);
}

/// Reports `-D` for what is neither a parameter of the kernel nor a name that it uses.
pub(super) fn unused_defines(cx: &mut Walker<'_>, func: &Func, request: &KernelRequest) -> R<()> {
    let mut failed = false;
    for (name, _) in request.defines.iter().filter(|(n, _)| !request.for_others.contains(n)) {
        if !cx.was_given_in_vain(name) || !cx.modules().bindings(func.module, name).is_empty() {
            continue;
        }
        failed = true;
        let params: Vec<&str> = func.def.params.iter().map(|p| &*p.name.name).collect();
        let message = format!(
            "the kernel `{}` has no parameter `{name}`, and uses no name of a file that is called so",
            func.name()
        );
        let diag = Diagnostic::error(&names::BAD_DEFINE, message).at(func.def.header, "this kernel");
        let _ = cx.out().report(diag.help(format!("its parameters are {}", params.join(", "))));
    }
    if failed { Err(Reported) } else { Ok(()) }
}

/// A parameter about which too little is known.
pub(super) struct Missing<'p> {
    pub param: &'p Param,
    /// Whether it needs a value. Otherwise it needs a type.
    pub constexpr: bool,
}

/// Reports the parameters about which too little is known, in one message with options to copy. `items` say which of
/// the others are run-time values.
pub(super) fn missing(
    cx: &mut Walker<'_>,
    func: &Func,
    missing: &[Missing<'_>],
    items: &[Item],
    choose: bool,
    heuristics: &Heuristics,
) {
    let list = |constexpr: bool| -> Vec<&str> {
        missing.iter().filter(|m| m.constexpr == constexpr).map(|m| &*m.param.name.name).collect()
    };
    let (mut values, types) = (list(true), list(false));
    let mut parts = vec![];
    if !types.is_empty() {
        parts.push(format!("types of {}", few(&types)));
    }
    if !values.is_empty() {
        parts.push(format!("values of {}", few(&values)));
    }
    let message = format!("the kernel `{}` needs the {}", func.name(), parts.join(" and the "));
    let count = format!("{} of its {} parameters are not known", missing.len(), func.def.params.len());
    let mut diag = Diagnostic::error(&names::MISSING_PARAMETER, message).at(func.def.name.span, count);
    for m in missing.iter().filter(|m| m.constexpr) {
        if let Some(e) = &m.param.default {
            let why = cx.attempt(func.module, |cx| cx.expr(e)).err().flatten();
            diag = diag.at(e.span, "this default is not known at compile time");
            diag = why.into_iter().fold(diag, |d, why| d.note(why.message));
        }
    }
    diag = heuristics.explain(diag);
    let mut help = vec![];
    let mut options = vec![];
    if choose && let Some(choice) = which_config(cx, func, missing) {
        if !choice.gives.is_empty() {
            values.retain(|v| !choice.gives.contains(v));
            options.push("--config 0".to_owned());
        }
        help.push(choice.text);
    }
    let typed: Vec<&str> =
        func.def.params.iter().zip(items).filter(|(_, i)| i.is_type()).map(|(p, _)| &*p.name.name).collect();
    let functions = cx.modules().get(func.module).functions.clone();
    options.extend(template::missing(&Guesses::of(&func.def, &functions), &types, &values, &typed).options());
    if !types.is_empty() || !values.is_empty() {
        let hint = if types.is_empty() { "" } else { ", and add `:16` to what is always a multiple of 16" };
        help.push(format!("these are guesses, so correct them{hint}: {}", options.join(" ")));
    }
    let _ = cx.out().report(diag.help(help.join("; ")));
}

/// Some names, and how many more there are.
fn few(names: &[&str]) -> String {
    match names.get(..SHOWN) {
        Some(shown) if names.len() > SHOWN => format!("{} and {} more", shown.join(", "), names.len() - SHOWN),
        _ => names.join(", "),
    }
}

/// What the configurations of a kernel give.
struct Choice<'p> {
    /// The parameters, of those that are missing.
    gives: Vec<&'p str>,
    text: String,
}

/// Says that configurations give what is missing.
fn which_config<'p>(cx: &mut Walker<'_>, func: &Func, missing: &[Missing<'p>]) -> Option<Choice<'p>> {
    let all = match config::configs(cx, func) {
        Ok(all) => all?,
        Err(_) => {
            return Some(Choice {
                gives: vec![],
                text: "the configurations of the file cannot be evaluated".to_owned(),
            });
        }
    };
    let given = |p: &Param| all.iter().any(|c| c.values.iter().any(|(n, _)| **n == *p.name.name));
    let gives: Vec<&str> = missing.iter().filter(|m| given(m.param)).map(|m| &*m.param.name.name).collect();
    if gives.is_empty() {
        return None;
    }
    let names = few(&gives);
    let text = match all.len() {
        1 => format!("the file has one configuration, which gives {names}: --config 0"),
        n => format!(
            "the file has {n} configurations, which give {names}: --config 0 to --config {}, or --config all",
            n - 1
        ),
    };
    Some(Choice { gives, text })
}
