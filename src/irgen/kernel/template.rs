//! What a kernel's parameters probably are: options and a signature to copy, for whoever is asked for types.
//!
//! Nothing is computed with a guess; it is shown to be corrected.
//!
//! 1. A parameter is a pointer, a descriptor or an integer if the kernel uses it as one ([`uses`]). Where the use says
//!    nothing, the name decides: `*_ptr` is a pointer, `scale` a float, anything else an `i32`. A pointer is one to
//!    `fp32`, or to `i32` where loaded values serve as integers.
//! 2. A compile-time value is a dtype, a text or a truth value if it is used as one, and else 64.
//! 3. No guess is a promise: `:16` is for a person to add.
//! 4. Three parameters or more whose names begin or end alike share a pattern: `--type "stride_*=i32"`.
//!
//! Example: `def add(x_ptr, n, B: tl.constexpr)` with `tl.load(x_ptr + offs)` gives
//! `--type "x_ptr=*fp32" --type n=i32 -D B=64`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::signature::Item;
use crate::diag::shell_word;
use crate::irgen::front::type_rules::fits;
use crate::irgen::front::uses::{Use, uses};
use crate::irgen::value::Func;
use crate::parser::ast::{Call, Constant, Expr, ExprKind, FunctionDef, StmtKind, UnaryOp};
use crate::parser::visit;

/// Parts of names of floats that kernels commonly take.
const FLOATS: [&str; 12] = [
    "scale",
    "eps",
    "alpha",
    "beta",
    "gamma",
    "lr",
    "dropout",
    "momentum",
    "softcap",
    "smoothing",
    "temperature",
    "prob",
];

/// Parts of names of pointers to integers.
const INTEGERS: [&str; 8] = ["index", "indices", "idx", "seqlen", "block_table", "offsets", "_ids", "_lens"];

/// With what names of truth values begin.
const TRUTHS: [&str; 9] = ["is_", "has_", "use_", "do_", "with_", "enable_", "return_", "store_", "allow_"];

/// From how many parameters on a pattern takes the place of their names.
const ALIKE: usize = 3;

/// The guesses for one kernel.
pub(super) struct Guesses<'f> {
    def: &'f FunctionDef,
    functions: &'f [Arc<FunctionDef>],
    uses: BTreeMap<String, Use>,
}

