//! Folds of the `arith` dialect: MLIR's, no more and no fewer.
//!
//! Float identities hold for every operand, NaN and signed zero included: `x + (-0.0)` is x but `x + 0.0` is not (x may
//! be -0.0).

use super::bits::{float_op, int_width, is_float, is_int, map, zip};
use super::{FoldResult, constant, producer, value};
use crate::ir::core::attrs::{sign_extend, zero_extend};
use crate::ir::core::{Attr, FloatKind, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate};
use crate::ir::dialects::{ArithOp, OpKind, UbOp};

type Constants = [Option<Attr>];

fn ty(ir: &Ir, op: Op) -> Type {
    ir.ty(ir.result(op))
}

fn int(ir: &Ir, op: Op, v: i64) -> FoldResult {
    constant(Attr::int_splat(ty(ir, op), v))
}

/// Both constants through a function of sign-extended integers.
fn ints(ir: &Ir, op: Op, c: &Constants, f: fn(i64, i64) -> Option<i64>) -> FoldResult {
    constant(zip(c[0]?, c[1]?, ty(ir, op), |a, b| f(a as i64, b as i64).map(|v| v as u64))?)
}

/// Both constants through a function of zero-extended integers and their width.
fn uints(ir: &Ir, op: Op, c: &Constants, f: fn(u64, u64, u32) -> Option<u64>) -> FoldResult {
    let w = int_width(ty(ir, op))?;
    constant(zip(c[0]?, c[1]?, ty(ir, op), |a, b| f(zero_extend(a as i64, w), zero_extend(b as i64, w), w))?)
}

/// Both constants through a function of floats, rounded once.
fn floats(ir: &Ir, op: Op, c: &Constants, f: fn(f64, f64) -> f64) -> FoldResult {
    let kind = ty(ir, op).elem().as_float()?;
    constant(zip(c[0]?, c[1]?, ty(ir, op), |a, b| Some(float_op(kind, a, b, f)))?)
}

/// If operand `index` comes from an operation of this kind, its operands.
fn from(ir: &Ir, op: Op, index: usize, kind: ArithOp) -> Option<(Value, Value)> {
    let def = producer(ir, op, index).filter(|&d| ir.is(d, kind) && ir.operands(d).len() == 2)?;
    Some((lhs(ir, def), rhs(ir, def)))
}

/// The left operand of a binary operation, or the only one of a unary operation.
fn lhs(ir: &Ir, op: Op) -> Value {
    ir.operands(op)[view::Addi::SLOT.lhs.group()]
}

/// The right operand of a binary operation.
fn rhs(ir: &Ir, op: Op) -> Value {
    ir.operands(op)[view::Addi::SLOT.rhs.group()]
}

fn const_at(ir: &Ir, v: Value) -> Option<Attr> {
    ir.def_op(v).filter(|&d| ir.is(d, ArithOp::Constant)).and_then(|d| view::Constant(d).value(ir))
}

pub fn addi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 0) {
        return value(lhs(ir, op));
    }
    // (a - b) + b and b + (a - b)
    for (this, other) in [(0, 1), (1, 0)] {
        if let Some((a, b)) = from(ir, op, this, ArithOp::Subi)
            && b == ir.operand(op, other)
        {
            return value(a);
        }
    }
    ints(ir, op, c, |a, b| Some(a.wrapping_add(b)))
}

pub fn subi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) {
        return int(ir, op, 0);
    }
    if is_int(c[1], 0) {
        return value(lhs(ir, op));
    }
    // (a + b) - b and (a + b) - a
    if let Some((a, b)) = from(ir, op, 0, ArithOp::Addi) {
        let rhs = rhs(ir, op);
        if b == rhs {
            return value(a);
        }
        if a == rhs {
            return value(b);
        }
    }
    // a - (a - b)
    if let Some((a, b)) = from(ir, op, 1, ArithOp::Subi)
        && a == lhs(ir, op)
    {
        return value(b);
    }
    ints(ir, op, c, |a, b| Some(a.wrapping_sub(b)))
}

pub fn muli(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 0) {
        return value(rhs(ir, op));
    }
    if is_int(c[1], 1) {
        return value(lhs(ir, op));
    }
    ints(ir, op, c, |a, b| Some(a.wrapping_mul(b)))
}

