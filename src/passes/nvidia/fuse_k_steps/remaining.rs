//! Masks that end where the loop ends: comparisons that say that a column lies in front of the end of K.
//!
//! A loop of `cdiv(K, BLOCK_K)` steps leaves out the columns from K on by `c < K - k * BLOCK_K`. Over several steps
//! that is one comparison of the longer axis, `c < K - first * BLOCK_K`, whose right side is the same for all columns.
//! It is false too where there is no step any more, so nothing else need be asked there.
//!
//! Why that is exact: the loop runs for `t < n`, and `n = cdiv(K, BLOCK_K)`, so `t * BLOCK_K < K` in each step, and
//! none of the differences overflows. From `n` on, `t * BLOCK_K >= K`.

use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::arith::arith::{Addi, Cmpi, Divsi, Muli, Subi};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::{ExpandDims, Load, MakeRange, Splat, Trans};
use crate::ir::dialects::{ArithOp, OpKind, TtOp};
use crate::ir::rewrite::fold;

/// A loop over K.
pub(super) struct Loop {
    /// What the loop's variable counts: steps, or columns.
    counts_columns: bool,
    variable: Value,
    depth: i64,
    /// K.
    pub end: Value,
}

impl Loop {
    /// The loop as one over K, if its bounds say so: `range(0, cdiv(K, BLOCK_K))` or `range(0, K, BLOCK_K)`.
    pub(super) fn of(ir: &Ir, looped: Op, body: Block, depth: i64) -> Option<Loop> {
        let (bounds, variable) = (For(looped), ir.args(body)[0]);
        let (upper, step) = (bounds.upper(ir), fold::int_of(ir, bounds.step(ir))?);
        if fold::int_of(ir, bounds.lower(ir)) != Some(0) {
            return None;
        }
        if step == depth {
            return Some(Loop { counts_columns: true, variable, depth, end: upper });
        }
        let quotient = Divsi(defined(ir, upper, ArithOp::Divsi).filter(|_| step == 1)?);
        let sum = Addi(defined(ir, quotient.lhs(ir), ArithOp::Addi)?);
        let is_rounded_up =
            fold::int_of(ir, quotient.rhs(ir)) == Some(depth) && fold::int_of(ir, sum.rhs(ir)) == Some(depth - 1);
        is_rounded_up.then(|| Loop { counts_columns: false, variable, depth, end: sum.lhs(ir) })
    }

    /// Whether a comparison says that a column of the step, along this axis, lies in front of the end.
    pub(super) fn bounds(&self, ir: &Ir, op: Op, axis: usize) -> bool {
        let Some(compared) = Cmpi::of(ir, op) else { return false };
        let (less, more) = match compared.predicate(ir) {
            Some(CmpiPredicate::Slt) => (compared.lhs(ir), compared.rhs(ir)),
            Some(CmpiPredicate::Sgt) => (compared.rhs(ir), compared.lhs(ir)),
            _ => return false,
        };
        let Some(end) = number(ir, more) else { return false };
        if self.is_columns(ir, less, axis) {
            // c < K - first column
            return defined(ir, end, ArithOp::Subi).map(Subi).is_some_and(|difference| {
                difference.lhs(ir) == self.end && self.is_first_column(ir, difference.rhs(ir))
            });
        }
        end == self.end && self.is_number_of_column(ir, less, axis)
    }

    /// Whether a tensor holds the numbers of the step's columns along this axis: first column + c.
    fn is_number_of_column(&self, ir: &Ir, value: Value, axis: usize) -> bool {
        let Some(op) = ir.def_op(value) else { return false };
        let Some(sum) = Addi::of(ir, op) else {
            return viewed(ir, op, axis).is_some_and(|(from, axis)| self.is_number_of_column(ir, from, axis));
        };
        let parts = [(sum.lhs(ir), sum.rhs(ir)), (sum.rhs(ir), sum.lhs(ir))];
        parts.into_iter().any(|(first, columns)| {
            self.is_columns(ir, columns, axis) && number(ir, first).is_some_and(|first| self.is_first_column(ir, first))
        })
    }

    /// Whether a load reads nothing from the end on; K is along this axis.
    pub(super) fn ends(&self, ir: &Ir, load: Load, axis: usize) -> bool {
        load.mask(ir).is_some_and(|mask| self.is_bounded(ir, mask, axis))
    }

    fn is_bounded(&self, ir: &Ir, mask: Value, axis: usize) -> bool {
        let Some(op) = ir.def_op(mask) else { return false };
        if ir.is(op, ArithOp::Andi) {
            return ir.operands(op).iter().any(|&term| self.is_bounded(ir, term, axis));
        }
        self.bounds(ir, op, axis) || viewed(ir, op, axis).is_some_and(|(from, axis)| self.is_bounded(ir, from, axis))
    }

    /// Whether a tensor counts the columns of a step along this axis, from 0 on.
    fn is_columns(&self, ir: &Ir, value: Value, axis: usize) -> bool {
        let Some(op) = ir.def_op(value) else { return false };
        if ir.is(op, TtOp::MakeRange) {
            return MakeRange(op).start(ir) == Some(0) && ir.ty(value).shape()[0] == self.depth;
        }
        viewed(ir, op, axis).is_some_and(|(from, axis)| self.is_columns(ir, from, axis))
    }

    /// The number of the step's first column.
    fn is_first_column(&self, ir: &Ir, value: Value) -> bool {
        if self.counts_columns {
            return value == self.variable;
        }
        defined(ir, value, ArithOp::Muli).map(Muli).is_some_and(|product| {
            product.lhs(ir) == self.variable && fold::int_of(ir, product.rhs(ir)) == Some(self.depth)
        })
    }
}

fn defined(ir: &Ir, value: Value, kind: ArithOp) -> Option<Op> {
    ir.def_op(value).filter(|&op| ir.is(op, kind))
}

/// What an operation shows in another shape, and which of its axes became this one.
fn viewed(ir: &Ir, op: Op, axis: usize) -> Option<(Value, usize)> {
    let from = match ir.kind(op) {
        OpKind::Tt(TtOp::Broadcast) => axis,
        OpKind::Tt(TtOp::Trans) => usize::try_from(*Trans(op).order(ir)?.get(axis)?).ok()?,
        OpKind::Tt(TtOp::ExpandDims) => match usize::try_from(ExpandDims(op).axis(ir)?).ok()? {
            added if added == axis => return None,
            added => axis - usize::from(axis > added),
        },
        _ => return None,
    };
    Some((ir.operand(op, 0), from))
}

/// The number that all elements of a tensor have.
fn number(ir: &Ir, value: Value) -> Option<Value> {
    let op = ir.def_op(value)?;
    if ir.is(op, TtOp::Splat) {
        return Some(Splat(op).src(ir));
    }
    let is_view = ir.is(op, TtOp::Broadcast) || ir.is(op, TtOp::ExpandDims);
    if is_view { number(ir, ir.operand(op, 0)) } else { None }
}
