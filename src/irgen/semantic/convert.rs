//! Constants and conversions.
//!
//! A Python number becomes `int1` (a bool), the first of `int32`, `uint32`, `int64`, `uint64` that holds it, or `fp32`
//! (`fp64` outside its range). A cast picks its operation by the two element types:
//!
//! | from → to | operation |
//! |---|---|
//! | fp16 ↔ bf16, fp8 ↔ float, narrowing with `rtz` | `tt.fp_to_fp` |
//! | wider ↔ narrower float | `arith.truncf`, `arith.extf` |
//! | int → int | `trunci`, `extsi`, `extui`, `bitcast` |
//! | anything → int1 | `≠ 0` |
//! | float ↔ int | `fptosi`, `fptoui`, `sitofp`, `uitofp` |
//! | pointer ↔ int64, pointer ↔ pointer | `tt.ptr_to_int`, `tt.int_to_ptr`, `tt.bitcast` |

use super::cmp::{self, Cmp};
use super::{e4b15, faults, shape};
use crate::diag::codes::types;
use crate::ir::dialects::tt::tt::FpToFp;
use crate::ir::{ArithOp, Attr, TtOp};
use crate::irgen::emit::{Emitter, R, Tensor, supports_dtype};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Const, Object};

/// How a narrowing float conversion rounds.
pub use crate::ir::dialects::enums::FpRounding as Rounding;

/// The value as a tensor; a Python number becomes a scalar constant.
pub fn to_tensor(cx: &mut Emitter, v: &Object) -> R<Tensor> {
    match v {
        Object::Tensor(t) => Ok(*t),
        Object::Const(c) => match c.dtype() {
            Some(dtype) => scalar_constant(cx, c, dtype),
            None => Err(faults::too_large(cx, v).unwrap_or_else(|| faults::expected(cx, "a tensor or a number", v))),
        },
        _ => Err(faults::expected(cx, "a tensor or a number", v)),
    }
}

/// A scalar constant of this type.
pub fn scalar_constant(cx: &mut Emitter, c: &Const, dtype: Dtype) -> R<Tensor> {
    let ty = Ty::scalar(dtype);
    check_dtype(cx, dtype)?;
    if dtype.is_float() {
        let Some(x) = c.as_float() else {
            return Err(faults::expected(cx, "a number", &c.clone().into()));
        };
        if dtype.is_fp8() {
            let wide = scalar_constant(cx, &Const::Float(x), Dtype::Fp32)?;
            if dtype == Dtype::Fp8e4b15 {
                return cast(cx, wide, dtype, None);
            }
            return cx.tensor(ArithOp::Truncf, &[wide.value], ty);
        }
        // A value of the text is rounded once, to the type it is used in.
        let Some(attr) = Attr::float_splat(ty.to_ir(), x) else {
            return Err(faults::expected(cx, "a float type", &Object::dtype(dtype)));
        };
        return cx.constant(attr, ty);
    }
    if !dtype.is_int() {
        let help = "pointers come from parameters: pass the address to the kernel";
        return Err(cx.error_help(
            &types::CAST,
            format!("a number cannot be a {dtype}"),
            "no constant of this type exists",
            help,
        ));
    }
    let value = match c {
        Const::Float(f) if *f == 0.0 => 0,
        Const::Float(f) if dtype.is_bool() => i128::from(*f != 0.0),
        Const::Float(f) => {
            return Err(cx.error_help(
                &types::CAST,
                format!("the float {} cannot be a constant of the integer type {dtype}", Const::Float(*f)),
                "a float",
                "write an integer, or compute in a float type and convert with `.to(...)`",
            ));
        }
        other => match other.as_int() {
            Some(i) => i,
            None => return Err(faults::expected(cx, "a number", &c.clone().into())),
        },
    };
    let value = if dtype.is_bool() { i128::from(value != 0) } else { value };
    let bits = dtype.bits();
    if value >= (1i128 << bits) || value < -(1i128 << (bits - 1).max(1)) {
        let (lo, hi) = dtype.int_range();
        return Err(cx.error_help(
            &types::INT_RANGE,
            format!("the integer {value} does not fit into {dtype}"),
            format!("{dtype} holds {lo} to {hi}"),
            "use a wider type, such as tl.int64",
        ));
    }
    cx.constant(Attr::int(value as i64, ty.to_ir()), ty)
}

