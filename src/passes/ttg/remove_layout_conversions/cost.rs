//! Whether computing a slice twice is cheaper than the conversion it saves.
//!
//! Costs are in thousandths of a cycle of a multiprocessor:
//!
//! - a conversion through shared memory: 32 a byte (store, load, and as much again for waiting), of at least 32
//!   elements of 32 bits;
//! - arithmetic: 1 a byte, 8 for what takes the special function unit or several instructions; times the elements that
//!   a thread has more in the new layout than in the old one; nothing for what is then not needed in the old layout any
//!   more;
//! - a load (of few elements, likely cached): 8 a byte;
//! - a reduction: its shuffles, and 8 for each round through shared memory; never if the order of its operands matters.

use std::collections::BTreeSet;

use super::slice::Slice;
use crate::ir::core::{Attr, Ir, Op, Use, Value, ValueDef};
use crate::ir::dialects::{ArithOp, MathOp, OpKind, ScfOp, TtOp, TtgOp};
use crate::layout::{self, ConversionKind, conversion_kind_of};

/// Whether redoing `slice` for the conversion `op` costs no more than the conversion; `extra` is the cost of
/// conversions made for it.
pub(super) fn is_beneficial(ir: &Ir, op: Op, slice: &Slice, extra: i64) -> bool {
    let ops: BTreeSet<Op> = slice.values.iter().filter(|&&v| !slice.exists(v)).filter_map(|&v| ir.def_op(v)).collect();
    let needed = needed_elsewhere(ir, op, slice, &ops);
    let Some(encoding) = ir.ty(ir.result(op)).encoding() else { return false };
    let mut cost = extra;
    for &def in &ops {
        let shared = ir.results(def).iter().any(|r| needed.contains(r));
        match of_op(ir, def, slice, shared) {
            Some(c) => cost += c,
            None => return false,
        }
    }
    of_conversion(ir, ir.operand(op, 0), encoding) >= cost
}

/// The cost of converting a value.
pub(super) fn of_conversion(ir: &Ir, source: Value, encoding: Attr) -> i64 {
    let ty = ir.ty(source);
    let free = conversion_kind_of(ty, ty.with_encoding(Some(encoding))).is_ok_and(|k| k <= ConversionKind::Registers);
    if free { 0 } else { 32 * bytes(ir, source, 32, 32) }
}

/// Bytes of a tensor, with a least number of elements and bits an element. Pointers count nothing of their own.
fn bytes(ir: &Ir, value: Value, min_elements: i64, min_bits: i64) -> i64 {
    let ty = ir.ty(value);
    let elements = if ty.is_tensor() { ty.num_elements() } else { 0 };
    let bits = if ty.is_tensor() && !ty.elem().is_ptr() { i64::from(ty.bit_width().unwrap_or(0)) } else { 0 };
    (elements.max(min_elements) * bits.max(min_bits)) >> 3
}

/// The cost of redoing one operation; `None` if it must not be done twice. `shared`: its old result stays needed.
fn of_op(ir: &Ir, op: Op, slice: &Slice, shared: bool) -> Option<i64> {
    let results = ir.results(op);
    match ir.kind(op) {
        OpKind::Arith(ArithOp::Constant) => Some(0),
        OpKind::Arith(_) | OpKind::Math(_) => {
            let multiplier = if is_expensive_math(ir.kind(op)) { 8 } else { 1 };
            Some(
                results
                    .iter()
                    .map(|&r| multiplier * bytes(ir, r, 0, 0) * (factor(ir, r, slice) - i64::from(!shared)))
                    .sum(),
            )
        }
        _ if !shared => Some(0),
        OpKind::Tt(TtOp::Load) | OpKind::Ttg(TtgOp::LocalLoad) => {
            Some(results.iter().map(|&r| 8 * bytes(ir, r, 0, 0)).sum())
        }
        OpKind::Tt(TtOp::Reduce) => of_reduce(ir, op),
        _ => Some(0),
    }
}

/// How many times as many elements a thread has in the new layout, at least 1.
fn factor(ir: &Ir, value: Value, slice: &Slice) -> i64 {
    let ty = ir.ty(value);
    let Some(&encoding) = slice.layout.get(&value).filter(|_| ty.is_tensor()) else { return 1 };
    let (old, new) =
        (layout::unique_elems_per_thread(ty), layout::unique_elems_per_thread(ty.with_encoding(Some(encoding))));
    i64::try_from(new / old.max(1)).unwrap_or(i64::MAX).max(1)
}

/// Whether an operation takes several instructions, or a unit with less throughput.
fn is_expensive_math(kind: OpKind) -> bool {
    match kind {
        OpKind::Arith(k) => k == ArithOp::Divf,
        OpKind::Math(k) => !matches!(
            k,
            MathOp::Absf
                | MathOp::Absi
                | MathOp::Ceil
                | MathOp::Floor
                | MathOp::Round
                | MathOp::Roundeven
                | MathOp::Trunc
                | MathOp::Copysign
                | MathOp::Fma
        ),
        _ => false,
    }
}

