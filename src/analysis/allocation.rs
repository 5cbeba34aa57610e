//! Where every buffer lies in a block's shared memory.
//!
//! # Algorithm
//!
//! 1. Buffers: one for each `ttg.local_alloc`; one for each operation that needs scratch memory ([`scratch_bytes`]),
//!    alive while it runs (of tensor descriptors that warps make side by side, until all are made); for a function with
//!    warp specialisation, the states of its warps, alive always; for a call, what the callee needs.
//! 2. A buffer of `ttg.local_alloc` lives as long as any descriptor that may be part of it ([`SharedAlias`],
//!    [`Times`]).
//! 3. Two buffers conflict when both are alive at one moment, or when they belong to partitions that run at the same
//!    time.
//! 4. Buffers are placed one after the other, each at the lowest aligned offset at which nothing conflicts. Several
//!    orders are tried (large first, early first, strictly aligned first, long-lived first); then the buffer that ends
//!    highest is moved to the front as long as that helps. The least total wins, the earlier order among equals. It
//!    stops early at the lower bound: the most bytes alive at one moment.
//!
//! # Example
//!
//! ```text
//! %a = ttg.local_alloc : 8 KiB     alive 2..5    offset 0
//! %b = ttg.local_alloc : 4 KiB     alive 3..9    offset 8192
//! convert_layout with 6 KiB        alive 7..7    offset 0      %a is dead
//! ```

use crate::ir::dialects::ttg::ttg::{LocalAlloc, WarpSpecialize};
use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{ExchangePlan, Planned};
use super::live_range::{Interval, Times};
use super::scratch::{element_bits, scratch_bytes};
use super::shared_alias::{SharedAlias, is_shared};
use crate::ir::core::{Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::discardable::{BY_WARP, JOINED};
use crate::ir::dialects::{TtOp, TtgOp, TtngOp};
use crate::layout::{Dim, LayoutError, layout_of, padded_offset};
use crate::target::Target;

/// Scratch memory starts at multiples of this.
const SCRATCH_ALIGNMENT: u32 = 128;
/// How often the highest buffer is moved to the front.
const MAX_IMPROVEMENTS: usize = 32;

/// What a buffer is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BufferKind {
    /// A `ttg.local_alloc`.
    Named,
    /// Scratch memory of an operation.
    Scratch,
    /// All that a called function needs.
    Callee,
}

/// A piece of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    pub owner: Op,
    pub kind: BufferKind,
    pub bytes: u32,
    pub alignment: u32,
    pub live: Interval,
    pub offset: u32,
    /// The partition of warp specialisation that it belongs to: the operation, and the number of the region.
    partition: Option<(Op, usize)>,
}

impl Buffer {
    fn conflicts(&self, other: &Buffer) -> bool {
        let concurrent = match (self.partition, other.partition) {
            (Some((a, i)), Some((b, j))) => a == b && i != j,
            _ => false,
        };
        concurrent || self.live.meets(other.live)
    }

    /// One past its last byte.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.offset.saturating_add(self.bytes)
    }
}

/// The shared memory of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allocation {
    /// In the order of the text.
    pub buffers: Vec<Buffer>,
    pub alias: SharedAlias,
    /// Bytes in all, and what their start must be a multiple of.
    pub total: u32,
    pub alignment: u32,
    by_owner: BTreeMap<Op, usize>,
    plans: BTreeMap<Op, Planned>,
}

/// Why there is no allocation: the operation and the reason.
pub type Refused = (Op, LayoutError);

impl Allocation {
    /// Places the buffers of a function. `callees` says what called functions need, in bytes, and their alignment.
    ///
    /// # Errors
    /// When a buffer's type, or a type of an operation with scratch memory, has no layout.
    pub fn new(ir: &Ir, func: Op, target: &Target, callees: &BTreeMap<Op, (u32, u32)>) -> Result<Allocation, Refused> {
        let (times, alias) = (Times::new(ir, func), SharedAlias::new(ir, func));
        let mut this = Allocation { alias, ..Allocation::default() };
        let lives = this.lives(ir, &times);
        this.add_function(ir, func);
        for op in ir.all_ops(func).into_iter().filter(|&op| op != func) {
            this.add(ir, op, target, callees, &lives, &times).map_err(|e| (op, e))?;
        }
        this.by_owner = this.buffers.iter().enumerate().map(|(i, b)| (b.owner, i)).collect();
        this.total = place(&mut this.buffers);
        this.alignment = this.buffers.iter().map(|b| b.alignment).max().unwrap_or(1);
        Ok(this)
    }

