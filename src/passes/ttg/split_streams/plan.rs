//! Steps 1 and 2: how many parts there are, and which values are split along which axis.

use std::collections::{BTreeMap, BTreeSet};

use super::emit::Views;
use super::{IN_FLIGHT, MOST_PARTS, ROOM};
use crate::ir::core::{Block, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::ir::dialects::enums::CacheModifier;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{OpKind, Traits, TtOp};
use crate::ir::effects::effects;
use crate::layout::{Dim, layout_of, order};
use crate::passes::common::parts::{Need, has_parts, need, part_type, result_axis};
use crate::passes::ttg::unroll_streams::{is_kept, registers};

/// A loop that is split.
pub(super) struct Plan {
    pub looped: Op,
    pub parts: u32,
    /// The values that there are in parts, with the axis that is split.
    pub axes: BTreeMap<Value, usize>,
    /// Operations in front of the loop that make such values, each behind those that it needs.
    pub outside: Vec<Op>,
}

impl Plan {
    /// The type of one part of a value that is split.
    pub(super) fn part(&self, ir: &Ir, value: Value) -> Option<Type> {
        let ty = ir.ty(value);
        self.axes.get(&value).map(|&axis| part_type(ty, axis, self.parts as usize, ty.encoding()))
    }
}

/// The plan for a loop; `None` if it stays as it is.
pub(super) fn of_loop(ir: &Ir, looped: Op) -> Option<Plan> {
    let body = ir.body(looped, 0)?;
    let parts = parts(ir, body)?;
    if ir.get(looped, NUM_STAGES).is_some() || !is_stream(ir, body) {
        return None;
    }
    let plan = Plan { looped, parts, axes: BTreeMap::new(), outside: vec![] };
    let mut walk = Walk { ir, body, plan, open: vec![], whole: BTreeSet::new() };
    let sums = ir.args(body)[1..].iter().filter(|&&v| is_sum(ir, v));
    for &sum in sums {
        if !walk.plan.axes.contains_key(&sum) {
            walk.split(sum, last_axis(ir.ty(sum))?)?;
            walk.follow_all()?;
        }
    }
    let consistent = walk.whole.iter().all(|v| !walk.plan.axes.contains_key(v));
    let separate = ir.ops(body).filter(|&op| ir.is(op, TtOp::Load)).all(|load| walk.has_own_part(load));
    let ends = ir.results(looped).iter().all(|&result| walk.can_be_joined(result) && is_reduced(ir, result));
    (consistent && separate && ends).then_some(walk.plan)
}

/// Whether a loop carries numbers in it.
fn is_sum(ir: &Ir, value: Value) -> bool {
    ir.ty(value).is_tensor() && !ir.ty(value).elem().is_ptr()
}

/// Step 1: how many parts there should be, if the layout has as many along an axis; `None` if one is enough.
fn parts(ir: &Ir, body: Block) -> Option<u32> {
    let sums: Vec<Value> = ir.args(body).iter().copied().filter(|&v| is_sum(ir, v)).collect();
    let carried: u32 = sums.iter().map(|&v| held(ir.ty(v))).sum();
    if carried + IN_FLIGHT <= ROOM {
        return None;
    }
    let loads: Vec<Type> =
        ir.ops(body).filter(|&op| ir.is(op, TtOp::Load)).map(|load| ir.ty(ir.result(load))).collect();
    let loaded: u32 = loads.iter().map(|&ty| words(ty)).sum();
    let addresses: u32 = loads.iter().map(|&ty| addresses(ty)).sum();
    // Of numbers that say where elements are, a thread keeps the first: the others have a constant distance.
    let is_kept = |&v: &Value| is_kept(ir, v, body) && ir.ty(v).elem().as_float().is_some();
    let outside: BTreeSet<Value> = ir.ops(body).flat_map(|op| ir.operands(op)).copied().filter(is_kept).collect();
    let through = carried + addresses + outside.iter().map(|&v| registers(ir.ty(v))).sum::<u32>();
    let fits = |parts: u32| through.div_ceil(parts) + loaded.div_ceil(parts).min(IN_FLIGHT) <= ROOM;
    let most = sums.iter().map(|&v| most_parts(ir.ty(v))).min()?;
    let mut parts = 1;
    while parts < most && !fits(parts) {
        parts *= 2;
    }
    (parts > 1 && loaded > 0).then_some(parts)
}

/// Registers for what a loop carries. Truth values are bits, or become one as soon as they are made.
fn held(ty: Type) -> u32 {
    if ty.elem().bit_width() == Some(1) { words(ty) } else { registers(ty) }
}

/// Words of a thread's part of a tensor as it comes from memory.
fn words(ty: Type) -> u32 {
    let bits = ty.elem().bit_width().unwrap_or(64);
    (registers(ty) / bits.div_ceil(32) * bits).div_ceil(32)
}

/// Registers for the addresses of what a thread loads: one of 64 bits for each row, as elements of a row have constant
/// distances.
fn addresses(ty: Type) -> u32 {
    let Some((encoding, layout)) = ty.encoding().zip(layout_of(ty).ok()) else { return 0 };
    let fastest = order(encoding, ty.shape()).first().map_or(0, |&axis| axis as usize);
    let leaves_row = |basis: &Vec<i32>| basis.iter().enumerate().any(|(axis, &c)| axis != fastest && c != 0);
    2 << layout.bases(Dim::Register).iter().filter(|basis| leaves_row(basis)).count()
}

/// Whether a body loads, computes on what each thread has, and does nothing else.
fn is_stream(ir: &Ir, body: Block) -> bool {
    ir.ops(body).all(|op| match tt::Load::of(ir, op) {
        Some(load) => !load.isVolatile(ir) && load.cache(ir) != Some(CacheModifier::Cv),
        None => ir.regions_of(op).is_empty() && effects(ir, op).is_free() && !ir.kind(op).works_across_threads(),
    })
}

/// The axis along which the last registers of a thread move.
fn last_axis(ty: Type) -> Option<usize> {
    layout_of(ty).ok()?.bases(Dim::Register).last()?.iter().position(|&c| c != 0)
}

/// How many parts there may be along that axis: so many parts of a thread's registers, in order.
fn most_parts(ty: Type) -> u32 {
    let Some((axis, layout)) = last_axis(ty).zip(layout_of(ty).ok()) else { return 1 };
    let mut size = ty.shape()[axis];
    let is_half = |basis: &Vec<i32>| {
        size /= 2;
        basis.iter().enumerate().all(|(of, &c)| i64::from(c) == if of == axis { size } else { 0 })
    };
    let halvings = layout.bases(Dim::Register).into_iter().rev().take_while(is_half).count();
    MOST_PARTS.min(1 << halvings.min(16))
}

/// Whether all that is made of a value is reduced in the end.
fn is_reduced(ir: &Ir, value: Value) -> bool {
    let (mut seen, mut queue) = (BTreeSet::new(), vec![value]);
    while let Some(value) = queue.pop() {
        for user in ir.users(value) {
            let kind = ir.kind(user);
            if kind == TtOp::Reduce.into() || !seen.insert(user) {
                continue;
            }
            let is_view = matches!(kind, OpKind::Tt(TtOp::Reshape | TtOp::Join | TtOp::Trans));
            let keeps = is_view || kind.has(Traits::ELEMENTWISE);
            if !keeps || !effects(ir, user).is_free() {
                return false;
            }
            queue.extend(ir.results(user));
        }
    }
    true
}

struct Walk<'a> {
    ir: &'a Ir,
    body: Block,
    plan: Plan,
    /// Split values whose users in the loop have not been looked at.
    open: Vec<Value>,
    /// What split operations need as a whole.
    whole: BTreeSet<Value>,
}