impl<'f> Guesses<'f> {
    /// Looks at a kernel; `functions` are those of its file.
    pub(super) fn of(def: &'f FunctionDef, functions: &'f [Arc<FunctionDef>]) -> Guesses<'f> {
        Guesses { def, functions, uses: uses(def, functions) }
    }

    /// How the kernel uses a parameter.
    pub(super) fn of_param(&self, name: &str) -> Use {
        self.uses.get(name).copied().unwrap_or_default()
    }

    /// The type of a parameter, as an item of a signature.
    pub(super) fn ty(&self, name: &str) -> String {
        let (how, lower) = (self.of_param(name), name.to_ascii_lowercase());
        let called = |words: &[&str]| words.iter().any(|w| lower.contains(w));
        if let Some(rank) = how.descriptor {
            return format!("tensordesc<fp16[{}]>", vec!["64"; rank.max(1)].join(", "));
        }
        let word = match () {
            () if (how.address || lower.contains("ptr")) && (how.of_integers || called(&INTEGERS)) => "*i32",
            () if how.address || lower.contains("ptr") => "*fp32",
            () if lower.starts_with("stride") || how.integer => "i32",
            () if called(&FLOATS) => "fp32",
            () => "i32",
        };
        word.to_owned()
    }

    /// The value of a compile-time parameter.
    pub(super) fn value(&self, name: &str) -> String {
        let lower = name.to_ascii_lowercase();
        self.value_by_use(self.def, name, &mut BTreeSet::new()).unwrap_or_else(|| match () {
            () if lower.contains("warps") => "4".to_owned(),
            () if lower.contains("ctas") => "1".to_owned(),
            () if lower.contains("dtype") => "tl.float32".to_owned(),
            () if TRUTHS.iter().any(|t| lower.starts_with(t)) => "False".to_owned(),
            () if FLOATS.iter().any(|f| lower.contains(f)) => "1.0".to_owned(),
            () if lower.contains("stages") => "2".to_owned(),
            () => "64".to_owned(),
        })
    }

    /// What a function needs a compile-time value to be. `seen` are the parameters of functions that were looked at.
    fn value_by_use(&self, def: &'f FunctionDef, name: &str, seen: &mut BTreeSet<(String, String)>) -> Option<String> {
        if !seen.insert((def.name.to_string(), name.to_owned())) {
            return None;
        }
        let mut found: Option<String> = None;
        let mut passed = vec![];
        visit::statements(&def.body, &mut |stmt| {
            if let StmtKind::If { branches, .. } = &stmt.kind
                && branches.iter().any(|b| b.test.as_name() == Some(name))
            {
                found.get_or_insert_with(|| "False".to_owned());
            }
            for e in visit::own_expressions(stmt) {
                visit::expressions(e, &mut |e| {
                    if let Some(value) = needed_value(e, name) {
                        found.get_or_insert(value);
                    }
                    if let ExprKind::Call(call) = &e.kind {
                        passed.extend(self.passed(call, name));
                    }
                });
            }
        });
        found.or_else(|| passed.iter().find_map(|(callee, param)| self.value_by_use(callee, param, seen)))
    }

    /// The function of the file that a call passes a name to, and the parameter that it becomes.
    fn passed(&self, call: &Call, name: &str) -> Option<(&'f FunctionDef, &'f str)> {
        let callee = call.func.as_name()?;
        let callee = self.functions.iter().rev().find(|f| *f.name.name == *callee)?;
        let at = call.args.iter().position(|a| a.as_name() == Some(name));
        let keyword = call.keywords.iter().find(|k| k.value.as_name() == Some(name)).and_then(|k| k.name.as_ref());
        let param = callee
            .params
            .iter()
            .enumerate()
            .find(|(i, p)| at == Some(*i) || keyword.is_some_and(|k| k == &*p.name.name))?;
        Some((callee, &param.1.name.name))
    }
}

/// What an expression needs a name that stands in it to be.
fn needed_value(e: &Expr, name: &str) -> Option<String> {
    let is = |e: &Expr| e.as_name() == Some(name);
    let yes = |found: bool, value: &str| found.then(|| value.to_owned());
    match &e.kind {
        ExprKind::IfExp { test, .. } => yes(is(test), "False"),
        ExprKind::UnaryOp { op: UnaryOp::Not, operand } => yes(is(operand), "False"),
        ExprKind::BoolOp { values, .. } => yes(values.iter().any(is), "False"),
        ExprKind::Compare { left, rest } if is(left) => rest.first().and_then(|(_, other)| match &other.kind {
            ExprKind::Constant(Constant::Str(text)) => Some(format!("'{text}'")),
            _ => None,
        }),
        ExprKind::Call(call) => {
            let called = call.func.dotted().and_then(|p| p.last().copied());
            let method =
                matches!(&call.func.kind, ExprKind::Attribute { attr, .. } if matches!(&*attr.name, "to" | "cast"));
            let dtype = call.keyword("dtype").is_some_and(is) || method && call.args.iter().any(is);
            let unrolled = called == Some("static_range") && call.args.iter().any(is);
            yes(dtype, "tl.float32").or_else(|| yes(unrolled || call.keyword("num_stages").is_some_and(is), "2"))
        }
        _ => None,
    }
}

/// The items of a signature for a kernel, as text; what is known of them stands in `items`.
pub(super) fn signature(func: &Func, items: &[Item], guesses: &Guesses<'_>) -> String {
    let item = |(name, item): (&str, &Item)| match item {
        Item::Value { ty, divisible } => format!("{}{}", ty.dtype.short(), if *divisible { ":16" } else { "" }),
        Item::One(ty) => format!("{}:1", ty.dtype.short()),
        Item::Desc(ty) => format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape()),
        Item::Const(v) => v.show(),
        Item::Constexpr => "constexpr".to_owned(),
        Item::Unknown => guesses.ty(name),
    };
    let names = func.def.params.iter().map(|p| &*p.name.name);
    names.zip(items).map(item).collect::<Vec<_>>().join(", ")
}

