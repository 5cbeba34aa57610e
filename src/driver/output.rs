//! Writes outputs where the user wants them, so that a reader never sees half a file ([`whole_file`]).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, Place, codes};
use crate::whole_file;

use super::input::plain;

/// How many links are followed before they count as a circle. Linux uses the same number.
const MOST_LINKS: usize = 40;

/// Writes a file as a whole or not at all. A symbolic link is followed: what it points to is replaced, not the link.
///
/// # Errors
/// `E0906` when the directory cannot be written or the disk is full. Nothing is left behind.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    let failed = |e: &io::Error| {
        Diagnostic::error(&codes::cli::CANNOT_WRITE, format!("cannot write `{}`: {}", path.display(), plain(e)))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
    };
    if path.is_dir() {
        return Err(Diagnostic::error(
            &codes::cli::CANNOT_WRITE,
            format!("cannot write `{}`: it is a directory", path.display()),
        )
        .at(Place::File(path.to_string_lossy().into_owned()), "")
        .help("`-o` names a file; `--out-dir` names a directory"));
    }
    // A device or a pipe (/dev/full, /dev/stdout, a FIFO) cannot be replaced by a rename.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(|e| failed(&e))?;
        return file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| failed(&e));
    }
    let target = behind_links(path).map_err(|e| failed(&e))?;
    whole_file::replace(&target, bytes).map_err(|e| failed(&e))
}

/// The path that symbolic links lead to. It need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(link) = std::fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Makes a directory with its parents.
///
/// # Errors
/// `E0906`
pub fn make_dir(path: &Path) -> Result<(), Diagnostic> {
    std::fs::create_dir_all(path).map_err(|e| {
        Diagnostic::error(
            &codes::cli::CANNOT_WRITE,
            format!("cannot make the directory `{}`: {}", path.display(), plain(&e)),
        )
        .at(Place::File(path.to_string_lossy().into_owned()), "")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_as_a_whole_through_links() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for text in ["first", "second, which is longer", "3"] {
            write_file(&at("a"), text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(at("a")).unwrap(), text);
        }
        std::fs::create_dir(at("sub")).unwrap();
        std::os::unix::fs::symlink("sub/b", at("link")).unwrap();
        std::os::unix::fs::symlink("link", at("link2")).unwrap();
        write_file(&at("link2"), b"through").unwrap();
        assert_eq!(std::fs::read(at("sub/b")).unwrap(), b"through");
        assert!(std::fs::symlink_metadata(at("link2")).unwrap().is_symlink());
        std::os::unix::fs::symlink("circle", at("circle")).unwrap();
        assert_eq!(write_file(&at("circle"), b"").unwrap_err().code.id, "E0906");
        let mut names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "circle", "link", "link2", "sub"]);
    }
}
