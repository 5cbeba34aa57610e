//! `cp.async` and its groups, and asynchronous work that has not landed ("PTX ISA, cp.async", "cp.async.commit_group",
//! "cp.async.wait_group").
//!
//! A copy lands between its issue and the wait for its group. What it copies is read when it lands. The detectors see
//! the write when it is issued, as one of the time of its group, which those know who waited for the group.

use super::Try;
use super::access::Spot;
use super::env::Env;
use super::lanes::each;
use super::launch::Landing;
use super::pending::{Copy, Pending};
use super::warp::Warp;
use crate::emu::decode::copy_op::Async;
use crate::emu::decode::op::{Address, Space};
use crate::emu::decode::program::{Guard, Reg};
use crate::emu::observe::{self, Act};
use crate::emu::order::{Group, Proxy, What, Who};
use crate::emu::report::Kind;

impl Env<'_, '_> {
    pub(crate) fn asynchronous(&mut self, warp: &mut Warp, op: &Async, active: u32) -> Try<()> {
        match op {
            Async::Copy { to, from, bytes, source_bytes, ignore } => {
                self.copy(warp, (to, from), *bytes, (*source_bytes, *ignore), active)
            }
            Async::Commit => {
                self.observe(warp, active, || Act::Commit(observe::Group::Copy));
                each(active).for_each(|lane| warp.copies[lane] += 1);
                Ok(())
            }
            Async::Wait { pending } => {
                let pending = *pending;
                self.observe(warp, active, || Act::Wait { group: observe::Group::Copy, pending, reads: false });
                self.wait_copies(warp, pending, active);
                Ok(())
            }
            Async::Bulk(_)
            | Async::BulkTensor(_)
            | Async::BulkCommit
            | Async::BulkWait { .. }
            | Async::Replace { .. }
            | Async::CopyMap { .. } => self.bulk(warp, op, active),
            other => self.mbarrier(warp, other, active),
        }
    }

    fn copy(
        &mut self,
        warp: &mut Warp,
        (to, from): (&Address, &Address),
        bytes: u32,
        (source_bytes, ignore): (Option<Reg>, Option<Guard>),
        active: u32,
    ) -> Try<()> {
        let (targets, sources) = (to.lanes(warp), from.lanes(warp));
        let ignored = ignore.map_or(0, |g| warp.pred(g));
        for lane in each(active) {
            let said = source_bytes.map_or(u64::from(bytes), |r| warp.reg(r)[lane] & 0xffff_ffff);
            let read = if ignored >> lane & 1 == 1 { 0 } else { said };
            if read > u64::from(bytes) {
                let message = format!("{read} bytes to read are more than the {bytes} that are copied");
                return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
            }
            self.aligned(warp, targets[lane], u64::from(bytes), lane)?;
            let Spot::Shared(block, at) = self.locate(warp, Space::Shared, targets[lane], lane)? else { continue };
            self.shared_holds(warp, (block, at), bytes as usize, lane)?;
            if read > 0 {
                self.aligned(warp, sources[lane], u64::from(bytes), lane)?;
                self.global_source(warp, sources[lane], read, lane)?;
            }
            let group = warp.copies[lane];
            if let Some(order) = self.order.as_ref() {
                let who = Who {
                    agent: order.group(warp.agent, Group::Copy),
                    time: group + 1,
                    proxy: Proxy::Generic,
                    ..self.who(warp, lane)
                };
                self.not_a_barrier(warp, (block, at), bytes as usize, lane);
                self.saw_shared_as(warp, (block, at), bytes, &who, What::Write);
            }
            let from = sources[lane];
            let copy = Copy { warp: warp.agent, lane, group, block, to: at, from, bytes, source_bytes: read as u32 };
            if self.landing() == Landing::Early {
                self.land_copy(&copy);
            } else {
                self.pending.push(Pending::Copy(copy));
            }
        }
        Ok(())
    }

    /// Checks what an asynchronous operation reads of global memory, and tells the detectors.
    pub(crate) fn global_source(&mut self, warp: &Warp, address: u64, size: u64, lane: usize) -> Try<()> {
        let (index, buffer, at) = match self.run.memory.find(address) {
            Some(found) if found.1.holds(found.2, size as usize) => found,
            _ => return Err(self.outside(warp, address, size as usize, lane)),
        };
        if self.run.options.check {
            let who = self.who(warp, lane);
            self.saw_global(warp, (index, at), size, &who, What::Read, || false);
            if !buffer.is_all_written(at, size) {
                self.unwritten(warp, 1 << lane, || format!("bytes at {at} of `{}`", buffer.name));
            }
        }
        Ok(())
    }

    /// Performs a copy. Its bounds were checked when it was issued.
    fn land_copy(&mut self, copy: &Copy) {
        let mut bytes = [0; 16];
        self.read_global(copy.from, &mut bytes[..copy.source_bytes as usize]);
        self.blocks[copy.block].shared.write_slice(copy.to as usize, &bytes[..copy.bytes as usize]);
    }

    /// Reads bytes of global memory; those that are in no buffer stay as they are.
    pub(crate) fn read_global(&self, address: u64, bytes: &mut [u8]) {
        let Some((_, buffer, at)) = self.run.memory.find(address) else { return };
        if buffer.holds(at, bytes.len()) {
            buffer.read_bytes(at, bytes);
            return;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            if buffer.holds(at + i as u64, 1) {
                *byte = buffer.read(at + i as u64, 1) as u8;
            }
        }
    }

    /// Writes bytes of global memory that are in a buffer.
    pub(crate) fn write_global(&self, address: u64, bytes: &[u8]) {
        let Some((_, buffer, at)) = self.run.memory.find(address) else { return };
        for (i, byte) in bytes.iter().enumerate() {
            if buffer.holds(at + i as u64, 1) {
                buffer.write(at + i as u64, 1, u64::from(*byte));
            }
        }
    }

    /// `cp.async.wait_group`: the groups of the lanes land but for the last `pending` ones.
    fn wait_copies(&mut self, warp: &mut Warp, pending: u32, active: u32) {
        for work in std::mem::take(self.pending) {
            match work {
                Pending::Copy(c)
                    if c.warp == warp.agent
                        && active >> c.lane & 1 == 1
                        && c.group < warp.copies[c.lane].saturating_sub(pending) =>
                {
                    self.land_copy(&c);
                }
                other => self.pending.push(other),
            }
        }
        if let Some(order) = self.order.as_mut() {
            let complete = each(active).map(|lane| warp.copies[lane].saturating_sub(pending)).min().unwrap_or(0);
            let agent = order.group(warp.agent, Group::Copy);
            order.learn(warp.agent, active, agent, complete);
        }
    }

    /// Lands a piece of pending work.
    pub(crate) fn land(&mut self, index: usize) {
        if let Pending::Arrive { warp, lanes, .. } = self.pending[index] {
            // The copies before it come first.
            let earlier = |p: &Pending| matches!(p, Pending::Copy(c) if c.warp == warp && lanes >> c.lane & 1 == 1);
            if let Some(first) = self.pending[..index].iter().position(earlier) {
                self.land(first);
                return;
            }
        }
        match self.pending.remove(index) {
            Pending::Copy(copy) => self.land_copy(&copy),
            Pending::Arrive { warp, lanes, block, at, groups } => {
                self.arrive_for_copies(warp, lanes, (block, at), groups);
            }
            Pending::Bulk(work) => self.land_bulk(*work),
        }
    }
}
