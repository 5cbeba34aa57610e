//! Functions of floats.
//!
//! Each function has one way for f32 and one for f64; narrower floats are computed in f32. What Triton takes is kept:
//! - `exp` of f32 is `ex2.approx(x · log2 e)`;
//! - one-instruction functions of libdevice (`exp2`, `sqrt`, `rsqrt`, `floor`, `ceil` of f32) are that instruction,
//!   flushing denormals as libdevice does under `nvvm-reflect-ftz`, without linking the library;
//! - the rest are libdevice's, linked only when used (PTX ISA, "Floating Point Instructions", says what the
//!   approximations are worth);
//! - division of f32 is `div.full` (2 ulp); the quotient of narrower floats is computed in f32.

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::FloatFunction;
use crate::ir::dialects::MathOp;

/// How a float function is computed.
#[derive(Clone, Copy)]
enum Way {
    /// An intrinsic of NVPTX of fixed type.
    Nvvm(&'static str),
    /// An intrinsic of LLVM, overloaded on the operand's type.
    Llvm(&'static str),
    /// An instruction of LLVM.
    Instruction(I),
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

/// The function of f32 that libdevice knows by this name.
pub(super) fn of_symbol(symbol: &str) -> Option<MathOp> {
    let is = |kind: MathOp| ways(kind).is_some_and(|(single, _)| matches!(single, Way::Device(name) if name == symbol));
    MathOp::ALL.iter().copied().find(|&kind| is(kind))
}

/// One element of a function.
pub(super) fn apply_function<'c>(cx: &mut Lower<'c, '_>, function: FloatFunction, args: &[Val<'c>]) -> Res<Val<'c>> {
    use Way::{Instruction, Nvvm};
    let (single, double) = match function {
        FloatFunction::Math(kind) => {
            ways(kind).ok_or_else(|| defect(format!("{} is no function of floats", kind.spec().name)))?
        }
        FloatFunction::PreciseSqrt => (Nvvm("llvm.nvvm.sqrt.rn.f"), Nvvm("llvm.nvvm.sqrt.rn.d")),
        FloatFunction::ApproximateDivide => (Nvvm("llvm.nvvm.div.approx.f"), Nvvm("llvm.nvvm.div.rn.d")),
        // Narrower floats are divided in f32, as Triton divides them.
        FloatFunction::PreciseDivide if cx.bits_of(operand(args, 0)?.get_type()) >= 32 => {
            (Nvvm("llvm.nvvm.div.rn.f"), Nvvm("llvm.nvvm.div.rn.d"))
        }
        FloatFunction::PreciseDivide | FloatFunction::Divide => (Nvvm("llvm.nvvm.div.full"), Instruction(I::FDiv)),
    };
    float(cx, single, double, args)
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
        Way::Instruction(opcode) => Ok(cx.b.build_binop(opcode, x, operand(args, 1)?, "")?),
        Way::Device(name) => cx.external(name, x.get_type(), args),
        Way::FastExp => {
            let log2e = Lower::float_like(x, std::f64::consts::LOG2_E)?;
            let scaled = cx.b.build_binop(I::FMul, x, log2e, "")?;
            cx.intrinsic("llvm.nvvm.ex2.approx", &[x.get_type()], &[scaled])
        }
    }
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
