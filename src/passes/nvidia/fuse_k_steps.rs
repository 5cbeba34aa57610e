//! `ttc-fuse-k-steps`, ttc's own: a loop over K whose steps fetch less than a line of memory at a time fetches two or
//! four of them at once.
//!
//! A tile of 64x32 halves has rows of 64 bytes, half of what a line of the L2 cache holds. Each row is asked for twice,
//! in iterations that are far apart, and each iteration has its barrier and its waits. Twice the step means half of
//! that, for the same sum in the same order: a product of depth 64 adds up its columns as two of depth 32 do, one after
//! the other.
//!
//! # Algorithm
//!
//! For each `scf.for` whose body is one product that adds to what the loop carries, what its operands need, and nothing
//! else:
//!
//! 1. Find all values between the operands and the loop's variable that have an axis along K ([`plan`]). Both loads
//!    must leave zeros where their masks are false, and zeros must reach the product as zeros. Both must be wide enough
//!    for asynchronous copies, unless they may become copies by hardware whose rows the launch checks.
//! 2. Choose how many steps make a line of 128 bytes, and the stages of the new loop, at least three. Two blocks that
//!    fit on a multiprocessor before must fit afterwards.
//! 3. Repeat these values with an axis that is so many times longer ([`emit`]). Column `c` of it is column
//!    `c mod BLOCK_K` of step `c div BLOCK_K`: where the body uses the loop's variable, each column uses that of its
//!    own step, and where it uses a pointer that advances, as many steps are added. So every address and every mask is
//!    what it was, whatever the source computes them from.
//! 4. The last steps of the new loop may lie behind the end of the old one. Their columns are masked out, unless a mask
//!    ends where the loop does ([`remaining`]).
//!
//! ```text
//! for k in range(0, n):                               for j in range(0, cdiv(n, 2)):
//!     a = load(a_ptrs, rk < low(k))               →       t = 2 * j + c div 32
//!     a_ptrs += 32                                        a = load(a_ptrs, (c mod 32 < low(t)) & (t < n))
//!     acc = dot(a, b, acc)                                a_ptrs += 64
//! ```

mod emit;
mod plan;
mod remaining;

use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::{ScfOp, TtOp};
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-fuse-k-steps",
    doc: "fetch several steps of K at once where one is less than a line of memory",
    input: Input::Ttir,
    options: &[
        OptionSpec {
            name: "num-stages",
            kind: OptionKind::Int,
            default: "3",
            doc: "stages of loops that do not say how many",
        },
        OptionSpec { name: "num-warps", kind: OptionKind::Int, default: "4", doc: "warps of a block" },
        OptionSpec {
            name: SHARED,
            kind: OptionKind::Int,
            default: "232448",
            doc: "bytes of shared memory that a block may have",
        },
        OptionSpec {
            name: LAUNCH,
            kind: OptionKind::Bool,
            default: "false",
            doc: "rows that start anywhere may become descriptors, since the launch checks where they start",
        },
    ],
    run,
};

/// Bytes of shared memory that a block may have.
pub const SHARED: &str = "shared";
/// Whether the launch may check where rows start.
pub const LAUNCH: &str = "launch";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let limits = plan::Limits {
        stages: cx.int("num-stages"),
        warps: cx.int("num-warps").max(1),
        shared: cx.int(SHARED),
        launch: cx.flag(LAUNCH),
    };
    let loops: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    let plans: Vec<plan::Plan> = loops
        .into_iter()
        .filter(|&op| ir.body(op, 0).is_some_and(|body| ir.ops(body).any(|op| ir.is(op, TtOp::Dot))))
        .filter_map(|op| plan::of_loop(ir, op, &limits))
        .collect();
    for plan in &plans {
        let text = format!(
            "an iteration fetches {} steps of K at once, in {} stages: a row is {} bytes then",
            plan.factor, plan.stages, plan.row
        );
        cx.remark(&codes::FUSED_STEPS, ir.loc(plan.looped), text);
        emit::apply(ir, plan);
    }
    if !plans.is_empty() {
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(!plans.is_empty()))
}
