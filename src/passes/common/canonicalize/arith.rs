//! Canonicalization of the `arith` dialect: constants gathered, casts moved outwards, negations removed.
//!
//! Constants are gathered on scalars only, as MLIR does; on tensors that would make constants that hold registers.
//! In names, c and d are constants. New constants stand in front of the operation and have its location.

use crate::ir::core::OpState;
use crate::ir::core::{Attr, Op, Value};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::fold::bits;
use crate::ir::dialects::{ArithOp, OpKind};
use crate::ir::rewrite::{Pattern, Rewriter};

pub static PATTERNS: &[&Pattern] = &[
    &Pattern::new("addi(addi(x, c), d) -> addi(x, c + d)", OpKind::Arith(ArithOp::Addi), addi_of_addi),
    &Pattern::new("addi(subi(x, c), d) -> addi(x, d - c)", OpKind::Arith(ArithOp::Addi), addi_of_subi_right),
    &Pattern::new("addi(subi(c, x), d) -> subi(c + d, x)", OpKind::Arith(ArithOp::Addi), addi_of_subi_left),
    &Pattern::new("addi(x, muli(y, -1)) -> subi(x, y)", OpKind::Arith(ArithOp::Addi), addi_of_negation),
    &Pattern::new("subi of addi or subi with constants", OpKind::Arith(ArithOp::Subi), subi_of_sum),
    &Pattern::new("subi(subi(x, y), x) -> subi(0, y)", OpKind::Arith(ArithOp::Subi), subi_cancels),
    &Pattern::new("muli(muli(x, c), d) -> muli(x, c * d)", OpKind::Arith(ArithOp::Muli), muli_of_muli),
    &Pattern::new("andi(andi(x, c), d) -> andi(x, c & d)", OpKind::Arith(ArithOp::Andi), andi_of_andi),
    &Pattern::new("ori(ori(x, c), d) -> ori(x, c | d)", OpKind::Arith(ArithOp::Ori), ori_of_ori),
    &Pattern::new("xori(xori(x, c), d) -> xori(x, c ^ d)", OpKind::Arith(ArithOp::Xori), xori_of_xori),
    &Pattern::new("andi(ext x, ext y) -> ext andi(x, y)", OpKind::Arith(ArithOp::Andi), bitwise_of_extensions),
    &Pattern::new("ori(ext x, ext y) -> ext ori(x, y)", OpKind::Arith(ArithOp::Ori), bitwise_of_extensions),
    &Pattern::new("xori(ext x, ext y) -> ext xori(x, y)", OpKind::Arith(ArithOp::Xori), bitwise_of_extensions),
    &Pattern::new("xori(cmpi, true) -> inverse cmpi", OpKind::Arith(ArithOp::Xori), not_of_cmpi),
    &Pattern::new("cmpi eq/ne(ext x, ext y) -> cmpi(x, y)", OpKind::Arith(ArithOp::Cmpi), equality_of_extensions),
    &Pattern::new("extsi(extui x) -> extui x", OpKind::Arith(ArithOp::Extsi), extsi_of_extui),
    &Pattern::new("trunci(ext x) -> ext x", OpKind::Arith(ArithOp::Trunci), trunci_of_extension),
    &Pattern::new("trunci(shrsi(x, c)) -> trunci(shrui(x, c))", OpKind::Arith(ArithOp::Trunci), trunci_of_shrsi),
    &Pattern::new("bitcast(bitcast x) -> bitcast x", OpKind::Arith(ArithOp::Bitcast), bitcast_of_bitcast),
    &Pattern::new("index_cast(index_cast x) -> x", OpKind::Arith(ArithOp::IndexCast), index_cast_of_index_cast),
    &Pattern::new("index_cast(extsi x) -> index_cast x", OpKind::Arith(ArithOp::IndexCast), index_cast_of_extension),
    &Pattern::new("sitofp(ext x) -> int to float x", OpKind::Arith(ArithOp::Sitofp), to_float_of_extension),
    &Pattern::new("uitofp(extui x) -> uitofp x", OpKind::Arith(ArithOp::Uitofp), to_float_of_extension),
    &Pattern::new("addf(x, negf y) -> subf(x, y)", OpKind::Arith(ArithOp::Addf), addf_of_negf),
    &Pattern::new("subf(-0.0, x) -> negf x", OpKind::Arith(ArithOp::Subf), subf_from_zero),
    &Pattern::new("mulf(negf x, negf y) -> mulf(x, y)", OpKind::Arith(ArithOp::Mulf), of_negations),
    &Pattern::new("divf(negf x, negf y) -> divf(x, y)", OpKind::Arith(ArithOp::Divf), of_negations),
    &Pattern::new(
        "select(p, select(p, x, y), z) -> select(p, x, z)",
        OpKind::Arith(ArithOp::Select),
        select_of_same_condition,
    ),
    &Pattern::new("select(not p, x, y) -> select(p, y, x)", OpKind::Arith(ArithOp::Select), select_of_not),
    &Pattern::new("select(x < y, x, y) -> min(x, y)", OpKind::Arith(ArithOp::Select), select_to_extremum),
    &Pattern::new("select(p, false, true) -> not p", OpKind::Arith(ArithOp::Select), select_to_not),
    &Pattern::new("select(p, 1, 0) -> extui p", OpKind::Arith(ArithOp::Select), select_to_extui),
    &Pattern::new("cmpf(int to float, constant) -> cmpi", OpKind::Arith(ArithOp::Cmpf), cmpf_of_int),
];

