//! What an operation does to shared memory, in the order in which it happens: accesses, and what orders them.
//!
//! | operation | events |
//! |---|---|
//! | `ttg.local_load`, `ttg.local_store`, … | an access to each buffer that the descriptor may be part of |
//! | scratch memory (`tt.reduce`, …) | write; barrier; read: every write of the operation's own protocol is followed by a barrier |
//! | … that stays within warps | write; read: what other warps do is not waited for |
//! | `ttg.async_copy_global_to_local`, `wgmma`, TMA to global memory | an access in flight: complete only at the wait that follows |
//! | TMA to shared memory | an access that must come after earlier ones; every thread waits for its mbarrier itself |
//! | `ttg.async_wait`, `ttng.warp_group_dot_wait`, … | what was in flight in this thread is complete, as if it happened now |
//! | `ttg.barrier local`, and operations that begin with one | barrier |
//!
//! An access covers an interval of bytes. Where a view takes a known part of a buffer, the interval is that of the part (a constant index), or
//! the box of the part is kept beside it (a sub-slice, whose bytes are not contiguous).

use crate::ir::core::{Attr, Ir, Op, Type, Value};
use crate::ir::dialects::{OpKind, TtOp, TtgOp, TtngOp};
use crate::layout::layout_of;
use crate::layout::plan::ConversionPlan;
use crate::target::Target;

use super::allocation::{Allocation, BufferKind, buffer_bytes};
use super::scratch::element_bits;
use super::shared_alias::{is_shared, viewed};

/// Who makes an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// All threads, each its part, or the hardware on their behalf.
    Data,
    /// One thread, the same for all such accesses, to an mbarrier that it makes or ends.
    MbarrierLife,
    /// Any thread, to an mbarrier; these operations are atomic (PTX ISA, "mbarrier").
    MbarrierUse,
}

/// The part of an allocation that a sub-slice takes: offset and size along each dimension.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Part {
    encoding: Attr,
    alloc_shape: Vec<i64>,
    ranges: Vec<(i64, i64)>,
}

impl Part {
    fn disjoint(&self, other: &Part) -> bool {
        self.encoding == other.encoding
            && self.alloc_shape == other.alloc_shape
            && self.ranges.iter().zip(&other.ranges).any(|(a, b)| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0)
    }
}

/// One access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    pub part: Option<Part>,
    pub class: Class,
    pub write: bool,
}

impl Access {
    /// Whether the order of two accesses of different threads matters.
    #[must_use]
    pub fn conflicts(&self, other: &Access) -> bool {
        let overlap = self.start < other.end && other.start < self.end;
        let apart = matches!((&self.part, &other.part), (Some(a), Some(b)) if a.disjoint(b));
        let ordered = self.class == other.class && self.class != Class::Data;
        overlap && (self.write || other.write) && !apart && !ordered
    }
}

/// What is in flight; each kind has waits of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flight {
    /// `cp.async`
    Copy,
    /// `wgmma`
    Product,
    /// TMA to global memory.
    Store,
}

/// What happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Access(Access),
    /// As an access now, and again when it is waited for.
    InFlight(Flight, Access),
    /// Comes after what was before, and nobody needs to wait for it here: every thread that wants the result waits for an mbarrier itself.
    Signalled(Access),
    /// What is in flight completes; `all` says that nothing of its kind stays in flight.
    Complete {
        flight: Flight,
        all: bool,
    },
    /// All threads have done all that came before.
    Barrier,
}

/// What an operation does, without what is in its regions.
#[must_use]
pub fn events(ir: &Ir, op: Op, allocation: &Allocation, one_warp: bool, target: &Target) -> Vec<Event> {
    let mut events = vec![];
    match ir.kind(op) {
        OpKind::Ttg(kind) => ttg(ir, op, kind, allocation, &mut events),
        OpKind::Ttng(kind) => ttng(ir, op, kind, allocation, &mut events),
        OpKind::Tt(TtOp::Call) => call(ir, op, allocation, &mut events),
        OpKind::Unregistered(name) if name.as_str() == "gpu.barrier" => events.push(Event::Barrier),
        _ => {}
    }
    if let Some(buffer) = allocation.of(op).filter(|b| b.kind == BufferKind::Scratch && !ir.is(op, TtgOp::WarpSpecialize)) {
        let access = |write| Event::Access(Access { start: buffer.offset, end: buffer.end(), part: None, class: Class::Data, write });
        events.push(access(true));
        if one_warp || !stays_in_warps(ir, op, target) {
            events.push(Event::Barrier);
        }
        events.push(access(false));
    }
    events
}

