//! The `arith` dialect: integers wrap to their width, floats follow IEEE 754 in their own format.
//!
//! What the dialect leaves undefined gets the value that NVIDIA hardware gives. A shift by the width or more yields
//! zero (or the sign), a conversion to an integer out of range saturates, and MIN / -1 wraps. A division by zero is a
//! fault.

use super::super::fault::Fault;
use super::super::numbers::{self, mask, signed, width};
use super::super::program::Program;
use super::super::undef;
use super::super::value::{Lanes, Val};
use super::{convert, index};
use crate::diag::codes::interp as codes;
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate, RoundingMode};
use crate::ir::{ArithOp, AttrData, DenseData, FloatKind, Op, Type};

pub(crate) fn eval(p: &Program<'_>, op: Op, kind: ArithOp) -> Result<Val, Fault> {
    let ir = p.ir;
    let ty = ir.ty(ir.result(op));
    if kind == ArithOp::Constant {
        return Ok(constant(p, op));
    }
    let vals = p.all(ir.operands(op));
    let a = &vals[0].lanes;
    let b = &vals.get(1).unwrap_or(&vals[0]).lanes;
    let from = ir.ty(*ir.operands(op).first().expect("all but constants have an operand"));
    let w = width(from);
    let m = mask(w);
    let s = |x: u64| signed(x, w);
    let div = |f: &dyn Fn(u64, u64) -> u64| divide(p, op, &vals[0], &vals[1], f);
    let lanes = match kind {
        ArithOp::Constant => return Ok(constant(p, op)),
        ArithOp::Addi => a.zip(b, |x, y| x.wrapping_add(y) & m),
        ArithOp::Subi => a.zip(b, |x, y| x.wrapping_sub(y) & m),
        ArithOp::Muli => a.zip(b, |x, y| x.wrapping_mul(y) & m),
        ArithOp::Divsi => div(&|x, y| s(x).wrapping_div(s(y)) as u64 & m)?,
        ArithOp::Divui => div(&|x, y| x / y)?,
        ArithOp::Ceildivsi => div(&|x, y| {
            let (q, r) = (s(x).wrapping_div(s(y)), s(x).wrapping_rem(s(y)));
            (q.wrapping_add(i64::from(r != 0 && (r < 0) == (s(y) < 0)))) as u64 & m
        })?,
        ArithOp::Ceildivui => div(&|x, y| x.div_ceil(y))?,
        ArithOp::Floordivsi => div(&|x, y| {
            let (q, r) = (s(x).wrapping_div(s(y)), s(x).wrapping_rem(s(y)));
            (q.wrapping_sub(i64::from(r != 0 && (r < 0) != (s(y) < 0)))) as u64 & m
        })?,
        ArithOp::Remsi => div(&|x, y| s(x).wrapping_rem(s(y)) as u64 & m)?,
        ArithOp::Remui => div(&|x, y| x % y)?,
        ArithOp::Andi => a.zip(b, |x, y| x & y),
        ArithOp::Ori => a.zip(b, |x, y| x | y),
        ArithOp::Xori => a.zip(b, |x, y| x ^ y),
        ArithOp::Shli => a.zip(b, |x, y| if y < u64::from(w) { x << y & m } else { 0 }),
        ArithOp::Shrsi => a.zip(b, |x, y| (s(x) >> y.min(u64::from(w) - 1).min(63)) as u64 & m),
        ArithOp::Shrui => a.zip(b, |x, y| if y < u64::from(w) { x >> y } else { 0 }),
        ArithOp::Maxsi => a.zip(b, |x, y| s(x).max(s(y)) as u64 & m),
        ArithOp::Maxui => a.zip(b, u64::max),
        ArithOp::Minsi => a.zip(b, |x, y| s(x).min(s(y)) as u64 & m),
        ArithOp::Minui => a.zip(b, u64::min),
        ArithOp::Addf => float2(ty, a, b, |x, y| x + y, |x, y| x + y),
        ArithOp::Subf => float2(ty, a, b, |x, y| x - y, |x, y| x - y),
        ArithOp::Mulf => float2(ty, a, b, |x, y| x * y, |x, y| x * y),
        ArithOp::Divf => float2(ty, a, b, |x, y| x / y, |x, y| x / y),
        ArithOp::Remf => float2(ty, a, b, |x, y| x % y, |x, y| x % y),
        ArithOp::Maximumf => extremum(ty, a, b, true, true),
        ArithOp::Minimumf => extremum(ty, a, b, false, true),
        ArithOp::Maxnumf => extremum(ty, a, b, true, false),
        ArithOp::Minnumf => extremum(ty, a, b, false, false),
        ArithOp::Negf => {
            let sign = 1u64 << (w - 1);
            a.map(|x| x ^ sign)
        }
        ArithOp::Cmpi => compare_ints(view::Cmpi(op).predicate(ir).unwrap_or(CmpiPredicate::Eq), a, b, w),
        ArithOp::Cmpf => compare_floats(view::Cmpf(op).predicate(ir).unwrap_or(CmpfPredicate::False), from, a, b),
        ArithOp::Select => return Ok(index::select(p, op, &vals)),
        ArithOp::Extsi => a.map(|x| s(x) as u64 & mask(width(ty))),
        ArithOp::Extui | ArithOp::Bitcast => a.clone(),
        ArithOp::Trunci => a.map(|x| x & mask(width(ty))),
        ArithOp::IndexCast => a.map(|x| s(x) as u64 & mask(width(ty))),
        ArithOp::Extf => convert::extend(from, ty, a),
        ArithOp::Truncf => {
            let mode = view::Truncf(op).roundingmode(ir).unwrap_or(RoundingMode::ToNearestEven);
            convert::truncate(from, ty, a, mode)
        }
        ArithOp::Sitofp => from_int(ty, a, |x| i128::from(s(x))),
        ArithOp::Uitofp => from_int(ty, a, i128::from),
        ArithOp::Fptosi | ArithOp::Fptoui => {
            let from = from.elem().as_float().unwrap_or(FloatKind::F32);
            a.map(|x| numbers::to_int(numbers::to_f64(from, x), width(ty), kind == ArithOp::Fptosi))
        }
    };
    Ok(index::track(p, op, kind, &vals, lanes))
}

