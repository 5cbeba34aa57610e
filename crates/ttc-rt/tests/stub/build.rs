//! Builds the stub. Tests of other crates include this file.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a shared library of the stub's source in a folder, under a name that no other process uses.
pub(crate) fn library(source: &Path, folder: &Path) -> PathBuf {
    let name = source.file_stem().expect("the source is a file").to_string_lossy();
    let library = folder.join(format!("{name}-{}.so", std::process::id()));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "stub", "-C", "panic=abort"]);
    let made = command.arg("-o").arg(&library).arg(source).output().expect("rustc runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    library
}
