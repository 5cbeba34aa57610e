//! Canonicalization of the `tt` dialect: constant masks, and operations on splats and broadcasts.

use crate::ir::core::Value;
use crate::ir::core::{Attr, InsertPoint, Op, Type};
use crate::ir::dialects::arith::arith::Addi;
use crate::ir::dialects::tt::tt::{Broadcast, ExpandDims, IntToPtr, Load, PtrToInt, Reshape, Splat, Store};
use crate::ir::dialects::{OpKind, TtOp};
use crate::ir::rewrite::{Pattern, Rewriter};
use crate::passes::ttg::infer;

pub static PATTERNS: &[&Pattern] = &[
    &Pattern::new("load with a constant mask", OpKind::Tt(TtOp::Load), masked_load),
    &Pattern::new("store with a constant mask", OpKind::Tt(TtOp::Store), masked_store),
    &EXPAND_DIMS,
    &Pattern::new("reshape of reshape, splat or expand_dims", OpKind::Tt(TtOp::Reshape), reshape),
    &BROADCAST,
    &Pattern::new("int_to_ptr(ptr_to_int p) -> bitcast p", OpKind::Tt(TtOp::IntToPtr), int_to_ptr_of_ptr_to_int),
    &Pattern::new(
        "int_to_ptr(addi(x, c)) -> addptr(int_to_ptr x, c / size)",
        OpKind::Tt(TtOp::IntToPtr),
        int_to_ptr_of_sum,
    ),
];

/// `expand_dims` of a splat or of a broadcast.
pub static EXPAND_DIMS: Pattern =
    Pattern::new("expand_dims of splat or broadcast", OpKind::Tt(TtOp::ExpandDims), expand_dims);
/// `broadcast` of a splat or of a broadcast.
pub static BROADCAST: Pattern = Pattern::new("broadcast of splat or broadcast", OpKind::Tt(TtOp::Broadcast), broadcast);

/// The value of a mask that is a splat constant.
fn mask_value(rw: &Rewriter<'_>, mask: Option<Value>) -> Option<bool> {
    rw.const_of(mask?).filter(|a| matches!(**a, crate::ir::core::AttrData::Dense(..)))?.int_value().map(|v| v != 0)
}

fn masked_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let load = Load(op);
    match mask_value(rw, load.mask(rw.ir)) {
        Some(true) => {
            let plain = Load::state(rw.ir.loc(op), load.ptr(rw.ir), None, None)
                .copy(rw.ir, op, Load::ATTR.cache)
                .copy(rw.ir, op, Load::ATTR.evict)
                .copy(rw.ir, op, Load::ATTR.isVolatile);
            rw.replace_by(op, plain);
            true
        }
        Some(false) => {
            let Some(other) = load.other(rw.ir) else { return false };
            rw.replace(op, &[other]);
            true
        }
        None => false,
    }
}

fn masked_store(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let store = Store(op);
    match mask_value(rw, store.mask(rw.ir)) {
        Some(true) => {
            let plain = Store::state(rw.ir.loc(op), store.ptr(rw.ir), store.value(rw.ir), None)
                .copy(rw.ir, op, Store::ATTR.cache)
                .copy(rw.ir, op, Store::ATTR.evict);
            rw.replace_by(op, plain);
            true
        }
        Some(false) => {
            rw.erase(op);
            true
        }
        None => false,
    }
}

fn expand_dims(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let view = ExpandDims(op);
    if let Some(splat) = Splat::defining(rw.ir, view.src(rw.ir)) {
        let scalar = splat.src(rw.ir);
        rw.replace_with(op, TtOp::Splat, &[scalar]);
        return true;
    }
    let Some(broadcast) = Broadcast::defining(rw.ir, view.src(rw.ir)) else { return false };
    // expand_dims(broadcast x) -> broadcast(expand_dims x), so that broadcasts meet.
    let (src, Some(axis)) = (broadcast.src(rw.ir), view.axis(rw.ir)) else { return false };
    let Some(ty) = expanded(rw.ir.ty(src), axis) else { return false };
    let state = ExpandDims::state(rw.ir.loc(op), src).results(&[ty]).with(ExpandDims::ATTR.axis, axis);
    let expanded = rw.insert(state);
    let (value, ty, loc) = (rw.ir.result(expanded), rw.ir.ty(rw.ir.result(op)), rw.ir.loc(broadcast.0));
    let broadcast = rw.value(TtOp::Broadcast, loc, &[value], ty);
    rw.replace(op, &[broadcast]);
    true
}

