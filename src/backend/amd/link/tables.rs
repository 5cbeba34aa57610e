//! The tables by which a loader finds symbols: which symbols it sees, their names, and two hash tables of them.
//!
//! System V's table is that of the "System V ABI", chapter 5. GNU's has a Bloom filter in front and needs the symbols
//! in the order of its buckets; `lld` and `ld` write the same one.

use super::elf::{ABSOLUTE, Object};

/// See the module documentation.
pub(super) struct Tables {
    /// The symbols that others see, by their number in the object, in the order of the table.
    pub(super) exported: Vec<usize>,
    /// Where the name of each of them starts in [`Tables::names`].
    pub(super) name_at: Vec<u32>,
    /// The names, each with a zero behind it.
    pub(super) names: Vec<u8>,
    pub(super) gnu_hash: Vec<u8>,
    pub(super) hash: Vec<u8>,
}

/// How many bits of a hash make the second bit of GNU's filter.
const SHIFT: u32 = 26;

impl Tables {
    /// `None` if a symbol is not defined here, or others see a number.
    pub(super) fn of(object: &Object<'_>) -> Option<Tables> {
        let mut found = vec![];
        let mut names = vec![0];
        for (i, symbol) in object.symbols.iter().enumerate().skip(1) {
            let is_seen = !symbol.is_local() && matches!(symbol.other & 3, 0 | 3);
            let has_place = (symbol.section as usize) < object.sections.len() && symbol.section != 0;
            let is_number = symbol.section == ABSOLUTE && !is_seen;
            if !has_place && !is_number {
                return None;
            }
            if is_seen {
                found.push((i, names.len() as u32, gnu_hash_of(symbol.name)));
                names.extend(symbol.name.bytes());
                names.push(0);
            }
        }
        let buckets = (found.len() as u32 / 4).max(1);
        found.sort_by_key(|&(_, name, hash)| (hash % buckets, name));
        let hashes: Vec<u32> = found.iter().map(|f| f.2).collect();
        let called: Vec<&str> = found.iter().map(|f| object.symbols[f.0].name).collect();
        Some(Tables {
            exported: found.iter().map(|f| f.0).collect(),
            name_at: found.iter().map(|f| f.1).collect(),
            names,
            gnu_hash: gnu_table(&hashes, buckets),
            hash: table(&called),
        })
    }
}

/// The hash of a name in GNU's table.
fn gnu_hash_of(name: &str) -> u32 {
    name.bytes().fold(5381, |h: u32, b| h.wrapping_mul(33).wrapping_add(b.into()))
}

/// The hash of a name in System V's table.
fn hash_of(name: &str) -> u32 {
    name.bytes().fold(0, |h: u32, b| {
        let h = (h << 4).wrapping_add(b.into());
        let high = h & 0xf000_0000;
        (h ^ high >> 24) & !high
    })
}

/// GNU's table for symbols with these hashes, which are sorted by bucket. The first of them is number 1.
fn gnu_table(hashes: &[u32], buckets: u32) -> Vec<u8> {
    let words = (hashes.len() as u64 * 12 / 64 + 1).next_power_of_two();
    let mut filter = vec![0u64; words as usize];
    let mut first = vec![0u32; buckets as usize];
    let mut chain = vec![];
    for (i, &hash) in hashes.iter().enumerate() {
        filter[(u64::from(hash) / 64 % words) as usize] |= 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64);
        let bucket = hash % buckets;
        let start = &mut first[bucket as usize];
        if *start == 0 {
            *start = i as u32 + 1;
        }
        // The lowest bit ends the bucket.
        let is_last = hashes.get(i + 1).is_none_or(|next| next % buckets != bucket);
        chain.push(hash & !1 | u32::from(is_last));
    }
    let head = [buckets, 1, words as u32, SHIFT];
    let filter = filter.iter().flat_map(|w| w.to_le_bytes());
    let tail = first.iter().chain(&chain).flat_map(|w| w.to_le_bytes());
    head.iter().flat_map(|w| w.to_le_bytes()).chain(filter).chain(tail).collect()
}

/// System V's table for these names. The first of them is number 1.
fn table(names: &[&str]) -> Vec<u8> {
    let count = names.len() + 1;
    let (mut first, mut next) = (vec![0u32; count], vec![0u32; count]);
    for (name, i) in names.iter().zip(1..) {
        let bucket = hash_of(name) as usize % count;
        next[i] = std::mem::replace(&mut first[bucket], i as u32);
    }
    let head = [count as u32; 2];
    head.iter().chain(&first).chain(&next).flat_map(|w| w.to_le_bytes()).collect()
}
