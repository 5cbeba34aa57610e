//! Where control and values go: between the blocks of structured and unstructured control flow.
//!
//! # Values
//!
//! [`value_edges`] lists, for a function, each pair (value, value that it may become): operands of loops, branches,
//! yields and captures on one side; block arguments and results on the other.
//!
//! # Control
//!
//! [`Segments`] cuts every block into *segments*, each a run of operations that ends with a terminator or an operation
//! that has regions:
//!
//! ```text
//! %0 = …          segment 0: → first segment of the body, and → segment 1 (a loop may run zero times)
//! scf.for …
//!   …             first segment of the body: → itself (marked as going back), and → segment 1
//!   scf.yield
//! %1 = …          segment 1
//! ```
//!
//! Segments are numbered in the order of the text. An edge *goes back* when its end does not come after its start.

use crate::ir::dialects::Classes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::scf::scf::{Condition, For};
use std::collections::BTreeMap;

use crate::ir::core::{Block, Ir, Op, Use, Value, ValueDef};
use crate::ir::dialects::{ScfOp, TtgOp};

/// Each pair (value, value that it may become) in a function that control flow makes.
#[must_use]
pub fn value_edges(ir: &Ir, func: Op) -> Vec<(Value, Value)> {
    let mut edges = vec![];
    for op in ir.all_ops(func) {
        op_edges(ir, op, &mut edges);
    }
    edges
}

fn op_edges(ir: &Ir, op: Op, edges: &mut Vec<(Value, Value)>) {
    let mut pass = |from: &[Value], to: &[Value]| edges.extend(from.iter().copied().zip(to.iter().copied()));
    let args = |index: usize| ir.body(op, index).map_or(&[][..], |b| ir.args(b));
    let end = |index: usize| ir.body(op, index).and_then(|b| ir.terminator(b));
    if let Some(looped) = For::of(ir, op) {
        let carried = args(0).get(1..).unwrap_or(&[]);
        pass(looped.init(ir), carried);
        pass(looped.init(ir), ir.results(op));
        if let Some(end) = end(0) {
            pass(ir.operands(end), carried);
            pass(ir.operands(end), ir.results(op));
        }
    } else if ir.is(op, ScfOp::While) {
        pass(ir.operands(op), args(0));
        if let Some(condition) = end(0).and_then(|end| Condition::of(ir, end)) {
            pass(condition.args(ir), args(1));
            pass(condition.args(ir), ir.results(op));
        }
        if let Some(end) = end(1) {
            pass(ir.operands(end), args(0));
        }
    } else if ir.is(op, TtgOp::WarpSpecializePartitions) {
        for index in 0..ir.regions_of(op).len() {
            pass(ir.operands(op), args(index));
        }
    } else if ir.kind(op).belongs(Classes::CONTROL_FLOW) {
        // The results are what the regions end with.
        for block in ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)) {
            let end = ir.terminator(*block).filter(|&end| ir.kind(end).belongs(Classes::YIELDS));
            if let Some(end) = end {
                pass(ir.operands(end), ir.results(op));
            }
        }
    } else if ir.kind(op).has(Traits::BRANCH) {
        for (index, &target) in ir.successors(op).iter().enumerate() {
            pass(ir.successor_operands(op, index), ir.args(target));
        }
    }
}

/// The values that a use makes of its value in structured control flow: arguments and results of loops and branches.
/// `None` where it hands nothing on.
#[must_use]
pub fn handed_to(ir: &Ir, u: Use) -> Option<Vec<Value>> {
    let at = u.index as usize;
    let arg = |op: Op, region: usize, index: usize| ir.body(op, region).and_then(|b| ir.args(b).get(index)).copied();
    let result = |op: Op, index: usize| ir.results(op).get(index).copied();
    let targets = if ir.is(u.op, ScfOp::For) {
        let index = at.checked_sub(For::SLOT.init.index(ir, u.op))?;
        [arg(u.op, 0, index + 1), result(u.op, index)]
    } else if ir.is(u.op, ScfOp::While) {
        [arg(u.op, 0, at), None]
    } else if ir.is(u.op, ScfOp::Condition) {
        let (parent, index) = (ir.parent_op(u.op)?, at.checked_sub(Condition::SLOT.args.index(ir, u.op))?);
        [arg(parent, 1, index), result(parent, index)]
    } else if ir.is(u.op, ScfOp::Yield) {
        let parent = ir.parent_op(u.op)?;
        if ir.is(parent, ScfOp::For) {
            [result(parent, at), arg(parent, 0, at + 1)]
        } else if ir.is(parent, ScfOp::While) {
            [arg(parent, 0, at), None]
        } else {
            [result(parent, at).filter(|_| ir.is(parent, ScfOp::If)), None]
        }
    } else {
        return None;
    };
    Some(targets.into_iter().flatten().collect())
}

