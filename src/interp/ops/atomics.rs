//! Atomic accesses: read-modify-write, reads, writes, and waiting for a value.
//!
//! Programs with atomics whose order can be observed run one after the other, so the result is that of the programs in
//! order. A scalar atomic with acquire or release semantics orders programs for the race check. A program may wait for
//! a value that no program before it stored, which would never come. With a time limit, the time is then over at once;
//! without one, that is a fault.

use super::super::access::Site;
use super::super::fault::Fault;
use super::super::memory::pointee_size;
use super::super::numbers::{decode, encode, mask, signed, width};
use super::super::program::Program;
use super::super::races::AccessKind;
use super::super::undef::Use;
use super::super::value::Val;
use crate::diag::codes::interp as codes;
use crate::ir::core::Value;
use crate::ir::dialects::enums::{MemSemantic, RmwKind};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{FloatKind, Op, Type};

/// The function that an atomic operation computes: one of `tt.atomic_rmw`, or of a reduction through a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rmw {
    And,
    Or,
    Xor,
    Add,
    FAdd,
    Max,
    Min,
    UMax,
    UMin,
    Exchange,
    /// Computes `old >= value ? 0 : old + 1`.
    Inc,
    /// Computes `old == 0 || old > value ? value : old - 1`.
    Dec,
}

impl Rmw {
    fn of(kind: RmwKind) -> Rmw {
        match kind {
            RmwKind::And => Rmw::And,
            RmwKind::Or => Rmw::Or,
            RmwKind::Xor => Rmw::Xor,
            RmwKind::Add => Rmw::Add,
            RmwKind::Fadd => Rmw::FAdd,
            RmwKind::Max => Rmw::Max,
            RmwKind::Min => Rmw::Min,
            RmwKind::Umax => Rmw::UMax,
            RmwKind::Umin => Rmw::UMin,
            RmwKind::Exch => Rmw::Exchange,
        }
    }

    /// The new value of an element.
    pub(crate) fn apply(self, elem: Type, old: u64, value: u64) -> u64 {
        let w = width(elem);
        let float = elem.as_float();
        let s = |x: u64| signed(x, w);
        match (self, float) {
            (Rmw::Add | Rmw::FAdd, Some(kind)) => add(kind, old, value),
            (Rmw::Max, Some(kind)) => {
                if at_least(kind, old, value) {
                    old
                } else {
                    value
                }
            }
            (Rmw::Min, Some(kind)) => {
                if at_least(kind, value, old) {
                    old
                } else {
                    value
                }
            }
            (Rmw::And, _) => old & value,
            (Rmw::Or, _) => old | value,
            (Rmw::Xor, _) => old ^ value,
            (Rmw::Add | Rmw::FAdd, None) => old.wrapping_add(value) & mask(w),
            (Rmw::Max, None) => s(old).max(s(value)) as u64 & mask(w),
            (Rmw::Min, None) => s(old).min(s(value)) as u64 & mask(w),
            (Rmw::UMax, _) => old.max(value),
            (Rmw::UMin, _) => old.min(value),
            (Rmw::Exchange, _) => value,
            (Rmw::Inc, _) => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            (Rmw::Dec, _) => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
        }
    }
}

fn add(kind: FloatKind, a: u64, b: u64) -> u64 {
    if kind == FloatKind::F64 {
        return (f64::from_bits(a) + f64::from_bits(b)).to_bits();
    }
    encode(kind, decode(kind, a) + decode(kind, b))
}

fn at_least(kind: FloatKind, a: u64, b: u64) -> bool {
    kind.to_f64(a) >= kind.to_f64(b)
}

/// Whether the operation acquires before it, and whether it releases after it.
fn ordering(p: &Program<'_>, op: Op) -> (bool, bool) {
    let scalar = !p.ir.ty(address(p, op)).is_tensor();
    // All atomic operations write what they order in the same way.
    match p.ir.get(op, view::AtomicRmw::ATTR.sem) {
        Some(MemSemantic::Acquire) if scalar => (true, false),
        Some(MemSemantic::Release) if scalar => (false, true),
        Some(MemSemantic::AcqRel) if scalar => (true, true),
        _ => (false, false),
    }
}

fn acquire(p: &mut Program<'_>, op: Op, address: u64) {
    if ordering(p, op).0 {
        let releases = p.shared.releases.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        releases.acquire(address, &mut p.before);
    }
}

fn release(p: &Program<'_>, op: Op, address: u64) {
    if ordering(p, op).1 {
        p.shared.releases.lock().unwrap_or_else(std::sync::PoisonError::into_inner).release(address, p.id, &p.before);
    }
}

/// The pointers: the first operand of every atomic operation.
fn address(p: &Program<'_>, op: Op) -> Value {
    p.ir.operand_group(op, view::AtomicRmw::SLOT.ptr.group())[0]
}

fn site(p: &Program<'_>, op: Op) -> (Site<'static>, usize) {
    let ty = p.ir.ty(address(p, op));
    (Site { op, size: pointee_size(ty), shape: ty.shape() }, ty.num_elements() as usize)
}

/// Whether an element takes part. It is a fault if that is undefined, or if an undefined element goes into one that
/// takes part.
fn takes_part(
    p: &Program<'_>,
    site: &Site<'_>,
    lane: usize,
    mask: Option<&Val>,
    inputs: &[&Val],
) -> Result<bool, Fault> {
    if let Some(m) = mask {
        p.defined(site.op, m, lane, site.shape, Use::Mask)?;
        if m.lanes.get(lane) & 1 == 0 {
            return Ok(false);
        }
    }
    for v in inputs {
        p.defined(site.op, v, lane, site.shape, Use::Atomic)?;
    }
    Ok(true)
}

