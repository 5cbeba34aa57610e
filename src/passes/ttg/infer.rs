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

use crate::ir::core::{Attr, AttrData, Encoding, Ir, Op, Type};
use crate::ir::dialects::LayoutRule;
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::tt::tt;
use crate::ir::encoding::permute::permuted;
use crate::ir::encoding::questions::rank_of;
use crate::layout::{self, from_linear};

/// The encoding of the results of `op` where its operands have `encoding`; `None` where there is none.
#[must_use]
pub fn result_encoding(ir: &Ir, op: Op, encoding: Attr) -> Option<Attr> {
    let source = || ir.ty(ir.operands(op)[0]).shape();
    match ir.kind(op).layout_rule() {
        LayoutRule::Own => None,
        LayoutRule::Shared | LayoutRule::Carried | LayoutRule::Indexed => Some(encoding),
        LayoutRule::Blocked => is_blocked(encoding).then_some(encoding),
        LayoutRule::Reduced => {
            let axis = axis_of(ir, op)?;
            (rank_of(encoding)? > 1).then(|| slice(axis, encoding))
        }
        LayoutRule::Expanded => expanded(encoding, axis_of(ir, op)? as usize),
        LayoutRule::Permuted => transposed(encoding, &order_of(ir, op)?, source()),
        LayoutRule::Reshaped => {
            let to = ir.ty(ir.result(op));
            reshape::reshaped_or(encoding, source(), to.shape(), hint(ir, op, to.encoding()))
        }
        LayoutRule::Joined => joined(encoding, source()),
        LayoutRule::Halved => halved(encoding, source()),
        LayoutRule::Unpacked => unpacked(encoding, axis_of(ir, op)? as usize, source()),
    }
}

/// The encoding that the operands of `op` need for its results to have `encoding`.
#[must_use]
pub fn operand_encoding(ir: &Ir, op: Op, encoding: Attr) -> Option<Attr> {
    let result = || ir.ty(ir.results(op)[0]).shape();
    match ir.kind(op).layout_rule() {
        LayoutRule::Own | LayoutRule::Carried => None,
        LayoutRule::Shared | LayoutRule::Indexed => Some(encoding),
        LayoutRule::Blocked => is_blocked(encoding).then_some(encoding),
        LayoutRule::Reduced => expanded(encoding, axis_of(ir, op)? as usize),
        LayoutRule::Expanded => Some(slice(axis_of(ir, op)?, encoding)),
        LayoutRule::Permuted => {
            let order = order_of(ir, op)?;
            let mut inverse = vec![0; order.len()];
            for (i, &d) in order.iter().enumerate() {
                *inverse.get_mut(d as usize)? = i as u32;
            }
            transposed(encoding, &inverse, result())
        }
        LayoutRule::Reshaped => {
            let from = ir.ty(ir.operands(op)[0]);
            reshape::reshaped_or(encoding, result(), from.shape(), hint(ir, op, from.encoding()))
        }
        LayoutRule::Joined => halved(encoding, result()),
        LayoutRule::Halved => joined(encoding, result()),
        LayoutRule::Unpacked => layout::fp4::packed(encoding, axis_of(ir, op)? as usize, result()),
    }
}

fn is_blocked(encoding: Attr) -> bool {
    matches!(encoding.as_encoding(), Some(Encoding::Blocked(_)))
}

/// The present encoding, where a reshape that may reorder would rather keep it.
fn hint(ir: &Ir, op: Op, present: Option<Attr>) -> Option<Attr> {
    present.filter(|_| ir.stores(op, tt::Reshape::ATTR.allow_reorder))
}

/// The axis that an operation with such a rule names: all of them call it as `tt.reduce` does.
fn axis_of(ir: &Ir, op: Op) -> Option<u32> {
    u32::try_from(ir.get(op, tt::Reduce::ATTR.axis)?).ok()
}

fn order_of(ir: &Ir, op: Op) -> Option<Vec<u32>> {
    tt::Trans::of(ir, op)?.order(ir)?.iter().map(|&d| u32::try_from(d).ok()).collect()
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

/// Gives the elements of a constant tensor another type, that of its result; the same shape in another layout. Whether
/// it is one.
pub fn retype(ir: &mut Ir, constant: arith::Constant, ty: Type) -> bool {
    let Some(AttrData::Dense(_, data)) = constant.value(ir).map(Attr::data) else { return false };
    ir.put(constant.0, arith::Constant::ATTR.value, Attr::new(AttrData::Dense(ty, data.clone())));
    true
}
