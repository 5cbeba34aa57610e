//! `math`, and the float operations of `tt`. How a function of floats is computed is the machine's business.

use inkwell::types::IntType;
use inkwell::values::IntValue;

use super::elementwise::{elementwise, of_one_operand};
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::FloatFunction;
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::PropagateNan;
use crate::ir::dialects::tt::tt as view;
use crate::ir::dialects::{MathOp, TtOp};
use crate::ir::{FloatKind, Op, OpKind, Value};

/// Lowers an operation of the `math` dialect.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op, kind: MathOp) -> Res<()> {
    let ty = cx.ir.ty(cx.ir.result(op)).elem();
    if ty.as_float().is_some_and(FloatKind::is_fp8) {
        return if kind == MathOp::Absf {
            elementwise(cx, op, clear_sign)
        } else {
            Err(cx.unsupported(op, "8-bit floats have no arithmetic"))
        };
    }
    match integer_function(kind) {
        Some(function) => integer(cx, op, function),
        None if !cx.machine.shares_work(kind).is_empty() => together(cx, op, kind),
        None => float(cx, op, FloatFunction::Math(kind)),
    }
}

/// A function that the machine computes for all registers at once, together with other functions of the same operand
/// in the same block: a sine, and the cosine that follows.
fn together(cx: &mut Lower<'_, '_>, op: Op, kind: MathOp) -> Res<()> {
    if cx.computed.remove(&op) {
        return Ok(());
    }
    let Some(&operand) = cx.ir.operands(op).first() else { return Err(defect("a function of nothing")) };
    let (mut kinds, mut ops) = (vec![kind], vec![op]);
    for other in cx.ir.users(operand) {
        let function = function_of(cx, other).filter(|function| cx.machine.shares_work(kind).contains(function));
        let Some(function) = function.filter(|function| !kinds.contains(function)) else { continue };
        if cx.ir.parent_block(other) == cx.ir.parent_block(op) && cx.ir.is_before(op, other) {
            kinds.push(function);
            ops.push(other);
        }
    }
    let results: Vec<Value> = ops.iter().map(|&op| cx.ir.result(op)).collect();
    of_one_operand(cx, operand, &results, |cx, args| cx.machine.functions_of_tile(cx, &kinds, args))?;
    cx.computed.extend(&ops[1..]);
    Ok(())
}

/// The function that an operation computes element by element, as an operation or by its name in the library.
fn function_of(cx: &Lower<'_, '_>, op: Op) -> Option<MathOp> {
    match cx.ir.kind(op) {
        OpKind::Math(kind) => Some(kind),
        OpKind::Tt(TtOp::ExternElementwise) => {
            let mut values = cx.ir.operands(op).iter().chain(cx.ir.results(op));
            let single = values.all(|&v| cx.ir.ty(v).elem().as_float() == Some(FloatKind::F32));
            let symbol = view::ExternElementwise(op).symbol(cx.ir).unwrap_or_default();
            cx.machine.function_of_library(symbol).filter(|_| single)
        }
        _ => None,
    }
}

/// A function of floats, element by element.
fn float(cx: &mut Lower<'_, '_>, op: Op, function: FloatFunction) -> Res<()> {
    elementwise(cx, op, |cx, args| cx.machine.float_function(cx, function, args))
}

/// |x| of a float that is an integer in LLVM.
fn clear_sign<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
    let x = as_int(operand(args, 0)?)?;
    Ok(cx.b.build_and(x, x.get_type().const_int(0x7f, false), "")?.into())
}

/// LLVM's intrinsic for a function of integers, and whether it has a last operand, which says whether the smallest
/// integer, or zero, gives poison.
fn integer_function(kind: MathOp) -> Option<(&'static str, bool)> {
    match kind {
        MathOp::Absi => Some(("llvm.abs", true)),
        MathOp::Ctlz => Some(("llvm.ctlz", true)),
        MathOp::Cttz => Some(("llvm.cttz", true)),
        MathOp::Ctpop => Some(("llvm.ctpop", false)),
        _ => None,
    }
}

fn integer(cx: &mut Lower<'_, '_>, op: Op, (name, flag): (&str, bool)) -> Res<()> {
    elementwise(cx, op, |cx, args| {
        let x = operand(args, 0)?;
        let defined: Val<'_> = cx.llvm.bool_type().const_zero().into();
        let args = if flag { vec![x, defined] } else { vec![x] };
        cx.intrinsic(name, &[x.get_type()], &args)
    })
}

