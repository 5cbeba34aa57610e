//! Operands of matrix products that are transposed in registers: the read from shared memory transposes instead.
//!
//! `convert_layout(trans x)` to an operand of a product, with that one user, stores `x` swizzled for the transposed read
//! and loads the transposed view.

use crate::ir::core::{Attr, InsertPoint, MemDesc, Op, OpState, Type, TypeData};
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::encoding::questions::is_operand;
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
pub fn transposition(rw: &Rewriter<'_>, op: Op) -> Option<Op> {
    let def = rw.ir.def_op(*rw.ir.operands(op).first()?)?;
    let swaps =
        rw.ir.is(def, TtOp::Trans) && rw.ir.attr(def, "order").and_then(Attr::as_dense_array) == Some(&SWAP[..]);
    swaps.then_some(def)
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
    let source = rw.ir.operand(trans, 0);
    // What the source had before a conversion decides the order.
    let inner =
        rw.ir.def_op(source).filter(|&d| rw.ir.is(d, TtgOp::ConvertLayout)).map_or(source, |d| rw.ir.operand(d, 0));
    let from = rw.ir.ty(inner);
    let order = layout::order_for_memory(from.encoding()?, from.shape());
    let memory = buffer(from, swizzled_for_dot(from, operand, &order, true)?, false);
    let desc = memory.as_memdesc()?;
    let view = reseen(desc, ty.shape(), transposed(desc.encoding, &desc.shape, &[1, 0])?);
    let loc = rw.ir.loc(trans);
    rw.at = InsertPoint::Before(trans);
    let alloc = rw.value(TtgOp::LocalAlloc, loc, &[source], memory);
    let state = OpState::new(TtgOp::MemDescTrans, loc)
        .operands(&[alloc])
        .results(&[view])
        .attr("order", Attr::i32_array(&SWAP));
    let seen = rw.insert(state);
    let seen = rw.ir.result(seen);
    let loaded = rw.value(TtgOp::LocalLoad, loc, &[seen], ty);
    rw.set_operand(op, 0, loaded);
    Some(())
}
