//! How elements move between tensors: broadcast, transposition, concatenation, counting, picking by index.
//!
//! Most are a map from the position of an element in the result to one in the source, both row-major. The functions get
//! the values and types that they work on; which operation they serve is written in `tt.rs` and `ttg.rs`.

use super::super::fault::{self, Fault};
use super::super::numbers::{signed, width};
use super::super::program::Program;
use super::super::undef::{Use, concat, is_uniform};
use super::super::value::{Val, coordinates, offsets, strides};
use crate::diag::codes::interp as codes;
use crate::ir::{Op, Type, Value};

/// Broadcasts: a dimension of size 1 repeats, because its stride in the source is 0.
pub(crate) fn broadcast(p: &Program<'_>, source: Value, to: Type) -> Val {
    let (from, v) = (p.ir.ty(source), p.get(source));
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
pub(crate) fn trans(p: &Program<'_>, source: Value, order: &[i64], to: Type) -> Val {
    let (from, v) = (p.ir.ty(source), p.get(source));
    if is_uniform(&v) {
        return v;
    }
    let s = strides(from.shape());
    let permuted: Vec<usize> = order.iter().map(|&d| s.get(d as usize).copied().unwrap_or(0)).collect();
    let map = offsets(to.shape(), &permuted);
    v.rearrange(map.len(), |i| map[i])
}

/// Concatenates: the elements of one tensor, `n` of them, come first, then those of the other.
pub(crate) fn cat([a, b]: [Val; 2], n: usize) -> Val {
    let mut out = a.lanes.to_vec(n);
    out.extend(b.lanes.to_vec(n));
    Val::full(out).with_undef(concat(&[&a, &b], 2 * n, |i| (i / n.max(1), i % n.max(1))))
}

/// Puts each element of one tensor before that of the other.
pub(crate) fn join([a, b]: [Val; 2], n: usize) -> Val {
    let lanes = (0..n).flat_map(|i| [a.lanes.get(i), b.lanes.get(i)]).collect();
    Val::full(lanes).with_undef(concat(&[&a, &b], 2 * n, |i| (i % 2, i / 2)))
}

/// Undoes [`join`].
pub(crate) fn split(v: &Val, n: usize) -> Vec<Val> {
    vec![v.rearrange(n, |i| 2 * i), v.rearrange(n, |i| 2 * i + 1)]
}

/// Counts how often each number below `bins` occurs where the mask is true.
pub(crate) fn count(p: &Program<'_>, op: Op, source: Value, mask: Option<Value>, bins: usize) -> Result<Val, Fault> {
    let (from, v, mask) = (p.ir.ty(source), p.get(source), p.optional(mask));
    let mut bins = vec![0u64; bins];
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

/// Picks by index along an axis: element (.., i, ..) of the result, which has the shape of the indices, is element
/// (.., indices[.., i, ..], ..) of the source.
pub(crate) fn pick(p: &Program<'_>, op: Op, [source, picks]: [Value; 2], axis: usize) -> Result<Val, Fault> {
    let (from, to) = (p.ir.ty(source), p.ir.ty(picks));
    let (v, index) = (p.get(source), p.get(picks));
    let indices = &index.lanes;
    let (w, size) = (width(to), from.shape()[axis]);
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