fn constant(p: &Program<'_>, op: Op) -> Val {
    let ty = p.ir.ty(p.ir.result(op));
    let m = mask(width(ty));
    match view::Constant(op).value(p.ir).map(crate::ir::Attr::data) {
        Some(AttrData::Dense(_, DenseData::Elements(v))) => Val::full(v.iter().map(|&x| x & m).collect()),
        Some(AttrData::Dense(_, DenseData::Splat(bits)) | AttrData::Float(bits, _)) => Val::splat(bits & m),
        Some(AttrData::Int(v, _)) => Val::splat(*v as u64 & m),
        _ => Val::splat(0),
    }
}

fn divide(p: &Program<'_>, op: Op, a: &Val, b: &Val, f: &dyn Fn(u64, u64) -> u64) -> Result<Lanes, Fault> {
    if let Some(lane) = undef::position(b, |y| y == 0) {
        p.report(op, &codes::DIVISION_BY_ZERO, || zero_divisor(p, op, lane))?;
    }
    // Hardware does not stop at a divisor that is zero. Neither does a launch that goes on, nor an element that is
    // undefined.
    Ok(a.lanes.zip(&b.lanes, |x, y| if y == 0 { 0 } else { f(x, y) }))
}

#[cold]
fn zero_divisor(p: &Program<'_>, op: Op, lane: usize) -> Fault {
    let mut message = format!("integer division by zero in `{}`", p.ir.op_name(op));
    let shape = p.ir.ty(p.ir.result(op)).shape();
    if !shape.is_empty() {
        let at = super::super::fault::tuple(&super::super::value::coordinates(shape, lane));
        message = format!("{message} at tensor index {at}");
    }
    p.fault(op, &codes::DIVISION_BY_ZERO, message, "the divisor is zero")
}

fn from_int(ty: Type, a: &Lanes, value: impl Fn(u64) -> i128) -> Lanes {
    match ty.elem().as_float() {
        Some(FloatKind::F32) => a.map(|x| u64::from((value(x) as f32).to_bits())),
        Some(kind) => a.map(|x| numbers::from_int(kind, value(x))),
        None => a.clone(),
    }
}

