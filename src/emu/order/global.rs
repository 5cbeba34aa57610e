//! Global memory, which all clusters of a launch share.
//!
//! Blocks of a launch have no order but that of atomics and fences. A granule remembers its last write and two reads of
//! different clusters, which is enough to find a write that does not know some read: one of the two is not of the
//! writer's own cluster.

use super::maps::Maps;
use super::{Access, Home, Order, Places, What, Who};
use crate::emu::decode::op::Scope;

/// An access, with its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) cluster: u32,
    pub(super) access: Access,
}

const NONE: Remote = Remote { cluster: 0, access: Access::NONE };

#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Remote,
    reads: [Remote; 2],
}

/// The granules of a page.
const PAGE: usize = 1 << 12;

type Page = Box<[Cell]>;

/// What all clusters share: the shadow of global memory, and the clocks of places that synchronise.
#[derive(Default)]
pub(crate) struct Everywhere {
    /// By buffer and page. Pages that nobody has touched are not there.
    pages: Vec<Vec<Option<Page>>>,
    pub(crate) places: Places,
    pub(crate) maps: Maps,
    shift: u32,
}

/// An earlier access that conflicts: its cluster, itself, and whether it wrote.
pub(crate) type Conflict = (u32, Access, bool);

impl Everywhere {
    pub(crate) fn new(granule: u32, narrow: bool) -> Everywhere {
        Everywhere { shift: granule.trailing_zeros(), places: Places::new(narrow), ..Everywhere::default() }
    }

    /// Looks at an access and remembers it.
    pub(crate) fn access(
        &mut self,
        order: &Order,
        cluster: u32,
        (buffer, at, size): (usize, u64, u64),
        who: &Who,
        what: What,
    ) -> Option<Conflict> {
        let mut conflict = None;
        let (first, last) = (at >> self.shift, (at + size - 1) >> self.shift);
        let mut granule = first;
        while granule <= last {
            let page = granule / PAGE as u64;
            let end = last.min((page + 1) * PAGE as u64 - 1);
            let empty = Cell { write: NONE, reads: [NONE; 2] };
            let cells = page_at(&mut self.pages, buffer, page as usize)
                .get_or_insert_with(|| vec![empty; PAGE].into_boxed_slice());
            let range = (granule % PAGE as u64) as usize..=(end % PAGE as u64) as usize;
            for cell in &mut cells[range] {
                let found = cell.conflict(order, cluster, who, what);
                cell.remember(cluster, who, what);
                conflict = conflict.or(found);
            }
            granule = end + 1;
        }
        conflict
    }
}

/// The place of a page.
#[inline]
fn page_at(pages: &mut Vec<Vec<Option<Page>>>, buffer: usize, page: usize) -> &mut Option<Page> {
    if pages.len() <= buffer {
        pages.resize_with(buffer + 1, Vec::new);
    }
    let pages = &mut pages[buffer];
    if pages.len() <= page {
        pages.resize_with(page + 1, || None);
    }
    &mut pages[page]
}

/// Whether an access of a cluster knows an earlier one.
#[inline]
pub(super) fn knows(order: &Order, cluster: u32, who: &Who, other: &Remote, written: bool) -> bool {
    if other.cluster == cluster {
        // Global memory has one order for both proxies here.
        let who = Who { proxy: super::Proxy::Generic, ..*who };
        return order.knows(&who, &other.access, written);
    }
    order.known(who.warp, who.lane).of(other.cluster, u32::from(other.access.agent)) >= other.access.time
}

/// Whether two atomic accesses are atomic for each other: the scope of each includes the other's thread.
fn atomic_for_both(order: &Order, cluster: u32, who: &Who, other: &Remote, scope: Scope) -> bool {
    let here = Home { cluster, block: order.block_of(who.agent) };
    let there = Home { cluster: other.cluster, block: order.block_of(u32::from(other.access.agent)) };
    here.includes(who.scope, there) && there.includes(scope, here)
}

impl Cell {
    #[inline]
    fn conflict(&self, order: &Order, cluster: u32, who: &Who, what: What) -> Option<Conflict> {
        let w = &self.write;
        let both_atomic =
            what == What::Atomic && w.access.atomic.is_some_and(|s| atomic_for_both(order, cluster, who, w, s));
        if !w.access.is_none() && !both_atomic && !knows(order, cluster, who, w, true) {
            return Some((w.cluster, w.access, true));
        }
        if what == What::Read {
            return None;
        }
        let unknown = |r: &&Remote| !r.access.is_none() && !knows(order, cluster, who, r, false);
        self.reads.iter().find(unknown).map(|r| (r.cluster, r.access, false))
    }

    #[inline]
    fn remember(&mut self, cluster: u32, who: &Who, what: What) {
        let new = Remote { cluster, access: Access::new(who, what) };
        if what != What::Read {
            *self = Cell { write: new, reads: [NONE; 2] };
            return;
        }
        let [first, second] = &mut self.reads;
        if first.access.is_none() || first.cluster == cluster && first.access.agent == new.access.agent {
            *first = new;
        } else {
            *second = new;
        }
    }
}
