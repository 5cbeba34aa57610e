//! Which buffers of shared memory a memory descriptor may be part of.
//!
//! # Algorithm
//!
//! 1. `ttg.local_alloc` makes a buffer; its result names it.
//! 2. A view (index, subslice, transposition, reshape, reinterpretation) is part of what its operand is part of; a
//!    select of either side.
//! 3. Control flow hands descriptors on ([`value_edges`]).
//! 4. Sets only grow, so repeating 2 and 3 until nothing changes gives the least solution.
//!
//! Descriptors of tensor memory are left out.

use crate::ir::dialects::TtgOp;
use crate::ir::dialects::arith::arith::Select;
use std::collections::{BTreeMap, BTreeSet};

use super::flow::value_edges;
use crate::ir::core::{AttrData, Ir, Op, Type, Value};

/// The buffers behind each memory descriptor of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SharedAlias {
    buffers: BTreeMap<Value, BTreeSet<Value>>,
}

/// Whether values of this type lie in shared memory.
#[must_use]
pub fn is_shared(ty: Type) -> bool {
    ty.as_memdesc().is_some_and(|m| *m.memory_space.data() == AttrData::SharedMemory)
}

/// The descriptor that a view is made of.
#[must_use]
pub fn viewed(ir: &Ir, op: Op) -> Option<Value> {
    if ir.kind(op).is_view() { ir.operands(op).first().copied() } else { None }
}

impl SharedAlias {
    /// Analyses one function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> SharedAlias {
        let mut this = SharedAlias::default();
        let mut edges: Vec<(Value, Value)> =
            value_edges(ir, func).into_iter().filter(|&(_, to)| is_shared(ir.ty(to))).collect();
        for op in ir.all_ops(func) {
            let Some(&result) = ir.results(op).first().filter(|&&r| is_shared(ir.ty(r))) else { continue };
            if ir.is(op, TtgOp::LocalAlloc) {
                this.buffers.insert(result, BTreeSet::from([result]));
            } else if let Some(select) = Select::of(ir, op) {
                edges.extend([(select.true_value(ir), result), (select.false_value(ir), result)]);
            } else {
                edges.extend(viewed(ir, op).map(|from| (from, result)));
            }
        }
        while edges.iter().fold(false, |changed, &(from, to)| this.join(from, to) | changed) {}
        this
    }

    /// The buffers that a descriptor may be part of, each as the value of its `ttg.local_alloc`.
    pub fn of(&self, value: Value) -> impl Iterator<Item = Value> + '_ {
        self.buffers.get(&value).into_iter().flatten().copied()
    }

    /// Every descriptor with its buffers.
    pub fn iter(&self) -> impl Iterator<Item = (Value, &BTreeSet<Value>)> {
        self.buffers.iter().map(|(&v, b)| (v, b))
    }

    fn join(&mut self, from: Value, to: Value) -> bool {
        let Some(new) = self.buffers.get(&from).cloned() else { return false };
        let slot = self.buffers.entry(to).or_default();
        let before = slot.len();
        slot.extend(new);
        slot.len() > before
    }
}
