//! `tt.dot` whose result has a layout of AMD's matrix instructions.

use crate::codegen::lower::{Lower, Res};
use crate::ir::{Encoding, Op};

/// Lowers a product by matrix instructions; `false`, and no code, where its layout is none of theirs.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
    match cx.ir.ty(cx.ir.result(op)).layout() {
        Some(Encoding::AmdMfma(_)) => Err(cx.unsupported(op, "products by `mfma` have no code generation yet")),
        Some(Encoding::AmdWmma(_)) => Err(cx.unsupported(op, "products by `wmma` have no code generation yet")),
        _ => Ok(false),
    }
}
