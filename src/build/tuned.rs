//! What `ttc tune` found best, as variants of a kernel that a launch chooses by its sizes.
//!
//! 1. The entries of the lock file that are about the kernel: its file and function, the architecture, the types of its
//!    pointers, and the values of compile-time parameters where the key names some.
//! 2. Each configuration that is the best for some key is a variant, `tuned0`, `tuned1` and so on. A launch takes it
//!    where the arguments are those of one of its keys.
//! 3. One more variant takes every other launch: it has the manifest's own values, or, where the manifest leaves open
//!    what was tuned, the configuration that is the best for most keys.

use std::collections::BTreeMap;

use super::manifest::{Configs, Kernel, Tuned};
use crate::driver::Variant;
use crate::gpu::lock::{Choice, Entry, Lock, Setting};
use crate::irgen::TypeRule;
use crate::launch::Argument;

/// The values of arguments for which a variant is the best.
pub(super) type Key = BTreeMap<String, i64>;

/// The name of the variant for launches that no key fits.
const USUAL: &str = "usual";

/// The variants of a kernel, each with its keys. Those without keys take every launch. `file` is the kernel's file as
/// the lock file has it; `own` are the variants that the manifest names.
pub(super) fn variants(
    lock: &Lock,
    file: &str,
    function: &str,
    arch: &str,
    kernel: &Kernel,
    own: &[Variant],
) -> Vec<(Variant, Vec<Key>)> {
    let found = choices(lock.of_kernel(file, function, arch), kernel);
    let all = choices(lock.entries().iter().filter(|e| (&*e.file, &*e.name) == (file, function)), kernel);
    let none = kernel.config == Configs::None;
    let open = |c: &Choice| none && c.constants.keys().all(|name| !kernel.constants.contains_key(name));
    let most =
        |list: &[(Choice, Vec<Key>)]| list.iter().rev().max_by_key(|(_, keys)| keys.len()).map(|(c, _)| c.clone());
    let usual = most(&found).or_else(|| most(&all)).filter(open);
    let plain = [Variant::default()];
    let mut out = vec![];
    for variant in if own.is_empty() { &plain } else { own } {
        let name = |word: &str| if own.is_empty() { word.to_owned() } else { format!("{}_{word}", variant.name) };
        for (i, (choice, keys)) in found.iter().enumerate() {
            out.push((with(variant, choice, name(&format!("tuned{i}"))), keys.clone()));
        }
        let last = match &usual {
            Some(choice) => with(variant, choice, name(USUAL)),
            None => Variant { name: name(USUAL), ..variant.clone() },
        };
        out.push((last, vec![]));
    }
    out
}

/// The configurations of entries in their order, each with its keys.
fn choices<'a>(entries: impl Iterator<Item = &'a Entry>, kernel: &Kernel) -> Vec<(Choice, Vec<Key>)> {
    let mut found: Vec<(Choice, Vec<Key>)> = vec![];
    for entry in entries.filter(|e| of_device(e, kernel) && of_types(e, kernel)) {
        let Some(key) = key(entry, kernel) else { continue };
        // Of several GPUs of one architecture, the first in the file counts.
        if found.iter().any(|(_, keys)| keys.contains(&key)) {
            continue;
        }
        match found.iter_mut().find(|(c, _)| *c == entry.choice) {
            Some((_, keys)) => keys.push(key),
            None => found.push((entry.choice.clone(), vec![key])),
        }
    }
    found
}

fn of_device(entry: &Entry, kernel: &Kernel) -> bool {
    match &kernel.tuned {
        Tuned::For(device) => entry.device == *device,
        Tuned::Yes | Tuned::No => true,
    }
}

/// Whether the types of an entry are those that the manifest says. A type that only the kernel's file says is not
/// compared.
fn of_types(entry: &Entry, kernel: &Kernel) -> bool {
    entry.types.iter().all(|(name, ty)| {
        let rules = kernel.types.iter().map(|(n, t)| TypeRule::new(n, t));
        let fitting: Vec<TypeRule> = rules.filter(|r| r.fits(name)).collect();
        let said = fitting.iter().find(|r| r.is_exact()).or(fitting.first());
        said.is_none_or(|r| r.ty.split(':').next().map(str::trim) == Some(ty))
    })
}

/// The values of arguments in an entry's key, unless it is for other compile-time values than the manifest's.
fn key(entry: &Entry, kernel: &Kernel) -> Option<Key> {
    let mut key = Key::new();
    for (name, value) in &entry.key {
        match (kernel.constants.get(name), value) {
            (Some(constant), value) if constant.0 == value.to_define() => {}
            (None, Setting::Int(value)) => _ = key.insert(name.clone(), *value),
            (Some(_), _) | (None, Setting::Bool(_) | Setting::Text(_)) => return None,
        }
    }
    (!key.is_empty()).then_some(key)
}

