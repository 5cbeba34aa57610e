//! The bounds of inner loops: whether they can be computed in front of the outer loop, and how often a loop runs.

use std::collections::BTreeSet;

use crate::ir::core::{Builder, Dominance, Ir, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::scf::scf;
use crate::ir::effects::effects;
use crate::passes::ttg::pipeline::schedule::nested_operands;

/// Lower bound, upper bound and step.
pub(super) fn bounds(ir: &Ir, looped: Op) -> [Value; 3] {
    let looped = scf::For(looped);
    [looped.lower(ir), looped.upper(ir), looped.step(ir)]
}

/// The operations that must move in front of `outer` so that `values` are known there, in the order of the program;
/// `None` if they cannot.
pub(super) fn to_hoist(ir: &Ir, outer: Op, values: &[Value]) -> Option<Vec<Op>> {
    needed(ir, outer, values, false)
}

/// The operations in `outer` that compute `values` from its induction variable and what is known in front of it.
pub(super) fn to_repeat(ir: &Ir, outer: Op, values: &[Value]) -> Option<Vec<Op>> {
    needed(ir, outer, values, true)
}

fn needed(ir: &Ir, outer: Op, values: &[Value], repeat: bool) -> Option<Vec<Op>> {
    let dominance = Dominance::new();
    let body = ir.body(outer, 0)?;
    let induction = *ir.args(body).first()?;
    // Nobody may have written what is read a second time.
    let may_read = repeat && !effects(ir, outer).writes;
    let mut seen = BTreeSet::new();
    let mut queue = values.to_vec();
    while let Some(value) = queue.pop() {
        if dominance.value_dominates(ir, value, outer) || repeat && value == induction {
            continue;
        }
        let ValueDef::Result { op, .. } = ir.def(value) else { return None };
        if seen.contains(&op) {
            continue;
        }
        let operands = nested_operands(ir, op);
        let scalar = operands.iter().chain(ir.results(op)).all(|&v| is_scalar(ir.ty(v)));
        let effect = effects(ir, op);
        let harmless = !effect.writes && !effect.allocates && (may_read || !effect.reads);
        if ir.parent_block(op) != Some(body) || !scalar || !harmless {
            return None;
        }
        seen.insert(op);
        queue.extend(operands);
    }
    Some(ir.ops(body).filter(|op| seen.contains(op)).collect())
}

fn is_scalar(ty: Type) -> bool {
    ty.is_int() || ty.as_float().is_some() || matches!(ty.data(), TypeData::Index | TypeData::Pointer { .. })
}

/// Bits of an integer type; an index has 64.
pub(super) fn width(ty: Type) -> u32 {
    match ty.data() {
        TypeData::Int(w) => *w,
        _ => 64,
    }
}

/// How often a loop with these bounds runs; 0 or less if it does not. One that counts without sign (`unsigned`) may
/// have bounds from 2³¹ on; its number of iterations is taken to fit.
pub(super) fn trips(b: &mut Builder<'_>, [lower, upper, step]: [Value; 3], unsigned: bool) -> Value {
    let ty = b.ir.ty(lower);
    let upper = if unsigned { b.value(ArithOp::Maxui, &[upper, lower], ty) } else { upper };
    let span = b.value(ArithOp::Subi, &[upper, lower], ty);
    b.value(if unsigned { ArithOp::Ceildivui } else { ArithOp::Ceildivsi }, &[span, step], ty)
}

/// The value as an integer of type `ty`, which is no narrower.
pub(super) fn widen(b: &mut Builder<'_>, value: Value, ty: Type, unsigned: bool) -> Value {
    let from = b.ir.ty(value);
    if from == ty {
        return value;
    }
    let cast = match (from.is_int(), unsigned) {
        (true, false) => ArithOp::Extsi,
        (true, true) => ArithOp::Extui,
        // To 64 bits, as many as an index has.
        (false, _) => ArithOp::IndexCast,
    };
    b.value(cast, &[value], ty)
}

/// Whether a loop compares its bounds without sign.
pub(super) fn is_unsigned(ir: &Ir, looped: Op) -> bool {
    scf::For(looped).unsignedCmp(ir)
}
