//! The operators on tensors: operands are promoted to a common type, broadcast to a common shape, and one operation is
//! emitted.
//!
//! A Python number that stands beside a tensor takes the tensor's type unless its kind is higher (a float beside
//! integers), so `x * 2.0` stays `fp16` for an `fp16` x. See [`crate::irgen::types::computation_type`].

use super::cmp::{self, Cmp};
use super::{convert, faults, shape};
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::tt::tt::Assert;
use crate::ir::{ArithOp, Attr, OpKind, TtOp};
use crate::irgen::emit::{Emitter, R, Tensor};
use crate::irgen::types::{Dtype, NoCommonType, Ty, computation_type, promote_ints};
use crate::irgen::value::{Const, Object};
use crate::parser::ast::BinOp;

/// What a binary operation allows.
#[derive(Clone, Copy, Default)]
pub struct Rules {
    pub left_ptr: bool,
    pub right_ptr: bool,
    pub division: bool,
}

fn operand_dtype(v: &Object) -> Option<(Dtype, bool)> {
    match v {
        Object::Tensor(t) => Some((t.ty.dtype, false)),
        Object::Const(c) => c.dtype().map(|d| (d, true)),
        _ => None,
    }
}

/// Promotes and broadcasts two operands.
pub fn operands(cx: &mut Emitter, op: &str, a: &Object, b: &Object, rules: Rules) -> R<(Tensor, Tensor)> {
    let (Some((da, a_scalar)), Some((db, b_scalar))) = (operand_dtype(a), operand_dtype(b)) else {
        return Err(faults::bad_operands(cx, op, a, b));
    };
    let ptr_ok =
        |x: Dtype, y: Dtype, allowed: bool| !x.is_ptr() || (allowed && !y.is_float() && (!y.is_ptr() || x == y));
    if !ptr_ok(da, db, rules.left_ptr) || !ptr_ok(db, da, rules.right_ptr) {
        return Err(faults::bad_operands(cx, op, a, b));
    }
    if da.is_ptr() || db.is_ptr() {
        let (a, b) = (convert::to_tensor(cx, a)?, convert::to_tensor(cx, b)?);
        return shape::broadcast(cx, a, b);
    }
    let common = match computation_type(da, a_scalar, db, b_scalar, rules.division) {
        Ok(common) => common,
        Err(NoCommonType::NotNumbers) => return Err(faults::bad_operands(cx, op, a, b)),
        Err(NoCommonType::Signedness) => {
            return Err(cx.error_help(
                &types::OPERAND_TYPES,
                format!("`{op}` does not take {da} and {db}: one is signed, the other is not"),
                "different signedness",
                "convert one of them first, for example with `.to(tl.int32)`",
            ));
        }
    };
    let a = in_type(cx, a, common)?;
    let b = in_type(cx, b, common)?;
    shape::broadcast(cx, a, b)
}

/// An operand in the computation type; a Python number must fit into it.
fn in_type(cx: &mut Emitter, v: &Object, dtype: Dtype) -> R<Tensor> {
    let Object::Const(c) = v else {
        let t = convert::to_tensor(cx, v)?;
        return convert::cast(cx, t, dtype, None);
    };
    if let (true, Some(i)) = (dtype.is_int(), c.as_int()) {
        let (lo, hi) = dtype.int_range();
        if !(lo..=hi).contains(&i) {
            return Err(cx.error_help(
                &types::INT_RANGE,
                format!("the number {i} does not fit into {dtype}, the type of the other operand"),
                format!("{dtype} holds {lo} to {hi}"),
                "convert the other operand to a wider or a signed type first",
            ));
        }
    }
    convert::scalar_constant(cx, c, dtype)
}

