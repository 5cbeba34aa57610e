//! Canonicalization of the `ttg` dialect: conversions of layouts that their producers or users can do without.

use crate::ir::core::Value;
use crate::ir::core::{Attr, AttrData, DenseData, Encoding, FloatKind, InsertPoint, Op, OpState, Type};
use crate::ir::dialects::Classes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::keys::Slot;
use crate::ir::dialects::spec::ValueGroup;
use crate::ir::dialects::tt::tt::{Reshape, Split, Trans};
use crate::ir::dialects::ttg::ttg::{ConvertLayout, LocalLoad};
use crate::ir::dialects::{ArithOp, OpKind, TtOp, TtgOp};
use crate::ir::rewrite::{Pattern, Rewriter};
use crate::layout;
use crate::passes::ttg::{infer, module_attrs};

/// Division of f32 by a constant, where the target has it so: a multiplication by an approximate reciprocal, which is
/// not rounded again.
pub static DIVISION: &[&Pattern] =
    &[&Pattern::new("divf(x, c) -> mulf(x, approx_divf(1, c))", OpKind::Arith(ArithOp::Divf), division_by_constant)];

/// Those on conversions; `tritongpu-remove-layout-conversions` cleans up with them too.
pub static PATTERNS: &[&Pattern] = &[
    &Pattern::new("convert_layout of what can have any layout", OpKind::Ttg(TtgOp::ConvertLayout), of_producer),
    &Pattern::new("reshape(convert_layout x) -> reshape x", OpKind::Tt(TtOp::Reshape), reshape_of_convert),
    &Pattern::new("trans(convert_layout x) -> trans x", OpKind::Tt(TtOp::Trans), trans_of_convert),
    &Pattern::of_class("f(convert_layout x, ...) -> f(x, ...)", Classes::READS_ANY_LAYOUT, reader_of_convert),
    &Pattern::new("split(convert_layout x) -> split x", OpKind::Tt(TtOp::Split), split_of_convert),
];

