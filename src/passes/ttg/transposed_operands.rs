//! Operands of matrix products that are transposed in registers: the read from shared memory transposes instead.
//!
//! `convert_layout(trans x)` to an operand of a product, with that one user, stores `x` swizzled for the transposed
//! read and loads the transposed view.

use crate::ir::core::{Attr, Encoding, InsertPoint, MemDesc, Op, Type, TypeData};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::encoding::questions::{cga_of, is_operand};
use crate::ir::rewrite::{Pattern, Rewriter};
use crate::layout;
use crate::passes::ttg::shared_encodings::{buffer, swizzled_for_dot, transposed};

/// The rewrite; see the module's documentation.
pub static PATTERN: Pattern = Pattern::new(
    "convert(trans x) -> local_load(trans(local_alloc x))",
    OpKind::Ttg(TtgOp::ConvertLayout),
    |rw, op| swizzled(rw, op).is_some(),
);

/// The order of the axes of a transposed matrix.
pub const SWAP: [i64; 2] = [1, 0];

/// The transposition of two axes that makes the operand of `op`, if it is one.
pub fn transposition(rw: &Rewriter<'_>, op: Op) -> Option<tt::Trans> {
    let trans = tt::Trans::defining(rw.ir, *rw.ir.operands(op).first()?)?;
    (trans.order(rw.ir) == Some(&SWAP[..])).then_some(trans)
}

/// A buffer's type with another shape and encoding.
#[must_use]
pub fn reseen(ty: &MemDesc, shape: &[i64], encoding: Attr) -> Type {
    Type::new(TypeData::MemDesc(MemDesc { shape: shape.to_vec(), alloc_shape: shape.to_vec(), encoding, ..ty.clone() }))
}

fn swizzled(rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let result = rw.ir.result(op);
    let feeds_dot = rw.ir.has_one_use(result) && rw.ir.users(result).iter().all(|&u| rw.ir.is(u, TtOp::Dot));
    let ty = rw.ir.ty(result);
    let operand = ty.layout().filter(|e| feeds_dot && is_operand(e))?;
    let trans = transposition(rw, op)?;
    let source = trans.src(rw.ir);
    // What the source had before a conversion decides the order.
    let inner = ttg::ConvertLayout::defining(rw.ir, source).map_or(source, |convert| convert.src(rw.ir));
    let from = rw.ir.ty(inner);
    let order = layout::order_for_memory(from.encoding()?, from.shape());
    let encoding = swizzled_for_dot(from, operand, &order, cga_of(from), true)?;
    let memory = buffer(from, Encoding::SwizzledShared(encoding), false);
    let desc = memory.as_memdesc()?;
    let view = reseen(desc, ty.shape(), transposed(desc.encoding, &desc.shape, &[1, 0])?);
    let loc = rw.ir.loc(trans.0);
    rw.at = InsertPoint::Before(trans.0);
    let alloc = rw.value(TtgOp::LocalAlloc, loc, &[source], memory);
    let state = ttg::MemDescTrans::state(loc, alloc).results(&[view]).with(ttg::MemDescTrans::ATTR.order, &SWAP);
    let seen = rw.insert(state);
    let seen = rw.ir.result(seen);
    let loaded = rw.value(TtgOp::LocalLoad, loc, &[seen], ty);
    let source = ttg::ConvertLayout::SLOT.src.index(rw.ir, op);
    rw.set_operand(op, source, loaded);
    Some(())
}
