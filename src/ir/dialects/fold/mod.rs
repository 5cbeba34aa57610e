//! Fold hooks: what an operation's results are when some operands are constants, or when it does nothing.
//!
//! A hook reads the IR and never changes it. It gets the constants among the operands and gives, for each result, an
//! existing value or a constant. Arithmetic on constants is exact to the type: integers wrap to their width, floats
//! round once, to nearest even.

pub mod arith;
pub mod bits;
pub mod math;
pub mod tt;

use super::Folded;
use crate::ir::core::{Attr, Ir, Op, Value};

/// What a hook gives.
pub type FoldResult = Option<Vec<Folded>>;

/// One result that is an existing value.
fn value(v: Value) -> FoldResult {
    Some(vec![Folded::Value(v)])
}

/// One result that is a constant.
fn constant(a: Attr) -> FoldResult {
    Some(vec![Folded::Attr(a)])
}

/// The operation that defines operand `index`.
fn producer(ir: &Ir, op: Op, index: usize) -> Option<Op> {
    ir.def_op(ir.operand(op, index))
}
