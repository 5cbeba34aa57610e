//! Removes entries: those that were not read for the longest time when a limit is passed, damaged ones, all of them.
//!
//! One process at a time does it, under a lock that ends with the process. Others go on meanwhile: a file that is
//! removed while somebody reads it stays until it is closed. Only files that have the names of entries are touched, so
//! a folder that was named by mistake loses nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::counters::{self, Counts};
use super::entry;
use super::key::Key;
use super::store::Store;
use crate::whole_file::TEMPORARY;

/// Where a writer finds the limit passed, it goes on until this part of the limit is left, so that the next writer does
/// not have to look again: four fifths.
const KEPT: (u64, u64) = (4, 5);

/// How old a temporary file is before a writer takes it for one that a killed process has left.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// A file of the cache.
struct Found {
    path: PathBuf,
    bytes: u64,
    read: SystemTime,
    /// The key of an entry, or `None` for a temporary file.
    key: Option<Key>,
}

/// What was removed and what is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// Entries that went because others were read later.
    pub entries: u64,
    /// The bytes of these entries.
    pub bytes: u64,
    /// Entries whose bytes were not those that were written.
    pub damaged: u64,
    /// Temporary files of processes that were killed.
    pub leftovers: u64,
    /// Entries that are left.
    pub left: u64,
    /// The bytes of the entries that are left.
    pub left_bytes: u64,
}

/// The number of entries and their bytes, counted anew, with the counts of the cache.
#[must_use]
pub fn stats(store: &Store) -> (u64, u64, Counts) {
    let entries: Vec<Found> = scan(store).into_iter().filter(|f| f.key.is_some()).collect();
    (entries.len() as u64, entries.iter().map(|f| f.bytes).sum(), counters::read(&store.counters()))
}

/// All files of a cache that ttc has made, the one that was read longest ago first.
fn scan(store: &Store) -> Vec<Found> {
    let mut found = vec![];
    let folders = fs::read_dir(store.root()).into_iter().flatten().flatten();
    for folder in folders.filter(|f| is_digits(&f.file_name().to_string_lossy(), 2)) {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let key = format!("{}{name}", folder.file_name().to_string_lossy()).parse().ok();
            let Ok(about) = file.metadata() else { continue };
            if about.is_file() && (key.is_some() || name.starts_with(TEMPORARY)) {
                let read = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(Found { path: file.path(), bytes: about.len(), read, key });
            }
        }
    }
    found.sort_by(|a, b| (a.read, &a.path).cmp(&(b.read, &b.path)));
    found
}

fn is_digits(name: &str, count: usize) -> bool {
    name.len() == count && name.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
}

/// Takes the lock of whoever removes entries.
fn lock_file(store: &Store) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(store.root().join("lock"))
}

/// Brings a cache below its limit, unless another process is about it.
pub(super) fn trim(store: &Store) {
    let Ok(lock) = lock_file(store) else { return };
    if lock.try_lock().is_err() {
        return;
    }
    let least_age = |f: &Found| f.read.elapsed().is_ok_and(|age| age > LEFT_BEHIND);
    remove(store, store.limit(), store.limit() / KEPT.1 * KEPT.0, false, least_age);
}

/// Removes what killed processes have left, and entries until their bytes are within `limit`. With `check`, every entry
/// is read, and damaged ones are removed.
///
/// # Errors
/// The system's error when the cache cannot be locked. A cache that does not exist is no error.
pub fn gc(store: &Store, limit: u64, check: bool) -> io::Result<Removed> {
    if !store.root().is_dir() {
        return Ok(Removed::default());
    }
    lock_file(store)?.lock()?;
    Ok(remove(store, limit, limit, check, |_| true))
}

/// Removes every entry and what was counted.
///
/// # Errors
/// The system's error when the cache cannot be locked. A cache that does not exist is no error.
pub fn clear(store: &Store) -> io::Result<Removed> {
    if !store.root().is_dir() {
        return Ok(Removed::default());
    }
    lock_file(store)?.lock()?;
    let removed = remove(store, 0, 0, false, |_| true);
    for folder in fs::read_dir(store.root())?.flatten().filter(|f| is_digits(&f.file_name().to_string_lossy(), 2)) {
        // A folder that somebody just writes into stays.
        let _ = fs::remove_dir(folder.path());
    }
    counters::update(&store.counters(), |c| *c = Counts { bytes: removed.left_bytes, ..Counts::default() });
    Ok(removed)
}

