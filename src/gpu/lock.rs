//! The lock file: the best configuration of each tuned kernel, which `ttc tune` writes and `ttc build` compiles.
//!
//! 1. An [`Entry`] stands for one kernel, on one GPU, for one set of sizes and types. Its [`Choice`] is what the kernel
//!    is compiled with.
//! 2. The entries are in the order of what they stand for, and the file holds no date, so that tuning again changes
//!    only the lines that found something else.
//! 3. [`Lock::put`] replaces the entry that stands for the same, and leaves all others.
//!
//! Example:
//!
//! ```toml
//! version = 1
//!
//! [[kernel]]
//! file = "kernels/matmul.tk"
//! name = "matmul"
//! arch = "sm_90a"
//! device = "NVIDIA H100 80GB HBM3"
//! time_us = 187.4
//!
//! [kernel.key]
//! k = 4096
//! m = 4096
//! n = 4096
//!
//! [kernel.types]
//! a_ptr = "*fp16"
//!
//! [kernel.choice]
//! num_warps = 8
//! num_stages = 3
//!
//! [kernel.choice.constants]
//! BLOCK_M = 128
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diag::codes::gpu as codes;
use crate::diag::{Diagnostic, Place};
use crate::irgen::Given;
use crate::text_file;

/// The version of the format. It changes when a field changes its meaning.
pub const VERSION: u32 = 1;

/// The usual name of the file.
pub const NAME: &str = "ttc.lock";

/// What the file starts with.
const HEAD: &str = "# Written by `ttc tune`: the best configuration of each kernel, by GPU and sizes. `ttc build` compiles \
kernels with it.\n# Keep this file with the kernels, and tune again after changing one.\n";

/// The contents of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// In the order of [`Entry::stands_for`].
    #[serde(rename = "kernel", default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<Entry>,
}

/// The best configuration of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The kernel's file, relative to the folder of the lock file, with `/` between folders ([`file_name`]).
    pub file: String,
    /// The kernel's name in that file.
    pub name: String,
    /// The architecture that it was compiled for, such as `sm_90a`.
    pub arch: String,
    /// The GPU that it was measured on, by the name that the driver gives it.
    pub device: String,
    /// The median time of a launch in microseconds.
    pub time_us: f64,
    /// The values of the arguments that tell one use from another: those that `key` of `@triton.autotune` or of the
    /// case lists, or else all integer arguments.
    #[serde(default)]
    pub key: BTreeMap<String, Setting>,
    /// The types of the arguments that are pointers and descriptors, without promises and blocks: `*fp16`,
    /// `tensordesc<fp16>`.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    pub choice: Choice,
}

/// What a kernel is compiled with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_warps: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_stages: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_ctas: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maxnreg: Option<u32>,
    /// The compile-time parameters that were tuned.
    #[serde(default)]
    pub constants: BTreeMap<String, Setting>,
}

impl Choice {
    /// The values of compile-time parameters, as `-D` takes them, by name.
    pub fn defines(&self) -> impl Iterator<Item = (String, String)> {
        self.constants.iter().map(|(name, value)| (name.clone(), value.to_define()))
    }

    /// The options of the launch.
    #[must_use]
    pub fn given(&self) -> Given {
        let Choice { num_warps, num_stages, num_ctas, maxnreg, .. } = *self;
        Given { num_warps, num_stages, num_ctas, maxnreg, ..Given::default() }
    }
}

/// A value: a truth value, an integer, or any other as the text that `-D` takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    Bool(bool),
    Int(i64),
    Text(String),
}

impl Setting {
    /// The value that a text behind `-D NAME=` stands for.
    #[must_use]
    pub fn of_define(text: &str) -> Setting {
        match (text, text.parse()) {
            ("True", _) => Setting::Bool(true),
            ("False", _) => Setting::Bool(false),
            (_, Ok(value)) => Setting::Int(value),
            (_, Err(_)) => Setting::Text(text.to_owned()),
        }
    }

    /// The text behind `-D NAME=`.
    #[must_use]
    pub fn to_define(&self) -> String {
        match self {
            Setting::Bool(true) => "True".to_owned(),
            Setting::Bool(false) => "False".to_owned(),
            Setting::Int(value) => value.to_string(),
            Setting::Text(text) => text.clone(),
        }
    }
}

/// What an entry stands for: file, kernel, architecture, GPU, key, types.
pub type StandsFor<'a> =
    (&'a str, &'a str, &'a str, &'a str, &'a BTreeMap<String, Setting>, &'a BTreeMap<String, String>);

impl Entry {
    /// What the entry stands for. No two entries of a file stand for the same.
    #[must_use]
    pub fn stands_for(&self) -> StandsFor<'_> {
        (&self.file, &self.name, &self.arch, &self.device, &self.key, &self.types)
    }
}

impl Lock {
    /// Reads a lock file. A file that does not exist has no entries.
    ///
    /// # Errors
    /// `E0901` to `E0904` for a file that cannot be read, and `E1111` for one that is no lock file.
    pub fn read(path: &Path) -> Result<Lock, Diagnostic> {
        if !path.exists() {
            return Ok(Lock { version: VERSION, entries: vec![] });
        }
        Lock::parse(&path.to_string_lossy(), &text_file::read(path)?)
    }

