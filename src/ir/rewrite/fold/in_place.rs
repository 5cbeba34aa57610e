//! Folds that change an operation instead of replacing it.

use crate::ir::core::{Attr, Ir, Op, Value};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::tt::tt::Trans;
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
    let [lhs, rhs] = ir.all_operands(op);
    ir.put(op, view::Cmpi::ATTR.predicate, predicate.mirrored());
    ir.set_operands(op, &[rhs, lhs]);
    true
}

/// `f(f(x))` becomes one f from the innermost type.
fn through(ir: &mut Ir, op: Op, kind: ArithOp) -> bool {
    let [value] = ir.all_operands(op);
    let Some(inner) = ir.def_op(value).filter(|&d| ir.is(d, kind) && d != op) else { return false };
    let [source] = ir.all_operands(inner);
    ir.set_operand(op, 0, source);
    true
}

/// Truncation of a truncation, or of an extension of something wider than the result.
fn trunci(ir: &mut Ir, op: Op) -> bool {
    let [value] = ir.all_operands(op);
    let Some(inner) = ir.def_op(value).filter(|&d| d != op) else { return false };
    let width = |v: Value| ir.ty(v).bit_width();
    let extends = ir.is(inner, ArithOp::Extui) || ir.is(inner, ArithOp::Extsi);
    if !extends && !ir.is(inner, ArithOp::Trunci) {
        return false;
    }
    let [source] = ir.all_operands(inner);
    let fits = !extends || width(source) > width(ir.result(op));
    if fits {
        ir.set_operand(op, 0, source);
    }
    fits
}

/// The permutations of two transpositions composed. The identity is left to the fold hook.
fn trans(ir: &mut Ir, op: Op) -> bool {
    let outer = Trans(op);
    let Some(inner) = Trans::defining(ir, outer.src(ir)).filter(|inner| inner.0 != op) else { return false };
    let (Some(outer_order), Some(inner_order)) = (outer.order(ir), inner.order(ir)) else { return false };
    let is_identity = outer_order.iter().enumerate().all(|(i, &d)| i as i64 == d);
    if is_identity && ir.ty(outer.src(ir)) == ir.ty(ir.result(op)) {
        return false;
    }
    let composed: Option<Vec<i64>> =
        outer_order.iter().map(|&d| inner_order.get(usize::try_from(d).ok()?).copied()).collect();
    let Some(composed) = composed else { return false };
    let source = inner.src(ir);
    ir.put(op, Trans::ATTR.order, &composed);
    ir.set_operand(op, 0, source);
    true
}
