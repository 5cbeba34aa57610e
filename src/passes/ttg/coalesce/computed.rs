//! Loads and the stores of what is computed from them, element by element, that should agree on how many elements a
//! thread takes.
//!
//! A load of halves would take eight, a store of floats four: 16 bytes each, and a conversion through shared memory in
//! between. Four each are 8 and 16 bytes without one.
//!
//! 1. Go through the operations in order. A load starts a group; operations on elements join those of their operands;
//!    a store joins the group of its value. Reductions take any layout.
//! 2. What else reads a value of a group wants a layout of its own: a product, a loop that carries the value on, an
//!    access that takes it for its addresses. Then nothing is asked of the group.
//! 3. A group agrees on the elements that its narrowest store may take, if these are at least [`LEAST`] bytes of each
//!    access, and each may take as many.

use super::{Widths, accessed_pointer, pointer_order};
use crate::ir::core::hash::Map;
use crate::ir::core::{Ir, Op, Type, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Traits, TtOp};
use crate::ir::effects::effects;

/// The bytes that each access of a thread keeps: half of what it can have.
const LEAST: i64 = 8;

/// The groups of a module.
#[derive(Default)]
pub(in crate::passes::ttg) struct Computed {
    group_of: Map<Op, usize>,
    groups: Vec<Group>,
}

#[derive(Default)]
struct Group {
    accesses: Vec<Op>,
    /// Whether something wants a layout of its own for one of the values.
    is_bound: bool,
    /// The group that took this one in.
    joined: Option<usize>,
}

impl Computed {
    pub(super) fn new(ir: &Ir) -> Computed {
        let mut this = Computed::default();
        let mut values: Map<Value, usize> = Map::default();
        for op in ir.all_ops(ir.module()) {
            this.add(ir, op, &mut values);
        }
        for group in 0..this.groups.len() {
            for access in this.groups[group].accesses.clone() {
                this.group_of.insert(access, group);
            }
        }
        this
    }

    /// Steps 1 and 2 for one operation.
    fn add(&mut self, ir: &Ir, op: Op, values: &mut Map<Value, usize>) {
        let stored = tt::Store::of(ir, op).map(|store| store.value(ir));
        let is_elementwise =
            ir.kind(op).has(Traits::ELEMENTWISE) && !ir.kind(op).is_plain_access() && effects(ir, op).is_free();
        let mut of_op = None;
        for operand in ir.operands(op) {
            let Some(group) = values.get(operand).map(|&group| self.find(group)) else { continue };
            if is_elementwise || stored == Some(*operand) {
                of_op = Some(of_op.map_or(group, |other| self.join(other, group)));
            } else if !ir.is(op, TtOp::Reduce) {
                self.groups[group].is_bound = true;
            }
        }
        if ir.is(op, TtOp::Load) && ir.ty(ir.result(op)).is_tensor() {
            of_op = Some(self.groups.len());
            self.groups.push(Group::default());
        }
        let Some(group) = of_op else { return };
        if accessed_pointer(ir, op).is_some() {
            self.groups[group].accesses.push(op);
        }
        values.extend(ir.results(op).iter().map(|&result| (result, group)));
    }

    fn find(&self, group: usize) -> usize {
        std::iter::successors(Some(group), |&g| self.groups[g].joined).last().unwrap_or(group)
    }

    fn join(&mut self, a: usize, b: usize) -> usize {
        if a != b {
            let taken = std::mem::take(&mut self.groups[b]);
            self.groups[a].accesses.extend(taken.accesses);
            self.groups[a].is_bound |= taken.is_bound;
            self.groups[b].joined = Some(a);
        }
        a
    }

    /// How many elements the group of an access agrees on, if these are fewer than `width`; step 3.
    pub(super) fn agreed(&self, widths: &Widths, op: Op, order: &[u32], share: &[i64], width: i64) -> Option<i64> {
        let group = &self.groups[*self.group_of.get(&op)?];
        let ir = widths.ir;
        let pointer = |op: Op| accessed_pointer(ir, op).filter(|&p| pointer_order(ir, widths.analysis, p) == order);
        let wanted = |op: Op| pointer(op).map(|p| widths.wanted(op, p, order, share));
        let stores = group.accesses.iter().filter(|&&op| !ir.is(op, TtOp::Load));
        let narrowest = stores.filter_map(|&op| wanted(op)).min().filter(|&n| n < width)?;
        let serves = |&op: &Op| {
            let bits = pointer(op).and_then(|p| ir.ty(p).elem().pointee()).and_then(Type::bit_width).unwrap_or(8);
            wanted(op) >= Some(narrowest) && narrowest * i64::from(bits) >= 8 * LEAST
        };
        (!group.is_bound && group.accesses.iter().all(serves)).then_some(narrowest)
    }
}