/// The values that the elements that took part found. The others are undefined.
fn found(p: &Program<'_>, op: Op, out: Vec<u64>, mask: Option<&Val>) -> Val {
    let undef = mask.and_then(|m| p.leave_out(op, out.len(), |lane| m.lanes.get(lane) & 1 == 0));
    let v = if let [one] = out[..] { Val::splat(one) } else { Val::full(out) };
    v.with_undef(undef)
}

/// Runs `tt.atomic_rmw`.
pub(crate) fn rmw(p: &mut Program<'_>, op: Op) -> Result<Val, Fault> {
    let kind = Rmw::of(view::AtomicRmw(op).atomic_rmw_op(p.ir).unwrap_or(RmwKind::Exch));
    let rmw = view::AtomicRmw(op);
    let (ptr, value, enabled) = (p.get(rmw.ptr(p.ir)), p.get(rmw.val(p.ir)), p.optional(rmw.mask(p.ir)));
    let elem = p.ir.ty(rmw.val(p.ir)).elem();
    let (site, n) = site(p, op);
    let mut out = Vec::with_capacity(n);
    for lane in 0..n {
        let on = takes_part(p, &site, lane, enabled.as_ref(), &[&ptr, &value])?;
        out.push(if on {
            element(p, op, &site, lane, &ptr, |old| kind.apply(elem, old, value.lanes.get(lane)))?
        } else {
            0
        });
    }
    Ok(found(p, op, out, enabled.as_ref()))
}

/// Runs `tt.atomic_cas`.
pub(crate) fn cas(p: &mut Program<'_>, op: Op) -> Result<Val, Fault> {
    let cas = view::AtomicCas(op);
    let (ptr, expected, value) = (p.get(cas.ptr(p.ir)), p.get(cas.cmp(p.ir)), p.get(cas.val(p.ir)));
    let (site, n) = site(p, op);
    let mut out = Vec::with_capacity(n);
    for lane in 0..n {
        takes_part(p, &site, lane, None, &[&ptr, &expected, &value])?;
        let swap = |old| if old == expected.lanes.get(lane) { value.lanes.get(lane) } else { old };
        out.push(element(p, op, &site, lane, &ptr, swap)?);
    }
    Ok(found(p, op, out, None))
}

/// Makes one atomic access of an element. Its address is checked, and what it acquires and releases is noted. The
/// result is what was there before.
fn element(
    p: &mut Program<'_>,
    op: Op,
    site: &Site<'_>,
    lane: usize,
    ptr: &Val,
    new: impl Fn(u64) -> u64,
) -> Result<u64, Fault> {
    let address = ptr.lanes.get(lane);
    acquire(p, op, address);
    let at = p.touch(site, AccessKind::Atomic, address, lane, ptr.exact.as_deref())?;
    let old = at.map_or(0, |(b, offset): (usize, usize)| {
        let old = p.shared.memory.buffers[b].update(offset, site.size, &new);
        p.wrote(new(old) != old);
        old
    });
    release(p, op, address);
    Ok(old)
}

/// Runs `tt.atomic_load`.
pub(crate) fn load(p: &mut Program<'_>, op: Op) -> Result<Val, Fault> {
    let load = view::AtomicLoad(op);
    let (ptr, enabled) = (p.get(load.ptr(p.ir)), p.optional(load.mask(p.ir)));
    let (site, n) = site(p, op);
    let mut out = Vec::with_capacity(n);
    for lane in 0..n {
        let on = takes_part(p, &site, lane, enabled.as_ref(), &[&ptr])?;
        out.push(if on { element(p, op, &site, lane, &ptr, |old| old)? } else { 0 });
    }
    Ok(found(p, op, out, enabled.as_ref()))
}

/// Runs `tt.atomic_store`.
pub(crate) fn store(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let store = view::AtomicStore(op);
    let (ptr, value, enabled) = (p.get(store.ptr(p.ir)), p.get(store.val(p.ir)), p.optional(store.mask(p.ir)));
    let (site, n) = site(p, op);
    for lane in 0..n {
        if takes_part(p, &site, lane, enabled.as_ref(), &[&ptr, &value])? {
            element(p, op, &site, lane, &ptr, |_| value.lanes.get(lane))?;
        }
    }
    Ok(())
}

/// Runs `tt.atomic_poll`.
pub(crate) fn poll(p: &mut Program<'_>, op: Op) -> Result<Val, Fault> {
    let poll = view::AtomicPoll(op);
    let (ptr, expected) = (p.get(poll.ptr(p.ir)), p.get(poll.expected(p.ir)));
    let limited = poll.timeout(p.ir).is_some();
    let (site, n) = site(p, op);
    let mut out = Vec::with_capacity(n);
    for lane in 0..n {
        takes_part(p, &site, lane, None, &[&ptr, &expected])?;
        let arrived = element(p, op, &site, lane, &ptr, |old| old)? == expected.lanes.get(lane);
        if !arrived && !limited {
            let message = "waits for a value that no program before this one stored".to_owned();
            return Err(p.fault(op, &codes::TOO_LONG, message, "waits for ever"));
        }
        out.push(u64::from(arrived));
    }
    Ok(found(p, op, out, None))
}
