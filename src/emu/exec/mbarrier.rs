//! Barriers in shared memory ("PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! A barrier has a phase, a count of arrivals that are still to come, and a count of bytes that are still to come (the
//! transaction count). When both are 0 the phase is complete: the next one begins with the full count of arrivals.
//!
//! The object lives beside the memory, not in it: the bytes at its address belong to it from `init` to `inval`, and a
//! store there is a finding.

use super::Try;
use super::access::Spot;
use super::block::Mbarrier;
use super::env::Env;
use super::lanes::each;
use super::pending::Pending;
use super::warp::{Wait, Warp};
use crate::emu::decode::copy_op::{Arrive, Async, Phase, Place};
use crate::emu::decode::program::{Pred, Reg};
use crate::emu::observe::{Act, Meeting};
use crate::emu::order::{Clock, Group, What};
use crate::emu::report::Kind;

/// The most arrivals and bytes that a barrier can expect.
const MAX_COUNT: u64 = (1 << 20) - 1;

/// The bytes of a barrier.
const BYTES: u32 = 8;

impl Env<'_, '_> {
    /// The block and the distance of a barrier.
    pub(crate) fn barrier_place(&self, warp: &Warp, place: &Place, lane: usize) -> Try<(usize, u32)> {
        let address = place.address.lanes(warp)[lane];
        self.aligned(warp, address, u64::from(BYTES), lane)?;
        match self.locate(warp, place.space, address, lane)? {
            Spot::Shared(block, at) => {
                self.shared_holds(warp, (block, at), BYTES as usize, lane)?;
                Ok((block, at))
            }
            _ => Err(self.fault(warp, 1 << lane, Kind::Mbarrier, "the barrier is not in shared memory")),
        }
    }

    /// The barrier at a place, which must be there.
    fn mbarrier_at(&mut self, warp: &Warp, (block, at): (usize, u32), lane: usize) -> Try<&mut Mbarrier> {
        if !self.blocks[block].mbarriers.contains_key(&at) {
            let message = format!("there is no `mbarrier` at {at:#x}: none was initialised, or it was invalidated");
            return Err(self.fault(warp, 1 << lane, Kind::Mbarrier, message));
        }
        Ok(self.blocks[block].mbarriers.get_mut(&at).expect("it is there"))
    }

    /// Orders a use of a barrier behind its initialisation.
    fn uses_barrier(&mut self, warp: &Warp, (block, at): (usize, u32), lane: usize) {
        // Operations on one barrier have an order among themselves, as atomics do.
        self.saw_shared(warp, (block, at), BYTES, lane, What::Atomic, |_| false);
    }

    pub(crate) fn mbarrier(&mut self, warp: &mut Warp, op: &Async, active: u32) -> Try<()> {
        match op {
            Async::Init { at, count } => self.initialise(warp, at, *count, active),
            Async::Invalidate { at } => {
                for lane in each(active) {
                    let place = self.barrier_place(warp, at, lane)?;
                    self.mbarrier_at(warp, place, lane)?;
                    self.saw_shared(warp, place, BYTES, lane, What::Write, |_| false);
                    self.blocks[place.0].mbarriers.remove(&place.1);
                }
                Ok(())
            }
            Async::Expect { at, bytes } => self.transaction(warp, (at, *bytes), 1, active),
            Async::Complete { at, bytes } => self.transaction(warp, (at, *bytes), -1, active),
            Async::Arrive(arrive) => self.arrive(warp, arrive, active),
            Async::Test { p, at, phase, waits: _, acquire } => self.test(warp, *p, (at, *phase), *acquire, active),
            Async::PendingCount { d, state } => {
                let counts = warp.reg(*state).map(|s| s >> 40);
                warp.set(*d, &counts, active);
                Ok(())
            }
            Async::CopyArrive { at, noinc } => self.copy_arrive(warp, at, *noinc, active),
            // `asynchronous` has taken the others.
            _ => Ok(()),
        }
    }

