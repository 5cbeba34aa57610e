//! A second opinion on a run: is every pair of conflicting accesses ordered?
//!
//! It shares nothing with the detectors but the events. Each lane is on its own: an event of some lanes orders what
//! these lanes did, and nothing of the others. The events become a graph ([`Graph`]), whose edges are the order of each
//! lane's program, barriers, completed rounds of an `mbarrier`, and what acquires and releases. An access starts behind
//! the last node of its lane, and is over at the lane's next node; one that is asynchronous is over where something
//! waits for it. Of two accesses to the same bytes, one must be over at a node that reaches the start of the other.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use ttc::emu::observe::{Access, Act, By, Event, Group, Kind, Meeting, Memory};

use super::graph::{Graph, Role};
use super::registers::Registers;

/// No node: an access that nothing waits for, or the start of a launch.
pub(super) const NONE: u32 = u32::MAX;

/// A warp, by its cluster.
pub(super) type WarpId = (u32, u32);

/// An access with its place in the graph.
pub(super) struct Done {
    pub(super) access: Access,
    pub(super) warp: WarpId,
    pub(super) lanes: u32,
    pub(super) line: u32,
    /// The node that it starts behind, and the one at which it is over.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The numbers of the events at which it starts and at which its own lanes know that it is over.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The line of the wait that ends an asynchronous access.
    pub(super) over: Option<u32>,
}

/// Asynchronous operations of a lane, or of a warp for products.
#[derive(Default)]
pub(super) struct Groups {
    open: Vec<usize>,
    closed: VecDeque<Vec<usize>>,
    /// Closed groups whose reads are over.
    read: usize,
}

#[derive(Default)]
pub(super) struct Lane {
    last: Option<u32>,
    /// Accesses that are over at the lane's next node.
    ending: Vec<usize>,
    /// Nodes that come before the lane's next node.
    found: Vec<u32>,
    copies: Groups,
    bulks: Groups,
    /// The last fence, and what relaxed reads before the next one found.
    fence: Option<u32>,
    relaxed: Vec<u32>,
}

pub(super) struct WarpState {
    lanes: Vec<Lane>,
    products: Groups,
    pub(super) registers: Registers,
}

/// A round of a meeting: who arrived, and the node once it is complete.
#[derive(Default)]
pub(super) struct Round {
    arrived: Vec<u32>,
    operations: Vec<usize>,
    node: Option<u32>,
}

/// What the judge says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Two accesses without an order, or a register in flight, in words.
    Broken(String),
    /// All is ordered. For what crosses the line in question: the lines that order it; empty if nothing crosses it.
    Ordered(BTreeSet<u32>),
    /// The run is too large to be judged.
    TooLarge,
}

/// Judges a run. `line` is where a fault was planted.
///
/// Clusters that never synchronise with each other have no order whatever is planted, so each is judged alone.
pub(crate) fn judge(events: &[Event], line: u32) -> Verdict {
    let meets = |e: &Event| match e.act {
        Act::Fence => true,
        Act::Synchronise { acquires, releases, .. } => acquires || releases,
        _ => false,
    };
    let together = events.iter().any(meets);
    let clusters: BTreeSet<u32> = events.iter().map(|e| if together { 0 } else { e.cluster }).collect();
    let mut reasons = BTreeSet::new();
    for cluster in clusters {
        match judge_alone(events.iter().enumerate().filter(|(_, e)| together || e.cluster == cluster), line) {
            Verdict::Ordered(more) => reasons.extend(more),
            other => return other,
        }
    }
    Verdict::Ordered(reasons)
}

fn judge_alone<'a>(events: impl Iterator<Item = (usize, &'a Event)>, line: u32) -> Verdict {
    let mut court = Court { line, ..Court::default() };
    for (at, event) in events {
        if court.hear(at, event).is_none() {
            return Verdict::TooLarge;
        }
        if let Some(words) = court.broken.take() {
            return Verdict::Broken(words);
        }
    }
    if court.close().is_none() {
        return Verdict::TooLarge;
    }
    match court.pairs() {
        Some(words) => Verdict::Broken(words),
        None => Verdict::Ordered(court.reasons),
    }
}

