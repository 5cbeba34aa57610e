//! The functions of ocml and ockl, AMD's libraries of device mathematics, in code of ttc's own.
//!
//! Triton links AMD's bitcode. Nothing of it is needed here: a function is made where it is called, by its name, of
//! what the hardware has and of LLVM's intrinsics ([`arith`]). Those that ttc does not have are an error that names
//! them.
//!
//! What a name means: `__ocml_sin_f32` is `sin` of f32. `__triton_hip_…` are the names that Triton's own AMD back end
//! gives to what it makes of instructions.

mod arith;
mod circle;
mod double;
mod parts;
mod single;

use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode as I;

use self::arith::{Arith, Emit};
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::diag::{Diagnostic, codes::codegen as codes};

/// A function in the arithmetic of [`Arith`]; of two arguments the second is absent where it takes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Own {
    Exp,
    Expm1,
    Log1p,
    Sin,
    Cos,
    Tan,
    Tanh,
    Erf,
    Atan,
    Atan2,
    Asin,
    Acos,
    Sinh,
    Cosh,
    Pow,
    Exp64,
    Exp2of64,
    Log64,
    Log2of64,
    Log10of64,
    Rsqrt64,
}

/// How a function is made.
#[derive(Clone, Copy)]
enum Form {
    Own(Own),
    /// An intrinsic of LLVM, overloaded on the first operand.
    Llvm(&'static str),
    /// The remainder of a division, with the sign of the dividend.
    Remainder,
    /// Whether the number is of a class: the bits of `llvm.is.fpclass`.
    Class(u32),
    /// Whether the sign is set.
    Sign,
    /// The nearest integer.
    ToInt,
    /// Zeros before the first one; all bits of zero.
    LeadingZeros,
    Ones,
    /// `x · 2^n`
    Ldexp,
    FastDivide,
    FastExp,
    /// `pow` with an integer.
    PowInt,
    /// An absolute value of an integer.
    AbsInt,
}

/// Bits of `llvm.is.fpclass` ("LLVM Language Reference Manual").
const NAN: u32 = 3;
const INFINITE: u32 = 0x204;
const FINITE: u32 = 0x1f8;

/// The function of a name, and whether it is of f64.
fn form(symbol: &str) -> Option<Form> {
    if let Some(name) = symbol.strip_prefix("__triton_hip_") {
        return Some(match name {
            "iabs" => Form::AbsInt,
            "fabs" => Form::Llvm("llvm.fabs"),
            "rint" => Form::Llvm("llvm.rint"),
            "llrint" => Form::ToInt,
            "fast_fdividef" => Form::FastDivide,
            "fast_expf" => Form::FastExp,
            "fast_tanhf" => Form::Own(Own::Tanh),
            _ => return None,
        });
    }
    if let Some(name) = symbol.strip_prefix("__ockl_") {
        return Some(match name {
            "clz_u32" | "clz_u64" => Form::LeadingZeros,
            "popcount_u32" | "popcount_u64" => Form::Ones,
            _ => return None,
        });
    }
    let (name, double) = match symbol.strip_prefix("__ocml_")?.rsplit_once('_')? {
        (name, "f32") => (name, false),
        (name, "f64") => (name, true),
        _ => return None,
    };
    of_both(name).or_else(|| if double { of_double(name) } else { of_single(name) })
}

/// What is the same for f32 and f64.
fn of_both(name: &str) -> Option<Form> {
    Some(match name {
        "floor" => Form::Llvm("llvm.floor"),
        "ceil" => Form::Llvm("llvm.ceil"),
        "trunc" => Form::Llvm("llvm.trunc"),
        "round" => Form::Llvm("llvm.round"),
        "rint" | "nearbyint" => Form::Llvm("llvm.rint"),
        "fabs" => Form::Llvm("llvm.fabs"),
        "copysign" => Form::Llvm("llvm.copysign"),
        "fma" => Form::Llvm("llvm.fma"),
        "sqrt" => Form::Llvm("llvm.sqrt"),
        "fmax" => Form::Llvm("llvm.maxnum"),
        "fmin" => Form::Llvm("llvm.minnum"),
        "fmod" => Form::Remainder,
        "ldexp" => Form::Ldexp,
        "isnan" => Form::Class(NAN),
        "isinf" => Form::Class(INFINITE),
        "isfinite" => Form::Class(FINITE),
        "signbit" => Form::Sign,
        _ => return None,
    })
}

fn of_single(name: &str) -> Option<Form> {
    Some(match name {
        "exp" => Form::Own(Own::Exp),
        "exp2" => Form::Llvm("llvm.exp2"),
        "expm1" => Form::Own(Own::Expm1),
        "log" => Form::Llvm("llvm.log"),
        "log2" => Form::Llvm("llvm.log2"),
        "log10" => Form::Llvm("llvm.log10"),
        "log1p" => Form::Own(Own::Log1p),
        "sin" => Form::Own(Own::Sin),
        "cos" => Form::Own(Own::Cos),
        "tan" => Form::Own(Own::Tan),
        "tanh" => Form::Own(Own::Tanh),
        "sinh" => Form::Own(Own::Sinh),
        "cosh" => Form::Own(Own::Cosh),
        "erf" => Form::Own(Own::Erf),
        "atan" => Form::Own(Own::Atan),
        "atan2" => Form::Own(Own::Atan2),
        "asin" => Form::Own(Own::Asin),
        "acos" => Form::Own(Own::Acos),
        "pow" => Form::Own(Own::Pow),
        "pown" => Form::PowInt,
        "rsqrt" => Form::Llvm("llvm.amdgcn.rsq"),
        _ => return None,
    })
}

fn of_double(name: &str) -> Option<Form> {
    Some(Form::Own(match name {
        "exp" => Own::Exp64,
        "exp2" => Own::Exp2of64,
        "log" => Own::Log64,
        "log2" => Own::Log2of64,
        "log10" => Own::Log10of64,
        "rsqrt" => Own::Rsqrt64,
        _ => return None,
    }))
}

/// One element of a function by its name in the libraries, with a result of this type.
///
/// # Errors
/// `E0712` for a function that ttc does not have.
pub(super) fn call<'c>(
    cx: &mut Lower<'c, '_>,
    symbol: &str,
    result: BasicTypeEnum<'c>,
    args: &[Val<'c>],
) -> Res<Val<'c>> {
    let form = form(symbol).ok_or_else(|| lacking(cx, symbol))?;
    let x = operand(args, 0)?;
    let ty = x.get_type();
    match form {
        Form::Own(own) => {
            let mut emit = Emit::new(cx);
            let value = apply(&mut emit, own, x, args.get(1).copied().unwrap_or(x));
            emit.finish(value)
        }
        Form::Llvm(name) => cx.intrinsic(name, &[ty], args),
        Form::Remainder => Ok(cx.b.build_binop(I::FRem, x, operand(args, 1)?, "")?),
        Form::Class(bits) => {
            let is = as_int(cx.intrinsic("llvm.is.fpclass", &[ty], &[x, cx.i32(u64::from(bits)).into()])?)?;
            Ok(cx.b.build_cast(I::ZExt, is, result, "")?)
        }
        Form::Sign => {
            let bits = cx.bits_of(ty);
            let word = cx.int_type(bits);
            let int = as_int(cx.b.build_cast(I::BitCast, x, word, "")?)?;
            let sign = cx.b.build_right_shift(int, word.const_int(u64::from(bits - 1), false), false, "")?;
            Ok(cx.b.build_int_z_extend_or_bit_cast(truncated(cx, sign)?, result.into_int_type(), "")?.into())
        }
        Form::ToInt => {
            let near = cx.intrinsic("llvm.rint", &[ty], args)?;
            Ok(cx.b.build_cast(I::FPToSI, near, result, "")?)
        }
        Form::LeadingZeros | Form::Ones => counted(cx, form, x, result),
        Form::Ldexp => {
            let n = operand(args, 1)?;
            cx.intrinsic("llvm.ldexp", &[ty, n.get_type()], args)
        }
        Form::FastDivide => {
            let reciprocal = cx.intrinsic("llvm.amdgcn.rcp", &[ty], &[operand(args, 1)?])?;
            Ok(cx.b.build_binop(I::FMul, x, reciprocal, "")?)
        }
        Form::FastExp => {
            let log2e = Lower::float_like(x, std::f64::consts::LOG2_E)?;
            let scaled = cx.b.build_binop(I::FMul, x, log2e, "")?;
            cx.intrinsic("llvm.amdgcn.exp2", &[ty], &[scaled])
        }
        Form::PowInt => {
            let y = cx.b.build_cast(I::SIToFP, operand(args, 1)?, ty, "")?;
            let mut emit = Emit::new(cx);
            let value = single::pow(&mut emit, x, y);
            emit.finish(value)
        }
        Form::AbsInt => cx.intrinsic("llvm.abs", &[ty], &[x, cx.llvm.bool_type().const_zero().into()]),
    }
}

