//! Canonicalization of views of shared and tensor memory: those that show what their source shows, and chains of them.
//!
//! | before | after |
//! |---|---|
//! | `memdesc_reinterpret x` of the type of x | x |
//! | `memdesc_trans x` in the order 0, 1, …, of the type of x | x |
//! | `memdesc_trans(memdesc_trans x)` | one, in the order of both |
//! | `memdesc_subslice(memdesc_subslice x)` | one, at the sum of the offsets |
//! | `local_alloc(local_load x)` of the type of x, which nobody writes to | x |
//! | a barrier operation of the last block, `fromCTA` | without it, which says the same |

use crate::ir::core::{Attr, Op};
use crate::ir::dialects::verify::context_ctas;
use crate::ir::dialects::{OpKind, TtgOp, TtngOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub(super) static PATTERNS: &[&Pattern] = &[
    &Pattern::new("memdesc_reinterpret to the same type", OpKind::Ttg(TtgOp::MemDescReinterpret), same_type),
    &Pattern::new("memdesc_trans in order, or of one", OpKind::Ttg(TtgOp::MemDescTrans), trans),
    &Pattern::new("memdesc_subslice of one", OpKind::Ttg(TtgOp::MemDescSubslice), subslice),
    &Pattern::new("local_alloc(local_load x) -> x", OpKind::Ttg(TtgOp::LocalAlloc), alloc_of_load),
    &Pattern::new("barrier_expect of the last block", OpKind::Ttng(TtngOp::BarrierExpect), from_last_block),
    &Pattern::new("arrive_barrier of the last block", OpKind::Ttng(TtngOp::ArriveBarrier), from_last_block),
];

/// Replaces an operation by its operand where the type does not change.
fn same_type(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let src = rw.ir.operand(op, 0);
    let same = rw.ir.ty(src) == rw.ir.ty(rw.ir.result(op));
    if same {
        rw.replace(op, &[src]);
    }
    same
}

/// The operation of the same kind that makes what `op` shows.
fn inner(rw: &Rewriter<'_>, op: Op) -> Option<Op> {
    rw.ir.def_op(rw.ir.operand(op, 0)).filter(|&d| rw.ir.kind(d) == rw.ir.kind(op))
}

fn array<'a>(rw: &Rewriter<'a>, op: Op, name: &str) -> &'a [i64] {
    rw.ir.attr(op, name).and_then(Attr::as_dense_array).unwrap_or_default()
}

/// Makes `op` a view of what `below` is a view of.
fn skip(rw: &mut Rewriter<'_>, op: Op, below: Op, name: &str, values: &[i64]) {
    rw.ir.set_attr(op, name, Attr::i32_array(values));
    let src = rw.ir.operand(below, 0);
    rw.set_operand(op, 0, src);
}

fn trans(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let order = array(rw, op, "order");
    if order.iter().enumerate().all(|(i, &d)| i as i64 == d) && same_type(rw, op) {
        return true;
    }
    let Some(below) = inner(rw, op) else { return false };
    let first = array(rw, below, "order");
    let both: Option<Vec<i64>> = order.iter().map(|&d| first.get(usize::try_from(d).ok()?).copied()).collect();
    let Some(both) = both else { return false };
    skip(rw, op, below, "order", &both);
    true
}

fn subslice(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(below) = inner(rw, op) else { return false };
    let sum: Vec<i64> = array(rw, op, "offsets").iter().zip(array(rw, below, "offsets")).map(|(a, b)| a + b).collect();
    skip(rw, op, below, "offsets", &sum);
    true
}

/// Nobody writes to either buffer, so one will do.
fn alloc_of_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ty = rw.ir.ty(rw.ir.result(op));
    let Some(&src) = rw.ir.operands(op).first() else { return false };
    let Some(load) = rw.ir.def_op(src).filter(|&d| rw.ir.is(d, TtgOp::LocalLoad)) else { return false };
    let buffer = rw.ir.operand(load, 0);
    if ty.as_memdesc().is_none_or(|m| m.mutable) || rw.ir.ty(buffer) != ty {
        return false;
    }
    rw.replace(op, &[buffer]);
    true
}

fn from_last_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let last = context_ctas(rw.ir, op) - 1;
    if rw.ir.int_attr(op, "fromCTA") != Some(last) {
        return false;
    }
    rw.ir.remove_attr(op, "fromCTA");
    rw.touch(op);
    true
}
