//! Follows indices that wrap around: what they would be in unbounded integers.
//!
//! 1. An addition, subtraction, multiplication, shift or truncation whose result is an index (see `kernel_facts.rs`) is
//!    compared with the exact one. While all lanes agree, nothing is kept.
//! 2. Once a lane differs, the value carries the exact numbers of all lanes and the operation that lost them. Further
//!    index operations compute on them; where they agree with the bits again (a wrapped sum minus the same), they are
//!    dropped.
//! 3. The access through an address that still differs is the fault.
//!
//! Example: in i32, 70000 · 70000 is 605032704 and exactly 4900000000; as an offset the difference is a wrong address.

use crate::ir::dialects::tt::tt::Addptr;
use std::sync::Arc;

use super::super::numbers::{signed, width};
use super::super::program::Program;
use super::super::value::{Exact, Lanes, Val};
use crate::ir::{ArithOp, Op};

/// Attaches the exact values to a result that needs them.
pub(crate) fn track(p: &Program<'_>, op: Op, kind: ArithOp, operands: &[Val], lanes: Lanes) -> Val {
    let ir = p.ir;
    let result = ir.result(op);
    if !p.shared.facts.is_index(result) {
        return lanes.into();
    }
    let w = ir.operands(op).first().map_or(64, |&v| width(ir.ty(v)));
    let out_width = width(ir.ty(result));
    // A truncation to fewer bits than an index has makes it an index no longer.
    let wraps = matches!(kind, ArithOp::Addi | ArithOp::Subi | ArithOp::Muli | ArithOp::Shli)
        || kind == ArithOp::Trunci && out_width >= 32;
    let divides = matches!(kind, ArithOp::Divsi | ArithOp::Floordivsi | ArithOp::Ceildivsi);
    let carries = divides
        || matches!(kind, ArithOp::Extsi | ArithOp::Extui | ArithOp::IndexCast | ArithOp::Maxsi | ArithOp::Minsi);
    let tracked = operands.iter().any(|v| v.exact.is_some());
    if !(wraps || carries && tracked) {
        return lanes.into();
    }
    let exact =
        |v: &Val, i: usize| v.exact.as_ref().map_or_else(|| i128::from(signed(v.lanes.get(i), w)), |e| e.get(i));
    let combine = |i: usize| -> i128 {
        let a = operands.first().map_or(0, |v| exact(v, i));
        let b = || operands.get(1).map_or(0, |v| exact(v, i));
        match kind {
            ArithOp::Addi => a.wrapping_add(b()),
            ArithOp::Subi => a.wrapping_sub(b()),
            ArithOp::Muli => a.wrapping_mul(b()),
            ArithOp::Shli => u32::try_from(b()).ok().filter(|&s| s < w).map_or(0, |s| a << s),
            ArithOp::Maxsi => a.max(b()),
            ArithOp::Minsi => a.min(b()),
            ArithOp::Divsi | ArithOp::Floordivsi | ArithOp::Ceildivsi => quotient(kind, a, b()),
            // Up to here, a number of w unsigned bits has been taken for a signed one.
            ArithOp::Extui if (-(1 << (w - 1))..0).contains(&a) => a + (1 << w),
            _ => a,
        }
    };
    let n = operands
        .iter()
        .map(|v| v.lanes.stored().max(v.exact.as_ref().map_or(1, |e| e.values.len())))
        .max()
        .unwrap_or(1);
    let agrees = |i: usize| combine(i) == i128::from(signed(lanes.get(i), out_width));
    if (0..n).all(agrees) {
        return lanes.into();
    }
    let origin = operands.iter().find_map(|v| v.exact.as_ref()).map_or(op, |e| e.origin);
    Val { exact: Some(Arc::new(Exact { values: (0..n).map(combine).collect(), origin })), ..lanes.into() }
}

/// A quotient, rounded as the operation says. A quotient by zero is zero here, since that fault has been reported.
fn quotient(kind: ArithOp, a: i128, b: i128) -> i128 {
    let (Some(q), Some(r)) = (a.checked_div(b), a.checked_rem(b)) else { return 0 };
    match kind {
        ArithOp::Floordivsi if r != 0 && (r < 0) != (b < 0) => q - 1,
        ArithOp::Ceildivsi if r != 0 && (r < 0) == (b < 0) => q + 1,
        _ => q,
    }
}

/// Runs `arith.select` on values and on what they would be.
pub(crate) fn select(p: &Program<'_>, op: Op, operands: &[Val]) -> Val {
    let [condition, a, b] = operands else { return Val::splat(0) };
    if condition.lanes.is_splat() {
        return if condition.scalar() & 1 == 1 { a.clone() } else { b.clone() };
    }
    let lanes = condition.lanes.zip3(&a.lanes, &b.lanes, |c, x, y| if c & 1 == 1 { x } else { y });
    if a.exact.is_none() && b.exact.is_none() {
        return lanes.into();
    }
    let w = width(p.ir.ty(p.ir.result(op)));
    let exact =
        |v: &Val, i: usize| v.exact.as_ref().map_or_else(|| i128::from(signed(v.lanes.get(i), w)), |e| e.get(i));
    let n = condition.lanes.stored();
    let values = (0..n).map(|i| exact(if condition.lanes.get(i) & 1 == 1 { a } else { b }, i)).collect();
    let origin = a.exact.as_ref().or(b.exact.as_ref()).map_or(op, |e| e.origin);
    Val { exact: Some(Arc::new(Exact { values, origin })), ..lanes.into() }
}

/// Runs `tt.addptr`. Offsets count elements and are signed.
pub(crate) fn addptr(p: &Program<'_>, op: Op, size: u64) -> Val {
    let w = width(p.ir.ty(Addptr(op).offset(p.ir)));
    let [ptr, offset] = p.operands(op);
    let lanes = ptr.lanes.zip(&offset.lanes, |a, o| a.wrapping_add((signed(o, w) as u64).wrapping_mul(size)));
    if ptr.exact.is_none() && offset.exact.is_none() {
        return lanes.into();
    }
    let n = lanes
        .stored()
        .max(ptr.exact.as_ref().map_or(1, |e| e.values.len()))
        .max(offset.exact.as_ref().map_or(1, |e| e.values.len()));
    let base = |i: usize| ptr.exact.as_ref().map_or_else(|| i128::from(ptr.lanes.get(i)), |e| e.get(i));
    let moved =
        |i: usize| offset.exact.as_ref().map_or_else(|| i128::from(signed(offset.lanes.get(i), w)), |e| e.get(i));
    let values: Vec<i128> = (0..n).map(|i| base(i).wrapping_add(moved(i).wrapping_mul(i128::from(size)))).collect();
    let origin = offset.exact.as_ref().or(ptr.exact.as_ref()).map_or(op, |e| e.origin);
    let agrees = values.iter().enumerate().all(|(i, &v)| v == i128::from(lanes.get(i)));
    Val { exact: (!agrees).then(|| Arc::new(Exact { values, origin })), ..lanes.into() }
}
