//! Addresses and masks of a block of a tensor in memory: what block pointers and tensor descriptors become.
//!
//! The block is given by a base, and for each dimension an extent, a stride and the *coordinates* of the block's
//! elements: a tensor of i64 that has the block's size along that dimension and 1 along all others.
//!
//! # Algorithm
//!
//! 1. A row of coordinates is the offset + 0, 1, 2, … ([`row`]).
//! 2. The address is the base plus coordinate × stride, for each dimension ([`pointers`]).
//! 3. Inside is what has 0 ≤ coordinate < extent along each dimension that is checked ([`mask`]).
//!
//! Example: a block of 2×4 at (4, 4) of a 5×6 tensor with strides (6, 1): the coordinates are 4, 5 and 4, 5, 6, 7; the
//! addresses base + 28 to 31 and 34 to 37; with both dimensions checked only 28 and 29 are inside.

use crate::ir::core::{Attr, Builder, Type, Value};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt::MakeRange;
use crate::ir::dialects::{ArithOp, TtOp};

/// Gives the coordinates along a dimension.
pub(super) type Coordinates<'a> = &'a mut dyn FnMut(&mut Builder<'_>, usize) -> Value;

/// offset + 0, …, size - 1 as a vector of i64. The offset is an i64.
pub(super) fn row(b: &mut Builder<'_>, offset: Value, size: i64, encoding: Option<Attr>) -> Value {
    let of = |bits: u32| Type::tensor(&[size], Type::int(bits), encoding);
    let (narrow, wide) = (of(32), of(64));
    let offset = b.value(TtOp::Splat, &[offset], wide);
    let range = MakeRange::state(b.loc).with(MakeRange::ATTR.start, 0);
    let range = b.result(range.with(MakeRange::ATTR.end, size), narrow);
    let range = b.value(ArithOp::Extsi, &[range], wide);
    b.value(ArithOp::Addi, &[offset, range], wide)
}

/// The address of each element. `block` is a tensor type of the block's shape, its element type does not matter.
pub(super) fn pointers(b: &mut Builder<'_>, base: Value, strides: &[Value], block: Type, at: Coordinates<'_>) -> Value {
    let ty = block.with_elem(b.ir.ty(base));
    let whole = block.with_elem(Type::int(64));
    let mut ptr = b.value(TtOp::Splat, &[base], ty);
    for (d, &stride) in strides.iter().enumerate() {
        let at = at(b, d);
        // The stride is repeated over the expanded shape, so that what is known of its divisibility is kept.
        let stride = splat(b, stride, at);
        let at_ty = b.ir.ty(at);
        let distance = b.value(ArithOp::Muli, &[at, stride], at_ty);
        let distance = b.value(TtOp::Broadcast, &[distance], whole);
        ptr = b.value(TtOp::Addptr, &[ptr, distance], ty);
    }
    ptr
}

/// Which elements are inside of the tensor along the dimensions `checked`; none without any.
pub(super) fn mask(
    b: &mut Builder<'_>,
    extents: &[Value],
    checked: &[usize],
    block: Type,
    at: Coordinates<'_>,
) -> Option<Value> {
    let whole = block.with_elem(Type::int(1));
    let mut mask = None;
    for &d in checked {
        let at = at(b, d);
        let zero = b.int(0, Type::int(64));
        let zero = splat(b, zero, at);
        let above = b.cmpi(CmpiPredicate::Sge, at, zero);
        let extent = splat(b, extents[d], at);
        let below = b.cmpi(CmpiPredicate::Slt, at, extent);
        let ty = b.ir.ty(above);
        let inside = b.value(ArithOp::Andi, &[above, below], ty);
        let inside = b.value(TtOp::Broadcast, &[inside], whole);
        mask = Some(match mask {
            Some(so_far) => b.value(ArithOp::Andi, &[so_far, inside], whole),
            None => inside,
        });
    }
    mask
}

fn splat(b: &mut Builder<'_>, scalar: Value, like: Value) -> Value {
    let ty = b.ir.ty(like);
    b.value(TtOp::Splat, &[scalar], ty)
}
