//! Loads and stores ("PTX ISA, ld", "st").

use super::Try;
use super::access::Spot;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::{Load, Order, Scope, Space, Store};
use crate::emu::num::types::mask;
use crate::emu::observe::Act;
use crate::emu::order::{Home, What, Who};
use crate::emu::report::Kind;

impl Env<'_, '_> {
    pub(crate) fn load(&mut self, warp: &mut Warp, load: &Load, active: u32) -> Try<()> {
        let size = load.ty.bits() as usize / 8;
        let total = size * load.to.len();
        let addresses = load.address.lanes(warp);
        let keep = mask(load.to_bits);
        for lane in each(active) {
            let address = addresses[lane];
            self.aligned(warp, address, total as u64, lane)?;
            let spot = self.locate(warp, load.space, address, lane)?;
            if load.order != Order::Weak {
                self.synchronise(warp, (spot, address, lane), load.order, (true, false), load.scope);
            }
            self.saw_read(warp, spot, total, lane, (load.order != Order::Weak).then_some(load.scope))?;
            for (i, to) in load.to.iter().enumerate() {
                let bits = self.read(warp, spot, i * size, size, lane)?;
                warp.reg_mut(*to)[lane] = load.ty.extend(bits) & keep;
            }
        }
        Ok(())
    }

    pub(crate) fn store(&mut self, warp: &mut Warp, store: &Store, active: u32) -> Try<()> {
        let size = store.ty.bits() as usize / 8;
        let total = size * store.from.len();
        let addresses = store.address.lanes(warp);
        for lane in each(active) {
            let address = addresses[lane];
            self.aligned(warp, address, total as u64, lane)?;
            let spot = self.locate(warp, store.space, address, lane)?;
            if store.order != Order::Weak {
                self.synchronise(warp, (spot, address, lane), store.order, (false, true), store.scope);
            }
            self.saw_write(warp, spot, (size, store), lane)?;
            for (i, from) in store.from.iter().enumerate() {
                let bits = warp.reg(*from)[lane];
                self.write(warp, spot, i * size, size, bits, lane)?;
            }
        }
        Ok(())
    }

    /// An access that synchronises, or that a fence may make one.
    pub(crate) fn synchronise(
        &mut self,
        warp: &Warp,
        (spot, address, lane): (Spot, u64, usize),
        order: Order,
        (reads, writes): (bool, bool),
        scope: Scope,
    ) {
        if self.order.is_none() {
            return;
        }
        // Shared memory of the blocks lies behind all addresses of global memory.
        let place = match spot {
            Spot::Shared(block, at) => {
                crate::emu::memory::SHARED_WINDOW
                    + (u64::from(self.cluster) << 32 | (block as u64) << 24 | u64::from(at))
            }
            _ => address,
        };
        let acquires = reads && matches!(order, Order::Acquire | Order::AcquireRelease);
        let releases = writes && matches!(order, Order::Release | Order::AcquireRelease);
        self.observe(warp, 1 << lane, || Act::Synchronise { place, reads, writes, acquires, releases });
        let Some(clocks) = self.order.as_mut() else { return };
        let who = (warp.agent, lane, Home { cluster: self.cluster, block: warp.block as u32 });
        let places = &mut self.world.everywhere.places;
        let scope = places.told(scope);
        if reads {
            clocks.read_place(who, (places, place), acquires, scope);
        }
        if writes {
            clocks.write_place(who, (places, place), releases, scope);
        }
    }

    /// Tells the detectors of a read, and checks its bounds.
    fn saw_read(&mut self, warp: &Warp, spot: Spot, size: usize, lane: usize, atomic: Option<Scope>) -> Try<()> {
        match spot {
            Spot::Shared(block, at) => {
                self.shared_holds(warp, (block, at), size, lane)?;
                if self.run.options.check {
                    let what = if atomic.is_some() { What::Atomic } else { What::Read };
                    self.saw_shared(warp, (block, at), size as u32, lane, what, |_| false);
                    if !self.blocks[block].shared.is_written(at as usize, size) {
                        self.unwritten(warp, 1 << lane, || format!("bytes of shared memory at {at:#x}"));
                    }
                }
            }
            Spot::Global(address) => {
                let (index, buffer, at) = match self.run.memory.find(address) {
                    Some(found) if found.1.holds(found.2, size) => found,
                    _ => return Err(self.outside(warp, address, size, lane)),
                };
                if self.run.options.check {
                    let what = if atomic.is_some() { What::Atomic } else { What::Read };
                    let who = Who { scope: atomic.unwrap_or(Scope::Gpu), ..self.who(warp, lane) };
                    self.saw_global(warp, (index, at), size as u64, &who, what, || false);
                    let mut parts = (0..size as u64).step_by(8.min(size));
                    if !parts.all(|part| buffer.is_written(at + part, 8.min(size))) {
                        self.unwritten(warp, 1 << lane, || format!("bytes at {at} of `{}`", buffer.name));
                    }
                }
            }
            Spot::Local(at) => {
                let local = &warp.local[lane];
                if !local.holds(at, size) {
                    return Err(self.outside_of(warp, "local memory", at, size, lane));
                }
                if self.run.options.check && !local.is_written(at as usize, size) {
                    self.unwritten(warp, 1 << lane, || format!("bytes of local memory at {at:#x}"));
                }
            }
            Spot::KernelParam(at) => {
                if at.checked_add(size as u64).is_none_or(|end| end > self.run.params.len() as u64) {
                    return Err(self.outside_of(warp, "the kernel's parameters", at, size, lane));
                }
            }
            Spot::CallParam(at) => {
                if at.checked_add(size as u64).is_none_or(|end| end > warp.params.size as u64) {
                    return Err(self.outside_of(warp, "parameter space", at, size, lane));
                }
            }
        }
        Ok(())
    }