/// A tensor type with an axis of size 1 inserted.
fn expanded(ty: Type, axis: i64) -> Option<Type> {
    let axis = usize::try_from(axis).ok()?;
    let tensor = ty.as_tensor()?;
    let mut shape = tensor.shape.clone();
    if axis > shape.len() {
        return None;
    }
    shape.insert(axis, 1);
    let encoding = match tensor.encoding {
        Some(e) => Some(infer::expanded(e, axis)?),
        None => None,
    };
    Some(Type::tensor(&shape, tensor.elem, encoding))
}

fn reshape(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let view = Reshape(op);
    if view.efficient_layout(rw.ir) {
        return false;
    }
    let src = view.src(rw.ir);
    if let Some(inner) = Reshape::defining(rw.ir, src) {
        let reorder = view.allow_reorder(rw.ir) || inner.allow_reorder(rw.ir);
        let one = Reshape::state(rw.ir.loc(op), inner.src(rw.ir)).with(Reshape::ATTR.allow_reorder, reorder);
        rw.replace_by(op, one);
        return true;
    }
    if let Some(splat) = Splat::defining(rw.ir, src) {
        let scalar = splat.src(rw.ir);
        rw.replace_with(op, TtOp::Splat, &[scalar]);
        return true;
    }
    let Some(expand) = ExpandDims::defining(rw.ir, src) else { return false };
    let src = expand.src(rw.ir);
    let undone = !view.allow_reorder(rw.ir) && rw.ir.ty(src) == rw.ir.ty(rw.ir.result(op));
    if undone {
        rw.replace(op, &[src]);
    }
    undone
}

fn broadcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let source = Broadcast(op).src(rw.ir);
    if let Some(splat) = Splat::defining(rw.ir, source) {
        let scalar = splat.src(rw.ir);
        rw.replace_with(op, TtOp::Splat, &[scalar]);
        return true;
    }
    let Some(inner) = Broadcast::defining(rw.ir, source) else { return false };
    let src = inner.src(rw.ir);
    rw.replace_with(op, TtOp::Broadcast, &[src]);
    true
}

fn int_to_ptr_of_ptr_to_int(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(address) = PtrToInt::defining(rw.ir, IntToPtr(op).src(rw.ir)) else { return false };
    let ptr = address.src(rw.ir);
    rw.replace_with(op, TtOp::Bitcast, &[ptr]);
    true
}

/// A constant number of bytes that is a whole number of elements is an offset.
fn int_to_ptr_of_sum(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(sum) = Addi::defining(rw.ir, IntToPtr(op).src(rw.ir)) else { return false };
    let (base, offset) = (sum.lhs(rw.ir), sum.rhs(rw.ir));
    let (ty, loc) = (rw.ir.ty(rw.ir.result(op)), rw.ir.loc(op));
    let (Some(bytes), Some(pointee)) = (rw.const_of(offset).and_then(Attr::int_value), ty.elem().pointee()) else {
        return false;
    };
    let size = i64::from((pointee.bit_width().unwrap_or(8) / 8).max(1));
    if bytes % size != 0 {
        return false;
    }
    rw.at = InsertPoint::Before(op);
    let ptr = rw.value(TtOp::IntToPtr, loc, &[base], ty);
    let offset_ty = ty.with_elem(rw.ir.ty(offset).elem());
    let elements = rw.constant(Attr::int_splat(offset_ty, bytes / size), loc);
    rw.replace_with(op, TtOp::Addptr, &[ptr, elements]);
    true
}
