//! `triton-combine`: merges neighbouring operations into one that does both.
//!
//! Patterns, applied until nothing changes:
//!
//! 1. `addf(dot(a, b, 0), d)` is `dot(a, b, d)`; also of integers, of scaled dots, and with the operands swapped.
//! 2. `select(c, load(p, splat c), x)` is `load(p, splat c, x)`.
//! 3. `addptr(addptr(p, x), y)` is `addptr(p, x + y)`, where the sum cannot overflow.
//! 4. `sum(x[:, :, None] * y[None, :, :], axis 1)` is `dot(x, y)`.
//! 5. A reshape to one axis may reorder the elements if only operations see them to which their order means nothing.

use crate::ir::core::{Attr, Dominance, InsertPoint, Ir, Op, Type, Value};
use crate::ir::dialects::Classes;
use crate::ir::dialects::arith::arith::{Addf, Mulf};
use crate::ir::dialects::discardable::{CONSTANCY, CONTIGUITY, DIVISIBILITY, POINTEE_TYPE};
use crate::ir::dialects::tt::tt::{Addptr, Broadcast, Dot, DotScaled, ExpandDims, Load, Reduce, Reshape, Splat};
use crate::ir::dialects::{ArithOp, OpKind, TtOp};
use crate::ir::rewrite::fold::is_zero;
use crate::ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-combine",
    doc: "merge neighbouring operations into one",
    input: Input::Any,
    options: &[],
    run,
};

static PATTERNS: &[&Pattern] = &[
    &Pattern::new("addi(dot(a, b, 0), d) -> dot(a, b, d)", OpKind::Arith(ArithOp::Addi), dot_plus),
    &Pattern::new("addf(dot(a, b, 0), d) -> dot(a, b, d)", OpKind::Arith(ArithOp::Addf), dot_plus),
    &Pattern::new(
        "select(c, load(p, splat c), x) -> load(p, splat c, x)",
        OpKind::Arith(ArithOp::Select),
        select_of_load,
    ),
    &Pattern::new("addptr(addptr(p, x), y) -> addptr(p, x + y)", OpKind::Tt(TtOp::Addptr), addptr_of_addptr),
    &Pattern::new("sum(broadcast x * broadcast y) -> dot(x, y)", OpKind::Tt(TtOp::Reduce), reduce_to_dot),
    &Pattern::new("reshape before reductions may reorder", OpKind::Tt(TtOp::Reshape), reshape_before_reduce),
    &Pattern::new("reshape(descriptor_load) -> descriptor_load", OpKind::Tt(TtOp::Reshape), reshape_of_descriptor_load),
];

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    Ok(Changed::from(rewrite_greedily(ir, module, PATTERNS, Config::default())))
}

fn dot_plus(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let floats = rw.ir.is(op, ArithOp::Addf);
    // The product, its accumulator, and whether it adds up less precisely than an addition behind it.
    let product = |rw: &Rewriter<'_>, v: Value| {
        if let Some(dot) = Dot::defining(rw.ir, v) {
            let imprecise = floats && dot.maxNumImpreciseAcc(rw.ir) != Some(0);
            return Some((dot.0, dot.c(rw.ir), Dot::SLOT.c, imprecise));
        }
        let dot = DotScaled::defining(rw.ir, v).filter(|_| floats)?;
        Some((dot.0, dot.c(rw.ir), DotScaled::SLOT.c, false))
    };
    let [lhs, rhs] = rw.ir.all_operands(op);
    let found = product(rw, rhs).map(|found| (found, lhs)).or_else(|| Some((product(rw, lhs)?, rhs)));
    let Some(((dot, accumulator, slot, imprecise), addend)) = found else { return false };
    if !rw.ir.has_one_use(rw.ir.result(dot)) || !is_zero(rw.ir, accumulator) || imprecise {
        return false;
    }
    rw.ir.move_before(dot, op);
    rw.put_operands(dot, slot, &[addend]);
    let (old, new) = (rw.ir.result(op), rw.ir.result(dot));
    rw.replace_all_uses(old, new);
    true
}

