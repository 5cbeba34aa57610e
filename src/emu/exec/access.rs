//! Addresses: what they point at, bounds and alignment, and what the detectors are told of an access.

use super::Try;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::{Address, Scope, Space};
use crate::emu::decode::program::Lanes;
use crate::emu::memory::{self, Window};
use crate::emu::observe::{self, Act, By};
use crate::emu::order::{self, Proxy, Shadow, What, Who};
use crate::emu::report::Kind;

/// Where the rank of a block stands in an address of shared memory.
pub(crate) const RANK_SHIFT: u32 = 24;

/// What an address points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Global(u64),
    /// The shared memory of a block of the cluster.
    Shared(usize, u32),
    Local(u64),
    KernelParam(u64),
    CallParam(u64),
}

impl Address {
    /// The address in each lane.
    pub(crate) fn lanes(&self, warp: &Warp) -> Lanes {
        let (base, offset) = (warp.reg(self.base), self.offset as u64);
        let keep = if self.wide { u64::MAX } else { 0xffff_ffff };
        let mut addresses = [0; 32];
        (0..32).for_each(|i| addresses[i] = base[i].wrapping_add(offset) & keep);
        addresses
    }
}

impl Env<'_, '_> {
    /// What an address of a space points at.
    pub(crate) fn locate(&self, warp: &Warp, space: Space, address: u64, lane: usize) -> Try<Spot> {
        Ok(match space {
            Space::Global | Space::Const => Spot::Global(address),
            Space::Shared => {
                let (block, at) = self.rank(warp, address, lane)?;
                if block != warp.block {
                    let message = format!("{address:#x} is in the shared memory of another block of the cluster");
                    return Err(self.fault(warp, 1 << lane, Kind::OutOfBounds, message));
                }
                Spot::Shared(block, at)
            }
            Space::Cluster => {
                let (block, at) = self.rank(warp, address, lane)?;
                Spot::Shared(block, at)
            }
            Space::Local => Spot::Local(address),
            Space::KernelParam => Spot::KernelParam(address),
            Space::CallParam => Spot::CallParam(address),
            Space::Generic => match memory::window(address) {
                Window::Global => Spot::Global(address),
                Window::Shared => {
                    let (block, at) = self.rank(warp, address - memory::SHARED_WINDOW, lane)?;
                    Spot::Shared(block, at)
                }
                Window::Local => Spot::Local(address - memory::LOCAL_WINDOW),
                Window::Param => Spot::KernelParam(address - memory::PARAM_WINDOW),
            },
        })
    }

    /// The block and the distance of an address in shared memory.
    fn rank(&self, warp: &Warp, address: u64, lane: usize) -> Try<(usize, u32)> {
        let (rank, at) = (address >> RANK_SHIFT, address & ((1 << RANK_SHIFT) - 1));
        if rank >= self.blocks.len() as u64 {
            let message = format!("the address {address:#x} is outside of shared memory");
            return Err(self.fault(warp, 1 << lane, Kind::OutOfBounds, message));
        }
        Ok((rank as usize, at as u32))
    }

    /// Refuses an address that is no multiple of what it must be.
    pub(crate) fn aligned(&self, warp: &Warp, address: u64, to: u64, lane: usize) -> Try<()> {
        if address.is_multiple_of(to) {
            return Ok(());
        }
        let message = format!("the address {address:#x} is no multiple of {to}");
        Err(self.fault(warp, 1 << lane, Kind::Misaligned, message))
    }

    /// Refuses `at..at + size` outside of a block's shared memory.
    pub(crate) fn shared_holds(&self, warp: &Warp, (block, at): (usize, u32), size: usize, lane: usize) -> Try<()> {
        let shared = &self.blocks[block].shared;
        if shared.holds(u64::from(at), size) {
            return Ok(());
        }
        let message = format!("{size} bytes at {at:#x} are outside of shared memory, which has {} bytes", shared.len());
        Err(self.fault(warp, 1 << lane, Kind::OutOfBounds, message))
    }

    /// An access outside of every buffer.
    pub(crate) fn outside(&self, warp: &Warp, address: u64, size: usize, lane: usize) -> super::Fault {
        let message = match self.run.memory.nearest(address) {
            Some((name, at, len)) => {
                format!("an access of {size} bytes at {at} of the buffer `{name}`, which has {len} bytes")
            }
            None => format!("an access of {size} bytes at the address {address:#x}, which is in no buffer"),
        };
        self.fault(warp, 1 << lane, Kind::OutOfBounds, message)
    }