impl Walk<'_> {
    /// Notes that a value is split, with what it is made of.
    fn split(&mut self, value: Value, axis: usize) -> Option<()> {
        if let Some(&known) = self.plan.axes.get(&value) {
            return (known == axis).then_some(());
        }
        self.note(value, axis)?;
        match self.ir.def(value) {
            ValueDef::Arg { block, index } if block == self.body => self.split_carried(index as usize - 1, axis),
            ValueDef::Result { op, .. } if self.can_split(op) => {
                for (index, &operand) in self.ir.operands(op).iter().enumerate() {
                    match need(self.ir, op, index, axis)? {
                        Need::Parts(axis) => self.split(operand, axis)?,
                        Need::Whole => {
                            self.whole.insert(operand);
                        }
                    }
                }
                if self.ir.parent_block(op) != Some(self.body) {
                    self.plan.outside.push(op);
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Enters a value whose parts have a layout.
    fn note(&mut self, value: Value, axis: usize) -> Option<()> {
        let size = *self.ir.ty(value).shape().get(axis)?;
        if size % i64::from(self.plan.parts) != 0 || self.plan.axes.insert(value, axis).is_some_and(|a| a != axis) {
            return None;
        }
        self.open.push(value);
        layout_of(self.plan.part(self.ir, value)?).is_ok().then_some(())
    }

    /// What the loop carries: what it starts with, what each iteration ends with, and what is left.
    fn split_carried(&mut self, index: usize, axis: usize) -> Option<()> {
        let (ir, looped) = (self.ir, self.plan.looped);
        self.note(*ir.args(self.body).get(index + 1)?, axis)?;
        self.note(ir.results(looped)[index], axis)?;
        self.split(For(looped).init(ir)[index], axis)?;
        self.split(ir.operand(ir.terminator(self.body)?, index), axis)
    }

    /// Whether each part of an operation can be done by itself: in the loop, or in front of it for free.
    fn can_split(&self, op: Op) -> bool {
        let ir = self.ir;
        let known = match ir.kind(op) {
            OpKind::Tt(TtOp::Splat | TtOp::Broadcast | TtOp::ExpandDims | TtOp::MakeRange) => true,
            OpKind::Tt(TtOp::Load) => ir.parent_block(op) == Some(self.body),
            // Its text may be about several elements of a thread.
            OpKind::Tt(TtOp::ElementwiseInlineAsm) => false,
            kind => kind.has(Traits::ELEMENTWISE) || kind.has(Traits::CONSTANT),
        };
        known && has_parts(ir, op) && ir.regions_of(op).is_empty() && ir.results(op).len() == 1
    }

    /// Splits what is made of split values in the loop.
    fn follow_all(&mut self) -> Option<()> {
        while let Some(value) = self.open.pop() {
            let (ir, axis) = (self.ir, self.plan.axes[&value]);
            let end = ir.terminator(self.body)?;
            for used in ir.uses(value) {
                let (op, index) = (used.op, used.index as usize);
                if op == self.plan.looped {
                    self.split_carried(index.checked_sub(3)?, axis)?;
                } else if op == end {
                    self.split_carried(index, axis)?;
                } else if ir.parent_block(op) == Some(self.body) {
                    let axis = result_axis(ir, op, index, axis)?;
                    self.split(ir.result(op), axis)?;
                }
            }
        }
        Some(())
    }

    /// Whether the parts of a load load different elements: its addresses depend on the place along the axis.
    fn has_own_part(&self, load: Op) -> bool {
        let ir = self.ir;
        if !self.plan.axes.contains_key(&ir.result(load)) {
            return false;
        }
        let (mut seen, mut queue) = (BTreeSet::new(), vec![tt::Load(load).ptr(ir)]);
        while let Some(value) = queue.pop() {
            if !self.plan.axes.contains_key(&value) || !seen.insert(value) {
                continue;
            }
            match ir.def(value) {
                ValueDef::Result { op, .. } if ir.is(op, TtOp::MakeRange) => return true,
                ValueDef::Result { op, .. } => queue.extend(ir.operands(op)),
                ValueDef::Arg { index, .. } => queue.push(For(self.plan.looped).init(ir)[index as usize - 1]),
            }
        }
        false
    }

    /// Whether the parts of a result can be put together in place.
    fn can_be_joined(&self, result: Value) -> bool {
        let ty = self.ir.ty(result);
        let Some(&axis) = self.plan.axes.get(&result) else { return true };
        let mut sizes = std::iter::successors(Some(1), |parts| Some(parts * 2)).take(self.plan.parts.ilog2() as usize);
        sizes.all(|parts| Views::of(part_type(ty, axis, parts, ty.encoding()), axis).is_some())
    }
}