/// The operands of the operation of this kind that defines `value`.
fn producer<const N: usize>(rw: &Rewriter<'_>, value: Value, kind: ArithOp) -> Option<[Value; N]> {
    let def = rw.ir.def_op(value).filter(|&d| rw.ir.is(d, kind))?;
    Some(rw.ir.all_operands(def))
}

/// Of a binary operation whose right operand is a constant and whose left one is defined by an operation of this kind:
/// the two operands of that, and the constant.
fn with_constant(rw: &Rewriter<'_>, op: Op, kind: ArithOp) -> Option<([Value; 2], Attr)> {
    let [lhs, rhs] = rw.ir.all_operands(op);
    Some((producer(rw, lhs, kind)?, rw.const_of(rhs)?))
}

/// `f(c, d)` in the type of `op`, as a value.
fn combined(rw: &mut Rewriter<'_>, op: Op, c: Attr, d: Attr, f: fn(i64, i64) -> i64) -> Option<Value> {
    let ty = rw.ir.ty(rw.ir.result(op));
    if ty.is_tensor() {
        return None;
    }
    let value = bits::zip(c, d, ty, |a, b| Some(f(a as i64, b as i64) as u64))?;
    let loc = rw.ir.loc(op);
    Some(rw.constant(value, loc))
}

/// What both operations promise about overflow. Gathering constants keeps "no wrap" only for flags that both have and
/// only for additions.
fn replace(rw: &mut Rewriter<'_>, op: Op, kind: ArithOp, operands: &[Value]) -> bool {
    rw.replace_with(op, kind, operands);
    true
}

fn addi_of_addi(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(([x, inner], d)) = with_constant(rw, op, ArithOp::Addi) else { return false };
    let Some(c) = rw.const_of(inner) else { return false };
    combined(rw, op, c, d, i64::wrapping_add).is_some_and(|sum| replace(rw, op, ArithOp::Addi, &[x, sum]))
}

fn addi_of_subi_right(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(([x, inner], d)) = with_constant(rw, op, ArithOp::Subi) else { return false };
    let Some(c) = rw.const_of(inner) else { return false };
    combined(rw, op, d, c, i64::wrapping_sub).is_some_and(|sum| replace(rw, op, ArithOp::Addi, &[x, sum]))
}

