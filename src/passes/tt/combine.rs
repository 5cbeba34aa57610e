//! `triton-combine`: merges neighbouring operations into one that does both.
//!
//! Patterns, applied until nothing changes:
//!
//! 1. `addf(dot(a, b, 0), d)` is `dot(a, b, d)`; also of integers, of scaled dots, and with the operands swapped.
//! 2. `select(c, load(p, splat c), x)` is `load(p, splat c, x)`.
//! 3. `addptr(addptr(p, x), y)` is `addptr(p, x + y)`, where the sum cannot overflow.
//! 4. `sum(x[:, :, None] * y[None, :, :], axis 1)` is `dot(x, y)`.
//! 5. A reshape to one axis of which only reductions and histograms see the elements may reorder them.

use crate::ir::core::{Attr, InsertPoint, Ir, Op, Type, Value};
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
    let is_dot = |rw: &Rewriter<'_>, v: Value| {
        rw.ir
            .def_op(v)
            .filter(|&d| rw.ir.is(d, TtOp::Dot) || rw.ir.is(d, TtOp::DotScaled) && rw.ir.is(op, ArithOp::Addf))
    };
    let (lhs, rhs) = (rw.ir.operand(op, 0), rw.ir.operand(op, 1));
    let (dot, addend) = match (is_dot(rw, rhs), is_dot(rw, lhs)) {
        (Some(dot), _) => (dot, lhs),
        (None, Some(dot)) => (dot, rhs),
        _ => return false,
    };
    let imprecise =
        rw.ir.is(dot, TtOp::Dot) && rw.ir.is(op, ArithOp::Addf) && rw.ir.int_attr(dot, "maxNumImpreciseAcc") != Some(0);
    if !rw.ir.has_one_use(rw.ir.result(dot)) || !is_zero(rw.ir, rw.ir.operand(dot, 2)) || imprecise {
        return false;
    }
    rw.ir.move_before(dot, op);
    rw.set_operand(dot, 2, addend);
    let (old, new) = (rw.ir.result(op), rw.ir.result(dot));
    rw.replace_all_uses(old, new);
    true
}

fn select_of_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (cond, loaded, other) = (rw.ir.operand(op, 0), rw.ir.operand(op, 1), rw.ir.operand(op, 2));
    let Some(load) = rw.ir.def_op(loaded).filter(|&d| rw.ir.is(d, TtOp::Load)) else { return false };
    let Some(&mask) = rw.ir.operand_group(load, 1).first() else { return false };
    let splat = rw.ir.def_op(mask).filter(|&d| rw.ir.is(d, TtOp::Splat));
    if splat.map(|d| rw.ir.operand(d, 0)) != Some(cond) {
        return false;
    }
    let ptr = rw.ir.operand(load, 0);
    let mut attrs: Vec<_> = ["cache", "evict", "isVolatile"]
        .into_iter()
        .filter_map(|n| rw.ir.stored_attr(load, n).map(|a| (n, a)))
        .collect();
    attrs.push(("operandSegmentSizes", Attr::i32_array(&[1, 1, 1])));
    rw.replace_with_attrs(op, TtOp::Load, &[ptr, mask, other], &attrs);
    true
}

/// The constant behind a value, also behind a splat of one.
fn constant_behind(rw: &Rewriter<'_>, value: Value) -> Option<i64> {
    let def = rw.ir.def_op(value)?;
    let value = if rw.ir.is(def, TtOp::Splat) { rw.ir.operand(def, 0) } else { value };
    rw.const_of(value)?.int_value()
}

