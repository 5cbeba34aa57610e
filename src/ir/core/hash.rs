//! Hash tables for keys that the compiler makes itself: entities, interned handles, operation kinds, short strings.
//!
//! The standard library's hash resists keys that are chosen to collide. A compiler of its user's own kernels has no
//! need of that, and it took a fifth of the time of all passes. [`Hasher`] instead multiplies and adds:
//! `h = (h + word) * K` for each word, where K is odd and has its bits spread evenly, so each bit of a key reaches all
//! bits above it. [`finish`](std::hash::Hasher::finish) rotates those high bits down, since tables take the lowest bits
//! for the bucket and the highest for the first comparison.
//!
//! The hash has no seed, so a table's order is the same in each run. It is still no order to iterate in, because
//! pointers are among the keys.

use std::hash::BuildHasherDefault;

/// A hash map with [`Hasher`].
pub type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Hasher>>;
/// A hash set with [`Hasher`].
pub type Set<K> = std::collections::HashSet<K, BuildHasherDefault<Hasher>>;

/// 2^64 divided by the golden ratio, made odd.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The state of one hash.
#[derive(Clone, Copy, Default, Debug)]
pub struct Hasher(u64);

impl Hasher {
    fn add(&mut self, word: u64) {
        self.0 = self.0.wrapping_add(word).wrapping_mul(SPREAD);
    }
}

impl std::hash::Hasher for Hasher {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    /// Takes eight bytes at a time. The rest goes in one word with its length, so that `"a"` and `"a\0"` differ.
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|w| self.add(u64::from_le_bytes(*w)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
    }

    fn write_u8(&mut self, n: u8) {
        self.add(u64::from(n));
    }

    fn write_u16(&mut self, n: u16) {
        self.add(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.add(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.add(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.add(n as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn hash(key: impl Hash) -> u64 {
        let mut hasher = Hasher::default();
        key.hash(&mut hasher);
        std::hash::Hasher::finish(&hasher)
    }

    #[test]
    fn keys_of_a_table_do_not_share_buckets() {
        // Entities and addresses are multiples of a power of two. Random keys leave 37 % of 4096 buckets empty.
        for step in [1_u64, 8, 64, 4096] {
            let used: std::collections::BTreeSet<u64> = (0..4096).map(|i| hash(i * step) % 4096).collect();
            assert!(used.len() > 2300, "step {step}: {} buckets of 4096", used.len());
        }
    }

    #[test]
    fn text_counts_by_its_bytes_and_length() {
        let words = ["", "a", "b", "a\0", "tt.load", "tt.store", "arith.addi", "arith.addf", "12345678", "123456789"];
        let hashes: std::collections::BTreeSet<u64> = words.iter().map(hash).collect();
        assert_eq!(hashes.len(), words.len());
    }
}
