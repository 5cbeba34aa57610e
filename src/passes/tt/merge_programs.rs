//! `ttc-merge-programs`, ttc's own: one block does the work of two programs that read the same tiles.
//!
//! The programs of a product read the tiles of A and B again and again: with tiles of 64x128, each element of A is
//! fetched once for every 128 columns and each of B once for every 64 rows, and the L2 cache cannot give more. Two
//! programs that are neighbours mostly have one of the two tiles in common. In one block they fetch it once.
//!
//! Programs of a launch may run in any order and at any time, so one block may run two, an operation of the one and the
//! same operation of the other in turns. The launch stays as it is: blocks with an odd number return at once, and the
//! others do their own work and that of the next one.
//!
//! # Algorithm
//!
//! For each kernel whose one loop multiplies what it loads, and does nothing else ([`plan`]):
//!
//! 1. Find the loads that mostly are the same for two neighbours: they depend on the number of the program only by
//!    scalars that change slowly, such as `pid // n` ([`varies`]). They must be half of the loop's bytes or more, and
//!    the sums of two programs must fit into a thread's registers. Where two blocks of one program have room for their
//!    slots on a multiprocessor, two blocks of two programs must have it too: alone, a block has nobody who multiplies
//!    while it waits.
//! 2. In front of the kernel, compute these scalars and the loop's bounds for both programs. If they are equal, the
//!    next program exists, and there are programs enough to keep the GPU busy with half of the blocks, the block does
//!    both, else the kernel is what it was ([`emit`]).
//! 3. The work of two programs is each operation twice, once for each of them. An operation whose operands are the same
//!    for both is done once. Of what the loop carries, each program has its own, if it is not the same for both.
//!
//! ```text
//! n = pid // rows; m = pid % rows                    p, q = pid & -2, pid | 1
//! for k in …:                                 →      if q < programs and q // rows == p // rows and …:
//!     a = load(A + m …)                                  if pid == p:
//!     b = load(B + n …)                                      for k in …:
//!     acc = dot(a, b, acc)                                       a, a', b = load(A …), load(A …), load(B …)
//! store(C …, acc)                                                acc, acc' = dot(a, b, acc), dot(a', b, acc')
//!                                                            store(C …, acc); store(C …, acc')
//!                                                    else:
//!                                                        (as before)
//! ```

mod emit;
mod plan;
mod varies;

use crate::diag::codes::passes as codes;
use crate::ir::core::Ir;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-merge-programs",
    doc: "one block does two programs that read the same tiles",
    input: Input::Ttir,
    options: &[
        OptionSpec { name: WARPS, kind: OptionKind::Int, default: "4", doc: "warps of a block" },
        OptionSpec {
            name: LEAST_PROGRAMS,
            kind: OptionKind::Int,
            default: "2",
            doc: "programs that a launch must have, 1290 at most",
        },
        OptionSpec {
            name: STAGES,
            kind: OptionKind::Int,
            default: "3",
            doc: "stages of loops that do not say how many",
        },
        OptionSpec {
            name: LEAST_STAGES,
            kind: OptionKind::Int,
            default: "3",
            doc: "stages that such a loop gets at least where more do not fit",
        },
        OptionSpec {
            name: SHARED,
            kind: OptionKind::Int,
            default: "232448",
            doc: "bytes of shared memory that a block may have",
        },
    ],
    run,
};

pub const WARPS: &str = "num-warps";
pub const LEAST_PROGRAMS: &str = "least-programs";
pub const STAGES: &str = "num-stages";
pub const LEAST_STAGES: &str = "least-stages";
pub const SHARED: &str = "shared";

/// Where the numbers of programs along the three axes are cut, so that their product fits into 31 bits.
const MOST_PROGRAMS: i64 = 1290;

/// Programs that share a block.
const SHARE: usize = 2;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let least = cx.int(LEAST_PROGRAMS).min(MOST_PROGRAMS);
    let limits = plan::Limits {
        warps: cx.int(WARPS).max(1),
        stages: cx.int(STAGES),
        least: cx.int(LEAST_STAGES),
        shared: cx.int(SHARED),
    };
    let kernels: Vec<_> = ir.functions().into_iter().filter(|&f| !ir.is_private(f)).collect();
    let plans: Vec<plan::Plan> =
        kernels.into_iter().filter_map(|kernel| plan::of_kernel(ir, kernel, &limits)).collect();
    for plan in &plans {
        let text = format!("a block does two programs where they load the same: {} of {} bytes", plan.same, plan.bytes);
        cx.remark(&codes::MERGED_PROGRAMS, ir.loc(plan.looped), text);
        emit::apply(ir, plan, least);
    }
    if !plans.is_empty() {
        let module = ir.module();
        canonicalize(ir, module);
        cse::eliminate(ir, module);
    }
    Ok(Changed::from(!plans.is_empty()))
}
