//! Digests of large files that seldom change: ptxas, libdevice, ttc itself.
//!
//! To read 50 MB takes longer than to compile a small kernel, so a digest is remembered as an entry of the cache, under
//! everything that a change of the file changes as well: its path, device, number, size, and both of its times. A file
//! that was changed within the last seconds is read every time, because a second change might not show in its times.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::key::{Digest, Key};
use super::store::Store;

/// How long the times of a file must have stood still.
const SETTLED: Duration = Duration::from_secs(2);

/// The digest of a file's contents.
///
/// # Errors
/// The system's error when the file cannot be read.
pub(super) fn digest_of(store: Option<&Store>, path: &Path) -> io::Result<Key> {
    let Some((store, known)) = store.zip(stamp(path)?) else { return read(path) };
    if let Some(digest) = store.get(known).and_then(|bytes| bytes.try_into().ok()) {
        return Ok(Key(digest));
    }
    let digest = read(path)?;
    if stamp(path)? == Some(known) {
        // Where the cache cannot be written, the file is read again the next time.
        let _ = store.put(known, &digest.0, false);
    }
    Ok(digest)
}

/// Reads a file piece by piece, which spares the memory for all of it.
fn read(path: &Path) -> io::Result<Key> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(Key(*hasher.finalize().as_bytes()))
}

/// A key of what the system says of a file, unless that may not show the next change.
#[cfg(unix)]
fn stamp(path: &Path) -> io::Result<Option<Key>> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(path)?;
    let settled = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|now| {
        let changed = about.ctime().max(about.mtime());
        u64::try_from(changed).is_ok_and(|changed| now.as_secs() > changed + SETTLED.as_secs())
    });
    let mut digest = Digest::new("ttc 2026-11 cache: the digest of a file");
    digest.bytes(path.as_os_str().as_bytes());
    for number in [about.dev(), about.ino(), about.size()] {
        digest.number(number);
    }
    for time in [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()] {
        digest.number(time as u64);
    }
    Ok(settled.then(|| digest.key()))
}

#[cfg(not(unix))]
fn stamp(_: &Path) -> io::Result<Option<Key>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::of_bytes;

    #[test]
    fn a_digest_is_remembered_until_the_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("cache"), 1 << 20);
        let file = dir.path().join("tool");
        std::fs::write(&file, b"one").unwrap();
        assert_eq!(stamp(&file).unwrap(), None, "it was just written");
        assert_eq!(digest_of(Some(&store), &file).unwrap(), of_bytes(b"one"));
        std::fs::write(&file, b"two").unwrap();
        assert_eq!(digest_of(Some(&store), &file).unwrap(), of_bytes(b"two"));
        assert_eq!(digest_of(None, &file).unwrap(), of_bytes(b"two"));
        assert!(digest_of(Some(&store), &dir.path().join("none")).is_err());
        // A file of the system that nobody changes is remembered: a digest that was planted there is believed.
        let old = Path::new("/bin/sh");
        store.put(stamp(old).unwrap().unwrap(), &[7; 32], false).unwrap();
        assert_eq!(digest_of(Some(&store), old).unwrap(), Key([7; 32]));
    }
}
