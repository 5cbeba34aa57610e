//! Configurations: what `@triton.autotune` offers to choose from.
//!
//! 1. The decorator's `configs` is evaluated as host code ([`crate::irgen::walk`]): a list of [`Config`]s. A decorator
//!    is one that is called `autotune`, or has a keyword `configs` as the tuners of some packages do. What else it is
//!    given (`key`, `prune_configs_by`, hooks, …) is about launches.
//! 2. [`choose`] takes one by its number. Its values become the kernel's compile-time parameters, its
//!    options the launch's, unless the user gave others.
//! 3. [`super::heuristics`] come after it, as in Triton.
//!
//! Example: `triton.Config({"BLOCK": 128}, num_warps=8)` with `--config 0` is `-D BLOCK=128 --num-warps 8`.

use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diag::Diagnostic;
use crate::diag::codes::names;
use crate::irgen::builtins::DECORATORS;
use crate::irgen::emit::{Emits, R};
use crate::irgen::front::launch::{Launch, LaunchFault};
use crate::irgen::semantic::{faults, items};
use crate::irgen::value::{Config, Const, Func, Object, Tuned, Tuner, python_float};
use crate::irgen::walk::{Walker, because};
use crate::parser::ast::Decorator;
use crate::target::AmdOptions;

/// A value of a configuration, for whoever launches the kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Plain {
    fn of(v: &Object) -> Plain {
        match v {
            Object::Const(Const::None) => Plain::Null,
            Object::Const(Const::Bool(b)) => Plain::Bool(*b),
            Object::Const(Const::Float(f)) => Plain::Float(*f),
            Object::Const(Const::Int(i)) => i64::try_from(*i).map_or_else(|_| Plain::Text(i.to_string()), Plain::Int),
            other => Plain::Text(other.show()),
        }
    }
}

impl std::fmt::Display for Plain {
    /// As Python prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Plain::Null => f.write_str("None"),
            Plain::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            Plain::Int(i) => write!(f, "{i}"),
            Plain::Float(x) => f.write_str(&python_float(*x)),
            Plain::Text(t) => write!(f, "'{t}'"),
        }
    }
}

/// A configuration as its file has it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConfigInfo {
    /// Its place in the list, from 0.
    pub index: usize,
    #[serde(serialize_with = "as_map", deserialize_with = "from_map")]
    pub kwargs: Vec<(String, Plain)>,
    pub num_warps: u32,
    pub num_stages: u32,
    pub num_ctas: u32,
    pub maxnreg: Option<u32>,
}

fn as_map<S: Serializer>(items: &[(String, Plain)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(items.iter().map(|(k, v)| (k, v)))
}

/// The entries of a map in their order.
fn from_map<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<(String, Plain)>, D::Error> {
    struct Entries;
    impl<'de> serde::de::Visitor<'de> for Entries {
        type Value = Vec<(String, Plain)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("names with values")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut items = vec![];
            while let Some(item) = map.next_entry()? {
                items.push(item);
            }
            Ok(items)
        }
    }
    d.deserialize_map(Entries)
}

impl ConfigInfo {
    fn of(index: usize, c: &Config) -> ConfigInfo {
        let Launch { num_warps, num_stages, num_ctas, maxnreg, amd: _ } = options(c);
        let kwargs = c.values.iter().map(|(n, v)| (n.to_string(), Plain::of(v))).collect();
        ConfigInfo { index, kwargs, num_warps, num_stages, num_ctas, maxnreg }
    }
}

impl std::fmt::Display for ConfigInfo {
    /// `BLOCK=128, num_warps=8, num_stages=3`, then what is unusual.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.kwargs {
            write!(f, "{name}={value}, ")?;
        }
        write!(f, "num_warps={}, num_stages={}", self.num_warps, self.num_stages)?;
        if self.num_ctas != 1 {
            write!(f, ", num_ctas={}", self.num_ctas)?;
        }
        self.maxnreg.map_or(Ok(()), |n| write!(f, ", maxnreg={n}"))
    }
}

/// The options of a configuration.
fn options(c: &Config) -> Launch {
    let usual = Launch::default();
    Launch {
        num_warps: c.num_warps.unwrap_or(usual.num_warps),
        num_stages: c.num_stages.unwrap_or(usual.num_stages),
        num_ctas: c.num_ctas.unwrap_or(usual.num_ctas),
        maxnreg: c.maxnreg,
        ..usual
    }
}

/// Options that configurations carry, and that have no effect in Triton either.
const WITHOUT_EFFECT: [&str; 2] = ["schedule_hint", "instruction_sched_variant"];

/// The autotuner of a kernel.
fn tuner(cx: &mut Walker<'_>, func: &Func) -> Option<Rc<Tuner>> {
    cx.tuners(func, DECORATORS[0]).into_iter().next()
}

/// The names in the `key` of a kernel's autotuner.
pub(super) fn key(cx: &mut Walker<'_>, func: &Func) -> Vec<String> {
    match tuner(cx, func).as_deref() {
        Some(Tuner { gives: Tuned::Configs(_, key), .. }) => key.clone(),
        _ => vec![],
    }
}

