//! `canonicalize`: folds operations and rewrites them to the form that later passes expect.
//!
//! # Algorithm
//!
//! 1. Collect the canonicalization patterns of every dialect ([`arith`], [`cf`], [`scf`], [`tt`], [`ttg`], its views of
//!    memory and its warp specialisation).
//! 2. Apply them with folds until nothing changes ([`crate::ir::rewrite`]).

pub mod arith;
pub mod cf;
mod memory;
pub mod scf;
mod scf_for;
mod scf_while;
pub mod tt;
pub mod ttg;
mod warp_specialize;

use crate::ir::core::{Ir, Op};
use crate::ir::rewrite::{Config, Pattern, rewrite_greedily};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "canonicalize",
    doc: "fold operations and bring them to their canonical form",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    Ok(Changed::from(canonicalize(ir, module)))
}

/// All canonicalization patterns.
#[must_use]
pub fn patterns() -> Vec<&'static Pattern> {
    let of_ttg = [ttg::DIVISION, ttg::PATTERNS, memory::PATTERNS, warp_specialize::PATTERNS];
    [arith::PATTERNS, cf::PATTERNS, scf::PATTERNS, tt::PATTERNS].into_iter().chain(of_ttg).flatten().copied().collect()
}

/// Canonicalizes everything inside `scope`. Returns whether anything changed.
pub fn canonicalize(ir: &mut Ir, scope: Op) -> bool {
    rewrite_greedily(ir, scope, &patterns(), Config::CANONICALIZE)
}