    fn initialise(&mut self, warp: &mut Warp, at: &Place, count: Reg, active: u32) -> Try<()> {
        for lane in each(active) {
            let (block, at) = self.barrier_place(warp, at, lane)?;
            let count = warp.reg(count)[lane] & 0xffff_ffff;
            if count == 0 || count > MAX_COUNT {
                let message = format!("an `mbarrier` of {count} arrivals: there must be 1 to {MAX_COUNT}");
                return Err(self.fault(warp, 1 << lane, Kind::Mbarrier, message));
            }
            self.saw_shared(warp, (block, at), BYTES, lane, What::Write, |_| false);
            let agent = self.order.as_mut().map_or(0, crate::emu::order::Order::new_barrier);
            let (expected, left) = (count as u32, count as u32);
            let clock = Clock::default();
            let new = Mbarrier { agent, expected, left, bytes: 0, phase: 0, clock: clock.clone(), done: clock };
            self.observe(warp, 1 << lane, || Act::Init(Meeting::Mbarrier(block as u32, at)));
            self.blocks[block].mbarriers.insert(at, new);
            self.blocks[block].shared.write(at as usize, BYTES as usize, 0);
        }
        Ok(())
    }

    /// `expect_tx` and `complete_tx`.
    fn transaction(&mut self, warp: &mut Warp, (at, bytes): (&Place, Reg), sign: i64, active: u32) -> Try<()> {
        for lane in each(active) {
            let place = self.barrier_place(warp, at, lane)?;
            self.uses_barrier(warp, place, lane);
            let bytes = (warp.reg(bytes)[lane] & 0xffff_ffff) as i64;
            self.mbarrier_at(warp, place, lane)?.bytes += sign * bytes;
            self.check_bytes(warp, place, lane)?;
            self.mbarrier_at(warp, place, lane)?.settle();
        }
        Ok(())
    }

    fn check_bytes(&mut self, warp: &Warp, place: (usize, u32), lane: usize) -> Try<()> {
        let bytes = self.mbarrier_at(warp, place, lane)?.bytes;
        if bytes.unsigned_abs() > MAX_COUNT {
            let message =
                format!("the `mbarrier` at {:#x} expects {bytes} bytes, and at most {MAX_COUNT} can be", place.1);
            return Err(self.fault(warp, 1 << lane, Kind::Mbarrier, message));
        }
        Ok(())
    }

    fn arrive(&mut self, warp: &mut Warp, op: &Arrive, active: u32) -> Try<()> {
        for lane in each(active) {
            let place = self.barrier_place(warp, &op.at, lane)?;
            self.uses_barrier(warp, place, lane);
            if let Some(bytes) = op.expect {
                let bytes = (warp.reg(bytes)[lane] & 0xffff_ffff) as i64;
                self.mbarrier_at(warp, place, lane)?.bytes += bytes;
                self.check_bytes(warp, place, lane)?;
            }
            let count = op.count.map_or(1, |c| warp.reg(c)[lane] & 0xffff_ffff) as u32;
            let barrier = self.mbarrier_at(warp, place, lane)?;
            if count == 0 || count > barrier.left {
                let message = format!(
                    "{count} arrivals at the `mbarrier` at {:#x}, which lacks {} of {} in phase {}",
                    place.1, barrier.left, barrier.expected, barrier.phase
                );
                return Err(self.fault(warp, 1 << lane, Kind::Mbarrier, message));
            }
            let (state, round) = (u64::from(barrier.left) << 40 | barrier.phase, barrier.phase);
            barrier.left -= count;
            if op.drop {
                barrier.expected -= 1;
            }
            let mut clock = std::mem::take(&mut barrier.clock);
            if let (Some(order), true) = (self.order.as_mut(), op.release) {
                order.release(warp.agent, active, &mut clock);
            }
            let at = Meeting::Mbarrier(place.0 as u32, place.1);
            self.observe(warp, 1 << lane, || Act::Arrive { at, round, releases: op.release });
            let barrier = self.mbarrier_at(warp, place, lane)?;
            barrier.clock = clock;
            barrier.settle();
            if let Some(to) = op.state {
                warp.reg_mut(to)[lane] = state;
            }
        }
        Ok(())
    }

