//! `ttc-amdgpu-count-copies`: how many groups, and how many instructions, may be under way at each `ttg.async_wait`.
//!
//! Hardware counts instructions: a wait names how many of those that were issued last may still run. Each instruction
//! of a copy behind the awaited group counts, on the way with the fewest of them
//! ([`crate::passes::ttg::pipeline::waits`]). Too few make a wait stricter than it need be, too many would be wrong; so
//! copies count only if every warp issues them ([`super::direct_copies::certain_instructions`]).
//!
//! The groups are those that the analysis of barriers goes by. Triton's `tritonamdgpu-update-async-wait-count` does the
//! latter half, and writes `amdg.async_wait`.

use super::direct_copies::certain_instructions;
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::Ir;
use crate::ir::dialects::discardable::COPIES_BEHIND;
use crate::ir::dialects::ttg::ttg::AsyncWait;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::pipeline::waits;

pub static PASS: Pass = Pass {
    name: "ttc-amdgpu-count-copies",
    doc: "count the copies that may be under way at each wait",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let found = waits::all(ir);
    let Some(target) = module_attrs::target(ir).filter(|_| !found.is_empty()) else { return Ok(Changed::No) };
    let axis = AxisInfoAnalysis::of_module(ir);
    for wait in found {
        if ir.operands(wait).is_empty() {
            continue;
        }
        let groups = waits::pending_at(ir, wait);
        let copies = waits::least_since(ir, wait, &|op| certain_instructions(ir, &axis, &target, op));
        ir.put(wait, AsyncWait::ATTR.num, i64::from(groups));
        ir.put(wait, COPIES_BEHIND, i64::from(copies));
    }
    Ok(Changed::Yes)
}