/// Reports a type that the target cannot hold.
pub fn check_dtype(cx: &mut Emitter, dtype: Dtype) -> R<()> {
    let target = cx.target();
    if supports_dtype(&target, dtype) {
        return Ok(());
    }
    let later = matches!(dtype, Dtype::Fp8e4nv);
    let what = if later { "NVIDIA GPUs have it from sm_89 on" } else { "this GPU does not have it" };
    let all = [Dtype::Fp8e5, Dtype::Fp8e4b15, Dtype::Fp8e4nv, Dtype::Fp8e4b8, Dtype::Fp8e5b16];
    let fp8 = all.into_iter().filter(|&d| supports_dtype(&target, d));
    let has = fp8.map(|d| format!("{d} (tl.{})", d.attr_name())).collect::<Vec<_>>().join(", ");
    let otherwise = if later { "; for fp8e4nv compile with `--arch sm_89` or later" } else { "" };
    Err(cx.error_help(
        &types::UNSUPPORTED_DTYPE,
        format!("the type {dtype} is not supported on {target}"),
        what,
        format!("of 8-bit floats {target} has {has}{otherwise}"),
    ))
}

/// The same bits as another type.
pub fn bitcast(cx: &mut Emitter, t: Tensor, dtype: Dtype) -> R<Tensor> {
    let from = t.ty.dtype;
    if from == dtype {
        return Ok(t);
    }
    if from.is_ptr() || dtype.is_ptr() {
        return cast(cx, t, dtype, None);
    }
    check_dtype(cx, dtype)?;
    if from.bits() != dtype.bits() {
        return Err(cx.error_help(
            &types::CAST,
            format!("a bitcast needs types of one size: {from} has {} bits, {dtype} has {}", from.bits(), dtype.bits()),
            "bitcast here",
            "leave `bitcast=True` out to convert the value",
        ));
    }
    let ty = t.ty.with(dtype);
    cx.tensor(TtOp::Bitcast, &[t.value], ty)
}

/// Integer to integer of the IR, extending by the source's signedness.
pub fn int_cast(cx: &mut Emitter, t: Tensor, to: Dtype, signed: bool) -> R<Tensor> {
    let (from_bits, to_bits) = (t.ty.dtype.bits(), to.bits());
    let kind = match from_bits.cmp(&to_bits) {
        // Same width: only the language's signedness changes, which the IR does not have.
        std::cmp::Ordering::Equal => return Ok(Tensor { value: t.value, ty: t.ty.with(to) }),
        std::cmp::Ordering::Greater => ArithOp::Trunci,
        std::cmp::Ordering::Less if signed => ArithOp::Extsi,
        std::cmp::Ordering::Less => ArithOp::Extui,
    };
    cx.tensor(kind, &[t.value], t.ty.with(to))
}

/// `t ≠ 0`.
fn is_nonzero(cx: &mut Emitter, t: Tensor) -> R<Tensor> {
    let zero = scalar_constant(cx, &Const::Int(0), t.ty.dtype)?;
    let (t, zero) = shape::broadcast(cx, t, zero)?;
    cmp::same_types(cx, Cmp::Ne, t, zero)
}