fn addptr_of_addptr(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(inner) = rw.ir.def_op(rw.ir.operand(op, 0)).filter(|&d| rw.ir.is(d, TtOp::Addptr)) else { return false };
    let (ptr, x, y) = (rw.ir.operand(inner, 0), rw.ir.operand(inner, 1), rw.ir.operand(op, 1));
    let ty = rw.ir.ty(x);
    let Some(width) = ty.bit_width().filter(|_| rw.ir.ty(y) == ty) else { return false };
    let fits = |sum: i64| width >= 64 || (-(1i64 << (width - 1))..1i64 << (width - 1)).contains(&sum);
    let safe = width == 64
        || matches!((constant_behind(rw, x), constant_behind(rw, y)), (Some(a), Some(b)) if a.checked_add(b).is_some_and(fits));
    if !safe {
        return false;
    }
    let loc = rw.ir.loc(op);
    let hints: Vec<_> = ["tt.divisibility", "tt.contiguity", "tt.constancy", "tt.pointee_type"]
        .into_iter()
        .filter_map(|n| rw.ir.stored_attr(op, n).map(|a| (n, a)))
        .collect();
    let sum = rw.value(ArithOp::Addi, loc, &[x, y], ty);
    rw.replace_with_attrs(op, TtOp::Addptr, &[ptr, sum], &hints);
    true
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
        let expand = rw
            .ir
            .def_op(self.expanded)
            .filter(|&d| rw.ir.is(d, TtOp::ExpandDims) && rw.ir.int_attr(d, "axis") == Some(self.axis as i64));
        if let Some(expand) = expand {
            return rw.ir.operand(expand, 0);
        }
        let shape: Vec<i64> = (0..ty.rank()).filter(|&d| d != self.axis).map(|d| ty.shape()[d]).collect();
        rw.value(TtOp::Reshape, rw.ir.loc(op), &[self.expanded], ty.with_shape(&shape, None))
    }
}

/// x and y of a sum over axis 1 of `x[:, :, None] * y[None, :, :]`, of three dimensions. Repeated along another axis
/// too, they are no matrices of the product's size.
fn summed_product(rw: &Rewriter<'_>, op: Op) -> Option<(Factor, Factor)> {
    if rw.ir.operands(op).len() != 1 || rw.ir.int_attr(op, "axis") != Some(1) || !is_plain_sum(rw.ir, op) {
        return None;
    }
    let mul = rw.ir.def_op(rw.ir.operand(op, 0)).filter(|&d| rw.ir.is(d, ArithOp::Mulf))?;
    let factor = |index: usize, axis: usize| {
        let broadcast = rw.ir.def_op(rw.ir.operand(mul, index)).filter(|&d| rw.ir.is(d, TtOp::Broadcast))?;
        let expanded = rw.ir.operand(broadcast, 0);
        let (from, to) = (rw.ir.ty(expanded).shape(), rw.ir.ty(rw.ir.result(broadcast)).shape());
        let only_there = to.len() == 3 && (0..3).all(|d| (from[d] != to[d]) == (d == axis));
        (only_there && to[axis] >= 16).then_some(Factor { expanded, axis })
    };
    let (x, y) = (factor(0, 2)?, factor(1, 0)?);
    let ty = rw.ir.ty(x.expanded);
    (ty.elem() == Type::f32() && ty.encoding().is_none()).then_some((x, y))
}

/// Whether a reduction adds up floats: its region returns the sum of its two arguments.
fn is_plain_sum(ir: &Ir, op: Op) -> bool {
    let Some(body) = ir.body(op, 0) else { return false };
    let [add, end] = ir.op_list(body)[..] else { return false };
    let both = |operands: &[Value], args: &[Value]| {
        operands == args || (operands.len() == 2 && args == [operands[1], operands[0]])
    };
    ir.is(add, ArithOp::Addf) && both(ir.operands(add), ir.args(body)) && ir.operands(end) == [ir.result(add)]
}

fn reshape_before_reduce(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let result = rw.ir.result(op);
    let blind = |u: &crate::ir::core::Use| matches!(rw.ir.kind(u.op), OpKind::Tt(TtOp::Reduce | TtOp::Histogram));
    if rw.ir.stored_attr(op, "allow_reorder").is_some()
        || rw.ir.ty(result).rank() != 1
        || !rw.ir.uses(result).iter().all(blind)
    {
        return false;
    }
    rw.ir.set_attr(op, "allow_reorder", Attr::unit());
    rw.touch(op);
    true
}

/// A load through a descriptor drops leading axes of size 1 by itself.
fn reshape_of_descriptor_load(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let src = rw.ir.operand(op, 0);
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