/// `x / 1` is x, and `0 / x` is 0 (a divisor of 0 is undefined).
fn by_one(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 1) || is_int(c[0], 0) { value(lhs(ir, op)) } else { None }
}

/// `x / x` is 1.
fn by_itself(ir: &Ir, op: Op) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) { int(ir, op, 1) } else { None }
}

/// `a / b` towards zero; nothing for a divisor of 0 or an overflow in the width.
fn checked_div(a: i64, b: i64, w: u32) -> Option<i64> {
    let q = a.checked_div(b)?;
    (sign_extend(q, w) == q).then_some(q)
}

/// As [`ints`], with the width.
fn sized_ints(ir: &Ir, op: Op, c: &Constants, f: fn(i64, i64, u32) -> Option<i64>) -> FoldResult {
    let w = int_width(ty(ir, op))?;
    constant(zip(c[0]?, c[1]?, ty(ir, op), |a, b| f(a as i64, b as i64, w).map(|v| v as u64))?)
}

pub fn divsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    by_one(ir, op, c).or_else(|| by_itself(ir, op)).or_else(|| sized_ints(ir, op, c, checked_div))
}

pub fn divui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    by_one(ir, op, c).or_else(|| by_itself(ir, op)).or_else(|| uints(ir, op, c, |a, b, _| a.checked_div(b)))
}

pub fn ceildivsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    by_one(ir, op, c).or_else(|| {
        sized_ints(ir, op, c, |a, b, w| {
            let q = checked_div(a, b, w)?;
            Some(if a % b != 0 && (a < 0) == (b < 0) { q + 1 } else { q })
        })
    })
}

pub fn ceildivui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    by_one(ir, op, c).or_else(|| uints(ir, op, c, |a, b, _| if b == 0 { None } else { Some(a.div_ceil(b)) }))
}

pub fn floordivsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    by_one(ir, op, c).or_else(|| {
        sized_ints(ir, op, c, |a, b, w| {
            let q = checked_div(a, b, w)?;
            Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
        })
    })
}

pub fn remsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 1) || is_int(c[0], 0) || lhs(ir, op) == rhs(ir, op) {
        return int(ir, op, 0);
    }
    ints(ir, op, c, |a, b| if b == -1 { Some(0) } else { a.checked_rem(b) })
}

pub fn remui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 1) || is_int(c[0], 0) || lhs(ir, op) == rhs(ir, op) {
        return int(ir, op, 0);
    }
    uints(ir, op, c, |a, b, _| a.checked_rem(b))
}

/// `x` if `v` is `xori x, -1`.
fn inverted(ir: &Ir, v: Value) -> Option<Value> {
    let def = ir.def_op(v).filter(|&d| ir.is(d, ArithOp::Xori))?;
    is_int(const_at(ir, rhs(ir, def)), -1).then(|| lhs(ir, def))
}

pub fn andi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let [a, b] = ir.all_operands(op);
    if is_int(c[1], 0) {
        return value(b);
    }
    if is_int(c[1], -1) {
        return value(a);
    }
    if inverted(ir, b) == Some(a) || inverted(ir, a) == Some(b) {
        return int(ir, op, 0);
    }
    if a == b {
        return value(a);
    }
    // (x & y) & y
    for (this, other) in [(0, 1), (1, 0)] {
        if let Some((x, y)) = from(ir, op, this, ArithOp::Andi)
            && (x == ir.operand(op, other) || y == ir.operand(op, other))
        {
            return value(ir.operand(op, this));
        }
    }
    ints(ir, op, c, |a, b| Some(a & b))
}

pub fn ori(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let [a, b] = ir.all_operands(op);
    if is_int(c[1], 0) || a == b {
        return value(a);
    }
    if is_int(c[1], -1) {
        return value(b);
    }
    if inverted(ir, b) == Some(a) || inverted(ir, a) == Some(b) {
        return int(ir, op, -1);
    }
    ints(ir, op, c, |a, b| Some(a | b))
}

pub fn xori(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let [a, b] = ir.all_operands(op);
    if is_int(c[1], 0) {
        return value(a);
    }
    if a == b {
        return int(ir, op, 0);
    }
    // (x ^ y) ^ y and its mirrors
    for (this, other) in [(0, 1), (1, 0)] {
        if let Some((x, y)) = from(ir, op, this, ArithOp::Xori) {
            let other = ir.operand(op, other);
            if y == other {
                return value(x);
            }
            if x == other {
                return value(y);
            }
        }
    }
    ints(ir, op, c, |a, b| Some(a ^ b))
}

