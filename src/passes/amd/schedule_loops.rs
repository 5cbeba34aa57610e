//! `tritonamdgpu-schedule-loops`: in which stage of a loop loads run, and what they are for.
//!
//! # Algorithm
//!
//! Of each innermost loop with more than one stage, without barriers, assertions and prints, whose values are carried
//! over one iteration only:
//!
//! 1. From each matrix product go up its operands A and B to loads ([`Levels`]). Its *distance* is the number of loads
//!    between a load and the product. CDNA2 and CDNA3 leave out loads below 32 bits.
//! 2. Products, and other uses, go to the last stage. A load with the greatest distance goes to stage 0, and the next
//!    ones as many stages later as there are to share out.
//! 3. With four stages, and two products of which one feeds the other, the two run one iteration apart, so that the
//!    arithmetic between them overlaps with either ([`chained`]).
//!
//! The clusters written here are names: 0 is for loads and 1 for products; `tritonamdgpu-pipeline` puts what it inserts
//! between them.

pub(super) mod chained;

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::pipeline::assign_latencies::Levels;
use crate::passes::ttg::pipeline::schedule::Schedule;
use crate::passes::ttg::pipeline::schedule_loops::can_be_pipelined;

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-schedule-loops",
    doc: "give loads and products of a loop a stage",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: NUM_STAGES_OPTION,
        kind: OptionKind::Int,
        default: "2",
        doc: "stages of loops that do not say",
    }],
    run,
};

pub const NUM_STAGES_OPTION: &str = "num_stages";

/// A load that may run ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) load: Op,
    pub(super) distance: u32,
    /// The product or the load that it is for.
    pub(super) user: Op,
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let default = cx.int(NUM_STAGES_OPTION);
    let axis = AxisInfoAnalysis::of_module(ir);
    let mut changed = false;
    let loops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    for looped in loops {
        let stages = ir.get(looped, NUM_STAGES).unwrap_or(default);
        let Some(body) = ir.body(looped, 0).filter(|_| stages > 1) else { continue };
        if !can_be_pipelined(ir, looped, body) {
            continue;
        }
        let stages = u32::try_from(stages).unwrap_or(2);
        let loads = loads_ahead(ir, &axis, looped, body, stages);
        if loads.is_empty() {
            continue;
        }
        let schedule = match chained::products(ir, body, stages, &loads) {
            Some(products) => chained::schedule(ir, body, products, &loads),
            None => single(ir, stages, &loads),
        };
        schedule.write(ir, looped);
        changed = true;
    }
    Ok(Changed::from(changed))
}

/// Step 1.
pub(super) fn loads_ahead(ir: &Ir, axis: &AxisInfoAnalysis, looped: Op, body: Block, stages: u32) -> Vec<Ahead> {
    let everything = ir.stores(looped, NUM_STAGES);
    let narrow = module_attrs::target(ir).is_some_and(|t| t.loads_narrow_ahead());
    let levels = Levels::of_loop_with(ir, axis, body, everything, i64::from(stages), narrow);
    let found = levels.loads.iter().filter_map(|&(load, level)| {
        Some(Ahead { load, distance: u32::try_from(level).ok()?, user: *levels.users.get(&load)? })
    });
    found.collect()
}

/// Step 2.
fn single(ir: &Ir, num_stages: u32, loads: &[Ahead]) -> Schedule {
    let mut schedule = Schedule::new(num_stages);
    let [global, compute] = [0, 1].map(|_| schedule.cluster_at_back());
    let last = num_stages - 1;
    for ahead in loads.iter().filter(|a| !ir.kind(a.user).is_load()) {
        schedule.insert(ahead.user, last, compute);
    }
    let farthest = loads.iter().map(|a| a.distance).max().unwrap_or(0);
    let between = (num_stages - 2).div_ceil(farthest + 1);
    for ahead in loads {
        // The stages of: a load, a store to shared memory, and what comes behind it.
        let stage = match (farthest - ahead.distance) * between {
            0 => 0,
            1 => farthest,
            _ => last,
        };
        schedule.insert(ahead.load, stage, global);
    }
    schedule
}
