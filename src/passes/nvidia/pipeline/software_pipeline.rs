//! `tritongpu-pipeline`: loops with a schedule start the work of later iterations while earlier ones compute.
//!
//! # Algorithm
//!
//! 1. Loads that run ahead become asynchronous copies into rotating buffers ([`lower_loads`]).
//! 2. The loop is unrolled into a prologue and a kernel with all stages ([`expand`]).
//! 3. `wgmma` products stay under way over iterations ([`wgmma`]).
//! 4. Each wait for copies learns how many groups may still run ([`waits`]).
//! 5. Stores through descriptors go on while the loop does ([`tma_stores`]).

use super::{lower_loads, tma_stores, wgmma};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::discardable::{CLUSTER, MAX_STAGE, NUM_STAGES, STAGE};
use crate::ir::rewrite::{Config, Pattern, rewrite_greedily};
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::pipeline::{expand, waits};

pub static PASS: Pass = Pass {
    name: "tritongpu-pipeline",
    doc: "start the work of later iterations of a scheduled loop early",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: "num-stages",
        kind: OptionKind::Int,
        default: "3",
        doc: "stages of loops that do not say",
    }],
    run,
};

fn loops(ir: &Ir) -> Vec<Op> {
    ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect()
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let stages = cx.int("num-stages");
    let arithmetic: Vec<&'static Pattern> = canonicalize::arith::PATTERNS.to_vec();
    let axis = AxisInfoAnalysis::of_module(ir);
    for looped in loops(ir) {
        lower_loads::lower(ir, cx, &axis, looped);
    }
    for looped in loops(ir) {
        expand::expand(ir, cx, looped);
    }
    rewrite_greedily(ir, module, &arithmetic, Config::default());
    expand::resolve_masks(ir);
    for op in ir.all_ops(module) {
        for key in [STAGE, CLUSTER, MAX_STAGE] {
            ir.take(op, key);
        }
    }
    for looped in loops(ir) {
        if ir.get(looped, NUM_STAGES).unwrap_or(stages) >= 1 {
            wgmma::launch(ir, looped);
        }
    }
    waits::update(ir);
    rewrite_greedily(ir, module, &arithmetic, Config::default());
    for looped in loops(ir) {
        if ir.get(looped, NUM_STAGES).unwrap_or(stages) > 1 {
            tma_stores::pipeline(ir, looped);
        }
    }
    Ok(Changed::Yes)
}
