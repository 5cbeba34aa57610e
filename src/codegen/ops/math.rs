//! `math`, and the float operations of `tt`.
//!
//! Each function has one way for f32 and one for f64; narrower floats are computed in f32. What Triton takes is kept:
//! - `exp` of f32 is `ex2.approx(x · log2 e)`;
//! - one-instruction functions of libdevice (`exp2`, `sqrt`, `rsqrt`, `floor`, `ceil` of f32) are that instruction,
//!   flushing denormals as libdevice does under `nvvm-reflect-ftz`, without linking the library;
//! - the rest are libdevice's, linked only when used (PTX ISA, "Floating Point Instructions", says what the
//!   approximations are worth).

use inkwell::types::{BasicTypeEnum, IntType};
use inkwell::values::{InstructionOpcode as I, IntValue};

use super::arith::{divide, operand};
use super::elementwise;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::Op;
use crate::ir::dialects::enums::PropagateNan;
use crate::ir::dialects::tt::tt as view;
use crate::ir::dialects::{MathOp, TtOp};

/// How a float function is computed.
#[derive(Clone, Copy)]
enum Way {
    /// An intrinsic of NVPTX of fixed type.
    Nvvm(&'static str),
    /// An intrinsic of LLVM, overloaded on the operand's type.
    Llvm(&'static str),
    /// A function of libdevice.
    Device(&'static str),
    /// `ex2.approx(x · log2 e)`
    FastExp,
}

/// The ways for f32 and f64. Integer functions are not here.
fn ways(kind: MathOp) -> Option<(Way, Way)> {
    use Way::{Device, FastExp, Llvm, Nvvm};
    Some(match kind {
        MathOp::Absf => (Llvm("llvm.fabs"), Llvm("llvm.fabs")),
        MathOp::Ceil => (Nvvm("llvm.nvvm.ceil.ftz.f"), Nvvm("llvm.nvvm.ceil.d")),
        MathOp::Floor => (Nvvm("llvm.nvvm.floor.ftz.f"), Nvvm("llvm.nvvm.floor.d")),
        MathOp::Trunc => (Nvvm("llvm.nvvm.trunc.ftz.f"), Nvvm("llvm.nvvm.trunc.d")),
        MathOp::Roundeven => (Device("__nv_rintf"), Device("__nv_rint")),
        MathOp::Round => (Device("__nv_roundf"), Device("__nv_round")),
        MathOp::Exp => (FastExp, Device("__nv_exp")),
        MathOp::Exp2 => (Nvvm("llvm.nvvm.ex2.approx.ftz"), Device("__nv_exp2")),
        MathOp::Expm1 => (Device("__nv_expm1f"), Device("__nv_expm1")),
        MathOp::Log => (Device("__nv_logf"), Device("__nv_log")),
        MathOp::Log2 => (Device("__nv_log2f"), Device("__nv_log2")),
        MathOp::Log10 => (Device("__nv_log10f"), Device("__nv_log10")),
        MathOp::Log1p => (Device("__nv_log1pf"), Device("__nv_log1p")),
        MathOp::Sin => (Device("__nv_sinf"), Device("__nv_sin")),
        MathOp::Cos => (Device("__nv_cosf"), Device("__nv_cos")),
        MathOp::Tan => (Device("__nv_tanf"), Device("__nv_tan")),
        MathOp::Tanh => (Device("__nv_tanhf"), Device("__nv_tanh")),
        MathOp::Erf => (Device("__nv_erff"), Device("__nv_erf")),
        MathOp::Sqrt => (Nvvm("llvm.nvvm.sqrt.approx.ftz.f"), Nvvm("llvm.nvvm.sqrt.rn.d")),
        MathOp::Rsqrt => (Nvvm("llvm.nvvm.rsqrt.approx.ftz.f"), Device("__nv_rsqrt")),
        MathOp::Atan2 => (Device("__nv_atan2f"), Device("__nv_atan2")),
        MathOp::Powf => (Device("__nv_powf"), Device("__nv_pow")),
        MathOp::Copysign => (Llvm("llvm.copysign"), Llvm("llvm.copysign")),
        MathOp::Fma => (Llvm("llvm.fma"), Llvm("llvm.fma")),
        MathOp::Absi | MathOp::Ctlz | MathOp::Ctpop | MathOp::Cttz => return None,
    })
}

/// Lowers an operation of the `math` dialect.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op, kind: MathOp) -> Res<()> {
    let ty = cx.ir.ty(cx.ir.result(op)).elem();
    if ty.as_float().is_some_and(crate::ir::FloatKind::is_fp8) {
        return if kind == MathOp::Absf {
            elementwise(cx, op, clear_sign)
        } else {
            Err(cx.unsupported(op, "8-bit floats have no arithmetic"))
        };
    }
    match ways(kind) {
        Some((single, double)) => elementwise(cx, op, |cx, args| float(cx, single, double, args)),
        None => integer(cx, op, kind),
    }
}

/// |x| of a float that is an integer in LLVM.
fn clear_sign<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
    let x = as_int(operand(args, 0)?)?;
    Ok(cx.b.build_and(x, x.get_type().const_int(0x7f, false), "")?.into())
}

fn integer(cx: &mut Lower<'_, '_>, op: Op, kind: MathOp) -> Res<()> {
    // The last operand says whether the smallest integer, or zero, gives poison.
    let (name, flag) = match kind {
        MathOp::Absi => ("llvm.abs", true),
        MathOp::Ctlz => ("llvm.ctlz", true),
        MathOp::Cttz => ("llvm.cttz", true),
        MathOp::Ctpop => ("llvm.ctpop", false),
        _ => return Err(defect(format!("{} is no integer function", kind.spec().name))),
    };
    elementwise(cx, op, |cx, args| {
        let x = operand(args, 0)?;
        let defined: Val<'_> = cx.llvm.bool_type().const_zero().into();
        let args = if flag { vec![x, defined] } else { vec![x] };
        cx.intrinsic(name, &[x.get_type()], &args)
    })
}

/// One element of a float function.
fn float<'c>(cx: &mut Lower<'c, '_>, single: Way, double: Way, args: &[Val<'c>]) -> Res<Val<'c>> {
    let ty = operand(args, 0)?.get_type();
    let BasicTypeEnum::FloatType(_) = ty else { return Err(defect("a float function of something else")) };
    match (cx.bits_of(ty), single) {
        (64, _) => apply(cx, double, args),
        (32, _) | (16, Way::Llvm(_)) => apply(cx, single, args),
        _ => {
            let wide = args
                .iter()
                .map(|&a| Ok(cx.b.build_cast(I::FPExt, a, cx.llvm.f32_type(), "")?))
                .collect::<Res<Vec<_>>>()?;
            let result = apply(cx, single, &wide)?;
            Ok(cx.b.build_cast(I::FPTrunc, result, ty, "")?)
        }
    }
}

