//! `arith`: integer and float arithmetic, comparisons, selection, constants.
//!
//! Most operations are one LLVM instruction or intrinsic. The others:
//! - division of floats is the machine's; correctly rounded division is `tt.precise_divf`;
//! - division with rounding up or down is expanded around the truncating one.

use inkwell::values::{BasicValue, InstructionOpcode as I, InstructionValue};
use inkwell::{FloatPredicate, IntPredicate};

use super::cast;
use super::elementwise::elementwise;
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::FloatFunction;
use crate::ir::Op;
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate};

/// What an operation is in LLVM.
enum Form {
    Instruction(I),
    /// An intrinsic overloaded on the type of its operands.
    Intrinsic(&'static str),
    /// A function of this file or another.
    Own,
}

fn form(kind: ArithOp) -> Form {
    use Form::{Instruction, Intrinsic, Own};
    match kind {
        ArithOp::Addi => Instruction(I::Add),
        ArithOp::Subi => Instruction(I::Sub),
        ArithOp::Muli => Instruction(I::Mul),
        ArithOp::Divsi => Instruction(I::SDiv),
        ArithOp::Divui => Instruction(I::UDiv),
        ArithOp::Remsi => Instruction(I::SRem),
        ArithOp::Remui => Instruction(I::URem),
        ArithOp::Andi => Instruction(I::And),
        ArithOp::Ori => Instruction(I::Or),
        ArithOp::Xori => Instruction(I::Xor),
        ArithOp::Shli => Instruction(I::Shl),
        ArithOp::Shrsi => Instruction(I::AShr),
        ArithOp::Shrui => Instruction(I::LShr),
        ArithOp::Addf => Instruction(I::FAdd),
        ArithOp::Subf => Instruction(I::FSub),
        ArithOp::Mulf => Instruction(I::FMul),
        ArithOp::Remf => Instruction(I::FRem),
        ArithOp::Maxsi => Intrinsic("llvm.smax"),
        ArithOp::Maxui => Intrinsic("llvm.umax"),
        ArithOp::Minsi => Intrinsic("llvm.smin"),
        ArithOp::Minui => Intrinsic("llvm.umin"),
        ArithOp::Maximumf => Intrinsic("llvm.maximum"),
        ArithOp::Minimumf => Intrinsic("llvm.minimum"),
        ArithOp::Maxnumf => Intrinsic("llvm.maxnum"),
        ArithOp::Minnumf => Intrinsic("llvm.minnum"),
        ArithOp::Constant
        | ArithOp::Ceildivsi
        | ArithOp::Ceildivui
        | ArithOp::Floordivsi
        | ArithOp::Divf
        | ArithOp::Negf
        | ArithOp::Cmpi
        | ArithOp::Cmpf
        | ArithOp::Select
        | ArithOp::Extsi
        | ArithOp::Extui
        | ArithOp::Trunci
        | ArithOp::Extf
        | ArithOp::Truncf
        | ArithOp::Sitofp
        | ArithOp::Uitofp
        | ArithOp::Fptosi
        | ArithOp::Fptoui
        | ArithOp::Bitcast
        | ArithOp::IndexCast => Own,
    }
}

/// Lowers an operation of the `arith` dialect.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op, kind: ArithOp) -> Res<()> {
    check_floats(cx, op, kind)?;
    if kind == ArithOp::Muli
        && let Some(done) = super::math::low_half(cx, op)
    {
        return done;
    }
    match form(kind) {
        Form::Instruction(opcode) => {
            // Every kind that has these flags names them alike; the others have none.
            let flags = cx.ir.get(op, view::Addi::ATTR.overflowFlags).unwrap_or(0);
            elementwise(cx, op, |cx, args| {
                let value = cx.b.build_binop(opcode, operand(args, 0)?, operand(args, 1)?, "")?;
                set_overflow(value, flags);
                Ok(value)
            })
        }
        Form::Intrinsic(name) => elementwise(cx, op, |cx, args| {
            let ty = operand(args, 0)?.get_type();
            cx.intrinsic(name, &[ty], args)
        }),
        Form::Own => own(cx, op, kind),
    }
}

