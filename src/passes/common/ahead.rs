//! What an operation needs to stand further up in its block, for passes that issue loads and copies earlier.

use std::collections::BTreeSet;

use crate::ir::core::{Ir, Op, Type};
use crate::ir::dialects::ttg::ttg::LocalAlloc;
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::layout;

/// The most operations that move with one. It bounds the time for long code, and real kernels have far fewer.
const MOST: usize = 1000;

/// What an operation needs of those behind a place to stand at that place, all that these need included; `None` if some
/// of it has to stay: what has an effect, works across threads, or holds other operations. Buffers that nothing is in
/// yet, and views of buffers, may move.
pub(crate) fn needed(ir: &Ir, op: Op, is_behind: impl Fn(Op) -> bool) -> Option<BTreeSet<Op>> {
    let mut needed = BTreeSet::new();
    let mut queue = vec![op];
    while let Some(op) = queue.pop() {
        for def in ir.operands(op).iter().filter_map(|&v| ir.def_op(v)).filter(|&def| is_behind(def)) {
            let works_alone = !ir.kind(def).works_across_threads() && effects(ir, def).is_free();
            let may_move = works_alone && ir.regions_of(def).is_empty() || ir.kind(def).is_view() || is_empty(ir, def);
            if !may_move || needed.len() == MOST {
                return None;
            }
            if needed.insert(def) {
                queue.push(def);
            }
        }
    }
    Some(needed)
}

/// Whether an operation makes a buffer that nothing is in yet.
fn is_empty(ir: &Ir, op: Op) -> bool {
    LocalAlloc::of(ir, op).is_some_and(|alloc| alloc.src(ir).is_none())
}

/// Whether an operation exchanges elements between threads, which wait for each other then: a reduction, a scan, or a
/// conversion between layouts.
pub(crate) fn exchanges(ir: &Ir, op: Op) -> bool {
    matches!(ir.kind(op), OpKind::Tt(TtOp::Reduce | TtOp::Scan) | OpKind::Ttg(TtgOp::ConvertLayout))
}

/// Whether an operation writes what a load may read, or is one of which that is not known.
pub(crate) fn may_write_global(ir: &Ir, op: Op) -> bool {
    let in_shared_memory = matches!(
        ir.kind(op),
        OpKind::Ttg(
            TtgOp::AsyncWait
                | TtgOp::AsyncCommitGroup
                | TtgOp::AsyncCopyGlobalToLocal
                | TtgOp::LocalAlloc
                | TtgOp::LocalLoad
                | TtgOp::LocalStore
        )
    );
    !in_shared_memory && effects(ir, op).writes
}

/// Registers of one thread that hold a value.
pub(crate) fn registers(ty: Type) -> usize {
    let words = ty.elem().bit_width().unwrap_or(64).div_ceil(32) as usize;
    if ty.is_tensor() { layout::elems_per_thread(ty) * words } else { words }
}