/// A binary operator with at least one tensor.
pub fn binary(cx: &mut Emitter, op: BinOp, a: &Object, b: &Object) -> R<Object> {
    let t = match op {
        BinOp::Add => add(cx, a, b)?,
        BinOp::Sub => sub(cx, a, b)?,
        BinOp::Mul => mul(cx, a, b)?,
        BinOp::Div => true_div(cx, a, b)?,
        BinOp::FloorDiv => floor_div(cx, a, b)?,
        BinOp::Mod => modulo(cx, a, b)?,
        BinOp::BitAnd => bitwise(cx, ArithOp::Andi, "&", a, b)?,
        BinOp::BitOr => bitwise(cx, ArithOp::Ori, "|", a, b)?,
        BinOp::BitXor => bitwise(cx, ArithOp::Xori, "^", a, b)?,
        BinOp::LShift => bitwise(cx, ArithOp::Shli, "<<", a, b)?,
        BinOp::RShift => {
            // The shifted tensor's signedness decides; beside a Python number, the amount's does.
            let signed = a.as_tensor().or(b.as_tensor()).is_some_and(|t| t.ty.dtype.is_signed());
            bitwise(cx, if signed { ArithOp::Shrsi } else { ArithOp::Shrui }, ">>", a, b)?
        }
        BinOp::Pow => {
            return Err(cx.error_help(
                &types::OPERAND_TYPES,
                format!("`**` does not take {} and {}", a.describe(), b.describe()),
                "no power operator for tensors",
                "multiply, or use `libdevice.pow` or `tl.exp2(y * tl.log2(x))`",
            ));
        }
        BinOp::MatMul => {
            return Err(cx.error_help(
                &types::OPERAND_TYPES,
                format!("`@` does not take {} and {}", a.describe(), b.describe()),
                "no matrix operator",
                "use `tl.dot(a, b)`",
            ));
        }
    };
    Ok(t.into())
}

/// One operation on two operands of one type.
fn pair(cx: &mut Emitter, kind: impl Into<OpKind>, a: Tensor, b: Tensor) -> R<Tensor> {
    cx.tensor(kind, &[a.value, b.value], a.ty)
}

pub fn add(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "+", a, b, Rules { left_ptr: true, right_ptr: true, division: false })?;
    if x.ty.dtype.is_ptr() && y.ty.dtype.is_ptr() {
        return Err(faults::bad_operands(cx, "+", a, b));
    }
    let (x, y) = if y.ty.dtype.is_ptr() { (y, x) } else { (x, y) };
    if x.ty.dtype.is_ptr() {
        return addptr(cx, x, y);
    }
    checked(cx, ArithOp::Addf, ArithOp::Addi, "add", x, y)
}

/// A pointer moved by elements; the offset counts as signed, so narrow unsigned ones are extended first.
fn addptr(cx: &mut Emitter, ptr: Tensor, offset: Tensor) -> R<Tensor> {
    let unsigned = offset.ty.dtype.is_unsigned() && offset.ty.dtype.bits() < 64;
    let offset = if unsigned { convert::int_cast(cx, offset, Dtype::Int64, false)? } else { offset };
    cx.tensor(TtOp::Addptr, &[ptr.value, offset.value], ptr.ty)
}

pub fn sub(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "-", a, b, Rules { left_ptr: true, ..Rules::default() })?;
    if x.ty.dtype.is_ptr() {
        if y.ty.dtype.is_ptr() {
            return Err(faults::bad_operands(cx, "-", a, b));
        }
        let negated = negate(cx, y)?;
        return addptr(cx, x, negated);
    }
    checked(cx, ArithOp::Subf, ArithOp::Subi, "sub", x, y)
}

pub fn mul(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "*", a, b, Rules::default())?;
    checked(cx, ArithOp::Mulf, ArithOp::Muli, "mul", x, y)
}

/// The float or the integer operation; in debug mode narrow integers are checked for overflow in 64 bits.
fn checked(cx: &mut Emitter, float: ArithOp, int: ArithOp, name: &str, x: Tensor, y: Tensor) -> R<Tensor> {
    let dtype = x.ty.dtype;
    if dtype.is_float() {
        return pair(cx, float, x, y);
    }
    if cx.settings().debug && dtype.bits() < 64 {
        let (wx, wy) = (convert::cast(cx, x, Dtype::Int64, None)?, convert::cast(cx, y, Dtype::Int64, None)?);
        let wide = pair(cx, int, wx, wy)?;
        let (lo, hi) = dtype.int_range();
        let below = compare(cx, Cmp::Le, &wide.into(), &Object::int(hi))?;
        let above = compare(cx, Cmp::Ge, &wide.into(), &Object::int(lo))?;
        let fits = pair(cx, ArithOp::Andi, below, above)?;
        device_assert(cx, fits, &format!("int{} overflow detected for operation {name}", dtype.bits()))?;
    }
    pair(cx, int, x, y)
}

/// `tt.assert`
pub fn device_assert(cx: &mut Emitter, cond: Tensor, message: &str) -> R<()> {
    let state = Assert::state(cx.loc(), cond.value).with(Assert::ATTR.message, message);
    cx.emit(state).map(|_| ())
}

fn true_div(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "/", a, b, Rules { division: true, ..Rules::default() })?;
    let (x, y) = if x.ty.dtype.is_int() {
        (convert::cast(cx, x, Dtype::Fp32, None)?, convert::cast(cx, y, Dtype::Fp32, None)?)
    } else {
        (x, y)
    };
    pair(cx, ArithOp::Divf, x, y)
}