/// Whether the operation's own protocol only makes the threads of a warp wait for each other.
fn stays_in_warps(ir: &Ir, op: Op, target: &Target) -> bool {
    if ir.is(op, TtngOp::TensormapCreate) {
        // All is done by the first warp.
        return true;
    }
    if !ir.is(op, TtgOp::ConvertLayout) {
        return false;
    }
    let (from, to) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
    let (Ok(source), Ok(destination)) = (layout_of(from), layout_of(to)) else { return false };
    match ConversionPlan::new(source, destination, element_bits(from), &target.shared) {
        Ok(ConversionPlan::Shared(plan)) => plan.is_within_warps(),
        _ => false,
    }
}

fn ttg(ir: &Ir, op: Op, kind: TtgOp, allocation: &Allocation, events: &mut Vec<Event>) {
    let mut data = |value: Value, write| accesses(ir, value, allocation, Class::Data, write, events, Event::Access);
    match kind {
        TtgOp::LocalAlloc if !ir.operands(op).is_empty() => data(ir.result(op), true),
        TtgOp::LocalLoad | TtgOp::LocalGather => data(ir.operand(op, 0), false),
        TtgOp::LocalStore => data(ir.operand(op, 1), true),
        TtgOp::LocalScatter | TtgOp::LocalAtomicScatterRmw => data(ir.operand(op, 0), true),
        TtgOp::AsyncCopyGlobalToLocal => {
            accesses(ir, ir.operand(op, 1), allocation, Class::Data, true, events, |a| Event::InFlight(Flight::Copy, a));
        }
        TtgOp::AsyncWait => events.push(Event::Complete { flight: Flight::Copy, all: ir.int_attr(op, "num") == Some(0) }),
        TtgOp::Barrier if ir.int_attr(op, "addrSpace").is_some_and(|space| space & 1 == 1) => events.push(Event::Barrier),
        TtgOp::WarpSpecializePartitions => events.push(Event::Barrier),
        _ => {}
    }
}

fn ttng(ir: &Ir, op: Op, kind: TtngOp, allocation: &Allocation, events: &mut Vec<Event>) {
    use TtngOp as N;
    match kind {
        // The first warp fences; the others wait for it.
        N::ClusterBarrier | N::TensormapFenceproxyAcquire => return events.push(Event::Barrier),
        N::TmaStoreWait | N::WarpGroupDotWait => {
            let flight = if kind == N::TmaStoreWait { Flight::Store } else { Flight::Product };
            return events.push(Event::Complete { flight, all: ir.int_attr(op, "pendings") == Some(0) });
        }
        // These begin with a barrier: one thread tells others that all threads are done with something.
        N::BarrierExpect | N::ArriveBarrier | N::TcGen5Commit => events.push(Event::Barrier),
        _ => {}
    }
    for (i, &value) in ir.operands(op).iter().enumerate().filter(|&(_, &v)| is_shared(ir.ty(v))) {
        let (class, write, in_flight) = match kind {
            N::InitBarrier | N::InvalBarrier => (Class::MbarrierLife, true, false),
            N::BarrierExpect | N::ArriveBarrier | N::AsyncCopyMbarrierArrive => (Class::MbarrierUse, true, false),
            // Buffers that the wait keeps alive are not touched.
            N::WaitBarrier if i == 0 => (Class::MbarrierUse, false, false),
            N::WaitBarrier => continue,
            N::TcGen5Commit if i == 0 => (Class::MbarrierUse, true, false),
            N::TcGen5Commit => continue,
            N::AsyncTmaCopyGlobalToLocal | N::AsyncTmaGather | N::AsyncSharedStore | N::ClcTryCancel => {
                let mbarrier = is_mbarrier(ir, op, kind, value);
                (if mbarrier { Class::MbarrierUse } else { Class::Data }, true, false)
            }
            N::WarpGroupDot => (Class::Data, false, ir.bool_attr(op, "isAsync")),
            N::AsyncTmaCopyLocalToGlobal | N::AsyncTmaReduce | N::AsyncTmaScatter => (Class::Data, false, true),
            N::TcGen5Mma | N::TcGen5MmaScaled => {
                let barriers = ir.operand_group(op, if kind == N::TcGen5Mma { 6 } else { 8 });
                if barriers.contains(&value) { (Class::MbarrierUse, true, false) } else { (Class::Data, false, false) }
            }
            N::ClcLoadResult | N::TmemCopy => (Class::Data, false, false),
            _ => (Class::Data, true, false),
        };
        let flight = if kind == N::WarpGroupDot { Flight::Product } else { Flight::Store };
        let event = |access| match kind {
            N::AsyncTmaCopyGlobalToLocal | N::AsyncTmaGather => Event::Signalled(access),
            _ if in_flight => Event::InFlight(flight, access),
            _ => Event::Access(access),
        };
        accesses(ir, value, allocation, class, write, events, event);
    }
}

