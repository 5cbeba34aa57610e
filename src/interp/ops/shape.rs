//! Operations that move elements: broadcast, transposition, concatenation, histogram, gather.
//!
//! Each is a map from the position of an element in the result to one in the source, both row-major.

use super::super::fault::{self, Fault};
use super::super::numbers::{signed, width};
use super::super::program::Program;
use super::super::undef::{Use, concat, is_uniform};
use super::super::value::{Val, coordinates, offsets, strides};
use crate::diag::codes::interp as codes;
use crate::ir::core::Value;
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Op, Type};

/// The types of a source and of the first result.
fn types(p: &Program<'_>, op: Op, source: Value) -> (Type, Type) {
    (p.ir.ty(source), p.ir.ty(p.ir.result(op)))
}

/// Broadcasts: a dimension of size 1 repeats, because its stride in the source is 0.
pub(crate) fn broadcast(p: &Program<'_>, op: Op) -> Val {
    let source = view::Broadcast(op).src(p.ir);
    let ((from, to), v) = (types(p, op, source), p.get(source));
    if is_uniform(&v) {
        return v;
    }
    let mut s = strides(from.shape());
    for (stride, &size) in s.iter_mut().zip(from.shape()) {
        if size == 1 {
            *stride = 0;
        }
    }
    let map = offsets(to.shape(), &s);
    v.rearrange(map.len(), |i| map[i])
}

/// Transposes: dimension i of the result walks the source with the stride of dimension order[i].
pub(crate) fn trans(p: &Program<'_>, op: Op, source: Value, order: &[i64]) -> Val {
    let ((from, to), v) = (types(p, op, source), p.get(source));
    if is_uniform(&v) {
        return v;
    }
    let s = strides(from.shape());
    let permuted: Vec<usize> = order.iter().map(|&d| s.get(d as usize).copied().unwrap_or(0)).collect();
    let map = offsets(to.shape(), &permuted);
    v.rearrange(map.len(), |i| map[i])
}

/// Concatenates: the elements of one tensor come first, then those of the other.
pub(crate) fn cat(p: &Program<'_>, op: Op) -> Val {
    let n = p.ir.ty(view::Cat(op).lhs(p.ir)).num_elements() as usize;
    let [a, b] = p.operands(op);
    let mut out = a.lanes.to_vec(n);
    out.extend(b.lanes.to_vec(n));
    Val::full(out).with_undef(concat(&[&a, &b], 2 * n, |i| (i / n.max(1), i % n.max(1))))
}

pub(crate) fn join(p: &Program<'_>, op: Op) -> Val {
    let n = p.ir.ty(view::Join(op).lhs(p.ir)).num_elements() as usize;
    let [a, b] = p.operands(op);
    let lanes = (0..n).flat_map(|i| [a.lanes.get(i), b.lanes.get(i)]).collect();
    Val::full(lanes).with_undef(concat(&[&a, &b], 2 * n, |i| (i % 2, i / 2)))
}

pub(crate) fn split(p: &Program<'_>, op: Op) -> Vec<Val> {
    let split = view::Split(op);
    let n = p.ir.ty(split.lhs(p.ir)).num_elements() as usize;
    let v = p.get(split.src(p.ir));
    vec![v.rearrange(n, |i| 2 * i), v.rearrange(n, |i| 2 * i + 1)]
}

/// Counts values in bins. Values outside of the bins are not counted.
pub(crate) fn histogram(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let count = view::Histogram(op);
    let (from, to) = types(p, op, count.src(p.ir));
    let (v, mask) = (p.get(count.src(p.ir)), p.optional(count.mask(p.ir)));
    let mut bins = vec![0u64; to.num_elements() as usize];
    for i in 0..from.num_elements() as usize {
        if let Some(m) = &mask {
            p.defined(op, m, i, from.shape(), Use::Mask)?;
            if m.lanes.get(i) & 1 == 0 {
                continue;
            }
        }
        p.defined(op, &v, i, from.shape(), Use::Index)?;
        if let Some(bin) = bins.get_mut(v.lanes.get(i) as usize) {
            *bin += 1;
        }
    }
    Ok(Val::full(bins))
}

/// Gathers: element (.., i, ..) of the result is element (.., indices[.., i, ..], ..) of the source.
pub(crate) fn gather(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let gather = view::Gather(op);
    let (from, to) = types(p, op, gather.src(p.ir));
    let index_type = p.ir.ty(gather.indices(p.ir));
    let [v, index] = p.operands(op);
    let indices = &index.lanes;
    let axis = gather.axis(p.ir).unwrap_or(0) as usize;
    let (w, size) = (width(index_type), from.shape()[axis]);
    let s = strides(from.shape());
    let mut others = s.clone();
    others[axis] = 0;
    let bases = offsets(to.shape(), &others);
    let inside = |i: usize| (0..size).contains(&signed(indices.get(i), w));
    if let Some(u) = &index.undef
        && let Some(lane) = (0..bases.len()).find(|&i| u.at(i))
    {
        p.defined(op, &index, lane, to.shape(), Use::Index)?;
    }
    if let Some(lane) = (0..bases.len()).find(|&i| !inside(i)) {
        let at = fault::tuple(&coordinates(to.shape(), lane));
        let message = format!("index {} at {at} is outside of a dimension of {size}", signed(indices.get(lane), w));
        p.report(op, &codes::OUT_OF_BOUNDS, || p.fault(op, &codes::OUT_OF_BOUNDS, message, "gathered here"))?;
    }
    if is_uniform(&v) {
        return Ok(v);
    }
    Ok(v.rearrange(bases.len(), |i| bases[i] + if inside(i) { indices.get(i) as usize * s[axis] } else { 0 }))
}
