//! Functions of floats.
//!
//! Each function has one way for f32 and one for f64; narrower floats are computed in f32. What Triton takes on AMD is
//! kept:
//! - `exp` of f32 is `exp2(x · log2 e)` with denormals, `exp2` the bare instruction, which flushes them;
//! - `sqrt` and `rsqrt` of f32 are the bare instructions, to within 1 ulp;
//! - quotients are correctly rounded, also where two units in the last place would do;
//! - logarithms are LLVM's own sequences around `v_log_f32`;
//! - the rest are functions of ocml ([`super::ocml`]).

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use super::ocml;
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::FloatFunction;
use crate::ir::dialects::MathOp;

/// How a float function is computed.
#[derive(Clone, Copy)]
enum Way {
    /// An intrinsic, overloaded on the operand's type.
    Llvm(&'static str),
    /// The correctly rounded quotient.
    Divide,
    /// The product with an approximate reciprocal.
    Reciprocal,
    /// A function of ocml: `sin` for `__ocml_sin_f32` and `__ocml_sin_f64`.
    Ocml(&'static str),
    /// `exp2(x · log2 e)`
    FastExp,
}

/// The ways for f32 and f64. Integer functions are not here.
fn ways(kind: MathOp) -> Option<(Way, Way)> {
    use Way::{FastExp, Llvm, Ocml};
    let both = |way: Way| (way, way);
    Some(match kind {
        MathOp::Absf => both(Llvm("llvm.fabs")),
        MathOp::Ceil => both(Llvm("llvm.ceil")),
        MathOp::Floor => both(Llvm("llvm.floor")),
        MathOp::Trunc => both(Llvm("llvm.trunc")),
        MathOp::Roundeven => both(Llvm("llvm.roundeven")),
        MathOp::Round => both(Llvm("llvm.round")),
        MathOp::Exp => (FastExp, Ocml("exp")),
        MathOp::Exp2 => (Llvm("llvm.amdgcn.exp2"), Ocml("exp2")),
        MathOp::Expm1 => both(Ocml("expm1")),
        MathOp::Log => (Llvm("llvm.log"), Ocml("log")),
        MathOp::Log2 => (Llvm("llvm.log2"), Ocml("log2")),
        MathOp::Log10 => (Llvm("llvm.log10"), Ocml("log10")),
        MathOp::Log1p => both(Ocml("log1p")),
        MathOp::Sin => both(Ocml("sin")),
        MathOp::Cos => both(Ocml("cos")),
        MathOp::Tan => both(Ocml("tan")),
        MathOp::Tanh => both(Ocml("tanh")),
        MathOp::Erf => both(Ocml("erf")),
        MathOp::Sqrt => (Llvm("llvm.amdgcn.sqrt"), Llvm("llvm.sqrt")),
        MathOp::Rsqrt => (Llvm("llvm.amdgcn.rsq"), Ocml("rsqrt")),
        MathOp::Atan2 => both(Ocml("atan2")),
        MathOp::Powf => both(Ocml("pow")),
        MathOp::Copysign => both(Llvm("llvm.copysign")),
        MathOp::Fma => both(Llvm("llvm.fma")),
        MathOp::Absi | MathOp::Ctlz | MathOp::Ctpop | MathOp::Cttz => return None,
    })
}

/// One element of a function.
pub(super) fn apply_function<'c>(cx: &mut Lower<'c, '_>, function: FloatFunction, args: &[Val<'c>]) -> Res<Val<'c>> {
    let (single, double) = match function {
        FloatFunction::Math(kind) => {
            ways(kind).ok_or_else(|| defect(format!("{} is no function of floats", kind.spec().name)))?
        }
        FloatFunction::PreciseSqrt => (Way::Llvm("llvm.sqrt"), Way::Llvm("llvm.sqrt")),
        FloatFunction::ApproximateDivide => (Way::Reciprocal, Way::Divide),
        FloatFunction::PreciseDivide | FloatFunction::Divide => (Way::Divide, Way::Divide),
    };
    let ty = operand(args, 0)?.get_type();
    let BasicTypeEnum::FloatType(_) = ty else { return Err(defect("a float function of something else")) };
    // What only touches bits, or is exact in any format, needs no wider one.
    let any_width = matches!(single, Way::Llvm("llvm.fabs" | "llvm.copysign"));
    match cx.bits_of(ty) {
        64 => apply(cx, double, args),
        32 => apply(cx, single, args),
        _ if any_width || ty == cx.llvm.f16_type().into() && matches!(single, Way::Llvm("llvm.fma")) => {
            apply(cx, single, args)
        }
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
        Way::Llvm(name) => cx.intrinsic(name, &[x.get_type()], args),
        Way::Divide => Ok(cx.b.build_binop(I::FDiv, x, operand(args, 1)?, "")?),
        Way::Reciprocal => {
            let y = operand(args, 1)?;
            let reciprocal = cx.intrinsic("llvm.amdgcn.rcp", &[y.get_type()], &[y])?;
            Ok(cx.b.build_binop(I::FMul, x, reciprocal, "")?)
        }
        Way::Ocml(name) => {
            let symbol = format!("__ocml_{name}_f{}", cx.bits_of(x.get_type()));
            ocml::call(cx, &symbol, x.get_type(), args)
        }
        Way::FastExp => {
            let log2e = Lower::float_like(x, std::f64::consts::LOG2_E)?;
            let scaled = cx.b.build_binop(I::FMul, x, log2e, "")?;
            cx.intrinsic("llvm.exp2", &[x.get_type()], &[scaled])
        }
    }
}

/// The high half of the product of two unsigned integers of 64 bits, from one of 128.
pub(super) fn high_product<'c>(cx: &mut Lower<'c, '_>, args: &[Val<'c>]) -> Res<Val<'c>> {
    let wide = cx.int_type(128);
    let (a, b) = (as_int(operand(args, 0)?)?, as_int(operand(args, 1)?)?);
    let (a, b) = (cx.b.build_int_z_extend(a, wide, "")?, cx.b.build_int_z_extend(b, wide, "")?);
    let high = cx.b.build_right_shift(cx.b.build_int_mul(a, b, "")?, wide.const_int(64, false), false, "")?;
    Ok(cx.b.build_int_truncate(high, cx.int_type(64), "")?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::intrinsics::Intrinsic;

    #[test]
    fn every_intrinsic_of_the_table_exists_in_this_llvm() {
        for (single, double) in MathOp::ALL.iter().filter_map(|&k| ways(k)) {
            for way in [single, double] {
                if let Way::Llvm(name) = way {
                    assert!(Intrinsic::find(name).is_some(), "{name}");
                }
            }
        }
        for name in ["llvm.amdgcn.rcp", "llvm.exp2", "llvm.amdgcn.ds.bpermute", "llvm.amdgcn.perm"] {
            assert!(Intrinsic::find(name).is_some(), "{name}");
        }
    }
}
