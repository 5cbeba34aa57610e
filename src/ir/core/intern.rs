//! The interner: equal data is stored once and for the life of the process, and a handle to it is `Copy`.
//!
//! Types, attributes and locations are few (hundreds a kernel), compared often and passed everywhere. So handles are
//! references to `'static` data: equality is a pointer comparison, reading needs no context, and threads share them.
//! Nothing iterates over the interner, so its order never reaches the output. The ordering of handles is that of the
//! data, hence deterministic.

use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::hash::Set;

/// A set of `'static` values of one type.
pub struct Interner<T: 'static>(LazyLock<Mutex<Set<&'static T>>>);

impl<T: Hash + Eq> Interner<T> {
    #[must_use]
    pub const fn new() -> Interner<T> {
        Interner(LazyLock::new(|| Mutex::new(Set::default())))
    }

    /// The one stored copy of `data`.
    pub fn intern(&self, data: T) -> &'static T {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&found) = set.get(&data) {
            return found;
        }
        let stored: &'static T = Box::leak(Box::new(data));
        set.insert(stored);
        stored
    }
}

impl<T: Hash + Eq> Default for Interner<T> {
    fn default() -> Self {
        Interner::new()
    }
}

/// Makes `$handle` a `Copy` reference to an interned `$data`, with pointer equality and hash, the data's order, and
/// `Deref` to the data.
macro_rules! interned {
    ($(#[$doc:meta])* $handle:ident => $data:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $handle(&'static $data);

        impl $handle {
            /// The handle for this data.
            #[must_use]
            pub fn new(data: $data) -> $handle {
                static TABLE: $crate::ir::core::intern::Interner<$data> = $crate::ir::core::intern::Interner::new();
                $handle(TABLE.intern(data))
            }

            /// The data, for `match`.
            #[must_use]
            pub fn data(self) -> &'static $data {
                self.0
            }
        }
        impl std::ops::Deref for $handle {
            type Target = $data;
            fn deref(&self) -> &$data {
                self.0
            }
        }
        impl PartialEq for $handle {
            fn eq(&self, other: &$handle) -> bool {
                std::ptr::eq(self.0, other.0)
            }
        }
        impl Eq for $handle {}
        impl std::hash::Hash for $handle {
            fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
                std::ptr::from_ref(self.0).hash(h);
            }
        }
        impl PartialOrd for $handle {
            fn partial_cmp(&self, other: &$handle) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $handle {
            fn cmp(&self, other: &$handle) -> std::cmp::Ordering {
                if self == other { std::cmp::Ordering::Equal } else { self.0.cmp(other.0) }
            }
        }
        impl std::fmt::Debug for $handle {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.0, f)
            }
        }
    };
}
pub(crate) use interned;

interned!(
    /// An interned string: attribute keys, symbols, file names, value names.
    Name => String
);

impl Name {
    #[must_use]
    pub fn of(text: &str) -> Name {
        Name::new(text.to_owned())
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&str> for Name {
    fn from(s: &str) -> Name {
        Name::of(s)
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
