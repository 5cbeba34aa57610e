//! The operators as methods of tensors and numbers, by Python's names: `x.__rshift__(4)` is `x >> 4`, `x.__rsub__(y)`
//! is `y - x`.
//!
//! Code that is generated, and code that wants another name for an operator, calls them so.

use super::entry::entry;
use crate::ir::ArithOp;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{arith, index, operators};
use crate::irgen::value::{Args, Builtin, Val};
use crate::parser::ast::{BinOp, CmpOp, UnaryOp};

macro_rules! binary {
    ($name:literal, $reversed:literal, $doc:literal, $back:literal, $op:expr) => {
        [
            entry($name, "self, other", $doc, |cx, a| operators::binary(cx, $op, a.get(0), a.get(1))),
            entry($reversed, "self, other", $back, |cx, a| operators::binary(cx, $op, a.get(1), a.get(0))),
        ]
    };
}

macro_rules! comparison {
    ($name:literal, $reversed:literal, $doc:literal, $back:literal, $op:expr) => {
        [
            entry($name, "self, other", $doc, |cx, a| operators::compare(cx, $op, a.get(0), a.get(1))),
            entry($reversed, "self, other", $back, |cx, a| operators::compare(cx, $op, a.get(1), a.get(0))),
        ]
    };
}

/// Pairs: the operator, and the operator with its operands exchanged.
static PAIRS: &[[Builtin; 2]] = &[
    binary!("__add__", "__radd__", "x + y", "y + x", BinOp::Add),
    binary!("__sub__", "__rsub__", "x - y", "y - x", BinOp::Sub),
    binary!("__mul__", "__rmul__", "x * y", "y * x", BinOp::Mul),
    binary!("__truediv__", "__rtruediv__", "x / y", "y / x", BinOp::Div),
    binary!("__floordiv__", "__rfloordiv__", "x // y", "y // x", BinOp::FloorDiv),
    binary!("__mod__", "__rmod__", "x % y", "y % x", BinOp::Mod),
    binary!("__and__", "__rand__", "x & y", "y & x", BinOp::BitAnd),
    binary!("__or__", "__ror__", "x | y", "y | x", BinOp::BitOr),
    binary!("__xor__", "__rxor__", "x ^ y", "y ^ x", BinOp::BitXor),
    binary!("__lshift__", "__rlshift__", "x << y", "y << x", BinOp::LShift),
    [
        entry("__rshift__", "self, other", "x >> y", |cx, a| operators::binary(cx, BinOp::RShift, a.get(0), a.get(1))),
        entry("__rrshift__", "self, other", "y >> x", shifted_back),
    ],
    comparison!("__lt__", "__rlt__", "x < y", "y < x", CmpOp::Lt),
    comparison!("__le__", "__rle__", "x <= y", "y <= x", CmpOp::LtE),
    comparison!("__gt__", "__rgt__", "x > y", "y > x", CmpOp::Gt),
    comparison!("__ge__", "__rge__", "x >= y", "y >= x", CmpOp::GtE),
    comparison!("__eq__", "__req__", "x == y", "y == x", CmpOp::Eq),
    comparison!("__ne__", "__rne__", "x != y", "y != x", CmpOp::NotEq),
];

static SINGLE: &[Builtin] = &[
    entry("__neg__", "self", "-x", |cx, a| operators::unary(cx, UnaryOp::Neg, a.get(0))),
    entry("__invert__", "self", "~x", |cx, a| operators::unary(cx, UnaryOp::Invert, a.get(0))),
    entry("__not__", "self", "not x", |cx, a| operators::unary(cx, UnaryOp::Not, a.get(0))),
    entry("__getitem__", "self, slices", "x[slices]", |cx, a| index::subscript(cx, a.get(0), a.get(1))),
];

/// `y >> x`: unlike with the operator, the signedness of x, whose method it is, decides.
fn shifted_back(cx: &mut Emitter, a: &Args) -> R<Val> {
    match a.get(0) {
        Val::Tensor(x) => {
            let kind = if x.ty.dtype.is_signed() { ArithOp::Shrsi } else { ArithOp::Shrui };
            Ok(arith::bitwise(cx, kind, ">>", a.get(1), a.get(0))?.into())
        }
        _ => operators::binary(cx, BinOp::RShift, a.get(1), a.get(0)),
    }
}

/// The method of this name.
#[must_use]
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    if !name.starts_with("__") {
        return None;
    }
    PAIRS.iter().flatten().chain(SINGLE).find(|b| b.name == name)
}
