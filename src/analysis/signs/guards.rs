//! What comparisons around an operation say of differences.
//!
//! ```text
//! if x < n: …                              n - x > 0
//! else: y = (x - n) * 64 + arange(0, 64)   x - n >= 0
//! ```
//!
//! The branches of `scf.if`, blocks with one way in, conditions of `scf.while` and the bounds of loops tell.

use crate::ir::core::hash::Set;
use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::arith::arith::{Andi, Cmpi, Ori};
use crate::ir::dialects::enums::CmpiPredicate as P;
use crate::ir::dialects::scf::cf::CondBr;
use crate::ir::dialects::scf::scf::{Condition, For, If};
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::rewrite::fold::int_of;

/// `large >= small`, or `large > small`.
struct Order {
    large: Value,
    small: Value,
    strict: bool,
}

impl Order {
    /// What the larger one is at least, where the smaller one is this.
    fn at_least(&self, small: i64) -> i64 {
        small.saturating_add(i64::from(self.strict))
    }
}

/// The differences of a function, and sums with negative constants, that are not below zero where they are computed.
pub(super) fn differences(ir: &Ir, func: Op) -> Set<Op> {
    ir.all_ops(func).into_iter().filter(|&op| is_ordered(ir, op)).collect()
}

enum Subtrahend {
    Value(Value),
    Constant(i64),
}

/// `x` and `y` of `x - y`.
fn subtracted(ir: &Ir, op: Op) -> Option<(Value, Subtrahend)> {
    if !(ir.is(op, ArithOp::Subi) || ir.is(op, ArithOp::Addi)) || ir.ty(ir.result(op)).is_tensor() {
        return None;
    }
    let &[x, y] = ir.operands(op) else { return None };
    let constant = int_of(ir, y);
    if ir.is(op, ArithOp::Subi) {
        return Some((x, constant.map_or(Subtrahend::Value(y), Subtrahend::Constant)));
    }
    Some((x, Subtrahend::Constant(constant.filter(|&c| c < 0)?.checked_neg()?)))
}

fn is_ordered(ir: &Ir, difference: Op) -> bool {
    let Some((x, y)) = subtracted(ir, difference) else { return false };
    around(ir, difference).iter().any(|order| {
        order.large == x
            && match y {
                Subtrahend::Value(y) => order.small == y,
                Subtrahend::Constant(c) => int_of(ir, order.small).is_some_and(|s| order.at_least(s) >= c),
            }
    })
}

/// What holds wherever an operation runs.
fn around(ir: &Ir, op: Op) -> Vec<Order> {
    let mut orders = vec![];
    let mut inner = op;
    while let Some(block) = ir.parent_block(inner) {
        let mut block = block;
        let Some(region) = ir.parent_region(block) else { break };
        // Blocks that nothing leads to may lead to each other.
        for _ in ir.blocks_of(region) {
            let Some((branch, taken)) = only_way_in(ir, block) else { break };
            holds(ir, branch.condition(ir), taken, &mut orders);
            let Some(before) = ir.parent_block(branch.0) else { break };
            block = before;
        }
        let Some(outer) = ir.parent_op(inner) else { break };
        if let Some(branch) = If::of(ir, outer) {
            let is_first = ir.regions_of(outer).first() == Some(&region);
            holds(ir, branch.condition(ir), is_first, &mut orders);
        } else if let Some(looped) = For::of(ir, outer) {
            let index = ir.body(outer, 0).map(|body| ir.args(body)[0]);
            orders.extend(index.map(|small| Order { large: looped.upper(ir), small, strict: true }));
            orders.extend(index.map(|large| Order { large, small: looped.lower(ir), strict: false }));
        }
        if ir.is(outer, ScfOp::While) && ir.regions_of(outer).get(1) == Some(&region) {
            goes_on(ir, outer, &mut orders);
        }
        inner = outer;
    }
    orders
}

/// Adds what holds in the second region of an `scf.while`, whose arguments are what its condition hands on.
fn goes_on(ir: &Ir, looped: Op, orders: &mut Vec<Order>) {
    let end = ir.body(looped, 0).and_then(|before| ir.terminator(before));
    let Some(condition) = end.and_then(|end| Condition::of(ir, end)) else { return };
    let Some(after) = ir.body(looped, 1) else { return };
    let handed_on = |v: Value| {
        let index = condition.args(ir).iter().position(|&arg| arg == v);
        index.map_or(v, |index| ir.args(after)[index])
    };
    let mut held = vec![];
    holds(ir, condition.condition(ir), true, &mut held);
    orders.extend(held.into_iter().map(|o| Order { large: handed_on(o.large), small: handed_on(o.small), ..o }));
}

/// The conditional branch that alone leads to a block, and whether it does if its condition holds.
fn only_way_in(ir: &Ir, block: Block) -> Option<(CondBr, bool)> {
    let region = ir.parent_region(block).filter(|&r| ir.entry(r) != Some(block))?;
    let ends = ir.blocks_of(region).iter().filter_map(|&b| ir.last_op(b));
    let ways = ends.flat_map(|end| ir.successors(end).iter().enumerate().map(move |(i, &to)| (end, i, to)));
    let mut here = ways.filter(|way| way.2 == block);
    let (Some((end, index, _)), None) = (here.next(), here.next()) else { return None };
    Some((CondBr::of(ir, end)?, index == 0))
}

/// Adds what a condition says that is true, or false.
fn holds(ir: &Ir, condition: Value, truth: bool, orders: &mut Vec<Order>) {
    let parts = if truth {
        Andi::defining(ir, condition).map(|op| [op.lhs(ir), op.rhs(ir)])
    } else {
        Ori::defining(ir, condition).map(|op| [op.lhs(ir), op.rhs(ir)])
    };
    for part in parts.into_iter().flatten() {
        holds(ir, part, truth, orders);
    }
    let Some(comparison) = Cmpi::defining(ir, condition) else { return };
    let (x, y) = (comparison.lhs(ir), comparison.rhs(ir));
    let order = match (comparison.predicate(ir), truth) {
        (Some(P::Sge), true) | (Some(P::Slt), false) => Order { large: x, small: y, strict: false },
        (Some(P::Sgt), true) | (Some(P::Sle), false) => Order { large: x, small: y, strict: true },
        (Some(P::Sle), true) | (Some(P::Sgt), false) => Order { large: y, small: x, strict: false },
        (Some(P::Slt), true) | (Some(P::Sge), false) => Order { large: y, small: x, strict: true },
        _ => return,
    };
    orders.push(order);
}
