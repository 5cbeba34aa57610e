//! Canonicalization of the `ttg` dialect: conversions of layouts that their producers or users can do without.

use crate::ir::core::{Attr, AttrData, DenseData, Encoding, FloatKind, InsertPoint, Op, OpState, Type};
use crate::ir::dialects::{ArithOp, OpKind, TtOp, TtgOp};
use crate::ir::rewrite::{Pattern, Rewriter};
use crate::layout;
use crate::passes::ttg::{infer, module_attrs};

/// Division of f32 by a constant, on NVIDIA GPUs: a multiplication by an approximate reciprocal, which is not rounded
/// again.
pub static DIVISION: &[&Pattern] =
    &[&Pattern::new("divf(x, c) -> mulf(x, approx_divf(1, c))", OpKind::Arith(ArithOp::Divf), division_by_constant)];

/// Those on conversions; `tritongpu-remove-layout-conversions` cleans up with them too.
pub static PATTERNS: &[&Pattern] = &[
    &Pattern::new("convert_layout of what can have any layout", OpKind::Ttg(TtgOp::ConvertLayout), of_producer),
    &Pattern::new("reshape(convert_layout x) -> reshape x", OpKind::Tt(TtOp::Reshape), reshape_of_convert),
    &Pattern::new("trans(convert_layout x) -> trans x", OpKind::Tt(TtOp::Trans), trans_of_convert),
    &Pattern::new("histogram(convert_layout x) -> histogram x", OpKind::Tt(TtOp::Histogram), histogram_of_convert),
    &Pattern::new("gather(convert_layout x) -> gather x", OpKind::Tt(TtOp::Gather), gather_of_convert),
    &Pattern::new("local_alloc(convert_layout x) -> local_alloc x", OpKind::Ttg(TtgOp::LocalAlloc), store_of_convert),
    &Pattern::new("local_store(convert_layout x) -> local_store x", OpKind::Ttg(TtgOp::LocalStore), store_of_convert),
    &Pattern::new("split(convert_layout x) -> split x", OpKind::Tt(TtOp::Split), split_of_convert),
];

fn division_by_constant(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (x, divisor) = (rw.ir.operand(op, 0), rw.ir.operand(op, 1));
    let (ty, loc) = (rw.ir.ty(x), rw.ir.loc(op));
    let Some(bits) = rw.const_of(divisor).and_then(Attr::splat_value) else { return false };
    if ty.elem() != Type::f32() || module_attrs::target(rw.ir).is_none() {
        return false;
    }
    let scalar =
        if ty.is_tensor() { rw.constant(Attr::new(AttrData::Float(bits, FloatKind::F32)), loc) } else { divisor };
    let one = rw.constant(Attr::float(1.0, FloatKind::F32), loc);
    let mut reciprocal = rw.value(TtOp::ApproxDivf, loc, &[one, scalar], Type::f32());
    if ty.is_tensor() {
        reciprocal = rw.value(TtOp::Splat, loc, &[reciprocal], ty);
    }
    rw.replace_with(op, ArithOp::Mulf, &[x, reciprocal]);
    true
}

/// The conversion that defines operand `index`, if it is one.
fn convert_at(rw: &Rewriter<'_>, op: Op, index: usize) -> Option<Op> {
    rw.ir.def_op(rw.ir.operand(op, index)).filter(|&d| rw.ir.is(d, TtgOp::ConvertLayout))
}

/// Whether a conversion changes only how the layout is written.
fn is_trivial(rw: &Rewriter<'_>, convert: Op) -> bool {
    let (from, to) = (rw.ir.ty(rw.ir.operand(convert, 0)), rw.ir.ty(rw.ir.result(convert)));
    match (from.encoding(), to.encoding()) {
        (Some(a), Some(b)) => layout::are_layouts_equivalent(from.shape(), a, b).unwrap_or(false),
        _ => false,
    }
}

fn reshape_attrs(rw: &Rewriter<'_>, op: Op) -> Vec<(&'static str, Attr)> {
    ["allow_reorder", "efficient_layout"].into_iter().filter_map(|n| rw.ir.stored_attr(op, n).map(|a| (n, a))).collect()
}