fn of_reduce(ir: &Ir, op: Op) -> Option<i64> {
    if !is_associative(ir, op) {
        return None;
    }
    let ty = ir.ty(ir.operand(op, 0));
    let (axis, encoding) = (usize::try_from(ir.int_attr(op, "axis")?).ok()?, ty.encoding()?);
    let lanes = i64::from(*layout::threads_per_warp(encoding, ty.shape()).get(axis)?);
    let warps = i64::from(*layout::warps_per_cta(encoding, ty.shape()).get(axis)?);
    Some(lanes + 8 * warps)
}

/// Whether the order in which elements are combined does not change the result: at most two are, or no float is added
/// or multiplied.
fn is_associative(ir: &Ir, op: Op) -> bool {
    let ty = ir.ty(ir.operand(op, 0));
    let size = ir.int_attr(op, "axis").and_then(|axis| ty.shape().get(usize::try_from(axis).ok()?).copied());
    if !ty.elem().is_float() || size.is_some_and(|s| s <= 2) {
        return true;
    }
    !ir.all_ops(op).into_iter().any(|o| matches!(ir.kind(o), OpKind::Arith(ArithOp::Addf | ArithOp::Mulf)))
}

/// Values of the slice that something outside of it needs in the old layout, with what they are computed from.
fn needed_elsewhere(ir: &Ir, op: Op, slice: &Slice, ops: &BTreeSet<Op>) -> BTreeSet<Value> {
    let inside = |u: &Use| u.op == op || ops.contains(&u.op);
    let only_slice = |targets: Vec<Value>| targets.iter().all(|&t| slice.contains(t) || !ir.has_uses(t));
    let mut queue: Vec<Value> = vec![];
    for &value in &slice.values {
        if ir.uses(value).iter().any(|u| !inside(u) && !flows_to(ir, *u).is_some_and(only_slice)) {
            queue.push(value);
        }
    }
    let mut needed = BTreeSet::new();
    while let Some(value) = queue.pop() {
        if needed.insert(value) {
            queue.extend(comes_from(ir, value).into_iter().filter(|&v| slice.contains(v)));
        }
    }
    needed
}

/// The loop-carried values and results that a use passes its value to; `None` if the use is of another kind.
fn flows_to(ir: &Ir, u: Use) -> Option<Vec<Value>> {
    let at = u.index as usize;
    let (owner, index) = match ir.kind(u.op) {
        OpKind::Scf(ScfOp::Yield) => (ir.parent_op(u.op)?, at),
        OpKind::Scf(ScfOp::For) => (u.op, at.checked_sub(3)?),
        OpKind::Scf(ScfOp::While) => {
            return Some(vec![*ir.args(ir.body(u.op, 0)?).get(at)?]);
        }
        OpKind::Scf(ScfOp::Condition) => {
            let (parent, i) = (ir.parent_op(u.op)?, at.checked_sub(1)?);
            return Some(vec![*ir.args(ir.body(parent, 1)?).get(i)?, *ir.results(parent).get(i)?]);
        }
        _ => return None,
    };
    match ir.kind(owner) {
        OpKind::Scf(ScfOp::For) => {
            Some(vec![*ir.args(ir.body(owner, 0)?).get(index + 1)?, *ir.results(owner).get(index)?])
        }
        OpKind::Scf(ScfOp::While) => Some(vec![*ir.args(ir.body(owner, 0)?).get(index)?]),
        _ => Some(vec![*ir.results(owner).get(index)?]),
    }
}

/// What a value is computed from.
fn comes_from(ir: &Ir, value: Value) -> Vec<Value> {
    let yielded = |op: Op, region: usize, index: usize| {
        ir.body(op, region).and_then(|b| ir.last_op(b)).and_then(|t| ir.operands(t).get(index)).copied()
    };
    let carried = |op: Op, i: usize| ir.operands(op).get(3 + i).copied().into_iter().chain(yielded(op, 0, i)).collect();
    match ir.def(value) {
        ValueDef::Result { op, index } => match ir.kind(op) {
            OpKind::Scf(ScfOp::For) => carried(op, index as usize),
            OpKind::Scf(ScfOp::If) => {
                yielded(op, 0, index as usize).into_iter().chain(yielded(op, 1, index as usize)).collect()
            }
            _ => ir.operands(op).to_vec(),
        },
        ValueDef::Arg { block, index } => match ir.block_op(block) {
            Some(op) if ir.is(op, ScfOp::For) && index > 0 => carried(op, index as usize - 1),
            Some(op) => ir.operands(op).to_vec(),
            None => vec![],
        },
    }
}
