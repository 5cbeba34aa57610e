//! The form of an entry, wherever it is stored: a header that vouches for the bytes behind it.
//!
//! | bytes | what they are |
//! |---|---|
//! | 8 | `ttcache` and the version of the form |
//! | 32 | the key, so that a file under a wrong name is no entry |
//! | 8 | the length of the payload, little-endian |
//! | 32 | the digest of all of the above and of the payload |
//! | … | the payload |
//!
//! An entry that was torn by a crash, cut off by a full disk, or changed by a bad one reads as no entry at all.

use super::key::{Digest, Key};

/// What every entry begins with.
const MAGIC: [u8; 8] = *b"ttcache\x01";

/// The size of the header in bytes.
const HEADER: usize = 8 + 32 + 8 + 32;

/// Makes an entry of a payload.
#[must_use]
pub(super) fn seal(key: Key, payload: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(HEADER + payload.len());
    entry.extend(MAGIC);
    entry.extend(key.0);
    entry.extend((payload.len() as u64).to_le_bytes());
    entry.extend(digest(key, payload).0);
    entry.extend(payload);
    entry
}

/// The payload of an entry of this key. It is `None` unless every byte is as [`seal`] made it.
#[must_use]
pub(super) fn open(key: Key, mut entry: Vec<u8>) -> Option<Vec<u8>> {
    let header = entry.get(..HEADER)?;
    let length = u64::from_le_bytes(header[40..48].try_into().ok()?);
    let payload = &entry[HEADER..];
    let whole = header[..8] == MAGIC
        && header[8..40] == key.0
        && length == payload.len() as u64
        && header[48..] == digest(key, payload).0;
    whole.then(|| entry.split_off(HEADER))
}

fn digest(key: Key, payload: &[u8]) -> Key {
    let mut digest = Digest::new("ttc 2026-11 cache: header and payload of an entry");
    digest.bytes(&MAGIC);
    digest.key_of(key);
    digest.bytes(payload);
    digest.key()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::key::of_bytes;

    #[test]
    fn an_entry_with_any_other_byte_or_length_is_none() {
        let (key, payload) = (of_bytes(b"key"), b"what was compiled".as_slice());
        let entry = seal(key, payload);
        assert_eq!(open(key, entry.clone()).as_deref(), Some(payload));
        assert_eq!(open(of_bytes(b"other"), entry.clone()), None);
        for at in 0..entry.len() {
            let mut flipped = entry.clone();
            flipped[at] ^= 1;
            assert_eq!(open(key, flipped), None, "byte {at}");
            assert_eq!(open(key, entry[..at].to_vec()), None, "cut at {at}");
        }
        assert_eq!(open(key, [&entry[..], b"x"].concat()), None);
        assert_eq!(open(key, seal(key, b"")).as_deref(), Some(b"".as_slice()));
    }
}
