//! What the buffer of a load for products looks like.
//!
//! An asynchronous copy of a warp writes consecutive bytes, so the buffer's order is then that of the lanes, behind the
//! axis along which a lane holds neighbours; and it may be padded ([`padded`]).

use super::padded;
use crate::ir::core::encoding::SwizzledShared;
use crate::ir::core::{Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::TtgOp;
use crate::ir::encoding::questions::{cga_of, stated_order};
use crate::layout;
use crate::passes::amd::direct_copies;
use crate::passes::ttg::shared_encodings::swizzled_for_dot;

/// How a load fills its buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filling {
    /// Through registers.
    Stored,
    /// By asynchronous copies, where its parts are wide enough, which this one's are or are not.
    Copied { wide: bool },
}

/// The encoding that all users of a value can read, if all are operands of products or buffers.
pub(super) fn encoding_for_users(ir: &Ir, value: Value, filling: Filling) -> Option<Encoding> {
    let mut wishes: Vec<Encoding> = vec![];
    for user in ir.users(value) {
        let &[result] = ir.results(user) else { return None };
        match wish(ir, value, user, result, filling) {
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

fn wish(ir: &Ir, value: Value, user: Op, result: Value, filling: Filling) -> Wish {
    let (from, to) = (ir.ty(value), ir.ty(result));
    let this = |encoding: Option<Encoding>| encoding.map_or(Wish::Any, Wish::This);
    if let Some(desc) = to.as_memdesc() {
        let reads = ir.is(user, TtgOp::LocalAlloc) || encoding_for_users(ir, result, Filling::Stored).is_some();
        return if reads { this(desc.encoding.as_encoding().cloned()) } else { Wish::None };
    }
    if !ir.is(user, TtgOp::ConvertLayout) && !ir.is(user, TtgOp::LocalLoad) {
        return Wish::None;
    }
    let Some(operand @ Encoding::DotOp { .. }) = to.layout() else { return Wish::Any };
    let Some(order) = order(from, filling) else { return Wish::Any };
    let padded = match filling {
        Filling::Copied { wide: true } => padded::for_copies(from, operand, &order),
        _ => None,
    };
    let swizzled = || swizzled_for_dot(from, operand, &order, cga_of(from), false).map(Encoding::SwizzledShared);
    this(padded.or_else(swizzled))
}

/// The order of the buffer: as the tensor lies in memory, of a batch one matrix after the other.
fn order(ty: Type, filling: Filling) -> Option<Vec<u32>> {
    let order = if let Some(desc) = ty.as_memdesc() {
        stated_order(desc.encoding, desc.shape.len())?
    } else {
        let order = layout::order_for_memory(ty.encoding()?, ty.shape());
        if filling == Filling::Stored { order } else { copied_order(ty, order)? }
    };
    if order.len() != 3 {
        return Some(order);
    }
    Some(order.into_iter().filter(|&axis| axis != 0).chain([0]).collect())
}

/// The order in which lanes lie, behind the axis along which a lane holds neighbours, if it holds enough for a copy.
fn copied_order(ty: Type, memory: Vec<u32>) -> Option<Vec<u32>> {
    let encoding = ty.encoding()?;
    let fastest = *layout::order(encoding, ty.shape()).first()? as usize;
    let held = *layout::contig_per_thread(ty).get(fastest)?;
    let count = direct_copies::widest(held, ty.elem().bit_width()?);
    if count == 0 {
        return Some(memory);
    }
    let mut order: Vec<u32> = memory.first().copied().filter(|_| count > 1).into_iter().collect();
    for axis in layout::thread_order(encoding, ty.shape()) {
        if !order.contains(&axis) {
            order.push(axis);
        }
    }
    Some(order)
}