fn floor_div(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "//", a, b, Rules { division: true, ..Rules::default() })?;
    if !x.ty.dtype.is_int() {
        return Err(cx.error_help(
            &types::OPERAND_TYPES,
            format!("`//` does not take {} and {}", a.describe(), b.describe()),
            "integer division of floats",
            "use `tl.floor(a / b)`",
        ));
    }
    pair(cx, if x.ty.dtype.is_signed() { ArithOp::Divsi } else { ArithOp::Divui }, x, y)
}

fn modulo(cx: &mut Emitter, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, "%", a, b, Rules { division: true, ..Rules::default() })?;
    let kind = match x.ty.dtype {
        d if d.is_float() => ArithOp::Remf,
        d if d.is_signed() => ArithOp::Remsi,
        _ => ArithOp::Remui,
    };
    pair(cx, kind, x, y)
}

/// A bit operation: integers only, promoted to the wider.
pub fn bitwise(cx: &mut Emitter, kind: ArithOp, op: &str, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, op, a, b, Rules::default())?;
    if !x.ty.dtype.is_int() || !y.ty.dtype.is_int() {
        return Err(faults::bad_operands(cx, op, a, b));
    }
    let ty = promote_ints(x.ty.dtype, y.ty.dtype);
    let (x, y) = (convert::cast(cx, x, ty, None)?, convert::cast(cx, y, ty, None)?);
    pair(cx, kind, x, y)
}

/// `and` / `or` of truth values; a pointer is true if it is not null, as in Triton.
pub fn logical(cx: &mut Emitter, kind: ArithOp, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = (truth_bits(cx, a)?, truth_bits(cx, b)?);
    bitwise(cx, kind, if kind == ArithOp::Andi { "and" } else { "or" }, &x.into(), &y.into())
}

fn truth_bits(cx: &mut Emitter, v: &Object) -> R<Tensor> {
    let t = convert::to_tensor(cx, v)?;
    if t.ty.dtype.is_bool() {
        return Ok(t);
    }
    if t.ty.dtype.is_ptr() {
        return convert::cast(cx, t, Dtype::Int1, None);
    }
    Err(cx.error_help(
        &types::CONDITION,
        format!("`and`, `or` and `not` need a truth value, found {}", Object::from(t).describe()),
        "no truth value",
        "compare it first, for example with `!= 0`",
    ))
}

/// `not x`
pub fn logical_not(cx: &mut Emitter, v: &Object) -> R<Tensor> {
    let t = truth_bits(cx, v)?;
    invert(cx, t)
}

/// `-x`
pub fn negate(cx: &mut Emitter, t: Tensor) -> R<Tensor> {
    if t.ty.dtype.is_float() {
        return cx.tensor(ArithOp::Negf, &[t.value], t.ty);
    }
    if !t.ty.dtype.is_int() {
        let help = "subtract from a pointer instead: `ptr - offset`";
        return Err(cx.error_help(
            &types::OPERAND_TYPES,
            format!("`-` does not take {}", Object::from(t).describe()),
            "negated here",
            help,
        ));
    }
    let zero = convert::scalar_constant(cx, &Const::Int(0), t.ty.dtype)?;
    sub(cx, &zero.into(), &t.into())
}

/// `~x`
pub fn invert(cx: &mut Emitter, t: Tensor) -> R<Tensor> {
    let ty = Ty::scalar(t.ty.dtype);
    if !ty.dtype.is_int() {
        let help = "`~` inverts the bits of integers and truth values; to negate a number write `-x`, to invert a condition `~(x > 0)`";
        return Err(cx.error_help(
            &types::OPERAND_TYPES,
            format!("`~` does not take {}", Object::from(t).describe()),
            "inverted here",
            help,
        ));
    }
    let ones = cx.constant(Attr::int(-1, ty.to_ir()), ty)?;
    bitwise(cx, ArithOp::Xori, "^", &t.into(), &ones.into())
}

/// A comparison with at least one tensor.
pub fn compare(cx: &mut Emitter, cmp: Cmp, a: &Object, b: &Object) -> R<Tensor> {
    let (wide_a, wide_b) = (own_type(cx, a, b)?, own_type(cx, b, a)?);
    let (a, b) = (wide_a.as_ref().unwrap_or(a), wide_b.as_ref().unwrap_or(b));
    let (x, y) = operands(cx, cmp.symbol(), a, b, Rules::default())?;
    cmp::same_types(cx, cmp, x, y)
}

