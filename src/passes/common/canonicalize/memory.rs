//! Canonicalization of views of shared and tensor memory: those that show what their source shows, and chains of them.
//!
//! | before | after |
//! |---|---|
//! | `memdesc_reinterpret x` of the type of x | x |
//! | `memdesc_trans x` in the order 0, 1, …, of the type of x | x |
//! | `memdesc_trans(memdesc_trans x)` | one, in the order of both |
//! | `memdesc_subslice(memdesc_subslice x)` | one, at the sum of the offsets |
//! | `local_alloc(local_load x)` of the type of x, which nobody writes to | x |
//! | a barrier operation whose `fromCTA` keeps all bits of the block's number | without it, which says the same |

use crate::ir::core::Op;
use crate::ir::dialects::keys::{Int, Key};
use crate::ir::dialects::ttg::ttg::{LocalAlloc, LocalLoad, MemDescSubslice, MemDescTrans};
use crate::ir::dialects::ttng::ttng::{ArriveBarrier, BarrierExpect};
use crate::ir::dialects::verify::context_ctas;
use crate::ir::dialects::{OpKind, TtgOp, TtngOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub(super) static PATTERNS: &[&Pattern] = &[
    &Pattern::new("memdesc_reinterpret to the same type", OpKind::Ttg(TtgOp::MemDescReinterpret), same_type),
    &Pattern::new("memdesc_trans in order, or of one", OpKind::Ttg(TtgOp::MemDescTrans), trans),
    &Pattern::new("memdesc_subslice of one", OpKind::Ttg(TtgOp::MemDescSubslice), subslice),
    &Pattern::new("local_alloc(local_load x) -> x", OpKind::Ttg(TtgOp::LocalAlloc), alloc_of_load),
    &Pattern::new("barrier_expect with all bits", OpKind::Ttng(TtngOp::BarrierExpect), expect_of_each_block),
    &Pattern::new("arrive_barrier with all bits", OpKind::Ttng(TtngOp::ArriveBarrier), arrival_of_each_block),
];

/// Replaces an operation by its operand where the type does not change.
fn same_type(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [src] = rw.ir.all_operands(op);
    let same = rw.ir.ty(src) == rw.ir.ty(rw.ir.result(op));
    if same {
        rw.replace(op, &[src]);
    }
    same
}

fn trans(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let order = MemDescTrans(op).order(rw.ir).unwrap_or_default();
    if order.iter().enumerate().all(|(i, &d)| i as i64 == d) && same_type(rw, op) {
        return true;
    }
    let Some(below) = MemDescTrans::defining(rw.ir, MemDescTrans(op).src(rw.ir)) else { return false };
    let first = below.order(rw.ir).unwrap_or_default();
    let both: Option<Vec<i64>> = order.iter().map(|&d| first.get(usize::try_from(d).ok()?).copied()).collect();
    let Some(both) = both else { return false };
    rw.ir.put(op, MemDescTrans::ATTR.order, &both);
    let src = below.src(rw.ir);
    rw.put_operands(op, MemDescTrans::SLOT.src, &[src]);
    true
}

fn subslice(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(below) = MemDescSubslice::defining(rw.ir, MemDescSubslice(op).src(rw.ir)) else { return false };
    let [first, second] = [below.0, op].map(|op| MemDescSubslice(op).offsets(rw.ir).unwrap_or_default());
    let sum: Vec<i64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
    rw.ir.put(op, MemDescSubslice::ATTR.offsets, &sum);
    let src = below.src(rw.ir);
    rw.put_operands(op, MemDescSubslice::SLOT.src, &[src]);
    true
}

/// Nobody writes to either buffer, so one will do.
fn alloc_of_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ty = rw.ir.ty(rw.ir.result(op));
    let Some(src) = LocalAlloc(op).src(rw.ir) else { return false };
    let Some(load) = LocalLoad::defining(rw.ir, src) else { return false };
    let buffer = load.src(rw.ir);
    if ty.as_memdesc().is_none_or(|m| m.mutable) || rw.ir.ty(buffer) != ty {
        return false;
    }
    rw.replace(op, &[buffer]);
    true
}

fn expect_of_each_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    keeps_all_bits(rw, op, BarrierExpect::ATTR.fromCTA)
}

fn arrival_of_each_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    keeps_all_bits(rw, op, ArriveBarrier::ATTR.fromCTA)
}

fn keeps_all_bits(rw: &mut Rewriter<'_>, op: Op, block: Key<Int<32>>) -> bool {
    let all = context_ctas(rw.ir, op) - 1;
    if rw.ir.get(op, block) != Some(all) {
        return false;
    }
    rw.ir.take(op, block);
    rw.touch(op);
    true
}