#[derive(Default)]
pub(super) struct Court {
    pub(super) line: u32,
    pub(super) graph: Graph,
    pub(super) accesses: Vec<Done>,
    pub(super) warps: HashMap<WarpId, WarpState>,
    pub(super) rounds: BTreeMap<(u32, u32, Meeting, u64), Round>,
    /// How often each `mbarrier` was initialised.
    pub(super) lives: BTreeMap<(u32, Meeting), u32>,
    /// The accesses of operations that signal an `mbarrier`.
    pub(super) operations: BTreeMap<u32, Vec<usize>>,
    /// What may be acquired at each place.
    pub(super) releases: BTreeMap<u64, Vec<u32>>,
    /// When each warp passed the line in question.
    pub(super) passed: HashMap<WarpId, Vec<usize>>,
    /// The tensor maps that were written: the write, and the fences since.
    pub(super) maps: BTreeMap<u64, (u32, Vec<u32>)>,
    pub(super) reasons: BTreeSet<u32>,
    pub(super) paths: usize,
    pub(super) broken: Option<String>,
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |l| mask >> l & 1 == 1)
}

impl Court {
    pub(super) fn warp(&mut self, id: WarpId) -> &mut WarpState {
        self.warps.entry(id).or_insert_with(|| WarpState {
            lanes: (0..32).map(|_| Lane::default()).collect(),
            products: Groups::default(),
            registers: Registers::default(),
        })
    }

    /// A node of some lanes, behind what they did and behind others.
    fn node(&mut self, id: WarpId, mask: u32, line: u32, others: Vec<u32>, role: Role) -> Option<u32> {
        let mut from = BTreeSet::from_iter(others);
        let mut ending = vec![];
        for l in lanes(mask) {
            let lane = &mut self.warp(id).lanes[l];
            from.extend(lane.last);
            from.extend(lane.found.drain(..));
            ending.append(&mut lane.ending);
        }
        let node = self.graph.add(line, from.into_iter().collect(), role)?;
        for a in ending {
            self.accesses[a].end = node;
        }
        for l in lanes(mask) {
            self.warp(id).lanes[l].last = Some(node);
        }
        Some(node)
    }

    fn hear(&mut self, at: usize, event: &Event) -> Option<()> {
        let id = (event.cluster, event.warp);
        let (mask, line) = (event.lanes, event.line);
        if line == self.line && !matches!(event.act, Act::Access(_) | Act::Landed { .. }) {
            self.passed.entry(id).or_default().push(at);
        }
        match &event.act {
            Act::Access(access) => self.access(at, event, *access)?,
            Act::WarpBarrier => {
                self.node(id, mask, line, vec![], Role::Plain)?;
            }
            Act::ProxyFence => {
                for l in lanes(mask) {
                    self.node(id, 1 << l, line, vec![], Role::ProxyFence)?;
                }
            }
            Act::Fence => {
                for l in lanes(mask) {
                    let relaxed = std::mem::take(&mut self.warp(id).lanes[l].relaxed);
                    let node = self.node(id, 1 << l, line, relaxed, Role::Plain)?;
                    self.warp(id).lanes[l].fence = Some(node);
                }
            }
            Act::Arrive { at, round, releases } => {
                if *releases {
                    let node = self.node(id, mask, line, vec![], Role::Plain)?;
                    self.round(event.cluster, *at, *round).arrived.push(node);
                } else if *at == Meeting::Cluster {
                    // What a fence before it covered is released all the same.
                    let fenced: Vec<u32> = lanes(mask).filter_map(|l| self.warp(id).lanes[l].fence).collect();
                    self.round(event.cluster, *at, *round).arrived.extend(fenced);
                }
            }
            Act::Leave { at, round, acquires } => {
                if *acquires {
                    let found = self.complete(event.cluster, *at, *round, line)?;
                    self.node(id, mask, line, vec![found], Role::Plain)?;
                }
            }
            Act::Init(at) => *self.lives.entry((event.cluster, *at)).or_default() += 1,
            Act::Landed { operation, at, round } => {
                let mut landed = self.operations.remove(operation).unwrap_or_default();
                // What goes to several blocks lands in each by itself.
                let memory = |a: &usize| self.accesses[*a].access.memory;
                let blocks: BTreeSet<Memory> =
                    landed.iter().map(memory).filter(|m| matches!(m, Memory::Shared(_))).collect();
                if let (Meeting::Mbarrier(block, _), true) = (at, blocks.len() > 1) {
                    let elsewhere = |a: &usize| matches!(memory(a), Memory::Shared(b) if b != *block);
                    let (rest, here) = landed.into_iter().partition(elsewhere);
                    self.operations.insert(*operation, rest);
                    landed = here;
                }
                self.round(event.cluster, *at, *round).operations.extend(landed);
            }
            Act::Synchronise { place, reads, writes, acquires, releases } => {
                let l = mask.trailing_zeros() as usize;
                self.synchronise(id, l, line, *place, (*reads, *writes), (*acquires, *releases))?;
            }
            Act::MapWritten(map) => {
                let node = self.node(id, mask, line, vec![], Role::Plain)?;
                self.maps.insert(*map, (node, vec![]));
            }
            Act::MapFenced(map) => {
                let node = self.node(id, mask, line, vec![], Role::Plain)?;
                self.maps.entry(*map).or_insert((NONE, vec![])).1.push(node);
            }
            Act::MapUsed(map) => self.uses_map(id, mask, line, *map),
            Act::Commit(group) => self.commit(id, mask, *group),
            Act::Wait { group, pending, reads } => {
                self.wait(at, id, mask, (*group, *pending as usize, *reads), line)?;
            }
            Act::Product { .. } | Act::ProductFence | Act::Registers(_) => self.registers(at, id, event),
            Act::Nothing => {}
            Act::Exit => self.exit(id),
        }
        Some(())
    }