    /// How an operation moves elements between threads; `None` for one that has no plan.
    #[must_use]
    pub fn plan(&self, op: Op) -> Option<&Planned> {
        self.plans.get(&op)
    }

    /// The buffer of a `ttg.local_alloc`, or of an operation with scratch memory.
    #[must_use]
    pub fn of(&self, owner: Op) -> Option<&Buffer> {
        self.by_owner.get(&owner).map(|&i| &self.buffers[i])
    }

    /// When each buffer is alive: the hull over all descriptors that may be part of it.
    fn lives(&self, ir: &Ir, times: &Times) -> BTreeMap<Value, Interval> {
        let mut lives: BTreeMap<Value, Interval> = BTreeMap::new();
        for (value, buffers) in self.alias.iter() {
            let live = times.live(ir, value);
            for &buffer in buffers {
                lives.entry(buffer).and_modify(|all| *all = all.hull(live)).or_insert(live);
            }
        }
        lives
    }

    /// Warp specialisation keeps the state of each warp of a partition in a byte.
    fn add_function(&mut self, ir: &Ir, func: Op) {
        let ops = ir.all_ops(func);
        let warps = ops
            .iter()
            .filter_map(|&op| WarpSpecialize::of(ir, op))
            .map(|specialized| partition_warps(ir, specialized))
            .max()
            .unwrap_or(0);
        self.push(ir, func, BufferKind::Scratch, warps, 4, Interval::ALWAYS);
    }

    fn add(
        &mut self,
        ir: &Ir,
        op: Op,
        target: &Target,
        callees: &BTreeMap<Op, (u32, u32)>,
        lives: &BTreeMap<Value, Interval>,
        times: &Times,
    ) -> Result<(), LayoutError> {
        if let Some(alloc) = LocalAlloc::of(ir, op) {
            let value = alloc.result(ir);
            if is_shared(ir.ty(value)) {
                let live = lives.get(&value).copied().unwrap_or(times.of(op)).hull(times.of(op));
                let bytes = buffer_bytes(ir.ty(value))?;
                self.push(ir, op, BufferKind::Named, bytes, buffer_alignment(ir, alloc), live);
            }
        } else if ir.is(op, TtOp::Call) {
            let (bytes, alignment) = ir.callee(op).and_then(|f| callees.get(&f)).copied().unwrap_or((0, 1));
            // The callee's offsets count from this buffer's start.
            self.push(ir, op, BufferKind::Callee, bytes, alignment.max(SCRATCH_ALIGNMENT), times.of(op));
        } else if ir.is(op, TtgOp::WarpSpecialize) {
            self.push(ir, op, BufferKind::Scratch, capture_bytes(ir, op), 8, times.of(op));
        } else {
            let plan = ExchangePlan::of(ir, op, target);
            let bytes = scratch_bytes(ir, op, plan.as_ref())?;
            if let Some(plan) = plan {
                self.plans.insert(op, plan);
            }
            let live = times.of(op).hull(times.of(end_of_scratch(ir, op)));
            self.push(ir, op, BufferKind::Scratch, bytes, SCRATCH_ALIGNMENT, live);
        }
        Ok(())
    }

    fn push(&mut self, ir: &Ir, owner: Op, kind: BufferKind, bytes: u32, alignment: u32, live: Interval) {
        if bytes > 0 {
            self.buffers.push(Buffer {
                owner,
                kind,
                bytes,
                alignment,
                live,
                offset: 0,
                partition: partition_of(ir, owner),
            });
        }
    }
}

/// The last operation at whose time an operation's scratch memory is in use. Warps that make tensor descriptors side by
/// side are done where the block waits for them.
fn end_of_scratch(ir: &Ir, op: Op) -> Op {
    if !ir.is(op, TtngOp::TensormapCreate) || !ir.stores(op, BY_WARP) {
        return op;
    }
    let waits = |&o: &Op| ir.is(o, TtngOp::TensormapFenceproxyAcquire) && !ir.stores(o, JOINED);
    std::iter::successors(ir.next_op(op), |&o| ir.next_op(o)).find(waits).unwrap_or(op)
}