fn addi_of_subi_left(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(([inner, x], d)) = with_constant(rw, op, ArithOp::Subi) else { return false };
    let Some(c) = rw.const_of(inner) else { return false };
    combined(rw, op, c, d, i64::wrapping_add).is_some_and(|sum| replace(rw, op, ArithOp::Subi, &[sum, x]))
}

fn addi_of_negation(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [lhs, rhs] = rw.ir.all_operands(op);
    for (this, x) in [(rhs, lhs), (lhs, rhs)] {
        if let Some([y, factor]) = producer(rw, this, ArithOp::Muli)
            && bits::is_int(rw.const_of(factor), -1)
        {
            return replace(rw, op, ArithOp::Subi, &[x, y]);
        }
    }
    false
}

/// Six cases: a constant minus, or minus a constant, of a sum or difference with a constant.
fn subi_of_sum(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [lhs, rhs] = rw.ir.all_operands(op);
    if let Some(d) = rw.const_of(rhs) {
        // (x + c) - d, (x - c) - d, (c - x) - d
        if let Some([x, inner]) = producer(rw, lhs, ArithOp::Addi)
            && let Some(c) = rw.const_of(inner)
        {
            return combined(rw, op, c, d, i64::wrapping_sub).is_some_and(|k| replace(rw, op, ArithOp::Addi, &[x, k]));
        }
        if let Some([a, b]) = producer(rw, lhs, ArithOp::Subi) {
            if let Some(c) = rw.const_of(b) {
                return combined(rw, op, c, d, i64::wrapping_add)
                    .is_some_and(|k| replace(rw, op, ArithOp::Subi, &[a, k]));
            }
            if let Some(c) = rw.const_of(a) {
                return combined(rw, op, c, d, i64::wrapping_sub)
                    .is_some_and(|k| replace(rw, op, ArithOp::Subi, &[k, b]));
            }
        }
    }
    if let Some(d) = rw.const_of(lhs) {
        // d - (x + c), d - (x - c), d - (c - x)
        if let Some([x, inner]) = producer(rw, rhs, ArithOp::Addi)
            && let Some(c) = rw.const_of(inner)
        {
            return combined(rw, op, d, c, i64::wrapping_sub).is_some_and(|k| replace(rw, op, ArithOp::Subi, &[k, x]));
        }
        if let Some([a, b]) = producer(rw, rhs, ArithOp::Subi) {
            if let Some(c) = rw.const_of(b) {
                return combined(rw, op, d, c, i64::wrapping_add)
                    .is_some_and(|k| replace(rw, op, ArithOp::Subi, &[k, a]));
            }
            if let Some(c) = rw.const_of(a) {
                return combined(rw, op, d, c, i64::wrapping_sub)
                    .is_some_and(|k| replace(rw, op, ArithOp::Addi, &[b, k]));
            }
        }
    }
    false
}

fn subi_cancels(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [lhs, rhs] = rw.ir.all_operands(op);
    let Some([x, y]) = producer(rw, lhs, ArithOp::Subi) else { return false };
    if x != rhs {
        return false;
    }
    let (ty, loc) = (rw.ir.ty(rw.ir.result(op)), rw.ir.loc(op));
    let zero = rw.constant(Attr::int_splat(ty, 0), loc);
    replace(rw, op, ArithOp::Subi, &[zero, y])
}

fn muli_of_muli(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(([x, inner], d)) = with_constant(rw, op, ArithOp::Muli) else { return false };
    let Some(c) = rw.const_of(inner) else { return false };
    combined(rw, op, c, d, i64::wrapping_mul).is_some_and(|k| replace(rw, op, ArithOp::Muli, &[x, k]))
}

fn andi_of_andi(rw: &mut Rewriter<'_>, op: Op) -> bool {
    bitwise_of_bitwise(rw, op, ArithOp::Andi, |a, b| a & b)
}

fn ori_of_ori(rw: &mut Rewriter<'_>, op: Op) -> bool {
    bitwise_of_bitwise(rw, op, ArithOp::Ori, |a, b| a | b)
}

