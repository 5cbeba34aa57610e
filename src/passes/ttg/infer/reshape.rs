//! The encoding of a reshaped tensor in which every thread keeps its elements.
//!
//! # Algorithm
//!
//! 1. A present encoding that costs nothing is kept, if the reshape may reorder.
//! 2. Where the shapes differ by one axis of size 1, it is a slice: removing axis `d` slices the encoding along it,
//!    adding it back undoes that. But not if the slice drops registers: a column of a matrix instruction's result has
//!    two copies of each element, the slice one.
//! 3. Equal shapes keep the encoding; the default blocked encoding of one shape becomes that of the other, but not in a
//!    cluster with more blocks than elements, where other blocks have the copies.
//! 4. A blocked encoding stays blocked where axes merge and split cleanly: split both shapes into the finest groups of
//!    axes of equal size (`8×32 → 4×2×32` is `[8]→[4,2], [32]→[32]`); in each group axes must follow each other in the
//!    order, and a faster axis must be used up before a slower one has more than one element a thread (lane, warp).
//!    Then each of size per thread, threads and warps of a group is dealt out to the new axes from the fastest on.
//! 5. Otherwise the linear layout, with its elements counted in row-major order, is seen under the new shape.

use super::slice;
use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Encoding, Type};
use crate::layout;
use crate::layout::from_linear;

/// The encoding for shape `to` that agrees with `encoding` for shape `from`; `None` where the numbers of elements
/// differ.
#[must_use]
pub fn reshaped(encoding: Attr, from: &[i64], to: &[i64]) -> Option<Attr> {
    reshaped_or(encoding, from, to, None)
}

/// As [`reshaped`], or the encoding `hint` where that costs nothing.
pub(super) fn reshaped_or(encoding: Attr, from: &[i64], to: &[i64], hint: Option<Attr>) -> Option<Attr> {
    if from.iter().product::<i64>() != to.iter().product::<i64>() {
        return None;
    }
    if let Some(present) = hint {
        let ty = |shape, e| Type::tensor(shape, Type::int(32), Some(e));
        if !layout::is_expensive_view(ty(from, encoding), ty(to, present)).ok()? {
            return Some(present);
        }
    }
    let layout = layout::try_to_linear_layout(from, encoding).ok()?;
    let shape: Vec<u32> = to.iter().map(|&d| u32::try_from(d).ok()).collect::<Option<_>>()?;
    let reshaped = layout.reshape_row_major(&shape);
    let fits = |e: &Attr| layout::try_to_linear_layout(to, *e).is_ok_and(|l| l.same_map(&reshaped));
    let sliced = match encoding.as_encoding()? {
        Encoding::Slice { dim, parent } if only_unit_axis(to, from) == Some(*dim) => Some(*parent),
        // What is linear stays so.
        Encoding::Linear(_) | Encoding::GenericLinear(_) => None,
        _ => only_unit_axis(from, to).map(|dim| slice(dim, encoding)),
    };
    if let Some(sliced) = sliced.filter(fits) {
        return Some(sliced);
    }
    if let Encoding::Blocked(b) = encoding.as_encoding()?
        // Where blocks of a cluster hold copies, the default encodings of two shapes may have other blocks do so.
        && let Some(blocked) = reshaped_blocked(encoding, b, from, to).filter(|e| b.cga.is_empty() || fits(e))
    {
        return Some(blocked);
    }
    Some(from_linear(&reshaped))
}

/// The first axis of size 1 without which `longer` is `shorter`.
fn only_unit_axis(longer: &[i64], shorter: &[i64]) -> Option<u32> {
    if longer.len() != shorter.len() + 1 {
        return None;
    }
    let without = |d: usize| longer[..d].iter().chain(&longer[d + 1..]).eq(shorter);
    (0..longer.len()).find(|&d| longer[d] == 1 && without(d)).and_then(|d| u32::try_from(d).ok())
}