fn select_of_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let [cond, loaded, other] = rw.ir.all_operands(op);
    let Some(load) = Load::defining(rw.ir, loaded) else { return false };
    let Some(mask) = load.mask(rw.ir) else { return false };
    if Splat::defining(rw.ir, mask).map(|splat| splat.src(rw.ir)) != Some(cond) {
        return false;
    }
    // The load stays where it is: something behind it may store to the same place.
    if !rw.ir.has_one_use(loaded) || load.isVolatile(rw.ir) {
        return false;
    }
    if !Dominance::new().value_dominates(rw.ir, other, load.0) {
        let Some(constant) = rw.ir.def_op(other).filter(|&def| rw.ir.is(def, ArithOp::Constant)) else { return false };
        rw.ir.move_before(constant, load.0);
    }
    rw.put_operands(load.0, Load::SLOT.other, &[other]);
    rw.replace_all_uses(rw.ir.result(op), loaded);
    true
}

/// The constant behind a value, also behind a splat of one.
fn constant_behind(rw: &Rewriter<'_>, value: Value) -> Option<i64> {
    let value = Splat::defining(rw.ir, value).map_or(value, |splat| splat.src(rw.ir));
    rw.const_of(value)?.int_value()
}

/// Additions to a pointer, one after the other, that are merged last with last as Triton does. Where the distances are
/// not known, each of `n` additions then ends with a sum of its own, of up to `n` terms. A longer chain is merged from
/// its start, so that its sums share their terms.
const LONG_CHAIN: usize = 32;

/// Two additions to a pointer that can become one.
struct Pair {
    inner: Addptr,
    x: Value,
    y: Value,
    /// The sum of the two distances, where it is known.
    sum: Option<i64>,
}

/// An addition with the one in front of it, if their sum cannot overflow.
fn pair(rw: &Rewriter<'_>, op: Op) -> Option<Pair> {
    let inner = Addptr::defining(rw.ir, Addptr(op).ptr(rw.ir))?;
    let (x, y) = (inner.offset(rw.ir), Addptr(op).offset(rw.ir));
    let ty = rw.ir.ty(x);
    let width = ty.bit_width().filter(|_| rw.ir.ty(y) == ty)?;
    let fits = |sum: &i64| width >= 64 || (-(1i64 << (width - 1))..1i64 << (width - 1)).contains(sum);
    let sum = constant_behind(rw, x).zip(constant_behind(rw, y)).and_then(|(a, b)| a.checked_add(b)).filter(fits);
    (sum.is_some() || width == 64).then_some(Pair { inner, x, y, sum })
}

/// The additions from `op` towards the start of its chain that merge with the one in front of them; with `known`, as
/// far as the distances are known.
fn chain(rw: &Rewriter<'_>, op: Op, known: bool) -> impl Iterator<Item = Op> {
    let mut at = op;
    std::iter::from_fn(move || {
        let pair = pair(rw, at).filter(|pair| pair.sum.is_some() || !known)?;
        Some(std::mem::replace(&mut at, pair.inner.0))
    })
}

/// Merges from the start, each addition with one that has been merged before: a chain takes time in proportion to its
/// length. Short chains of unknown distances are merged from the end.
fn addptr_of_addptr(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(Pair { sum, .. }) = pair(rw, op) else { return false };
    let known = sum.is_some();
    let from_start = known || chain(rw, op, false).nth(LONG_CHAIN).is_some();
    let merged: Vec<Op> = if from_start { chain(rw, op, known).collect() } else { vec![op] };
    merged.into_iter().rev().for_each(|op| merge_with_inner(rw, op));
    true
}

fn merge_with_inner(rw: &mut Rewriter<'_>, op: Op) {
    let Some(Pair { inner, x, y, sum }) = pair(rw, op) else { return };
    rw.at = InsertPoint::Before(op);
    let (loc, ty, ptr) = (rw.ir.loc(op), rw.ir.ty(x), inner.ptr(rw.ir));
    let sum = match sum {
        Some(sum) => rw.constant(Attr::int_splat(ty, sum), loc),
        None => rw.value(ArithOp::Addi, loc, &[x, y], ty),
    };
    let hints = [DIVISIBILITY, CONTIGUITY, CONSTANCY, POINTEE_TYPE];
    let moved = hints.into_iter().fold(Addptr::state(loc, ptr, sum), |state, hint| state.copy(rw.ir, op, hint));
    rw.replace_by(op, moved);
}

fn reduce_to_dot(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((x, y)) = summed_product(rw, op) else { return false };
    rw.at = InsertPoint::Before(op);
    let (x, y) = (x.matrix(rw, op), y.matrix(rw, op));
    let (loc, elem) = (rw.ir.loc(op), rw.ir.ty(x).elem());
    let shape = [rw.ir.ty(x).shape()[0], rw.ir.ty(y).shape()[1]];
    let zero = rw.constant(Attr::splat_bits(elem, 0), loc);
    let ty = Type::tensor(&shape, elem, None);
    let acc = rw.value(TtOp::Splat, loc, &[zero], ty);
    rw.replace_with(op, TtOp::Dot, &[x, y, acc]);
    true
}