/// Runs an operation on one float: in f64 for f64, else in f32 with one rounding.
#[inline]
pub(crate) fn float1(ty: Type, a: &Lanes, single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) -> Lanes {
    match ty.elem().as_float() {
        Some(FloatKind::F32) => a.map(|x| u64::from(single(f32::from_bits(x as u32)).to_bits())),
        Some(FloatKind::F64) => a.map(|x| double(f64::from_bits(x)).to_bits()),
        Some(kind) => a.map(|x| numbers::encode(kind, single(numbers::decode(kind, x)))),
        None => a.clone(),
    }
}

/// Does what [`float1`] does for two floats.
#[inline]
pub(crate) fn float2(
    ty: Type,
    a: &Lanes,
    b: &Lanes,
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
) -> Lanes {
    match ty.elem().as_float() {
        Some(FloatKind::F32) => {
            a.zip(b, |x, y| u64::from(single(f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits()))
        }
        Some(FloatKind::F64) => a.zip(b, |x, y| double(f64::from_bits(x), f64::from_bits(y)).to_bits()),
        Some(kind) => {
            a.zip(b, |x, y| numbers::encode(kind, single(numbers::decode(kind, x), numbers::decode(kind, y))))
        }
        None => a.clone(),
    }
}

/// The greater or lesser of two values, where -0.0 is below 0.0. With a NaN, the result is NaN (`propagate`) or else
/// the other operand.
pub(crate) fn extremum(ty: Type, a: &Lanes, b: &Lanes, greater: bool, propagate: bool) -> Lanes {
    float2(ty, a, b, move |x, y| pick(x, y, greater, propagate), move |x, y| pick(x, y, greater, propagate))
}

#[inline]
fn pick<F: Float>(x: F, y: F, greater: bool, propagate: bool) -> F {
    if x.is_nan() || y.is_nan() {
        // If one of them is NaN, the number wins, or NaN does. If both are, both answers are NaN.
        return if x.is_nan() == propagate { x } else { y };
    }
    let x_wins = if x == y { x.is_negative() != greater } else { (x > y) == greater };
    if x_wins { x } else { y }
}

pub(crate) trait Float: PartialOrd + Copy {
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
}

impl Float for f32 {
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Float for f64 {
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

fn compare_ints(predicate: CmpiPredicate, a: &Lanes, b: &Lanes, w: u32) -> Lanes {
    let s = |x: u64| signed(x, w);
    match predicate {
        CmpiPredicate::Eq => a.zip(b, |x, y| u64::from(x == y)),
        CmpiPredicate::Ne => a.zip(b, |x, y| u64::from(x != y)),
        CmpiPredicate::Slt => a.zip(b, |x, y| u64::from(s(x) < s(y))),
        CmpiPredicate::Sle => a.zip(b, |x, y| u64::from(s(x) <= s(y))),
        CmpiPredicate::Sgt => a.zip(b, |x, y| u64::from(s(x) > s(y))),
        CmpiPredicate::Sge => a.zip(b, |x, y| u64::from(s(x) >= s(y))),
        CmpiPredicate::Ult => a.zip(b, |x, y| u64::from(x < y)),
        CmpiPredicate::Ule => a.zip(b, |x, y| u64::from(x <= y)),
        CmpiPredicate::Ugt => a.zip(b, |x, y| u64::from(x > y)),
        CmpiPredicate::Uge => a.zip(b, |x, y| u64::from(x >= y)),
    }
}

fn compare_floats(predicate: CmpfPredicate, ty: Type, a: &Lanes, b: &Lanes) -> Lanes {
    let holds = move |order: Option<std::cmp::Ordering>| u64::from(predicate.holds(order));
    match ty.elem().as_float() {
        Some(FloatKind::F32) => a.zip(b, |x, y| holds(f32::from_bits(x as u32).partial_cmp(&f32::from_bits(y as u32)))),
        Some(kind) => a.zip(b, |x, y| holds(numbers::to_f64(kind, x).partial_cmp(&numbers::to_f64(kind, y)))),
        None => a.clone(),
    }
}
