//! Which slots of a buffer are apart while an iteration of a pipelined loop runs.
//!
//! A pipelined loop fills one slot of a ring and reads another:
//!
//! ```text
//! scf.for … iter_args(%x = 1, %a = %buffer[0], %b = %buffer[1])
//!   %next = select(%x + 1 < 3, %x + 1, 0)
//!   copy to %buffer[%next]         the slot that is filled
//!   load from %a                   filled two iterations before
//!   yield %next, %b, %buffer[%next]
//! ```
//!
//! 1. The counter of the ring is `next = select(x + 1 < n, x + 1, 0)`, where `x` is the counter of the iteration
//!    before.
//! 2. A descriptor that the loop carries over `d` iterations is the slot that was filled then. With `0 < d < n` it is
//!    another one than the slot that is filled now.
//! 3. In the first `d` iterations the descriptor is one that came into the loop. Its index and the counter's start must
//!    be constants, and differ likewise.
//!
//! The counter is of the form that AMD's pipeline writes (`passes/amd/pipeline`).

use super::shared_alias::viewed;
use crate::ir::core::{Attr, Ir, Value, ValueDef};
use crate::ir::dialects::arith::arith::{Addi, Cmpi, Select};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::rewrite::fold::const_of;

/// A slot of a ring, as seen in one iteration of its loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// The buffer that has the slots.
    buffer: Value,
    /// The index of the slot that this iteration fills.
    next: Value,
    /// How many iterations ago the slot was filled.
    ago: u32,
}

impl Slot {
    /// The slot that a descriptor is part of, where that is known.
    #[must_use]
    pub fn of(ir: &Ir, descriptor: Value) -> Option<Slot> {
        let mut came = vec![];
        let mut descriptor = whole_slot(ir, descriptor);
        let view = loop {
            let Some((looped, at)) = carried(ir, descriptor) else {
                break MemDescIndex::of(ir, ir.def_op(descriptor)?)?;
            };
            came.push(looped.init(ir).get(at).copied()?);
            // Descriptors that move in a circle are of no ring.
            if came.len() > looped.init(ir).len() {
                return None;
            }
            descriptor = whole_slot(ir, yielded(ir, looped, at)?);
        };
        let (buffer, next) = (view.src(ir), view.index(ir));
        let ring = Ring::of(ir, next)?;
        let slots = ir.ty(buffer).as_memdesc()?.shape.first().copied()?;
        let ago = u32::try_from(came.len()).ok()?;
        let known = ring.slots == slots && i64::from(ago) < slots;
        let apart = |(iteration, came): (usize, &Value)| {
            let index = MemDescIndex::of(ir, ir.def_op(whole_slot(ir, *came))?).filter(|v| v.src(ir) == buffer)?;
            let filled = (ring.start + 1 + iteration as i64).rem_euclid(slots);
            Some(int(ir, index.index(ir))? != filled)
        };
        (known && came.iter().enumerate().all(|c| apart(c) == Some(true))).then_some(Slot { buffer, next, ago })
    }

    /// Whether two slots of one iteration are different ones.
    #[must_use]
    pub fn is_apart(self, other: Slot) -> bool {
        self.buffer == other.buffer && self.next == other.next && (self.ago == 0) != (other.ago == 0)
    }
}

/// What a ring's counter says of it (step 1).
struct Ring {
    slots: i64,
    /// The counter in front of the first iteration.
    start: i64,
}

impl Ring {
    fn of(ir: &Ir, next: Value) -> Option<Ring> {
        let select = Select::of(ir, ir.def_op(next)?)?;
        let compare = Cmpi::of(ir, ir.def_op(select.condition(ir))?)?;
        let moved = select.true_value(ir);
        let add = Addi::of(ir, ir.def_op(moved)?)?;
        let (looped, at) = carried(ir, add.lhs(ir))?;
        let form = compare.predicate(ir) == Some(CmpiPredicate::Slt)
            && compare.lhs(ir) == moved
            && int(ir, select.false_value(ir)) == Some(0)
            && int(ir, add.rhs(ir)) == Some(1)
            && yielded(ir, looped, at) == Some(next);
        let ring = Ring { slots: int(ir, compare.rhs(ir))?, start: int(ir, *looped.init(ir).get(at)?)? };
        (form && (0..ring.slots).contains(&ring.start)).then_some(ring)
    }
}

fn int(ir: &Ir, value: Value) -> Option<i64> {
    const_of(ir, value).and_then(Attr::as_int)
}

/// What a descriptor is a view of, up to an index of a buffer.
fn whole_slot(ir: &Ir, mut descriptor: Value) -> Value {
    while let Some(op) = ir.def_op(descriptor).filter(|&op| MemDescIndex::of(ir, op).is_none())
        && let Some(from) = viewed(ir, op)
    {
        descriptor = from;
    }
    descriptor
}

/// The loop that carries a value, and the value's place among those that it carries.
fn carried(ir: &Ir, value: Value) -> Option<(For, usize)> {
    let ValueDef::Arg { block, index } = ir.def(value) else { return None };
    let looped = ir.block_op(block).and_then(|op| For::of(ir, op))?;
    Some((looped, (index as usize).checked_sub(1)?))
}

/// What a loop hands to its next iteration in a place.
fn yielded(ir: &Ir, looped: For, at: usize) -> Option<Value> {
    let end = ir.body(looped.0, 0).and_then(|body| ir.terminator(body))?;
    ir.operands(end).get(at).copied()
}
