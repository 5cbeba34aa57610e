//! What a TTGIR module's attributes say it is compiled for.

use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::discardable::{NUM_CTAS, NUM_WARPS, TARGET, THREADS_PER_WARP};
use crate::ir::dialects::keys::{Int, Key};
use crate::passes::manager::{Failed, PassCx};
use crate::target::Target;

/// How many threads work on a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads {
    pub num_warps: u32,
    pub threads_per_warp: u32,
    pub num_ctas: u32,
}

fn number(ir: &Ir, op: Op, key: Key<Int<32>>) -> Option<u32> {
    ir.get(op, key).and_then(|v| u32::try_from(v).ok()).filter(|&v| v > 0)
}

/// The module's threads; `None` where an attribute is missing.
#[must_use]
pub fn threads(ir: &Ir) -> Option<Threads> {
    let module = ir.module();
    Some(Threads {
        num_warps: number(ir, module, NUM_WARPS)?,
        threads_per_warp: number(ir, module, THREADS_PER_WARP)
            .unwrap_or_else(|| target(ir).unwrap_or_else(Target::usual).warp_size()),
        num_ctas: number(ir, module, NUM_CTAS).unwrap_or(1),
    })
}

/// As [`threads`], with a diagnostic for what is missing.
///
/// # Errors
/// When the module lacks `ttg.num-warps`.
pub fn require_threads(ir: &Ir, cx: &mut PassCx) -> Result<Threads, Failed> {
    threads(ir).ok_or_else(|| {
        cx.fail(
            &codes::MISSING_ATTRIBUTE,
            ir.loc(ir.module()),
            format!("the module has no attribute '{}' that is a positive number", NUM_WARPS.name()),
        )
    })
}

/// The warps that run `op`: those of the innermost operation around it that says so, else the module's.
#[must_use]
pub fn num_warps_at(ir: &Ir, op: Op) -> Option<u32> {
    std::iter::successors(Some(op), |&o| ir.parent_op(o)).find_map(|o| number(ir, o, NUM_WARPS))
}

/// The device that the module says it is for; `None` where it does not say, or names none that is known.
#[must_use]
pub fn target(ir: &Ir) -> Option<Target> {
    Target::of_module_word(ir.get(ir.module(), TARGET)?)
}