fn xori_of_xori(rw: &mut Rewriter<'_>, op: Op) -> bool {
    bitwise_of_bitwise(rw, op, ArithOp::Xori, |a, b| a ^ b)
}

fn bitwise_of_bitwise(rw: &mut Rewriter<'_>, op: Op, kind: ArithOp, f: fn(i64, i64) -> i64) -> bool {
    let Some(([x, inner], d)) = with_constant(rw, op, kind) else { return false };
    let Some(c) = rw.const_of(inner) else { return false };
    combined(rw, op, c, d, f).is_some_and(|k| replace(rw, op, kind, &[x, k]))
}

/// The value is the same before the extension; an unsigned extension makes it non-negative.
fn to_float_of_extension(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    if let Some(x) = producer::<1>(rw, src, ArithOp::Extui) {
        return replace(rw, op, ArithOp::Uitofp, &x);
    }
    let signed = producer::<1>(rw, src, ArithOp::Extsi).filter(|_| rw.ir.is(op, ArithOp::Sitofp));
    signed.is_some_and(|x| replace(rw, op, ArithOp::Sitofp, &x))
}

fn addf_of_negf(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [lhs, rhs] = rw.ir.all_operands(op);
    for (this, x) in [(rhs, lhs), (lhs, rhs)] {
        if let Some([y]) = producer(rw, this, ArithOp::Negf) {
            let flags = if rw.ir.stores(op, view::Addf::ATTR.fastmath) { view::Addf(op).fastmath(rw.ir) } else { None };
            let difference = view::Subf::state(rw.ir.loc(op), x, y).with_some(view::Subf::ATTR.fastmath, flags);
            rw.replace_by(op, difference);
            return true;
        }
    }
    false
}

fn subf_from_zero(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [zero, x] = rw.ir.all_operands(op);
    if !bits::is_float(rw.const_of(zero), -0.0) {
        return false;
    }
    replace(rw, op, ArithOp::Negf, &[x])
}

fn select_to_extremum(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [cond, a, b] = rw.ir.all_operands(op);
    let Some(cmp) = view::Cmpi::defining(rw.ir, cond) else { return false };
    let (x, y) = (cmp.lhs(rw.ir), cmp.rhs(rw.ir));
    let straight = (a, b) == (x, y);
    if !straight && (a, b) != (y, x) {
        return false;
    }
    let Some(predicate) = cmp.predicate(rw.ir) else { return false };
    let Some(direction) = predicate.direction() else { return false };
    let signed = predicate != predicate.unsigned();
    let kind = match (direction.is_lt() == straight, signed) {
        (true, true) => ArithOp::Minsi,
        (true, false) => ArithOp::Minui,
        (false, true) => ArithOp::Maxsi,
        (false, false) => ArithOp::Maxui,
    };
    replace(rw, op, kind, &[x, y])
}

/// How and from what a value was extended.
fn extension(rw: &Rewriter<'_>, value: Value) -> Option<(ArithOp, Value)> {
    [ArithOp::Extui, ArithOp::Extsi].into_iter().find_map(|ext| Some((ext, producer::<1>(rw, value, ext)?[0])))
}

/// What two operands were extended from, if both were in the same way and from the same type.
fn same_extensions(rw: &Rewriter<'_>, op: Op) -> Option<(ArithOp, Value, Value)> {
    let [a, b] = rw.ir.all_operands(op);
    let (ext, x) = extension(rw, a)?;
    let [y] = producer(rw, b, ext)?;
    (rw.ir.ty(x) == rw.ir.ty(y)).then_some((ext, x, y))
}

fn bitwise_of_extensions(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let OpKind::Arith(kind) = rw.ir.kind(op) else { return false };
    let Some((ext, x, y)) = same_extensions(rw, op) else { return false };
    let (loc, ty) = (rw.ir.loc(op), rw.ir.ty(x));
    let narrow = rw.value(kind, loc, &[x, y], ty);
    replace(rw, op, ext, &[narrow])
}