pub fn shli(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    shift(ir, op, c, |a, s, _| a << s)
}

pub fn shrui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    shift_by_itself(ir, op).or_else(|| shift(ir, op, c, |a, s, _| a >> s))
}

/// `x >> x` is 0: a number below the width is below `1 << itself`, and any other amount is undefined.
fn shift_by_itself(ir: &Ir, op: Op) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) { int(ir, op, 0) } else { None }
}

pub fn shrsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[0], -1) {
        return value(lhs(ir, op));
    }
    shift_by_itself(ir, op).or_else(|| shift(ir, op, c, |a, s, w| (sign_extend(a as i64, w) >> s) as u64))
}

/// A shift by 0, or of a constant by a constant below the width.
fn shift(ir: &Ir, op: Op, c: &Constants, f: fn(u64, u64, u32) -> u64) -> FoldResult {
    if is_int(c[1], 0) || is_int(c[0], 0) {
        return value(lhs(ir, op));
    }
    let w = int_width(ty(ir, op))?;
    let one = |a: u64, s: u64| {
        let s = zero_extend(s as i64, w);
        (s < u64::from(w)).then(|| f(zero_extend(a as i64, w), s, w))
    };
    constant(zip(c[0]?, c[1]?, ty(ir, op), one)?)
}

/// Maximum or minimum of integers: of one value with itself, with the bound that always wins, with the one that never
/// does.
fn extremum(ir: &Ir, op: Op, c: &Constants, wins: i64, loses: i64) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) || is_int(c[1], loses) {
        return value(lhs(ir, op));
    }
    if is_int(c[1], wins) {
        return value(rhs(ir, op));
    }
    None
}

/// The signed bounds of the result's width.
fn bounds(ir: &Ir, op: Op) -> Option<(i64, i64)> {
    let w = int_width(ty(ir, op))?;
    Some((sign_extend(1 << (w - 1), w), (zero_extend(-1, w) >> 1) as i64))
}

pub fn maxsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let (low, high) = bounds(ir, op)?;
    extremum(ir, op, c, high, low).or_else(|| ints(ir, op, c, |a, b| Some(a.max(b))))
}

pub fn minsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let (low, high) = bounds(ir, op)?;
    extremum(ir, op, c, low, high).or_else(|| ints(ir, op, c, |a, b| Some(a.min(b))))
}

pub fn maxui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    extremum(ir, op, c, -1, 0).or_else(|| uints(ir, op, c, |a, b, _| Some(a.max(b))))
}

pub fn minui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    extremum(ir, op, c, 0, -1).or_else(|| uints(ir, op, c, |a, b, _| Some(a.min(b))))
}

pub fn addf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_float(c[1], -0.0) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, |a, b| a + b)
}

pub fn subf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_float(c[1], 0.0) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, |a, b| a - b)
}

pub fn mulf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_float(c[1], 1.0) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, |a, b| a * b)
}

pub fn divf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_float(c[1], 1.0) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, |a, b| a / b)
}

pub fn remf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    floats(ir, op, c, |a, b| a % b)
}

/// Of one value with itself, or with the infinity that never wins.
fn float_extremum(ir: &Ir, op: Op, c: &Constants, loses: f64, f: fn(f64, f64) -> f64) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) || is_float(c[1], loses) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, f)
}

/// The greater; -0.0 is below 0.0; NaN if one is NaN.
#[allow(clippy::float_cmp)] // zeros of both signs are equal on purpose
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { b } else { a }
    } else {
        a.max(b)
    }
}

fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}

/// The greater; the number if one is NaN.
fn maxnum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        maximum(a, b)
    }
}

pub fn maximumf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    float_extremum(ir, op, c, f64::NEG_INFINITY, maximum)
}

pub fn minimumf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    float_extremum(ir, op, c, f64::INFINITY, minimum)
}

/// `x` against NaN is x, but against -infinity it is not: x may be NaN.
pub fn maxnumf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) || c[1].and_then(Attr::float_value).is_some_and(f64::is_nan) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, maxnum)
}

pub fn minnumf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if lhs(ir, op) == rhs(ir, op) || c[1].and_then(Attr::float_value).is_some_and(f64::is_nan) {
        return value(lhs(ir, op));
    }
    floats(ir, op, c, |a, b| -maxnum(-a, -b))
}

