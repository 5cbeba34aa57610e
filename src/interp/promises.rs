//! Checks the promises that a kernel makes to the compiler: `tl.multiple_of`, `tl.max_contiguous`, `tl.max_constancy`
//! and `tl.assume`.
//!
//! The compiler relies on them without a check. A vector load at an address that is no multiple of its size traps, and
//! one of elements that are not neighbours reads other elements. So each promise is checked where the value is
//! computed.
//!
//! `hints.rs` says which element breaks a promise; this file reads the promises from the IR and reports them.

use super::fault::{self, Fault};
use super::hints::{HINTS, number};
use super::program::Program;
use super::undef::Use;
use super::value::{Val, coordinates};
use crate::diag::codes::interp as codes;
use crate::ir::dialects::builtin::llvm::Assume;
use crate::ir::{Attr, AttrData, DenseData, Op};

/// Runs `llvm.intr.assume`.
pub(crate) fn assume(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let v = p.get(Assume(op).cond(p.ir));
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
    for (key, function, judge) in HINTS {
        let Some(numbers) = ir.get(op, key).and_then(numbers) else { continue };
        let Some((lane, promised)) = judge(ir.ty(result), &v, &numbers) else { continue };
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
