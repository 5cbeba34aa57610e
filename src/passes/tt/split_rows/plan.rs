//! Step 1: which values are split, and along which axis.

use std::collections::{BTreeMap, BTreeSet};

use super::{LANES, LANES_OF_ROW, MOST_PARTS, MOST_SHARED, MOST_SUMS, ROWS_OF_WARP};
use crate::analysis::chained_products::{products, waited_for};
use crate::ir::core::{Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{OpKind, ScfOp, Traits, TtOp};
use crate::ir::rewrite::fold;
use crate::passes::common::parts::{Need, has_parts, need, part_type, result_axis};

/// A kernel whose rows are split.
pub(super) struct Plan {
    pub kernel: Op,
    /// The first loop with a chain, for the remark.
    pub looped: Op,
    pub parts: usize,
    /// The values that there are in parts, with the axis that is split.
    pub axes: BTreeMap<Value, usize>,
    /// Those of them that there are in no other form.
    pub bound: BTreeSet<Value>,
    /// The stores that are split.
    pub stores: BTreeSet<Op>,
}

/// The plan for a kernel whose warps multiply `rows` rows at once; `None` if it stays as it is.
pub(super) fn of_kernel(ir: &Ir, kernel: Op, rows: i64) -> Option<Plan> {
    let loops = ir.all_ops(kernel).into_iter().filter(|&op| ir.is(op, ScfOp::For));
    let chains: Vec<Op> = loops.filter(|&looped| !waited_for(ir, looped).is_empty()).collect();
    let &looped = chains.first()?;
    let all: Vec<Op> = chains.iter().flat_map(|&looped| products(ir, looped)).collect();
    let total = *ir.ty(ir.result(*all.first()?)).shape().first()?;
    let parts = total / rows;
    let one_block = ir.blocks_of(ir.region(kernel, 0)).len() == 1;
    if !one_block || !(2..=MOST_PARTS).contains(&parts) || total % rows != 0 || !all.iter().all(|&op| is_narrow(ir, op))
    {
        return None;
    }
    // What a thread keeps of a product that adds to what it was in the iteration before.
    let kept = |&&op: &&Op| fold::const_of(ir, tt::Dot(op).c(ir)).is_none();
    let sums = all.iter().filter(kept).map(|&op| ir.ty(ir.result(op)).shape()[1] * ROWS_OF_WARP * parts / LANES);
    if sums.sum::<i64>() > MOST_SUMS {
        return None;
    }
    let mut walk = Walk { ir, kernel, total, plan: Plan::new(kernel, looped, parts as usize), open: vec![] };
    for &product in &all {
        walk.split_results(product, 0)?;
    }
    while let Some(value) = walk.open.pop() {
        walk.follow(value)?;
    }
    if chains.iter().map(|&looped| walk.shared_by_parts(looped)).sum::<i64>() > MOST_SHARED {
        return None;
    }
    walk.has_no_double_loads().then_some(walk.plan)
}

/// Whether only products read a value, as it is or in another form.
fn is_multiplied(ir: &Ir, value: Value) -> bool {
    ir.users(value).into_iter().all(|user| {
        let is_form =
            ir.is(user, TtOp::Trans) || ir.kind(user).has(Traits::ELEMENTWISE) && ir.operands(user).len() == 1;
        ir.kind(user).is_product() || is_form && is_multiplied(ir, ir.result(user))
    })
}

/// Whether a product is of matrices of 8 or 16 bits, which `wgmma` takes from registers or from shared memory alike.
fn is_narrow(ir: &Ir, op: Op) -> bool {
    let elem = |value: Value| ir.ty(value).elem().bit_width().is_some_and(|bits| bits <= 16);
    tt::Dot::of(ir, op).is_some_and(|dot| ir.ty(dot.d(ir)).rank() == 2 && elem(dot.a(ir)) && elem(dot.b(ir)))
}

impl Plan {
    fn new(kernel: Op, looped: Op, parts: usize) -> Plan {
        Plan { kernel, looped, parts, axes: BTreeMap::new(), bound: BTreeSet::new(), stores: BTreeSet::new() }
    }

    /// Whether an operation is done once for each part.
    pub(super) fn splits(&self, ir: &Ir, op: Op) -> bool {
        ir.results(op).iter().any(|r| self.axes.contains_key(r)) || self.stores.contains(&op)
    }

    /// Whether an operation is not done as a whole any more.
    pub(super) fn replaces(&self, ir: &Ir, op: Op) -> bool {
        ir.results(op).iter().any(|r| self.bound.contains(r)) || self.stores.contains(&op)
    }

    /// The type of one part.
    pub(super) fn part(&self, ty: Type, axis: usize) -> Type {
        part_type(ty, axis, self.parts, None)
    }
}

struct Walk<'a> {
    ir: &'a Ir,
    kernel: Op,
    /// Rows of all parts.
    total: i64,
    plan: Plan,
    /// Bound values whose users have not been looked at.
    open: Vec<Value>,
}

