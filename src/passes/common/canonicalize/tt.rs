//! Canonicalization of the `tt` dialect: constant masks, and operations on splats and broadcasts.

use crate::ir::core::{Attr, InsertPoint, Op, OpState, Type};
use crate::ir::dialects::{ArithOp, OpKind, TtOp};
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
fn mask_value(rw: &Rewriter<'_>, op: Op, group: usize) -> Option<bool> {
    let mask = *rw.ir.operand_group(op, group).first()?;
    rw.const_of(mask).filter(|a| matches!(**a, crate::ir::core::AttrData::Dense(..)))?.int_value().map(|v| v != 0)
}

/// Access modifiers of a load or store, as attributes.
fn modifiers(rw: &Rewriter<'_>, op: Op) -> Vec<(&'static str, Attr)> {
    ["cache", "evict", "isVolatile"].into_iter().filter_map(|n| rw.ir.stored_attr(op, n).map(|a| (n, a))).collect()
}

fn masked_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    match mask_value(rw, op, 1) {
        Some(true) => {
            let ptr = rw.ir.operand(op, 0);
            let mut attrs = modifiers(rw, op);
            attrs.push(("operandSegmentSizes", Attr::i32_array(&[1, 0, 0])));
            rw.replace_with_attrs(op, TtOp::Load, &[ptr], &attrs);
            true
        }
        Some(false) => {
            let Some(&other) = rw.ir.operand_group(op, 2).first() else { return false };
            rw.replace(op, &[other]);
            true
        }
        None => false,
    }
}

fn masked_store(rw: &mut Rewriter<'_>, op: Op) -> bool {
    match mask_value(rw, op, 2) {
        Some(true) => {
            let operands = rw.ir.operands(op)[..2].to_vec();
            let attrs = modifiers(rw, op);
            rw.replace_with_attrs(op, TtOp::Store, &operands, &attrs);
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
    let Some(def) = rw.ir.def_op(rw.ir.operand(op, 0)) else { return false };
    if rw.ir.is(def, TtOp::Splat) {
        let scalar = rw.ir.operand(def, 0);
        rw.replace_with(op, TtOp::Splat, &[scalar]);
        return true;
    }
    if !rw.ir.is(def, TtOp::Broadcast) {
        return false;
    }
    // expand_dims(broadcast x) -> broadcast(expand_dims x), so that broadcasts meet.
    let (src, Some(axis)) = (rw.ir.operand(def, 0), rw.ir.attr(op, "axis")) else { return false };
    let Some(ty) = expanded(rw.ir.ty(src), axis.as_int()) else { return false };
    let loc = rw.ir.loc(op);
    let expanded = rw.insert(OpState::new(TtOp::ExpandDims, loc).operands(&[src]).results(&[ty]).attr("axis", axis));
    let (value, ty, loc) = (rw.ir.result(expanded), rw.ir.ty(rw.ir.result(op)), rw.ir.loc(def));
    let broadcast = rw.value(TtOp::Broadcast, loc, &[value], ty);
    rw.replace(op, &[broadcast]);
    true
}

/// A tensor type with an axis of size 1 inserted.
fn expanded(ty: Type, axis: Option<i64>) -> Option<Type> {
    let axis = usize::try_from(axis?).ok()?;
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
    if rw.ir.stored_attr(op, "efficient_layout").is_some() {
        return false;
    }
    let Some(def) = rw.ir.def_op(rw.ir.operand(op, 0)) else { return false };
    let src = rw.ir.operands(def).first().copied();
    match (rw.ir.kind(def), src) {
        (OpKind::Tt(TtOp::Reshape), Some(src)) => {
            let reorder = rw.ir.stored_attr(op, "allow_reorder").or(rw.ir.stored_attr(def, "allow_reorder"));
            let attrs: Vec<_> = reorder.map(|a| ("allow_reorder", a)).into_iter().collect();
            rw.replace_with_attrs(op, TtOp::Reshape, &[src], &attrs);
            true
        }
        (OpKind::Tt(TtOp::Splat), Some(scalar)) => {
            rw.replace_with(op, TtOp::Splat, &[scalar]);
            true
        }
        (OpKind::Tt(TtOp::ExpandDims), Some(src)) => {
            let undone =
                rw.ir.stored_attr(op, "allow_reorder").is_none() && rw.ir.ty(src) == rw.ir.ty(rw.ir.result(op));
            if undone {
                rw.replace(op, &[src]);
            }
            undone
        }
        _ => false,
    }
}

fn broadcast(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(def) = rw.ir.def_op(rw.ir.operand(op, 0)) else { return false };
    let OpKind::Tt(kind @ (TtOp::Splat | TtOp::Broadcast)) = rw.ir.kind(def) else { return false };
    let src = rw.ir.operand(def, 0);
    rw.replace_with(op, kind, &[src]);
    true
}

fn int_to_ptr_of_ptr_to_int(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(def) = rw.ir.def_op(rw.ir.operand(op, 0)).filter(|&d| rw.ir.is(d, TtOp::PtrToInt)) else { return false };
    let ptr = rw.ir.operand(def, 0);
    rw.replace_with(op, TtOp::Bitcast, &[ptr]);
    true
}

/// A constant number of bytes that is a whole number of elements is an offset.
fn int_to_ptr_of_sum(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(sum) = rw.ir.def_op(rw.ir.operand(op, 0)).filter(|&d| rw.ir.is(d, ArithOp::Addi)) else { return false };
    let (base, offset) = (rw.ir.operand(sum, 0), rw.ir.operand(sum, 1));
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