    /// `test_wait` and `try_wait`. Both may wait here, and both may say now and then that the phase is not complete,
    /// which the ISA allows.
    fn test(&mut self, warp: &mut Warp, p: Pred, (at, phase): (&Place, Phase), acquire: bool, active: u32) -> Try<()> {
        let mut complete = 0;
        let mut waiting = None;
        for lane in each(active) {
            let place = self.barrier_place(warp, at, lane)?;
            self.uses_barrier(warp, place, lane);
            let barrier = self.mbarrier_at(warp, place, lane)?;
            let now = barrier.phase;
            let is_complete = match phase {
                Phase::Parity(r) => now & 1 != warp.reg(r)[lane] & 1,
                Phase::State(r) => now > warp.reg(r)[lane] & ((1 << 40) - 1),
            };
            if is_complete {
                complete |= 1 << lane;
                if now > 0 {
                    let at = Meeting::Mbarrier(place.0 as u32, place.1);
                    self.observe(warp, 1 << lane, || Act::Leave { at, round: now - 1, acquires: acquire });
                }
                if acquire {
                    let done = self.mbarrier_at(warp, place, lane)?.done.clone();
                    if let Some(order) = self.order.as_mut() {
                        order.acquire(warp.agent, active, &done);
                    }
                }
            } else {
                waiting.get_or_insert((place, now));
            }
        }
        if let (Some(((block, at), phase)), false) = (waiting, self.random.once_in(16)) {
            // The step is executed again when the phase is complete.
            warp.wait = Some(Wait::Mbarrier { block, at, phase });
            warp.pc = warp.at;
            return Ok(());
        }
        warp.set_pred(p, complete, active);
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`: an arrival once the lane's earlier copies have landed.
    fn copy_arrive(&mut self, warp: &mut Warp, at: &Place, noinc: bool, active: u32) -> Try<()> {
        for lane in each(active) {
            let place = self.barrier_place(warp, at, lane)?;
            self.uses_barrier(warp, place, lane);
            let barrier = self.mbarrier_at(warp, place, lane)?;
            if !noinc {
                barrier.left += 1;
            }
            let (block, at) = place;
            let groups = warp.copies[lane] + 1;
            let work = Pending::Arrive { warp: warp.agent, lanes: 1 << lane, block, at, groups };
            self.pending.push(work);
            if self.landing() == super::launch::Landing::Early {
                self.land(self.pending.len() - 1);
            }
        }
        Ok(())
    }

    /// The arrival of landed copies, which tells of them alone.
    pub(crate) fn arrive_for_copies(&mut self, warp: u32, _lanes: u32, (block, at): (usize, u32), groups: u32) {
        let agent = self.order.as_ref().map(|o| o.group(warp, Group::Copy));
        let Some(barrier) = self.blocks[block].mbarriers.get_mut(&at) else { return };
        if let Some(agent) = agent {
            let known = barrier.clock.generic.get(agent);
            barrier.clock.generic.set(agent, known.max(groups));
        }
        barrier.left = barrier.left.saturating_sub(1);
        barrier.settle();
    }

    /// The bytes of a copy have landed. The result is the agent of the barrier, and the phase that covers the copy.
    pub(crate) fn complete_bytes(&mut self, (block, at): (usize, u32), bytes: u32) -> Option<(u32, u32)> {
        let barrier = self.blocks[block].mbarriers.get_mut(&at)?;
        let covered = (barrier.agent, barrier.phase as u32 + 1);
        barrier.bytes -= i64::from(bytes);
        barrier.settle();
        Some(covered)
    }

    /// Notes a store into the bytes of a barrier.
    pub(crate) fn not_a_barrier(&mut self, warp: &Warp, (block, at): (usize, u32), size: usize, lane: usize) {
        let barriers = &self.blocks[block].mbarriers;
        if barriers.is_empty() {
            return;
        }
        let end = at + size as u32;
        let found = barriers.range(at.saturating_sub(BYTES - 1)..end).next().map(|(at, _)| *at);
        if let Some(barrier) = found {
            self.note(warp, 1, Kind::Mbarrier, |env| {
                let message = format!("a write into the `mbarrier` at {barrier:#x}");
                let mut finding = env.finding(warp, 1 << lane, Kind::Mbarrier, message);
                finding.help =
                    Some("invalidate the barrier with `mbarrier.inval` before its bytes are used".to_owned());
                finding
            });
        }
    }
}