fn division_by_constant(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [x, divisor] = rw.ir.all_operands(op);
    let (ty, loc) = (rw.ir.ty(x), rw.ir.loc(op));
    let Some(bits) = rw.const_of(divisor).and_then(Attr::splat_value) else { return false };
    if ty.elem() != Type::f32() || !module_attrs::target(rw.ir).is_some_and(|t| t.divides_by_reciprocals()) {
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

/// Whether a conversion changes only how the layout is written.
fn is_trivial(rw: &Rewriter<'_>, convert: ConvertLayout) -> bool {
    let (from, to) = (rw.ir.ty(convert.src(rw.ir)), rw.ir.ty(convert.result(rw.ir)));
    match (from.encoding(), to.encoding()) {
        (Some(a), Some(b)) => layout::are_layouts_equivalent(from.shape(), a, b).unwrap_or(false),
        _ => false,
    }
}

fn of_producer(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let src = ConvertLayout(op).src(rw.ir);
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
    let kind = rw.ir.kind(def);
    if let Some(reshape) = Reshape::of(rw.ir, def) {
        return convert_of_reshape(rw, op, reshape, to);
    }
    if let Some(load) = LocalLoad::of(rw.ir, def) {
        // Where the load is: the buffer may be written before the conversion.
        let moved = LocalLoad::state(rw.ir.loc(op), load.src(rw.ir), load.token(rw.ir)).results(&[to]);
        rw.at = InsertPoint::Before(def);
        let loaded = rw.insert(moved);
        let value = rw.ir.result(loaded);
        rw.replace(op, &[value]);
        return true;
    }
    let elements = |v: &Value| layout::elems_per_thread(rw.ir.ty(*v));
    if rw.ir.is(def, TtOp::Cat)
        && rw.ir.operands(def).iter().map(elements).sum::<usize>() != elements(&rw.ir.result(op))
    {
        return false;
    }
    let mut again = OpState::new(kind, rw.ir.loc(op)).operands(rw.ir.operands(def)).copy_required(rw.ir, def);
    if kind.has(Traits::CONSTANT) {
        let Some(AttrData::Dense(_, DenseData::Splat(bits))) = rw.const_of(src).map(Attr::data) else { return false };
        let value = Attr::new(AttrData::Dense(to, DenseData::Splat(*bits)));
        again = Constant::state(rw.ir.loc(op)).with(Constant::ATTR.value, value);
    } else if !kind.belongs(Classes::GIVES_ANY_LAYOUT) {
        return false;
    }
    rw.replace_by(op, again);
    true
}

/// A reshape that may reorder gives any layout that costs no data movement.
fn convert_of_reshape(rw: &mut Rewriter<'_>, op: Op, reshape: Reshape, to: Type) -> bool {
    let free = reshape.allow_reorder(rw.ir) && !reshape.efficient_layout(rw.ir);
    let from = rw.ir.ty(reshape.src(rw.ir));
    let src = ConvertLayout(op).src(rw.ir);
    let dot = |t: Type| matches!(t.layout(), Some(Encoding::DotOp { .. }));
    if !free || layout::is_expensive_view(from, to).unwrap_or(true) || dot(to) || dot(rw.ir.ty(src)) {
        return false;
    }
    rw.replace_by(op, Reshape::state(rw.ir.loc(op), src).with(Reshape::ATTR.allow_reorder, true));
    true
}

fn reshape_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(convert) = ConvertLayout::defining(rw.ir, Reshape(op).src(rw.ir)) else { return false };
    let src = convert.src(rw.ir);
    let reorder = Reshape(op).allow_reorder(rw.ir);
    let free = reorder && !layout::is_expensive_view(rw.ir.ty(src), rw.ir.ty(rw.ir.result(op))).unwrap_or(true);
    if !is_trivial(rw, convert) && !free {
        return false;
    }
    let reshape = Reshape::state(rw.ir.loc(op), src).copy(rw.ir, op, Reshape::ATTR.allow_reorder).copy(
        rw.ir,
        op,
        Reshape::ATTR.efficient_layout,
    );
    rw.replace_by(op, reshape);
    true
}

fn trans_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(order) = Trans(op).order(rw.ir) else { return false };
    let identity = order.iter().enumerate().all(|(i, &d)| i as i64 == d);
    let src = Trans(op).src(rw.ir);
    // Only layouts can differ under the identity; without them the fold has replaced it.
    if identity && rw.ir.ty(src).encoding().is_some() {
        rw.replace_with(op, TtgOp::ConvertLayout, &[src]);
        return true;
    }
    let Some(convert) = ConvertLayout::defining(rw.ir, src).filter(|&c| is_trivial(rw, c)) else { return false };
    let trans = Trans::state(rw.ir.loc(op), convert.src(rw.ir)).with(Trans::ATTR.order, order);
    rw.replace_by(op, trans);
    true
}

/// Operand 0 loses its conversion. Masks of it have its layout, so they are converted instead.
fn reader_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    // A pass chose the layouts of an operation that carries this attribute, which has one name wherever it stands.
    if rw.ir.stores(op, Reshape::ATTR.efficient_layout) {
        return false;
    }
    let Some(&converted) = rw.ir.operands(op).first() else { return false };
    let Some(convert) = ConvertLayout::defining(rw.ir, converted) else { return false };
    let (src, loc, spec) = (convert.src(rw.ir), rw.ir.loc(op), rw.ir.spec(op));
    for rule in spec.types.iter().filter(|rule| spec.place(rule.of) == Some(ValueGroup::Operand(0))) {
        let Some(ValueGroup::Operand(group)) = spec.place(rule.value) else { continue };
        let Some(&follower) = rw.ir.operand_group(op, group).first() else { continue };
        let Ok((like, elem)) = rule.parts(rw.ir.ty(src)) else { continue };
        let follower = rw.value(TtgOp::ConvertLayout, loc, &[follower], like.with_elem(elem));
        rw.put_operands(op, Slot::new(group), &[follower]);
    }
    rw.put_operands(op, Slot::new(0), &[src]);
    true
}

/// Several layouts of the source give one layout of the halves.
fn split_of_convert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(convert) = ConvertLayout::defining(rw.ir, Split(op).src(rw.ir)) else { return false };
    let src = convert.src(rw.ir);
    let Some(encoding) = rw.ir.ty(src).encoding() else { return false };
    if infer::result_encoding(rw.ir, op, encoding) != rw.ir.ty(rw.ir.result(op)).encoding() {
        return false;
    }
    rw.replace_with(op, TtOp::Split, &[src]);
    true
}
