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
//! 2. Two tensors are often made in the same way from different scalars: pointers of a tile, from one base or another.
//!    Then the scalars are chosen, and the tensor is made once more of what was chosen.
//! 3. Where the choices take at most [`MOST_REGISTERS`] registers of a thread, the operations of the first side move in
//!    front of the `scf.if` behind a select for each choice.

use crate::ir::core::{Builder, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::effects::is_speculatable;
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
const MOST_OPS: usize = 32;

/// The most 32-bit registers of a thread that are selected.
const MOST_REGISTERS: usize = 8;

/// How far back two values are followed to what differs.
const MOST_STEPS: usize = 8;

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
    /// Pairs of values from outside, each once, behind those that it is made of.
    choices: Vec<Choice>,
    /// For each operand of each operation of the first side and for each value that it yields, in order, the choice
    /// that it is, if it is one.
    chosen: Vec<Option<usize>>,
    yielded: Vec<Value>,
}

/// One of two values.
struct Choice {
    pair: (Value, Value),
    made: Option<Made>,
}

/// How both values of a choice are made: the operation that makes the first one, and which of its operands are chosen.
struct Made {
    op: Op,
    chosen: Vec<Option<usize>>,
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
        if !are_alike(ir, x, y) {
            return None;
        }
        for (&v, &w) in ir.operands(x).iter().zip(ir.operands(y)) {
            let is_inside = |block, value| ir.def_op(value).is_some_and(|def| ir.parent_block(def) == Some(block));
            let choice = if v == w || pairs.contains(&(v, w)) {
                None
            } else if is_inside(a, v) || is_inside(b, w) {
                return None;
            } else {
                Some(found.choice(ir, (v, w), MOST_STEPS)?)
            };
            found.chosen.push(choice);
        }
        pairs.extend(ir.results(x).iter().copied().zip(ir.results(y).iter().copied()));
    }
    found.yielded = first.last().map(|&end| ir.operands(end).to_vec())?;
    found.first = first[..first.len() - 1].to_vec();
    (!found.first.is_empty() && found.registers(ir, 0) <= MOST_REGISTERS).then_some(found)
}

/// Whether two operations without regions do the same with their operands.
fn are_alike(ir: &Ir, x: Op, y: Op) -> bool {
    let types = |op: Op| ir.results(op).iter().map(|&r| ir.ty(r));
    ir.kind(x) == ir.kind(y)
        && ir.attrs(x) == ir.attrs(y)
        && types(x).eq(types(y))
        && ir.operands(x).len() == ir.operands(y).len()
        && ir.regions_of(x).is_empty()
        && ir.regions_of(y).is_empty()
}

impl Sides {
    /// The number of a pair of values from outside of both sides; `None` if none of them can be selected: buffers in
    /// shared memory, tensor descriptors and tokens are known by where they were made.
    fn choice(&mut self, ir: &Ir, pair: (Value, Value), steps: usize) -> Option<usize> {
        let (v, w) = pair;
        if ir.ty(v) != ir.ty(w) || !can_be_selected(ir.ty(v)) {
            return None;
        }
        if let Some(known) = self.choices.iter().position(|choice| choice.pair == pair) {
            return Some(known);
        }
        let before = self.choices.len();
        let made = self.made(ir, pair, steps).filter(|_| self.registers(ir, before) < registers(ir, v));
        if made.is_none() {
            self.choices.truncate(before);
        }
        self.choices.push(Choice { pair, made });
        Some(self.choices.len() - 1)
    }

    /// Step 2.
    fn made(&mut self, ir: &Ir, (v, w): (Value, Value), steps: usize) -> Option<Made> {
        let (x, y) = (ir.def_op(v)?, ir.def_op(w)?);
        let is_one = ir.ty(v).is_tensor() && ir.results(x).len() == 1 && is_speculatable(ir, x);
        if steps == 0 || !is_one || !are_alike(ir, x, y) {
            return None;
        }
        let operands = ir.operands(x).iter().zip(ir.operands(y));
        let chosen =
            operands.map(|(&v, &w)| if v == w { Some(None) } else { self.choice(ir, (v, w), steps - 1).map(Some) });
        Some(Made { op: x, chosen: chosen.collect::<Option<_>>()? })
    }

    /// Registers of a thread that are selected for the choices from this one on.
    fn registers(&self, ir: &Ir, from: usize) -> usize {
        let selected = self.choices[from..].iter().filter(|choice| choice.made.is_none());
        selected.map(|choice| registers(ir, choice.pair.0)).sum()
    }
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

/// Step 3.
fn merge(ir: &mut Ir, branch: Op, sides: &Sides) {
    let condition = ir.operands(branch)[0];
    let mut selected: Vec<Value> = vec![];
    for Choice { pair: (v, w), made } in &sides.choices {
        let value = if let Some(Made { op, chosen }) = made {
            let copy = ir.clone_op(*op, &mut Mapping::default());
            for (index, choice) in chosen.iter().enumerate() {
                if let Some(choice) = *choice {
                    ir.set_operand(copy, index, selected[choice]);
                }
            }
            ir.insert_before(branch, copy);
            ir.result(copy)
        } else {
            let ty = ir.ty(*v);
            Builder::before(ir, branch).value(ArithOp::Select, &[condition, *v, *w], ty)
        };
        selected.push(value);
    }
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
