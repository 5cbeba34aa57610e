//! Rules of the `cf` dialect. What branches pass to their successors is checked for all branches in
//! `ir::verify::structure`.

use super::ensure;
use crate::ir::core::{Attr, Ir, Op};
use crate::ir::dialects::spec::VerifyResult;

/// As many weights as successors.
pub fn cond_br(ir: &Ir, op: Op) -> VerifyResult {
    let weights = ir.stored_attr(op, "branch_weights").and_then(Attr::as_dense_array);
    if let Some(weights) = weights {
        ensure!(weights.len() == ir.successors(op).len(), "branch_weights has {} entries, expected 2", weights.len());
        ensure!(weights.iter().all(|&w| w >= 0), "branch_weights has a negative entry");
    }
    Ok(())
}
