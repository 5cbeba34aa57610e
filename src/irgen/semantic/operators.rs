//! Operators on any values: those known at compile time are computed as Python does ([`fold`]), those with a tensor
//! become operations ([`arith`]).

use std::rc::Rc;

use super::cmp::Cmp;
use super::fold::same;
use super::{arith, convert, faults, fold, index, shape};
use crate::diag::codes::types;
use crate::ir::{Attr, AttrData, Name};
use crate::irgen::emit::{Emitter, R, Tensor};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Const, Object};
use crate::parser::ast::{BinOp, CmpOp, UnaryOp};

/// A unary operator on any value.
pub fn unary(cx: &mut Emitter, op: UnaryOp, v: &Object) -> R<Object> {
    let Object::Tensor(t) = v else { return fold::unary(cx, op, v) };
    Ok(match op {
        UnaryOp::Neg => arith::negate(cx, *t)?.into(),
        UnaryOp::Pos => v.clone(),
        UnaryOp::Invert => arith::invert(cx, *t)?.into(),
        UnaryOp::Not => arith::logical_not(cx, v)?.into(),
    })
}

/// A binary operator on any two values.
pub fn binary(cx: &mut Emitter, op: BinOp, a: &Object, b: &Object) -> R<Object> {
    if matches!(a, Object::Tensor(_)) || matches!(b, Object::Tensor(_)) {
        if matches!(a, Object::Tuple(_)) || matches!(b, Object::Tuple(_)) {
            return Err(faults::bad_operands(cx, op.symbol(), a, b));
        }
        return arith::binary(cx, op, a, b);
    }
    fold::binary(cx, op, a, b)
}

/// One comparison of any two values.
pub fn compare(cx: &mut Emitter, op: CmpOp, a: &Object, b: &Object) -> R<Object> {
    let cmp = match op {
        CmpOp::Is | CmpOp::IsNot => {
            if !(a.is_none() || b.is_none()) {
                fold::known(cx, a)?;
                fold::known(cx, b)?;
            }
            return Ok(Object::bool(identical(a, b) == (op == CmpOp::Is)));
        }
        CmpOp::In | CmpOp::NotIn => return contains(cx, a, b).map(|found| Object::bool(found == (op == CmpOp::In))),
        CmpOp::Eq => Cmp::Eq,
        CmpOp::NotEq => Cmp::Ne,
        CmpOp::Lt => Cmp::Lt,
        CmpOp::LtE => Cmp::Le,
        CmpOp::Gt => Cmp::Gt,
        CmpOp::GtE => Cmp::Ge,
    };
    if matches!(a, Object::Tensor(_)) || matches!(b, Object::Tensor(_)) {
        // Against None only the outcome of `==` is known.
        let odd = |v: &Object| matches!(v, Object::Const(Const::None));
        if let Some(text) = [a, b].into_iter().find(|v| matches!(v, Object::Const(Const::Str(_)))) {
            let found = text.describe();
            return Err(cx.error_help(
                &types::ARGUMENT_TYPE,
                format!("a run-time value cannot be compared with {found}"),
                "known only at run time",
                "strings exist at compile time only: declare the parameter `tl.constexpr`",
            ));
        }
        if let Some(ty) = [a, b].into_iter().find(|v| matches!(v, Object::Const(Const::Type(_)))) {
            let found = ty.describe();
            return Err(cx.error_help(
                &types::ARGUMENT_TYPE,
                format!("a run-time value cannot be compared with {found}"),
                "a value beside a type",
                "a value's type is its `.dtype`",
            ));
        }
        if matches!(a, Object::Tuple(_)) || matches!(b, Object::Tuple(_)) {
            return Err(faults::bad_operands(cx, cmp.symbol(), a, b));
        }
        if (odd(a) || odd(b)) && matches!(cmp, Cmp::Eq | Cmp::Ne) {
            return Ok(Object::bool(cmp == Cmp::Ne));
        }
        return Ok(arith::compare(cx, cmp, a, b)?.into());
    }
    Ok(Object::bool(fold::compare(cx, cmp, a, b)?))
}

fn contains(cx: &mut Emitter, item: &Object, container: &Object) -> R<bool> {
    cx.work(container.own_weight() / 16)?;
    match (item, container) {
        (Object::Tensor(_), _) => Err(faults::expected_of_tensor(
            cx,
            "a compile-time value before `in`",
            item,
            "compare with each value: `(n == 1) | (n == 2)`",
        )),
        (_, Object::Tuple(items)) if item.is_open() || container.is_open() => {
            for v in items.iter() {
                if fold::equal(cx, v, item)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        // Python asks for identity first, and a NaN equals nothing else.
        (Object::Const(Const::Float(x)), Object::Tuple(items)) if x.is_nan() => {
            let is_nan = |v: &Object| matches!(v, Object::Const(Const::Float(y)) if y.is_nan());
            if items.iter().any(is_nan) { Err(cx.unsupported("`in` with a NaN")) } else { Ok(false) }
        }
        (_, Object::Tuple(items)) => {
            let found = items.iter().any(|v| same(v, item));
            if !found && items.iter().any(|v| !fold::is_decided(v, item)) {
                return Err(fold::undecided(cx, "in"));
            }
            Ok(found)
        }
        (_, Object::Dict(items)) => {
            fold::known_whole(cx, item)?;
            Ok(items.iter().any(|(k, _)| same(k, item)))
        }
        (Object::Const(Const::Str(name)), Object::Passed(p)) => Ok(index::passed(cx, p, name)?.is_some()),
        (Object::Argument(_), _) => fold::known(cx, item).map(|()| false),
        (Object::Const(Const::Str(part)), Object::Const(Const::Str(text))) => Ok(text.contains(&**part)),
        _ => Err(faults::expected(cx, "a tuple or a string after `in`", container)),
    }
}

/// The condition as one bit.
pub fn condition(cx: &mut Emitter, v: &Object, what: &str) -> R<Tensor> {
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
fn identical(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Const(x), Object::Const(y)) => x.kind() == y.kind() && x == y,
        (Object::Tensor(x), Object::Tensor(y)) => x == y,
        (Object::Tuple(x), Object::Tuple(y)) => Rc::ptr_eq(x, y),
        _ => false,
    }
}

/// The annotation that keeps loop-invariant code inside a loop.
#[must_use]
pub fn no_licm() -> Attr {
    Attr::new(AttrData::Opaque(Name::of("#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>")))
}