    fn outside_of(&self, warp: &Warp, what: &str, at: u64, size: usize, lane: usize) -> super::Fault {
        let message = format!("{size} bytes at {at:#x} are outside of {what}");
        self.fault(warp, 1 << lane, Kind::OutOfBounds, message)
    }

    /// Tells the detectors of a write, and checks its bounds.
    fn saw_write(&mut self, warp: &Warp, spot: Spot, (size, store): (usize, &Store), lane: usize) -> Try<()> {
        let total = size * store.from.len();
        let strong = store.order != Order::Weak;
        let value = |i: usize| warp.reg(store.from[i])[lane] & mask(size as u32 * 8);
        match spot {
            Spot::Shared(block, at) => {
                self.shared_holds(warp, (block, at), total, lane)?;
                if self.run.options.check {
                    self.not_a_barrier(warp, (block, at), total, lane);
                    let what = if strong { What::Atomic } else { What::Write };
                    self.saw_shared(warp, (block, at), total as u32, lane, what, |env| {
                        let shared = &env.blocks[block].shared;
                        (0..store.from.len()).all(|i| shared.read(at as usize + i * size, size) == value(i))
                    });
                }
            }
            Spot::Global(address) => {
                let (index, buffer, at) = match self.run.memory.find(address) {
                    Some(found) if found.1.holds(found.2, total) => found,
                    _ => return Err(self.outside(warp, address, total, lane)),
                };
                if self.run.options.check {
                    let what = if strong { What::Atomic } else { What::Write };
                    let who = Who { scope: store.scope, ..self.who(warp, lane) };
                    self.saw_global(warp, (index, at), total as u64, &who, what, || {
                        (0..store.from.len()).all(|i| buffer.read(at + (i * size) as u64, size) == value(i))
                    });
                }
            }
            Spot::Local(at) => {
                if !warp.local[lane].holds(at, total) {
                    return Err(self.outside_of(warp, "local memory", at, total, lane));
                }
            }
            Spot::KernelParam(at) => {
                let message = format!("the kernel's parameters at {at:#x} cannot be written");
                return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
            }
            Spot::CallParam(at) => {
                if at.checked_add(total as u64).is_none_or(|end| end > warp.params.size as u64) {
                    return Err(self.outside_of(warp, "parameter space", at, total, lane));
                }
            }
        }
        Ok(())
    }

    /// Reads `size` bytes, up to 8, of what a spot points at. The bounds were checked.
    pub(crate) fn read(&self, warp: &Warp, spot: Spot, offset: usize, size: usize, lane: usize) -> Try<u64> {
        Ok(match spot {
            Spot::Global(address) => {
                let address = address + offset as u64;
                match self.run.memory.find(address) {
                    Some((_, buffer, at)) if buffer.holds(at, size) => buffer.read(at, size),
                    _ => return Err(self.outside(warp, address, size, lane)),
                }
            }
            Spot::Shared(block, at) => self.blocks[block].shared.read(at as usize + offset, size),
            Spot::Local(at) => warp.local[lane].read(at as usize + offset, size),
            Spot::KernelParam(at) => number(&self.run.params[at as usize + offset..][..size]),
            Spot::CallParam(at) => {
                let start = lane * warp.params.size + at as usize + offset;
                number(&warp.params.bytes[start..start + size])
            }
        })
    }

    /// Writes `size` bytes, up to 8, of what a spot points at. The bounds were checked.
    pub(crate) fn write(
        &mut self,
        warp: &mut Warp,
        spot: Spot,
        offset: usize,
        size: usize,
        bits: u64,
        lane: usize,
    ) -> Try<()> {
        match spot {
            Spot::Global(address) => {
                let address = address + offset as u64;
                match self.run.memory.find(address) {
                    Some((_, buffer, at)) if buffer.holds(at, size) => buffer.write(at, size, bits),
                    _ => return Err(self.outside(warp, address, size, lane)),
                }
            }
            Spot::Shared(block, at) => self.blocks[block].shared.write(at as usize + offset, size, bits),
            Spot::Local(at) => warp.local[lane].write(at as usize + offset, size, bits),
            Spot::KernelParam(_) => {}
            Spot::CallParam(at) => {
                let start = lane * warp.params.size + at as usize + offset;
                warp.params.bytes[start..start + size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        Ok(())
    }

    /// `cvta`: the generic address of an address in a space, or back.
    pub(crate) fn window_of(&self, space: Space) -> u64 {
        match space {
            Space::Shared | Space::Cluster => crate::emu::memory::SHARED_WINDOW,
            Space::Local => crate::emu::memory::LOCAL_WINDOW,
            Space::KernelParam => crate::emu::memory::PARAM_WINDOW,
            Space::Global | Space::Const | Space::Generic | Space::CallParam => 0,
        }
    }
}

/// A number from its bytes.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b))
}