/// The configurations of a kernel; `None` if it has none.
///
/// # Errors
/// `E0223`: they cannot be evaluated.
pub fn configs(cx: &mut Walker<'_>, func: &Func) -> Result<Option<Vec<Rc<Config>>>, Diagnostic> {
    let Some(tuner) = tuner(cx, func) else { return Ok(None) };
    let Tuned::Configs(given, _) = &tuner.gives else { return Ok(None) };
    let list = given.clone().and_then(|v| {
        cx.attempt(func.module, |cx| {
            cx.at(tuner.at, |cx| {
                let Some(items) = items::iterate(&v) else {
                    return Err(faults::expected(cx.out(), "a list of configurations", &v));
                };
                let config = |cx: &mut Walker<'_>, v: &Object| match v {
                    Object::Config(c) => Ok(c.clone()),
                    other => Err(faults::expected(cx.out(), "a `triton.Config`", other)),
                };
                items.iter().map(|v| config(cx, v)).collect::<R<Vec<_>>>()
            })
        })
    });
    match list {
        // As Triton does: nothing to choose from is one choice.
        Ok(list) if list.is_empty() => Ok(Some(vec![Rc::new(Config {
            values: vec![],
            made_of: None,
            num_warps: None,
            num_stages: None,
            num_ctas: None,
            maxnreg: None,
        })])),
        Ok(list) => Ok(Some(list)),
        Err(cause) => {
            let message = format!("the configurations of `{}` cannot be evaluated", func.name());
            let diag = Diagnostic::error(&names::CONFIGS, message).at(tuner.at, "not known at compile time");
            Err(because(diag, cause).help("give the values with -D and the options with --num-warps, --num-stages, …"))
        }
    }
}

/// The configurations of a kernel as its file has them.
///
/// # Errors
/// As [`configs`].
pub fn infos(cx: &mut Walker<'_>, func: &Func) -> Result<Vec<ConfigInfo>, Diagnostic> {
    let all = configs(cx, func)?.unwrap_or_default();
    Ok(all.iter().enumerate().map(|(i, c)| ConfigInfo::of(i, c)).collect())
}

/// The configuration that the user chose.
pub fn choose(cx: &mut Walker<'_>, func: &Func, index: usize) -> R<(ConfigInfo, Rc<Config>)> {
    let all = configs(cx, func).map_err(|d| cx.out().report(d))?.unwrap_or_default();
    let Some(config) = all.get(index).cloned() else {
        let (name, at) = (func.name(), tuner(cx, func).map_or(func.def.header, |t| t.at));
        let message = match all.len() {
            0 => format!("the kernel `{name}` has no configurations, so there is none of number {index}"),
            1 => format!("the kernel `{name}` has one configuration, 0, and none of number {index}"),
            n => format!("the kernel `{name}` has the configurations 0 to {}, and none of number {index}", n - 1),
        };
        let is_other = |d: &Decorator| !d.is_jit();
        let label = match all.len() {
            0 if func.def.decorators.iter().any(is_other) => "none of its decorators is known to give configurations",
            0 => "no `@triton.autotune`",
            _ => "its configurations",
        };
        return Err(cx.out().report(Diagnostic::error(&names::NO_CONFIG, message).at(at, label)));
    };
    let at = tuner(cx, func).map_or(func.def.header, |t| t.at);
    let mut failed = None;
    for (name, _) in &config.values {
        failed = failed.or(check_tuned(cx, func, name, at, &format!("configuration {index}")).err());
    }
    for LaunchFault { name, value, nearest, expected } in launch_of(&config).faults() {
        let message = format!("configuration {index} of `{}` has `{name}={value}`: expected {expected}", func.name());
        let diagnostic = Diagnostic::error(&names::BAD_CONFIG, message).at(at, "in these configurations");
        failed = Some(cx.out().report(
            diagnostic.help(format!("write `{name}={nearest}`, or choose another configuration with `--config`")),
        ));
    }
    failed.map_or_else(|| Ok((ConfigInfo::of(index, &config), config)), Err)
}

/// Reports a value for something that is neither a parameter of the kernel nor an option.
pub(super) fn check_tuned(cx: &mut Walker<'_>, func: &Func, name: &str, at: crate::source::Span, what: &str) -> R<()> {
    let known = func.def.params.iter().any(|p| *p.name.name == *name);
    let option =
        ["num_warps", "num_stages", "num_ctas", "maxnreg"].contains(&name) || AmdOptions::NAMES.contains(&name);
    if known || option || WITHOUT_EFFECT.contains(&name) {
        return Ok(());
    }
    let params: Vec<&str> = func.def.params.iter().map(|p| &*p.name.name).collect();
    let message = format!("{what} gives a value for `{name}`, which is no parameter of `{}`", func.name());
    let diag = Diagnostic::error(&names::BAD_CONFIG, message).at(at, "given here").at(func.def.header, "this kernel");
    Err(cx.out().report(match crate::diag::suggest::nearest(name, params.iter().copied()) {
        Some(near) => diag.help(format!("did you mean `{near}`?")),
        None => diag.help(format!("its parameters are {}", params.join(", "))),
    }))
}

/// The options of a configuration: those among its values too, as Triton takes them.
pub(super) fn launch_of(config: &Config) -> Launch {
    let mut launch = options(config);
    for (name, v) in &config.values {
        set_option(&mut launch, name, v);
    }
    launch
}

/// Sets the option of this name, if it is one; whether it is.
pub(super) fn set_option(launch: &mut Launch, name: &str, v: &Object) -> bool {
    let number = v.as_const().and_then(Const::as_int).and_then(|n| u32::try_from(n).ok());
    let slot = match name {
        "num_warps" => &mut launch.num_warps,
        "num_stages" => &mut launch.num_stages,
        "num_ctas" => &mut launch.num_ctas,
        "maxnreg" => {
            launch.maxnreg = number;
            return true;
        }
        _ => {
            let Some(slot) = launch.amd.named(name) else { return false };
            *slot = number;
            return true;
        }
    };
    // Out of every range.
    *slot = number.unwrap_or(u32::MAX);
    true
}
