//! What is known of shared memory at one point of a function, and how an operation's steps change it.
//!
//! Everything here only grows when states are joined (or gets less known), and there are finitely many places, groups
//! and numbers, so the walk ends.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::core::{Op, Value};

use super::places::{Owner, Place};
use super::table::{Class, Kind, Use};

/// Groups older than this are not told apart; a wait for more is taken for one that waits for nothing.
const OLDEST: u64 = 40;

/// An access of some thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ThreadAccess {
    pub op: Op,
    pub place: Place,
    pub used: Use,
}

impl ThreadAccess {
    /// Whether the order of two accesses by different threads matters.
    pub(super) fn conflicts(&self, other: &ThreadAccess) -> bool {
        let ordered = self.used.class == other.used.class && self.used.class != Class::Data;
        (self.used.writes || other.used.writes) && !ordered && self.place.overlaps(&other.place)
    }
}

/// An access that began and may not be over.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Flight {
    pub kind: Kind,
    pub access: ThreadAccess,
    /// How many groups were ended after its own, up to [`OLDEST`]; `None` as long as its own is open.
    pub age: Option<u64>,
    /// The bytes of the mbarrier that tells its end.
    pub mbarrier: Option<(u64, u64)>,
    /// Whether it happens whatever its predicate is.
    pub sure: bool,
}

/// An access since the last barrier.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    access: ThreadAccess,
    /// Mbarriers at which each warp has arrived behind it.
    left: BTreeSet<(u64, u64)>,
    /// Whether the first warp has waited for such an arrival of all warps.
    before_first_warp: bool,
}

/// An mbarrier at which each warp arrives for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Warps {
    /// So many arrivals end a phase.
    count: i64,
    /// Whether an odd number of phases ends by the arrivals so far.
    odd: bool,
    /// How many of these phases nobody has waited for; 2 stands for more.
    open: u8,
}

/// What a wait of the first warp comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entered {
    /// All that was left comes before what the first warp does now.
    After,
    /// The phase may be an earlier one.
    Nothing,
    /// No arrival before it ends the phase.
    Never,
}

/// A fault: what the access at hand meets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meets {
    /// What other threads may still be doing: no barrier lies between.
    Pending(ThreadAccess),
    /// What is under way: nobody has waited for it.
    Flight(Flight),
    /// What this operation put over the contents that are needed.
    Overwritten(Op),
    /// What threads wrote and no fence has shown to the asynchronous proxy.
    Unfenced(ThreadAccess),
}

/// The bytes of a buffer, and those of them that something else wrote over, with the operation that did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Spoiled {
    low: u64,
    high: u64,
    over: BTreeSet<(u64, u64, Op)>,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct State {
    /// Integers that control flow hands on, where known.
    pub ints: BTreeMap<Value, i64>,
    /// Descriptors that control flow hands on, and buffers.
    pub places: BTreeMap<Value, BTreeSet<Place>>,
    /// For the token of a group how many groups were ended after it, at least.
    pub ages: BTreeMap<Value, u64>,
    /// Sums in registers that products may still be adding to, with how many groups were ended after these, at least.
    pub sums: BTreeMap<Value, u64>,
    /// Accesses since the last barrier.
    pending: BTreeSet<Pending>,
    flights: BTreeSet<Flight>,
    /// What became of each buffer that is there.
    spoiled: BTreeMap<Owner, Spoiled>,
    /// Writes by threads since the last fence.
    unfenced: BTreeSet<ThreadAccess>,
    /// The parity of the phase that each mbarrier is in, where known.
    parity: BTreeMap<(u64, u64), bool>,
    /// The arrivals of warps at each mbarrier, where known.
    warps: BTreeMap<(u64, u64), Warps>,
}

