//! Vector clocks.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A time for each agent. Agents that are not there have time 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times(Vec<u32>);

impl Times {
    #[inline]
    pub(crate) fn get(&self, agent: u32) -> u32 {
        self.0.get(agent as usize).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, agent: u32, time: u32) {
        if self.0.len() <= agent as usize {
            self.0.resize(agent as usize + 1, 0);
        }
        self.0[agent as usize] = time;
    }

    /// The later time of each agent.
    pub(crate) fn join(&mut self, other: &Times) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = (*a).max(*b));
    }
}

/// A warp, one of its lanes, and the time up to which the lane's own accesses are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lanes(Vec<(u32, u8, u32)>);

impl Lanes {
    fn get(&self, warp: u32, lane: u8) -> u32 {
        self.0.iter().find(|k| k.0 == warp && k.1 == lane).map_or(0, |k| k.2)
    }

    fn add(&mut self, warp: u32, lanes: u32, time: u32) {
        for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
            match self.0.iter_mut().find(|k| k.0 == warp && k.1 == lane) {
                Some(known) => known.2 = known.2.max(time),
                None => self.0.push((warp, lane, time)),
            }
        }
    }

    /// The later time of each lane. What is known of all lanes of a warp need not be known of one.
    fn join(&mut self, other: &Lanes, all: &Times) {
        for &(warp, lane, time) in &other.0 {
            self.add(warp, 1 << lane, time);
        }
        self.0.retain(|&(warp, _, time)| all.get(warp) < time);
    }
}

/// What is known of the agents of other clusters, by the number of the cluster.
pub(crate) type Foreign = BTreeMap<u32, Times>;

/// The number that stands for the launch before this one, among those of clusters.
const EARLIER: u32 = u32::MAX;

/// What a warp knows, or what a synchronisation carries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) generic: Times,
    pub(crate) asynchronous: Times,
    /// What is known of single lanes of a warp, beyond what is known of all of them.
    lanes: Lanes,
    foreign: Option<Arc<Foreign>>,
}

impl Clock {
    pub(crate) fn join(&mut self, other: &Clock) {
        self.generic.join(&other.generic);
        self.asynchronous.join(&other.asynchronous);
        self.lanes.join(&other.lanes, &self.generic);
        let Some(theirs) = &other.foreign else { return };
        match &mut self.foreign {
            None => self.foreign = Some(theirs.clone()),
            Some(own) if Arc::ptr_eq(own, theirs) => {}
            Some(own) => join_foreign(Arc::make_mut(own), theirs),
        }
    }

    /// As [`Clock::join`], by some lanes of a warp that is at `time`, whose lanes were together last behind `all`: what
    /// the others have done since is not known.
    pub(crate) fn join_lanes(&mut self, other: &Clock, warp: u32, lanes: u32, (all, time): (u32, u32)) {
        let own = self.generic.get(warp).max(all);
        self.join(other);
        self.generic.set(warp, own);
        self.lanes.add(warp, lanes, time);
    }

    /// Whether an access that one lane of a warp made at a time is known.
    #[inline]
    pub(crate) fn knows_lane(&self, warp: u32, lane: u8, time: u32) -> bool {
        self.generic.get(warp) >= time || self.lanes.get(warp, lane) >= time
    }

    /// The lanes of a warp of which more is known than of all of them, each with its time.
    pub(crate) fn lanes_of(&self, warp: u32) -> impl Iterator<Item = (u8, u32)> {
        self.lanes.0.iter().filter(move |k| k.0 == warp).map(|k| (k.1, k.2))
    }

    /// All that an earlier launch did is known.
    pub(crate) fn wait_for_earlier(&mut self) {
        Arc::make_mut(self.foreign.get_or_insert_default()).entry(EARLIER).or_default().set(0, 1);
    }

    pub(crate) fn knows_earlier(&self) -> bool {
        self.of(EARLIER, 0) > 0
    }

    /// The time up to which an agent of another cluster is known.
    pub(crate) fn of(&self, cluster: u32, agent: u32) -> u32 {
        self.foreign.as_ref().and_then(|f| f.get(&cluster)).map_or(0, |t| t.get(agent))
    }

    /// This clock as one of cluster `own`, for those of other clusters.
    pub(crate) fn exported(&self, own: u32) -> Foreign {
        let mut all = self.foreign.as_deref().cloned().unwrap_or_default();
        let times = all.entry(own).or_default();
        times.join(&self.generic);
        // Other clusters do not tell lanes apart.
        for &(warp, _, time) in &self.lanes.0 {
            times.set(warp, times.get(warp).max(time));
        }
        all
    }

    /// What an exported clock means to the cluster `own`.
    pub(crate) fn imported(all: &Foreign, own: u32) -> Clock {
        let generic = all.get(&own).cloned().unwrap_or_default();
        Clock { generic, foreign: Some(Arc::new(all.clone())), ..Clock::default() }
    }
}

pub(crate) fn join_foreign(to: &mut Foreign, from: &Foreign) {
    for (cluster, times) in from {
        to.entry(*cluster).or_default().join(times);
    }
}