impl Walk<'_> {
    /// Notes that a value is needed in parts, with what it is made of.
    fn split(&mut self, value: Value, axis: usize) -> Option<()> {
        if let Some(&known) = self.plan.axes.get(&value) {
            return (known == axis).then_some(());
        }
        let ir = self.ir;
        if ir.ty(value).shape().get(axis) != Some(&self.total) {
            return None;
        }
        match ir.def(value) {
            ValueDef::Arg { block, index } => {
                let looped = ir.block_op(block).filter(|&op| ir.is(op, ScfOp::For))?;
                self.split_carried(looped, (index as usize).checked_sub(1)?, axis)
            }
            ValueDef::Result { op, index } if ir.is(op, ScfOp::For) => self.split_carried(op, index as usize, axis),
            ValueDef::Result { op, index } if ir.is(op, ScfOp::If) => self.split_chosen(op, index as usize, axis),
            ValueDef::Result { op, .. } if !has_parts(ir, op) => None,
            ValueDef::Result { op, .. } => {
                for &result in ir.results(op) {
                    self.plan.axes.insert(result, axis);
                }
                self.split_operands(op, axis)
            }
        }
    }

    /// Splits all results of an operation, whose users must be split too.
    fn split_results(&mut self, op: Op, axis: usize) -> Option<()> {
        for &result in self.ir.results(op) {
            self.split(result, axis)?;
            self.bind(result);
        }
        Some(())
    }

    fn bind(&mut self, value: Value) {
        if self.plan.bound.insert(value) {
            self.open.push(value);
        }
    }

    fn split_operands(&mut self, op: Op, axis: usize) -> Option<()> {
        for (index, &operand) in self.ir.operands(op).iter().enumerate() {
            if let Need::Parts(axis) = need(self.ir, op, index, axis)? {
                self.split(operand, axis)?;
            }
        }
        Some(())
    }

    /// What a loop carries: what it starts with, what each iteration ends with, and what is left.
    fn split_carried(&mut self, looped: Op, index: usize, axis: usize) -> Option<()> {
        let ir = self.ir;
        let body = ir.body(looped, 0)?;
        for value in [ir.args(body)[index + 1], ir.results(looped)[index]] {
            if self.plan.axes.insert(value, axis).is_some_and(|known| known != axis) {
                return None;
            }
            self.bind(value);
        }
        self.split(For(looped).init(ir)[index], axis)?;
        self.split(ir.operand(ir.terminator(body)?, index), axis)
    }

    /// A result of a branch, on both sides.
    fn split_chosen(&mut self, branch: Op, index: usize, axis: usize) -> Option<()> {
        let ir = self.ir;
        let result = ir.results(branch)[index];
        self.plan.axes.insert(result, axis);
        self.bind(result);
        for side in 0..2 {
            let end = ir.terminator(ir.body(branch, side)?)?;
            self.split(ir.operand(end, index), axis)?;
        }
        Some(())
    }

    /// Splits all users of a value.
    fn follow(&mut self, value: Value) -> Option<()> {
        let ir = self.ir;
        let axis = self.plan.axes[&value];
        for used in ir.uses(value) {
            let (op, index) = (used.op, used.index as usize);
            match ir.kind(op) {
                OpKind::Scf(ScfOp::For) => self.split_carried(op, index.checked_sub(3)?, axis)?,
                OpKind::Scf(ScfOp::Yield) => {
                    let around = ir.parent_op(op)?;
                    match ir.kind(around) {
                        OpKind::Scf(ScfOp::For) => self.split_carried(around, index, axis)?,
                        OpKind::Scf(ScfOp::If) => self.split_chosen(around, index, axis)?,
                        _ => return None,
                    }
                }
                OpKind::Tt(TtOp::Store) => {
                    self.plan.stores.insert(op);
                    self.split_operands(op, axis)?;
                }
                _ => {
                    self.split_results(op, result_axis(ir, op, index, axis)?)?;
                }
            }
        }
        Some(())
    }

    /// The registers of a thread for what a loop loads as a whole, but for operands of products.
    fn shared_by_parts(&self, looped: Op) -> i64 {
        let ir = self.ir;
        let is_shared = |op: &Op| {
            ir.is(*op, TtOp::Load)
                && ir.ty(ir.result(*op)).is_tensor()
                && !self.plan.replaces(ir, *op)
                && !is_multiplied(ir, ir.result(*op))
        };
        let words = |op: Op| {
            let ty = ir.ty(ir.result(op));
            let elements = ty.shape().last().copied().unwrap_or(1) / LANES_OF_ROW;
            elements * i64::from(ty.elem().bit_width().unwrap_or(64).div_ceil(32))
        };
        ir.all_ops(looped).into_iter().filter(is_shared).map(words).sum()
    }

    /// Whether no tile is loaded in parts and as a whole, and no loop or branch that is made anew is of another kind.
    fn has_no_double_loads(&self) -> bool {
        let ir = self.ir;
        let ops: Vec<Op> = ir.all_ops(self.kernel).into_iter().filter(|&op| self.plan.splits(ir, op)).collect();
        let is_known = |around: Op| around == self.kernel || ir.is(around, ScfOp::For) || ir.is(around, ScfOp::If);
        let in_parts = |user: &Op| self.plan.splits(ir, *user);
        ops.iter().all(|&op| {
            let is_tile = ir.is(op, TtOp::Load) && ir.ty(ir.result(op)).rank() > 1;
            let is_double = is_tile && !ir.users(ir.result(op)).iter().all(in_parts);
            let mut around = std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o));
            !is_double && around.by_ref().take_while(|&o| o != self.kernel).all(is_known)
        })
    }
}
