//! Has the C compiler of the host make an object file of launchers.

use std::path::Path;
use std::process::Command;

use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};

/// The compiler's command line: the words of `CC`, or `cc`.
pub(super) fn compiler() -> Vec<String> {
    let named = std::env::var("CC").unwrap_or_default();
    let words: Vec<String> = named.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() { vec!["cc".to_owned()] } else { words }
}

/// The bytes of the object file of a source.
///
/// # Errors
/// `E0951` if there is no compiler or it fails.
pub(super) fn compile(source: &Path) -> Result<Vec<u8>, Diagnostic> {
    let words = compiler();
    let name = words.join(" ");
    let failed = |text: String| {
        Diagnostic::error(&cli::HOST_COMPILER, text).at(Place::File(source.to_string_lossy().into_owned()), "")
    };
    let folder =
        tempfile::Builder::new().prefix("ttc-").tempdir().map_err(|e| failed(format!("no temporary folder: {e}")))?;
    let object = folder.path().join("launchers.o");
    let made = Command::new(&words[0])
        .args(&words[1..])
        .args(["-std=c99", "-O2", "-fPIC", "-c", "-o"])
        .args([&*object, source])
        .output()
        .map_err(|e| {
            failed(format!("cannot start the C compiler `{name}`: {}", crate::driver::input::plain(&e)))
                .help("install a C compiler, or name one with the environment variable `CC`")
        })?;
    if !made.status.success() {
        let log = String::from_utf8_lossy(&made.stderr);
        return Err(failed(format!("the C compiler `{name}` failed")).note(format!("it says:\n{}", log.trim_end())));
    }
    std::fs::read(&object).map_err(|e| failed(format!("the C compiler `{name}` wrote no object: {e}")))
}
