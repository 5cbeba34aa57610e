//! `ttc-split-rows`, ttc's own: a chain of products on more rows than its warps multiply at once becomes several chains
//! of fewer rows each.
//!
//! Four warps multiply 64 rows with one `wgmma`. Of a tile of 128 rows they do both halves, and wait for both, before
//! the softmax of attention begins, and all of its scores are in registers then. In two halves, the second half's
//! product runs under the first half's softmax, and the scores of the one are gone when those of the other are made:
//!
//! ```text
//! s = dot(q, k)                 s0 = dot(q0, k); s1 = dot(q1, k)
//! p = exp2(s - m)          →    p0 = exp2(s0 - m0); o0 = dot(p0, v, o0)
//! o = dot(p, v, o)              p1 = exp2(s1 - m1); o1 = dot(p1, v, o1)
//! ```
//!
//! # Algorithm
//!
//! Of each kernel with a loop in which one product waits for another
//! ([`waited_for`](crate::analysis::chained_products::waited_for)), all on the same number of rows, [`MOST_PARTS`]
//! times 16 rows a warp at the most, with at most [`MOST_SUMS`] registers of sums and [`MOST_SHARED`] of what all parts
//! load for themselves:
//!
//! 1. Find all values that are split ([`plan`]). What a product's rows are made of is needed in parts, and what is made
//!    of a split value is split itself, along the axis that the product's rows are then. Where rows meet, as in a sum
//!    over them, the kernel stays as it is.
//! 2. Each of their operations is done once for each part ([`emit`]): the first part up to its product, then the second
//!    one up to it. No load moves over a store.

mod emit;
mod plan;

use crate::diag::codes::passes as codes;
use crate::ir::core::Ir;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-split-rows",
    doc: "split chains of products into parts of the rows that warps multiply at once",
    input: Input::Ttir,
    options: &[OptionSpec { name: WARPS, kind: OptionKind::Int, default: "4", doc: "warps of a block" }],
    run,
};

pub const WARPS: &str = "num-warps";

/// Rows that a warp has in one `wgmma`.
const ROWS_OF_WARP: i64 = 16;
const LANES: i64 = 32;
/// Registers of a thread for the sums that a loop carries, at the most. On an H200, attention with 64 of them ran at
/// 1.00 to 1.11 of its speed in parts, and with 128, in one block on a multiprocessor, at 1.03 and, causal, at 0.94.
const MOST_SUMS: i64 = 64;
/// Registers of a thread for numbers along the columns that an iteration loads and that no product reads, at the most:
/// they live until the last part has used them. On an H200, sparse attention with 32 of them ran at 1.07 of its speed
/// in parts, and with 96 at 0.72.
const MOST_SHARED: i64 = 32;
/// Lanes of a warp among which a `wgmma` deals the columns of a row.
const LANES_OF_ROW: i64 = 4;
/// Parts that a tile is split into, at the most.
const MOST_PARTS: i64 = 2;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let rows = ROWS_OF_WARP * cx.int(WARPS).max(1);
    let kernels: Vec<_> = ir.functions().into_iter().filter(|&f| !ir.is_private(f)).collect();
    let plans: Vec<plan::Plan> = kernels.into_iter().filter_map(|kernel| plan::of_kernel(ir, kernel, rows)).collect();
    for plan in &plans {
        let text =
            format!("products of {} rows in {} parts, one after the other", rows * plan.parts as i64, plan.parts);
        cx.remark(&codes::SPLIT_ROWS, ir.loc(plan.looped), text);
        emit::apply(ir, plan);
    }
    if !plans.is_empty() {
        let module = ir.module();
        canonicalize(ir, module);
        cse::eliminate(ir, module);
    }
    Ok(Changed::from(!plans.is_empty()))
}