fn apply<'c>(cx: &mut Lower<'c, '_>, way: Way, args: &[Val<'c>]) -> Res<Val<'c>> {
    let x = operand(args, 0)?;
    match way {
        // The names of `ex2` leave the type open.
        Way::Nvvm(name) if name.contains("ex2") => cx.intrinsic(name, &[x.get_type()], args),
        Way::Nvvm(name) => cx.intrinsic(name, &[], args),
        Way::Llvm(name) => cx.intrinsic(name, &[x.get_type()], args),
        Way::Device(name) => cx.external(name, x.get_type(), args),
        Way::FastExp => {
            let log2e = Lower::float_like(x, std::f64::consts::LOG2_E)?;
            let scaled = cx.b.build_binop(I::FMul, x, log2e, "")?;
            cx.intrinsic("llvm.nvvm.ex2.approx", &[x.get_type()], &[scaled])
        }
    }
}

/// `tt.clampf`: NaN in x gives NaN with `propagateNan = all`, else the lower bound.
pub(super) fn clamp(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let all = view::Clampf(op).propagateNan(cx.ir) == Some(PropagateNan::All);
    let (max, min) = if all { ("llvm.maximum", "llvm.minimum") } else { ("llvm.maxnum", "llvm.minnum") };
    elementwise(cx, op, |cx, args| {
        let ty = operand(args, 0)?.get_type();
        let above = cx.intrinsic(max, &[ty], &[operand(args, 0)?, operand(args, 1)?])?;
        cx.intrinsic(min, &[ty], &[above, operand(args, 2)?])
    })
}

