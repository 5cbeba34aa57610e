//! What an operation, with everything inside it, does to memory; whether it may be dropped, merged or moved.
//!
//! Structured operations do what the operations in their regions do. A call, and anything unknown, is taken to do
//! everything.

use crate::ir::core::{Attr, Ir, Op};
use crate::ir::dialects::tt::tt::{ElementwiseInlineAsm, ExternElementwise, Load};
use crate::ir::dialects::{Effects, OpKind, Traits, TtgOp, TtngOp, discardable};
use crate::ir::rewrite::fold::const_of;

/// The effects of an operation, with those of its regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EffectSet {
    pub reads: bool,
    pub writes: bool,
    pub allocates: bool,
}

impl EffectSet {
    const ALL: EffectSet = EffectSet { reads: true, writes: true, allocates: false };

    /// Neither reads nor writes nor allocates.
    #[must_use]
    pub fn is_free(self) -> bool {
        self == EffectSet::default()
    }

    fn union(self, o: EffectSet) -> EffectSet {
        EffectSet {
            reads: self.reads || o.reads,
            writes: self.writes || o.writes,
            allocates: self.allocates || o.allocates,
        }
    }
}

/// What the operation does to memory.
#[must_use]
pub fn effects(ir: &Ir, op: Op) -> EffectSet {
    own_effects(ir, op).unwrap_or_else(|| {
        let nested = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
        nested.fold(EffectSet::default(), |all, inner| all.union(effects(ir, inner)))
    })
}

/// What the operation does by itself; `None` if it does what the operations in it do.
fn own_effects(ir: &Ir, op: Op) -> Option<EffectSet> {
    // A volatile load must stay where it is: it counts as a write too.
    if Load::of(ir, op).is_some_and(|load| load.isVolatile(ir)) {
        return Some(EffectSet::ALL);
    }
    // A buffer that is never written again is a value like any other, until it has a place.
    let is_alloc = ir.is(op, TtgOp::LocalAlloc) || ir.is(op, TtngOp::TmemAlloc);
    if is_alloc && is_unplaced_value(ir, op) || says_pure(ir, op) {
        return Some(EffectSet::default());
    }
    Some(match ir.spec(op).effects {
        Effects::Pure => EffectSet::default(),
        Effects::Read => EffectSet { reads: true, ..EffectSet::default() },
        Effects::Write => EffectSet { writes: true, ..EffectSet::default() },
        Effects::ReadWrite | Effects::Unknown => EffectSet::ALL,
        Effects::Alloc => EffectSet { allocates: true, ..EffectSet::default() },
        Effects::Recursive => return None,
    })
}

/// Whether the operation, or one in it, writes. Looks from the end: what stands last in a body is mostly what the body
/// is for, so a long body is not walked each time that something in it has changed.
fn writes(ir: &Ir, op: Op) -> bool {
    own_effects(ir, op).map_or_else(
        || {
            let mut blocks = ir.regions_of(op).iter().rev().flat_map(|&r| ir.blocks_of(r).iter().rev());
            blocks.any(|&b| std::iter::successors(ir.last_op(b), |&o| ir.prev_op(o)).any(|inner| writes(ir, inner)))
        },
        |own| own.writes,
    )
}

/// Whether it is code of another language that says of itself that it has no effects.
fn says_pure(ir: &Ir, op: Op) -> bool {
    let asm = ElementwiseInlineAsm::of(ir, op).is_some_and(|asm| asm.pure(ir));
    asm || ExternElementwise::of(ir, op).is_some_and(|call| call.pure(ir))
}

fn is_unplaced_value(ir: &Ir, op: Op) -> bool {
    let mutable = ir.ty(ir.result(op)).as_memdesc().is_some_and(|d| d.mutable);
    let placed = ir.stores(op, discardable::OFFSET) || ir.stores(op, discardable::TENSOR_MEMORY_OFFSET);
    !mutable && !placed
}

/// Whether dropping the operation changes nothing, given that its results are unused: it is no terminator, no symbol,
/// and writes nothing.
#[must_use]
pub fn would_be_trivially_dead(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    !kind.has(Traits::TERMINATOR) && !kind.has(Traits::SYMBOL) && !writes(ir, op)
}

/// Whether the results are unused and the operation may be dropped.
#[must_use]
pub fn is_trivially_dead(ir: &Ir, op: Op) -> bool {
    ir.results(op).iter().all(|&r| !ir.has_uses(r)) && would_be_trivially_dead(ir, op)
}

/// Whether the operation may run where it would not have run: it has no effects and cannot fail.
#[must_use]
pub fn is_speculatable(ir: &Ir, op: Op) -> bool {
    if ir.kind(op).has(Traits::NOT_SPECULATABLE) || ir.kind(op).has(Traits::TERMINATOR) {
        return divides_by_constant(ir, op);
    }
    // A loop might not end; memory for a buffer is scarce.
    if ir.kind(op).has(Traits::LOOP) || ir.is(op, TtgOp::LocalAlloc) || ir.is(op, TtngOp::TmemAlloc) {
        return false;
    }
    let nested = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
    effects(ir, op).is_free()
        && nested.into_iter().all(|inner| ir.kind(inner).is_terminator() || is_speculatable(ir, inner))
}

/// A division by a constant other than 0 (and, signed, -1) cannot fail.
fn divides_by_constant(ir: &Ir, op: Op) -> bool {
    use crate::ir::dialects::ArithOp as A;
    let OpKind::Arith(kind) = ir.kind(op) else { return false };
    let signed = matches!(kind, A::Divsi | A::Remsi | A::Ceildivsi | A::Floordivsi);
    let Some(&divisor) = ir.operands(op).get(1) else { return false };
    let value = const_of(ir, divisor).and_then(Attr::int_value);
    value.is_some_and(|v| v != 0 && !(signed && v == -1))
}
