//! The name of an entry: a digest of everything that its bytes depend on.
//!
//! A [`Digest`] takes parts of known kinds in a known order, each with its length, so that no two lists of parts run
//! into each other: `text("ab")` and `text("a"), text("b")` give different keys. The context of a digest is a sentence
//! of its own for each kind of entry, so that keys of different kinds cannot meet either.
//!
//! ```
//! # use ttc::cache::Digest;
//! let key = |parts: &[&str]| {
//!     let mut digest = Digest::new("an example of keys");
//!     parts.iter().for_each(|p| digest.text(p));
//!     digest.key()
//! };
//! assert_eq!(key(&["a", "b"]), key(&["a", "b"]));
//! assert_ne!(key(&["a", "b"]), key(&["ab"]));
//! ```

use std::fmt;
use std::str::FromStr;

/// Names an entry. It prints as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Key, ()> {
        blake3::Hash::from_hex(text).map(|h| Key(*h.as_bytes())).map_err(drop)
    }
}

/// Collects what a key depends on.
pub struct Digest(blake3::Hasher);

impl Digest {
    /// Starts a key. `context` is a constant sentence that says what the key is for.
    #[must_use]
    pub fn new(context: &'static str) -> Digest {
        Digest(blake3::Hasher::new_derive_key(context))
    }

    pub fn number(&mut self, n: u64) {
        self.0.update(&n.to_le_bytes());
    }

    pub fn flag(&mut self, flag: bool) {
        self.number(u64::from(flag));
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    pub fn key_of(&mut self, key: Key) {
        self.0.update(&key.0);
    }

    /// Takes a value that may be absent.
    pub fn option<T>(&mut self, value: Option<T>, take: impl FnOnce(&mut Digest, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            take(self, value);
        }
    }

    /// Takes a list, whose length counts.
    pub fn list<T>(&mut self, values: impl ExactSizeIterator<Item = T>, mut take: impl FnMut(&mut Digest, T)) {
        self.number(values.len() as u64);
        values.for_each(|v| take(self, v));
    }

    /// The key of what was taken.
    #[must_use]
    pub fn key(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}

/// The digest of the contents of a file or of a text.
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> Key {
    Key(*blake3::hash(bytes).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let key = |take: &dyn Fn(&mut Digest)| {
            let mut digest = Digest::new("a test of keys");
            take(&mut digest);
            digest.key()
        };
        let keys = [
            key(&|d| d.text("ab")),
            key(&|d| ["a", "b"].iter().for_each(|t| d.text(t))),
            key(&|d| ["ab", ""].iter().for_each(|t| d.text(t))),
            key(&|d| d.list(["ab"].iter(), |d, t| d.text(t))),
            key(&|d| d.list(["a", "b"].iter(), |d, t| d.text(t))),
            key(&|d| d.option(None, Digest::text)),
            key(&|_| {}),
        ];
        let different: std::collections::BTreeSet<Key> = keys.iter().copied().collect();
        assert_eq!(different.len(), keys.len());
        assert_ne!(Digest::new("one").key(), Digest::new("two").key());
        assert_eq!(keys[0].to_string().parse(), Ok(keys[0]));
        assert_eq!("ab".parse::<Key>(), Err(()));
    }
}
