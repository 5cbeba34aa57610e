//! `--check nan`: finds the operation that is the first to make a NaN or an infinity.
//!
//! 1. An element of a result was made here if it is NaN where no operand's is, or infinite where all operands' are
//!    finite. An operation that only passes such an element on did not make it, and constants and loaded values are the
//!    kernel's own.
//! 2. For a product, whole operands are looked at instead of elements.
//!
//! Example: with m = -inf, `exp(x - m)` is infinite because `x - m` is. The subtraction made it.

use super::fault::{self, Fault};
use super::numbers;
use super::program::Program;
use super::render;
use super::value::{Val, coordinates};
use crate::diag::codes::interp as codes;
use crate::ir::dialects::Traits;
use crate::ir::{ArithOp, FloatKind, Op, OpKind, TtOp, TtngOp, Type};

/// Checks the result of an operation that computes floats.
pub(crate) fn check(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let ir = p.ir;
    let &[result] = ir.results(op) else { return Ok(()) };
    let ty = ir.ty(result);
    let Some(kind) = ty.elem().as_float() else { return Ok(()) };
    let products = matches!(ir.kind(op), OpKind::Tt(TtOp::Dot | TtOp::DotScaled) | OpKind::Ttng(TtngOp::WarpGroupDot));
    if !products && !computes(p, op) {
        return Ok(());
    }
    let v = p.get(result);
    let operands: Vec<(Val, Type)> = ir.operands(op).iter().map(|&o| (p.get(o), ir.ty(o))).collect();
    let n = v.lanes.stored();
    let value = |lane: usize| numbers::to_f64(kind, v.lanes.get(lane));
    let whole = |f: fn(f64) -> bool| products && operands.iter().any(|o| (0..o.0.lanes.stored()).any(|i| is(o, i, f)));
    let (nan, infinite) = (whole(f64::is_nan), whole(|x| !x.is_finite()));
    let given = |lane: usize, f: fn(f64) -> bool| !products && operands.iter().any(|o| is(o, lane, f));
    let undefined = |lane: usize| v.undef.as_ref().is_some_and(|u| u.at(lane));
    let made = |lane: &usize| {
        let x = value(*lane);
        let new = x.is_nan() && !nan && !given(*lane, f64::is_nan)
            || x.is_infinite() && !infinite && !given(*lane, |x| !x.is_finite());
        new && !undefined(*lane)
    };
    match (0..n).find(made) {
        Some(lane) => p.report(op, &codes::NOT_FINITE, || {
            not_finite(p, op, value(lane), lane, if products { &[] } else { &operands })
        }),
        None => Ok(()),
    }
}

/// Whether an element of an operand is a float of this kind.
fn is((v, ty): &(Val, Type), lane: usize, f: fn(f64) -> bool) -> bool {
    ty.elem().as_float().is_some_and(|k: FloatKind| f(numbers::to_f64(k, v.lanes.get(lane))))
}

/// Whether an operation computes its result, element by element, rather than choosing or moving what there is.
fn computes(p: &Program<'_>, op: Op) -> bool {
    match p.ir.kind(op) {
        OpKind::Arith(ArithOp::Constant | ArithOp::Select | ArithOp::Bitcast) | OpKind::Tt(TtOp::Bitcast) => false,
        OpKind::Arith(_) | OpKind::Math(_) | OpKind::Tt(TtOp::ExternElementwise) => true,
        _ => p.ir.spec(op).traits.contains(Traits::ELEMENTWISE),
    }
}

#[cold]
fn not_finite(p: &Program<'_>, op: Op, made: f64, lane: usize, operands: &[(Val, Type)]) -> Fault {
    let ty = p.ir.ty(p.ir.result(op));
    let what = if made.is_nan() { "a NaN" } else { "an infinity" };
    let shown: Vec<String> =
        operands.iter().map(|(v, ty)| render::element(ty.elem(), v.lanes.get(lane), true)).collect();
    let of = if shown.is_empty() { String::new() } else { format!(" of {}", shown.join(" and ")) };
    let mut d = *p.fault(op, &codes::NOT_FINITE, format!("`{}` makes {what}{of}", p.ir.op_name(op)), "made here");
    if ty.is_tensor() {
        d = d.note(format!("tensor index {}", fault::tuple(&coordinates(ty.shape(), lane))));
    }
    Box::new(d)
}
