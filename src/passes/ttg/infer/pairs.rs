//! Encodings along `tt.join` and `tt.split`, which put two tensors side by side along a new last axis of size 2 and
//! take them apart again.
//!
//! 1. Both elements of a pair are in one thread, so nothing moves: the whole has the registers of the half twice.
//! 2. Of a blocked half, the whole is blocked with `2, 1, 1` on the new axis, which is the fastest; and the other way
//!    around.
//! 3. A half that is a slice along the new axis belongs to what it is a slice of, if that keeps pairs together.
//! 4. Any other half gets a new lowest bit of the register number, which says which side it is. Of any other whole, the
//!    register bits that change sides are left out; where anything else does too, there is no such half.
//!
//! Example of 4: the half `register = [[1], [8]], lane = [[2], …]` makes `register = [[0, 1], [1, 0], [8, 0]], lane =
//! [[2, 0], …]`.

use crate::ir::core::encoding::{Blocked, LinearBases};
use crate::ir::core::{Attr, Encoding};
use crate::layout::bases_of;
use crate::layout::{Dim, try_to_linear_layout};

/// The encoding of the whole for halves of this shape and encoding.
#[must_use]
pub(in crate::passes::ttg) fn joined(half: Attr, shape: &[i64]) -> Option<Attr> {
    let mut whole_shape = shape.to_vec();
    whole_shape.push(2);
    match half.as_encoding()? {
        Encoding::Slice { dim, parent } if *dim as usize == shape.len() => {
            let back = halved(*parent, &whole_shape)?;
            if try_to_linear_layout(shape, back).ok()? == try_to_linear_layout(shape, half).ok()? {
                return Some(*parent);
            }
        }
        Encoding::Blocked(b) => return Some(blocked_whole(b)),
        _ => {}
    }
    let mut bases = bases_of(try_to_linear_layout(shape, half).ok()?);
    for basis in [&mut bases.register, &mut bases.lane, &mut bases.warp, &mut bases.block].into_iter().flatten() {
        basis.push(0);
    }
    bases.register.insert(0, shape.iter().map(|_| 0).chain([1]).collect());
    Some(like(half, bases))
}

/// The encoding of the halves of a whole of this shape and encoding.
#[must_use]
pub(in crate::passes::ttg) fn halved(whole: Attr, shape: &[i64]) -> Option<Attr> {
    if let Encoding::Blocked(b) = whole.as_encoding()?
        && let Some(half) = blocked_half(b)
    {
        return Some(half);
    }
    let axis = shape.len().checked_sub(1).filter(|&axis| shape[axis] == 2)?;
    let layout = try_to_linear_layout(shape, whole).ok()?.halved_along(axis)?;
    Some(like(whole, bases_of(&layout.squeeze_out(Dim::axis(axis)))))
}

/// A linear encoding, generic if the other one is.
fn like(other: Attr, bases: LinearBases) -> Attr {
    match other.as_encoding() {
        Some(Encoding::GenericLinear(_)) => Attr::encoding(Encoding::GenericLinear(bases)),
        _ => Attr::encoding(Encoding::Linear(bases)),
    }
}

fn blocked_whole(b: &Blocked) -> Attr {
    let with = |v: &[u32], last: u32| v.iter().copied().chain([last]).collect::<Vec<_>>();
    let rank = b.order.len() as u32;
    Attr::encoding(Encoding::Blocked(Blocked {
        size_per_thread: with(&b.size_per_thread, 2),
        threads_per_warp: with(&b.threads_per_warp, 1),
        warps_per_cta: with(&b.warps_per_cta, 1),
        order: std::iter::once(rank).chain(b.order.iter().copied()).collect(),
        cga: b.cga.iter().map(|basis| basis.iter().copied().chain([0]).collect()).collect(),
    }))
}

/// The inverse of [`blocked_whole`], whatever the order; `None` for another blocked encoding.
fn blocked_half(b: &Blocked) -> Option<Attr> {
    let last = b.order.len().checked_sub(1)?;
    let one_block = b.cga.iter().all(|basis| basis.last() == Some(&0));
    if b.size_per_thread[last] != 2 || b.threads_per_warp[last] != 1 || b.warps_per_cta[last] != 1 || !one_block {
        return None;
    }
    Some(Attr::encoding(Encoding::Blocked(Blocked {
        size_per_thread: b.size_per_thread[..last].to_vec(),
        threads_per_warp: b.threads_per_warp[..last].to_vec(),
        warps_per_cta: b.warps_per_cta[..last].to_vec(),
        order: b.order.iter().copied().filter(|&d| d as usize != last).collect(),
        cga: b.cga.iter().map(|basis| basis[..last].to_vec()).collect(),
    })))
}
