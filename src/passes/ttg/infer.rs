//! What encoding an operation's result has, given that of its operand, and the other way around.
//!
//! Most operations keep the encoding. Views have rules of their own: `expand_dims` undoes a slice, `tt.reduce` makes
//! one, `trans` permutes, and `reshape` keeps the map from threads to elements in row-major order, `join` and `split`
//! keep pairs in one thread, `fp4_to_fp` makes two registers of one. Where a blocked encoding can say it, the result is
//! blocked; else linear.

mod pairs;
mod reshape;

pub use crate::layout::fp4::unpacked;
use pairs::halved;
pub(super) use pairs::joined;
pub use reshape::reshaped;

use crate::ir::core::{Attr, Encoding, Ir, Op};
use crate::ir::dialects::{OpKind, ScfOp, Traits, TtOp, TtgOp};
use crate::ir::encoding::permute::permuted;
use crate::ir::encoding::questions::rank_of;
use crate::layout::{self, from_linear};

/// The encoding of the results of `op` where its operands have `encoding`; `None` where there is none.
#[must_use]
pub fn result_encoding(ir: &Ir, op: Op, encoding: Attr) -> Option<Attr> {
    if let Some(kept) = keeps(ir, op, encoding) {
        return kept.then_some(encoding);
    }
    match ir.kind(op) {
        OpKind::Tt(TtOp::Reduce) => {
            let axis = axis_of(ir, op)?;
            (rank_of(encoding)? > 1).then(|| slice(axis, encoding))
        }
        OpKind::Tt(TtOp::ExpandDims) => expanded(encoding, axis_of(ir, op)? as usize),
        OpKind::Tt(TtOp::Trans) => transposed(encoding, &order_of(ir, op)?, ir.ty(ir.operand(op, 0)).shape()),
        OpKind::Tt(TtOp::Reshape) => {
            let (from, to) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
            reshape::reshaped_or(encoding, from.shape(), to.shape(), hint(ir, op, to.encoding()))
        }
        OpKind::Tt(TtOp::Join) => joined(encoding, ir.ty(ir.operand(op, 0)).shape()),
        OpKind::Tt(TtOp::Split) => halved(encoding, ir.ty(ir.operand(op, 0)).shape()),
        OpKind::Tt(TtOp::Gather) => Some(encoding),
        OpKind::Ttg(TtgOp::Fp4ToFp) => unpacked(encoding, axis_of(ir, op)? as usize, ir.ty(ir.operand(op, 0)).shape()),
        _ => None,
    }
}

/// The encoding that the operands of `op` need for its results to have `encoding`.
#[must_use]
pub fn operand_encoding(ir: &Ir, op: Op, encoding: Attr) -> Option<Attr> {
    if let Some(kept) = keeps(ir, op, encoding) {
        return (kept && !ir.is(op, ScfOp::For)).then_some(encoding);
    }
    match ir.kind(op) {
        OpKind::Tt(TtOp::Reduce) => expanded(encoding, axis_of(ir, op)? as usize),
        OpKind::Tt(TtOp::ExpandDims) => Some(slice(axis_of(ir, op)?, encoding)),
        OpKind::Tt(TtOp::Trans) => {
            let order = order_of(ir, op)?;
            let mut inverse = vec![0; order.len()];
            for (i, &d) in order.iter().enumerate() {
                *inverse.get_mut(d as usize)? = i as u32;
            }
            transposed(encoding, &inverse, ir.ty(ir.result(op)).shape())
        }
        OpKind::Tt(TtOp::Reshape) => {
            let (from, to) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
            reshape::reshaped_or(encoding, to.shape(), from.shape(), hint(ir, op, from.encoding()))
        }
        OpKind::Tt(TtOp::Join) => halved(encoding, ir.ty(ir.result(op)).shape()),
        OpKind::Tt(TtOp::Split) => joined(encoding, ir.ty(ir.results(op)[0]).shape()),
        OpKind::Tt(TtOp::Gather) => Some(encoding),
        OpKind::Ttg(TtgOp::Fp4ToFp) => {
            layout::fp4::packed(encoding, axis_of(ir, op)? as usize, ir.ty(ir.result(op)).shape())
        }
        _ => None,
    }
}

/// Whether the operation's operands and results share one encoding; `None` if it has a rule of its own.
fn keeps(ir: &Ir, op: Op, encoding: Attr) -> Option<bool> {
    let kind = ir.kind(op);
    if kind == OpKind::Tt(TtOp::Scan) {
        // Scans are lowered for blocked encodings only.
        return Some(matches!(encoding.as_encoding(), Some(Encoding::Blocked(_))));
    }
    let same = kind.has(Traits::SAME_OPERANDS_AND_RESULT_ENCODING)
        || kind.has(Traits::ELEMENTWISE)
        || kind.is_atomic()
        || kind == OpKind::Tt(TtOp::Store)
        || matches!(kind, OpKind::Scf(ScfOp::While | ScfOp::For | ScfOp::Yield | ScfOp::Condition));
    same.then_some(true)
}

/// The present encoding, where a reshape that may reorder would rather keep it.
fn hint(ir: &Ir, op: Op, present: Option<Attr>) -> Option<Attr> {
    present.filter(|_| ir.stored_attr(op, "allow_reorder").is_some())
}

fn axis_of(ir: &Ir, op: Op) -> Option<u32> {
    u32::try_from(ir.int_attr(op, "axis")?).ok()
}

fn order_of(ir: &Ir, op: Op) -> Option<Vec<u32>> {
    ir.attr(op, "order")?.as_dense_array()?.iter().map(|&d| u32::try_from(d).ok()).collect()
}

/// `#ttg.slice<{dim = axis, parent = …}>`
#[must_use]
pub fn slice(axis: u32, parent: Attr) -> Attr {
    Attr::encoding(Encoding::Slice { dim: axis, parent })
}

/// What a slice along `axis` is a slice of.
#[must_use]
pub fn expanded(encoding: Attr, axis: usize) -> Option<Attr> {
    match encoding.as_encoding()? {
        Encoding::Slice { dim, parent } if *dim as usize == axis => Some(*parent),
        _ => None,
    }
}

/// The encoding behind a permutation of axes, of which `order[i]` becomes the i-th; `shape` is the one before it.
#[must_use]
pub fn transposed(encoding: Attr, order: &[u32], shape: &[i64]) -> Option<Attr> {
    if order.iter().enumerate().all(|(i, &d)| i == d as usize) {
        return Some(encoding);
    }
    if let Some(same_kind) = permuted(encoding.as_encoding()?, order) {
        return Some(Attr::encoding(same_kind));
    }
    let layout = layout::try_to_linear_layout(shape, encoding).ok()?;
    Some(from_linear(&layout.permute_axes(order)))
}
