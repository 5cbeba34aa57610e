//! What the last build made, and from what.
//!
//! A unit is up to date if its command, the compiler, the tools, and every file that it was made from are as they were,
//! and its outputs are as they were written. Files that it was made from are compared by content, since a file that was
//! touched or checked out again makes nothing new. Outputs are compared by size and time.
//!
//! The record lies in the folder of the outputs. One that cannot be read is no record.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::unit::Unit;
use crate::backend::Stage;
use crate::diag::Diagnostic;
use crate::driver::{Job, compiler_version, output};
use crate::ptxas::{self, Tool};

/// The file's name in the folder of the outputs.
pub(super) const FILE: &str = ".ttc-build.json";

/// The form of the record. One of another form is no record.
const VERSION: u32 = 1;

/// What was made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The compiler and its tools.
    tools: String,
    /// Everything that decides which units there are.
    pub(super) request: String,
    /// The units by their stems.
    pub(super) units: BTreeMap<String, Made>,
    /// What was made of several units. Its inputs are their outputs, which are not listed.
    pub(super) products: Option<Made>,
}

/// One thing that was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Made {
    /// A digest of the command.
    pub(super) command: String,
    /// The files that were read.
    pub(super) inputs: Vec<Input>,
    /// Paths where a file was looked for and not found. One that appears there changes what is made.
    pub(super) absent: Vec<PathBuf>,
    pub(super) outputs: Vec<Output>,
}

/// A file that was read, with a digest of its content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    digest: String,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) path: PathBuf,
    len: u64,
    /// Nanoseconds since 1970.
    time: u64,
}

/// The state of files, each looked at once.
#[derive(Default)]
pub(super) struct Files {
    digests: BTreeMap<PathBuf, Option<String>>,
}

impl Files {
    /// The digest of a file's content, or nothing if it cannot be read.
    pub(super) fn digest(&mut self, path: &Path) -> Option<String> {
        if let Some(known) = self.digests.get(path) {
            return known.clone();
        }
        let digest = std::fs::read(path).ok().map(|bytes| digest([&*bytes]));
        self.digests.insert(path.to_owned(), digest.clone());
        digest
    }

    /// Why something is to be made anew, if it is.
    pub(super) fn stale(&mut self, made: &Made) -> Option<String> {
        for input in &made.inputs {
            match self.digest(&input.path) {
                Some(digest) if digest == input.digest => {}
                Some(_) => return Some(format!("`{}` has changed", input.path.display())),
                None => return Some(format!("`{}` cannot be read", input.path.display())),
            }
        }
        if let Some(path) = made.absent.iter().find(|p| p.exists()) {
            return Some(format!("`{}` is there now", path.display()));
        }
        let other = made.outputs.iter().find(|o| Output::of(&o.path).is_none_or(|now| now != **o));
        other.map(|o| {
            let what = if o.path.exists() { "is not as it was written" } else { "is missing" };
            format!("`{}` {what}", o.path.display())
        })
    }
}

impl Input {
    /// A file that had this text when it was read.
    pub(super) fn new(path: &Path, text: &str) -> Input {
        Input { path: path.to_owned(), digest: digest([text.as_bytes()]) }
    }
}

impl Output {
    /// The file as it is now, if there is one.
    pub(super) fn of(path: &Path) -> Option<Output> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Output { path: path.to_owned(), len: meta.len(), time: time(&meta) })
    }
}

fn time(meta: &Metadata) -> u64 {
    let since = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

impl Record {
    /// An empty record for the compiler and tools of now.
    pub(super) fn new(tools: String) -> Record {
        Record { version: VERSION, tools, ..Record::default() }
    }

    /// The record in a folder, if it is of the same compiler and tools.
    pub(super) fn read(out: &Path, tools: &str) -> Option<Record> {
        let text = std::fs::read(out.join(FILE)).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        (record.version == VERSION && record.tools == tools).then_some(record)
    }

    /// # Errors
    /// `E0906`
    pub(super) fn write(&self, out: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_vec(self).expect("a record holds strings and numbers only");
        output::write_file(&out.join(FILE), &text)
    }

    /// Everything that was written.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.units.values().chain(&self.products).flat_map(|m| &m.outputs)
    }
}

/// The compiler and the tools that decide what comes out, by their paths, sizes and times.
pub(super) fn tools(ptxas: Option<&Path>) -> String {
    let shown = |path: Option<PathBuf>| match path.as_deref().and_then(Output::of) {
        Some(o) => format!("{} {} {}", o.path.display(), o.len, o.time),
        None => "none".to_owned(),
    };
    let found = [Tool::Ptxas, Tool::Libdevice, Tool::Nvdisasm, Tool::Fatbinary]
        .map(|tool| shown(ptxas::find(tool, ptxas.filter(|_| tool == Tool::Ptxas)).ok()));
    format!("{}\n{}\n{}", compiler_version(), shown(std::env::current_exe().ok()), found.join("\n"))
}

/// A digest of everything that says how a unit is compiled, but for the contents of files.
pub(super) fn command(unit: &Unit, want: &[Stage]) -> String {
    let Job { input, kernel, config, variant, target, for_others, options } = &unit.job;
    let text = format!(
        "{} {:?} {:?} {kernel:?} {config:?} {variant:?} {} {for_others:?} {options:?} {want:?}",
        input.path.display(),
        input.language,
        input.preset,
        target.name
    );
    digest([text.as_bytes(), unit.stem().as_bytes(), format!("{:?}", unit.keys).as_bytes()])
}

/// A digest of several texts.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().to_string()
}