/// What a kernel still needs, guessed from how it uses its parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template {
    /// Whether a configuration gives what the rest does not.
    pub config: bool,
    /// Types by the names of parameters or by patterns.
    pub types: Vec<(String, String)>,
    /// Values of compile-time parameters.
    pub values: Vec<(String, String)>,
}

impl Template {
    /// The options of the command line that say it: `--type n=i32`.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let option = |option: &str, (name, text): &(String, String)| {
            format!("{option} {}", shell_word(&format!("{name}={text}")))
        };
        let config = self.config.then(|| "--config 0".to_owned());
        let types = self.types.iter().map(|t| option("--type", t));
        config.into_iter().chain(types).chain(self.values.iter().map(|v| option("-D", v))).collect()
    }
}

/// What is missing, guessed: `types` are parameters without a type, `values` are those without a value, and `typed` are
/// the other run-time parameters.
pub(super) fn missing(guesses: &Guesses<'_>, types: &[&str], values: &[&str], typed: &[&str]) -> Template {
    let types: Vec<(&str, String)> = types.iter().map(|n| (*n, guesses.ty(n))).collect();
    let values = values.iter().map(|n| ((*n).to_owned(), guesses.value(n))).collect();
    Template { config: false, types: patterns(&types, typed), values }
}

/// Puts parameters of one type whose names begin or end alike under a pattern, if that fits nothing else.
fn patterns(types: &[(&str, String)], typed: &[&str]) -> Vec<(String, String)> {
    let (mut out, mut done): (Vec<(String, String)>, Vec<&str>) = (vec![], vec![]);
    for (name, ty) in types {
        if done.contains(name) {
            continue;
        }
        let start = name.find('_').filter(|at| *at > 0).map(|at| format!("{}*", &name[..=at]));
        let end = name.rfind('_').filter(|at| at + 1 < name.len()).map(|at| format!("*{}", &name[at..]));
        let covered = |pattern: &str| -> Vec<&str> {
            let all: Vec<_> = types.iter().filter(|(n, _)| fits(pattern, n)).collect();
            let alone = all.iter().all(|(_, t)| t == ty) && !typed.iter().any(|n| fits(pattern, n));
            if alone && all.len() >= ALIKE { all.iter().map(|(n, _)| *n).collect() } else { vec![] }
        };
        let best = start.into_iter().chain(end).map(|p| (covered(&p), p)).max_by_key(|(names, _)| names.len());
        match best {
            Some((names, pattern)) if !names.is_empty() => {
                done.extend(names);
                out.push((pattern, ty.clone()));
            }
            _ => out.push(((*name).to_owned(), ty.clone())),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_alike_share_a_pattern_that_fits_nothing_else() {
        let show = |types: &[(&str, &str)], typed: &[&str]| {
            let types: Vec<(&str, String)> = types.iter().map(|(n, t)| (*n, (*t).to_owned())).collect();
            patterns(&types, typed).iter().map(|(p, t)| format!("{p}={t}")).collect::<Vec<_>>().join(" ")
        };
        let strides = [("stride_a", "i32"), ("stride_b", "i32"), ("stride_c", "i32")];
        assert_eq!(show(&strides, &["n"]), "stride_*=i32");
        assert_eq!(show(&strides, &["stride_d"]), "stride_a=i32 stride_b=i32 stride_c=i32");
        assert_eq!(show(&strides[..2], &[]), "stride_a=i32 stride_b=i32");
        let mixed = [("a_ptr", "*fp32"), ("n", "i32"), ("b_ptr", "*fp32"), ("c_ptr", "*fp32")];
        assert_eq!(show(&mixed, &[]), "*_ptr=*fp32 n=i32");
        let other = [("a_ptr", "*fp32"), ("b_ptr", "*i32"), ("c_ptr", "*fp32"), ("d_ptr", "*fp32")];
        assert_eq!(show(&other, &[]), "a_ptr=*fp32 b_ptr=*i32 c_ptr=*fp32 d_ptr=*fp32");
    }
}