pub fn negf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if let Some(inner) = producer(ir, op, 0).filter(|&d| ir.is(d, ArithOp::Negf)) {
        return value(lhs(ir, inner));
    }
    let kind = ty(ir, op).elem().as_float()?;
    constant(map(c[0]?, ty(ir, op), |a| Some(a ^ 1 << (kind.bits() - 1)))?)
}

pub fn cmpi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let predicate = view::Cmpi(op).predicate(ir)?;
    let [a, b] = ir.all_operands(op);
    if a == b {
        return int(ir, op, i64::from(predicate.holds_if_equal()));
    }
    let is_bool = ir.ty(a).elem().is_int_of(1);
    // x != 0 of an extended or plain bit, x == 1 of a bit
    if predicate == CmpiPredicate::Ne && is_int(c[1], 0) {
        if is_bool {
            return value(a);
        }
        let extended = producer(ir, op, 0)
            .filter(|&d| !ir.ty(a).is_tensor() && matches!(ir.kind(d), OpKind::Arith(ArithOp::Extsi | ArithOp::Extui)));
        if let Some(bit) = extended.map(|d| lhs(ir, d)).filter(|&v| ir.ty(v).elem().is_int_of(1)) {
            return value(bit);
        }
    }
    if predicate == CmpiPredicate::Eq && is_bool && is_int(c[1], 1) {
        return value(a);
    }
    let w = int_width(ir.ty(a))?;
    constant(zip(c[0]?, c[1]?, ty(ir, op), |x, y| Some(u64::from(predicate.holds(x as i64, y as i64, w))))?)
}

pub fn cmpf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let predicate = view::Cmpf(op).predicate(ir)?;
    if matches!(predicate, CmpfPredicate::False | CmpfPredicate::True) {
        return int(ir, op, i64::from(predicate == CmpfPredicate::True));
    }
    // Against NaN the unordered predicates hold and the ordered ones do not.
    let is_scalar = !ir.ty(lhs(ir, op)).is_tensor();
    if is_scalar && c.iter().flatten().any(|a| a.float_value().is_some_and(f64::is_nan)) {
        return int(ir, op, i64::from(predicate.holds(None)));
    }
    let kind = ir.ty(lhs(ir, op)).elem().as_float()?;
    let one = |a: u64, b: u64| Some(u64::from(predicate.holds(kind.to_f64(a).partial_cmp(&kind.to_f64(b)))));
    constant(zip(c[0]?, c[1]?, ty(ir, op), one)?)
}

pub fn select(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let [cond, a, b] = ir.all_operands(op);
    if a == b || is_int(c[0], 1) {
        return value(a);
    }
    if is_int(c[0], 0) {
        return value(b);
    }
    let is_poison = |v: Value| ir.def_op(v).is_some_and(|d| ir.is(d, UbOp::Poison));
    if is_poison(a) {
        return value(b);
    }
    if is_poison(b) {
        return value(a);
    }
    if ty(ir, op).is_int_of(1) && is_int(c[1], 1) && is_int(c[2], 0) {
        return value(cond);
    }
    // a == b ? a : b is b, a != b ? a : b is a
    let cmp = ir.def_op(cond).filter(|&d| ir.is(d, ArithOp::Cmpi))?;
    let pair: (Value, Value) = ir.all_operands(cmp).into();
    if pair == (a, b) || pair == (b, a) {
        return match view::Cmpi(cmp).predicate(ir)? {
            CmpiPredicate::Eq => value(b),
            CmpiPredicate::Ne => value(a),
            _ => None,
        };
    }
    None
}

fn widths(ir: &Ir, op: Op) -> Option<(u32, u32)> {
    Some((int_width(ir.ty(lhs(ir, op)))?, int_width(ty(ir, op))?))
}

pub fn extsi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    constant(map(c[0]?, ty(ir, op), Some)?)
}

pub fn extui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let (from, _) = widths(ir, op)?;
    constant(map(c[0]?, ty(ir, op), |v| Some(zero_extend(v as i64, from)))?)
}

