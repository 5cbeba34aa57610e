//! Sines and cosines of a tile.
//!
//! libdevice first takes multiples of π/2 off its argument. Below [`NEAR`] these are three multiply-adds. Beyond it
//! is a loop over the digits of 2/π, in a branch that every element has for itself and hardly any one takes.
//!
//! 1. A sine and a cosine of the same number are one call, which takes off the multiples once.
//! 2. A thread asks once whether any of its elements is beyond [`NEAR`]. Where none is, it computes them all without a
//!    branch, by the same functions without that loop: the name with [`NEAR_SUFFIX`], which `libdevice` makes.
//! 3. Otherwise it goes through its elements in a loop, by the whole functions. They lie in local memory then.
//!
//! The results are those of `__nv_sinf` and `__nv_cosf`, bit for bit.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I, IntValue, PointerValue};
use inkwell::{FloatPredicate, IntPredicate};

use crate::codegen::llvm::loops;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::one_by_one;
use crate::ir::dialects::MathOp;

/// Functions that are computed together where they have the same operand.
pub(super) const FUNCTIONS: &[&[MathOp]] = &[&[MathOp::Sin, MathOp::Cos], &[MathOp::Tan]];

/// The arguments below it are reduced by multiply-adds, in every version of libdevice so far.
pub(super) const NEAR: f64 = 105_615.0;

/// What the names of functions end with that are only right for arguments below [`NEAR`], and that have the results of
/// the whole functions there.
pub(super) const NEAR_SUFFIX: &str = ".near";

/// `functions` of the same operand, some of one row of [`FUNCTIONS`]: each one's results for all registers.
pub(super) fn of_tile<'c>(cx: &mut Lower<'c, '_>, functions: &[MathOp], args: &[Val<'c>]) -> Res<Vec<Vec<Val<'c>>>> {
    let Some(first) = args.first() else { return Ok(vec![vec![]; functions.len()]) };
    let own = first.get_type();
    let bits = cx.bits_of(own);
    if bits == 64 {
        return one_by_one(cx, functions, args);
    }
    let single: BasicTypeEnum<'c> = cx.llvm.f32_type().into();
    let mut wide = args.to_vec();
    if bits < 32 {
        for x in &mut wide {
            *x = cx.b.build_cast(I::FPExt, *x, single, "")?;
        }
    }
    let mut results =
        if wide.len() == 1 { each(cx, functions, &wide, "")? } else { near_or_far(cx, functions, &wide)? };
    if bits < 32 {
        for x in results.iter_mut().flatten() {
            *x = cx.b.build_cast(I::FPTrunc, *x, own, "")?;
        }
    }
    Ok(results)
}

/// Steps 2 and 3.
fn near_or_far<'c>(cx: &mut Lower<'c, '_>, functions: &[MathOp], args: &[Val<'c>]) -> Res<Vec<Vec<Val<'c>>>> {
    let [near, far, after] = ["near", "far", "after"].map(|name| cx.llvm.append_basic_block(cx.function, name));
    let mut any = cx.llvm.bool_type().const_zero();
    for &x in args {
        let size = cx.intrinsic("llvm.fabs", &[x.get_type()], &[x])?.into_float_value();
        let limit = size.get_type().const_float(NEAR);
        let beyond = cx.b.build_float_compare(FloatPredicate::OGE, size, limit, "")?;
        any = cx.b.build_or(any, beyond, "")?;
    }
    cx.b.build_conditional_branch(any, far, near)?;

    cx.b.position_at_end(near);
    let of_near = each(cx, functions, args, NEAR_SUFFIX)?;
    let end_of_near = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    cx.b.build_unconditional_branch(after)?;

    cx.b.position_at_end(far);
    let of_far = in_a_loop(cx, functions, args)?;
    let end_of_far = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    cx.b.build_unconditional_branch(after)?;

    cx.b.position_at_end(after);
    let mut merge = |(near, far): (&Val<'c>, &Val<'c>)| -> Res<Val<'c>> {
        let phi = cx.b.build_phi(near.get_type(), "")?;
        phi.add_incoming(&[(near as &dyn BasicValue<'c>, end_of_near), (far, end_of_far)]);
        Ok(phi.as_basic_value())
    };
    of_near.iter().zip(&of_far).map(|(near, far)| near.iter().zip(far).map(&mut merge).collect()).collect()
}

/// Functions of one element after the other, by those of libdevice whose names end with `suffix`.
fn each<'c>(cx: &mut Lower<'c, '_>, functions: &[MathOp], args: &[Val<'c>], suffix: &str) -> Res<Vec<Vec<Val<'c>>>> {
    let single: BasicTypeEnum<'c> = cx.llvm.f32_type().into();
    let mut results = vec![vec![]; functions.len()];
    let slots = functions.iter().map(|_| cx.local_memory(single, 1)).collect::<Res<Vec<_>>>()?;
    for &x in args {
        call(cx, functions, x, &slots, suffix)?;
        for (results, &slot) in results.iter_mut().zip(&slots) {
            results.push(cx.b.build_load(single, slot, "")?);
        }
    }
    Ok(results)
}