fn equality_of_extensions(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if !matches!(view::Cmpi(op).predicate(rw.ir), Some(CmpiPredicate::Eq | CmpiPredicate::Ne)) {
        return false;
    }
    let Some((_, x, y)) = same_extensions(rw, op) else { return false };
    rw.set_operands(op, &[x, y]);
    true
}

fn not_of_cmpi(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [condition, ones] = rw.ir.all_operands(op);
    if rw.ir.ty(rw.ir.result(op)).is_tensor() || !bits::is_int(rw.const_of(ones), -1) {
        return false;
    }
    let Some(cmp) = view::Cmpi::defining(rw.ir, condition) else { return false };
    let Some(predicate) = cmp.predicate(rw.ir) else { return false };
    let inverse = view::Cmpi::state(rw.ir.loc(op), cmp.lhs(rw.ir), cmp.rhs(rw.ir));
    rw.replace_by(op, inverse.with(view::Cmpi::ATTR.predicate, predicate.inverse()));
    true
}

fn extsi_of_extui(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    producer::<1>(rw, src, ArithOp::Extui).is_some_and(|x| replace(rw, op, ArithOp::Extui, &x))
}

/// Of something narrower than the result: the fold has dealt with the others.
fn trunci_of_extension(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    let Some((ext, x)) = extension(rw, src) else { return false };
    if rw.ir.ty(x).bit_width() >= rw.ir.ty(rw.ir.result(op)).bit_width() {
        return false;
    }
    replace(rw, op, ext, &[x])
}

/// The sign bits that were shifted in are cut off when the shift moves no more bits than the truncation drops.
fn trunci_of_shrsi(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [shifted] = rw.ir.all_operands(op);
    let Some([x, amount]) = producer(rw, shifted, ArithOp::Shrsi) else { return false };
    let widths = (rw.ir.ty(x).bit_width(), rw.ir.ty(rw.ir.result(op)).bit_width());
    let ((Some(from), Some(to)), Some(by)) = (widths, rw.const_of(amount).and_then(Attr::int_value)) else {
        return false;
    };
    if by < 0 || by > i64::from(from - to) {
        return false;
    }
    let (loc, ty) = (rw.ir.loc(op), rw.ir.ty(shifted));
    let unsigned = rw.value(ArithOp::Shrui, loc, &[x, amount], ty);
    replace(rw, op, ArithOp::Trunci, &[unsigned])
}

fn bitcast_of_bitcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    producer::<1>(rw, src, ArithOp::Bitcast).is_some_and(|x| replace(rw, op, ArithOp::Bitcast, &x))
}

fn index_cast_of_index_cast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    let Some([x]) = producer(rw, src, ArithOp::IndexCast) else { return false };
    if rw.ir.ty(x) != rw.ir.ty(rw.ir.result(op)) {
        return false;
    }
    rw.replace(op, &[x]);
    true
}

fn index_cast_of_extension(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    let Some(x) = producer::<1>(rw, src, ArithOp::Extsi) else { return false };
    rw.set_operands(op, &x);
    true
}

fn of_negations(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let OpKind::Arith(kind) = rw.ir.kind(op) else { return false };
    let [x, y] = rw.ir.all_operands(op).map(|negated| producer::<1>(rw, negated, ArithOp::Negf));
    let (Some([x]), Some([y])) = (x, y) else { return false };
    // Products and quotients write their flags in the same way.
    let flags = view::Mulf::ATTR.fastmath;
    let stored = rw.ir.get(op, flags).filter(|&f| f != 0);
    let plain = OpState::new(kind, rw.ir.loc(op)).operands(&[x, y]);
    rw.replace_by(op, plain.with_some(flags, stored));
    true
}

