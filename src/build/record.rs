//! What the last build made, and from what.
//!
//! A unit is up to date if its command, the compiler, the tools, and every file that it was made from are as they were,
//! and its outputs are as they were written. Files that it was made from are compared by content, since a file that was
//! touched or checked out again makes nothing new. Outputs are compared by size and time.
//!
//! The record lies in the folder of the outputs, and names these by their paths in it, so that it does not matter how
//! the folder is called. One that cannot be read is no record. One of another compiler or of other tools still says
//! which files are left from then.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::unit::Unit;
use crate::backend::Stage;
use crate::diag::Diagnostic;
use crate::driver::{Job, JobOptions, compiler_version, output};
use crate::ptxas::{self, Tool};

/// The file's name in the folder of the outputs.
pub(super) const FILE: &str = ".ttc-build.json";

/// The form of the record. One of another form is no record.
const VERSION: u32 = 2;

/// What was made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// The compiler and its tools.
    tools: String,
    /// The manifest, relative to the folder.
    pub(super) manifest: PathBuf,
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
    /// Why it is to be made again, whatever its files say.
    pub(super) again: Option<String>,
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
    /// Its path in the folder of the outputs.
    pub(super) name: PathBuf,
    len: u64,
    /// Nanoseconds since 1970.
    time: u64,
}

/// The state of files, each looked at once.
pub(super) struct Files {
    /// The folder of the outputs.
    out: PathBuf,
    digests: BTreeMap<PathBuf, Option<String>>,
}

impl Files {
    pub(super) fn new(out: &Path) -> Files {
        Files { out: out.to_owned(), digests: BTreeMap::new() }
    }

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
        if let Some(why) = &made.again {
            return Some(why.clone());
        }
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
        let other = made.outputs.iter().find(|o| !o.is_unchanged(&self.out))?;
        let path = self.out.join(&other.name);
        let what = if path.exists() { "is not as it was written" } else { "is missing" };
        Some(format!("`{}` {what}", path.display()))
    }
}

impl Made {
    /// The outputs that are not among others.
    pub(super) fn without<'a>(&'a self, others: &'a [Output]) -> impl Iterator<Item = &'a Output> {
        self.outputs.iter().filter(|o| !others.iter().any(|other| other.name == o.name))
    }
}

impl Input {
    /// A file that had this text when it was read.
    pub(super) fn new(path: &Path, text: &str) -> Input {
        Input { path: path.to_owned(), digest: digest([text.as_bytes()]) }
    }
}

impl Output {
    /// The file of a folder as it is now, if there is one.
    pub(super) fn of(folder: &Path, name: &Path) -> Option<Output> {
        let meta = std::fs::metadata(folder.join(name)).ok()?;
        Some(Output { name: name.to_owned(), len: meta.len(), time: time(&meta) })
    }

    pub(super) fn is_unchanged(&self, folder: &Path) -> bool {
        Output::of(folder, &self.name).is_some_and(|now| now == *self)
    }
}

fn time(meta: &Metadata) -> u64 {
    let since = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

impl Record {
    /// The record in a folder, for the compiler and tools of now. What others have made is to be made again.
    pub(super) fn read(out: &Path, tools: String) -> Record {
        let text = std::fs::read(out.join(FILE)).ok();
        let known = text.and_then(|text| serde_json::from_slice::<Record>(&text).ok());
        let Some(mut record) = known.filter(|r| r.version == VERSION) else {
            return Record { version: VERSION, tools, ..Record::default() };
        };
        if record.tools != tools {
            record.tools = tools;
            record.request.clear();
            for made in record.units.values_mut().chain(&mut record.products) {
                made.again = Some("ttc or one of its tools has changed".to_owned());
            }
        }
        record
    }

    /// # Errors
    /// `E0906`
    pub(super) fn write(&self, out: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_vec(self).expect("a record holds strings and numbers only");
        output::write_file(&out.join(FILE), &text)
    }

    /// Everything that was made.
    pub(super) fn made(&self) -> impl Iterator<Item = &Made> {
        self.units.values().chain(&self.products)
    }

    /// What was made of these units.
    pub(super) fn of<'a>(&'a self, units: &'a [Unit]) -> impl Iterator<Item = &'a Made> {
        units.iter().filter_map(|u| self.units.get(&u.stem()))
    }
}

/// The compiler and the tools that decide what comes out, by their paths, sizes and times.
pub(super) fn tools(ptxas: Option<&Path>) -> String {
    let shown = |path: Option<PathBuf>| match path.as_deref().and_then(|p| Output::of(Path::new(""), p)) {
        Some(o) => format!("{} {} {}", o.name.display(), o.len, o.time),
        None => "none".to_owned(),
    };
    let found = [Tool::Ptxas, Tool::Libdevice, Tool::Nvdisasm, Tool::Fatbinary]
        .map(|tool| shown(ptxas::find(tool, ptxas.filter(|_| tool == Tool::Ptxas)).ok()));
    format!("{}\n{}\n{}", compiler_version(), shown(std::env::current_exe().ok()), found.join("\n"))
}

/// A digest of everything that says how a unit is compiled, but for the contents of files.
pub(super) fn command(unit: &Unit, want: &[Stage]) -> String {
    let Job { input, kernel, config, variant, target, for_others, options } = &unit.job;
    // How long ptxas may run changes nothing of what it makes.
    let options = JobOptions { time_limit: None, ..JobOptions::clone(options) };
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
