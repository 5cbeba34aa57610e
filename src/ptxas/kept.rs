//! Keeps the input of failed runs, so that the command in the message works.
//!
//! 1. Everything lies in one folder of the user's, `ttc-failed-UID` in the temporary folder, that nobody else can read
//!    or write.
//! 2. Each input has a folder there, named after its contents, so the same failure takes no more room the second time.
//! 3. Of more than [`MOST`] folders the oldest are removed.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many folders are kept.
const MOST: usize = 20;

/// Keeps a file of this name and gives its folder.
///
/// # Errors
/// Fails when the system refuses to make the file, or when the place belongs to somebody else.
pub fn keep(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    // SAFETY: the call takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let root = std::env::temp_dir().join(format!("ttc-failed-{user}"));
    own_folder(&root, user)?;
    let mut hash = DefaultHasher::new();
    (name, bytes).hash(&mut hash);
    let folder = root.join(format!("{:016x}", hash.finish()));
    prune(&root, &folder);
    own_folder(&folder, user)?;
    fs::write(folder.join(name), bytes)?;
    Ok(folder)
}

/// Makes a folder that is the user's alone, or finds that it is one. A link that somebody planted there does not count
/// as one.
fn own_folder(path: &Path, user: u32) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Removes the oldest folders, so that there is room for one more.
fn prune(root: &Path, next: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    let age = |e: &fs::DirEntry| e.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut folders: Vec<_> = entries.flatten().map(|e| (age(&e), e.path())).filter(|(_, p)| p != next).collect();
    folders.sort();
    let excess = folders.len().saturating_sub(MOST - 1);
    for (_, old) in folders.into_iter().take(excess) {
        // Another ttc may be removing it as well.
        let _ = fs::remove_dir_all(old);
    }
}