/// The lowest bit as a truth value.
fn truncated<'c>(cx: &Lower<'c, '_>, x: inkwell::values::IntValue<'c>) -> Res<inkwell::values::IntValue<'c>> {
    Ok(cx.b.build_int_truncate(x, cx.llvm.bool_type(), "")?)
}

/// A count of bits.
fn counted<'c>(cx: &mut Lower<'c, '_>, form: Form, x: Val<'c>, result: BasicTypeEnum<'c>) -> Res<Val<'c>> {
    let ty = x.get_type();
    let defined: Val<'c> = cx.llvm.bool_type().const_zero().into();
    let count = match form {
        Form::LeadingZeros => cx.intrinsic("llvm.ctlz", &[ty], &[x, defined])?,
        _ => cx.intrinsic("llvm.ctpop", &[ty], &[x])?,
    };
    Ok(cx.b.build_int_cast(as_int(count)?, result.into_int_type(), "")?.into())
}

fn lacking(cx: &Lower<'_, '_>, symbol: &str) -> Diagnostic {
    let text = format!("ttc has no `{symbol}` for {}", cx.options.target);
    Diagnostic::error(&codes::BAD_LIBRARY, text).help("write the function with others")
}

/// A function of one number or two.
fn apply<A: Arith>(a: &mut A, own: Own, x: A::V, y: A::V) -> A::V {
    match own {
        Own::Exp => single::exp(a, x),
        Own::Expm1 => single::expm1(a, x),
        Own::Log1p => single::log1p(a, x),
        Own::Sin => circle::sin(a, x),
        Own::Cos => circle::cos(a, x),
        Own::Tan => circle::tan(a, x),
        Own::Tanh => single::tanh(a, x),
        Own::Erf => single::erf(a, x),
        Own::Atan => single::atan(a, x),
        Own::Atan2 => single::atan2(a, x, y),
        Own::Asin => single::asin(a, x),
        Own::Acos => single::acos(a, x),
        Own::Sinh => single::sinh(a, x),
        Own::Cosh => single::cosh(a, x),
        Own::Pow => single::pow(a, x, y),
        Own::Exp64 => double::exp_double(a, x),
        Own::Exp2of64 => double::exp2_double(a, x),
        Own::Log64 => double::log_double(a, x),
        Own::Log2of64 => double::log2_double(a, x),
        Own::Log10of64 => double::log10_double(a, x),
        Own::Rsqrt64 => double::rsqrt_double(a, x),
    }
}

#[cfg(test)]
mod tests;