/// A matrix that a product repeats along an axis of its own.
struct Factor {
    /// With the axis, of size 1, along which it is repeated.
    expanded: Value,
    /// The axis.
    axis: usize,
}

impl Factor {
    /// The matrix: what was expanded, or a reshape.
    fn matrix(&self, rw: &mut Rewriter<'_>, op: Op) -> Value {
        let ty = rw.ir.ty(self.expanded);
        let expand = ExpandDims::defining(rw.ir, self.expanded);
        if let Some(expand) = expand.filter(|e| e.axis(rw.ir) == Some(self.axis as i64)) {
            return expand.src(rw.ir);
        }
        let shape: Vec<i64> = (0..ty.rank()).filter(|&d| d != self.axis).map(|d| ty.shape()[d]).collect();
        rw.value(TtOp::Reshape, rw.ir.loc(op), &[self.expanded], ty.with_shape(&shape, None))
    }
}

/// x and y of a sum over axis 1 of `x[:, :, None] * y[None, :, :]`, of three dimensions. Repeated along another axis
/// too, they are no matrices of the product's size.
fn summed_product(rw: &Rewriter<'_>, op: Op) -> Option<(Factor, Factor)> {
    let reduce = Reduce(op);
    let &[product] = reduce.srcs(rw.ir) else { return None };
    if reduce.axis(rw.ir) != Some(1) || !is_plain_sum(rw.ir, op) {
        return None;
    }
    let mul = Mulf::defining(rw.ir, product)?;
    let factor = |repeated: Value, axis: usize| {
        let broadcast = Broadcast::defining(rw.ir, repeated)?;
        let expanded = broadcast.src(rw.ir);
        let (from, to) = (rw.ir.ty(expanded).shape(), rw.ir.ty(repeated).shape());
        let only_there = to.len() == 3 && (0..3).all(|d| (from[d] != to[d]) == (d == axis));
        (only_there && to[axis] >= 16).then_some(Factor { expanded, axis })
    };
    let (x, y) = (factor(mul.lhs(rw.ir), 2)?, factor(mul.rhs(rw.ir), 0)?);
    let ty = rw.ir.ty(x.expanded);
    (ty.elem() == Type::f32() && ty.encoding().is_none()).then_some((x, y))
}

/// Whether a reduction adds up floats: its region returns the sum of its two arguments.
fn is_plain_sum(ir: &Ir, op: Op) -> bool {
    let Some(body) = ir.body(op, 0) else { return false };
    let [add, end] = ir.op_list(body)[..] else { return false };
    let Some(sum) = Addf::of(ir, add) else { return false };
    let (x, y) = (sum.lhs(ir), sum.rhs(ir));
    let both = ir.args(body) == [x, y] || ir.args(body) == [y, x];
    both && ir.operands(end) == [sum.result(ir)]
}

fn reshape_before_reduce(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let result = rw.ir.result(op);
    let blind = |u: &crate::ir::core::Use| rw.ir.kind(u.op).belongs(Classes::BLIND_TO_ORDER);
    if Reshape(op).allow_reorder(rw.ir) || rw.ir.ty(result).rank() != 1 || !rw.ir.uses(result).iter().all(blind) {
        return false;
    }
    rw.ir.put(op, Reshape::ATTR.allow_reorder, true);
    rw.touch(op);
    true
}

/// A load through a descriptor drops leading axes of size 1 by itself.
fn reshape_of_descriptor_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let src = Reshape(op).src(rw.ir);
    let is_load = rw.ir.def_op(src).is_some_and(|d| rw.ir.is(d, TtOp::DescriptorLoad));
    let (from, to) = (rw.ir.ty(src), rw.ir.ty(rw.ir.result(op)));
    let Some(extra) = from.rank().checked_sub(to.rank()).filter(|&e| e > 0 && is_load && rw.ir.has_one_use(src)) else {
        return false;
    };
    let (leading, rest) = from.shape().split_at(extra);
    if leading.iter().any(|&d| d != 1) || rest != to.shape() {
        return false;
    }
    rw.ir.set_type(src, to);
    rw.replace(op, &[src]);
    true
}
