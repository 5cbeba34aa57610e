//! Rules of the `cf` dialect. What branches pass to their successors is checked for all branches in
//! `ir::verify::structure`.

use super::ensure;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::scf::cf::CondBr;
use crate::ir::dialects::spec::VerifyResult;

/// As many weights as successors.
pub fn cond_br(ir: &Ir, op: Op) -> VerifyResult {
    let weights = CondBr(op).branch_weights(ir);
    if let Some(weights) = weights {
        ensure!(weights.len() == ir.successors(op).len(), "branch_weights has {} entries, expected 2", weights.len());
        ensure!(weights.iter().all(|&w| w >= 0), "branch_weights has a negative entry");
    }
    Ok(())
}
