//! What `--type` and a variant say of a kernel's parameters.
//!
//! 1. Each parameter gets the type of the rule that is for it ([`type_rules`]). It takes the place of what the
//!    signature or the annotation says.
//! 2. A pattern passes over parameters that are compile-time values: those with the annotation `tl.constexpr`, and
//!    those that a `-D`, the chosen configuration or a heuristic gives.
//! 3. A rule that fits no parameter is an error, unless it is for another kernel of the run.
//!
//! Example: `--type "*=i32"` on `def k(n, BLOCK: tl.constexpr)` is about `n` alone.

use std::collections::BTreeSet;

use super::faults::item_help;
use super::request::KernelRequest;
use super::signature::{self, Item};
use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::diag::suggest::did_you_mean;
use crate::irgen::emit::{Emits, R, Reported};
use crate::irgen::front::type_rules::{self, TypeRule, rule_for};
use crate::irgen::value::Func;
use crate::irgen::walk::Walker;
use crate::parser::ast::Param;

/// Sets the items of the parameters that have a rule. Gives the names of these parameters.
///
/// `has_value` says which parameters get a value from elsewhere.
pub(super) fn apply(
    cx: &mut Walker<'_>,
    func: &Func,
    request: &KernelRequest,
    has_value: &dyn Fn(&str) -> bool,
    items: &mut [Item],
) -> R<BTreeSet<String>> {
    let rules = request.types.as_slice();
    let exact: Vec<TypeRule> = rules.iter().filter(|r| r.is_exact()).cloned().collect();
    let (mut typed, mut failed) = (BTreeSet::new(), false);
    let mut constants = vec![];
    for (p, item) in func.def.params.iter().zip(items) {
        let constant = matches!(signature::of_annotation(cx, func, p), Item::Constexpr);
        if constant {
            constants.push(&*p.name.name);
        }
        let candidates = if constant || has_value(&p.name.name) { &exact } else { rules };
        let rule = match rule_for(candidates, &p.name.name) {
            Ok(Some(rule)) => rule,
            Ok(None) => continue,
            Err(two) => {
                failed = true;
                disagree(cx, p, two);
                continue;
            }
        };
        match signature::item(cx, &rule.ty, func.module) {
            Some(new) if constant && new.is_type() => {
                failed = true;
                no_type(cx, p, rule);
            }
            Some(new) => {
                *item = new;
                typed.insert(p.name.to_string());
            }
            None => {
                failed = true;
                let message =
                    format!("`{}` in `--type {}={}` is neither a type nor a value", rule.ty, rule.pattern, rule.ty);
                let diag = Diagnostic::error(&names::SIGNATURE_TYPE, message).at(p.span, "for this parameter");
                let _ = cx.out().report(diag.help(item_help(&rule.ty)));
            }
        }
    }
    for rule in rules.iter().filter(|r| !request.for_others.contains(&r.pattern)) {
        failed |= unused(cx, func, rule, &constants);
    }
    if failed { Err(Reported) } else { Ok(typed) }
}

fn disagree(cx: &mut Walker<'_>, p: &Param, [one, other]: [&TypeRule; 2]) {
    let message = format!(
        "`--type {}={}` and `--type {}={}` disagree about `{}`",
        one.pattern, one.ty, other.pattern, other.ty, p.name
    );
    let diag = Diagnostic::error(&names::BAD_TYPE, message).at(p.span, "this parameter");
    let _ = cx.out().report(if one.is_exact() {
        diag.help("leave one of them out")
    } else {
        diag.help(format!("name the parameter in full, which wins over patterns: `--type {}=…`", p.name))
    });
}

fn no_type(cx: &mut Walker<'_>, p: &Param, rule: &TypeRule) {
    let message = format!("`{}` is a compile-time value, so it has no type `{}`", p.name, rule.ty);
    let diag = Diagnostic::error(&names::BAD_TYPE, message).at(p.span, "declared as `tl.constexpr`");
    let _ = cx.out().report(diag.help(format!("give its value: `-D {}=…`", p.name)));
}

/// Reports a rule that is about none of the parameters.
fn unused(cx: &mut Walker<'_>, func: &Func, rule: &TypeRule, constants: &[&str]) -> bool {
    let params: Vec<&str> = func.def.params.iter().map(|p| &*p.name.name).collect();
    let fitting: Vec<&str> = params.iter().copied().filter(|n| rule.fits(n)).collect();
    if fitting.iter().any(|n| !constants.contains(n)) || rule.is_exact() && !fitting.is_empty() {
        return false;
    }
    let TypeRule { pattern, ty, .. } = rule;
    let (message, help) = if fitting.is_empty() {
        let near = did_you_mean(pattern, params.iter().copied()).filter(|_| !type_rules::is_pattern(pattern));
        (
            format!("`--type {pattern}={ty}` fits no parameter of the kernel `{}`", func.name()),
            near.unwrap_or_else(|| format!("its parameters are {}", params.join(", "))),
        )
    } else {
        let values = fitting.iter().map(|n| format!("-D {n}=…")).collect::<Vec<_>>().join(" ");
        (
            format!("`--type {pattern}={ty}` fits compile-time parameters alone, which have no type"),
            format!("give their values: {values}"),
        )
    };
    let _ = cx.out().report(Diagnostic::error(&names::BAD_TYPE, message).at(func.def.header, "this kernel").help(help));
    true
}
