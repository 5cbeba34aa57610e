//! `tt.fp_to_fp`: conversions between float formats.

use inkwell::values::InstructionOpcode as I;

use crate::codegen::lower::{Lower, Res, Val};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::FloatKind as F;
use crate::ir::dialects::enums::FpRounding;

/// Converts all registers of a value.
///
/// # Errors
/// `E0704` where there is no such conversion.
pub(super) fn lower<'c>(
    cx: &mut Lower<'c, '_>,
    values: &[Val<'c>],
    (from, to): (F, F),
    rounding: FpRounding,
) -> Res<Vec<Val<'c>>> {
    let known = |k: F| matches!(k, F::F16 | F::BF16 | F::F32 | F::F64);
    if !known(from) || !known(to) || rounding == FpRounding::Rtz && to.mantissa_bits() < from.mantissa_bits() {
        let text = format!("`{}` to `{}`: there is no conversion of this format", from.name(), to.name());
        return Err(Diagnostic::error(&codes::UNSUPPORTED_CONVERSION, text));
    }
    if from == to {
        return Ok(values.to_vec());
    }
    let ty = cx.elem_type(crate::ir::Type::float(to))?;
    let single = cx.llvm.f32_type();
    let one = |cx: &mut Lower<'c, '_>, x: Val<'c>| -> Res<Val<'c>> {
        if from.bits() == 16 && to.bits() == 16 {
            let wide = cx.b.build_cast(I::FPExt, x, single, "")?;
            return Ok(cx.b.build_cast(I::FPTrunc, wide, ty, "")?);
        }
        let opcode = if to.bits() > from.bits() { I::FPExt } else { I::FPTrunc };
        Ok(cx.b.build_cast(opcode, x, ty, "")?)
    };
    values.iter().map(|&x| one(cx, x)).collect()
}
