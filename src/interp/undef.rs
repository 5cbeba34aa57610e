//! Elements that are undefined: those that a masked load without `other` leaves out, and all that is computed from
//! them.
//!
//! 1. Three kinds of operations give undefined elements ([`Undef`]): a load whose mask leaves elements out and that has
//!    no `other`, an atomic operation with such a mask, and a load through a block pointer past a checked boundary
//!    without padding. A value carries the marks only where there are some, so a run without them pays for one flag.
//! 2. `spread.rs` follows them through elementwise operations and products. Operations that move elements carry them
//!    along ([`Val::rearrange`]). Combining regions run on them as on any other value.
//! 3. A fault is where an undefined element matters: stored, in an address, in the mask of an access, in a condition,
//!    or in an atomic operation ([`Use`]). Elements that the use's own mask leaves out do not matter.
//!
//! Example: with `v = tl.load(p, mask=m)`, `tl.where(m, v, 0)` is defined and `tl.store(q, v, mask=m)` is fine.
//! `tl.store(q, tl.sum(v))` is a fault, because the sum mixes what was loaded with what was not.

use std::sync::Arc;

use super::value::{Lanes, Val};
use crate::ir::Op;

/// Which elements of a value are undefined.
#[derive(Clone, Debug)]
pub(crate) struct Undef {
    /// One mark for each lane, or a single one for all.
    pub(crate) lanes: Vec<bool>,
    /// The access that left them out.
    pub(crate) origin: Op,
    /// The first reduction, scan or product that combined them with defined ones.
    pub(crate) mixed: Option<Op>,
}

impl Undef {
    /// Makes the marks, or `None` where all elements are defined.
    pub(crate) fn new(lanes: Vec<bool>, origin: Op, mixed: Option<Op>) -> Option<Arc<Undef>> {
        lanes.contains(&true).then(|| Arc::new(Undef { lanes, origin, mixed }))
    }

    #[inline]
    pub(crate) fn at(&self, lane: usize) -> bool {
        self.lanes.get(lane).or(self.lanes.first()).copied().unwrap_or(false)
    }

    /// The marks of the elements in another order, as [`Val::rearrange`] takes it.
    pub(crate) fn rearrange(&self, n: usize, source: impl Fn(usize) -> usize) -> Option<Arc<Undef>> {
        let lanes =
            if self.lanes.len() == 1 { self.lanes.clone() } else { (0..n).map(|i| self.at(source(i))).collect() };
        Undef::new(lanes, self.origin, self.mixed)
    }

    /// The number of marks that a value has; one stands for all lanes.
    pub(crate) fn len(v: Option<&Arc<Undef>>) -> usize {
        v.map_or(1, |u| u.lanes.len())
    }
}

/// Whether an element of a value with these marks is undefined.
pub(crate) fn at(u: Option<&Arc<Undef>>, lane: usize) -> bool {
    u.is_some_and(|u| u.at(lane))
}

/// The use of an element, when an undefined one there is a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Stored,
    Address,
    Mask,
    Condition,
    Bound,
    Index,
    Atomic,
}

impl Use {
    /// What happens to the element, as a diagnostic says it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Use::Stored => "an undefined element is stored",
            Use::Address => "an undefined element is part of an address that is accessed",
            Use::Mask => "an undefined element decides whether an element is accessed",
            Use::Condition => "an undefined element decides a condition",
            Use::Bound => "an undefined element is the bound of a loop",
            Use::Index => "an undefined element chooses what is gathered or counted",
            Use::Atomic => "an undefined element goes into an atomic operation",
        }
    }
}

/// The marks of lanes that come one after the other from several values.
pub(crate) fn concat(parts: &[&Val], n: usize, source: impl Fn(usize) -> (usize, usize)) -> Option<Arc<Undef>> {
    let first = parts.iter().find_map(|v| v.undef.as_ref())?;
    let lane = |i: usize| {
        let (part, lane) = source(i);
        at(parts[part].undef.as_ref(), lane)
    };
    Undef::new((0..n).map(lane).collect(), first.origin, first.mixed)
}

/// The first lane for which the condition holds and that is defined. Nothing is said about the others.
pub(crate) fn position(v: &Val, holds: impl Fn(u64) -> bool) -> Option<usize> {
    let Some(u) = &v.undef else { return v.lanes.position(holds) };
    let n = v.lanes.stored().max(u.lanes.len());
    (0..n).find(|&i| !u.at(i) && holds(v.lanes.get(i)))
}

/// Whether one value stands for all lanes. A splat with undefined elements has its marks for each lane.
pub(crate) fn is_uniform(v: &Val) -> bool {
    !matches!(v.lanes, Lanes::Full(_)) && v.exact.is_none() && v.undef.as_ref().is_none_or(|u| u.lanes.len() == 1)
}
