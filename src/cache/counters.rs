//! What a cache counts: hits, misses, and roughly how many bytes it holds.
//!
//! The counts stand in one small file, which is locked for each change. They are a help and no truth: a process that
//! waits too long for the lock goes on without counting, and a file that cannot be read counts as new. Whoever needs
//! the size for certain looks at the entries ([`super::evict`]).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::key::of_bytes;

/// What was counted since the cache was made or cleared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Compilations that were found as they were asked for.
    pub hits: u64,
    /// Compilations that were found behind the front end, since something changed that did not matter.
    pub later_hits: u64,
    pub misses: u64,
    /// The bytes of all entries, as far as that is known without a look at them.
    pub bytes: u64,
    /// How many entries were written since somebody last looked.
    pub puts: u64,
}

/// How long a process waits for another one that counts.
const PATIENCE: Duration = Duration::from_millis(50);

/// Bytes of the file: the numbers and a part of their digest.
const SIZE: usize = 5 * 8 + 8;

impl Counts {
    fn to_bytes(self) -> [u8; SIZE] {
        let Counts { hits, later_hits, misses, bytes, puts } = self;
        let mut out = [0; SIZE];
        for (slot, number) in out.chunks_exact_mut(8).zip([hits, later_hits, misses, bytes, puts]) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        let sum = of_bytes(&out[..SIZE - 8]);
        out[SIZE - 8..].copy_from_slice(&sum.0[..8]);
        out
    }

    /// The counts of a file. One that is damaged counts nothing, and asks for a look at the entries.
    fn from_bytes(bytes: &[u8]) -> Counts {
        let damaged = Counts { puts: u64::MAX, ..Counts::default() };
        if bytes.is_empty() {
            return Counts::default();
        }
        let Some((numbers, sum)) = bytes.split_last_chunk::<8>().filter(|(n, _)| n.len() == SIZE - 8) else {
            return damaged;
        };
        let mut each = numbers.chunks_exact(8).map(|c| c.try_into().map_or(0, u64::from_le_bytes));
        let mut next = || each.next().unwrap_or_default();
        let counts = Counts { hits: next(), later_hits: next(), misses: next(), bytes: next(), puts: next() };
        if of_bytes(numbers).0[..8] == *sum { counts } else { damaged }
    }
}

/// The present counts. There are none where nobody has counted.
#[must_use]
pub(super) fn read(path: &Path) -> Counts {
    std::fs::read(path).map_or_else(|_| Counts::default(), |bytes| Counts::from_bytes(&bytes))
}

/// Changes the counts, unless another process holds them too long, and gives what they are then.
pub(super) fn update(path: &Path, change: impl FnOnce(&mut Counts)) -> Option<Counts> {
    try_update(path, change).ok()
}

fn try_update(path: &Path, change: impl FnOnce(&mut Counts)) -> io::Result<Counts> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    lock(&file)?;
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)?;
    let mut counts = Counts::from_bytes(&bytes);
    change(&mut counts);
    file.rewind()?;
    file.write_all(&counts.to_bytes())?;
    Ok(counts)
}

/// Waits for the lock, which ends with the file.
fn lock(file: &File) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_micros(100));
            }
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_lose_no_count_and_a_damaged_file_asks_for_a_look() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counters");
        assert_eq!(read(&path), Counts::default());
        let counted: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..50).filter(|_| update(&path, |c| c.hits += 1).is_some()).count()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(read(&path).hits, counted as u64);
        assert_eq!(read(&path).puts, 0);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path), Counts { puts: u64::MAX, ..Counts::default() });
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(read(&path).puts, u64::MAX);
        assert_eq!(update(&path, |c| *c = Counts { misses: 2, ..Counts::default() }).unwrap().misses, 2);
        assert_eq!(read(&path).misses, 2);
    }
}
