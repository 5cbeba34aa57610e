//! The terms of a condition: scalars from outside of a loop that must hold where the condition holds anywhere.
//!
//! Example: with `%a` and `%b` from outside of the loop, the terms of
//! `andi(splat(andi(%a, %b)), cmpi slt, %columns, %n)` are `andi(%a, %b)`, `%a` and `%b`.

use std::collections::BTreeSet;

use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf::If;
use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::rewrite::fold;

/// The terms of a condition in the body of a loop. A conjunction comes before what it consists of.
pub(super) fn of(ir: &Ir, condition: Value, body: Block) -> Vec<Value> {
    let (mut terms, mut seen, mut queue) = (vec![], BTreeSet::new(), vec![condition]);
    while let Some(value) = queue.pop() {
        if !seen.insert(value) {
            continue;
        }
        let is_outside = ir.value_block(value) != Some(body);
        if is_outside && !ir.ty(value).is_tensor() && fold::const_of(ir, value).is_none() {
            terms.push(value);
        }
        let Some(op) = ir.def_op(value) else { continue };
        if let Some(and) = arith::Andi::of(ir, op) {
            queue.extend([and.rhs(ir), and.lhs(ir)]);
        } else if keeps_elements(ir, op) {
            queue.push(ir.operand(op, 0));
        }
    }
    terms
}

/// Whether an operation gives what it is given, in another shape or layout.
pub(super) fn keeps_elements(ir: &Ir, op: Op) -> bool {
    let shapes = [TtOp::Splat, TtOp::Broadcast, TtOp::ExpandDims];
    shapes.into_iter().any(|kind| ir.is(op, kind)) || ir.is(op, TtgOp::ConvertLayout)
}

/// Of some terms, those that no other one of them consists of.
pub(super) fn strongest(ir: &Ir, terms: &[Value], body: Block) -> Vec<Value> {
    let implies = |term: Value, other: Value| term != other && of(ir, term, body).contains(&other);
    terms.iter().copied().filter(|&term| !terms.iter().any(|&other| implies(other, term))).collect()
}

/// The conditions that are decided where a loop stands: terms of the branches around it, and the conditions of those
/// whose other side it is on.
pub(super) fn known(ir: &Ir, looped: Op, body: Block) -> Vec<Value> {
    let mut known = vec![];
    let mut inner = looped;
    while let Some(around) = ir.parent_op(inner) {
        if let Some(branch) = If::of(ir, around) {
            let condition = branch.condition(ir);
            let holds = ir.parent_block(inner) == ir.body(around, 0);
            known.extend(if holds { of(ir, condition, body) } else { vec![condition] });
        }
        inner = around;
    }
    known
}