impl State {
    /// Adds what holds on another way to the same point. Whether that was news.
    pub(super) fn join(&mut self, other: &State) -> bool {
        let before = self.size();
        let mut younger = false;
        self.ints.retain(|value, known| other.ints.get(value) == Some(known));
        self.parity.retain(|place, known| other.parity.get(place) == Some(known));
        self.warps.retain(|place, known| other.warps.get(place) == Some(known));
        for (&value, places) in &other.places {
            self.places.entry(value).or_default().extend(places.iter().cloned());
        }
        for (own, others) in [(&mut self.ages, &other.ages), (&mut self.sums, &other.sums)] {
            for (&value, &age) in others {
                let known = own.entry(value).or_insert(age);
                younger |= age < *known;
                *known = age.min(*known);
            }
        }
        for (&owner, spoiled) in &other.spoiled {
            let own = self.spoiled.entry(owner).or_insert_with(|| Spoiled { over: BTreeSet::new(), ..spoiled.clone() });
            own.over.extend(spoiled.over.iter().copied());
        }
        self.pending.extend(other.pending.iter().cloned());
        self.flights.extend(other.flights.iter().cloned());
        self.unfenced.extend(other.unfenced.iter().cloned());
        younger || before != self.size()
    }

    /// How much is in each part. A join only adds to some and only takes from others, so one that keeps all of these
    /// keeps the state.
    fn size(&self) -> [usize; 11] {
        [
            self.ints.len(),
            self.parity.len(),
            self.warps.len(),
            self.places.values().map(|p| p.len() + 1).sum(),
            self.ages.len(),
            self.sums.len(),
            self.pending.len(),
            self.flights.len(),
            self.spoiled.len(),
            self.spoiled.values().map(|s| s.over.len()).sum(),
            self.unfenced.len(),
        ]
    }

    /// All threads are here, and what they did is done; what is under way goes on.
    pub(super) fn barrier(&mut self) {
        self.pending.clear();
    }

    pub(super) fn fence(&mut self) {
        self.unfenced.clear();
    }

    /// What an access meets, the first fault of each kind. `alone`: the first warp alone makes it.
    pub(super) fn faults(&self, access: &ThreadAccess, alone: bool) -> Vec<Meets> {
        let mut found = vec![];
        let open = |p: &&Pending| !(alone && p.before_first_warp) && p.access.conflicts(access);
        found.extend(self.pending.iter().find(open).map(|p| Meets::Pending(p.access.clone())));
        // Of the buffers of one allocation, which two it is must be known.
        let apart =
            |f: &Flight| f.access.place.owner == access.place.owner && !(f.access.place.known && access.place.known);
        found.extend(self.flights.iter().find(|f| f.access.conflicts(access) && !apart(f)).cloned().map(Meets::Flight));
        if access.used.reads && access.used.class != Class::Life {
            let mut over = self.spoiled.get(&access.place.owner).into_iter().flat_map(|s| &s.over);
            let met = over.find(|&&(low, high, _)| low < access.place.high && access.place.low < high);
            found.extend(met.map(|s| Meets::Overwritten(s.2)));
        }
        if access.used.hardware && access.used.class == Class::Data {
            // Who reads wants what was written to this buffer; what lay there before is nobody's.
            let matters = |w: &ThreadAccess| access.used.writes || w.place.owner == access.place.owner;
            let unseen = self.unfenced.iter().find(|w| matters(w) && w.place.overlaps(&access.place));
            found.extend(unseen.cloned().map(Meets::Unfenced));
        }
        found
    }

    /// An access begins.
    fn touch(&mut self, access: &ThreadAccess) {
        if !access.used.writes {
            return;
        }
        let place = &access.place;
        // An mbarrier's own operations keep it what it is.
        if place.whole
            && place.known
            && access.used.class == Class::Data
            && !access.used.reads
            && let Some(own) = self.spoiled.get_mut(&place.owner)
        {
            own.over.retain(|&(low, high, _)| low < place.low || place.high < high);
        }
        let others = self.spoiled.iter_mut().filter(|(owner, _)| **owner != place.owner);
        for (_, other) in others.filter(|(_, other)| place.low < other.high && other.low < place.high) {
            other.over.insert((place.low.max(other.low), place.high.min(other.high), access.op));
        }
        if !access.used.hardware && access.used.class == Class::Data {
            self.unfenced.insert(access.clone());
        }
    }

    /// An access that is over when the thread goes on; other threads may not have got so far.
    pub(super) fn now(&mut self, access: ThreadAccess) {
        self.touch(&access);
        self.wait_for(access);
    }

    /// Other threads may not have made this access.
    fn wait_for(&mut self, access: ThreadAccess) {
        self.pending.insert(Pending { access, left: BTreeSet::new(), before_first_warp: false });
    }

