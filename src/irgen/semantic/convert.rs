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

use crate::diag::codes::types;
use crate::ir::dialects::enums::Enumeration;
use crate::ir::{ArithOp, Attr, OpKind, TtOp};
use crate::irgen::lower::{Lower, R, supports_dtype};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Const, Tensor, Val};

/// How a narrowing float conversion rounds.
pub use crate::ir::dialects::enums::FpRounding as Rounding;

/// The type a Python number takes by itself.
#[must_use]
pub fn const_dtype(c: &Const) -> Option<Dtype> {
    match c {
        Const::Bool(_) => Some(Dtype::Int1),
        Const::Int(i) => [Dtype::Int32, Dtype::Uint32, Dtype::Int64, Dtype::Uint64].into_iter().find(|d| {
            let (lo, hi) = d.int_range();
            (lo..=hi).contains(i)
        }),
        Const::Float(f) => {
            let a = f.abs();
            let single =
                a == 0.0 || !a.is_finite() || (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&a);
            Some(if single { Dtype::Fp32 } else { Dtype::Fp64 })
        }
        _ => None,
    }
}

impl Lower<'_> {
    /// The value as a tensor; a Python number becomes a scalar constant.
    pub fn to_tensor(&mut self, v: &Val) -> R<Tensor> {
        match v {
            Val::Tensor(t) => Ok(*t),
            Val::Const(c) => match const_dtype(c) {
                Some(dtype) => self.scalar_constant(c, dtype),
                None => Err(self.too_large(v).unwrap_or_else(|| self.expected("a tensor or a number", v))),
            },
            _ => Err(self.expected("a tensor or a number", v)),
        }
    }

    /// A scalar constant of this type.
    pub fn scalar_constant(&mut self, c: &Const, dtype: Dtype) -> R<Tensor> {
        let ty = Ty::scalar(dtype);
        self.check_dtype(dtype)?;
        if dtype.is_float() {
            let Some(x) = c.as_float() else {
                return Err(self.expected("a number", &c.clone().into()));
            };
            if dtype.is_fp8() {
                let wide = self.scalar_constant(&Const::Float(x), Dtype::Fp32)?;
                if dtype == Dtype::Fp8e4b15 {
                    return self.cast(wide, dtype, None);
                }
                return self.tensor(ArithOp::Truncf, &[wide.value], ty);
            }
            // A value of the text is rounded once, to the type it is used in.
            let Some(attr) = Attr::float_splat(ty.to_ir(), x) else {
                return Err(self.expected("a float type", &Val::dtype(dtype)));
            };
            return self.constant(attr, ty);
        }
        if !dtype.is_int() {
            let help = "pointers come from parameters: pass the address to the kernel";
            return Err(self.error_help(
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
                return Err(self.error_help(
                    &types::CAST,
                    format!("the float {} cannot be a constant of the integer type {dtype}", Const::Float(*f)),
                    "a float",
                    "write an integer, or compute in a float type and convert with `.to(...)`",
                ));
            }
            other => match other.as_int() {
                Some(i) => i,
                None => return Err(self.expected("a number", &c.clone().into())),
            },
        };
        let value = if dtype.is_bool() { i128::from(value != 0) } else { value };
        let bits = dtype.bits();
        if value >= (1i128 << bits) || value < -(1i128 << (bits - 1).max(1)) {
            let (lo, hi) = dtype.int_range();
            return Err(self.error_help(
                &types::INT_RANGE,
                format!("the integer {value} does not fit into {dtype}"),
                format!("{dtype} holds {lo} to {hi}"),
                "use a wider type, such as tl.int64",
            ));
        }
        self.constant(Attr::int(value as i64, ty.to_ir()), ty)
    }

    /// Reports a type that the target cannot hold.
    pub fn check_dtype(&mut self, dtype: Dtype) -> R<()> {
        let target = self.options.target;
        if supports_dtype(&target, dtype) {
            return Ok(());
        }
        let later = matches!(dtype, Dtype::Fp8e4nv);
        let what = if later { "NVIDIA GPUs have it from sm_89 on" } else { "NVIDIA GPUs do not have it" };
        let fp8 = [Dtype::Fp8e5, Dtype::Fp8e4b15, Dtype::Fp8e4nv].into_iter().filter(|&d| supports_dtype(&target, d));
        let has = fp8.map(|d| format!("{d} (tl.{})", d.attr_name())).collect::<Vec<_>>().join(", ");
        let otherwise = if later { "; for fp8e4nv compile with `--arch sm_89` or later" } else { "" };
        Err(self.error_help(
            &types::UNSUPPORTED_DTYPE,
            format!("the type {dtype} is not supported on {target}"),
            what,
            format!("of 8-bit floats {target} has {has}{otherwise}"),
        ))
    }

    /// The same bits as another type.
    pub fn bitcast(&mut self, t: Tensor, dtype: Dtype) -> R<Tensor> {
        let from = t.ty.dtype;
        if from == dtype {
            return Ok(t);
        }
        if from.is_ptr() || dtype.is_ptr() {
            return self.cast(t, dtype, None);
        }
        self.check_dtype(dtype)?;
        if from.bits() != dtype.bits() {
            return Err(self.error_help(
                &types::CAST,
                format!(
                    "a bitcast needs types of one size: {from} has {} bits, {dtype} has {}",
                    from.bits(),
                    dtype.bits()
                ),
                "bitcast here",
                "leave `bitcast=True` out to convert the value",
            ));
        }
        let ty = t.ty.with(dtype);
        self.tensor(TtOp::Bitcast, &[t.value], ty)
    }

    /// Integer to integer of the IR, extending by the source's signedness.
    pub fn int_cast(&mut self, t: Tensor, to: Dtype, signed: bool) -> R<Tensor> {
        let (from_bits, to_bits) = (t.ty.dtype.bits(), to.bits());
        let kind = match from_bits.cmp(&to_bits) {
            // Same width: only the language's signedness changes, which the IR does not have.
            std::cmp::Ordering::Equal => return Ok(Tensor { value: t.value, ty: t.ty.with(to) }),
            std::cmp::Ordering::Greater => ArithOp::Trunci,
            std::cmp::Ordering::Less if signed => ArithOp::Extsi,
            std::cmp::Ordering::Less => ArithOp::Extui,
        };
        self.tensor(kind, &[t.value], t.ty.with(to))
    }

    /// `t ≠ 0`.
    fn is_nonzero(&mut self, t: Tensor) -> R<Tensor> {
        let zero = self.scalar_constant(&Const::Int(0), t.ty.dtype)?;
        self.compare(super::arith::Cmp::Ne, &t.into(), &zero.into())
    }

    /// Conversion by value to another element type.
    pub fn cast(&mut self, t: Tensor, to: Dtype, rounding: Option<Rounding>) -> R<Tensor> {
        let from = t.ty.dtype;
        if from == to {
            return Ok(t);
        }
        self.check_dtype(to)?;
        let narrowing = from.is_float() && to.is_float() && to.bits() < from.bits();
        if rounding.is_some() && !narrowing {
            return Err(self.error_help(
                &types::CAST,
                format!("fp_downcast_rounding is only for conversions to a narrower float, not from {from} to {to}"),
                "converted here",
                "leave it out",
            ));
        }
        let ty = t.ty.with(to);
        if from.is_float() && to.is_float() {
            return self.cast_float(t, to, rounding);
        }
        // 16-bit floats convert to integers through fp32.
        if matches!(from, Dtype::Fp16 | Dtype::Bf16) {
            let single = self.cast(t, Dtype::Fp32, None)?;
            return self.cast(single, to, None);
        }
        if from.is_int() && to.is_int() {
            if to.is_bool() {
                return self.is_nonzero(t);
            }
            return self.int_cast(t, to, from.is_signed());
        }
        if from.is_standard_float() && to.is_int() {
            return match () {
                () if to.is_bool() => self.is_nonzero(t),
                () if to.is_signed() => self.tensor(ArithOp::Fptosi, &[t.value], ty),
                () => self.tensor(ArithOp::Fptoui, &[t.value], ty),
            };
        }
        if from.is_int() && to.is_standard_float() {
            let kind = if from.is_signed() { ArithOp::Sitofp } else { ArithOp::Uitofp };
            return self.tensor(kind, &[t.value], ty);
        }
        match (from.is_ptr(), to.is_ptr()) {
            (true, true) => self.tensor(TtOp::Bitcast, &[t.value], ty),
            (true, false) if to.is_int() && to.bits() == 64 => self.tensor(TtOp::PtrToInt, &[t.value], ty),
            (true, false) if to.is_bool() => {
                let address = self.cast(t, Dtype::Int64, None)?;
                self.is_nonzero(address)
            }
            (false, true) if from.is_int() => {
                let wide = if from.bits() == 64 { t } else { self.int_cast(t, Dtype::Int64, from.is_signed())? };
                self.tensor(TtOp::IntToPtr, &[wide.value], ty)
            }
            _ => {
                let help = if from.is_ptr() || to.is_ptr() {
                    "an address is an integer of 64 bits: go through `tl.int64`"
                } else {
                    "go through a type that both convert to, such as tl.float32"
                };
                Err(self.error_help(
                    &types::CAST,
                    format!("a value of type {from} cannot be converted to {to}"),
                    "converted here",
                    help,
                ))
            }
        }
    }

    fn cast_float(&mut self, t: Tensor, to: Dtype, rounding: Option<Rounding>) -> R<Tensor> {
        let from = t.ty.dtype;
        let ty = t.ty.with(to);
        let narrowing = to.bits() < from.bits();
        let mode = |r: Rounding| ("rounding", r.attr());
        let fp_to_fp = |cx: &mut Self, r: Option<Rounding>| -> R<Tensor> {
            let attrs: Vec<(&str, Attr)> = r.map(mode).into_iter().collect();
            let value = cx.value_with(OpKind::from(TtOp::FpToFp), &[t.value], ty.to_ir(), &attrs)?;
            Ok(Tensor { value, ty })
        };
        let pair = [from, to];
        if pair == [Dtype::Bf16, Dtype::Fp16] || pair == [Dtype::Fp16, Dtype::Bf16] {
            return fp_to_fp(self, Some(Rounding::Rtne));
        }
        if pair.contains(&Dtype::Fp8e4b15) {
            return self.cast_e4b15(t, to);
        }
        if from.is_fp8() || to.is_fp8() || (narrowing && rounding == Some(Rounding::Rtz)) {
            let r = if narrowing { rounding.or(Some(Rounding::Rtne)) } else { None };
            return fp_to_fp(self, r);
        }
        // 16-bit floats convert to and from fp64 through fp32.
        if from.bits() == 16 && to != Dtype::Fp32 {
            let single = self.cast(t, Dtype::Fp32, None)?;
            return self.cast(single, to, None);
        }
        self.tensor(if narrowing { ArithOp::Truncf } else { ArithOp::Extf }, &[t.value], ty)
    }
}
