//! Filling in types from others, for the text parser, which meets operands without types.
//!
//! What an entry says is used in this order:
//!
//! 1. its traits `SAME_OPERANDS_AND_RESULT_TYPE` and `SAME_TYPE_OPERANDS`;
//! 2. its rules in `types`, from the first to the last ([`super::type_rules`]);
//! 3. its hook `infer`, one of the functions below, for what no rule says;
//! 4. the constraints that admit one type only, such as `I32`.

use super::spec::{OpSpec, Traits, TypeSlots};
use super::type_rules::{Relation, TypeRule};
use crate::ir::core::Type;

/// Fills in the types that are unknown, as far as they follow from those that are known.
pub fn fill_in(spec: &OpSpec, t: &mut TypeSlots<'_>) {
    if spec.has(Traits::SAME_OPERANDS_AND_RESULT_TYPE) {
        same_type(t);
    } else if spec.has(Traits::SAME_TYPE_OPERANDS) {
        same_operands(t);
    }
    for rule in spec.types {
        follow(spec, rule, t);
    }
    if let Some(hook) = spec.infer {
        hook(t);
    }
    for (group, operand) in spec.operands.iter().enumerate() {
        if let Some(only) = operand.constraint.only {
            t.set_operand(group, only());
        }
    }
    for (group, result) in spec.results.iter().enumerate() {
        if let Some(only) = result.constraint.only {
            t.set_result(group, only());
        }
    }
}

fn follow(spec: &OpSpec, rule: &TypeRule, t: &mut TypeSlots<'_>) {
    let (Some(of), Some(value)) = (spec.place(rule.of), spec.place(rule.value)) else { return };
    let known = match rule.relation {
        Relation::Same => t.at(of).or(t.at(value)),
        Relation::Bits | Relation::Indices | Relation::Accessed => t.at(of),
    };
    let Some(known) = known else { return };
    if rule.relation == Relation::Same {
        t.fill(of, known);
        t.fill(value, known);
    } else if let Ok((like, elem)) = rule.parts(known) {
        t.fill(value, like.with_elem(elem));
    }
}

/// All operands and results have one type.
fn same_type(t: &mut TypeSlots<'_>) {
    let known = t.operands.iter().chain(&t.results).flatten().copied().flatten().next();
    if let Some(ty) = known {
        for slot in t.operands.iter_mut().chain(&mut t.results).flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// `condition, true, false -> result`: the last three agree; an unknown condition is a scalar bit.
pub fn select(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.result(0).or(t.operand(1)).or(t.operand(2)) {
        t.set_operand(1, ty);
        t.set_operand(2, ty);
        t.set_result(0, ty);
    }
    t.set_operand(0, Type::int(1));
}

/// The result is the operand's element type.
pub fn unsplat(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operand(0) {
        t.set_result(0, ty.elem());
    }
}

/// All operands have the type of the first that is known.
fn same_operands(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operands.iter().flatten().copied().flatten().next() {
        for slot in t.operands.iter_mut().flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// `base, … -> result` of a block pointer: the base points at the block's elements.
pub fn make_block_pointer(t: &mut TypeSlots<'_>) {
    if let Some(block) = t.result(0).and_then(Type::pointee) {
        t.set_operand(0, Type::ptr(block.elem()));
    }
}

/// Each result has the type of the operand at its place.
pub fn results_as_operands(t: &mut TypeSlots<'_>) {
    let types: Vec<_> = t.operands.iter().flatten().copied().collect();
    for (slot, ty) in t.results.iter_mut().flatten().zip(types) {
        if slot.is_none() {
            *slot = ty;
        }
    }
}
