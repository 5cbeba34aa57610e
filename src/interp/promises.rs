//! Checks the promises that a kernel makes to the compiler: `tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy`
//! and `tl.assume`.
//!
//! The compiler relies on them without a check. A vector load at an address that is no multiple of its size traps, and
//! one of elements that are not neighbours reads other elements. So each promise is checked where the value is
//! computed.
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

use super::fault::{self, Fault};
use super::numbers::signed;
use super::ops::arith::width;
use super::ops::tt::pointee_size;
use super::program::Program;
use super::undef::Use;
use super::value::{Val, coordinates, strides};
use crate::diag::codes::interp as codes;
use crate::ir::{Attr, AttrData, DenseData, Op, Type};

/// The attributes of an operation that are promises about its result, with the function that makes each.
pub(crate) const HINTS: [(&str, &str); 3] = [
    ("tt.divisibility", "tl.multiple_of"),
    ("tt.contiguity", "tl.max_contiguous"),
    ("tt.constancy", "tl.max_constancy"),
];

/// Runs `llvm.intr.assume`.
pub(crate) fn assume(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let v = p.operand(op, 0);
    p.defined_scalar(op, &v, Use::Condition)?;
    if v.scalar() & 1 == 1 || !p.shared.options.checks.promises {
        return Ok(());
    }
    p.report(op, &codes::BROKEN_PROMISE, || {
        let d =
            p.fault(op, &codes::BROKEN_PROMISE, "what `tl.assume` promises does not hold".to_owned(), "assumed here");
        Box::new(d.help("the compiler relies on it: test the condition, or leave the promise out"))
    })
}

/// Checks the promises about the result of an operation.
pub(crate) fn check(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let ir = p.ir;
    let (result, v) = (ir.result(op), p.get(ir.result(op)));
    for (name, function) in HINTS {
        let Some(numbers) = ir.stored_attr(op, name).and_then(numbers) else { continue };
        let wrong = match name {
            "tt.divisibility" => divisibility(ir.ty(result), &v, &numbers),
            "tt.contiguity" => groups(ir.ty(result), &v, &numbers, pointee_step(ir.ty(result))),
            _ => groups(ir.ty(result), &v, &numbers, 0),
        };
        let Some((lane, promised)) = wrong else { continue };
        p.report(op, &codes::BROKEN_PROMISE, || broken(p, op, function, &v, lane, promised))?;
    }
    Ok(())
}

/// The numbers of an attribute, one for each axis.
fn numbers(attr: Attr) -> Option<Vec<i64>> {
    match attr.data() {
        AttrData::Dense(ty, DenseData::Splat(bits)) => Some(vec![*bits as i64; ty.num_elements().max(1) as usize]),
        AttrData::Dense(_, DenseData::Elements(v)) => Some(v.iter().map(|&x| x as i64).collect()),
        AttrData::Int(v, _) => Some(vec![*v]),
        _ => None,
    }
}

#[cold]
fn broken(p: &Program<'_>, op: Op, function: &str, v: &Val, lane: usize, promised: i64) -> Fault {
    let ty = p.ir.ty(p.ir.result(op));
    let value = number(ty, v, lane);
    let what = match function {
        "tl.multiple_of" => format!("`{function}` promises multiples of {promised}, and there is {value}"),
        "tl.max_contiguous" => {
            format!("`{function}` promises groups of {promised} consecutive elements, and {value} breaks one")
        }
        _ => format!("`{function}` promises groups of {promised} equal elements, and {value} breaks one"),
    };
    let mut d = *p.fault(op, &codes::BROKEN_PROMISE, what, "this value");
    if ty.is_tensor() {
        d = d.note(format!("tensor index {}", fault::tuple(&coordinates(ty.shape(), lane))));
    }
    Box::new(d.help("the compiler relies on it for vector accesses: leave the promise out, or make it true"))
}

/// An element as a number. A pointer counts from the start of its buffer.
fn number(ty: Type, v: &Val, lane: usize) -> i128 {
    let bits = v.lanes.get(lane);
    if ty.elem().is_ptr() {
        i128::from(bits & ((1 << super::memory::SPACE_BITS) - 1))
    } else {
        i128::from(signed(bits, width(ty)))
    }
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
