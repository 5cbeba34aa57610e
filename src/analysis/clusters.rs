//! Which targets can run a kernel of several blocks a cluster (`num_ctas` above 1).
//!
//! The driver asks before the first pass, so that no pass meets what it cannot do; code generation asks again for TTGIR
//! that somebody else wrote.
//!
//! Example: `--num-ctas 2` for sm_80 is E0715 at the kernel's first line.

use crate::diag::codes::codegen as codes;
use crate::diag::{Diagnostic, Place};
use crate::ir::Ir;
use crate::target::Target;

/// Checks a module that is compiled for clusters of `num_ctas` blocks.
///
/// # Errors
/// `E0715`, when the target has no clusters.
pub fn check(ir: &Ir, num_ctas: u32, target: &Target) -> Result<(), Diagnostic> {
    if num_ctas <= 1 || target.has_clusters() {
        return Ok(());
    }
    let text = format!("the kernel asks for {num_ctas} blocks a cluster, but {target} has no clusters");
    let error = Diagnostic::error(&codes::CLUSTER, text).help("compile with `--num-ctas 1`, or for sm_90 or later");
    let loc = ir.functions().first().map_or(ir.loc(ir.module()), |&f| ir.loc(f));
    Err(match loc.file_line_col() {
        Some((file, line, col)) => error.at(Place::At { file: file.to_string(), line, col }, ""),
        None => error,
    })
}
