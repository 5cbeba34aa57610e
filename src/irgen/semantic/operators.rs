//! Operators on any values: those known at compile time are computed as Python does ([`fold`]), those with a tensor
//! become operations ([`arith`]).

use std::rc::Rc;

use super::cmp::Cmp;
use super::fold::same;
use super::{arith, convert, faults, fold, shape};
use crate::diag::codes::types;
use crate::ir::{Attr, AttrData, Name};
use crate::irgen::emit::{Emitter, R, Tensor};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Const, Val};
use crate::parser::ast::{BinOp, CmpOp, UnaryOp};

/// A unary operator on any value.
pub fn unary(cx: &mut Emitter, op: UnaryOp, v: &Val) -> R<Val> {
    let Val::Tensor(t) = v else { return fold::unary(cx, op, v) };
    Ok(match op {
        UnaryOp::Neg => arith::negate(cx, *t)?.into(),
        UnaryOp::Pos => v.clone(),
        UnaryOp::Invert => arith::invert(cx, *t)?.into(),
        UnaryOp::Not => arith::logical_not(cx, v)?.into(),
    })
}

/// A binary operator on any two values.
pub fn binary(cx: &mut Emitter, op: BinOp, a: &Val, b: &Val) -> R<Val> {
    if matches!(a, Val::Tensor(_)) || matches!(b, Val::Tensor(_)) {
        if matches!(a, Val::Tuple(_)) || matches!(b, Val::Tuple(_)) {
            return Err(faults::bad_operands(cx, op.symbol(), a, b));
        }
        return arith::binary(cx, op, a, b);
    }
    fold::binary(cx, op, a, b)
}

/// One comparison of any two values.
pub fn compare(cx: &mut Emitter, op: CmpOp, a: &Val, b: &Val) -> R<Val> {
    let cmp = match op {
        CmpOp::Is => return Ok(Val::bool(identical(a, b))),
        CmpOp::IsNot => return Ok(Val::bool(!identical(a, b))),
        CmpOp::In | CmpOp::NotIn => return contains(cx, a, b).map(|found| Val::bool(found == (op == CmpOp::In))),
        CmpOp::Eq => Cmp::Eq,
        CmpOp::NotEq => Cmp::Ne,
        CmpOp::Lt => Cmp::Lt,
        CmpOp::LtE => Cmp::Le,
        CmpOp::Gt => Cmp::Gt,
        CmpOp::GtE => Cmp::Ge,
    };
    if matches!(a, Val::Tensor(_)) || matches!(b, Val::Tensor(_)) {
        // Against None and the like only the outcome of `==` is known.
        let odd = |v: &Val| matches!(v, Val::Const(Const::None | Const::Str(_) | Const::Type(_)) | Val::Tuple(_));
        if (odd(a) || odd(b)) && matches!(cmp, Cmp::Eq | Cmp::Ne) {
            return Ok(Val::bool(cmp == Cmp::Ne));
        }
        return Ok(arith::compare(cx, cmp, a, b)?.into());
    }
    Ok(Val::bool(fold::compare(cx, cmp, a, b)?))
}

fn contains(cx: &mut Emitter, item: &Val, container: &Val) -> R<bool> {
    cx.work(container.own_weight() / 16)?;
    match (item, container) {
        (Val::Tensor(_), _) => Err(faults::expected(cx, "a compile-time value before `in`", item)),
        (Val::Argument(_), _) => fold::known(cx, item).map(|()| false),
        (_, Val::Tuple(items)) => Ok(items.iter().any(|v| same(v, item))),
        (_, Val::Dict(items)) => Ok(items.iter().any(|(k, _)| same(k, item))),
        (Val::Const(Const::Str(part)), Val::Const(Const::Str(text))) => Ok(text.contains(&**part)),
        _ => Err(faults::expected(cx, "a tuple or a string after `in`", container)),
    }
}

/// The condition as one bit.
pub fn condition(cx: &mut Emitter, v: &Val, what: &str) -> R<Tensor> {
    let t = convert::to_tensor(cx, v)?;
    if t.ty.numel() != 1 {
        let found = v.describe();
        return Err(cx.error_help(
            &types::CONDITION,
            format!("the condition of {what} must be one value, found {found}"),
            "not a single truth value",
            "reduce it first (`tl.sum(x, 0) > 0`), or select element by element with `tl.where`",
        ));
    }
    let t = shape::unsplat(cx, t)?;
    convert::cast(cx, t, Dtype::Int1, None)
}

/// As Python's `is`: `None`, booleans, types and functions by identity, small values by equality of the same kind.
fn identical(a: &Val, b: &Val) -> bool {
    match (a, b) {
        (Val::Const(x), Val::Const(y)) => x.kind() == y.kind() && x == y,
        (Val::Tensor(x), Val::Tensor(y)) => x == y,
        (Val::Tuple(x), Val::Tuple(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}

/// The annotation that keeps loop-invariant code inside a loop.
#[must_use]
pub fn no_licm() -> Attr {
    Attr::new(AttrData::Opaque(Name::of("#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>")))
}
