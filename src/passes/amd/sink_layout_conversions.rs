//! `tritonamdgpu-sink-layout-conversions`: a conversion between layouts waits until buffers are released.
//!
//! A conversion may need shared memory of its own. It moves behind the last `ttg.local_dealloc` of its block that
//! stands in front of its first use, so that the two need not be there at once.
//!
//! ```text
//! %c = ttg.convert_layout %x; ttg.local_dealloc %b; use(%c)  →  ttg.local_dealloc %b; %c = ttg.convert_layout %x; use(%c)
//! ```

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::pipeline::schedule::ancestor_in;

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-sink-layout-conversions",
    doc: "convert layouts after buffers are released, where the result is not needed before",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for op in ir.all_ops_post(ir.module()) {
        if !ir.is(op, TtgOp::ConvertLayout) {
            continue;
        }
        if let Some(release) = last_release_before_use(ir, op) {
            ir.move_after(op, release);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

fn last_release_before_use(ir: &Ir, op: Op) -> Option<Op> {
    let block = ir.parent_block(op)?;
    let users = ir.users(ir.result(op)).into_iter().filter_map(|user| ancestor_in(ir, block, user));
    let first = users.reduce(|a, b| if ir.is_before(b, a) { b } else { a });
    let behind = std::iter::successors(ir.next_op(op), |&o| ir.next_op(o)).take_while(|&o| Some(o) != first);
    behind.filter(|&o| ir.is(o, TtgOp::LocalDealloc)).last()
}
