//! `allocate-shared-memory-nv`: gives every operation that needs shared memory its offset.
//!
//! # Algorithm
//!
//! 1. Every operation's scratch memory comes from [`scratch_bytes`]; offsets are multiples of 16.
//! 2. Regions follow one another; each operation's offset is noted as `allocation.offset`, the sum on the module as `ttg.shared`.

use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Ir};
use crate::passes::analysis::scratch::{OFFSET, SHARED, scratch_bytes};
use crate::passes::manager::{Changed, Failed, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::module_attrs;

const ALIGNMENT: u32 = 16;

pub static PASS: Pass = Pass {
    name: "allocate-shared-memory-nv",
    doc: "give operations their offsets in shared memory",
    options: &[OptionSpec {
        name: "compute-capability",
        kind: OptionKind::Int,
        default: "80",
        doc: "what the module is compiled for, where it does not say",
    }],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let capability = module_attrs::compute_capability(ir).unwrap_or(cx.int("compute-capability") as u32);
    let mut end = 0;
    for op in ir.all_ops(ir.module()) {
        let bytes = scratch_bytes(ir, op, capability).map_err(|e| cx.fail(&codes::PASS_FAILED, ir.loc(op), e.to_string()))?;
        if bytes > 0 {
            ir.set_attr(op, OFFSET, Attr::i32(i64::from(end)));
            end = (end + bytes).next_multiple_of(ALIGNMENT);
        }
    }
    let module = ir.module();
    ir.set_attr(module, SHARED, Attr::i32(i64::from(end)));
    Ok(Changed::Yes)
}
