//! Matrix products. A result in a layout of the machine's matrix instructions is the machine's business; any other is
//! computed by a multiply-add per element and step of K ([`fma`]).
//!
//! [`fragment`] says which register holds which element.

mod fma;
pub(crate) mod fragment;

use crate::codegen::lower::{Lower, Res};
use crate::ir::Op;

/// `tt.dot`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if cx.machine.dot(cx, op)? { Ok(()) } else { fma::lower(cx, op) }
}

/// `tt.dot_scaled`
pub(crate) fn lower_scaled(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if cx.machine.dot_scaled(cx, op)? { Ok(()) } else { Err(cx.unsupported(op, "")) }
}