    /// The waits for a phase of an mbarrier that may not be over where the first warp begins the next one.
    pub(super) fn waits(&self, mbarrier: &Place) -> impl Iterator<Item = Op> {
        let known = move |a: &ThreadAccess| a.place.known && mbarrier.known && a.place.overlaps(mbarrier);
        let waits = move |a: &ThreadAccess| a.used.class == Class::Signal && !a.used.writes && known(a);
        self.pending.iter().filter(move |p| !p.before_first_warp && waits(&p.access)).map(|p| p.access.op)
    }

    /// Each of `warps` warps has done what came before, and arrives at an mbarrier. Gives the arrivals that end its
    /// phase, where these are others.
    pub(super) fn leave(&mut self, mbarrier: &Place, warps: i64) -> Option<i64> {
        let at = (mbarrier.low, mbarrier.high);
        self.each(|p| {
            p.left.insert(at);
        });
        if !mbarrier.known {
            self.may_leave(mbarrier);
            return None;
        }
        let known = self.warps.get_mut(&at)?;
        known.odd = !known.odd;
        known.open = 2.min(known.open + 1);
        Some(known.count).filter(|&count| count != warps)
    }

    /// Whether warps arrive at this mbarrier, or at which of several, is not known.
    pub(super) fn may_leave(&mut self, mbarrier: &Place) {
        self.warps.retain(|place, _| place.1 <= mbarrier.low || mbarrier.high <= place.0);
    }

    /// The first warp waits for the phase of this parity. It arrives itself, so no more phases have ended than arrivals
    /// come before this wait; and those that were waited for have. Between the two, parity tells one phase from
    /// another.
    pub(super) fn enter(&mut self, mbarrier: &Place, parity: Option<bool>) -> Entered {
        let at = (mbarrier.low, mbarrier.high);
        let known = if mbarrier.known { self.warps.get_mut(&at) } else { None };
        if let (Some(known), Some(parity)) = (known, parity) {
            // Of n phases, the last one has parity n - 1.
            if parity == known.odd {
                return if known.open == 0 { Entered::Never } else { Entered::Nothing };
            }
            if known.open > 1 {
                return Entered::Nothing;
            }
            known.open = 0;
        }
        self.each(|p| {
            if p.left.iter().any(|&(low, high)| low < at.1 && at.0 < high) {
                p.left.clear();
                p.before_first_warp = true;
            }
        });
        Entered::After
    }

    /// Changes every access that the first warp has not waited for.
    fn each(&mut self, change: impl Fn(&mut Pending)) {
        let all = std::mem::take(&mut self.pending);
        let changed = all.into_iter().map(|mut p| {
            if !p.before_first_warp {
                change(&mut p);
            }
            p
        });
        self.pending = changed.collect();
    }

    /// An access that goes on in the background.
    pub(super) fn begin(&mut self, flight: Flight) {
        self.touch(&flight.access);
        self.flights.insert(flight);
    }

    /// What of this kind belongs to no group becomes one; a copy's `token` names it.
    pub(super) fn commit(&mut self, kind: Kind, token: Option<Value>) {
        let older = |age: u64| (age + 1).min(OLDEST);
        let all = std::mem::take(&mut self.flights);
        self.flights = all
            .into_iter()
            .map(|f| if f.kind == kind { Flight { age: Some(f.age.map_or(0, older)), ..f } } else { f })
            .collect();
        if kind == Kind::Copy {
            self.ages.values_mut().for_each(|age| *age = older(*age));
            self.ages.extend(token.map(|t| (t, 0)));
        }
        if kind == Kind::Product {
            self.sums.values_mut().for_each(|age| *age = older(*age));
        }
    }

    /// A thread has waited for its own groups, all but the last `left`.
    pub(super) fn complete(&mut self, kind: Kind, left: u64) {
        let done = |f: &Flight| f.kind == kind && f.age.is_some_and(|age| age >= left) && f.mbarrier.is_none();
        let finished: Vec<ThreadAccess> = self.flights.iter().filter(|f| done(f)).map(|f| f.access.clone()).collect();
        self.flights.retain(|f| !done(f));
        if kind == Kind::Product {
            self.sums.retain(|_, age| *age < left);
        }
        // The bytes of a copy come now, behind whatever fence there was.
        self.unfenced.extend(finished.iter().filter(|a| a.used.writes && !a.used.hardware).cloned());
        finished.into_iter().for_each(|access| self.wait_for(access));
    }

