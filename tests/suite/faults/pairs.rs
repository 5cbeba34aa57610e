//! The judgement of pairs of accesses, once the graph is there.

use std::collections::HashMap;

use ttc::emu::observe::{Access, By, Group, Kind, Memory};

use super::judge::{Court, Done, NONE, WarpId};

/// The most pairs for which the judge says what orders them.
const PATHS: usize = 256;

impl Court {
    /// Looks at all pairs of accesses to the same bytes. The result is one without an order, in words.
    pub(super) fn pairs(&mut self) -> Option<String> {
        let granule = self.accesses.iter().map(|a| granule(&a.access)).min().unwrap_or(1);
        let mut cells: HashMap<(u32, Memory, u64), Vec<u32>> = HashMap::new();
        for (n, a) in self.accesses.iter().enumerate() {
            let Access { memory, at, bytes, .. } = a.access;
            let cluster = if matches!(memory, Memory::Global(_)) { 0 } else { a.warp.0 };
            for g in at / granule..(at + u64::from(bytes)).div_ceil(granule) {
                cells.entry((cluster, memory, g)).or_default().push(n as u32);
            }
        }
        // Cells with the same accesses need one look.
        let mut kinds: Vec<Vec<u32>> = cells.into_values().collect();
        kinds.sort_unstable();
        kinds.dedup();
        for all in &kinds {
            for (i, b) in all.iter().enumerate() {
                // What is before the last write is ordered before it.
                for a in all[..i].iter().rev() {
                    if let Some(words) = self.pair(*a as usize, *b as usize) {
                        return Some(words);
                    }
                    let access = &self.accesses[*a as usize].access;
                    if access.kind == Kind::Write && !access.same {
                        break;
                    }
                }
            }
        }
        None
    }

    fn pair(&mut self, a: usize, b: usize) -> Option<String> {
        let (x, y) = (&self.accesses[a], &self.accesses[b]);
        let (kx, ky) = (x.access.kind, y.access.kind);
        if kx == Kind::Read && ky == Kind::Read || kx == Kind::Atomic && ky == Kind::Atomic {
            return None;
        }
        if kx == Kind::Write && y.access.same {
            return None;
        }
        let asynchronous = |d: &Done| matches!(d.access.by, By::Group(Group::Product | Group::Bulk) | By::Operation(_));
        // A generic write must reach an asynchronous access to shared memory through a proxy fence.
        let shared = matches!(x.access.memory, Memory::Shared(_));
        let fenced = shared && kx != Kind::Read && asynchronous(y) && !asynchronous(x);
        let own = x.warp == y.warp && x.lanes & y.lanes != 0 && x.to <= y.from;
        let known = x.end != NONE && y.start != NONE;
        let ordered = if fenced {
            known && self.graph.reaches_fenced(x.end, y.start)
        } else {
            own || known && self.graph.reaches(x.end, y.start)
        };
        if !ordered {
            let verb = |k: Kind| if k == Kind::Read { "read" } else { "write" };
            return Some(format!(
                "the {} of line {} by warp {} and the {} of line {} by warp {} have no order{}",
                verb(kx),
                x.line,
                x.warp.1,
                verb(ky),
                y.line,
                y.warp.1,
                if fenced { " with a proxy fence" } else { "" }
            ));
        }
        let crosses = |w: WarpId, from: usize, to: usize| {
            self.passed
                .get(&w)
                .is_some_and(|all| all.get(all.partition_point(|at| *at <= from)).is_some_and(|at| *at < to))
        };
        if self.paths < PATHS && (crosses(x.warp, x.from, y.from) || crosses(y.warp, x.from, y.from)) {
            self.paths += 1;
            if own && !fenced {
                self.reasons.insert(0);
            } else {
                let path = self.graph.path(x.end, y.start);
                self.reasons.extend(path.into_iter().chain(x.over));
            }
        }
        None
    }
}

/// The largest power of two, up to 16, that an access is made of.
fn granule(a: &Access) -> u64 {
    1 << (a.at | u64::from(a.bytes) | 16).trailing_zeros()
}
