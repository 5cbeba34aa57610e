//! Rules of the `ttg` and `ttng` dialects.

use super::{ensure, operand_ty, result_ty};
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::spec::VerifyResult;

/// The elements stay what they are; both sides have a layout.
pub fn convert_layout(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(from.elem() == to.elem(), "it converts elements of type {} to {}, expected one type", from.elem(), to.elem());
    for (name, ty) in [("operand", from), ("result", to)] {
        ensure!(ty.encoding().is_some(), "the {name} has type {ty}, which has no layout");
    }
    Ok(())
}
