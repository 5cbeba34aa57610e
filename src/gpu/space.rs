//! The configurations that tuning tries: where they come from, and what each of them is called.
//!
//! 1. `--space` alone, if it is given.
//! 2. Otherwise the table `[tune]` of the case, and the configurations of the kernel's `@triton.autotune`.
//!
//! Example: `BLOCK=64,128 num_warps=4,8` are four configurations.

use std::collections::BTreeMap;

use super::lock::{Choice, Setting};
use super::record::texts;
use crate::cases::config::{COMPILE_OPTIONS, value_of};
use crate::cases::{Config, Instance, InstanceArg, Lists, Loaded, Value};
use crate::diag::Diagnostic;
use crate::diag::codes::{cli, gpu as codes};
use crate::irgen::ConfigInfo;
use crate::launch::Descriptor;

/// Reads `--space`: names with their values, with spaces between them.
///
/// # Errors
/// `E0910`
pub fn parse(text: &str) -> Result<Lists, Diagnostic> {
    let one = |part: &str| {
        let (name, values) = part.split_once('=').filter(|(n, v)| !n.is_empty() && !v.is_empty())?;
        Some((name.to_owned(), values.split(',').map(value_of).collect()))
    };
    text.split_whitespace().map(one).collect::<Option<Lists>>().filter(|l| !l.is_empty()).ok_or_else(|| {
        Diagnostic::error(&cli::BAD_OPTION, format!("`--space \"{text}\"`: expected NAME=VALUE,VALUE …"))
            .help("write `--space \"BLOCK_M=64,128 num_warps=4,8\"`")
    })
}

/// The configurations to try for the values of `base`, each once. `given` is that of `--space`.
///
/// # Errors
/// `E1110` if there is none, `E0223` if those of the kernel cannot be read, and `E1017` for a wrong case.
pub fn configurations(loaded: &Loaded, base: &Config, given: Option<&Lists>) -> Result<Vec<Config>, Diagnostic> {
    let case = &loaded.case;
    let mut all = match given {
        Some(space) => case.tried(base, space, false)?,
        None => case.tried(base, &case.tune.space, true)?,
    };
    if given.is_none() {
        match &loaded.kernel.configs {
            Ok(own) => all.extend(own.iter().map(|c| of_kernel(base, c))),
            Err(why) if all.is_empty() => return Err(why.clone()),
            Err(_) => {}
        }
    }
    let mut kept: Vec<Config> = vec![];
    for config in all {
        if !kept.contains(&config) {
            kept.push(config);
        }
    }
    if kept.is_empty() {
        let message = format!("nothing says which configurations of `{}` to try", loaded.kernel.name);
        return Err(Diagnostic::error(&codes::NO_CONFIGURATION, message)
            .help("write `--space \"BLOCK=64,128 num_warps=4,8\"`, or a table `[tune.space]` in the case"));
    }
    Ok(kept)
}

/// A configuration of `@triton.autotune` on top of another one.
fn of_kernel(base: &Config, c: &ConfigInfo) -> Config {
    let options = [("num_warps", c.num_warps), ("num_stages", c.num_stages), ("num_ctas", c.num_ctas)];
    let kwargs = c.kwargs.iter().map(|(n, v)| (n.as_str(), value_of(&v.to_string())));
    let options = options.into_iter().chain(c.maxnreg.map(|n| ("maxnreg", n)));
    let options = options.map(|(n, v)| (n, Value::Int(i64::from(v))));
    kwargs.chain(options).fold(base.clone(), |config, (name, value)| config.with(name, value))
}

/// The names that differ between the configurations and what they are based on, or among them, in order.
#[must_use]
pub fn tuned(base: &Config, configs: &[Config]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (name, value) in configs.iter().flat_map(|c| &c.params) {
        if base.get(name) != Some(value) && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// What a kernel is compiled with, as a lock file keeps it.
#[must_use]
pub fn choice(names: &[String], instance: &Instance) -> Choice {
    let options = &instance.options;
    let constant = |name: &&String| !COMPILE_OPTIONS.contains(&name.as_str());
    let value = |name: &String| Some((name.clone(), Setting::of_define(&instance.config.get(name)?.to_define())));
    Choice {
        num_warps: options.num_warps,
        num_stages: options.num_stages,
        num_ctas: options.num_ctas,
        maxnreg: options.maxnreg,
        constants: names.iter().filter(constant).filter_map(value).collect(),
    }
}

/// The values that tell this use of the kernel from another: those of the case's key, or of the kernel's, or else of
/// all integer arguments.
#[must_use]
pub fn key(loaded: &Loaded, instance: &Instance, d: &Descriptor) -> BTreeMap<String, Setting> {
    let integers = || {
        let scalar = |a: &InstanceArg| matches!(a, InstanceArg::Scalar { value, .. } if value.as_int().is_some());
        let folded = d.arguments.iter().filter(|a| a.equals.is_some()).map(|a| a.name.clone());
        instance.args.iter().filter(|a| scalar(a)).map(|a| a.name().to_owned()).chain(folded).collect()
    };
    let names: Vec<String> = [&loaded.case.tune.key, &loaded.kernel.key]
        .into_iter()
        .find(|k| !k.is_empty())
        .cloned()
        .unwrap_or_else(integers);
    let value = |name: String| {
        let value = instance.values.get(&name).or_else(|| instance.config.get(&name))?;
        Some((name, Setting::of_define(&value.to_define())))
    };
    names.into_iter().filter_map(value).collect()
}

/// The types of pointers and descriptors.
#[must_use]
pub fn types(d: &Descriptor) -> BTreeMap<String, String> {
    // The blocks of a descriptor are what is tuned, so they tell no use from another.
    let plain = |ty: &str| match ty.split_once('[') {
        Some((descriptor, _)) => format!("{descriptor}>"),
        None => ty.to_owned(),
    };
    d.arguments.iter().filter(|a| a.is_memory()).map(|a| (a.name.clone(), plain(&a.ty))).collect()
}

/// The configuration in words: `BLOCK_M=128 num_warps=8`.
#[must_use]
pub fn words(names: &[String], config: &Config) -> String {
    let all = texts(config);
    let word = |n: &String| all.get(n).map(|v| format!("{n}={v}"));
    names.iter().filter_map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_names_with_values() {
        let space = parse(" BLOCK=64,128  ACT='gelu' num_warps=4").unwrap();
        let shown: Vec<String> = space.iter().map(|(n, v)| format!("{n} {v:?}")).collect();
        assert_eq!(shown, ["BLOCK [Int(64), Int(128)]", "ACT [Str(\"gelu\")]", "num_warps [Int(4)]"]);
        for wrong in ["", "BLOCK", "=4", "BLOCK="] {
            assert_eq!(parse(wrong).unwrap_err().code.id, "E0910", "{wrong}");
        }
    }

    #[test]
    fn what_differs_is_tuned() {
        let config = |params: &[(&str, i64)]| Config {
            params: params.iter().map(|&(n, v)| (n.to_owned(), Value::Int(v))).collect(),
        };
        let base = config(&[("m", 64), ("num_warps", 4)]);
        let all = [config(&[("m", 64), ("num_warps", 8), ("B", 1)]), config(&[("m", 64), ("num_warps", 4), ("B", 2)])];
        assert_eq!(tuned(&base, &all), ["num_warps", "B"]);
        assert_eq!(words(&tuned(&base, &all), &all[1]), "num_warps=4 B=2");
    }
}
