//! What an operation does to shared memory, in the order in which it happens: accesses, and what orders them. The
//! tables of the dialects state it ([`crate::ir::dialects::memory`]); here it becomes intervals of bytes.
//!
//! | operation | events |
//! |---|---|
//! | `ttg.local_load`, `ttg.local_store`, … | an access to each buffer that the descriptor may be part of |
//! | scratch memory (`tt.reduce`, …) | write; barrier; read: every write of the operation's own protocol is followed by a barrier |
//! | … that stays within warps | write; read: what other warps do is not waited for |
//! | … between the blocks of a cluster | write; barrier of the cluster; read of other blocks' memory |
//! | what acts in other blocks by itself (TMA to several blocks, arrivals at their mbarriers) | its accesses are remote, and go on |
//! | `ttg.async_copy_global_to_local`, `wgmma`, TMA to global memory | an access in flight: complete only at the wait that follows |
//! | a `wgmma` that waits for itself | its accesses, and all products before are complete |
//! | TMA to shared memory | an access that must come after earlier ones; every thread waits for its mbarrier itself |
//! | `ttg.async_wait`, `ttng.warp_group_dot_wait`, … | what was in flight in this thread is complete, as if it happened now |
//! | `ttg.barrier local`, and operations that begin with one | barrier |
//! | an arrival of each warp at an mbarrier | what this warp has done it has left there |
//! | a wait of the first warp at an mbarrier | what all warps have left there comes before what the first warp does from here on |
//!
//! An access covers an interval of bytes. Where a view takes a known part of a buffer, the interval is that of the part
//! (a constant index), or the box of the part is kept beside it (a sub-slice, whose bytes are not contiguous).

use crate::ir::core::{Attr, Ir, Op, Type, Value};
use crate::ir::dialects::Exchange;
use crate::ir::dialects::discardable::FIRST_WARP;
pub use crate::ir::dialects::memory::{Class, Flight};
use crate::ir::dialects::memory::{Order, Touch, When};
use crate::ir::dialects::ttg::ttg::{MemDescIndex, MemDescSubslice};
use crate::ir::dialects::ttng::ttng::{ArriveBarrier, AsyncTmaCopyGlobalToLocal, WarpGroupDot};
use crate::ir::dialects::verify::context_ctas;
use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::rewrite::fold::const_of;
use crate::layout::encodings::tma_messages;
use crate::layout::plan::Among;

use super::allocation::{Allocation, BufferKind, buffer_bytes};
use super::exchange::ExchangePlan;
use super::scratch::is_shared_by_blocks;
use super::shared_alias::{is_shared, viewed};
use super::slots::Slot;

/// The part of an allocation that a sub-slice takes: offset and size along each dimension.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Part {
    encoding: Attr,
    /// Bits of an element. A buffer may be shown with elements of another width.
    width: Option<u32>,
    alloc_shape: Vec<i64>,
    ranges: Vec<(i64, i64)>,
}

impl Part {
    fn disjoint(&self, other: &Part) -> bool {
        self.encoding == other.encoding
            && self.width == other.width
            && self.alloc_shape == other.alloc_shape
            && self.ranges.iter().zip(&other.ranges).any(|(a, b)| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0)
    }
}

/// One access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BufferAccess {
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    pub part: Option<Part>,
    /// The slot of a pipelined loop's ring that it is part of, in the iteration that runs.
    pub slot: Option<Slot>,
    pub class: Class,
    pub write: bool,
    /// The bits of a block's number that differ in the blocks whose memory it reaches into; 0 where that is its own.
    pub blocks: u32,
    /// Whether the first warp alone makes it.
    pub first_warp: bool,
}

impl BufferAccess {
    /// An access to these bytes by threads of the block that own them.
    #[must_use]
    pub fn new(start: u32, end: u32, class: Class, write: bool) -> BufferAccess {
        BufferAccess { start, end, part: None, slot: None, class, write, blocks: 0, first_warp: false }
    }

