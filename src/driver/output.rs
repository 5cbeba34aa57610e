//! Writing outputs: to a temporary file in the target's directory, then renamed, so that a reader never sees half a file.

use std::io::Write;
use std::path::Path;

use crate::diag::{Diagnostic, Place, codes};

use super::input::plain;

/// Writes a file as a whole or not at all.
///
/// # Errors
/// `E0906` when the directory cannot be written or the disk is full; nothing is left behind.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    let failed = |e: &std::io::Error| {
        Diagnostic::error(&codes::cli::CANNOT_WRITE, format!("cannot write `{}`: {}", path.display(), plain(e)))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
    };
    if path.is_dir() {
        return Err(Diagnostic::error(&codes::cli::CANNOT_WRITE, format!("cannot write `{}`: it is a directory", path.display()))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
            .help("`-o` names a file; `--out-dir` names a directory"));
    }
    // A device or a pipe (/dev/full, /dev/stdout, a FIFO) cannot be replaced by a rename.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?;
        return file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| failed(&e));
    }
    let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ttc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // tempfile's default is private to the user; outputs follow the umask like any compiler's.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temp = builder.tempfile_in(dir).map_err(|e| failed(&e))?;
    temp.write_all(bytes).and_then(|()| temp.flush()).map_err(|e| failed(&e))?;
    temp.persist(path).map_err(|e| failed(&e.error))?;
    Ok(())
}

/// Makes a directory with its parents.
///
/// # Errors
/// `E0906`
pub fn make_dir(path: &Path) -> Result<(), Diagnostic> {
    std::fs::create_dir_all(path).map_err(|e| {
        Diagnostic::error(&codes::cli::CANNOT_WRITE, format!("cannot make the directory `{}`: {}", path.display(), plain(&e)))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
    })
}
