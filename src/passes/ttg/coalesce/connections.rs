//! Which accesses to global memory values connect, and how wide the widest of them is.
//!
//! 1. Operations are connected with the producers of their operands and the users of their results. A block argument
//!    connects its users with the operation that holds the block, if that has this block only; functions are no such
//!    operation.
//! 2. Connected operations make a component (union-find, once for a module). An operation with regions also reaches
//!    what is in them, though what is in them need not reach it: edges between components, followed to any distance.
//! 3. What is asked for, the widest access of a shape and order, is the same for all operations of a component and is
//!    kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Widths, accessed_pointer, pointer_order};
use crate::ir::core::hash::Map;
use crate::ir::core::{Ir, Op, ValueDef};
use crate::ir::dialects::Traits;

/// What identifies a question: component, shape, order, elements of one block along each axis.
type Question = (usize, Vec<i64>, Vec<u32>, Vec<i64>);

/// The components of a module.
pub(in crate::passes::ttg) struct Connections {
    of: Map<Op, usize>,
    /// For each component, named by one of its operations' numbers, the accesses that it reaches.
    accesses: BTreeMap<usize, Vec<Op>>,
    known: RefCell<BTreeMap<Question, i64>>,
}

impl Connections {
    pub(in crate::passes::ttg) fn new(ir: &Ir) -> Connections {
        let ops = ir.all_ops(ir.module());
        let number: Map<Op, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let mut sets = Sets((0..ops.len()).collect());
        for (i, &op) in ops.iter().enumerate() {
            for near in ir.operands(op).iter().filter_map(|&v| source(ir, ir.def(v))) {
                sets.join(i, number[&near]);
            }
        }
        let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut own: BTreeMap<usize, Vec<Op>> = BTreeMap::new();
        for (i, &op) in ops.iter().enumerate() {
            let component = sets.find(i);
            for inner in ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b)) {
                edges.entry(component).or_default().insert(sets.find(number[&inner]));
            }
            own.entry(component).or_default().extend(accessed_pointer(ir, op).map(|_| op));
        }
        let accesses =
            own.keys().map(|&c| (c, reached(c, &edges).iter().flat_map(|r| &own[r]).copied().collect())).collect();
        let of = ops.iter().enumerate().map(|(i, &op)| (op, sets.find(i))).collect();
        Connections { of, accesses, known: RefCell::default() }
    }

    /// The most elements that a thread takes at once in an access of this shape and order that `op` reaches; 1 if there
    /// is none.
    pub(super) fn widest(&self, widths: &Widths, op: Op, shape: &[i64], order: &[u32], share: &[i64]) -> i64 {
        let ir = widths.ir;
        let Some(&component) = self.of.get(&op) else { return 1 };
        let question = (component, shape.to_vec(), order.to_vec(), share.to_vec());
        if let Some(&known) = self.known.borrow().get(&question) {
            return known;
        }
        let width = |&other: &Op| {
            let p = accessed_pointer(ir, other).filter(|&p| ir.ty(p).is_tensor() && ir.ty(p).shape() == shape)?;
            (pointer_order(ir, widths.analysis, p) == order).then(|| widths.wanted(other, p, order, share))
        };
        let widest = self.accesses[&component].iter().filter_map(width).max().unwrap_or(1);
        self.known.borrow_mut().insert(question, widest);
        widest
    }
}

/// The operation that stands for a value: the one that made it, or the one that holds the block of which it is an
/// argument.
fn source(ir: &Ir, def: ValueDef) -> Option<Op> {
    match def {
        ValueDef::Result { op, .. } => Some(op),
        ValueDef::Arg { block, .. } => {
            let parent = ir.block_op(block)?;
            let single = ir.regions_of(parent).len() == 1 && ir.blocks_of(ir.region(parent, 0)).len() == 1;
            (single && !ir.kind(parent).has(Traits::ISOLATED_FROM_ABOVE)).then_some(parent)
        }
    }
}

/// The components to which edges lead from one, itself included.
fn reached(from: usize, edges: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([from]);
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        queue.extend(edges.get(&at).into_iter().flatten().copied().filter(|&next| seen.insert(next)));
    }
    seen
}

/// Disjoint sets of numbers: each points towards the one that names its set.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}