/// Whether the operand of a copy is the mbarrier that it signals: the one of 64-bit integers that is not the destination.
fn is_mbarrier(ir: &Ir, op: Op, kind: TtngOp, value: Value) -> bool {
    let descriptors: Vec<Value> = ir.operands(op).iter().copied().filter(|&v| is_shared(ir.ty(v))).collect();
    // A copy names the mbarrier before the destination; the other operations name it last.
    let first = matches!(kind, TtngOp::AsyncTmaCopyGlobalToLocal | TtngOp::AsyncTmaGather);
    let mbarrier = if first { descriptors.first() } else { descriptors.last() };
    mbarrier == Some(&value)
}

/// A callee may touch all its memory and all descriptors that it gets, from its start to its end.
fn call(ir: &Ir, op: Op, allocation: &Allocation, events: &mut Vec<Event>) {
    if let Some(buffer) = allocation.of(op) {
        events.push(Event::Access(Access { start: buffer.offset, end: buffer.end(), part: None, class: Class::Data, write: true }));
    }
    for &value in ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v))) {
        accesses(ir, value, allocation, Class::Data, true, events, Event::Access);
    }
}

/// The accesses to what a descriptor may be part of.
fn accesses(
    ir: &Ir,
    value: Value,
    allocation: &Allocation,
    class: Class,
    write: bool,
    events: &mut Vec<Event>,
    event: impl Fn(Access) -> Event,
) {
    let (root, chain) = view_chain(ir, value);
    for buffer in allocation.alias.of(root).filter_map(|b| allocation.of(ir.def_op(b)?)) {
        let whole = Access { start: buffer.offset, end: buffer.end(), part: None, class, write };
        events.push(event(chain.iter().rev().fold(whole, |access, &view| narrow(ir, access, view))));
    }
}

/// The descriptor that views start from, and the views, the last one first.
fn view_chain(ir: &Ir, value: Value) -> (Value, Vec<Op>) {
    let (mut root, mut chain) = (value, vec![]);
    while let Some((op, next)) = ir.def_op(root).and_then(|op| Some((op, viewed(ir, op)?))) {
        chain.push(op);
        root = next;
    }
    (root, chain)
}

/// The part of `access` that a view takes.
fn narrow(ir: &Ir, access: Access, view: Op) -> Access {
    let (from, to) = (ir.ty(ir.operand(view, 0)), ir.ty(ir.result(view)));
    match ir.kind(view) {
        // Of a part of the buffers, the first need not be the allocation's first.
        OpKind::Ttg(TtgOp::MemDescIndex) if access.part.is_none() && is_whole(from) && covers(access.start, access.end, from) => {
            let index = ir.def_op(ir.operand(view, 1)).and_then(|d| ir.attr(d, "value")).and_then(Attr::as_int);
            match (index.and_then(|i| u32::try_from(i).ok()), index_stride(to)) {
                (Some(index), Some(stride)) if access.start + (index + 1) * stride <= access.end => {
                    let start = access.start + index * stride;
                    Access { start, end: start + stride, ..access }
                }
                _ => access,
            }
        }
        OpKind::Ttg(TtgOp::MemDescSubslice) => Access { part: subslice(ir, access.part.as_ref(), view, from, to), ..access },
        // Another view of a part: which elements it has is not followed.
        _ => Access { part: None, ..access },
    }
}

/// Whether a descriptor shows all of its allocation.
fn is_whole(ty: Type) -> bool {
    ty.as_memdesc().is_some_and(|m| m.shape == m.alloc_shape)
}

/// Whether an interval is exactly a buffer of this type.
fn covers(start: u32, end: u32, ty: Type) -> bool {
    buffer_bytes(ty).is_ok_and(|bytes| end - start == bytes)
}

/// The distance between the elements along the first dimension of a buffer, each of type `element`.
#[must_use]
pub fn index_stride(element: Type) -> Option<u32> {
    let m = element.as_memdesc()?;
    let whole = m.shape == m.alloc_shape[m.alloc_shape.len().saturating_sub(m.shape.len())..];
    if whole { buffer_bytes(element).ok() } else { None }
}

fn subslice(ir: &Ir, before: Option<&Part>, view: Op, from: Type, to: Type) -> Option<Part> {
    let (from, to) = (from.as_memdesc()?, to.as_memdesc()?);
    let offsets = ir.attr(view, "offsets").and_then(Attr::as_dense_array)?;
    // The offsets count from the operand's start: that of the allocation, or that of a known part.
    let start = |d: usize| match before {
        Some(part) => part.ranges.get(d).map_or(0, |r| r.0),
        None => 0,
    };
    let known = before.is_some() || from.shape == to.alloc_shape;
    let ranges = offsets.iter().zip(&to.shape).enumerate().map(|(d, (&o, &size))| (start(d) + o, size)).collect();
    known.then(|| Part { encoding: to.encoding, alloc_shape: to.alloc_shape.clone(), ranges })
}
