//! `loop-invariant-code-motion`: moves what does not change in a loop out of it; what has no effects and cannot fail.
//!
//! The algorithm is that of `triton-licm` ([`crate::passes::tt::licm`]) without its step 3.

use crate::ir::core::Ir;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::tt::licm::move_out_of_loops;

pub static PASS: Pass = Pass {
    name: "loop-invariant-code-motion",
    doc: "move what does not change in a loop out of it",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    Ok(Changed::from(move_out_of_loops(ir, false)))
}
