//! `tritonamdgpu-pipeline`: loops with a schedule start the loads of later iterations while earlier ones compute.
//!
//! # Algorithm
//!
//! 1. A load for a product gets a buffer in shared memory. Its value is stored there in the stage of
//!    `tritonamdgpu-schedule-loops`, and read where the product is ([`lower_loads`]). With `use_async_copy`, the load
//!    becomes an asynchronous copy where its parts are wide enough.
//! 2. The rest of the loop joins the schedule: what a scheduled operation needs goes to its stage, and what is left to
//!    the last one.
//! 3. The loop becomes a prologue, a kernel and an epilogue ([`expand`]). Loads of the prologue are marked, so that
//!    `tritonamdgpu-move-up-prologue-loads` finds them.

pub(super) mod lower_loads;
mod padded;
mod shared;

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Attr, Ir, Op};
use crate::ir::dialects::discardable::{CLUSTER, MAX_STAGE, STAGE};
use crate::ir::dialects::{ScfOp, TtOp};
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::passes::amd::move_up_prologue_loads::PART;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::pipeline::{expand, waits};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-pipeline",
    doc: "start the loads of later iterations of a scheduled loop early",
    input: Input::Ttgir,
    options: &[
        OptionSpec {
            name: ASYNC_COPY,
            kind: OptionKind::Bool,
            default: "false",
            doc: "load straight to shared memory where the parts are wide enough",
        },
        OptionSpec {
            name: PINGPONG,
            kind: OptionKind::Bool,
            default: "false",
            doc: "schedules for tritonamdgpu-block-pingpong",
        },
    ],
    run,
};

pub const ASYNC_COPY: &str = "use_async_copy";
pub const PINGPONG: &str = "use_pingpong";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let (async_copy, pingpong) = (cx.flag(ASYNC_COPY), cx.flag(PINGPONG));
    let module = ir.module();
    let loops =
        |ir: &Ir| -> Vec<Op> { ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect() };
    let axis = AxisInfoAnalysis::of_module(ir);
    for looped in loops(ir) {
        lower_loads::lower(ir, &axis, looped, async_copy, pingpong);
    }
    for looped in loops(ir) {
        expand::expand_with_epilogue(ir, cx, looped, |ir, op| {
            if ir.is(op, TtOp::Load) {
                ir.set_attr(op, PART, Attr::str("prologue"));
            }
        });
    }
    // Constants are folded and nothing is rewritten, as Triton does it here: `resolveMaskOp` asks the dialect `arith`
    // for its patterns, and only operations have some. A rewritten difference would not cancel out any more.
    rewrite_greedily(ir, module, &[], Config::default());
    expand::resolve_masks(ir);
    if async_copy {
        // Waits of the prologue and the epilogue stood in masks until here.
        waits::update(ir);
    }
    for op in ir.all_ops(module) {
        for key in [STAGE, CLUSTER, MAX_STAGE] {
            ir.take(op, key);
        }
    }
    Ok(Changed::Yes)
}
