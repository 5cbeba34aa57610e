//! Which calls led to a line of an inlined function.
//!
//! PTX and the line table of a cubin keep the innermost place only. LLVM IR, from which both are made, has the whole
//! chain of each place; where a helper was called several times, its lines lead to all of these calls.

use std::collections::{BTreeMap, BTreeSet};

/// A line of a file.
pub(super) type Place = (String, u32);

/// The lines that called what a line belongs to.
#[derive(Default, Debug)]
pub(super) struct Frames {
    callers: BTreeMap<Place, BTreeSet<Place>>,
}

impl Frames {
    /// Learns from chains of places, the innermost first.
    pub(super) fn of<'a>(chains: impl Iterator<Item = &'a [Place]>) -> Frames {
        let mut frames = Frames::default();
        for chain in chains {
            if let Some((inner, outer)) = chain.split_first() {
                frames.callers.entry(inner.clone()).or_default().extend(outer.iter().cloned());
            }
        }
        frames
    }

    /// A place with all lines that may have led to it.
    #[must_use]
    pub(super) fn with_callers(&self, inner: &Place) -> Vec<Place> {
        let callers = self.callers.get(inner).into_iter().flatten().filter(|c| *c != inner).cloned();
        std::iter::once(inner.clone()).chain(callers).collect()
    }
}
