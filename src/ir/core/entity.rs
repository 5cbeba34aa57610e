//! Entities: u32 newtypes that index arenas and are never reused.
//!
//! An entity prints as its kind and number (`op3`, `v7`), which panics and debug dumps show. IR text names values
//! otherwise.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A key of an [`Arena`].
pub trait Entity: Copy {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        impl Entity for $name {
            fn new(index: usize) -> $name {
                $name(u32::try_from(index).expect("an arena holds fewer than 2^32 entities"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

entity!(
    /// An operation.
    Op,
    "op"
);
entity!(
    /// An SSA value: the result of an operation or the argument of a block.
    Value,
    "v"
);
entity!(
    /// A list of operations with arguments.
    Block,
    "block"
);
entity!(
    /// A list of blocks owned by an operation.
    Region,
    "region"
);

/// A growing table of `T` with one entry for each entity. Erased entities keep their slot.
#[derive(Clone)]
pub struct Arena<K, T> {
    items: Vec<T>,
    key: PhantomData<K>,
}

impl<K: Entity, T> Arena<K, T> {
    #[must_use]
    pub fn new() -> Arena<K, T> {
        Arena { items: Vec::new(), key: PhantomData }
    }

    pub fn push(&mut self, item: T) -> K {
        self.items.push(item);
        K::new(self.items.len() - 1)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<K: Entity, T> Default for Arena<K, T> {
    fn default() -> Self {
        Arena::new()
    }
}

impl<K: Entity, T> Index<K> for Arena<K, T> {
    type Output = T;
    fn index(&self, k: K) -> &T {
        &self.items[k.index()]
    }
}

impl<K: Entity, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, k: K) -> &mut T {
        &mut self.items[k.index()]
    }
}
