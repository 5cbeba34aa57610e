//! `allocate-shared-memory-nv`: gives every operation that needs shared memory its offset.
//!
//! # Algorithm
//!
//! 1. The analysis ([`crate::analysis::allocation`]) places the buffers of every function. It is a part of what the
//!    preparation computes once ([`crate::analysis::prepared`]).
//! 2. Each owner's offset is noted as `allocation.offset`; the most that any function needs is the module's
//!    `ttg.shared`.
//!
//! Example: `%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<…>`.

use crate::analysis::prepared::PreparedFunction;
use crate::diag::codes::passes as codes;
use crate::ir::core::Ir;
use crate::ir::dialects::discardable::{OFFSET, SHARED};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::module_attrs;
use crate::target::Target;

/// The option that says what a module is compiled for.
pub const CAPABILITY: OptionSpec = OptionSpec {
    name: "compute-capability",
    kind: OptionKind::Int,
    default: "80",
    doc: "what the module is compiled for, where it does not say",
};

pub static PASS: Pass = Pass {
    name: "allocate-shared-memory-nv",
    doc: "give operations their offsets in shared memory",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

/// What the module is compiled for.
///
/// # Errors
/// When the option names no GPU, and the module does not say.
pub fn target(ir: &Ir, cx: &mut PassCx) -> Result<Target, Failed> {
    let option = cx.int(CAPABILITY.name);
    module_attrs::target(ir).or_else(|| Target::of_module_word(&format!("cuda:{option}"))).ok_or_else(|| {
        let text = format!("option '{}' takes the number of a GPU, such as 90; {option} is none", CAPABILITY.name);
        cx.fail(&codes::BAD_OPTION, ir.loc(ir.module()), text)
    })
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    let prepared = cx.prepared(ir, &target)?;
    let mut total = 0;
    for PreparedFunction { allocation, .. } in prepared.functions.values() {
        for buffer in &allocation.buffers {
            ir.put(buffer.owner, OFFSET, i64::from(buffer.offset));
        }
        total = total.max(allocation.total);
    }
    let module = ir.module();
    ir.put(module, SHARED, i64::from(total));
    cx.keep(prepared);
    Ok(Changed::Yes)
}
