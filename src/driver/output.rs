//! Writes outputs so that a reader never sees half a file: into a file that has no name or a temporary one, which then
//! takes the target's place.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, Place, codes};

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
    let dir = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let nameless =
        without_name(dir).map(|mut file| file.write_all(bytes).and_then(|()| give_name(&file, dir, &target)));
    match nameless {
        Some(Ok(())) => Ok(()),
        // There are no such files here, or none that can be named. The other way also says what is wrong.
        _ => through_temporary(dir, &target, bytes).map_err(|e| failed(&e)),
    }
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

/// Makes a file that no entry of its directory names, so that nothing is left of it when ttc is killed. Not every file
/// system has such files.
fn without_name(dir: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        std::fs::OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o666).open(dir).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Gives a file without a name the target's name. Where that is taken, it goes by way of a temporary name, because
/// making a link does not replace a file.
fn give_name(file: &File, dir: &Path, target: &Path) -> io::Result<()> {
    match link(file, target) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    for attempt in 0..u32::MAX {
        let temporary = dir.join(format!(".ttc-{}-{attempt}", std::process::id()));
        match link(file, &temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(()) => {
                return std::fs::rename(&temporary, target).inspect_err(|_| drop(std::fs::remove_file(&temporary)));
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes a name for an open file.
fn link(file: &File, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        use std::os::unix::ffi::OsStrExt;
        let from = std::ffi::CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let to = std::ffi::CString::new(to.as_os_str().as_bytes())?;
        // SAFETY: the arguments are C strings that outlive the call.
        let done = unsafe {
            libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, to);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Writes a file with a temporary name and renames it.
fn through_temporary(dir: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ttc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A file of the crate tempfile is private to the user by default. Outputs follow the umask like any compiler's.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temp = builder.tempfile_in(dir)?;
    temp.write_all(bytes).and_then(|()| temp.flush())?;
    temp.persist(target).map(drop).map_err(|e| e.error)
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
        through_temporary(dir.path(), &at("a"), b"temporary").unwrap();
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