    /// The copies of threads so far will arrive at an mbarrier.
    pub(super) fn arrive(&mut self, mbarrier: (u64, u64)) {
        let all = std::mem::take(&mut self.flights);
        let joins = |f: &Flight| matches!(f.kind, Kind::Copy | Kind::Signalled) && f.mbarrier.is_none();
        self.flights =
            all.into_iter().map(|f| if joins(&f) { Flight { mbarrier: Some(mbarrier), ..f } } else { f }).collect();
    }

    /// An mbarrier is made: it is in its first phase.
    pub(super) fn make(&mut self, mbarrier: &Place, count: i64) {
        self.parity.retain(|&(low, high), _| high <= mbarrier.low || mbarrier.high <= low);
        self.warps.retain(|&(low, high), _| high <= mbarrier.low || mbarrier.high <= low);
        if mbarrier.known {
            self.parity.insert((mbarrier.low, mbarrier.high), false);
            self.warps.insert((mbarrier.low, mbarrier.high), Warps { count, odd: false, open: 0 });
        }
    }

    /// Every thread has waited for a phase: what arrived in it is complete and visible. A wait for the phase before is
    /// over at once and says nothing.
    pub(super) fn phase(&mut self, mbarrier: &Place, parity: Option<bool>) {
        let at = (mbarrier.low, mbarrier.high);
        let current = if mbarrier.known { self.parity.get(&at).copied() } else { None };
        if let (Some(current), Some(parity)) = (current, parity) {
            if current != parity {
                return;
            }
            self.parity.insert(at, !parity);
        } else {
            self.parity.retain(|&(low, high), _| high <= at.0 || at.1 <= low);
        }
        let ended = |f: &Flight| f.mbarrier.is_some_and(|(low, high)| low < at.1 && at.0 < high);
        let copied: Vec<ThreadAccess> =
            self.flights.iter().filter(|f| ended(f) && !f.access.used.hardware).map(|f| f.access.clone()).collect();
        self.flights.retain(|f| !ended(f));
        self.unfenced.extend(copied);
    }

    /// A buffer starts its life: its contents are nobody's yet. What is left of its last life is another buffer now.
    pub(super) fn alloc(&mut self, op: Op, result: Value, place: Place) {
        let (new, old) = (Owner::Buffer(op), Owner::Older(op));
        let aged = |p: &Place| if p.owner == new { Place { owner: old, ..p.clone() } } else { p.clone() };
        let mut aged_any = false;
        for (_, places) in self.places.iter_mut().filter(|(value, _)| **value != result) {
            aged_any |= places.iter().any(|p| p.owner == new);
            *places = places.iter().map(aged).collect();
        }
        let fresh = Spoiled { low: place.low, high: place.high, over: BTreeSet::new() };
        let spoiled = self.spoiled.insert(new, fresh.clone()).unwrap_or_default();
        if aged_any {
            self.spoiled.entry(old).or_insert(fresh).over.extend(spoiled.over);
        }
        self.places.insert(result, BTreeSet::from([place]));
    }

    /// A loop ends: what only its predicate kept back does not happen. The predicate of an iteration ahead is false
    /// when there is none.
    pub(super) fn leave_loop(&mut self) {
        self.flights.retain(|f| f.sure);
    }

    /// Where these values show several buffers of one allocation, it is no longer known which: what is under way to one
    /// of them has been joined from as many states.
    pub(super) fn forget_which(&mut self, values: &[Value]) {
        for value in values {
            let Some(places) = self.places.get_mut(value) else { continue };
            let of = |owner: Owner| places.iter().filter(|p| p.owner == owner).count();
            let several: BTreeSet<Owner> = places.iter().map(|p| p.owner).filter(|&owner| of(owner) > 1).collect();
            let forget = |p: &Place| Place { known: p.known && !several.contains(&p.owner), ..p.clone() };
            *places = places.iter().map(forget).collect();
        }
    }

    /// What is still under way.
    pub(super) fn flights(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }
}
