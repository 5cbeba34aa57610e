//! Finds races between program instances: who has touched what, and who is ordered after whom.
//!
//! Two accesses race when they come from different programs of a launch, touch the same cell, at least one of them is a
//! plain store, and nothing orders them.
//!
//! 1. A buffer is divided into cells of the smallest size at which the kernel accesses memory. A cell is one word. It
//!    holds the program that last stored to it plainly (`writer`) and the one that last accessed it in any way (`user`,
//!    or [`MANY`] for several unordered ones).
//! 2. Any access by P races with a `writer` Q ≠ P that is not ordered before P. A plain store races with such a `user`
//!    as well.
//! 3. P is ordered after Q if P acquired, through a scalar atomic with acquire semantics, an address that Q (or
//!    somebody ordered after Q) had released. A kernel with atomics runs its programs one after the other, so all that
//!    Q did counts as done before: a lock is recognised, and what Q does after its last release is not told apart.
//!
//! 4. Where programs run in order, a second word of each cell says which operations those two accesses were, for the
//!    report. In parallel it would depend on timing; the launch is repeated in order when there is something to report.
//!
//! Example: a cell holds writer 3 and user 3. Program 5 loads it. 3 is not 5 and is not ordered before 5, so this is a
//! race.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::memory::Memory;
use crate::ir::Op;
use crate::ir::core::entity::Entity;

/// Stands in a cell that several programs have accessed that are not ordered.
const MANY: u32 = u32::MAX;
/// Stands in a cell that no program has accessed. A program with linear id `p` is `p + 1`.
const NOBODY: u32 = 0;

/// How an access touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// The cells of a page. It is made when one of them is first touched, because a launch may use little of its memory.
type Page = OnceLock<Box<[AtomicU64]>>;
const PAGE_BITS: usize = 12;

/// The cells of all buffers.
pub(crate) struct History {
    buffers: Vec<Vec<Page>>,
    /// The logarithm to base 2 of the bytes in a cell.
    shift: u32,
    /// Whether programs run at the same time.
    parallel: bool,
}

/// The other party of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conflict {
    /// Its linear program id, or `None` when it is one of several.
    pub(crate) other: Option<u32>,
    /// Whether the other access is the plain store.
    pub(crate) other_wrote: bool,
    /// The operation that made the other access, where programs run in order.
    pub(crate) other_op: Option<Op>,
}

impl History {
    pub(crate) fn new(memory: &Memory, cell: usize, parallel: bool) -> History {
        let shift = cell.trailing_zeros();
        let pages = |len: usize| (0..len.div_ceil(cell << PAGE_BITS)).map(|_| Page::new()).collect();
        History { buffers: memory.buffers.iter().map(|b| pages(b.len)).collect(), shift, parallel }
    }

    /// Records an access by a program to the bytes `offset..offset + size` of a buffer.
    #[inline]
    pub(crate) fn access(
        &self,
        buffer: usize,
        offset: usize,
        size: usize,
        (access, op): (AccessKind, Op),
        program: u32,
        before: &Ranges,
    ) -> Result<(), Conflict> {
        let (first, last) = (offset >> self.shift, (offset + size - 1) >> self.shift);
        for index in first..=last {
            let words = if self.parallel { 1 } else { 2 };
            let page = self.buffers[buffer][index >> PAGE_BITS]
                .get_or_init(|| (0..words << PAGE_BITS).map(|_| AtomicU64::new(0)).collect());
            let at = index & ((1 << PAGE_BITS) - 1);
            let cell = &page[at];
            let mut old = cell.load(Relaxed);
            loop {
                let new = step(old, access, program + 1, before).map_err(|c| self.with_op(c, page, at))?;
                if new == old {
                    break;
                }
                if !self.parallel {
                    cell.store(new, Relaxed);
                    note_op(&page[at | 1 << PAGE_BITS], access, op);
                    break;
                }
                match cell.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn with_op(&self, conflict: Conflict, page: &[AtomicU64], at: usize) -> Conflict {
        let word = page.get(at | 1 << PAGE_BITS).filter(|_| !self.parallel).map(|w| w.load(Relaxed));
        let half = |w: u64| if conflict.other_wrote { w >> 32 } else { w & u64::from(u32::MAX) };
        Conflict { other_op: word.map(|w| Op::new(half(w) as usize)), ..conflict }
    }
}

/// Notes the operation of an access. The upper half of the word is for plain stores, the lower one for any access.
#[inline]
fn note_op(word: &AtomicU64, access: AccessKind, op: Op) {
    let op = op.index() as u64;
    let writer = if access == AccessKind::Write { op << 32 } else { word.load(Relaxed) & !u64::from(u32::MAX) };
    word.store(writer | op, Relaxed);
}

/// The cell after an access by `me`.
#[inline]
fn step(cell: u64, access: AccessKind, me: u32, before: &Ranges) -> Result<u64, Conflict> {
    let (writer, user) = ((cell >> 32) as u32, cell as u32);
    if writer != NOBODY && writer != me && !before.contains(writer - 1) {
        return Err(Conflict { other: Some(writer - 1), other_wrote: true, other_op: None });
    }
    let alone = user == NOBODY || user == me || user != MANY && before.contains(user - 1);
    if access == AccessKind::Write && !alone {
        return Err(Conflict { other: (user != MANY).then(|| user - 1), other_wrote: false, other_op: None });
    }
    let writer = if access == AccessKind::Write { me } else { writer };
    Ok(u64::from(writer) << 32 | u64::from(if alone { me } else { MANY }))
}

/// A set of program ids as sorted, disjoint, half-open ranges.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let at = self.0.partition_point(|&(lo, _)| lo <= id);
        at > 0 && id < self.0[at - 1].1
    }

    pub(crate) fn insert(&mut self, id: u32) {
        self.union(&Ranges(vec![(id, id + 1)]));
    }

    pub(crate) fn union(&mut self, other: &Ranges) {
        let mut all = std::mem::take(&mut self.0);
        all.extend_from_slice(&other.0);
        all.sort_unstable();
        for (lo, hi) in all {
            match self.0.last_mut() {
                Some(last) if lo <= last.1 => last.1 = last.1.max(hi),
                _ => self.0.push((lo, hi)),
            }
        }
    }
}

/// What has been released at each address: the programs that an acquire there is ordered after.
#[derive(Default)]
pub(crate) struct Releases(BTreeMap<u64, Ranges>);

impl Releases {
    pub(crate) fn acquire(&self, address: u64, before: &mut Ranges) {
        if let Some(released) = self.0.get(&address) {
            before.union(released);
        }
    }

    pub(crate) fn release(&mut self, address: u64, program: u32, before: &Ranges) {
        let entry = self.0.entry(address).or_default();
        entry.union(before);
        entry.insert(program);
    }
}