    fn access(&mut self, at: usize, event: &Event, access: Access) -> Option<()> {
        let id = (event.cluster, event.warp);
        let number = self.accesses.len();
        let first = lanes(event.lanes).next().unwrap_or(0);
        let start = if event.lanes == u32::MAX {
            // A product starts behind what any of its lanes did.
            let lasts: BTreeSet<u32> = self.warp(id).lanes.iter().filter_map(|l| l.last).collect();
            match lasts.len() {
                0 => NONE,
                1 => *lasts.first()?,
                _ => self.graph.add(event.line, lasts.into_iter().collect(), Role::Plain)?,
            }
        } else {
            self.warp(id).lanes[first].last.unwrap_or(NONE)
        };
        let (warp, line) = (self.warp(id), event.line);
        let mut to = usize::MAX;
        match access.by {
            By::Lanes => {
                to = at;
                warp.lanes[first].ending.push(number);
            }
            By::Group(Group::Copy) => warp.lanes[first].copies.open.push(number),
            By::Group(Group::Bulk) => warp.lanes[first].bulks.open.push(number),
            By::Group(Group::Product) => warp.products.open.push(number),
            By::Operation(n) => self.operations.entry(n).or_default().push(number),
        }
        self.accesses.push(Done {
            access,
            warp: id,
            lanes: event.lanes,
            line,
            start,
            end: NONE,
            from: at,
            to,
            over: None,
        });
        Some(())
    }

    fn commit(&mut self, id: WarpId, mask: u32, group: Group) {
        let warp = self.warp(id);
        let close = |g: &mut Groups| {
            let open = std::mem::take(&mut g.open);
            g.closed.push_back(open);
        };
        match group {
            Group::Product => {
                close(&mut warp.products);
                let open = std::mem::take(&mut warp.registers.open);
                warp.registers.closed.push_back(open);
            }
            Group::Copy => lanes(mask).for_each(|l| close(&mut warp.lanes[l].copies)),
            Group::Bulk => lanes(mask).for_each(|l| close(&mut warp.lanes[l].bulks)),
        }
    }

    /// A wait for groups. What they did is over at the next node of the lanes that wait.
    fn wait(&mut self, at: usize, id: WarpId, mask: u32, what: (Group, usize, bool), line: u32) -> Option<()> {
        let (group, pending, reads) = what;
        if group == Group::Product {
            let warp = self.warp(id);
            let mut over = vec![];
            while warp.products.closed.len() > pending {
                over.extend(warp.products.closed.pop_front()?);
            }
            while warp.registers.closed.len() > pending {
                warp.registers.closed.pop_front();
            }
            if over.is_empty() {
                return Some(());
            }
            let node = self.graph.add(line, vec![], Role::Plain)?;
            for a in over {
                (self.accesses[a].end, self.accesses[a].to, self.accesses[a].over) = (node, at, Some(line));
            }
            self.warp(id).lanes.iter_mut().for_each(|l| l.found.push(node));
            return Some(());
        }
        for l in lanes(mask) {
            let lane = &mut self.warps.get_mut(&id)?.lanes[l];
            let groups = if group == Group::Copy { &mut lane.copies } else { &mut lane.bulks };
            let complete = groups.closed.len().saturating_sub(pending);
            let mut over = vec![];
            if reads {
                for g in groups.closed.iter().take(complete).skip(groups.read) {
                    over.extend(g.iter().copied().filter(|a| self.accesses[*a].access.kind == Kind::Read));
                }
                groups.read = groups.read.max(complete);
            } else {
                for g in groups.closed.drain(..complete) {
                    // The reads may be over already.
                    over.extend(g.iter().copied().filter(|a| self.accesses[*a].to == usize::MAX));
                }
                groups.read = groups.read.saturating_sub(complete);
            }
            for a in &over {
                (self.accesses[*a].to, self.accesses[*a].over) = (at, Some(line));
            }
            lane.ending.extend(over);
        }
        Some(())
    }

