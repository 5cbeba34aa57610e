//! What the buffer of a load for products looks like.

use crate::ir::core::encoding::SwizzledShared;
use crate::ir::core::{Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::TtgOp;
use crate::ir::encoding::questions::{cga_of, stated_order};
use crate::layout;
use crate::passes::ttg::shared_encodings::swizzled_for_dot;

/// The encoding that all users of a value can read, if all are operands of products or buffers.
pub(super) fn encoding_for_users(ir: &Ir, value: Value) -> Option<Encoding> {
    let mut wishes: Vec<Encoding> = vec![];
    for user in ir.users(value) {
        let &[result] = ir.results(user) else { return None };
        match wish(ir, value, user, result) {
            Wish::This(encoding) => wishes.push(encoding),
            Wish::Any => {}
            Wish::None => return None,
        }
    }
    let mut chosen = wishes.first()?.clone();
    for wish in &wishes[1..] {
        let (Encoding::SwizzledShared(known), Encoding::SwizzledShared(other)) = (&chosen, wish) else { return None };
        if (SwizzledShared { vec: known.vec, ..other.clone() }) != *known {
            return None;
        }
        if other.vec > known.vec {
            chosen = wish.clone();
        }
    }
    Some(chosen)
}

/// What a user of a value wants of a buffer.
enum Wish {
    This(Encoding),
    /// Nothing in particular.
    Any,
    /// It cannot read one.
    None,
}

fn wish(ir: &Ir, value: Value, user: Op, result: Value) -> Wish {
    let (from, to) = (ir.ty(value), ir.ty(result));
    let this = |encoding: Option<Encoding>| encoding.map_or(Wish::Any, Wish::This);
    if let Some(desc) = to.as_memdesc() {
        let reads = ir.is(user, TtgOp::LocalAlloc) || encoding_for_users(ir, result).is_some();
        return if reads { this(desc.encoding.as_encoding().cloned()) } else { Wish::None };
    }
    if !ir.is(user, TtgOp::ConvertLayout) && !ir.is(user, TtgOp::LocalLoad) {
        return Wish::None;
    }
    let Some(operand @ Encoding::DotOp { .. }) = to.layout() else { return Wish::Any };
    let swizzled = order(from).and_then(|order| swizzled_for_dot(from, operand, &order, cga_of(from), false));
    this(swizzled.map(Encoding::SwizzledShared))
}

/// The order of the buffer: as the tensor lies in memory, of a batch one matrix after the other.
fn order(ty: Type) -> Option<Vec<u32>> {
    let order = match ty.as_memdesc() {
        Some(desc) => stated_order(desc.encoding, desc.shape.len())?,
        None => layout::order_for_memory(ty.encoding()?, ty.shape()),
    };
    if order.len() != 3 {
        return Some(order);
    }
    Some(order.into_iter().filter(|&axis| axis != 0).chain([0]).collect())
}
