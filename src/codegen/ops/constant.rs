//! Constants among the operands.

use crate::codegen::lower::Lower;
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::{Attr, Value};

/// Whether a value is the constant whose bits are 0 in every element.
pub(crate) fn is_zero(cx: &Lower<'_, '_>, value: Value) -> bool {
    constant_bits(cx, value) == Some(0)
}

/// The bits of a constant, scalar or splat.
pub(crate) fn constant_bits(cx: &Lower<'_, '_>, value: Value) -> Option<u64> {
    Constant::defining(cx.ir, value)?.value(cx.ir).and_then(Attr::splat_value)
}