    /// Tells the detectors of a generic access to shared memory. `same` says whether a write changes nothing.
    #[inline]
    pub(crate) fn saw_shared(
        &mut self,
        warp: &Warp,
        (block, at): (usize, u32),
        size: u32,
        lane: usize,
        what: What,
        same: impl FnOnce(&Self) -> bool,
    ) {
        let Some(order) = self.order.as_mut() else { return };
        let who = order.who(warp.agent, lane as u32, self.run.code_starts[warp.function] + warp.at);
        let found = Shadow::access(order, block, at, size, &who, what);
        if found.is_none() && self.world.log.is_none() {
            return;
        }
        let same = what == What::Write && same(self);
        self.observe_access(warp, (observe::Memory::Shared(block as u32), u64::from(at), size), &who, what, same);
        let Some((other, wrote)) = found else { return };
        if wrote && same {
            return;
        }
        self.shared_race(warp, (block, at, size), &who, what, (other, wrote));
    }

    /// Tells the detectors of an asynchronous access to shared memory.
    pub(crate) fn saw_shared_as(&mut self, warp: &Warp, (block, at): (usize, u32), size: u32, who: &Who, what: What) {
        let Some(order) = self.order.as_mut() else { return };
        let found = Shadow::access(order, block, at, size, who, what);
        self.observe_access(warp, (observe::Memory::Shared(block as u32), u64::from(at), size), who, what, false);
        if let Some(conflict) = found {
            self.shared_race(warp, (block, at, size), who, what, conflict);
        }
    }

    /// Tells the observer of an access.
    fn observe_access(
        &mut self,
        warp: &Warp,
        (memory, at, bytes): (observe::Memory, u64, u32),
        who: &Who,
        what: What,
        same: bool,
    ) {
        let Some(log) = &self.world.log else { return };
        let warps = self.run.warps() * self.run.cluster_size();
        let by = match who.agent / warps {
            0 => By::Lanes,
            1 => By::Group(observe::Group::Copy),
            2 => By::Group(observe::Group::Product),
            3 | 4 => By::Group(observe::Group::Bulk),
            _ => By::Operation(log.operations),
        };
        let kind = match what {
            What::Read => observe::Kind::Read,
            What::Write => observe::Kind::Write,
            What::Atomic => observe::Kind::Atomic,
        };
        let lanes = if by == By::Group(observe::Group::Product) { u32::MAX } else { 1 << who.lane };
        self.observe(warp, lanes, || Act::Access(observe::Access { memory, at, bytes, kind, same, by }));
    }

    fn shared_race(
        &mut self,
        warp: &Warp,
        (block, at, size): (usize, u32, u32),
        who: &Who,
        what: What,
        (other, wrote): (order::Access, bool),
    ) {
        let lanes = 1u32.checked_shl(u32::from(who.lane)).unwrap_or(0);
        let asynchronous = who.proxy == Proxy::Asynchronous;
        self.note(warp, other.code, Kind::Race, |env| {
            let verb = words(what, asynchronous);
            let other_verb = if wrote { "a write" } else { "a read" };
            let block_index = env.blocks[block].index;
            let message = format!(
                "{verb} of {size} bytes of shared memory at {at:#x} of block {block_index:?} has no order with {other_verb}"
            );
            let mut finding = env.finding(warp, lanes, Kind::Race, message);
            let agent = env.agent_words(u32::from(other.agent));
            finding.notes.push((format!("the other is {other_verb} by {agent}"), Some(env.run.site(other.code))));
            finding.help = Some(help(asynchronous, wrote, other.time == order::NEVER).to_owned());
            finding
        });
    }

    /// Who an agent of the cluster is.
    pub(crate) fn agent_words(&self, agent: u32) -> String {
        let warps = self.run.warps() * self.run.cluster_size();
        let who = |w: u32| {
            let per = self.run.warps();
            if self.blocks.len() > 1 { format!("warp {} of block {}", w % per, w / per) } else { format!("warp {w}") }
        };
        match agent / warps.max(1) {
            0 => who(agent),
            1 => format!("`cp.async` of {}", who(agent % warps)),
            2 => format!("`wgmma` of {}", who(agent % warps)),
            3 | 4 => format!("a bulk copy of {}", who(agent % warps)),
            _ => "a copy that signals an `mbarrier`".to_owned(),
        }
    }

