//! The entries on disk: one file each, under a folder of the user's choice.
//!
//! ```text
//! DIR/CACHEDIR.TAG      tells backup programs to pass the folder over
//! DIR/v1/counters       what was counted
//! DIR/v1/lock           held by the process that removes entries
//! DIR/v1/3f/9c…         an entry: the 64 digits of its key, of which the first two name a folder
//! ```
//!
//! 1. An entry gets its name when all of its bytes are there ([`whole_file`]), so a reader sees it as a whole or not at
//!    all, whoever is killed meanwhile. Nothing waits for the disk: the digest in the entry tells what a crash of the
//!    system has torn ([`super::entry`]).
//! 2. A damaged entry is removed by its first reader, and counts as none.
//! 3. A reader sets the time of an entry, at most once a minute. When a writer finds more bytes than the limit allows,
//!    it removes those entries that were not read for the longest time ([`super::evict`]).

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::counters::{self, Counts};
use super::entry;
use super::evict;
use super::key::Key;
use crate::whole_file;

/// The text of the file that marks a folder of no lasting value (<https://bford.info/cachedir/>).
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of compilations by ttc.\n";

/// How old the time of an entry is before a reader sets it anew.
const STALE: Duration = Duration::from_mins(1);

/// After so many new entries, a writer looks at all of them, since counts may be lost.
const PUTS_PER_LOOK: u64 = 1000;

/// A cache in a folder.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    /// How many bytes the entries may have together.
    limit: u64,
}

impl Store {
    /// The cache in a folder, which is made when something is written into it.
    #[must_use]
    pub fn new(dir: PathBuf, limit: u64) -> Store {
        Store { dir, limit }
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many bytes the entries may have together.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The folder of what this version of ttc can read.
    pub(super) fn root(&self) -> PathBuf {
        self.dir.join("v1")
    }

    pub(super) fn counters(&self) -> PathBuf {
        self.root().join("counters")
    }

    fn path(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        self.root().join(&name[..2]).join(&name[2..])
    }

    /// The payload of an entry.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut file = File::open(&path).ok()?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).ok()?;
        let payload = entry::open(key, bytes);
        if payload.is_none() {
            // Should another process have written a good entry meanwhile, then that one is lost, and made again.
            let _ = fs::remove_file(&path);
            return None;
        }
        let is_stale = |time: SystemTime| time.elapsed().is_ok_and(|age| age > STALE);
        if file.metadata().and_then(|m| m.modified()).is_ok_and(is_stale) {
            // A reader that may not write the entry still may read it.
            let _ = file.set_modified(SystemTime::now());
        }
        payload
    }

    /// Writes an entry. One that is there already stays, unless `replace` says otherwise.
    ///
    /// # Errors
    /// The system's error: the folder cannot be made or written, the disk is full.
    pub fn put(&self, key: Key, payload: &[u8], replace: bool) -> io::Result<()> {
        let (entry, path) = (entry::seal(key, payload), self.path(key));
        if (!replace && path.exists()) || entry.len() as u64 > self.limit / 2 {
            return Ok(());
        }
        self.make(&path)?;
        // The bytes are counted before they are there. Whoever is killed in between makes the cache seem larger.
        let counts = counters::update(&self.counters(), |c| {
            c.bytes = c.bytes.saturating_add(entry.len() as u64);
            c.puts = c.puts.saturating_add(1);
        });
        let written = match whole_file::replace(&path, &entry) {
            // Somebody has removed the folder of the entry, which was empty.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.make(&path).and_then(|()| whole_file::replace(&path, &entry))
            }
            other => other,
        };
        written?;
        if counts.is_some_and(|c| c.bytes > self.limit || c.puts > PUTS_PER_LOOK) {
            evict::trim(self);
        }
        Ok(())
    }

    /// Makes the folder of an entry. What the cache holds is for its owner alone, unless the folder was there before.
    fn make(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        if folder.is_dir() {
            return Ok(());
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let new = !self.root().exists();
        builder.create(folder)?;
        if new {
            // The tag is a courtesy, and the cache works without it.
            let _ = whole_file::replace(&self.dir.join("CACHEDIR.TAG"), TAG.as_bytes());
        }
        Ok(())
    }

    /// Changes what is counted, where the cache can be written.
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        counters::update(&self.counters(), change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::of_bytes;

    #[test]
    fn entries_are_kept_replaced_and_dropped_when_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("deep/cache"), 1 << 20);
        let key = of_bytes(b"a");
        assert_eq!(store.get(key), None);
        store.put(key, b"first", false).unwrap();
        store.put(key, b"second", false).unwrap();
        assert_eq!(store.get(key).as_deref(), Some(b"first".as_slice()));
        store.put(key, b"second", true).unwrap();
        assert_eq!(store.get(key).as_deref(), Some(b"second".as_slice()));
        assert!(
            fs::read_to_string(dir.path().join("deep/cache/CACHEDIR.TAG")).unwrap().starts_with("Signature: 8a477f")
        );
        fs::write(store.path(key), b"torn").unwrap();
        assert_eq!(store.get(key), None);
        assert!(!store.path(key).exists());
        let small = Store::new(dir.path().to_owned(), 64);
        small.put(key, &[0; 64], false).unwrap();
        assert_eq!(small.get(key), None, "an entry over half of the limit is not kept");
    }

    #[test]
    fn a_reader_sets_the_time_of_an_old_entry_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), 1 << 20);
        let (key, now) = (of_bytes(b"a"), SystemTime::now());
        store.put(key, b"payload", false).unwrap();
        let age = |seconds| {
            let file = File::open(store.path(key)).unwrap();
            file.set_modified(now - Duration::from_secs(seconds)).unwrap();
            store.get(key).unwrap();
            file.metadata().unwrap().modified().unwrap()
        };
        assert_eq!(age(10), now - Duration::from_secs(10));
        assert!(age(3600) >= now);
    }
}
