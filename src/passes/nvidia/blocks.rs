//! How many blocks share a multiprocessor, before a function is compiled.

use crate::analysis::allocation::buffer_bytes;
use crate::analysis::prepared::Prepared;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::passes::ttg::module_attrs;
use crate::target::{Target, Usage};

/// Registers of a thread that are no results of products, at the least.
const OTHERS: u32 = 32;

/// How many blocks share a multiprocessor, at the most, with the shared memory that is laid out; `None` if it has not
/// room for one. A thread has `held` registers of results of products, and a few others: fewer than it will have, so
/// that no block is lost for want of memory.
pub(super) fn at_once(ir: &Ir, prepared: &Prepared, held: u32, target: &Target) -> Option<u32> {
    let usage = Usage {
        warps: module_attrs::threads(ir)?.num_warps,
        registers: (held + OTHERS).min(Target::MAX_REGISTERS_PER_THREAD),
        shared: prepared.functions.values().map(|f| f.allocation.total).max()?,
    };
    let fits = usage.shared <= target.shared.bytes;
    fits.then(|| target.multiprocessor().occupancy(&usage).blocks)
}

/// The bytes of all buffers of the function that an operation is in.
pub(super) fn shared(ir: &Ir, inside: Op) -> u32 {
    let mut outwards = std::iter::successors(Some(inside), |&op| ir.parent_op(op));
    let function = outwards.find(|&op| ir.parent_op(op) == Some(ir.module()));
    let allocs = function.map_or(vec![], |f| ir.all_ops(f)).into_iter().filter(|&op| ir.is(op, TtgOp::LocalAlloc));
    allocs.map(|op| buffer_bytes(ir.ty(ir.result(op))).unwrap_or(0)).sum()
}