/// Conversion by value to another element type.
pub fn cast(cx: &mut Emitter, t: Tensor, to: Dtype, rounding: Option<Rounding>) -> R<Tensor> {
    let from = t.ty.dtype;
    if from == to {
        return Ok(t);
    }
    check_dtype(cx, to)?;
    let narrowing = from.is_float() && to.is_float() && to.bits() < from.bits();
    if rounding.is_some() && !narrowing {
        return Err(cx.error_help(
            &types::CAST,
            format!("fp_downcast_rounding is only for conversions to a narrower float, not from {from} to {to}"),
            "converted here",
            "leave it out",
        ));
    }
    let ty = t.ty.with(to);
    if from.is_float() && to.is_float() {
        return cast_float(cx, t, to, rounding);
    }
    // 16-bit floats convert to integers through fp32.
    if matches!(from, Dtype::Fp16 | Dtype::Bf16) {
        let single = cast(cx, t, Dtype::Fp32, None)?;
        return cast(cx, single, to, None);
    }
    if from.is_int() && to.is_int() {
        if to.is_bool() {
            return is_nonzero(cx, t);
        }
        return int_cast(cx, t, to, from.is_signed());
    }
    if from.is_standard_float() && to.is_int() {
        return match () {
            () if to.is_bool() => is_nonzero(cx, t),
            () if to.is_signed() => cx.tensor(ArithOp::Fptosi, &[t.value], ty),
            () => cx.tensor(ArithOp::Fptoui, &[t.value], ty),
        };
    }
    if from.is_int() && to.is_standard_float() {
        let kind = if from.is_signed() { ArithOp::Sitofp } else { ArithOp::Uitofp };
        return cx.tensor(kind, &[t.value], ty);
    }
    match (from.is_ptr(), to.is_ptr()) {
        (true, true) if from.is_const_ptr() != to.is_const_ptr() => Err(cx.error_help(
            &types::CAST,
            format!("a value of type {from} cannot be converted to {to}"),
            "one of them points to constant data",
            "keep that: `tl.pointer_type(element, const=True)` is the type of a pointer to constant data",
        )),
        (true, true) => cx.tensor(TtOp::Bitcast, &[t.value], ty),
        (true, false) if to.is_int() && to.bits() == 64 => cx.tensor(TtOp::PtrToInt, &[t.value], ty),
        (true, false) if to.is_bool() => {
            let address = cast(cx, t, Dtype::Int64, None)?;
            is_nonzero(cx, address)
        }
        (false, true) if from.is_int() && from.bits() == 64 => cx.tensor(TtOp::IntToPtr, &[t.value], ty),
        _ => {
            let help = match to.pointee() {
                None if from.is_ptr() && to.is_int() => {
                    "load what it points to first, with `tl.load`; the address itself is an integer of 64 bits: `.to(tl.int64)`"
                        .to_owned()
                }
                None if from.is_ptr() => format!(
                    "load what it points to first, with `tl.load`; to point to {to} instead, convert with `.to(tl.pointer_type(tl.{}))`",
                    to.attr_name()
                ),
                Some(_) => "this type is a pointer's; the type of what it points to is its `.element_ty`, as in `x.to(x_ptr.dtype.element_ty)`".to_owned(),
                None => "go through a type that both convert to, such as tl.float32".to_owned(),
            };
            Err(cx.error_help(
                &types::CAST,
                format!("a value of type {from} cannot be converted to {to}"),
                "converted here",
                help,
            ))
        }
    }
}

fn cast_float(cx: &mut Emitter, t: Tensor, to: Dtype, rounding: Option<Rounding>) -> R<Tensor> {
    let from = t.ty.dtype;
    let ty = t.ty.with(to);
    let narrowing = to.bits() < from.bits();
    let fp_to_fp = |cx: &mut Emitter, mode: Option<Rounding>| -> R<Tensor> {
        let state = FpToFp::state(cx.loc(), t.value).with_some(FpToFp::ATTR.rounding, mode);
        cx.tensor_of(state, ty)
    };
    let pair = [from, to];
    if pair == [Dtype::Bf16, Dtype::Fp16] || pair == [Dtype::Fp16, Dtype::Bf16] {
        return fp_to_fp(cx, Some(Rounding::Rtne));
    }
    if pair.contains(&Dtype::Fp8e4b15) {
        return e4b15::cast(cx, t, to);
    }
    if from.is_fp8() || to.is_fp8() || (narrowing && rounding == Some(Rounding::Rtz)) {
        let r = if narrowing { rounding.or(Some(Rounding::Rtne)) } else { None };
        return fp_to_fp(cx, r);
    }
    // 16-bit floats convert to and from fp64 through fp32.
    if from.bits() == 16 && to != Dtype::Fp32 {
        let single = cast(cx, t, Dtype::Fp32, None)?;
        return cast(cx, single, to, None);
    }
    cx.tensor(if narrowing { ArithOp::Truncf } else { ArithOp::Extf }, &[t.value], ty)
}