    /// Reads the text of a lock file. Messages use `name`.
    ///
    /// # Errors
    /// `E1111`
    pub fn parse(name: &str, text: &str) -> Result<Lock, Diagnostic> {
        let wrong = |why: &str| {
            Diagnostic::error(&codes::BAD_LOCK, format!("`{name}` is no lock file of this ttc: {why}"))
                .at(Place::File(name.to_owned()), "")
                .help("delete it, and let `ttc tune` write it again")
        };
        let mut lock: Lock = toml::from_str(text).map_err(|e| wrong(e.message()))?;
        if lock.version != VERSION {
            return Err(wrong(&format!("its version is {}, and this ttc knows {VERSION}", lock.version)));
        }
        lock.entries.sort_by(|a, b| a.stands_for().cmp(&b.stands_for()));
        if let Some(pair) = lock.entries.windows(2).find(|p| p[0].stands_for() == p[1].stands_for()) {
            return Err(wrong(&format!("`{}` has two entries for the same GPU, key and types", pair[0].name)));
        }
        Ok(lock)
    }

    /// All entries, in the order of what they stand for.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries of a kernel for an architecture: one for each GPU, key and types. `file` is as [`file_name`] gives
    /// it.
    pub fn of_kernel<'a>(&'a self, file: &'a str, name: &'a str, arch: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |e| (&*e.file, &*e.name, &*e.arch) == (file, name, arch))
    }

    /// Adds an entry in the place of the one that stands for the same.
    pub fn put(&mut self, entry: Entry) {
        match self.entries.binary_search_by(|e| e.stands_for().cmp(&entry.stands_for())) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    /// The text of the file.
    ///
    /// # Panics
    /// Never: entries hold what TOML can say.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lock = Lock { version: VERSION, ..self.clone() };
        format!("{HEAD}{}", toml::to_string(&lock).expect("a lock file holds texts, numbers and tables only"))
    }
}

/// The name of a kernel's file in a lock file: its path as seen from the lock file's folder, with `/` between folders.
/// A file that has no such path keeps its own.
#[must_use]
pub fn file_name(lock: &Path, kernel: &Path) -> String {
    let absolute = |p: &Path| std::path::absolute(p).map_or_else(|_| p.to_owned(), |p| plain(&p));
    let folder = lock.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (folder, file) = (absolute(folder), absolute(kernel));
    let (mut from, mut to) = (folder.components().peekable(), file.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| Component::ParentDir);
    let parts: Vec<String> = up.chain(to).map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

/// The path without `.`, and without `..` where a folder stands before it.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, device: &str, m: i64, time_us: f64) -> Entry {
        let text = |s: &str| s.to_owned();
        let constants = [(text("BLOCK_M"), Setting::Int(128)), (text("ACT"), Setting::of_define("'gelu'"))];
        Entry {
            file: text("kernels/matmul.tk"),
            name: text(name),
            arch: text("sm_90a"),
            device: text(device),
            time_us,
            key: [(text("m"), Setting::Int(m))].into(),
            types: [(text("a_ptr"), text("*fp16"))].into(),
            choice: Choice { num_warps: Some(8), constants: constants.into(), ..Choice::default() },
        }
    }

    #[test]
    fn entries_are_merged_in_their_order_and_come_back() {
        let mut lock = Lock::default();
        for e in [entry("matmul", "H200", 64, 3.5), entry("matmul", "H100", 64, 2.0), entry("add", "H100", 64, 1.25)] {
            lock.put(e);
        }
        lock.put(entry("matmul", "H100", 4096, 180.0));
        lock.put(entry("matmul", "H100", 64, 1.5));
        let shown: Vec<_> = lock.entries().iter().map(|e| (&*e.name, &*e.device, e.time_us)).collect();
        assert_eq!(
            shown,
            [("add", "H100", 1.25), ("matmul", "H100", 1.5), ("matmul", "H100", 180.0), ("matmul", "H200", 3.5)]
        );
        let text = lock.to_text();
        let read = Lock::parse("ttc.lock", &text).unwrap();
        assert_eq!((read.entries(), read.to_text()), (lock.entries(), text));
        assert_eq!(read.of_kernel("kernels/matmul.tk", "matmul", "sm_90a").count(), 3);
        assert_eq!(read.of_kernel("kernels/matmul.tk", "matmul", "sm_80").count(), 0);
        let choice = &read.entries()[0].choice;
        let defines: Vec<_> = choice.defines().collect();
        assert_eq!(defines, [("ACT".into(), "'gelu'".into()), ("BLOCK_M".into(), "128".into())]);
        assert_eq!(choice.given().num_warps, Some(8));
    }

    #[test]
    fn what_is_no_lock_file_is_an_error_with_the_reason() {
        let one = {
            let mut lock = Lock::default();
            lock.put(entry("k", "H100", 1, 1.0));
            lock.to_text()
        };
        let twice = format!("{one}{}", &one[one.find("\n[[kernel]]").unwrap()..]);
        for (text, why) in [
            ("version = 2", "its version is 2"),
            ("kernel = 3\nversion = 1", "invalid type"),
            ("version = 1\nwarps = 3", "unknown field"),
            ("", "missing field `version`"),
            (&twice, "`k` has two entries"),
        ] {
            let error = Lock::parse("ttc.lock", text).unwrap_err();
            assert!(error.code.id == "E1111" && error.message.contains(why), "{text}: {}", error.message);
        }
    }

    #[test]
    fn values_are_those_of_the_command_line() {
        for text in ["128", "True", "False", "-3", "'gelu'", "1e-05", "tl.float16", "None"] {
            assert_eq!(Setting::of_define(text).to_define(), text);
        }
    }

    #[test]
    fn files_are_named_from_the_lock_file() {
        for (lock, kernel, name) in [
            ("ttc.lock", "kernels/add.tk", "kernels/add.tk"),
            ("./a/ttc.lock", "a/../a/add.tk", "add.tk"),
            ("a/b/ttc.lock", "kernels/add.tk", "../../kernels/add.tk"),
        ] {
            assert_eq!(file_name(Path::new(lock), Path::new(kernel)), name);
        }
    }
}
