//! `ttc-merge-equal-branches`: an `scf.if` whose sides do the same with different values becomes one copy of it.
//!
//! `if last: store(final_ptr, x) else: store(ptr, x)` is a branch around each store. One store to a selected address
//! lets the assembler order it among what surrounds the branch.
//!
//! # Algorithm
//!
//! Of each `scf.if` with at most [`MOST_OPS`] operations a side, none of which has regions:
//!
//! 1. Go through both sides at once. The operations of a pair have the same kind, attributes and types of results, and
//!    their operands are pairwise the same value, results of an earlier pair, or two values from outside: a *choice*.
//!    The values that the sides yield are compared in the same way.
//! 2. Where the choices take at most [`MOST_REGISTERS`] registers of a thread, the operations of the first side move in
//!    front of the `scf.if` behind a select for each choice.

use crate::ir::core::{Block, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-merge-equal-branches",
    doc: "do once what both sides of a branch do with different values",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// The most operations of a side.
const MOST_OPS: usize = 8;

/// The most 32-bit registers of a thread that are selected.
const MOST_REGISTERS: usize = 8;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    // The inner ones first, so that those around them may become equal.
    let branches: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::If)).collect();
    let mut changed = false;
    for branch in branches {
        if let Some(sides) = equal_sides(ir, branch) {
            merge(ir, branch, &sides);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// What two sides have in common.
struct Sides {
    first: Vec<Op>,
    /// Pairs of values from outside, each once.
    choices: Vec<(Value, Value)>,
    /// For each operand of each operation of the first side and for each value that it yields, in order, the choice
    /// that it is, if it is one.
    chosen: Vec<Option<usize>>,
    yielded: Vec<Value>,
}

/// Step 1.
fn equal_sides(ir: &Ir, branch: Op) -> Option<Sides> {
    let (a, b) = (ir.body(branch, 0)?, ir.body(branch, 1)?);
    let (first, second): (Vec<Op>, Vec<Op>) = (ir.ops(a).collect(), ir.ops(b).collect());
    if first.len() != second.len() || first.len() > MOST_OPS + 1 {
        return None;
    }
    let mut found = Sides { first: vec![], choices: vec![], chosen: vec![], yielded: vec![] };
    let mut pairs: Vec<(Value, Value)> = vec![];
    for (&x, &y) in first.iter().zip(&second) {
        let types = |op: Op| ir.results(op).iter().map(|&r| ir.ty(r));
        let alike = ir.kind(x) == ir.kind(y)
            && ir.attrs(x) == ir.attrs(y)
            && types(x).eq(types(y))
            && ir.operands(x).len() == ir.operands(y).len()
            && ir.regions_of(x).is_empty()
            && ir.regions_of(y).is_empty();
        if !alike {
            return None;
        }
        for (&v, &w) in ir.operands(x).iter().zip(ir.operands(y)) {
            let choice =
                if v == w || pairs.contains(&(v, w)) { None } else { Some(choice(ir, (a, v), (b, w), &mut found)?) };
            found.chosen.push(choice);
        }
        pairs.extend(ir.results(x).iter().copied().zip(ir.results(y).iter().copied()));
    }
    found.yielded = first.last().map(|&end| ir.operands(end).to_vec())?;
    found.first = first[..first.len() - 1].to_vec();
    let registers: usize = found.choices.iter().map(|&(v, _)| registers(ir, v)).sum();
    (!found.first.is_empty() && registers <= MOST_REGISTERS).then_some(found)
}

/// The number of a pair of values from outside of both sides; `None` if a side made one of them or none can be
/// selected: buffers in shared memory, tensor descriptors and tokens are known by where they were made.
fn choice(ir: &Ir, (a, v): (Block, Value), (b, w): (Block, Value), found: &mut Sides) -> Option<usize> {
    let is_inside = |block, value| ir.def_op(value).is_some_and(|def| ir.parent_block(def) == Some(block));
    if is_inside(a, v) || is_inside(b, w) || ir.ty(v) != ir.ty(w) || !can_be_selected(ir.ty(v)) {
        return None;
    }
    let known = found.choices.iter().position(|&pair| pair == (v, w));
    Some(known.unwrap_or_else(|| {
        found.choices.push((v, w));
        found.choices.len() - 1
    }))
}

fn can_be_selected(ty: Type) -> bool {
    let is_element = |ty: Type| ty.is_int() || ty.is_float() || ty.is_ptr();
    if ty.is_tensor() { is_element(ty.elem()) } else { is_element(ty) }
}

fn registers(ir: &Ir, value: Value) -> usize {
    let ty = ir.ty(value);
    let words = ty.elem().bit_width().unwrap_or(64).div_ceil(32) as usize;
    if ty.is_tensor() { layout::elems_per_thread(ty) * words } else { words }
}

/// Step 2.
fn merge(ir: &mut Ir, branch: Op, sides: &Sides) {
    let condition = ir.operands(branch)[0];
    let select = |ir: &mut Ir, &(v, w): &(Value, Value)| {
        let ty = ir.ty(v);
        Builder::before(ir, branch).value(ArithOp::Select, &[condition, v, w], ty)
    };
    let selected: Vec<Value> = sides.choices.iter().map(|pair| select(ir, pair)).collect();
    let mut chosen = sides.chosen.iter();
    for &op in &sides.first {
        for index in 0..ir.operands(op).len() {
            if let Some(&Some(choice)) = chosen.next() {
                ir.set_operand(op, index, selected[choice]);
            }
        }
        ir.move_before(op, branch);
    }
    let results: Vec<Value> = sides
        .yielded
        .iter()
        .zip(chosen)
        .map(|(&value, choice)| choice.map_or(value, |choice| selected[choice]))
        .collect();
    ir.replace_op(branch, &results);
}
