//! Element-by-element mathematics and the functions behind the operators.

use super::entry::entry;
use crate::diag::codes::{names, types};
use crate::ir::dialects::enums::PropagateNan;
use crate::ir::dialects::tt::tt::Clampf;
use crate::ir::{ArithOp, MathOp, OpKind, TtOp};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::arith::Rules;
use crate::irgen::semantic::{arith, convert, faults, operators, shape};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Builtin, Const, Object};
use crate::parser::ast::BinOp;

const F32_64: &[Dtype] = &[Dtype::Fp32, Dtype::Fp64];

macro_rules! unary {
    ($name:literal, $op:expr, $doc:literal) => {
        entry($name, "x", $doc, |cx, a| float_unary(cx, a, OpKind::from($op))).method()
    };
}

/// What `tl.math` holds too.
pub(super) static TABLE: &[Builtin] = &[
    unary!("exp", MathOp::Exp, "e to the power x, of fp32 or fp64."),
    unary!("exp2", MathOp::Exp2, "2 to the power x, of fp32 or fp64."),
    unary!("log", MathOp::Log, "Natural logarithm, of fp32 or fp64."),
    unary!("log2", MathOp::Log2, "Logarithm to base 2, of fp32 or fp64."),
    unary!("cos", MathOp::Cos, "Cosine, of fp32 or fp64."),
    unary!("sin", MathOp::Sin, "Sine, of fp32 or fp64."),
    unary!("sqrt", MathOp::Sqrt, "Square root (fast), of fp32 or fp64."),
    unary!("rsqrt", MathOp::Rsqrt, "1 / sqrt(x), of fp32 or fp64."),
    unary!("erf", MathOp::Erf, "Error function, of fp32 or fp64."),
    unary!("floor", MathOp::Floor, "Largest integer not above x, of fp32 or fp64."),
    unary!("ceil", MathOp::Ceil, "Smallest integer not below x, of fp32 or fp64."),
    entry("sqrt_rn", "x", "Square root, correctly rounded, of fp32.", |cx, a| {
        let x = checked(cx, a, 0, &[Dtype::Fp32])?;
        Ok(cx.tensor(TtOp::PreciseSqrt, &[x.value], x.ty)?.into())
    })
    .method(),
    entry("abs", "x", "Absolute value.", abs).method(),
    entry(
        "fdiv",
        "x, y, ieee_rounding=False, approx=False",
        "Division of floats; correctly rounded if `ieee_rounding`, by an approximate reciprocal of fp32 if `approx`.",
        fdiv,
    ),
    entry("div_rn", "x, y", "Division, correctly rounded, of fp32.", |cx, a| {
        for i in 0..2 {
            only(cx, a, i, &[Dtype::Fp32])?;
        }
        let (x, y) = arith::operands(cx, "/", a.get(0), a.get(1), Rules::default())?;
        Ok(cx.tensor(TtOp::PreciseDivf, &[x.value, y.value], x.ty)?.into())
    }),
    entry("fma", "x, y, z", "x * y + z, rounded once.", |cx, a| {
        let [x, y, z] = arith::ternary(cx, "fma", [a.get(0), a.get(1), a.get(2)])?;
        if !x.ty.dtype.is_float() {
            return Err(wrong_type(cx, "fma", x, &[Dtype::Fp32, Dtype::Fp64]));
        }
        Ok(cx.tensor(MathOp::Fma, &[x.value, y.value, z.value], x.ty)?.into())
    }),
    entry("umulhi", "x, y", "The upper half of the product, of 32- or 64-bit integers.", |cx, a| {
        for i in 0..2 {
            only(cx, a, i, &[Dtype::Int32, Dtype::Int64, Dtype::Uint32, Dtype::Uint64])?;
        }
        let (x, y) = arith::operands(cx, "umulhi", a.get(0), a.get(1), Rules::default())?;
        Ok(cx.tensor(TtOp::Mulhiui, &[x.value, y.value], x.ty)?.into())
    }),
];

/// What only `tl` holds.
pub(super) static OPERATORS: &[Builtin] = &[
    entry("add", "x, y, sanitize_overflow=True", "x + y", |cx, a| unchecked(cx, a, BinOp::Add)),
    entry("sub", "x, y, sanitize_overflow=True", "x - y", |cx, a| unchecked(cx, a, BinOp::Sub)),
    entry("mul", "x, y, sanitize_overflow=True", "x * y", |cx, a| unchecked(cx, a, BinOp::Mul)),
    entry(
        "minimum",
        "x, y, propagate_nan=None",
        "The lesser, element by element; a NaN counts only with `tl.PropagateNan.ALL`.",
        |cx, a| extremum(cx, a, false),
    ),
    entry(
        "maximum",
        "x, y, propagate_nan=None",
        "The greater, element by element; a NaN counts only with `tl.PropagateNan.ALL`.",
        |cx, a| extremum(cx, a, true),
    ),
    entry("clamp", "x, min, max, propagate_nan=None", "x limited to [min, max].", clamp),
    entry("where", "condition, x, y", "x where the condition holds, else y; both are always computed.", |cx, a| {
        Ok(arith::select(cx, a.get(0), a.get(1), a.get(2))?.into())
    }),
    entry("logical_and", "x, y", "Whether both truth values hold.", |cx, a| {
        Ok(arith::logical(cx, ArithOp::Andi, a.get(0), a.get(1))?.into())
    })
    .method(),
    entry("logical_or", "x, y", "Whether one of the truth values holds.", |cx, a| {
        Ok(arith::logical(cx, ArithOp::Ori, a.get(0), a.get(1))?.into())
    })
    .method(),
];

