//! Which slot of a buffer an access of a pipelined loop is to, told by where the loop's iteration stands in the ring.
//!
//! A pipelined loop fills one slot of a ring and reads another:
//!
//! ```text
//! scf.for … iter_args(%x = 1, %y = -1, %a = %buffer[0], %b = %buffer[1])
//!   %next = select(%x + 1 < 3, %x + 1, 0)
//!   %this = select(%y + 1 >= 3, 0, %y + 1)
//!   copy to %buffer[%next]         the slot that is filled
//!   load from %buffer[%this]       filled two iterations before
//!   load from %a                   the same slot
//!   yield %next, %this, %b, %buffer[%next]
//! ```
//!
//! 1. A counter of the ring is `next = select(x + 1 < n, x + 1, 0)`, or the same with `>=`, where `x` is the counter of
//!    the iteration before. If it starts with `s`, its value in iteration `i` is `s + 1 + i` modulo `n`.
//! 2. A descriptor that the loop carries over `d` iterations is the slot of `d` iterations before, `s + 1 + i - d`. In
//!    the first `d` iterations it is one that came into the loop: its index must be a constant, and that number.
//! 3. So each slot has a number `o`, its *offset*: it is slot `o + i` of the ring. Two slots of an iteration are the
//!    same if their offsets are. Seen from the next iteration, a slot's offset is one less.
//!
//! Both forms of counters are in use: `passes/nvidia/pipeline` has two of them, for the slot that is filled and the one
//! that is read, and `passes/amd/pipeline` one.

use super::shared_alias::viewed;
use crate::ir::core::{Attr, Ir, Op, Value, ValueDef};
use crate::ir::dialects::arith::arith::{Addi, Cmpi, Select};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::rewrite::fold::const_of;

/// A slot of a ring, as seen in one iteration of its loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// The buffer that has the slots.
    pub buffer: Value,
    /// The loop whose iterations count.
    pub looped: Op,
    /// How many slots there are.
    pub slots: i64,
    /// In iteration `i` it is slot `offset + i`, modulo the number of slots.
    pub offset: i64,
}

impl Slot {
    /// The slot that a descriptor is part of, where that is known.
    #[must_use]
    pub fn of(ir: &Ir, descriptor: Value) -> Option<Slot> {
        let mut came = vec![];
        let mut around: Option<For> = None;
        let mut descriptor = whole_slot(ir, descriptor);
        let view = loop {
            let Some((looped, at)) = carried(ir, descriptor) else {
                break MemDescIndex::of(ir, ir.def_op(descriptor)?)?;
            };
            came.push(looped.init(ir).get(at).copied()?);
            // Descriptors that move in a circle, or from one loop to another, are of no ring.
            if came.len() > looped.init(ir).len() || around.is_some_and(|known| known.0 != looped.0) {
                return None;
            }
            around = Some(looped);
            descriptor = whole_slot(ir, yielded(ir, looped, at)?);
        };
        let buffer = view.src(ir);
        let ring = Ring::of(ir, view.index(ir))?;
        let slots = ir.ty(buffer).as_memdesc()?.shape.first().copied()?;
        if ring.slots != slots || around.is_some_and(|known| known.0 != ring.looped) {
            return None;
        }
        let ago = i64::try_from(came.len()).ok()?;
        let slot = Slot { buffer, looped: ring.looped, slots, offset: (ring.start + 1 - ago).rem_euclid(slots) };
        let follows = |(iteration, came): (usize, &Value)| {
            let index = MemDescIndex::of(ir, ir.def_op(whole_slot(ir, *came))?).filter(|v| v.src(ir) == buffer)?;
            Some(int(ir, index.index(ir))? == (slot.offset + i64::try_from(iteration).ok()?).rem_euclid(slots))
        };
        came.iter().enumerate().all(|c| follows(c) == Some(true)).then_some(slot)
    }

    /// Whether two slots of one iteration are different ones.
    #[must_use]
    pub fn is_apart(self, other: Slot) -> bool {
        self.buffer == other.buffer && self.looped == other.looped && self.offset != other.offset
    }

    /// The slot as it is seen from the next iteration.
    #[must_use]
    pub fn from_next_iteration(self) -> Slot {
        Slot { offset: (self.offset - 1).rem_euclid(self.slots), ..self }
    }
}

/// A counter of a ring (step 1).
pub struct Ring {
    /// The loop that carries the counter.
    pub looped: Op,
    /// The counter's place among what the loop carries.
    pub at: usize,
    pub slots: i64,
    /// The counter in front of the first iteration.
    pub start: i64,
}

impl Ring {
    /// The ring of which a value is the counter.
    #[must_use]
    pub fn of(ir: &Ir, next: Value) -> Option<Ring> {
        let select = Select::of(ir, ir.def_op(next)?)?;
        let compare = Cmpi::of(ir, ir.def_op(select.condition(ir))?)?;
        let (moved, over) = match compare.predicate(ir)? {
            CmpiPredicate::Slt => (select.true_value(ir), select.false_value(ir)),
            CmpiPredicate::Sge => (select.false_value(ir), select.true_value(ir)),
            _ => return None,
        };
        let add = Addi::of(ir, ir.def_op(moved)?)?;
        let (looped, at) = carried(ir, add.lhs(ir))?;
        let form = compare.lhs(ir) == moved
            && int(ir, over) == Some(0)
            && int(ir, add.rhs(ir)) == Some(1)
            && yielded(ir, looped, at) == Some(next);
        let slots = int(ir, compare.rhs(ir))?;
        let start = int(ir, *looped.init(ir).get(at)?)?;
        (form && (-1..slots).contains(&start)).then_some(Ring { looped: looped.0, at, slots, start })
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