fn of_producer(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let src = rw.ir.operand(op, 0);
    let (from, to) = (rw.ir.ty(src), rw.ir.ty(rw.ir.result(op)));
    if from == to {
        rw.replace(op, &[src]);
        return true;
    }
    // A conversion between matrix instructions of one kind is left alone: attention kernels rely on it.
    if matches!(to.layout(), Some(Encoding::DotOp { .. })) && matches!(from.layout(), Some(Encoding::NvidiaMma(_))) {
        return false;
    }
    let Some(def) = rw.ir.def_op(src) else { return false };
    let operands = rw.ir.operands(def).to_vec();
    match rw.ir.kind(def) {
        OpKind::Tt(TtOp::Reshape) => convert_of_reshape(rw, op, def, to),
        OpKind::Tt(TtOp::Histogram) => {
            rw.replace_with(op, TtOp::Histogram, &operands);
            true
        }
        OpKind::Ttg(TtgOp::LocalLoad) => {
            // Where the load is: the buffer may be written before the conversion.
            rw.at = InsertPoint::Before(def);
            let loaded = rw.insert(OpState::new(TtgOp::LocalLoad, rw.ir.loc(op)).operands(&operands).results(&[to]));
            let value = rw.ir.result(loaded);
            rw.replace(op, &[value]);
            true
        }
        OpKind::Tt(TtOp::Cat) => {
            let elements: usize = operands.iter().map(|&v| layout::elems_per_thread(rw.ir.ty(v))).sum();
            if layout::elems_per_thread(to) != elements {
                return false;
            }
            rw.replace_with(op, TtOp::Cat, &operands);
            true
        }
        OpKind::Ttg(TtgOp::ConvertLayout) => {
            rw.replace_with(op, TtgOp::ConvertLayout, &operands);
            true
        }
        OpKind::Tt(TtOp::Splat) => {
            rw.replace_with(op, TtOp::Splat, &operands);
            true
        }
        OpKind::Tt(TtOp::MakeRange) => {
            let attrs: Vec<_> =
                ["start", "end"].into_iter().filter_map(|n| rw.ir.attr(def, n).map(|a| (n, a))).collect();
            rw.replace_with_attrs(op, TtOp::MakeRange, &[], &attrs);
            true
        }
        OpKind::Arith(ArithOp::Constant) => {
            let Some(AttrData::Dense(_, DenseData::Splat(bits))) = rw.const_of(src).map(Attr::data) else {
                return false;
            };
            let value = Attr::new(AttrData::Dense(to, DenseData::Splat(*bits)));
            rw.replace_with_attrs(op, ArithOp::Constant, &[], &[("value", value)]);
            true
        }
        _ => false,
    }
}

/// A reshape that may reorder gives any layout that costs no data movement.
fn convert_of_reshape(rw: &mut Rewriter<'_>, op: Op, reshape: Op, to: Type) -> bool {
    let free = rw.ir.stored_attr(reshape, "allow_reorder").is_some()
        && rw.ir.stored_attr(reshape, "efficient_layout").is_none();
    let from = rw.ir.ty(rw.ir.operand(reshape, 0));
    let dot = |t: Type| matches!(t.layout(), Some(Encoding::DotOp { .. }));
    if !free || layout::is_expensive_view(from, to).unwrap_or(true) || dot(to) || dot(rw.ir.ty(rw.ir.operand(op, 0))) {
        return false;
    }
    let src = rw.ir.operand(op, 0);
    rw.replace_with_attrs(op, TtOp::Reshape, &[src], &[("allow_reorder", Attr::unit())]);
    true
}

fn reshape_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(convert) = convert_at(rw, op, 0) else { return false };
    let src = rw.ir.operand(convert, 0);
    let reorder = rw.ir.stored_attr(op, "allow_reorder").is_some();
    let free = reorder && !layout::is_expensive_view(rw.ir.ty(src), rw.ir.ty(rw.ir.result(op))).unwrap_or(true);
    if !is_trivial(rw, convert) && !free {
        return false;
    }
    let attrs = reshape_attrs(rw, op);
    rw.replace_with_attrs(op, TtOp::Reshape, &[src], &attrs);
    true
}

fn trans_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(order) = rw.ir.attr(op, "order") else { return false };
    let identity = order.as_dense_array().is_some_and(|o| o.iter().enumerate().all(|(i, &d)| i as i64 == d));
    let src = rw.ir.operand(op, 0);
    // Only layouts can differ under the identity; without them the fold has replaced it.
    if identity && rw.ir.ty(src).encoding().is_some() {
        rw.replace_with(op, TtgOp::ConvertLayout, &[src]);
        return true;
    }
    let Some(convert) = convert_at(rw, op, 0).filter(|&c| is_trivial(rw, c)) else { return false };
    let src = rw.ir.operand(convert, 0);
    rw.replace_with_attrs(op, TtOp::Trans, &[src], &[("order", order)]);
    true
}

fn histogram_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(convert) = convert_at(rw, op, 0) else { return false };
    let src = rw.ir.operand(convert, 0);
    let mut operands = vec![src];
    if let Some(&mask) = rw.ir.operand_group(op, 1).first() {
        let (loc, ty) = (rw.ir.loc(op), rw.ir.ty(src).with_elem(Type::int(1)));
        operands.push(rw.value(TtgOp::ConvertLayout, loc, &[mask], ty));
    }
    rw.replace_with(op, TtOp::Histogram, &operands);
    true
}

fn gather_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if rw.ir.stored_attr(op, "efficient_layout").is_some() {
        return false;
    }
    let (Some(convert), Some(axis)) = (convert_at(rw, op, 0), rw.ir.attr(op, "axis")) else { return false };
    let operands = [rw.ir.operand(convert, 0), rw.ir.operand(op, 1)];
    rw.replace_with_attrs(op, TtOp::Gather, &operands, &[("axis", axis)]);
    true
}

/// A buffer takes a tensor in any layout. Other attributes of an allocation stay.
fn store_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if rw.ir.operands(op).is_empty() {
        return false;
    }
    let Some(convert) = convert_at(rw, op, 0) else { return false };
    let src = rw.ir.operand(convert, 0);
    rw.set_operand(op, 0, src);
    true
}

/// Several layouts of the source give one layout of the halves.
fn split_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(convert) = convert_at(rw, op, 0) else { return false };
    let src = rw.ir.operand(convert, 0);
    let Some(encoding) = rw.ir.ty(src).encoding() else { return false };
    if infer::result_encoding(rw.ir, op, encoding) != rw.ir.ty(rw.ir.result(op)).encoding() {
        return false;
    }
    rw.replace_with(op, TtOp::Split, &[src]);
    true
}
