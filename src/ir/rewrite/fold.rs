//! Folding one operation: constants computed, identities applied, operands put in order.
//!
//! # Algorithm
//!
//! 1. The operation's own in-place changes ([`in_place`]): a constant that a comparison has on the left moves to the
//!    right, chains of casts and of transpositions become one.
//! 2. The `fold` hook of its dialect table, with the constants among its operands.
//! 3. What its traits promise: an involution undoes itself, an idempotent operation needs doing once, and a commutative
//!    one takes constants last.

mod in_place;

use super::Rewriter;
use crate::ir::core::{Attr, AttrData, Ir, Loc, Op, OpState, Type, Value};
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Folded, Traits, TtOp, UbOp};

/// What folding did.
pub enum Outcome {
    Unchanged,
    /// The operation was changed; it may fold again.
    InPlace,
    /// What its results are.
    Replaced(Vec<Folded>),
}

/// The value of the constant that defines `value`.
#[must_use]
pub fn const_of(ir: &Ir, value: Value) -> Option<Attr> {
    let op = ir.def_op(value)?;
    if ir.kind(op).has(Traits::CONSTANT) { Constant(op).value(ir) } else { None }
}

/// The integer that defines `value` as a constant.
#[must_use]
pub fn int_of(ir: &Ir, value: Value) -> Option<i64> {
    const_of(ir, value).and_then(Attr::int_value)
}

/// Whether a value is a constant of which every element is zero; a float's zero may have either sign.
#[must_use]
pub fn is_zero(ir: &Ir, value: Value) -> bool {
    let constant = const_of(ir, value);
    constant.and_then(Attr::int_value) == Some(0) || constant.and_then(Attr::float_value) == Some(0.0)
}

/// Whether every element of a value is a constant without any bit set; looks through a splat of a scalar.
#[must_use]
pub fn has_no_bits(ir: &Ir, value: Value) -> bool {
    match ir.def_op(value).filter(|&op| ir.is(op, TtOp::Splat)) {
        Some(splat) => has_no_bits(ir, tt::Splat(splat).src(ir)),
        None => const_of(ir, value).and_then(Attr::splat_value) == Some(0),
    }
}

/// Whether a value is the constant `true`.
#[must_use]
pub fn is_true(ir: &Ir, value: Value) -> bool {
    const_of(ir, value).and_then(Attr::as_bool) == Some(true)
}

/// Folds once.
pub fn fold(ir: &mut Ir, op: Op) -> Outcome {
    let operands = ir.operands(op);
    // Nearly all operations have few operands, and this is asked of each of them in each pass that rewrites: no
    // allocation for those.
    let (mut few, mut many) = ([None; 4], vec![]);
    let constants: &mut [Option<Attr>] = if operands.len() <= few.len() {
        &mut few[..operands.len()]
    } else {
        many.resize(operands.len(), None);
        &mut many
    };
    operands.iter().zip(&mut *constants).for_each(|(&v, c)| *c = const_of(ir, v));
    let constants = &*constants;
    if in_place::simplify(ir, op, constants) {
        return Outcome::InPlace;
    }
    if let Some(results) = fold_results(ir, op, constants) {
        return Outcome::Replaced(results);
    }
    if ir.kind(op).has(Traits::COMMUTATIVE) && in_place::constants_last(ir, op, constants) {
        return Outcome::InPlace;
    }
    Outcome::Unchanged
}

/// What the results of `op` are, given these constants for its operands. Changes nothing.
#[must_use]
pub fn fold_results(ir: &Ir, op: Op, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    if let Some(results) = ir.spec(op).fold.and_then(|hook| hook(ir, op, constants)) {
        return Some(results).filter(|r| r.len() == ir.results(op).len() && !r.contains_self(ir, op));
    }
    by_traits(ir, op).map(|v| vec![Folded::Value(v)])
}

trait ContainsSelf {
    fn contains_self(&self, ir: &Ir, op: Op) -> bool;
}

impl ContainsSelf for Vec<Folded> {
    /// Whether a fold names a result of the operation it replaces (a loop in unreachable code).
    fn contains_self(&self, ir: &Ir, op: Op) -> bool {
        self.iter().any(|f| matches!(f, Folded::Value(v) if ir.def_op(*v) == Some(op)))
    }
}

fn by_traits(ir: &Ir, op: Op) -> Option<Value> {
    let kind = ir.kind(op);
    let operands = ir.operands(op);
    let inner = operands
        .first()
        .and_then(|&v| ir.def_op(v))
        .filter(|&d| ir.kind(d) == kind && ir.attrs(d) == ir.attrs(op) && d != op);
    if kind.has(Traits::INVOLUTION) && operands.len() == 1 {
        return inner.and_then(|d| ir.operands(d).first().copied());
    }
    if kind.has(Traits::IDEMPOTENT) {
        return match operands {
            [_] => inner.map(|d| ir.result(d)),
            [a, b] if a == b => Some(*a),
            _ => None,
        };
    }
    None
}

/// The value that a fold stands for; a constant is made at the insertion point.
pub fn materialize(rw: &mut Rewriter<'_>, folded: Folded, ty: Type, loc: Loc) -> Value {
    match folded {
        Folded::Value(v) => v,
        Folded::Attr(attr) if matches!(*attr, AttrData::Opaque(_)) => poison(rw, ty, loc),
        Folded::Attr(attr) => rw.constant(attr, loc),
    }
}

fn poison(rw: &mut Rewriter<'_>, ty: Type, loc: Loc) -> Value {
    let op = rw.insert(OpState::new(UbOp::Poison, loc).results(&[ty]));
    rw.ir.result(op)
}