    /// Whether the order of two accesses of different threads matters.
    #[must_use]
    pub fn conflicts(&self, other: &BufferAccess) -> bool {
        let overlap = self.start < other.end && other.start < self.end;
        let apart = matches!((&self.part, &other.part), (Some(a), Some(b)) if a.disjoint(b))
            || matches!((self.slot, other.slot), (Some(a), Some(b)) if a.is_apart(b));
        let ordered = self.class == other.class && self.class != Class::Data;
        overlap && (self.write || other.write) && !apart && !ordered
    }
}

/// What happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Access(BufferAccess),
    /// As an access now, and again when it is waited for.
    InFlight(Flight, BufferAccess),
    /// Comes after what was before, and nobody needs to wait for it here: every thread that wants the result waits for
    /// an mbarrier itself.
    Signalled(BufferAccess),
    /// What is in flight completes, but for as many groups of its kind as are left.
    Complete {
        flight: Flight,
        left: i64,
    },
    /// Each warp says at the mbarriers in these bytes that it has done all that came before.
    Leave {
        start: u32,
        end: u32,
        /// The bits of the block's number in which the blocks differ to whose mbarriers it is said.
        blocks: u32,
    },
    /// The first warp has waited at the mbarriers in these bytes until all warps had left. Which of several, and for
    /// which of their phases, is taken for right; the check of shared memory asks for both.
    Enter {
        start: u32,
        end: u32,
    },
    /// All threads of the block have done all that came before.
    Barrier,
    /// All threads of the cluster have done all that came before.
    ClusterBarrier,
    /// All threads of the cluster are here; what they did is ordered as far as it was released.
    Meeting,
    /// The mbarriers that were initialised are released.
    Release,
    /// Something happens in other blocks that nobody here waits for.
    Reach,
    /// The block ends, and its memory with it.
    End,
}

/// What an operation does, without what is in its regions: what its table entry states, and its own protocol in scratch
/// memory.
#[must_use]
pub fn events(ir: &Ir, op: Op, allocation: &Allocation, one_warp: bool) -> Vec<Event> {
    let mut events = vec![];
    orders(ir, op, allocation, &mut events);
    stated(ir, op, allocation, &mut events);
    if ir.is(op, TtOp::Call) {
        call(ir, op, allocation, &mut events);
    }
    if let Some(buffer) =
        allocation.of(op).filter(|b| b.kind == BufferKind::Scratch && !ir.is(op, TtgOp::WarpSpecialize))
    {
        let access = |write, remote| {
            let (start, end) = (buffer.offset, buffer.end());
            let blocks = if remote { all_blocks(ir, op) } else { 0 };
            Event::Access(BufferAccess { blocks, ..BufferAccess::new(start, end, Class::Data, write) })
        };
        let among = among(ir, op, allocation);
        events.push(access(true, false));
        match among {
            Among::Warp if !one_warp => {}
            Among::Warp | Among::Block => events.push(Event::Barrier),
            Among::Cluster => events.push(Event::ClusterBarrier),
        }
        events.push(access(false, among == Among::Cluster));
    }
    // It waits for its own group, and so for those before.
    if WarpGroupDot::of(ir, op).is_some_and(|dot| !dot.isAsync(ir)) {
        events.push(Event::Complete { flight: Flight::Product, left: 0 });
    }
    if reached_blocks(ir, op) != 0 {
        events.push(Event::Reach);
    }
    if ir.is(op, TtOp::Return) {
        events.push(Event::End);
    }
    events
}

/// The bits of the block's number in which the blocks differ in whose memory the operation acts, where its table entry
/// says that it acts in others.
fn reached_blocks(ir: &Ir, op: Op) -> u32 {
    if !ir.spec(op).reaches_blocks.is_some_and(|reaches| reaches(ir, op)) {
        return 0;
    }
    let stated = if let Some(copy) = AsyncTmaCopyGlobalToLocal::of(ir, op) {
        tma_messages(ir.ty(copy.result(ir))).ok().map(|plan| plan.copies)
    } else {
        ArriveBarrier::of(ir, op)
            .and_then(|arrive| u32::try_from(arrive.multicastCTA(ir)?).ok())
            .filter(|&bits| bits != 0)
    };
    all_blocks(ir, op) & stated.unwrap_or(u32::MAX)
}