fn select_of_same_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [p, a, b] = rw.ir.all_operands(op);
    let of_p = |value| view::Select::defining(rw.ir, value).filter(|select| select.condition(rw.ir) == p);
    if let Some(y) = of_p(b).map(|select| select.false_value(rw.ir)) {
        return replace(rw, op, ArithOp::Select, &[p, a, y]);
    }
    if let Some(x) = of_p(a).map(|select| select.true_value(rw.ir)) {
        return replace(rw, op, ArithOp::Select, &[p, x, b]);
    }
    false
}

fn select_of_not(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [not, a, b] = rw.ir.all_operands(op);
    let Some([p, ones]) = producer(rw, not, ArithOp::Xori) else { return false };
    if rw.ir.ty(p).is_tensor() || !bits::is_int(rw.const_of(ones), -1) {
        return false;
    }
    replace(rw, op, ArithOp::Select, &[p, b, a])
}

fn negated(rw: &mut Rewriter<'_>, op: Op, v: Value) -> Value {
    let (loc, ty) = (rw.ir.loc(op), rw.ir.ty(v));
    let ones = rw.constant(Attr::int_splat(ty, -1), loc);
    rw.value(ArithOp::Xori, loc, &[v, ones], ty)
}

fn select_to_not(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ([p, a, b], ty) = (rw.ir.all_operands(op), rw.ir.ty(rw.ir.result(op)));
    let (a, b) = (rw.const_of(a), rw.const_of(b));
    if !ty.is_int_of(1) || ty != rw.ir.ty(p) || !bits::is_int(a, 0) || !bits::is_int(b, 1) {
        return false;
    }
    let loc = rw.ir.loc(op);
    let ones = rw.constant(Attr::int_splat(ty, -1), loc);
    replace(rw, op, ArithOp::Xori, &[p, ones])
}

fn select_to_extui(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ([p, a, b], ty) = (rw.ir.all_operands(op), rw.ir.ty(rw.ir.result(op)));
    let (a, b) = (rw.const_of(a), rw.const_of(b));
    if !ty.is_int() || ty.is_int_of(1) {
        return false;
    }
    if bits::is_int(a, 1) && bits::is_int(b, 0) {
        return replace(rw, op, ArithOp::Extui, &[p]);
    }
    if bits::is_int(a, 0) && bits::is_int(b, 1) {
        let not = negated(rw, op, p);
        return replace(rw, op, ArithOp::Extui, &[not]);
    }
    false
}

/// A comparison of an integer that the float format holds exactly with a whole constant is one of integers.
fn cmpf_of_int(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [cast, constant] = rw.ir.all_operands(op);
    let Some(c) = rw.const_of(constant).and_then(Attr::float_value) else { return false };
    let from = |kind| producer::<1>(rw, cast, kind);
    let signed = from(ArithOp::Sitofp).is_some();
    let Some([x]) = from(ArithOp::Sitofp).or(from(ArithOp::Uitofp)) else { return false };
    if rw.ir.ty(x).is_tensor() {
        return false;
    }
    let (int_ty, float) = (rw.ir.ty(x), rw.ir.ty(cast).elem().as_float());
    let (Some(width), Some(float)) = (int_ty.bit_width(), float) else { return false };
    let significant = i64::from(width) - i64::from(signed);
    if significant > i64::from(float.mantissa_bits()) + 1 || width > 32 || c.fract() != 0.0 || !c.is_finite() {
        return false;
    }
    let (low, high) =
        if signed { (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1) } else { (0, (1i64 << width) - 1) };
    if c < low as f64 || c > high as f64 {
        return false;
    }
    // Ordered and unordered alike: an integer is never NaN.
    let Some(predicate) = view::Cmpf(op).predicate(rw.ir).and_then(|p| p.of_integers(signed)) else { return false };
    let loc = rw.ir.loc(op);
    let bound = rw.constant(Attr::int_splat(int_ty, c as i64), loc);
    rw.replace_by(op, view::Cmpi::state(loc, x, bound).with(view::Cmpi::ATTR.predicate, predicate));
    true
}
