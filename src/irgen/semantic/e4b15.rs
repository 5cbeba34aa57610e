//! Conversions of `tl.float8e4b15`, an 8-bit float with the exponent bias of fp16 that the IR knows only as its bits.
//!
//! With one bias, seven bits of magnitude `m` are the fp16 `m << 7`, denormals included, and there are no infinities or
//! NaNs. All is done four elements at a time in inline PTX, between two registers of fp16 pairs and one of bytes; fp32
//! goes through fp16, cut off on the way down.
//!
//! - Up: spread the bytes to the upper halves (`prmt`), shift the magnitude right by one, put the sign back. 0xbc →
//!   0xbc00 → 0x1e00 | 0x8000.
//! - Down: the magnitude at most 1.75 (0x3f00, which a NaN becomes too), half of the last place added, the upper byte
//!   of twice that.

use super::convert::Rounding;
use crate::diag::codes::types;
use crate::ir::dialects::tt::tt::ElementwiseInlineAsm as InlineAsm;
use crate::irgen::emit::{Emitter, R, Tensor};
use crate::irgen::semantic::convert;
use crate::irgen::types::Dtype;

const UP: &str = "{
    .reg .b32 low, high, mlow, mhigh;
    prmt.b32 low, 0, $2, 0x5140;
    prmt.b32 high, 0, $2, 0x7362;
    shr.u32 mlow, low, 1;
    shr.u32 mhigh, high, 1;
    and.b32 mlow, mlow, 0x3f803f80;
    and.b32 mhigh, mhigh, 0x3f803f80;
    lop3.b32 $0, low, 0x80008000, mlow, 0xea;
    lop3.b32 $1, high, 0x80008000, mhigh, 0xea;
}";

const DOWN: &str = "{
    .reg .b32 low, high, most;
    mov.b32 most, 0x3f003f00;
    and.b32 low, $1, 0x7fff7fff;
    and.b32 high, $2, 0x7fff7fff;
    min.f16x2 low, low, most;
    min.f16x2 high, high, most;
    add.u32 low, low, 0x00400040;
    add.u32 high, high, 0x00400040;
    shl.b32 low, low, 1;
    shl.b32 high, high, 1;
    lop3.b32 low, $1, 0x80008000, low, 0xea;
    lop3.b32 high, $2, 0x80008000, high, 0xea;
    prmt.b32 $0, low, high, 0x7531;
}";

/// Conversion from or to `tl.float8e4b15`; the other side is fp16 or fp32.
pub(super) fn cast(cx: &mut Emitter, t: Tensor, to: Dtype) -> R<Tensor> {
    let other = if to == Dtype::Fp8e4b15 { t.ty.dtype } else { to };
    if !matches!(other, Dtype::Fp16 | Dtype::Fp32) {
        let text = format!("tl.float8e4b15 converts to and from fp16 and fp32, not {other}");
        return Err(cx.error_help(&types::CAST, text, "converted here", "convert to fp16 or fp32 in between"));
    }
    if to != Dtype::Fp8e4b15 {
        let half = asm(cx, t, Dtype::Fp16, UP, "=r,=r,r")?;
        return convert::cast(cx, half, to, None);
    }
    let half = if other == Dtype::Fp32 { convert::cast(cx, t, Dtype::Fp16, Some(Rounding::Rtz))? } else { t };
    asm(cx, half, to, DOWN, "=r,r,r")
}

fn asm(cx: &mut Emitter, t: Tensor, to: Dtype, asm: &str, constraints: &str) -> R<Tensor> {
    let ty = t.ty.with(to);
    let state = InlineAsm::state(cx.loc(), &[t.value])
        .with(InlineAsm::ATTR.asm_string, asm)
        .with(InlineAsm::ATTR.constraints, constraints)
        .with(InlineAsm::ATTR.pure, true)
        .with(InlineAsm::ATTR.packed_element, 4);
    cx.tensor_of(state, ty)
}