/// The innermost operation with warp specialisation around `op`, and the number of the region that holds it: 0 for the
/// default one.
fn partition_of(ir: &Ir, op: Op) -> Option<(Op, usize)> {
    let mut inner = op;
    while let Some(outer) = ir.parent_op(inner) {
        let region = ir.parent_block(inner).and_then(|b| ir.parent_region(b));
        let number = ir.regions_of(outer).iter().position(|&r| Some(r) == region).unwrap_or(0);
        if ir.is(outer, TtgOp::WarpSpecialize) {
            return Some((outer, 0));
        }
        if ir.is(outer, TtgOp::WarpSpecializePartitions) {
            return Some((ir.parent_op(outer)?, number + 1));
        }
        inner = outer;
    }
    None
}

fn partition_warps(ir: &Ir, specialized: WarpSpecialize) -> u32 {
    let counts = specialized.partitionNumWarps(ir).unwrap_or(&[]);
    counts.iter().map(|&n| u32::try_from(n).unwrap_or(0)).sum()
}

/// What the partitions take from outside is handed over in shared memory, side by side.
fn capture_bytes(ir: &Ir, op: Op) -> u32 {
    let holder = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
    let mut holder = holder.filter(|&o| ir.is(o, TtgOp::WarpSpecializePartitions));
    let captured = holder.next().map_or(&[][..], |o| ir.operands(o));
    captured.iter().map(|&v| captured_bytes(ir.ty(v))).sum()
}

fn captured_bytes(ty: Type) -> u32 {
    match ty.as_memdesc() {
        Some(m) if is_shared(ty) => 8 + 4 * m.shape.len() as u32,
        Some(_) => 8,
        None if ty.is_int() || ty.is_float() => ty.bit_width().unwrap_or(64).div_ceil(8),
        None => 8,
    }
}

/// Bytes of a buffer of this memory descriptor type in one block.
///
/// # Errors
/// When the type has no layout.
pub fn buffer_bytes(ty: Type) -> Result<u32, LayoutError> {
    let layout = layout_of(ty)?;
    let Some(m) = ty.as_memdesc() else { return Err(LayoutError::new(format!("{ty} is no memory descriptor"))) };
    let rank = layout.out_dims().count();
    let buffers: i64 = m.alloc_shape[..m.alloc_shape.len().saturating_sub(rank)].iter().product();
    // Offsets whose basis is 0 name the same elements again; those at the top are no memory.
    let used = (0..layout.in_bits(Dim::Offset))
        .rev()
        .find(|&bit| layout.out_dims().any(|out| layout.basis(Dim::Offset, bit as usize, out) != 0))
        .map_or(0, |bit| bit + 1);
    let elements = match m.encoding.as_encoding() {
        Some(Encoding::PaddedShared(e)) => padded_offset(e, (1u32 << used) - 1) + 1,
        _ => 1 << used,
    };
    let bytes = buffers * i64::from(elements) * i64::from(element_bits(ty) / 8);
    u32::try_from(bytes).map_err(|_| LayoutError::new(format!("{ty} has {bytes} bytes, more than can be addressed")))
}

/// What a buffer's offset must be a multiple of: as the operation says, or as the hardware wants it for the layout. A
/// swizzle of `8 · n` rows is computed from address bits, so its tiles must not straddle them (PTX ISA, "Shared Memory
/// Matrix Layout").
fn buffer_alignment(ir: &Ir, alloc: LocalAlloc) -> u32 {
    let stated = alloc.alignment(ir).and_then(|a| u32::try_from(a).ok());
    if let Some(stated) = stated.filter(|a| a.is_power_of_two()) {
        return stated;
    }
    match ir.ty(alloc.result(ir)).as_memdesc().and_then(|m| m.encoding.as_encoding()) {
        Some(Encoding::NvmmaShared(e)) => 128 * (e.swizzling_byte_width / 16).max(1),
        Some(Encoding::SharedLinear { alignment, .. }) => (*alignment).max(1).next_power_of_two(),
        _ => 16,
    }
}

/// Step 4; gives the total.
fn place(buffers: &mut [Buffer]) -> u32 {
    let bound = lower_bound(buffers);
    let mut best: Option<(u32, Vec<u32>, Vec<usize>)> = None;
    for order in orders(buffers) {
        consider(buffers, order, &mut best);
        if best.as_ref().is_some_and(|b| b.0 <= bound) {
            break;
        }
    }
    for _ in 0..MAX_IMPROVEMENTS {
        let Some((total, offsets, order)) = &best else { break };
        if *total <= bound {
            break;
        }
        let highest = order.iter().position(|&i| offsets[i] + buffers[i].bytes == *total).unwrap_or(0);
        let mut next = order.clone();
        let moved = next.remove(highest);
        next.insert(0, moved);
        let before = *total;
        consider(buffers, next, &mut best);
        if best.as_ref().is_some_and(|b| b.0 >= before) {
            break;
        }
    }
    let Some((total, offsets, _)) = best else { return 0 };
    buffers.iter_mut().zip(offsets).for_each(|(b, offset)| b.offset = offset);
    total
}

