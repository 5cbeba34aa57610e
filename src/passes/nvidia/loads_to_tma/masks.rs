//! A mask as what it asks of each element, all of it together.
//!
//! 1. `and`, and operations that only move elements, are followed to single comparisons.
//! 2. A comparison of forms ([`forms`]) that differ along one axis by whole steps bounds the index of that axis from
//!    above or below. One that differs along no axis holds of all elements or of none.
//! 3. What is neither is kept in mind as such: nothing is dropped.
//!
//! Example: `(m + i < M)[:, None] & flag & (j < n)[None, :]` is i < M - m, the flag, and j < n.

use crate::analysis::forms::Forms;
use crate::analysis::forms::poly::Poly;
use crate::ir::core::{Attr, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate as P;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, TtOp};
use crate::ir::rewrite::fold;

/// What a mask asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Term {
    /// Of each element that its index along the axis is less.
    Below { axis: usize, end: Poly },
    /// Of each element that its index along the axis is not less.
    From { axis: usize, first: Poly },
    /// The same of all elements.
    Uniform(Test),
    /// Something else.
    Other,
}

/// A condition on scalars.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Test {
    Flag(Value),
    /// The polynomial is greater than zero.
    Positive(Poly),
}

/// All that a mask asks; of none, nothing.
pub(super) fn terms(forms: &mut Forms<'_>, mask: Option<Value>) -> Vec<Term> {
    let mut found = vec![];
    if let Some(mask) = mask {
        let axes: Vec<usize> = (0..forms.ir.ty(mask).rank()).collect();
        collect(forms, mask, &axes, &mut found);
    }
    found
}

/// Steps 1 and 3; `axes` are those of the mask that the axes of `value` are.
fn collect(forms: &mut Forms<'_>, value: Value, axes: &[usize], found: &mut Vec<Term>) {
    let ir = forms.ir;
    if fold::const_of(ir, value).and_then(Attr::splat_value).is_some_and(|bits| bits & 1 == 1) {
        return;
    }
    let Some(op) = ir.def_op(value) else { return found.push(Term::Other) };
    let operands = ir.operands(op);
    if ir.is(op, ArithOp::Andi) {
        operands.iter().for_each(|&v| collect(forms, v, axes, found));
    } else if ir.is(op, TtOp::Broadcast) {
        collect(forms, operands[0], axes, found);
    } else if ir.is(op, TtOp::Splat) {
        found.push(Term::Uniform(Test::Flag(operands[0])));
    } else if let Some(axis) = tt::ExpandDims::of(ir, op).and_then(|e| e.axis(ir)) {
        let kept = axes.iter().enumerate().filter(|(d, _)| *d as i64 != axis).map(|(_, &a)| a);
        collect(forms, operands[0], &kept.collect::<Vec<_>>(), found);
    } else if let Some(order) = tt::Trans::of(ir, op).and_then(|t| t.order(ir)) {
        let mut from = vec![0; axes.len()];
        order.iter().zip(axes).for_each(|(&d, &axis)| from[d as usize] = axis);
        collect(forms, operands[0], &from, found);
    } else {
        let term = arith::Cmpi::of(ir, op).and_then(|compare| comparison(forms, compare, axes));
        found.extend(term.unwrap_or_else(|| vec![Term::Other]));
    }
}

/// Step 2: `x < y` as i < -start of the form of x - y. `None` for what is no such comparison.
fn comparison(forms: &mut Forms<'_>, compare: arith::Cmpi, axes: &[usize]) -> Option<Vec<Term>> {
    let ir = forms.ir;
    let (x, y) = (forms.of(compare.lhs(ir)).ok()?, forms.of(compare.rhs(ir)).ok()?);
    // x - y < 0 as `least` - (y - x) < 0, and so on: all four as "less - more < 0".
    let (less, more, strict) = match compare.predicate(ir)? {
        P::Slt => (x, y, true),
        P::Sle => (x, y, false),
        P::Sgt => (y, x, true),
        P::Sge => (y, x, false),
        _ => return None,
    };
    let limited = !less.limits.is_empty() || !more.limits.is_empty() || less.base.is_some() || more.base.is_some();
    if limited || less.quotients != more.quotients {
        return None;
    }
    // step · i < end
    let end = more.start.sub(&less.start)?.add(&Poly::constant(i64::from(!strict)))?;
    let mut steps = vec![];
    for (d, (a, b)) in less.steps.iter().zip(&more.steps).enumerate() {
        let step = a.sub(b)?;
        if !step.is_zero() {
            steps.push((d, step.as_constant()?));
        }
    }
    let term = match steps[..] {
        [] => match end.as_constant() {
            Some(n) if n > 0 => return Some(vec![]),
            _ => Term::Uniform(Test::Positive(end)),
        },
        [(d, 1)] => Term::Below { axis: axes[d], end },
        // -i < end is i > -end.
        [(d, -1)] => {
            let first = Poly::constant(1).sub(&end)?;
            if first.as_constant().is_some_and(|n| n <= 0) {
                return Some(vec![]);
            }
            Term::From { axis: axes[d], first }
        }
        _ => return None,
    };
    Some(vec![term])
}