/// `tt.precise_sqrt`: correctly rounded.
pub(super) fn precise_sqrt(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    elementwise(cx, op, |cx, args| float(cx, Way::Nvvm("llvm.nvvm.sqrt.rn.f"), Way::Nvvm("llvm.nvvm.sqrt.rn.d"), args))
}

/// `tt.precise_divf`: correctly rounded.
pub(super) fn precise_div(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    elementwise(cx, op, |cx, args| match cx.bits_of(operand(args, 0)?.get_type()) {
        32 | 64 => float(cx, Way::Nvvm("llvm.nvvm.div.rn.f"), Way::Nvvm("llvm.nvvm.div.rn.d"), args),
        _ => divide(cx, args),
    })
}

/// `tt.approx_divf`: the product with an approximate reciprocal, `div.approx`.
pub(super) fn approximate_div(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    elementwise(cx, op, |cx, args| {
        float(cx, Way::Nvvm("llvm.nvvm.div.approx.f"), Way::Nvvm("llvm.nvvm.div.rn.d"), args)
    })
}

/// `tt.mulhiui`: the high half of the product. Of 32-bit integers it is taken from a product of 64 bits, one
/// instruction (`mul.wide.u32`) that gives the low half too; see [`low_half`].
pub(super) fn mulhi(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    elementwise(cx, op, |cx, args| {
        let bits = as_int(operand(args, 0)?)?.get_type().get_bit_width();
        if bits == 64 {
            return cx.intrinsic("llvm.nvvm.mulhi.ull", &[], args);
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
pub(super) fn low_half(cx: &mut Lower<'_, '_>, op: Op) -> Option<Res<()>> {
    let (a, b) = (cx.ir.operand(op, 0), cx.ir.operand(op, 1));
    let same = |other: Op| {
        let operands = cx.ir.operands(other);
        cx.ir.is(other, TtOp::Mulhiui)
            && (operands == [a, b] || operands == [b, a])
            && cx.ir.parent_block(other) == cx.ir.parent_block(op)
    };
    let paired = cx.ir.ty(a).elem().is_int_of(32)
        && (cx.ir.users(a).into_iter().any(same) || cx.ir.users(b).into_iter().any(same));
    paired.then(|| {
        elementwise(cx, op, |cx, args| {
            let (product, narrow) = wide_product(cx, args)?;
            Ok(cx.b.build_int_truncate(product, narrow, "")?.into())
        })
    })
}

/// `tt.extern_elementwise`: a function of libdevice. Without operands it is called once per register, like any other.
pub(super) fn external(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let symbol = cx.ir.str_attr(op, "symbol").unwrap_or_default();
    if !symbol.starts_with("__nv_") {
        let library = cx.ir.str_attr(op, "libname").unwrap_or_default();
        let text =
            format!("`{symbol}` of library `{library}` cannot be linked; only functions of libdevice (`__nv_…`) can");
        return Err(Diagnostic::error(&codes::BAD_LIBRARY, text));
    }
    let to = cx.elem_type(cx.ir.ty(cx.ir.result(op)))?;
    elementwise(cx, op, |cx, args| cx.external(symbol, to, args))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::intrinsics::Intrinsic;

    #[test]
    fn every_intrinsic_of_the_table_exists_in_this_llvm() {
        for (single, double) in MathOp::ALL.iter().filter_map(|&k| ways(k)) {
            for way in [single, double] {
                if let Way::Nvvm(name) | Way::Llvm(name) = way {
                    assert!(Intrinsic::find(name).is_some(), "{name}");
                }
            }
        }
        for name in [
            "llvm.nvvm.ex2.approx",
            "llvm.nvvm.div.full",
            "llvm.nvvm.div.rn.f",
            "llvm.nvvm.mulhi.ull",
            "llvm.nvvm.f2bf16.rz",
        ] {
            assert!(Intrinsic::find(name).is_some(), "{name}");
        }
    }
}