    fn round(&mut self, cluster: u32, at: Meeting, round: u64) -> &mut Round {
        let life = self.lives.get(&(cluster, at)).copied().unwrap_or(0);
        self.rounds.entry((cluster, life, at, round)).or_default()
    }

    /// The node of a complete round. Rounds of an `mbarrier` come one behind the other.
    fn complete(&mut self, cluster: u32, at: Meeting, round: u64, line: u32) -> Option<u32> {
        if let Some(node) = self.round(cluster, at, round).node {
            return Some(node);
        }
        let before = match at {
            Meeting::Mbarrier(..) if round > 0 => Some(self.complete(cluster, at, round - 1, line)?),
            _ => None,
        };
        let from = self.round(cluster, at, round).arrived.iter().copied().chain(before).collect();
        let node = self.graph.add(line, from, Role::Plain)?;
        let round = self.round(cluster, at, round);
        round.node = Some(node);
        for a in std::mem::take(&mut round.operations) {
            self.accesses[a].end = node;
        }
        Some(node)
    }

    fn synchronise(
        &mut self,
        id: WarpId,
        l: usize,
        line: u32,
        place: u64,
        (reads, writes): (bool, bool),
        (acquires, releases): (bool, bool),
    ) -> Option<()> {
        let there = self.releases.get(&place).cloned().unwrap_or_default();
        if reads && !acquires {
            self.warp(id).lanes[l].relaxed.extend(&there);
        }
        let found = if reads && acquires { there } else { vec![] };
        let mut told = self.warp(id).lanes[l].fence;
        if releases || !found.is_empty() {
            let node = self.node(id, 1 << l, line, found, Role::Plain)?;
            if releases {
                told = Some(node);
            }
        }
        if writes {
            let at = self.releases.entry(place).or_default();
            if !reads {
                // A plain store ends the releases that others may acquire.
                at.clear();
            }
            at.extend(told);
        }
        Some(())
    }

    /// A copy uses a map: a fence must be between the write and the use.
    fn uses_map(&mut self, id: WarpId, mask: u32, line: u32, map: u64) {
        let start = self.warp(id).lanes[mask.trailing_zeros() as usize].last;
        let Some((write, fences)) = self.maps.get(&map) else { return };
        let between = |f: &u32| self.graph.reaches(*write, *f) && start.is_some_and(|s| self.graph.reaches(*f, s));
        if *write != NONE && !fences.iter().any(between) {
            self.broken = Some(format!("the copy of line {line} uses a tensor map without a fence behind its write"));
        }
    }

    /// A warp ends: what it stores in bulk must have been read, since shared memory goes with the block.
    fn exit(&mut self, id: WarpId) {
        let warp = self.warp(id);
        let mut open = vec![];
        for lane in &warp.lanes {
            open.extend(lane.bulks.open.iter().chain(lane.bulks.closed.iter().flatten()).copied());
        }
        let unread = |a: &&usize| self.accesses[**a].access.kind == Kind::Read && self.accesses[**a].to == usize::MAX;
        if let Some(a) = open.iter().find(unread) {
            let line = self.accesses[*a].line;
            self.broken = Some(format!("the warp ends before the bulk copy of line {line} has read"));
        }
    }

    /// The last nodes, so that whatever is over has an end.
    fn close(&mut self) -> Option<()> {
        let ids: BTreeSet<WarpId> = self.warps.keys().copied().collect();
        for id in ids {
            for l in 0..32 {
                if !self.warp(id).lanes[l].ending.is_empty() {
                    self.node(id, 1 << l, 0, vec![], Role::Plain)?;
                }
            }
        }
        Some(())
    }
}
