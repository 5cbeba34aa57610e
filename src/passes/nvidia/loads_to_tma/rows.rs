//! Whether anybody sees what a load gives beyond a limit of its index.
//!
//! `rows % M` makes loads of rows that are none read other rows instead. Hardware gives zeros there. Both are the same
//! if no such row is stored: every store of what is computed of them leaves them out.
//!
//! # Algorithm
//!
//! Follow the value with the axis of the limit:
//!
//! 1. Elementwise operations keep the axis, views move it. A product keeps the rows of its first operand and the
//!    columns of its second. A reduction or a scan along another axis keeps it.
//! 2. What a loop or a branch hands on keeps it too, if what the limit is made of does not change meanwhile.
//! 3. A store's mask must ask `i < below` of the axis. The same goes for atomic operations whose result nobody uses.
//! 4. Anything else sees.
//!
//! A remainder of a negative index is no such row. A program may have one if the grid has more programs than there are
//! tiles. The same walk shows that it stores nothing: the mask of each store has an end that is then not positive.

use std::collections::BTreeSet;

use super::masks::{self, Term};
use crate::analysis::flow::handed_to;
use crate::analysis::forms::poly::Poly;
use crate::analysis::forms::{Forms, Limit};
use crate::ir::core::{Ir, Op, Use, Value, ValueDef};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, Effects, OpKind, ScfOp, Traits, TtOp};

/// What hides elements.
struct Hidden<'a> {
    /// It must not change where values are handed on.
    by: &'a Poly,
    /// Whether what a mask asks leaves the elements out, along the axis with this number.
    rule: &'a dyn Fn(&mut Forms<'_>, &[Term], usize) -> bool,
}

/// Whether what lies beyond a limit of the form of `value` influences nothing that the kernel leaves behind.
pub(super) fn are_unseen(forms: &mut Forms<'_>, value: Value, limit: &Limit) -> bool {
    let beyond = Hidden {
        by: &limit.below,
        rule: &|forms, terms, axis| {
            let mut ends = terms.iter().filter_map(|t| match t {
                Term::Below { axis: of, end } if *of == axis => Some(end),
                _ => None,
            });
            ends.any(|end| forms.are_equal(end, &limit.below))
        },
    };
    reaches_no_store(forms, value, limit.axis, &beyond)
}

/// Whether nothing of `value` is seen by programs in which its index along an axis is below zero. One of the causes is
/// negative there.
pub(super) fn is_unseen_below(forms: &mut Forms<'_>, value: Value, axis: usize, causes: &[Poly]) -> bool {
    causes.iter().all(|cause| {
        let ends = |forms: &mut Forms<'_>, terms: &[Term], _: usize| {
            terms.iter().any(|t| matches!(t, Term::Below { end, .. } if forms.is_over_before(end, cause)))
        };
        reaches_no_store(forms, value, axis, &Hidden { by: cause, rule: &ends })
    })
}

fn reaches_no_store(forms: &mut Forms<'_>, value: Value, axis: usize, hidden: &Hidden<'_>) -> bool {
    let ir = forms.ir;
    let (mut seen, mut open) = (BTreeSet::from([(value, axis)]), vec![(value, axis)]);
    while let Some((value, axis)) = open.pop() {
        for &u in ir.uses(value) {
            let Some(next) = follow(forms, u, axis, hidden) else { return false };
            open.extend(next.into_iter().filter(|&n| seen.insert(n)));
        }
    }
    true
}

/// The values that a use makes of one, each with the axis; `None` if it makes the elements seen.
fn follow(forms: &mut Forms<'_>, u: Use, axis: usize, hidden: &Hidden<'_>) -> Option<Vec<(Value, usize)>> {
    let ir = forms.ir;
    let (op, index) = (u.op, u.index as usize);
    if let Some(targets) = handed_to(ir, u) {
        return hand_on(forms, op, targets, axis, hidden);
    }
    let result = |axis: usize| Some(vec![(*ir.results(op).first()?, axis)]);
    let OpKind::Tt(kind) = ir.kind(op) else {
        let pure = ir.spec(op).effects == Effects::Pure && ir.regions_of(op).is_empty();
        // A quotient by what is zero elsewhere is not defined.
        let defined = !ir.kind(op).has(Traits::NOT_SPECULATABLE);
        let elementwise = defined && ir.kind(op).has(Traits::ELEMENTWISE) && ir.results(op).len() == 1;
        return if pure && elementwise && same_shape(ir, op) { result(axis) } else { None };
    };
    match kind {
        TtOp::Store => (index == 1 && leaves_out(forms, tt::Store(op).mask(ir), axis, hidden)).then(Vec::new),
        TtOp::AtomicRmw => {
            let unused = !ir.has_uses(ir.result(op));
            let left_out = index == 1 && leaves_out(forms, tt::AtomicRmw(op).mask(ir), axis, hidden);
            (unused && left_out).then(Vec::new)
        }
        TtOp::ExpandDims => {
            let new = usize::try_from(tt::ExpandDims(op).axis(ir)?).ok()?;
            result(if axis >= new { axis + 1 } else { axis })
        }
        TtOp::Broadcast => result(axis),
        TtOp::Trans => result(tt::Trans(op).order(ir)?.iter().position(|&d| d as usize == axis)?),
        TtOp::Dot => {
            let rank = ir.ty(ir.result(op)).rank();
            let kept = [rank - 2, rank - 1][index.min(1)];
            (index == 2 || axis == kept || axis + 2 < rank).then(|| result(axis))?
        }
        TtOp::Reduce | TtOp::Scan => {
            let along = usize::try_from(ir.int_attr(op, "axis")?).ok()?;
            if along == axis || ir.results(op).len() != ir.operands(op).len() {
                return None;
            }
            let axis = if kind == TtOp::Reduce && axis > along { axis - 1 } else { axis };
            // One of several results may depend on each operand.
            Some(ir.results(op).iter().map(|&r| (r, axis)).collect())
        }
        TtOp::FpToFp | TtOp::Bitcast | TtOp::Clampf | TtOp::PreciseSqrt | TtOp::PreciseDivf | TtOp::Mulhiui => {
            result(axis)
        }
        _ => None,
    }
}

fn same_shape(ir: &Ir, op: Op) -> bool {
    let shape = ir.ty(ir.result(op)).shape();
    ir.operands(op).iter().all(|&v| ir.ty(v).shape() == shape || ir.is(op, ArithOp::Select))
}

/// Step 2.
fn hand_on(
    forms: &Forms<'_>,
    op: Op,
    targets: Vec<Value>,
    axis: usize,
    hidden: &Hidden<'_>,
) -> Option<Vec<(Value, usize)>> {
    let ir = forms.ir;
    for &target in &targets {
        let around = match ir.def(target) {
            ValueDef::Arg { block, .. } => ir.block_op(block)?,
            ValueDef::Result { op, .. } => op,
        };
        let is_plain = ir.is(around, ScfOp::For) || ir.is(around, ScfOp::If);
        if !is_plain || hidden.by.atoms().any(|a| forms.changes_in(a, around)) {
            return None;
        }
    }
    // A branch that has no targets for the value drops it.
    (ir.is(op, ScfOp::For) || ir.is(op, ScfOp::Yield))
        .then(|| targets.into_iter().map(|target| (target, axis)).collect())
}

/// Step 3.
fn leaves_out(forms: &mut Forms<'_>, mask: Option<Value>, axis: usize, hidden: &Hidden<'_>) -> bool {
    let terms = masks::terms(forms, mask);
    (hidden.rule)(forms, &terms, axis)
}
