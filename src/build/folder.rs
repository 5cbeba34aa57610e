//! The folder of the outputs: files in it are written and removed here, and nothing that the build reads is ever
//! written over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::record::Output;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::driver::output;

/// The folder of the outputs.
pub(super) struct Folder<'a> {
    path: &'a Path,
    /// The files that the build reads, by their canonical paths.
    inputs: BTreeSet<PathBuf>,
}

impl<'a> Folder<'a> {
    pub(super) fn new<'b>(path: &'a Path, inputs: impl IntoIterator<Item = &'b Path>) -> Folder<'a> {
        Folder { path, inputs: canonical(inputs) }
    }

    /// Writes a file, unless it has this content already: then it keeps its time, so that nothing that depends on it is
    /// built again for its sake. `read` are further files that are not to be written over.
    ///
    /// # Errors
    /// `E0906` if it cannot be written, `E0908` if it is an input.
    pub(super) fn put<'b>(
        &self,
        name: &Path,
        bytes: &[u8],
        read: impl IntoIterator<Item = &'b Path>,
    ) -> Result<Option<Output>, Diagnostic> {
        let path = self.path.join(name);
        // Also where nothing would change: what counts as an output is removed one day.
        let now = std::fs::canonicalize(&path);
        if now.is_ok_and(|now| self.inputs.contains(&now) || canonical(read).contains(&now)) {
            let message = format!("the output `{}` is also an input", path.display());
            return Err(Diagnostic::error(&cli::OUTPUT_CONFLICT, message)
                .at(Place::File(path.to_string_lossy().into_owned()), "")
                .help("build into another folder: `out` in `[build]`, or `--out-dir`"));
        }
        if std::fs::read(&path).ok().as_deref() != Some(bytes) {
            output::write_file(&path, bytes)?;
        }
        Ok(Output::of(self.path, name))
    }

    /// Removes files that were made once and are made no longer, if nobody has changed them since.
    pub(super) fn remove<'b>(&self, outputs: impl IntoIterator<Item = &'b Output>) {
        for old in outputs {
            if old.is_unchanged(self.path) {
                // A file that stays is no fault of this build.
                let _ = std::fs::remove_file(self.path.join(&old.name));
            }
        }
    }
}

fn canonical<'b>(paths: impl IntoIterator<Item = &'b Path>) -> BTreeSet<PathBuf> {
    paths.into_iter().filter_map(|p| std::fs::canonicalize(p).ok()).collect()
}

/// The way from a folder to a file, both of which exist: `../ttc.toml`. It holds where both are moved together.
pub(super) fn relative(folder: &Path, file: &Path) -> Option<PathBuf> {
    let (folder, file) = (std::fs::canonicalize(folder).ok()?, std::fs::canonicalize(file).ok()?);
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Path::new(".."));
    Some(up.chain(file.components().skip(common).map(|c| Path::new(c.as_os_str()))).collect())
}
