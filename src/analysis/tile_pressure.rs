//! How many registers of a thread the tiles of a block take at once.
//!
//! # Algorithm
//!
//! 1. Each value is *held* as what its registers belong to ([`holder`]): a view shares those of its source, and what
//!    was widened is held as the narrow numbers. Addresses, predicates, and what is cheap to make again count nothing,
//!    as in [`super::register_use`].
//! 2. What comes from outside and is used in the block is held all the time; an argument from the start, a result from
//!    its operation on, both until the last use.
//! 3. One walk over the block adds what each operation makes and subtracts what it uses last. An elementwise operation
//!    frees elements as it goes; a product and an exchange between threads hold their operands until they are done,
//!    but for the sum that a product adds to. An operation with regions adds what its blocks need by themselves.
//!
//! Example: a thread has 32 registers of `%a`, of `%b` and of the sums.
//!
//! ```text
//! %a = ttg.local_load …             32
//! %b = ttg.local_load …             64
//! %x = tt.dot %a, %b, %zero         96, and 32 behind it
//! %y = arith.truncf %x              16 behind it
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::register_use::of_type;
use crate::ir::dialects::tt::tt::Dot;
use crate::ir::{ArithOp, Block, Ir, Op, OpKind, TtOp, Value};

/// The value whose registers hold `value`; `None` for what counts nothing.
#[must_use]
pub fn holder(ir: &Ir, value: Value) -> Option<Value> {
    let mut value = value;
    loop {
        let words = of_type(ir.ty(value));
        let Some(op) = ir.def_op(value) else { return (words > 0).then_some(value) };
        let source = ir.operands(op).first().copied();
        value = match (ir.kind(op), source) {
            (OpKind::Arith(ArithOp::Constant) | OpKind::Tt(TtOp::Splat | TtOp::MakeRange), _) => return None,
            (OpKind::Tt(TtOp::Broadcast | TtOp::ExpandDims | TtOp::Trans), Some(source)) => source,
            (
                OpKind::Arith(ArithOp::Extf | ArithOp::Extsi | ArithOp::Extui | ArithOp::Sitofp | ArithOp::Uitofp),
                Some(source),
            ) if (1..words).contains(&of_type(ir.ty(source))) => source,
            _ => return (words > 0).then_some(value),
        };
    }
}

/// The 32-bit registers of a thread that hold a value.
#[must_use]
pub fn words(ir: &Ir, value: Value) -> u32 {
    holder(ir, value).map_or(0, |held| of_type(ir.ty(held)))
}

/// What the tiles of a block need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pressure {
    /// The most registers of a thread that they take at once.
    pub peak: u32,
    /// The registers that a thread lacks, added up over the operations that make tiles.
    pub lacking: u64,
}

/// What the tiles of a block need, where a thread has so many registers.
#[must_use]
pub fn pressure(ir: &Ir, block: Block, registers: u32) -> Pressure {
    let ops = ir.op_list(block);
    let (last, outside) = last_uses(ir, block, &ops);
    let mut ends: Vec<Vec<Value>> = vec![vec![]; ops.len()];
    for (&value, &at) in &last {
        if let Some(list) = ends.get_mut(at) {
            list.push(value);
        }
    }
    let held = |value: &Value| of_type(ir.ty(*value));
    let mut now: u32 = outside + ir.args(block).iter().filter(|v| last.contains_key(v)).map(held).sum::<u32>();
    let (mut peak, mut lacking) = (now, 0);
    for (at, &op) in ops.iter().enumerate() {
        let made: u32 = ir.results(op).iter().filter(|v| last.contains_key(v)).map(held).sum();
        let freed: u32 = ends[at].iter().map(held).sum();
        let early = early(ir, op, &ends[at]);
        let inside = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).map(|&b| inner(ir, b)).max();
        let during = (now + made + inside.unwrap_or(0)).saturating_sub(early);
        now = (now + made).saturating_sub(freed);
        peak = peak.max(now).max(during);
        if made > 0 {
            lacking += u64::from(now.max(during).saturating_sub(registers));
        }
    }
    Pressure { peak, lacking }
}

/// What a nested block needs without what comes from outside.
fn inner(ir: &Ir, block: Block) -> u32 {
    let ops = ir.op_list(block);
    let (_, outside) = last_uses(ir, block, &ops);
    pressure(ir, block, u32::MAX).peak.saturating_sub(outside)
}

/// What an operation frees of its operands that end with it before all of its results are there.
fn early(ir: &Ir, op: Op, ends: &[Value]) -> u32 {
    let words = |value: &Value| of_type(ir.ty(*value));
    if let Some(dot) = Dot::of(ir, op) {
        let sum = holder(ir, dot.c(ir)).filter(|sum| ends.contains(sum));
        return sum.map_or(0, |sum| words(&sum));
    }
    if ir.kind(op).works_across_threads() || !ir.regions_of(op).is_empty() { 0 } else { ends.iter().map(words).sum() }
}

/// The last use of each value that is held and made in the block, by the number of the operation, which is past the end
/// for what other blocks use; and the registers of what comes from outside.
fn last_uses(ir: &Ir, block: Block, ops: &[Op]) -> (BTreeMap<Value, usize>, u32) {
    let mut last = BTreeMap::new();
    let mut outside = BTreeSet::new();
    for (at, &op) in ops.iter().enumerate() {
        let nested = if ir.regions_of(op).is_empty() { vec![op] } else { ir.all_ops(op) };
        let used = nested.into_iter().flat_map(|inner| ir.operands(inner).to_vec());
        for value in used.filter_map(|value| holder(ir, value)) {
            let home = ir.value_block(value);
            if home == Some(block) {
                last.insert(value, at);
            } else if home.and_then(|b| ir.block_op(b)).is_some_and(|parent| !ir.is_ancestor(op, parent)) {
                outside.insert(value);
            }
        }
    }
    for &result in ops.iter().flat_map(|&op| ir.results(op)).filter(|&&v| of_type(ir.ty(v)) > 0) {
        let elsewhere = ir.uses(result).iter().any(|u| user_in(ir, u.op, block).is_none());
        if let Some(held) = holder(ir, result).filter(|_| elsewhere) {
            last.insert(held, ops.len());
        }
    }
    let outside = outside.iter().map(|&v| of_type(ir.ty(v))).sum();
    (last, outside)
}

/// The operation of the block that is or holds `user`.
#[must_use]
pub fn user_in(ir: &Ir, user: Op, block: Block) -> Option<Op> {
    std::iter::successors(Some(user), |&op| ir.parent_op(op)).find(|&op| ir.parent_block(op) == Some(block))
}
