//! Folds that change an operation instead of replacing it.

use crate::ir::core::{Attr, Ir, Op, Value};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::Enumeration;
use crate::ir::dialects::{ArithOp, OpKind, TtOp};

/// Applies the first change that fits. Returns whether there was one.
pub(super) fn simplify(ir: &mut Ir, op: Op, constants: &[Option<Attr>]) -> bool {
    match ir.kind(op) {
        OpKind::Arith(ArithOp::Cmpi) => compare_constant_last(ir, op, constants),
        OpKind::Arith(ArithOp::Extui) => through(ir, op, ArithOp::Extui),
        OpKind::Arith(ArithOp::Extsi) => through(ir, op, ArithOp::Extsi),
        OpKind::Arith(ArithOp::Trunci) => trunci(ir, op),
        OpKind::Tt(TtOp::Trans) => trans(ir, op),
        _ => false,
    }
}

/// Puts constant operands after the others, else in order.
pub(super) fn constants_last(ir: &mut Ir, op: Op, constants: &[Option<Attr>]) -> bool {
    if constants.is_sorted_by_key(Option::is_some) {
        return false;
    }
    let operands = ir.operands(op).to_vec();
    let pick =
        |constant: bool| operands.iter().zip(constants).filter(move |(_, c)| c.is_some() == constant).map(|(&v, _)| v);
    let sorted: Vec<Value> = pick(false).chain(pick(true)).collect();
    ir.set_operands(op, &sorted);
    true
}

/// `c < x` becomes `x > c`, where x is no constant; unless the comparison folds away.
fn compare_constant_last(ir: &mut Ir, op: Op, constants: &[Option<Attr>]) -> bool {
    if constants[0].is_none() || constants[1].is_some() {
        return false;
    }
    let Some(predicate) = view::Cmpi(op).predicate(ir) else { return false };
    let (lhs, rhs) = (ir.operand(op, 0), ir.operand(op, 1));
    ir.set_attr(op, "predicate", predicate.mirrored().attr());
    ir.set_operands(op, &[rhs, lhs]);
    true
}

/// `f(f(x))` becomes one f from the innermost type.
fn through(ir: &mut Ir, op: Op, kind: ArithOp) -> bool {
    let Some(inner) = ir.def_op(ir.operand(op, 0)).filter(|&d| ir.is(d, kind) && d != op) else { return false };
    let source = ir.operand(inner, 0);
    ir.set_operand(op, 0, source);
    true
}

/// Truncation of a truncation, or of an extension of something wider than the result.
fn trunci(ir: &mut Ir, op: Op) -> bool {
    let Some(inner) = ir.def_op(ir.operand(op, 0)).filter(|&d| d != op) else { return false };
    let width = |v: Value| ir.ty(v).bit_width();
    let fits = match ir.kind(inner) {
        OpKind::Arith(ArithOp::Extui | ArithOp::Extsi) => width(ir.operand(inner, 0)) > width(ir.result(op)),
        OpKind::Arith(ArithOp::Trunci) => true,
        _ => false,
    };
    if fits {
        let source = ir.operand(inner, 0);
        ir.set_operand(op, 0, source);
    }
    fits
}

/// The permutations of two transpositions composed. The identity is left to the fold hook.
fn trans(ir: &mut Ir, op: Op) -> bool {
    let Some(inner) = ir.def_op(ir.operand(op, 0)).filter(|&d| ir.is(d, TtOp::Trans) && d != op) else { return false };
    let orders = |o: Op| ir.attr(o, "order").and_then(Attr::as_dense_array);
    let (Some(outer_order), Some(inner_order)) = (orders(op), orders(inner)) else { return false };
    let is_identity = outer_order.iter().enumerate().all(|(i, &d)| i as i64 == d);
    if is_identity && ir.ty(ir.operand(op, 0)) == ir.ty(ir.result(op)) {
        return false;
    }
    let composed: Option<Vec<i64>> =
        outer_order.iter().map(|&d| inner_order.get(usize::try_from(d).ok()?).copied()).collect();
    let Some(composed) = composed else { return false };
    let source = ir.operand(inner, 0);
    ir.set_attr(op, "order", Attr::i32_array(&composed));
    ir.set_operand(op, 0, source);
    true
}
