//! What a function takes of a multiprocessor's shared memory, before it is laid out.

use crate::analysis::allocation::buffer_bytes;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::TtgOp;

/// The bytes of all buffers of the function that an operation is in.
pub(super) fn shared(ir: &Ir, inside: Op) -> u32 {
    let mut outwards = std::iter::successors(Some(inside), |&op| ir.parent_op(op));
    let function = outwards.find(|&op| ir.parent_op(op) == Some(ir.module()));
    let allocs = function.map_or(vec![], |f| ir.all_ops(f)).into_iter().filter(|&op| ir.is(op, TtgOp::LocalAlloc));
    allocs.map(|op| buffer_bytes(ir.ty(ir.result(op))).unwrap_or(0)).sum()
}
