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
use crate::analysis::flow::{handed_from, handed_to};
use crate::ir::core::{Attr, Ir, Op, Type, Use, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, Traits, TtOp, TtgOp};
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
    of_conversion(ir, ir.operands(op)[0], encoding) >= cost
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
    let bytes_of_results = || ir.results(op).iter().map(|&r| bytes(ir, r, 0, 0));
    let kind = ir.kind(op);
    if kind.has(Traits::CONSTANT) {
        return Some(0);
    }
    if matches!(kind, OpKind::Arith(_) | OpKind::Math(_)) {
        let multiplier = if kind.is_expensive_math() { 8 } else { 1 };
        let more = ir.results(op).iter().map(|&r| factor(ir, r, slice) - i64::from(!shared));
        return Some(bytes_of_results().zip(more).map(|(bytes, more)| multiplier * bytes * more).sum());
    }
    if !shared {
        return Some(0);
    }
    if let Some(reduce) = tt::Reduce::of(ir, op) {
        return of_reduce(ir, reduce);
    }
    let loads = ir.is(op, TtOp::Load) || ir.is(op, TtgOp::LocalLoad);
    Some(if loads { bytes_of_results().map(|bytes| 8 * bytes).sum() } else { 0 })
}

/// How many times as many elements a thread has in the new layout, at least 1.
fn factor(ir: &Ir, value: Value, slice: &Slice) -> i64 {
    let ty = ir.ty(value);
    let Some(&encoding) = slice.layout.get(&value).filter(|_| ty.is_tensor()) else { return 1 };
    let (old, new) =
        (layout::unique_elems_per_thread(ty), layout::unique_elems_per_thread(ty.with_encoding(Some(encoding))));
    i64::try_from(new / old.max(1)).unwrap_or(i64::MAX).max(1)
}

fn of_reduce(ir: &Ir, reduce: tt::Reduce) -> Option<i64> {
    let ty = ir.ty(*reduce.srcs(ir).first()?);
    let axis = usize::try_from(reduce.axis(ir)?).ok()?;
    if !is_associative(ir, reduce.0, ty, axis) {
        return None;
    }
    let encoding = ty.encoding()?;
    let lanes = i64::from(*layout::threads_per_warp(encoding, ty.shape()).get(axis)?);
    let warps = i64::from(*layout::warps_per_cta(encoding, ty.shape()).get(axis)?);
    Some(lanes + 8 * warps)
}

/// Whether the order in which elements are combined does not change the result: at most two are, or no float is added
/// or multiplied.
fn is_associative(ir: &Ir, reduce: Op, ty: Type, axis: usize) -> bool {
    if !ty.elem().is_float() || ty.shape().get(axis).is_some_and(|&size| size <= 2) {
        return true;
    }
    !ir.all_ops(reduce).into_iter().any(|op| ir.is(op, ArithOp::Addf) || ir.is(op, ArithOp::Mulf))
}

/// Values of the slice that something outside of it needs in the old layout, with what they are computed from.
fn needed_elsewhere(ir: &Ir, op: Op, slice: &Slice, ops: &BTreeSet<Op>) -> BTreeSet<Value> {
    let inside = |u: &Use| u.op == op || ops.contains(&u.op);
    let only_slice = |targets: Vec<Value>| targets.iter().all(|&t| slice.contains(t) || !ir.has_uses(t));
    let mut queue: Vec<Value> = vec![];
    for &value in &slice.values {
        if ir.uses(value).iter().any(|u| !inside(u) && !handed_to(ir, *u).is_some_and(only_slice)) {
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

/// What a value is computed from.
fn comes_from(ir: &Ir, value: Value) -> Vec<Value> {
    handed_from(ir, value).unwrap_or_else(|| ir.def_op(value).map_or(vec![], |op| ir.operands(op).to_vec()))
}