fn consider(buffers: &[Buffer], order: Vec<usize>, best: &mut Option<(u32, Vec<u32>, Vec<usize>)>) {
    let offsets = first_fit(buffers, &order);
    let total = buffers.iter().zip(&offsets).map(|(b, o)| o.saturating_add(b.bytes)).max().unwrap_or(0);
    if best.as_ref().is_none_or(|b| total < b.0) {
        *best = Some((total, offsets, order));
    }
}

fn orders(buffers: &[Buffer]) -> Vec<Vec<usize>> {
    use std::cmp::Reverse;
    let sorted = |key: &dyn Fn(&Buffer) -> (u64, u64)| {
        let mut order: Vec<usize> = (0..buffers.len()).collect();
        order.sort_by_key(|&i| Reverse(key(&buffers[i])));
        order
    };
    let early = |b: &Buffer| u64::from(u32::MAX - b.live.start);
    let length = |b: &Buffer| u64::from(b.live.end - b.live.start);
    vec![
        sorted(&|b| (u64::from(b.bytes), early(b))),
        sorted(&|b| (u64::from(b.alignment), u64::from(b.bytes))),
        sorted(&|b| (early(b), u64::from(b.bytes))),
        sorted(&|b| (length(b), u64::from(b.bytes))),
        sorted(&|b| (u64::from(b.bytes) * length(b), early(b))),
    ]
}

/// Puts each buffer, in this order, at the lowest offset at which nothing that was placed before conflicts.
fn first_fit(buffers: &[Buffer], order: &[usize]) -> Vec<u32> {
    let mut offsets = vec![0u32; buffers.len()];
    for (at, &i) in order.iter().enumerate() {
        let mut taken: Vec<(u32, u32)> = order[..at]
            .iter()
            .filter(|&&j| buffers[i].conflicts(&buffers[j]))
            .map(|&j| (offsets[j], offsets[j].saturating_add(buffers[j].bytes)))
            .collect();
        taken.sort_unstable();
        let mut offset = 0u32;
        for (start, end) in taken {
            if offset.saturating_add(buffers[i].bytes) <= start {
                break;
            }
            offset = offset.max(end).checked_next_multiple_of(buffers[i].alignment).unwrap_or(u32::MAX);
        }
        offsets[i] = offset;
    }
    offsets
}

/// The most bytes alive at one moment: an interval's start is such a moment.
fn lower_bound(buffers: &[Buffer]) -> u32 {
    let starts: BTreeSet<u32> = buffers.iter().map(|b| b.live.start).collect();
    let alive = |t: u32| {
        buffers.iter().filter(|b| b.live.start <= t && t <= b.live.end).fold(0u32, |sum, b| sum.saturating_add(b.bytes))
    };
    starts.into_iter().map(alive).max().unwrap_or(0)
}

/// The allocation of every function of a module, callees first, in the module's order otherwise.
///
/// # Errors
/// As [`Allocation::new`].
pub fn of_module(ir: &Ir, target: &Target) -> Result<BTreeMap<Op, Allocation>, Refused> {
    let mut done: BTreeMap<Op, Allocation> = BTreeMap::new();
    let mut sizes: BTreeMap<Op, (u32, u32)> = BTreeMap::new();
    let functions = ir.functions();
    // A function is ready when its callees are; recursion leaves some that never are, and those count nothing for each
    // other.
    for last in [false, true] {
        loop {
            let ready =
                |f: &Op| !done.contains_key(f) && (last || callees(ir, *f).iter().all(|c| done.contains_key(c)));
            let Some(func) = functions.iter().copied().find(ready) else { break };
            let allocation = Allocation::new(ir, func, target, &sizes)?;
            sizes.insert(func, (allocation.total, allocation.alignment));
            done.insert(func, allocation);
        }
    }
    Ok(done)
}

fn callees(ir: &Ir, func: Op) -> Vec<Op> {
    ir.all_ops(func).into_iter().filter_map(|op| ir.callee(op)).collect()
}