/// 8-bit floats are integers in LLVM: only what moves them may touch them.
fn check_floats(cx: &Lower<'_, '_>, op: Op, kind: ArithOp) -> Res<()> {
    const MOVES: [ArithOp; 3] = [ArithOp::Constant, ArithOp::Select, ArithOp::Bitcast];
    let narrow = |&v: &crate::ir::Value| cx.ir.ty(v).elem().as_float().is_some_and(crate::ir::FloatKind::is_fp8);
    if !MOVES.contains(&kind) && cx.ir.operands(op).iter().chain(cx.ir.results(op)).any(narrow) {
        return Err(
            cx.unsupported(op, "8-bit floats must be converted with `tt.fp_to_fp` before they are computed with")
        );
    }
    Ok(())
}

fn set_overflow(value: Val<'_>, flags: i64) {
    let Some(instruction) = value.as_instruction_value() else { return };
    // Constants fold to something without flags; then there is nothing to say.
    let set = |bit: i64, set: fn(InstructionValue<'_>) -> bool| if flags & bit != 0 { set(instruction) } else { true };
    set(1, |i| i.set_no_signed_wrap_flag(true).is_ok());
    set(2, |i| i.set_no_unsigned_wrap_flag(true).is_ok());
}

fn own(cx: &mut Lower<'_, '_>, op: Op, kind: ArithOp) -> Res<()> {
    match kind {
        ArithOp::Constant => {
            let value = view::Constant(op).value(cx.ir).ok_or_else(|| defect("a constant without a value"))?;
            let regs = cx.constant(value, cx.ir.ty(cx.ir.result(op)))?;
            cx.set(cx.ir.result(op), regs.to_vec());
            Ok(())
        }
        ArithOp::Ceildivsi => elementwise(cx, op, |cx, args| rounded_div(cx, args, true)),
        ArithOp::Floordivsi => elementwise(cx, op, |cx, args| rounded_div(cx, args, false)),
        ArithOp::Ceildivui => elementwise(cx, op, ceil_div_unsigned),
        ArithOp::Divf => elementwise(cx, op, |cx, args| cx.machine.float_function(cx, FloatFunction::Divide, args)),
        ArithOp::Negf => elementwise(cx, op, |cx, args| match operand(args, 0)? {
            Val::FloatValue(x) => Ok(cx.b.build_float_neg(x, "")?.into()),
            _ => Err(defect("negation of something that is no float")),
        }),
        ArithOp::Cmpi => compare_ints(cx, op),
        ArithOp::Cmpf => compare_floats(cx, op),
        ArithOp::Select => elementwise(cx, op, |cx, args| {
            Ok(cx.b.build_select(as_int(operand(args, 0)?)?, operand(args, 1)?, operand(args, 2)?, "")?)
        }),
        _ => cast::arith(cx, op, kind),
    }
}

/// Signed division rounded up or down: `q = a / b` truncates; where that changed the value (`q * b != a`) and the exact
/// quotient lies on the other side of `q`, add or subtract one. The exact quotient is negative when the signs of `a`
/// and `b` differ. Example: -7 and 2: q = -3, -6 ≠ -7, signs differ: down gives -4, up stays -3.
fn rounded_div<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>], up: bool) -> Res<Val<'c>> {
    let (a, b) = (as_int(operand(args, 0)?)?, as_int(operand(args, 1)?)?);
    let (zero, one) = (a.get_type().const_zero(), a.get_type().const_int(1, false));
    let q = cx.b.build_int_signed_div(a, b, "")?;
    let back = cx.b.build_int_mul(q, b, "")?;
    let inexact = cx.b.build_int_compare(IntPredicate::NE, back, a, "")?;
    let a_negative = cx.b.build_int_compare(IntPredicate::SLT, a, zero, "")?;
    let b_negative = cx.b.build_int_compare(IntPredicate::SLT, b, zero, "")?;
    let sign = if up { IntPredicate::EQ } else { IntPredicate::NE };
    let side = cx.b.build_int_compare(sign, a_negative, b_negative, "")?;
    let adjust = cx.b.build_and(inexact, side, "")?;
    let moved = if up { cx.b.build_int_add(q, one, "")? } else { cx.b.build_int_sub(q, one, "")? };
    Ok(cx.b.build_select(adjust, moved, q, "")?)
}