pub fn trunci(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let extension =
        producer(ir, op, 0).filter(|&d| matches!(ir.kind(d), OpKind::Arith(ArithOp::Extsi | ArithOp::Extui)));
    if let Some(source) = extension.map(|d| lhs(ir, d)).filter(|&v| ir.ty(v) == ty(ir, op)) {
        return value(source);
    }
    let (_, to) = widths(ir, op)?;
    constant(map(c[0]?, ty(ir, op), |v| Some(sign_extend(v as i64, to) as u64))?)
}

/// Kinds of the operand's and of the result's floats.
fn kinds(ir: &Ir, op: Op) -> Option<(FloatKind, FloatKind)> {
    Some((ir.ty(lhs(ir, op)).elem().as_float()?, ty(ir, op).elem().as_float()?))
}

pub fn extf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let (from, to) = kinds(ir, op)?;
    constant(map(c[0]?, ty(ir, op), |v| Some(to.from_f64(from.to_f64(v))))?)
}

/// A constant that fits exactly is truncated; an extension from the result's type is undone.
pub fn truncf(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if let Some(source) = producer(ir, op, 0).filter(|&d| ir.is(d, ArithOp::Extf)).map(|d| lhs(ir, d))
        && ir.ty(source) == ty(ir, op)
    {
        return value(source);
    }
    let (from, to) = kinds(ir, op)?;
    let one = |v: u64| {
        let x = from.to_f64(v);
        let bits = to.from_f64(x);
        (to.to_f64(bits).to_bits() == x.to_bits()).then_some(bits)
    };
    constant(map(c[0]?, ty(ir, op), one)?)
}

/// `v` rounded to the format in one step: f64 would round a wide integer twice on its way to f32.
fn from_int(kind: FloatKind, v: i128) -> u64 {
    if kind == FloatKind::F32 { u64::from((v as f32).to_bits()) } else { kind.from_f64(round_to_odd(v)) }
}

/// An `f64` that rounds to any format of at most 50 bits as `v` itself does: excess bits are dropped and remembered in
/// the last one.
fn round_to_odd(v: i128) -> f64 {
    let excess = 128 - v.unsigned_abs().leading_zeros();
    if excess <= 53 {
        return v as f64;
    }
    let shift = excess - 53;
    let kept = (v.unsigned_abs() >> shift) | u128::from(v.unsigned_abs() & ((1 << shift) - 1) != 0);
    let magnitude = kept as f64 * 2f64.powi(shift as i32);
    if v < 0 { -magnitude } else { magnitude }
}

pub fn sitofp(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let kind = ty(ir, op).elem().as_float().filter(|&k| k != FloatKind::F64)?;
    let from = int_width(ir.ty(lhs(ir, op)))?;
    constant(map(c[0]?, ty(ir, op), |v| Some(from_int(kind, i128::from(sign_extend(v as i64, from)))))?)
}

pub fn uitofp(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let kind = ty(ir, op).elem().as_float().filter(|&k| k != FloatKind::F64)?;
    let from = int_width(ir.ty(lhs(ir, op)))?;
    constant(map(c[0]?, ty(ir, op), |v| Some(from_int(kind, i128::from(zero_extend(v as i64, from)))))?)
}

pub fn fptosi(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    to_int(ir, op, c, true)
}

pub fn fptoui(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    to_int(ir, op, c, false)
}

/// Towards zero; nothing for what does not fit.
fn to_int(ir: &Ir, op: Op, c: &Constants, signed: bool) -> FoldResult {
    let (kind, w) = (ir.ty(lhs(ir, op)).elem().as_float()?, int_width(ty(ir, op))?);
    let (low, high) = if signed { (-(1i128 << (w - 1)), 1i128 << (w - 1)) } else { (0, 1i128 << w) };
    let one = |v: u64| {
        let x = kind.to_f64(v).trunc();
        if !x.is_finite() {
            return None;
        }
        let n = x as i128;
        (n >= low && n < high).then_some(n as u64)
    };
    constant(map(c[0]?, ty(ir, op), one)?)
}

pub fn bitcast(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let w = ir.ty(lhs(ir, op)).bit_width()?;
    if let Some(c) = c[0] {
        return constant(map(c, ty(ir, op), |v| Some(zero_extend(v as i64, w)))?);
    }
    if ir.ty(lhs(ir, op)) == ty(ir, op) { value(lhs(ir, op)) } else { None }
}

pub fn index_cast(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    constant(map(c[0]?, ty(ir, op), Some)?)
}
