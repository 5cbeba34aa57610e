//! Checks each access to memory and then performs it.
//!
//! 1. An address whose index has wrapped around is reported as that, whether or not it happens to be in bounds.
//! 2. The address must lie in a buffer with all its bytes, and be a multiple of its size.
//! 3. What is read must have been written.
//! 4. The race check sees the access before it happens.

use super::fault::{self, Fault};
use super::program::Program;
use super::races::{AccessKind, Conflict};
use super::undef::{Undef, Use, is_uniform};
use super::value::{Exact, Lanes, Val, coordinates};
use crate::diag::codes::interp as codes;
use crate::ir::Op;

/// The accesses that one operation makes, one for each lane whose mask is set.
pub(crate) struct Site<'s> {
    pub(crate) op: Op,
    /// The bytes of an element.
    pub(crate) size: usize,
    /// The shape of the tensor of pointers, to name the faulting element.
    pub(crate) shape: &'s [i64],
}

impl Program<'_> {
    /// Checks an access. Gives the buffer and the offset, or nothing for an access out of bounds that is not reported.
    #[inline]
    pub(crate) fn touch(
        &self,
        site: &Site<'_>,
        access: AccessKind,
        address: u64,
        lane: usize,
        exact: Option<&Exact>,
    ) -> Result<Option<(usize, usize)>, Fault> {
        if let Some(exact) = exact
            && exact.get(lane) != i128::from(address)
        {
            self.report(exact.origin, &codes::INDEX_OVERFLOW, || self.overflowed(site, exact, address, lane))?;
            return Ok(None);
        }
        let Some((index, offset)) = self.shared.memory.find(address) else {
            if !self.shared.options.checks.bounds {
                return Ok(None);
            }
            self.report(site.op, &codes::NULL_POINTER, || self.nowhere(site, address, lane))?;
            return Ok(None);
        };
        let buffer = &self.shared.memory.buffers[index];
        if offset < 0 || offset as usize + site.size > buffer.len {
            if !self.shared.options.checks.bounds {
                return Ok(None);
            }
            self.report(site.op, &codes::OUT_OF_BOUNDS, || self.out_of_bounds(site, index, offset, access, lane))?;
            return Ok(None);
        }
        let offset = offset as usize;
        if offset & (site.size - 1) != 0 {
            self.report(site.op, &codes::UNALIGNED, || self.unaligned(site, index, offset, lane))?;
            return Ok(None);
        }
        if access != AccessKind::Write && self.shared.options.checks.uninit && !buffer.is_written(offset, site.size) {
            self.report(site.op, &codes::UNINITIALISED, || self.uninitialised(site, index, offset, lane))?;
        }
        if let Some(history) = &self.shared.history
            && let Err(conflict) = history.access(index, offset, site.size, (access, site.op), self.id, &self.before)
        {
            self.report(site.op, &codes::RACE, || self.race(site, conflict, access, index, offset, lane))?;
        }
        Ok(Some((index, offset)))
    }

    /// Loads the lanes whose mask is set. The others are `other`, and undefined without it.
    pub(crate) fn load(
        &self,
        site: &Site<'_>,
        ptr: &Val,
        mask: Option<&Val>,
        other: Option<&Val>,
        n: usize,
    ) -> Result<Val, Fault> {
        let exact = ptr.exact.as_deref();
        // Without a mask, one address for all needs only one access.
        let count = if is_uniform(ptr) && mask.is_none_or(is_uniform) && other.is_none_or(is_uniform) { 1 } else { n };
        let mut out = Vec::with_capacity(count);
        let mut left_out = false;
        for lane in 0..count {
            if let Some(m) = mask {
                self.defined(site.op, m, lane, site.shape, Use::Mask)?;
                if m.lanes.get(lane) & 1 == 0 {
                    left_out = true;
                    out.push(other.map_or(0, |o| o.lanes.get(lane)));
                    continue;
                }
            }
            self.defined(site.op, ptr, lane, site.shape, Use::Address)?;
            let at = self.touch(site, AccessKind::Read, ptr.lanes.get(lane), lane, exact)?;
            out.push(at.map_or(0, |(b, offset)| self.shared.memory.buffers[b].read(offset, site.size)));
        }
        let off = |lane: usize| mask.is_some_and(|m| m.lanes.get(lane) & 1 == 0);
        let undef = match other {
            _ if !left_out => None,
            None => self.leave_out(site.op, count, off),
            Some(o) => o
                .undef
                .as_ref()
                .and_then(|u| Undef::new((0..count).map(|l| off(l) && u.at(l)).collect(), u.origin, u.mixed)),
        };
        let lanes = if count == 1 { Lanes::Splat(out[0]) } else { out.into() };
        Ok(Val::from(lanes).with_undef(undef))
    }

    /// Stores the lanes whose mask is set.
    pub(crate) fn store(
        &self,
        site: &Site<'_>,
        ptr: &Val,
        stored: &Val,
        mask: Option<&Val>,
        n: usize,
    ) -> Result<(), Fault> {
        let (exact, value) = (ptr.exact.as_deref(), &stored.lanes);
        let on = |lane| mask.is_none_or(|m| m.lanes.get(lane) & 1 == 1);
        for lane in 0..n {
            if let Some(m) = mask {
                self.defined(site.op, m, lane, site.shape, Use::Mask)?;
            }
            if !on(lane) {
                continue;
            }
            self.defined(site.op, ptr, lane, site.shape, Use::Address)?;
            self.defined(site.op, stored, lane, site.shape, Use::Stored)?;
            if let Some((b, offset)) = self.touch(site, AccessKind::Write, ptr.lanes.get(lane), lane, exact)? {
                self.wrote(self.shared.memory.buffers[b].write(offset, site.size, value.get(lane)));
            }
        }
        // What a lane has stored must still be there after all lanes have stored.
        if self.shared.options.checks.races && n > 1 && !value.is_splat() {
            let low = super::numbers::mask(site.size as u32 * 8);
            for lane in (0..n).filter(|&l| on(l)) {
                let address = ptr.lanes.get(lane);
                let Some((b, offset)) = self
                    .shared
                    .memory
                    .find(address)
                    .filter(|&(b, o)| o >= 0 && o as usize + site.size <= self.shared.memory.buffers[b].len)
                else {
                    continue;
                };
                if self.shared.memory.buffers[b].read(offset as usize, site.size) != value.get(lane) & low {
                    return self
                        .report(site.op, &codes::OVERLAP, || self.overlapping(site, ptr, address, lane, n, b, offset));
                }
            }
        }
        Ok(())
    }

    /// Names an element: `x[130]`, with the byte offset and the size of the buffer where they help.
    fn element(&self, buffer: usize, offset: i64) -> String {
        let b = &self.shared.memory.buffers[buffer];
        let size = super::memory::element_size(b.elem) as i64;
        if offset % size == 0 {
            format!("element {} of `{}`", offset / size, b.name)
        } else {
            format!("byte {offset} of `{}`", b.name)
        }
    }

    fn size_note(&self, buffer: usize) -> String {
        let b = &self.shared.memory.buffers[buffer];
        let size = super::memory::element_size(b.elem);
        format!("`{}` has {} bytes: {} elements of type {}", b.name, b.len, b.len / size, b.elem)
    }

    /// Says which element of the accessing tensor it is.
    fn lane_note(site: &Site<'_>, lane: usize) -> String {
        if site.shape.is_empty() {
            return "the access is a scalar one".to_owned();
        }
        format!("tensor index {}", fault::tuple(&coordinates(site.shape, lane)))
    }

    #[cold]
    fn out_of_bounds(&self, site: &Site<'_>, buffer: usize, offset: i64, access: AccessKind, lane: usize) -> Fault {
        let what = if access == AccessKind::Read { "a load from" } else { "a store to" };
        let message = format!("{what} {}, out of bounds", self.element(buffer, offset));
        let mut d = *self.fault(site.op, &codes::OUT_OF_BOUNDS, message, "out of bounds here");
        d = d.note(Self::lane_note(site, lane)).note(format!("byte offset {offset}; {}", self.size_note(buffer)));
        Box::new(d.help("mask the access, or make the buffer larger"))
    }

    #[cold]
    fn nowhere(&self, site: &Site<'_>, address: u64, lane: usize) -> Fault {
        let what = if address < 1 << 39 { "a null pointer or an integer" } else { "no buffer" };
        let message = format!("an access to address {address:#x}, which is {what}");
        Box::new(self.fault(site.op, &codes::NULL_POINTER, message, "accessed here").note(Self::lane_note(site, lane)))
    }

    #[cold]
    fn unaligned(&self, site: &Site<'_>, buffer: usize, offset: usize, lane: usize) -> Fault {
        let name = &self.shared.memory.buffers[buffer].name;
        let message =
            format!("an access of {} bytes at byte offset {offset} of `{name}`, which is no multiple of it", site.size);
        Box::new(self.fault(site.op, &codes::UNALIGNED, message, "unaligned here").note(Self::lane_note(site, lane)))
    }

    #[cold]
    fn uninitialised(&self, site: &Site<'_>, buffer: usize, offset: usize, lane: usize) -> Fault {
        let message = format!("{} is read, and nobody has written it", self.element(buffer, offset as i64));
        let d = self.fault(site.op, &codes::UNINITIALISED, message, "read here");
        Box::new(d.note(Self::lane_note(site, lane)).note(format!("byte offset {offset}; {}", self.size_note(buffer))))
    }

    #[cold]
    fn race(
        &self,
        site: &Site<'_>,
        conflict: Conflict,
        access: AccessKind,
        buffer: usize,
        offset: usize,
        lane: usize,
    ) -> Fault {
        let [gx, gy, _] = self.shared.grid;
        let other = conflict
            .other
            .map_or("another program".to_owned(), |id| fault::program([id % gx, id / gx % gy, id / gx / gy]));
        let (now, before) = match access {
            AccessKind::Read => ("loads", "loaded here"),
            AccessKind::Write => ("stores", "stored here"),
            AccessKind::Atomic => ("atomically updates", "updated here"),
        };
        let theirs = if conflict.other_wrote { "stored" } else { "accessed" };
        let me = fault::program(self.pid);
        let element = self.element(buffer, offset as i64);
        let message = format!("a race: {me} {now} {element}, which {other} has {theirs}, and nothing orders the two");
        let same = conflict.other_op == Some(site.op);
        let mut d = fault::at(self.ir, site.op, &codes::RACE, message, if same { "both do so here" } else { before });
        if let Some(p) = conflict.other_op.filter(|_| !same).and_then(|o| fault::place(self.ir.loc(o))) {
            d = d.at(p, format!("{other} {theirs} it here"));
        }
        Box::new(d.note(Self::lane_note(site, lane)).note(format!("byte offset {offset}; {}", self.size_note(buffer))))
    }

    #[cold]
    fn overflowed(&self, site: &Site<'_>, exact: &Exact, address: u64, lane: usize) -> Fault {
        let ir = self.ir;
        let width = ir.ty(ir.result(exact.origin)).bit_width().unwrap_or(64);
        let message =
            format!("integer overflow in an index: `{}` wraps around in {width} bits", ir.op_name(exact.origin));
        let mut d = *self.fault(exact.origin, &codes::INDEX_OVERFLOW, message, "wraps around here");
        if let Some(p) = fault::place(ir.loc(site.op)) {
            d = d.at(p, "and becomes part of this address");
        }
        let distance = exact.get(lane) - i128::from(address);
        let d = d
            .note(Self::lane_note(site, lane))
            .note(format!("the address is {distance} bytes away from where it would be without wrapping"));
        Box::new(d.help("compute the index in 64 bits: `.to(tl.int64)` before the multiplication"))
    }

    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn overlapping(
        &self,
        site: &Site<'_>,
        ptr: &Val,
        address: u64,
        lane: usize,
        n: usize,
        buffer: usize,
        offset: i64,
    ) -> Fault {
        let message = format!("two elements of one store write different values to {}", self.element(buffer, offset));
        let mut d = *self.fault(site.op, &codes::OVERLAP, message, "overlapping here");
        let other = (lane + 1..n).rev().find(|&l| ptr.lanes.get(l) == address);
        d = d.note(Self::lane_note(site, lane));
        if let Some(other) = other {
            d = d.note(format!("the other one is {}", fault::tuple(&coordinates(site.shape, other))));
        }
        Box::new(d)
    }
}