/// All bits of a block's number.
fn all_blocks(ir: &Ir, op: Op) -> u32 {
    u32::try_from(context_ctas(ir, op) - 1).unwrap_or(0)
}

/// What the operation orders before it does anything.
fn orders(ir: &Ir, op: Op, allocation: &Allocation, events: &mut Vec<Event>) {
    match ir.spec(op).order {
        Order::Nothing => {}
        Order::Barrier => events.push(Event::Barrier),
        Order::BarrierIf(holds) => events.extend(holds(ir, op).then_some(Event::Barrier)),
        Order::LeavesIf(holds) if !holds(ir, op) => events.push(Event::Barrier),
        Order::LeavesIf(_) => {
            let blocks = reached_blocks(ir, op);
            at_mbarriers(ir, op, allocation, events, |a| Event::Leave { start: a.start, end: a.end, blocks });
        }
        Order::EntersIf(holds) if !holds(ir, op) => {}
        Order::EntersIf(_) => {
            at_mbarriers(ir, op, allocation, events, |a| Event::Enter { start: a.start, end: a.end });
        }
        Order::ClusterBarrierIf(holds) => {
            events.push(if holds(ir, op) { Event::ClusterBarrier } else { Event::Meeting });
        }
        Order::ReleasesMbarriers => events.push(Event::Release),
        Order::Completes(flight, left) => {
            events.push(Event::Complete { flight, left: left(ir, op).unwrap_or(i64::MAX) });
        }
    }
}

/// An event for the mbarriers that are operand 0.
fn at_mbarriers(
    ir: &Ir,
    op: Op,
    allocation: &Allocation,
    events: &mut Vec<Event>,
    event: impl Fn(BufferAccess) -> Event,
) {
    let touch = Touch { class: Class::MbarrierUse, write: false, when: When::Now };
    accesses(ir, ir.operands(op)[0], allocation, touch, events, (0, &event));
}

/// The accesses that the table states, operands first.
fn stated(ir: &Ir, op: Op, allocation: &Allocation, events: &mut Vec<Event>) {
    let spec = ir.spec(op);
    for (group, operand) in spec.operands.iter().enumerate() {
        if let Some(touch) = operand.memory.touch() {
            ir.operand_group(op, group).iter().for_each(|&value| touched(ir, op, value, touch, allocation, events));
        }
    }
    // A descriptor among the results is the first one.
    for (result, &value) in spec.results.iter().zip(ir.results(op)) {
        if let Some(touch) = result.memory.touch() {
            touched(ir, op, value, touch, allocation, events);
        }
    }
}

fn touched(ir: &Ir, op: Op, value: Value, touch: Touch, allocation: &Allocation, events: &mut Vec<Event>) {
    let event: &dyn Fn(BufferAccess) -> Event = match touch.when {
        When::NowIf(holds) if !holds(ir, op) => return,
        When::InFlightIf(flight, holds) if holds(ir, op) => &move |access| Event::InFlight(flight, access),
        When::Now | When::NowIf(_) | When::InFlightIf(..) => &Event::Access,
        When::InFlight(flight) => &move |access| Event::InFlight(flight, access),
        // The mbarriers of other blocks may be told before anybody waits there.
        When::Signalled if touch.class == Class::MbarrierUse && reached_blocks(ir, op) != 0 => &Event::Access,
        When::Signalled => &Event::Signalled,
    };
    let first_warp = ir.stores(op, FIRST_WARP);
    let event = |access| event(BufferAccess { first_warp, ..access });
    accesses(ir, value, allocation, touch, events, (reached_blocks(ir, op), &event));
}

