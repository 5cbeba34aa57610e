//! Shadow memory: for each granule the last write, and the reads since.

use super::{Order, What, Who};
use crate::emu::decode::op::Scope;

/// An access that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) time: u32,
    pub(crate) code: u32,
    pub(crate) agent: u16,
    /// [`SEVERAL`] if several lanes of a warp did it.
    pub(crate) lane: u8,
    /// Of an atomic access, who it is atomic for.
    pub(crate) atomic: Option<Scope>,
}

/// No single lane.
pub(crate) const SEVERAL: u8 = 0xff;
const NOBODY: u16 = u16::MAX;

impl Access {
    pub(crate) const NONE: Access = Access { time: 0, code: 0, agent: NOBODY, lane: 0, atomic: None };

    pub(crate) fn is_none(&self) -> bool {
        self.agent == NOBODY
    }

    pub(crate) fn new(who: &Who, what: What) -> Access {
        let atomic = (what == What::Atomic).then_some(who.scope);
        Access { time: who.time, code: who.code, agent: who.agent as u16, lane: who.lane, atomic }
    }
}

/// What happened to a granule.
#[derive(Clone, Debug)]
struct Cell {
    write: Access,
    read: Access,
    /// Reads by others than the first reader.
    more: Vec<Access>,
}

/// The shadow of a stretch of memory.
pub(crate) struct Shadow {
    cells: Vec<Cell>,
    /// The bits by which an address is shifted to get its cell.
    shift: u32,
}

/// An earlier access that conflicts, and whether it wrote.
pub(crate) type Conflict = (Access, bool);

impl Shadow {
    pub(crate) fn new(bytes: usize, granule: u32) -> Shadow {
        let shift = granule.trailing_zeros();
        let cell = Cell { write: Access::NONE, read: Access::NONE, more: vec![] };
        Shadow { cells: vec![cell; bytes.div_ceil(granule as usize)], shift }
    }

    /// Looks at an access to `at..at + size`, and remembers it. The result is a conflict that it has with an earlier
    /// one that it does not know.
    pub(crate) fn access(
        order: &mut Order,
        block: usize,
        at: u32,
        size: u32,
        who: &Who,
        what: What,
    ) -> Option<Conflict> {
        // The shadow is taken out, so that the clocks can be read while it changes.
        let mut shadow = std::mem::replace(&mut order.shared[block], Shadow { cells: vec![], shift: 0 });
        let (first, last) = (at >> shadow.shift, (at + size - 1) >> shadow.shift);
        let mut conflict = None;
        // A wide access finds the same earlier one in its granules.
        let mut known = Access::NONE;
        for cell in &mut shadow.cells[first as usize..=last as usize] {
            if what == What::Read && !known.is_none() && cell.write == known {
                cell.remember(order, who, what);
                continue;
            }
            let found = cell.conflict(order, who, what);
            if found.is_none() {
                known = cell.write;
            }
            cell.remember(order, who, what);
            conflict = conflict.or(found);
        }
        order.shared[block] = shadow;
        conflict
    }

    /// Sets the last write of `at..at + size` without a look at what was there: a copy lands.
    pub(crate) fn land(&mut self, at: u32, size: u32, who: &Who) {
        let (first, last) = (at >> self.shift, (at + size - 1) >> self.shift);
        for cell in &mut self.cells[first as usize..=last as usize] {
            cell.write = Access::new(who, What::Write);
        }
    }
}

impl Cell {
    #[inline]
    fn conflict(&self, order: &Order, who: &Who, what: What) -> Option<Conflict> {
        let both_atomic = what == What::Atomic && self.write.atomic.is_some();
        if !self.write.is_none() && !both_atomic && !order.knows(who, &self.write, true) {
            return Some((self.write, true));
        }
        if what == What::Read {
            return None;
        }
        let unknown = |a: &&Access| !a.is_none() && !order.knows(who, a, false);
        std::iter::once(&self.read).chain(&self.more).find(unknown).map(|a| (*a, false))
    }

    #[inline]
    fn remember(&mut self, order: &Order, who: &Who, what: What) {
        let new = Access::new(who, what);
        if what != What::Read {
            self.write = new;
            self.read = Access::NONE;
            self.more.clear();
            return;
        }
        if covers(order, who, &mut self.read, new) {
            return;
        }
        if !self.more.iter_mut().any(|old| covers(order, who, old, new)) {
            self.more.push(new);
        }
    }
}

/// Replaces an old read by a new one, if nothing is lost by it.
#[inline]
fn covers(order: &Order, who: &Who, old: &mut Access, new: Access) -> bool {
    if old.is_none() {
        *old = new;
        return true;
    }
    if old.agent == new.agent && old.time == new.time {
        let lane = if old.lane == new.lane { new.lane } else { SEVERAL };
        *old = Access { lane, ..new };
        return true;
    }
    let known = old.agent == new.agent && old.time < new.time || order.knows(who, old, false);
    if known {
        *old = new;
    }
    known
}