/// The whole functions of all elements, in a loop.
fn in_a_loop<'c>(cx: &mut Lower<'c, '_>, functions: &[MathOp], args: &[Val<'c>]) -> Res<Vec<Vec<Val<'c>>>> {
    let single: BasicTypeEnum<'c> = cx.llvm.f32_type().into();
    let count = u32::try_from(args.len()).map_err(defect)?;
    let operands = cx.local_memory(single, count)?;
    let tables = functions.iter().map(|_| cx.local_memory(single, count)).collect::<Res<Vec<_>>>()?;
    for (i, &x) in (0u64..).zip(args) {
        let place = element(cx, operands, cx.i32(i))?;
        cx.b.build_store(place, x)?;
    }
    let before = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    let [turn, done] = ["far.turn", "far.done"].map(|name| cx.llvm.append_basic_block(cx.function, name));
    cx.b.build_unconditional_branch(turn)?;

    cx.b.position_at_end(turn);
    let index = cx.b.build_phi(cx.int_type(32), "")?;
    let i = index.as_basic_value().into_int_value();
    let place = element(cx, operands, i)?;
    let x = cx.b.build_load(single, place, "")?;
    let places = tables.iter().map(|&table| element(cx, table, i)).collect::<Res<Vec<_>>>()?;
    call(cx, functions, x, &places, "")?;
    let next = cx.b.build_int_add(i, cx.i32(1), "")?;
    let end = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    index.add_incoming(&[(&cx.i32(0) as &dyn BasicValue<'c>, before), (&next, end)]);
    let more = cx.b.build_int_compare(IntPredicate::ULT, next, cx.i32(u64::from(count)), "")?;
    let back = cx.b.build_conditional_branch(more, turn, done)?;
    loops::set(cx.llvm, back, loops::NOT_UNROLLED);

    cx.b.position_at_end(done);
    let mut results = vec![vec![]; functions.len()];
    for (results, &table) in results.iter_mut().zip(&tables) {
        for i in 0..u64::from(count) {
            let place = element(cx, table, cx.i32(i))?;
            results.push(cx.b.build_load(single, place, "")?);
        }
    }
    Ok(results)
}

/// Functions of one number, each into its slot.
fn call<'c>(
    cx: &mut Lower<'c, '_>,
    functions: &[MathOp],
    x: Val<'c>,
    slots: &[PointerValue<'c>],
    suffix: &str,
) -> Res<()> {
    let of = |kind: MathOp| functions.iter().position(|&function| function == kind).and_then(|i| slots.get(i)).copied();
    let (sine, cosine) = (of(MathOp::Sin), of(MathOp::Cos));
    let (name, slot) = match (sine, cosine) {
        (Some(sine), Some(cosine)) => {
            return cx.external_effect(&format!("__nv_sincosf{suffix}"), &[x, sine.into(), cosine.into()]);
        }
        (Some(sine), None) => ("__nv_sinf", sine),
        (None, Some(cosine)) => ("__nv_cosf", cosine),
        (None, None) => ("__nv_tanf", of(MathOp::Tan).ok_or_else(|| defect("no function of a tile"))?),
    };
    let result = cx.external(&format!("{name}{suffix}"), x.get_type(), &[x])?;
    cx.b.build_store(slot, result)?;
    Ok(())
}

/// The place of an element in local memory.
fn element<'c>(cx: &mut Lower<'c, '_>, table: PointerValue<'c>, index: IntValue<'c>) -> Res<PointerValue<'c>> {
    // SAFETY: the index is below the table's number of elements.
    Ok(unsafe { cx.b.build_gep(cx.llvm.f32_type(), table, &[index], "")? })
}