/// `tt.clampf`: NaN in x gives NaN with `propagateNan = all`, else the lower bound.
pub(crate) fn clamp(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let all = view::Clampf(op).propagateNan(cx.ir) == Some(PropagateNan::All);
    let (max, min) = if all { ("llvm.maximum", "llvm.minimum") } else { ("llvm.maxnum", "llvm.minnum") };
    elementwise(cx, op, |cx, args| {
        let ty = operand(args, 0)?.get_type();
        let above = cx.intrinsic(max, &[ty], &[operand(args, 0)?, operand(args, 1)?])?;
        cx.intrinsic(min, &[ty], &[above, operand(args, 2)?])
    })
}

/// `tt.precise_sqrt`: correctly rounded.
pub(crate) fn precise_sqrt(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    float(cx, op, FloatFunction::PreciseSqrt)
}

/// `tt.precise_divf`: correctly rounded.
pub(crate) fn precise_div(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    float(cx, op, FloatFunction::PreciseDivide)
}

/// `tt.approx_divf`: the product with an approximate reciprocal.
pub(crate) fn approximate_div(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    float(cx, op, FloatFunction::ApproximateDivide)
}

/// `tt.mulhiui`: the high half of the product. Of 32-bit integers it is taken from a product of 64 bits, one
/// instruction that gives the low half too; see [`low_half`].
pub(crate) fn mulhi(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    elementwise(cx, op, |cx, args| {
        let bits = as_int(operand(args, 0)?)?.get_type().get_bit_width();
        if bits == 64 {
            return cx.machine.high_product(cx, args);
        }
        let (product, narrow) = wide_product(cx, args)?;
        let high = cx.b.build_right_shift(product, product.get_type().const_int(u64::from(bits), false), false, "")?;
        Ok(cx.b.build_int_truncate(high, narrow, "")?.into())
    })
}

/// The product of two unsigned integers in twice their bits, and their own type.
fn wide_product<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<(IntValue<'c>, IntType<'c>)> {
    let (a, b) = (as_int(operand(args, 0)?)?, as_int(operand(args, 1)?)?);
    let (wide, narrow) = (cx.int_type(2 * a.get_type().get_bit_width()), a.get_type());
    let (a, b) = (cx.b.build_int_z_extend(a, wide, "")?, cx.b.build_int_z_extend(b, wide, "")?);
    Ok((cx.b.build_int_mul(a, b, "")?, narrow))
}

/// `arith.muli` of 32-bit integers beside a `tt.mulhiui` of the same two, as rounds of Philox have them: the low half
/// of the product that the other takes the high half of. `None` where there is no such other.
pub(crate) fn low_half(cx: &mut Lower<'_, '_>, op: Op) -> Option<Res<()>> {
    let product = arith::Muli(op);
    let (a, b) = (product.lhs(cx.ir), product.rhs(cx.ir));
    let same = |other: Op| {
        let factors = view::Mulhiui::of(cx.ir, other).map(|high| (high.x(cx.ir), high.y(cx.ir)));
        factors.is_some_and(|found| found == (a, b) || found == (b, a))
            && cx.ir.parent_block(other) == cx.ir.parent_block(op)
    };
    // Such a product uses both. A constant may have thousands of users.
    let fewer = if cx.ir.uses(a).len() <= cx.ir.uses(b).len() { a } else { b };
    let paired = cx.ir.ty(a).elem().is_int_of(32) && cx.ir.uses(fewer).iter().any(|u| same(u.op));
    paired.then(|| {
        elementwise(cx, op, |cx, args| {
            let (product, narrow) = wide_product(cx, args)?;
            Ok(cx.b.build_int_truncate(product, narrow, "")?.into())
        })
    })
}

/// `tt.extern_elementwise`: a function of the vendor's library. Without operands it is called once per register, like
/// any other.
pub(crate) fn external(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if let Some(kind) = function_of(cx, op).filter(|kind| !cx.machine.shares_work(*kind).is_empty()) {
        return together(cx, op, kind);
    }
    let view = view::ExternElementwise(op);
    let symbol = view.symbol(cx.ir).unwrap_or_default();
    let library = view.libname(cx.ir).unwrap_or_default();
    let to = cx.elem_type(cx.ir.ty(cx.ir.result(op)))?;
    elementwise(cx, op, |cx, args| cx.machine.library_function(cx, symbol, library, to, args))
}