fn wrong_type(cx: &mut Emitter, name: &str, t: Tensor, allowed: &[Dtype]) -> crate::irgen::emit::Reported {
    let choices: Vec<&str> = allowed.iter().map(|d| d.name()).collect();
    let target = allowed.iter().find(|d| d.is_float()).unwrap_or(&allowed[0]).attr_name();
    cx.error_help(
        &types::ARGUMENT_TYPE,
        format!("`{name}` takes {}, found {}", choices.join(" or "), Object::from(t).describe()),
        format!("this is {}", t.ty.dtype),
        if t.ty.dtype.is_ptr() {
            faults::LOAD_FIRST.to_owned()
        } else {
            format!("convert it first: `x.to(tl.{target})`")
        },
    )
}

/// Reports a tensor argument of another type.
fn only(cx: &mut Emitter, a: &Args, i: usize, allowed: &[Dtype]) -> R<()> {
    match a.get(i) {
        Object::Tensor(t) if !allowed.contains(&t.ty.dtype) => {
            Err(a.placed(cx, i, |cx| wrong_type(cx, a.builtin.name, *t, allowed)))
        }
        _ => Ok(()),
    }
}

fn checked(cx: &mut Emitter, a: &Args, i: usize, allowed: &[Dtype]) -> R<Tensor> {
    only(cx, a, i, allowed)?;
    let t = a.tensor(cx, i)?;
    if !allowed.contains(&t.ty.dtype) {
        return Err(wrong_type(cx, a.builtin.name, t, allowed));
    }
    Ok(t)
}

fn float_unary(cx: &mut Emitter, a: &Args, kind: OpKind) -> R<Object> {
    let x = checked(cx, a, 0, F32_64)?;
    Ok(cx.tensor(kind, &[x.value], x.ty)?.into())
}

fn abs(cx: &mut Emitter, a: &Args) -> R<Object> {
    let x = a.tensor(cx, 0)?;
    match x.ty.dtype {
        // The IR knows only its bits, of which the upper one is the sign.
        Dtype::Fp8e4b15 => {
            let mask = convert::scalar_constant(cx, &Const::Int(0x7f), Dtype::Int8)?;
            let mask = shape::splat(cx, mask, x.ty.shape())?;
            Ok(cx.tensor(ArithOp::Andi, &[x.value, mask.value], x.ty)?.into())
        }
        d if d.is_float() => Ok(cx.tensor(MathOp::Absf, &[x.value], x.ty)?.into()),
        d if d.is_signed() => Ok(cx.tensor(MathOp::Absi, &[x.value], x.ty)?.into()),
        d if d.is_unsigned() => Ok(x.into()),
        _ => Err(faults::expected(cx, "a number", a.get(0))),
    }
}

fn fdiv(cx: &mut Emitter, a: &Args) -> R<Object> {
    let rules = Rules { division: true, ..Rules::default() };
    let (x, y) = arith::operands(cx, "/", a.get(0), a.get(1), rules)?;
    if !x.ty.dtype.is_float() {
        return Err(wrong_type(cx, "fdiv", x, F32_64));
    }
    let kind = match (a.flag(cx, 2)?, a.flag(cx, 3)?) {
        (true, true) => {
            return Err(cx.error_help(
                &names::BAD_ARGUMENTS,
                "`ieee_rounding` and `approx` of `fdiv` exclude each other",
                "both are given",
                "leave one of them out",
            ));
        }
        (_, true) if x.ty.dtype != Dtype::Fp32 => return Err(wrong_type(cx, "fdiv", x, &[Dtype::Fp32])),
        (_, true) => OpKind::from(TtOp::ApproxDivf),
        (true, _) => OpKind::from(TtOp::PreciseDivf),
        _ => OpKind::from(ArithOp::Divf),
    };
    Ok(cx.tensor(kind, &[x.value, y.value], x.ty)?.into())
}

/// An operator called by name; without `sanitize_overflow` debug mode does not check it.
fn unchecked(cx: &mut Emitter, a: &Args, op: BinOp) -> R<Object> {
    let checks = a.flag(cx, 2)?;
    let debug = cx.settings().debug && checks;
    cx.with_debug(debug, |cx| operators::binary(cx, op, a.get(0), a.get(1)))
}

fn propagate(cx: &mut Emitter, v: &Object) -> R<bool> {
    match v {
        Object::Const(Const::PropagateNan(all)) => Ok(*all),
        Object::Const(Const::None) => Ok(false),
        other => Err(faults::expected(cx, "`tl.PropagateNan.ALL` or `tl.PropagateNan.NONE`", other)),
    }
}

fn extremum(cx: &mut Emitter, a: &Args, max: bool) -> R<Object> {
    let all = propagate(cx, a.get(2))?;
    Ok(arith::extremum(cx, max, all, a.get(0), a.get(1))?.into())
}

fn clamp(cx: &mut Emitter, a: &Args) -> R<Object> {
    let all = propagate(cx, a.get(3))?;
    let [x, lo, hi] = arith::ternary(cx, "clamp", [a.get(0), a.get(1), a.get(2)])?;
    if x.ty.dtype.is_float() {
        let state = Clampf::state(cx.loc(), x.value, lo.value, hi.value)
            .with(Clampf::ATTR.propagateNan, if all { PropagateNan::All } else { PropagateNan::None });
        return Ok(cx.tensor_of(state, x.ty)?.into());
    }
    let low = arith::extremum(cx, true, all, &x.into(), &lo.into())?;
    Ok(arith::extremum(cx, false, all, &low.into(), &hi.into())?.into())
}

/// The function of this name that `tl.math` holds.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    TABLE.iter().find(|b| b.name == name)
}