/// Which threads the operation's own protocol makes wait for each other.
fn among(ir: &Ir, op: Op, allocation: &Allocation) -> Among {
    // A descriptor is all done by the first warp.
    match ir.spec(op).exchange {
        Some(Exchange::Descriptor) => return Among::Warp,
        Some(Exchange::Copies) if is_shared_by_blocks(ir, op) => return Among::Cluster,
        _ => {}
    }
    allocation.plan(op).and_then(|plan| plan.as_ref().ok()).map_or(Among::Block, ExchangePlan::among)
}

/// A callee may touch all its memory and all descriptors that it gets, from its start to its end.
fn call(ir: &Ir, op: Op, allocation: &Allocation, events: &mut Vec<Event>) {
    // Its blocks may reach into each other's memory.
    let blocks = all_blocks(ir, op);
    if let Some(buffer) = allocation.of(op) {
        let (start, end) = (buffer.offset, buffer.end());
        events.push(Event::Access(BufferAccess { blocks, ..BufferAccess::new(start, end, Class::Data, true) }));
    }
    for &value in ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v))) {
        accesses(
            ir,
            value,
            allocation,
            Touch { class: Class::Data, write: true, when: When::Now },
            events,
            (blocks, &Event::Access),
        );
    }
}

/// The accesses to what a descriptor may be part of.
fn accesses(
    ir: &Ir,
    value: Value,
    allocation: &Allocation,
    touch: Touch,
    events: &mut Vec<Event>,
    (blocks, event): (u32, &dyn Fn(BufferAccess) -> Event),
) {
    let (root, chain) = view_chain(ir, value);
    let slot = Slot::of(ir, value);
    for buffer in allocation.alias.of(root).filter_map(|b| allocation.of(ir.def_op(b)?)) {
        let whole =
            BufferAccess { slot, blocks, ..BufferAccess::new(buffer.offset, buffer.end(), touch.class, touch.write) };
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
fn narrow(ir: &Ir, access: BufferAccess, view: Op) -> BufferAccess {
    if let Some(view) = MemDescIndex::of(ir, view) {
        // Of a part of the buffers, the first need not be the allocation's first.
        let from = ir.ty(view.src(ir));
        if access.part.is_none() && is_whole(from) && covers(access.start, access.end, from) {
            return indexed(ir, access, view);
        }
    }
    if let Some(view) = MemDescSubslice::of(ir, view) {
        return BufferAccess { part: subslice(ir, access.part.as_ref(), view), ..access };
    }
    // Another view of a part: which elements it has is not followed.
    BufferAccess { part: None, ..access }
}

/// The buffer that an index takes of an allocation, or all of them where the index is not known.
fn indexed(ir: &Ir, access: BufferAccess, view: MemDescIndex) -> BufferAccess {
    let index = const_of(ir, view.index(ir)).and_then(Attr::as_int);
    match (index.and_then(|i| u32::try_from(i).ok()), index_stride(ir.ty(view.result(ir)))) {
        (Some(index), Some(stride)) if access.start + (index + 1) * stride <= access.end => {
            let start = access.start + index * stride;
            BufferAccess { start, end: start + stride, ..access }
        }
        _ => access,
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

fn subslice(ir: &Ir, before: Option<&Part>, view: MemDescSubslice) -> Option<Part> {
    let (from, to) = (ir.ty(view.src(ir)).as_memdesc()?, ir.ty(view.result(ir)).as_memdesc()?);
    let offsets = view.offsets(ir)?;
    // The offsets count from the operand's start: that of the allocation, or that of a known part.
    let start = |d: usize| match before {
        Some(part) => part.ranges.get(d).map_or(0, |r| r.0),
        None => 0,
    };
    let known = before.is_some() || from.shape == to.alloc_shape;
    let ranges = offsets.iter().zip(&to.shape).enumerate().map(|(d, (&o, &size))| (start(d) + o, size)).collect();
    known.then(|| Part {
        encoding: to.encoding,
        width: to.elem.bit_width(),
        alloc_shape: to.alloc_shape.clone(),
        ranges,
    })
}