fn reshaped_blocked(encoding: Attr, b: &Blocked, from: &[i64], to: &[i64]) -> Option<Attr> {
    if from == to {
        return Some(encoding);
    }
    if b.order.len() != from.len() {
        return None;
    }
    let product = |v: &[u32]| v.iter().product::<u32>();
    let ctas = 1 << b.cga.len();
    let default = |shape: &[i64]| {
        Attr::encoding(layout::default_blocked(shape, product(&b.warps_per_cta), product(&b.threads_per_warp), ctas))
    };
    if encoding == default(from) {
        return Some(default(to));
    }
    let parts = [&b.size_per_thread, &b.threads_per_warp, &b.warps_per_cta];
    let divides = |v: &[u32]| v.iter().zip(from).all(|(&x, &s)| s < i64::from(x) || s % i64::from(x) == 0);
    if !b.cga.is_empty() || !parts.iter().all(|v| divides(v)) {
        return None;
    }
    let mut groups = decompose(from, to);
    // rank_in_order[d]: how many axes run faster than d.
    let mut rank_in_order = vec![0usize; from.len()];
    b.order.iter().enumerate().for_each(|(i, &d)| rank_in_order[d as usize] = i);
    for (src, _) in &groups {
        let consecutive = src.windows(2).all(|w| rank_in_order[w[0]] == rank_in_order[w[1]] + 1);
        if !consecutive || !fills_from_fastest(src, from, &parts) {
            return None;
        }
    }
    let mut left = to.to_vec();
    let [size, threads, warps] = parts.map(|v| deal_out(v, &groups, &mut left));
    groups.sort_by_key(|(src, _)| src.first().map(|&d| rank_in_order[d]));
    let order = groups.iter().flat_map(|(_, dst)| dst.iter().rev().map(|&d| d as u32)).collect();
    Some(Attr::encoding(Encoding::Blocked(Blocked {
        size_per_thread: size,
        threads_per_warp: threads,
        warps_per_cta: warps,
        order,
        cga: vec![],
    })))
}

/// Whether, going from the fastest axis of a group to the slowest, each is used up before the next one counts.
fn fills_from_fastest(axes: &[usize], shape: &[i64], parts: &[&Vec<u32>; 3]) -> bool {
    let mut left: Vec<i64> = axes.iter().map(|&d| shape[d]).collect();
    for part in parts {
        for i in (0..axes.len()).rev() {
            let n = i64::from(part[axes[i]]);
            if n == 1 {
                continue;
            }
            if left[i + 1..].iter().any(|&l| l != 1) {
                return false;
            }
            left[i] = if left[i] >= n { left[i] / n } else { 0 };
            if left[i] == 0 && i != 0 {
                return false;
            }
        }
    }
    true
}

/// Deals one quantity of each group out to the new axes, the fastest first; an excess goes to the slowest.
fn deal_out(part: &[u32], groups: &[(Vec<usize>, Vec<usize>)], left: &mut [i64]) -> Vec<u32> {
    let mut out = vec![1u32; left.len()];
    for (src, dst) in groups {
        let mut rest: i64 = src.iter().map(|&d| i64::from(part[d])).product();
        for &d in dst.iter().rev() {
            let take = rest.min(left[d]).max(1);
            out[d] = u32::try_from(take).unwrap_or(u32::MAX);
            rest /= take;
            left[d] /= take;
        }
        if let Some(&slowest) = dst.first() {
            out[slowest] *= u32::try_from(rest).unwrap_or(1).max(1);
        }
    }
    out
}

/// The finest groups of consecutive axes with equal sizes on both sides. An axis of size 1 joins the group before it.
fn decompose(from: &[i64], to: &[i64]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups: Vec<(Vec<usize>, Vec<usize>)> = vec![];
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (mut src, mut dst, mut a, mut b) = (vec![], vec![], 1, 1);
        loop {
            if i < from.len() && (a < b || a == 1 || from[i] == 1) {
                a *= from[i];
                src.push(i);
                i += 1;
            } else if j < to.len() && (b < a || to[j] == 1) {
                b *= to[j];
                dst.push(j);
                j += 1;
            } else {
                break;
            }
        }
        groups.push((src, dst));
    }
    groups
}