/// Removes entries, the one that was read longest ago first, from above `limit` down to `target`, and temporary files
/// that are `left` behind.
fn remove(store: &Store, limit: u64, target: u64, check: bool, left: impl Fn(&Found) -> bool) -> Removed {
    let before = counters::read(&store.counters());
    let found = scan(store);
    let mut removed = Removed::default();
    let mut entries = vec![];
    for file in found {
        match file.key {
            None if left(&file) => removed.leftovers += u64::from(fs::remove_file(&file.path).is_ok()),
            None => {}
            Some(key) if check && !is_whole(&file, key) => {
                removed.damaged += u64::from(fs::remove_file(&file.path).is_ok());
            }
            Some(_) => entries.push(file),
        }
    }
    let mut total: u64 = entries.iter().map(|f| f.bytes).sum();
    let mut kept = entries.len() as u64;
    let goal = if total > limit { target } else { total };
    for file in entries {
        if total <= goal {
            break;
        }
        if fs::remove_file(&file.path).is_ok() {
            removed.entries += 1;
            removed.bytes += file.bytes;
            total -= file.bytes;
            kept -= 1;
        }
    }
    // Others have counted meanwhile what they wrote.
    counters::update(&store.counters(), |c| {
        c.bytes = total.saturating_add(c.bytes.saturating_sub(before.bytes));
        c.puts = 0;
    });
    Removed { left: kept, left_bytes: total, ..removed }
}

/// Whether an entry is as it was written. One that cannot be read just now is left alone.
fn is_whole(file: &Found, key: Key) -> bool {
    fs::read(&file.path).map_or(true, |bytes| entry::open(key, bytes).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::of_bytes;

    fn store(limit: u64) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), limit);
        (dir, store)
    }

    /// Puts entries of 1000 bytes and makes each a minute older than the next.
    fn fill(store: &Store, names: &[&str]) {
        for (index, name) in names.iter().enumerate() {
            let key = of_bytes(name.as_bytes());
            store.put(key, &[0; 1000], false).unwrap();
            let age = Duration::from_secs(60 * (names.len() - index) as u64);
            let found = scan(store).into_iter().find(|f| f.key == Some(key)).unwrap();
            File::open(found.path).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
    }

    fn has(store: &Store, names: &[&str]) -> Vec<bool> {
        let keys: Vec<Option<Key>> = scan(store).into_iter().map(|f| f.key).collect();
        names.iter().map(|n| keys.contains(&Some(of_bytes(n.as_bytes())))).collect()
    }

    #[test]
    fn what_was_read_longest_ago_goes_first() {
        let (_dir, store) = store(1 << 20);
        fill(&store, &["a", "b", "c", "d"]);
        store.get(of_bytes(b"a")).unwrap();
        let removed = gc(&store, 2500, false).unwrap();
        assert_eq!((removed.entries, removed.left), (2, 2));
        assert_eq!(has(&store, &["a", "b", "c", "d"]), [true, false, false, true]);
        let (entries, bytes, counts) = stats(&store);
        assert_eq!((entries, bytes), (2, counts.bytes));
        assert_eq!(clear(&store).unwrap().entries, 2);
        assert_eq!(stats(&store), (0, 0, Counts::default()));
    }

    #[test]
    fn a_writer_keeps_the_limit() {
        let (_dir, store) = store(10_000);
        let names: Vec<String> = (0..50).map(|i| i.to_string()).collect();
        for name in &names {
            store.put(of_bytes(name.as_bytes()), &[0; 1000], false).unwrap();
            let (entries, bytes, _) = stats(&store);
            assert!(bytes <= 10_000 + 1080 && entries > 0, "{bytes}");
        }
    }

    #[test]
    fn leftovers_and_damaged_entries_go_and_other_files_stay() {
        let (dir, store) = store(1 << 20);
        fill(&store, &["a", "b"]);
        let folder = scan(&store)[0].path.parent().unwrap().to_owned();
        fs::write(scan(&store)[0].path.clone(), b"damaged").unwrap();
        fs::write(folder.join(".ttc-17-0"), b"half").unwrap();
        fs::write(folder.join("notes.txt"), b"mine").unwrap();
        fs::write(dir.path().join("thesis.tex"), b"mine").unwrap();
        trim(&store);
        assert!(folder.join(".ttc-17-0").exists(), "it may be another process's, which is not done");
        let removed = gc(&store, 1 << 20, true).unwrap();
        assert_eq!((removed.damaged, removed.leftovers, removed.entries, removed.left), (1, 1, 0, 1));
        clear(&store).unwrap();
        assert!(folder.join("notes.txt").exists() && dir.path().join("thesis.tex").exists());
        let nowhere = Store::new(dir.path().join("nowhere"), 1);
        assert_eq!((gc(&nowhere, 0, true).unwrap(), clear(&nowhere).unwrap()), Default::default());
    }
}