/// `a == 0 ? 0 : (a - 1) / b + 1`
fn ceil_div_unsigned<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
    let (a, b) = (as_int(operand(args, 0)?)?, as_int(operand(args, 1)?)?);
    let (zero, one) = (a.get_type().const_zero(), a.get_type().const_int(1, false));
    let below = cx.b.build_int_sub(a, one, "")?;
    let quotient = cx.b.build_int_unsigned_div(below, b, "")?;
    let above = cx.b.build_int_add(quotient, one, "")?;
    let none = cx.b.build_int_compare(IntPredicate::EQ, a, zero, "")?;
    Ok(cx.b.build_select(none, zero, above, "")?)
}

fn compare_ints(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let predicate = match view::Cmpi(op).predicate(cx.ir).ok_or_else(|| defect("an unknown predicate"))? {
        CmpiPredicate::Eq => IntPredicate::EQ,
        CmpiPredicate::Ne => IntPredicate::NE,
        CmpiPredicate::Slt => IntPredicate::SLT,
        CmpiPredicate::Sle => IntPredicate::SLE,
        CmpiPredicate::Sgt => IntPredicate::SGT,
        CmpiPredicate::Sge => IntPredicate::SGE,
        CmpiPredicate::Ult => IntPredicate::ULT,
        CmpiPredicate::Ule => IntPredicate::ULE,
        CmpiPredicate::Ugt => IntPredicate::UGT,
        CmpiPredicate::Uge => IntPredicate::UGE,
    };
    elementwise(cx, op, |cx, args| {
        Ok(cx.b.build_int_compare(predicate, as_int(operand(args, 0)?)?, as_int(operand(args, 1)?)?, "")?.into())
    })
}

fn compare_floats(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let predicate = match view::Cmpf(op).predicate(cx.ir).ok_or_else(|| defect("an unknown predicate"))? {
        CmpfPredicate::False => FloatPredicate::PredicateFalse,
        CmpfPredicate::Oeq => FloatPredicate::OEQ,
        CmpfPredicate::Ogt => FloatPredicate::OGT,
        CmpfPredicate::Oge => FloatPredicate::OGE,
        CmpfPredicate::Olt => FloatPredicate::OLT,
        CmpfPredicate::Ole => FloatPredicate::OLE,
        CmpfPredicate::One => FloatPredicate::ONE,
        CmpfPredicate::Ord => FloatPredicate::ORD,
        CmpfPredicate::Ueq => FloatPredicate::UEQ,
        CmpfPredicate::Ugt => FloatPredicate::UGT,
        CmpfPredicate::Uge => FloatPredicate::UGE,
        CmpfPredicate::Ult => FloatPredicate::ULT,
        CmpfPredicate::Ule => FloatPredicate::ULE,
        CmpfPredicate::Une => FloatPredicate::UNE,
        CmpfPredicate::Uno => FloatPredicate::UNO,
        CmpfPredicate::True => FloatPredicate::PredicateTrue,
    };
    elementwise(cx, op, |cx, args| match (operand(args, 0)?, operand(args, 1)?) {
        (Val::FloatValue(a), Val::FloatValue(b)) => Ok(cx.b.build_float_compare(predicate, a, b, "")?.into()),
        _ => Err(defect("a float comparison of something else")),
    })
}