/// A variant with the values of a configuration, which win over its own.
fn with(variant: &Variant, choice: &Choice, name: String) -> Variant {
    let tuned = |name: &str| choice.constants.contains_key(name);
    let own = variant.defines.iter().filter(|(name, _)| !tuned(name)).cloned();
    Variant {
        name,
        defines: own.chain(choice.defines()).collect(),
        given: choice.given().or(variant.given),
        ..variant.clone()
    }
}

/// The arguments of a variant that is launched for a key, if its promises allow that.
pub(super) fn arguments(arguments: &[Argument], key: &Key) -> Option<Vec<Argument>> {
    let fits = |a: &Argument, value: i64| {
        a.divisible_by.is_none_or(|d| value % d as i64 == 0) && a.equals.is_none_or(|e| e == value)
    };
    let one = |a: &Argument| match key.get(&a.name) {
        Some(&value) if fits(a, value) => Some(Argument { equals: Some(value), ..a.clone() }),
        Some(_) => None,
        None => Some(a.clone()),
    };
    // A key that names no argument cannot be told from others.
    let known = key.keys().all(|name| arguments.iter().any(|a| a.name == *name));
    arguments.iter().map(one).collect::<Option<Vec<Argument>>>().filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 1
[[kernel]]
file = "k.py"
name = "f"
arch = "sm_90a"
device = "A"
time_us = 1.0
key = { n = 64, ACT = "'gelu'" }
types = { x = "*fp16" }
choice = { num_warps = 8, constants = { BLOCK = 128 } }
[[kernel]]
file = "k.py"
name = "f"
arch = "sm_90a"
device = "A"
time_us = 1.0
key = { n = 4096, ACT = "'gelu'" }
types = { x = "*fp16" }
choice = { num_warps = 4, constants = { BLOCK = 256 } }
[[kernel]]
file = "k.py"
name = "f"
arch = "sm_90a"
device = "B"
time_us = 1.0
key = { n = 4096, ACT = "'gelu'" }
types = { x = "*fp16" }
choice = { num_warps = 2, constants = { BLOCK = 512 } }
[[kernel]]
file = "k.py"
name = "f"
arch = "sm_90a"
device = "A"
time_us = 1.0
key = { n = 100, ACT = "'gelu'" }
types = { x = "*fp16" }
choice = { num_warps = 4, constants = { BLOCK = 256 } }
"#;

    fn shown(kernel: &str, arch: &str) -> Vec<String> {
        let lock = Lock::parse("ttc.lock", LOCK).unwrap();
        let kernel: Kernel = toml::from_str(&format!("file = \"k.py\"\n{kernel}")).unwrap();
        let all = variants(&lock, "k.py", "f", arch, &kernel, &[]);
        all.iter().map(|(v, keys)| format!("{} {:?} {:?} {keys:?}", v.name, v.defines, v.given.num_warps)).collect()
    }

    #[test]
    fn every_best_configuration_is_a_variant_and_one_takes_the_rest() {
        let gelu = "tuned = true\ntypes = { \"*\" = \"*fp16:16\" }\nconstants = { ACT = \"'gelu'\" }";
        let expected = [
            r#"tuned0 [("BLOCK", "128")] Some(8) [{"n": 64}]"#,
            r#"tuned1 [("BLOCK", "256")] Some(4) [{"n": 100}, {"n": 4096}]"#,
            r#"usual [("BLOCK", "256")] Some(4) []"#,
        ];
        assert_eq!(shown(gelu, "sm_90a"), expected);
        // Another architecture has no entry, so only the usual variant is left, with what is best elsewhere.
        assert_eq!(shown(gelu, "sm_80"), [r#"usual [("BLOCK", "256")] Some(4) []"#]);
    }

    #[test]
    fn entries_for_other_types_values_or_gpus_do_not_count() {
        let none = ["usual [] None []"];
        assert_eq!(shown("tuned = true\ntypes = { x = \"*fp32\" }\nconstants = { ACT = \"'gelu'\" }", "sm_90a"), none);
        assert_eq!(shown("tuned = true\nconstants = { ACT = \"'relu'\" }", "sm_90a"), none);
        let other = shown("tuned = \"B\"\nconstants = { ACT = \"'gelu'\", BLOCK = 64 }", "sm_90a");
        // The manifest's own value of what was tuned takes the launches that no key fits.
        assert_eq!(other, [r#"tuned0 [("BLOCK", "512")] Some(2) [{"n": 4096}]"#, "usual [] None []"]);
    }

    #[test]
    fn a_key_that_breaks_a_promise_is_left_out() {
        let n = |divisible_by| Argument { name: "n".into(), ty: "i32".into(), divisible_by, ..Argument::default() };
        let key = Key::from([("n".to_owned(), 100)]);
        assert_eq!(arguments(&[n(None)], &key).unwrap()[0].equals, Some(100));
        assert_eq!(arguments(&[n(Some(16))], &key), None);
        assert_eq!(arguments(&[], &key), None);
    }
}
