//! What the promises about an operation's result mean: which element breaks one.
//!
//! 1. *Divisibility* (one number for each axis): an element that continues no run of consecutive numbers is a multiple
//!    of the number. A scalar is a multiple of it.
//! 2. *Contiguity*: the axis divides into groups of that length, in which each element is one more than the one before
//!    it.
//! 3. *Constancy*: the axis divides into groups in the same way, and the elements of a group are equal.
//!
//! For divisibility pointers count bytes, and for contiguity they count elements. Undefined elements are left out.
//!
//! Example: 64 65 66 67 0 1 2 3 is a multiple of 64 along its axis (both runs start at one), and has groups of 4, not
//! of 8.

use super::memory::{SPACE_BITS, pointee_size};
use super::numbers::{signed, width};
use super::value::{Val, strides};
use crate::ir::Type;
use crate::ir::dialects::discardable::{CONSTANCY, CONTIGUITY, DIVISIBILITY};
use crate::ir::dialects::keys::{Any, Key};

/// The attributes of an operation that are promises about its result, with the function of the
/// language that makes each one and with the check of it.
pub(crate) const HINTS: [(Key<Any>, &str, Judge); 3] = [
    (DIVISIBILITY, "tl.multiple_of", divisibility),
    (CONTIGUITY, "tl.max_contiguous", |ty, v, numbers| groups(ty, v, numbers, pointee_step(ty))),
    (CONSTANCY, "tl.max_constancy", |ty, v, numbers| groups(ty, v, numbers, 0)),
];

/// Finds an element of a value of this type that breaks a promise of one number for each axis, with the number that was
/// promised.
type Judge = fn(Type, &Val, &[i64]) -> Option<(usize, i64)>;

/// An element as a number. A pointer counts from the start of its buffer.
pub(crate) fn number(ty: Type, v: &Val, lane: usize) -> i128 {
    let bits = v.lanes.get(lane);
    if ty.elem().is_ptr() { i128::from(bits & ((1 << SPACE_BITS) - 1)) } else { i128::from(signed(bits, width(ty))) }
}

/// The distance between neighbouring elements.
fn pointee_step(ty: Type) -> i128 {
    if ty.elem().is_ptr() { pointee_size(ty) as i128 } else { 1 }
}

/// The elements along each axis: the axis, the lane of the element before (`None` at the start), and the lane.
fn along(ty: Type) -> impl Iterator<Item = (usize, usize, Option<usize>, usize)> {
    let (shape, s) = (ty.shape(), strides(ty.shape()));
    let n = ty.num_elements().max(1) as usize;
    (0..shape.len().max(1)).flat_map(move |d| {
        let s = s.clone();
        (0..n).map(move |lane| {
            let (size, stride) = (shape.get(d).map_or(1, |&x| x.max(1) as usize), s.get(d).copied().unwrap_or(1));
            let at = lane / stride % size;
            (d, at, (at > 0).then(|| lane - stride), lane)
        })
    })
}

fn defined(v: &Val, lane: usize) -> bool {
    v.undef.as_ref().is_none_or(|u| !u.at(lane))
}

/// The first element that starts a run along an axis and is no multiple of its number.
fn divisibility(ty: Type, v: &Val, numbers: &[i64]) -> Option<(usize, i64)> {
    let step = pointee_step(ty);
    let continues = |before: Option<usize>, lane: usize| {
        before.is_some_and(|b| !defined(v, b) || number(ty, v, b) + step == number(ty, v, lane))
    };
    // A row-major matrix of offsets has runs along its rows alone, so an element that continues one of them is not
    // judged by its column.
    let mut inside = vec![false; ty.num_elements().max(1) as usize];
    for (_, _, before, lane) in along(ty) {
        inside[lane] |= continues(before, lane);
    }
    along(ty).find_map(|(d, _, _, lane)| {
        let promised = *numbers.get(d)?;
        let bad = promised > 1 && defined(v, lane) && !inside[lane] && number(ty, v, lane) % i128::from(promised) != 0;
        bad.then_some((lane, promised))
    })
}

/// The first element that differs from the one before it in its group by something other than `step`.
fn groups(ty: Type, v: &Val, numbers: &[i64], step: i128) -> Option<(usize, i64)> {
    along(ty).find_map(|(d, at, before, lane)| {
        let promised = *numbers.get(d)?;
        let before = before.filter(|_| promised > 1 && at as i64 % promised != 0)?;
        let bad = defined(v, lane) && defined(v, before) && number(ty, v, before) + step != number(ty, v, lane);
        bad.then_some((lane, promised))
    })
}