/// A number that does not fit the integer tensor that it is compared with, as a run-time value of its own type:
/// Triton up to 3.6 compares in the type that both promote to (4294967295 with an int32 as uint32), later ones
/// refuse it. `None` for any other operand.
fn own_type(cx: &mut Emitter, v: &Object, other: &Object) -> R<Option<Object>> {
    let (Object::Const(Const::Int(i)), Object::Tensor(t)) = (v, other) else { return Ok(None) };
    let dtype = t.ty.dtype;
    let Some(own) = Const::Int(*i).dtype().filter(|_| dtype.is_int() && !dtype.is_bool()) else {
        return Ok(None);
    };
    let (lo, hi) = dtype.int_range();
    if (lo..=hi).contains(i) {
        return Ok(None);
    }
    let common = promote_ints(dtype, own);
    let message =
        format!("{i} does not fit into {dtype}: compared as {common}, as Triton does up to 3.6; later ones refuse it");
    let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(cx.span(), format!("{dtype} holds {lo} to {hi}"));
    let same_bits = (i - lo).rem_euclid(hi - lo + 1) + lo;
    let help = format!(
        "its bits in {dtype} are {same_bits}; compare with that, or convert the tensor first: `x.to(tl.{})`",
        common.attr_name()
    );
    let _ = cx.report(diag.help(help));
    Ok(Some(convert::scalar_constant(cx, &Const::Int(*i), own)?.into()))
}

/// `tl.minimum` and `tl.maximum`.
pub fn extremum(cx: &mut Emitter, max: bool, all_nan: bool, a: &Object, b: &Object) -> R<Tensor> {
    let (x, y) = operands(cx, if max { "maximum" } else { "minimum" }, a, b, Rules::default())?;
    let kind = match (x.ty.dtype, max) {
        (d, true) if d.is_float() => [ArithOp::Maxnumf, ArithOp::Maximumf][usize::from(all_nan)],
        (d, false) if d.is_float() => [ArithOp::Minnumf, ArithOp::Minimumf][usize::from(all_nan)],
        (d, true) => [ArithOp::Maxui, ArithOp::Maxsi][usize::from(d.is_signed())],
        (d, false) => [ArithOp::Minui, ArithOp::Minsi][usize::from(d.is_signed())],
    };
    pair(cx, kind, x, y)
}

/// Three operands in one type and one shape.
pub fn ternary(cx: &mut Emitter, op: &str, args: [&Object; 3]) -> R<[Tensor; 3]> {
    let (mut tensor, mut scalar): (Option<Dtype>, Option<Dtype>) = (None, None);
    for v in args {
        let Some((d, is_scalar)) = operand_dtype(v) else {
            return Err(faults::expected(cx, "a tensor or a number", v));
        };
        let slot = if is_scalar { &mut scalar } else { &mut tensor };
        *slot = match *slot {
            None => Some(d),
            Some(old) => computation_type(old, is_scalar, d, is_scalar, false).ok(),
        };
        if slot.is_none() {
            return Err(faults::bad_operands(cx, op, args[0], v));
        }
    }
    let common = match (tensor, scalar) {
        (Some(t), Some(s)) => computation_type(t, false, s, true, false).ok(),
        (t, s) => t.or(s),
    };
    let Some(common) = common else { return Err(faults::bad_operands(cx, op, args[0], args[1])) };
    let a = in_type(cx, args[0], common)?;
    let b = in_type(cx, args[1], common)?;
    let c = in_type(cx, args[2], common)?;
    let (a, b) = shape::broadcast(cx, a, b)?;
    let (a, c) = shape::broadcast(cx, a, c)?;
    let (b, c) = shape::broadcast(cx, b, c)?;
    Ok([a, b, c])
}

/// `tl.where`
pub fn select(cx: &mut Emitter, cond: &Object, a: &Object, b: &Object) -> R<Tensor> {
    let cond = convert::to_tensor(cx, cond)?;
    let cond = convert::cast(cx, cond, Dtype::Int1, None)?;
    let (x, y) = operands(cx, "where", a, b, Rules { left_ptr: true, right_ptr: true, division: false })?;
    let (cond, x, y) = if cond.ty.is_block() {
        let (cond, x) = shape::broadcast(cx, cond, x)?;
        let (x, y) = shape::broadcast(cx, x, y)?;
        (cond, x, y)
    } else {
        (shape::broadcast(cx, cond, x)?.0, x, y)
    };
    cx.tensor(ArithOp::Select, &[cond.value, x.value, y.value], x.ty)
}
