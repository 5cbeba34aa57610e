//! The verifier with the rules that need the mathematics of layouts.

use super::{are_layouts_equivalent_up_to_copies, check, rules};
use crate::diag::Diagnostic;
use crate::ir::Ir;
use crate::ir::verify::{LayoutRules, verify_with_layouts};

/// Verifies a module, layouts included. It checks the IR's own rules, and those that need the mathematics of layouts.
#[must_use]
pub fn verify(ir: &Ir) -> Vec<Diagnostic> {
    const RULES: LayoutRules = LayoutRules {
        fits: |ty| check(ty).map_err(|e| e.reason),
        same: |shape, a, b| are_layouts_equivalent_up_to_copies(shape, a, b).unwrap_or(false),
        of_op: rules::verify_op,
    };
    verify_with_layouts(ir, RULES)
}