/// The values that may become an argument or a result of a loop or a branch; `None` of any other value.
#[must_use]
pub fn handed_from(ir: &Ir, value: Value) -> Option<Vec<Value>> {
    let end = |op: Op, region: usize| ir.body(op, region).and_then(|b| ir.last_op(b));
    let yielded = |op, region, index: usize| end(op, region).and_then(|end| ir.operands(end).get(index)).copied();
    let passed = |op, index: usize| Condition::of(ir, end(op, 0)?)?.args(ir).get(index).copied();
    let carried = |op, index: usize| Some([For::of(ir, op)?.init(ir).get(index).copied(), yielded(op, 0, index)]);
    let sources = match ir.def(value) {
        ValueDef::Result { op, index } => {
            let index = index as usize;
            if ir.is(op, ScfOp::While) {
                [passed(op, index), None]
            } else if ir.is(op, ScfOp::If) {
                [yielded(op, 0, index), yielded(op, 1, index)]
            } else {
                carried(op, index)?
            }
        }
        ValueDef::Arg { block, index } => {
            let (op, index) = (ir.block_op(block)?, index as usize);
            if ir.is(op, ScfOp::While) && ir.body(op, 0) == Some(block) {
                [ir.operands(op).get(index).copied(), yielded(op, 1, index)]
            } else if ir.is(op, ScfOp::While) {
                [passed(op, index), None]
            } else {
                carried(op, index.checked_sub(1)?)?
            }
        }
    };
    Some(sources.into_iter().flatten().collect())
}

/// A run of operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    pub ops: Vec<Op>,
    /// Where control goes afterwards, by index.
    pub next: Vec<usize>,
    /// The operation whose region begins with it.
    pub begins: Option<Op>,
}

/// The segments of a function, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    pub all: Vec<Segment>,
    /// The first segment of each block.
    first: BTreeMap<Block, usize>,
    /// The segment that follows an operation with regions.
    after: BTreeMap<Op, usize>,
}

impl Segments {
    /// Cuts up a function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> Segments {
        let mut this = Segments::default();
        this.cut_regions(ir, func);
        for index in 0..this.all.len() {
            this.all[index].next = this.successors(ir, index);
        }
        this
    }

    /// Whether the edge from one segment to another goes back.
    #[must_use]
    pub fn goes_back(from: usize, to: usize) -> bool {
        to <= from
    }

    fn cut_regions(&mut self, ir: &Ir, op: Op) {
        for &region in ir.regions_of(op) {
            for &block in ir.blocks_of(region) {
                let first = self.all.len();
                self.first.insert(block, first);
                self.cut_block(ir, block);
                self.all[first].begins = Some(op).filter(|_| ir.entry(region) == Some(block));
            }
        }
    }

    fn cut_block(&mut self, ir: &Ir, block: Block) {
        let mut ops = vec![];
        for op in ir.ops(block) {
            ops.push(op);
            if branches(ir, op) {
                self.all.push(Segment { ops: std::mem::take(&mut ops), next: vec![], begins: None });
                self.cut_regions(ir, op);
                self.after.insert(op, self.all.len());
            }
        }
        // Without a terminator the last operation had regions; an empty segment keeps the numbers right.
        self.all.push(Segment { ops, next: vec![], begins: None });
    }

    fn successors(&self, ir: &Ir, index: usize) -> Vec<usize> {
        let Some(&last) = self.all[index].ops.last() else { return vec![] };
        let mut next = vec![];
        if branches(ir, last) {
            next.extend(self.entries(ir, last));
            if may_skip(ir, last) {
                next.extend(self.after.get(&last));
            }
        } else if !ir.successors(last).is_empty() {
            next.extend(ir.successors(last).iter().filter_map(|b| self.first.get(b)));
        } else if let Some(parent) = ir.parent_op(last) {
            next.extend(self.region_end(ir, parent, last));
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// The regions that control may enter from an operation.
    fn entries(&self, ir: &Ir, op: Op) -> Vec<usize> {
        let regions = ir.regions_of(op);
        // A `while` begins with its condition.
        let regions = if ir.is(op, ScfOp::While) { &regions[..1] } else { regions };
        regions.iter().filter_map(|&r| ir.entry(r)).filter_map(|b| self.first.get(&b).copied()).collect()
    }

    /// Where control goes from the end of a region of `parent`.
    fn region_end(&self, ir: &Ir, parent: Op, end: Op) -> Vec<usize> {
        let Some(&after) = self.after.get(&parent) else { return vec![] };
        let body = |index: usize| ir.body(parent, index).and_then(|b| self.first.get(&b).copied());
        if ir.is(parent, ScfOp::For) {
            return body(0).into_iter().chain([after]).collect();
        }
        if ir.is(parent, ScfOp::While) {
            let goes_on = ir.is(end, ScfOp::Condition);
            return if goes_on { body(1).into_iter().chain([after]).collect() } else { body(0).into_iter().collect() };
        }
        // A partition ends where the operation around the partitions ends.
        if ir.is(parent, TtgOp::WarpSpecializePartitions) {
            return ir.parent_op(parent).and_then(|ws| self.after.get(&ws).copied()).into_iter().collect();
        }
        vec![after]
    }
}

/// Whether control enters regions of the operation.
fn branches(ir: &Ir, op: Op) -> bool {
    let control = ir.kind(op).belongs(Classes::CONTROL_FLOW);
    control && ir.regions_of(op).iter().any(|&r| ir.entry(r).is_some())
}

/// Whether control may go on after the operation without entering any of its regions.
fn may_skip(ir: &Ir, op: Op) -> bool {
    ir.is(op, ScfOp::For) || ir.is(op, ScfOp::If) && ir.body(op, 1).is_none()
}
