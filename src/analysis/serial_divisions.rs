//! Whether the turns of a loop wait for one another's divisions.
//!
//! A division of 64 bits is a long sequence of instructions with branches and a call for the numbers that it does not
//! cover. Where what it gives decides what the next turn divides, turns run one after another, however many of them a
//! body holds. A recursive filter is such a loop:
//!
//! ```text
//! for …, %x = %first
//!   %y = arith.addf %x, (tt.load …)
//!   %next = arith.divf %y, %nine         every turn waits for the last one's %next
//!   yield %next
//! ```

use std::collections::BTreeSet;

use crate::ir::core::{Attr, Ir, Op, Value};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{ArithOp, MathOp, OpKind, TtOp};
use crate::ir::rewrite::fold;

/// Bits of the numbers whose division takes a call.
const WIDE: u32 = 64;

/// Whether a value that a loop carries comes, in each turn, from a division of 64 bits of what it was before.
#[must_use]
pub fn turns_wait_for_divisions(ir: &Ir, looped: For) -> bool {
    let Some(body) = ir.body(looped.0, 0) else { return false };
    let ops = ir.op_list(body);
    let Some((&end, inner)) = ops.split_last() else { return false };
    if !inner.iter().any(|&op| is_slow_division(ir, op)) {
        return false;
    }
    let mut turns = ir.args(body)[1..].iter().zip(ir.operands(end));
    turns.any(|(&carried, next)| divided(ir, inner, carried).contains(next))
}

/// The values that depend on a value through a slow division, of those that operations in a row give.
fn divided(ir: &Ir, ops: &[Op], value: Value) -> BTreeSet<Value> {
    let (mut dependent, mut divided) = (BTreeSet::from([value]), BTreeSet::new());
    for &op in ops {
        let inside = ir.all_ops(op);
        let uses = |set: &BTreeSet<Value>| inside.iter().flat_map(|&inner| ir.operands(inner)).any(|v| set.contains(v));
        if uses(&divided) || uses(&dependent) && is_slow_division(ir, op) {
            divided.extend(ir.results(op));
        } else if uses(&dependent) {
            dependent.extend(ir.results(op));
        }
    }
    divided
}

/// Whether an operation divides numbers of 64 bits, or takes the root of one, in more than a multiplication.
fn is_slow_division(ir: &Ir, op: Op) -> bool {
    let Some(&result) = ir.results(op).first() else { return false };
    let constant = ir.operands(op).last().and_then(|&divisor| fold::const_of(ir, divisor));
    let is_power_of_two = |number: f64| number.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1;
    let is_slow = match ir.kind(op) {
        // By a constant: a multiplication of which the upper half stays.
        OpKind::Arith(ArithOp::Divsi | ArithOp::Divui | ArithOp::Remsi | ArithOp::Remui) => constant.is_none(),
        // By a power of two: a multiplication by its reciprocal, which is exact.
        OpKind::Arith(ArithOp::Divf) => !constant.and_then(Attr::float_value).is_some_and(is_power_of_two),
        OpKind::Arith(ArithOp::Remf) | OpKind::Math(MathOp::Sqrt | MathOp::Rsqrt) => true,
        OpKind::Tt(TtOp::PreciseDivf | TtOp::PreciseSqrt) => true,
        _ => false,
    };
    is_slow && ir.ty(result).elem().bit_width() == Some(WIDE)
}
