//! Replaces files as a whole: a reader sees the old bytes or the new ones, and nothing in between.
//!
//! 1. The bytes go into a file without a name (`O_TMPFILE`), so that nothing is left of it when ttc is killed.
//! 2. The file gets its name. Where the name is taken, the file first gets a temporary one ([`TEMPORARY`]), and a
//!    rename then puts it into the place of the old file. A process that is killed between these two steps leaves the
//!    temporary name behind.
//! 3. Where the file system has no files without a name, the bytes go into a temporary file, which is then renamed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// What temporary names begin with.
pub const TEMPORARY: &str = ".ttc-";

/// Writes a file, in the place of the one that has the name.
///
/// # Errors
/// The system's error when the directory cannot be written or the disk is full. Nothing is left behind then.
pub fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let nameless = without_name(dir).map(|mut file| file.write_all(bytes).and_then(|()| give_name(&file, dir, target)));
    match nameless {
        Some(Ok(())) => Ok(()),
        // There are no such files here, or none that can be named. The other way also says what is wrong.
        _ => through_temporary(dir, target, bytes),
    }
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
        let temporary = dir.join(format!("{TEMPORARY}{}-{attempt}", std::process::id()));
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
    builder.prefix(TEMPORARY);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_in_either_way_and_no_temporary_one_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        for text in ["first", "second, which is longer", "3"] {
            replace(&target, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&target).unwrap(), text);
        }
        through_temporary(dir.path(), &target, b"temporary").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"temporary");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
