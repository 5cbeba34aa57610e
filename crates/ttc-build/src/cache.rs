//! Whether what was made of a kernel is still what would be made.
//!
//! A record beside the output holds a fingerprint of the command line and of the compiler, and one of each file that was
//! read. If all of them are as they were, so is the output.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The record of one kernel.
pub(crate) struct Record {
    path: PathBuf,
    command: String,
}

impl Record {
    /// The record at this place, for a command.
    pub(crate) fn new(path: PathBuf, compiler: &str, line: &[String]) -> Record {
        let mut hasher = DefaultHasher::new();
        (compiler, line).hash(&mut hasher);
        Record { path, command: format!("{:016x}", hasher.finish()) }
    }

    /// The files that were read, if nothing has changed since.
    pub(crate) fn sources(&self) -> Option<Vec<PathBuf>> {
        let text = fs::read_to_string(&self.path).ok()?;
        let mut lines = text.lines();
        if lines.next() != Some(&self.command) {
            return None;
        }
        let same = |line: &str| {
            let (known, path) = line.split_once(' ')?;
            (fingerprint(Path::new(path)).ok()? == known).then(|| PathBuf::from(path))
        };
        lines.map(same).collect()
    }

    /// Writes what was read. A file that is gone is left out, so that the record does not hold.
    pub(crate) fn write(&self, sources: &[PathBuf]) -> io::Result<()> {
        let mut text = format!("{}\n", self.command);
        for path in sources {
            text.push_str(&format!("{} {}\n", fingerprint(path).unwrap_or_default(), path.display()));
        }
        fs::write(&self.path, text)
    }

    /// Forgets what was made.
    pub(crate) fn forget(&self) {
        // If there is no record, there is nothing to forget.
        let _ = fs::remove_file(&self.path);
    }
}

fn fingerprint(path: &Path) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    fs::read(path)?.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}