    /// Tells the detectors of an access to global memory.
    #[inline]
    pub(crate) fn saw_global(
        &mut self,
        warp: &Warp,
        (buffer, at): (usize, u64),
        size: u64,
        who: &Who,
        what: What,
        same: impl FnOnce() -> bool,
    ) {
        let Some(order) = self.order.as_ref() else { return };
        if self.run.memory.buffers.get(buffer).is_some_and(|b| b.earlier) && !order.clock(warp.agent).knows_earlier() {
            self.too_early(warp, (buffer, at, size), who, what);
            return;
        }
        let found = self.world.everywhere.access(order, self.cluster, (buffer, at, size), who, what);
        if found.is_none() && self.world.log.is_none() {
            return;
        }
        let same = what == What::Write && same();
        self.observe_access(warp, (observe::Memory::Global(buffer as u32), at, size as u32), who, what, same);
        let Some((cluster, other, wrote)) = found else { return };
        if wrote && same {
            return;
        }
        let lanes = 1u32.checked_shl(u32::from(who.lane)).unwrap_or(0);
        self.note(warp, other.code, Kind::Race, |env| {
            let name = env.run.memory.buffers.get(buffer).map_or("the variables of the module", |b| &b.name);
            let verb = words(what, who.proxy == Proxy::Asynchronous);
            let other_verb = if wrote { "a write" } else { "a read" };
            let message = format!("{verb} of {size} bytes at {at} of `{name}` has no order with {other_verb}");
            let mut finding = env.finding(warp, lanes, Kind::Race, message);
            let whose = if cluster == env.cluster {
                env.agent_words(u32::from(other.agent))
            } else if env.run.cluster_size() == 1 {
                format!("block {:?}", env.run.block_index(cluster, 0))
            } else {
                format!("cluster {cluster}")
            };
            finding.notes.push((format!("the other is {other_verb} by {whose}"), Some(env.run.site(other.code))));
            if what == What::Atomic && other.atomic.is_some() {
                finding.help = Some("give both a scope that includes the other's thread".to_owned());
            }
            finding
        });
    }

    /// An access to a buffer that the launch before this one may still use.
    fn too_early(&mut self, warp: &Warp, (buffer, at, size): (usize, u64, u64), who: &Who, what: What) {
        let lanes = 1u32.checked_shl(u32::from(who.lane)).unwrap_or(0);
        self.note(warp, 3, Kind::Race, |env| {
            let name = &env.run.memory.buffers[buffer].name;
            let verb = words(what, who.proxy == Proxy::Asynchronous);
            let message = format!("{verb} of {size} bytes at {at} of `{name}`, which an earlier launch may still use");
            let mut finding = env.finding(warp, lanes, Kind::Race, message);
            finding.help =
                Some("execute `griddepcontrol.wait` before, in this warp or in front of a barrier".to_owned());
            finding
        });
    }

    /// A generic access of a lane, for the detectors. A default if nothing is checked.
    #[inline]
    pub(crate) fn who(&self, warp: &Warp, lane: usize) -> Who {
        let code = self.run.code_starts[warp.function] + warp.at;
        let agent = warp.agent;
        let unchecked = || {
            let (proxy, scope) = (Proxy::Generic, Scope::Gpu);
            Who { warp: agent, agent, time: 0, lane: lane as u8, code, proxy, scope }
        };
        self.order.as_ref().map_or_else(unchecked, |order| order.who(agent, lane as u32, code))
    }

    /// Notes reads of bytes that nobody has written.
    pub(crate) fn unwritten(&mut self, warp: &Warp, lanes: u32, what: impl FnOnce() -> String) {
        self.note(warp, 0, Kind::Uninitialised, |env| {
            let message = format!("{} that nobody has written are read", what());
            env.finding(warp, lanes, Kind::Uninitialised, message)
        });
    }

    /// The address that all lanes of a mask have, which an instruction for the whole warp needs.
    pub(crate) fn uniform(&self, warp: &Warp, addresses: &Lanes, mask: u32) -> Try<u64> {
        let mut all = each(mask).map(|lane| addresses[lane]);
        let first = all.next().unwrap_or(0);
        if all.all(|a| a == first) {
            return Ok(first);
        }
        Err(self.fault(warp, mask, Kind::Divergence, "the lanes of the warp have different operands"))
    }
}

fn words(what: What, asynchronous: bool) -> &'static str {
    match (what, asynchronous) {
        (What::Read, false) => "a read",
        (What::Write, false) => "a write",
        (What::Atomic, _) => "an atomic update",
        (What::Read, true) => "an asynchronous read",
        (What::Write, true) => "an asynchronous write",
    }
}

fn help(asynchronous: bool, wrote: bool, in_flight: bool) -> &'static str {
    match (asynchronous, wrote) {
        _ if in_flight => "wait for the copy: for its `mbarrier`, or for its group",
        (true, true) => "put `fence.proxy.async` after the write, and a barrier between the two",
        (true, false) => "wait for the reads, and put a barrier between the two",
        (false, _) => "put a barrier between the two, after a wait for what is asynchronous",
    }
}
