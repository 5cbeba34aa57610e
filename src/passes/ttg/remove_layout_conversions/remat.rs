//! Steps 3 to 5: computing values anew in the layout that a conversion would give them.
//!
//! For each conversion, in order:
//!
//! 1. If its source has been computed in its layout already, at a place from where it is available, use that.
//! 2. Collect the backward slice of the source ([`super::slice`]). Give up where it cannot be had, or holds what must
//!    not be done twice.
//! 3. Give up unless the conversion costs more than what is computed twice ([`super::cost`]).
//! 4. Compute the slice in the new layout beside the old one; loops and conditionals get further carried values and
//!    results.

use std::collections::{BTreeMap, BTreeSet};

use super::slice::{Slice, extend};
use super::{cost, has_efficient_layout, is_expensive_access};
use crate::ir::core::{Attr, Block, Builder, Dominance, Ir, Mapping, Op, Use, Value, ValueDef};
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{Classes, ScfOp, Traits, TtgOp};
use crate::ir::effects::effects;
use crate::ir::encoding::questions::is_operand;
use crate::passes::ttg::infer;

/// Step 3 on one function. Returns whether a conversion went.
pub(super) fn remove_conversions(ir: &mut Ir, func: Op) -> bool {
    each_conversion(ir, func, Remat::remove)
}

/// Steps 4 and 5 on one function. Returns whether a conversion moved.
pub(super) fn hoist_conversions(ir: &mut Ir, func: Op) -> bool {
    let widened = each_conversion(ir, func, Remat::hoist);
    let branched = each_conversion(ir, func, Remat::hoist_into_branches);
    let operands = each_conversion(ir, func, Remat::hoist_to_loads);
    widened || branched || operands
}

fn each_conversion(ir: &mut Ir, func: Op, f: fn(&mut Remat, &mut Ir, Op) -> bool) -> bool {
    let mut this = Remat { func, made: BTreeMap::new(), last_products: BTreeMap::new() };
    let conversions: Vec<Op> = ir.all_ops_post(func).into_iter().filter(|&o| ir.is(o, TtgOp::ConvertLayout)).collect();
    let mut changed = false;
    for op in conversions {
        if ir.is_full_with(0) {
            break;
        }
        if f(&mut this, ir, op) {
            changed = true;
        } else if let Some(encoding) = ir.ty(ir.result(op)).encoding() {
            // What stays serves others.
            let convert = ttg::ConvertLayout(op);
            this.made.insert((convert.src(ir), encoding), convert.result(ir));
        }
    }
    changed
}

pub(super) struct Remat {
    func: Op,
    /// Values computed anew, by the old value and the layout.
    made: BTreeMap<(Value, Attr), Value>,
    /// The last product of registers of each block, where it was looked for.
    pub(super) last_products: BTreeMap<Block, Option<Op>>,
}

/// Whether an operand can be had in a layout without a conversion: all that it is computed from may be computed anew.
#[must_use]
pub fn can_recompute(ir: &Ir, at: Use, encoding: Attr) -> bool {
    let mut slice = Slice::default();
    let found = extend(ir, at, encoding, &mut slice, &|_, _| false, &|_, _, _| None).is_some();
    found && slice.values.iter().filter_map(|&v| ir.def_op(v)).all(|def| may_repeat(ir, def))
}

/// Whether doing an operation twice is allowed.
#[must_use]
pub fn may_repeat(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    // Assembly with effects, and volatile loads.
    if ir.regions_of(op).is_empty() && effects(ir, op).writes {
        return false;
    }
    if kind.is_plain_access() {
        return !is_expensive_access(ir, op);
    }
    let loops = ir.is(op, ScfOp::While) || ir.is(op, ScfOp::Condition);
    !loops && !has_efficient_layout(ir, op) && !kind.is_product() && !kind.is_atomic()
}

/// Operations whose result is larger than what they are given.
fn is_widening(ir: &Ir, op: Op) -> bool {
    let wider = |cast: tt::FpToFp| ir.ty(cast.src(ir)).bit_width() < ir.ty(cast.result(ir)).bit_width();
    ir.kind(op).belongs(Classes::WIDENS) || tt::FpToFp::of(ir, op).is_some_and(wider)
}

impl Remat {
    /// A slice with `root` added, all of which may be repeated; `slice` itself is changed only on success.
    pub(super) fn repeatable(
        &self,
        ir: &Ir,
        root: Use,
        encoding: Attr,
        slice: &mut Slice,
        stop: fn(&Ir, Op) -> bool,
    ) -> bool {
        let mut larger = slice.clone();
        let found = self.reach(ir, root, encoding, &mut larger, &stop).is_some();
        if !found
            || larger.values.is_empty()
            || larger.values.iter().filter_map(|&v| ir.def_op(v)).any(|d| !may_repeat(ir, d))
        {
            return false;
        }
        *slice = larger;
        true
    }

    /// Extends a slice, with what has been computed anew before; `None` where it cannot be had.
    pub(super) fn reach(
        &self,
        ir: &Ir,
        root: Use,
        encoding: Attr,
        slice: &mut Slice,
        stop: &dyn Fn(&Ir, Op) -> bool,
    ) -> Option<()> {
        let dominance = Dominance::new();
        let reuse = |ir: &Ir, at: Use, encoding: Attr| {
            let made = *self.made.get(&(ir.operand(at.op, at.index as usize), encoding))?;
            Some(dominance.value_dominates(ir, made, at.op).then_some(made))
        };
        extend(ir, root, encoding, slice, stop, &reuse)
    }

    /// Step 1.
    pub(super) fn reuse(&self, ir: &mut Ir, op: Op) -> bool {
        let source = ttg::ConvertLayout(op).src(ir);
        let made = ir.ty(ir.result(op)).encoding().and_then(|encoding| self.made.get(&(source, encoding))).copied();
        let Some(made) = made.filter(|&m| Dominance::new().value_dominates(ir, m, op)) else { return false };
        ir.replace_op(op, &[made]);
        true
    }

    fn remove(&mut self, ir: &mut Ir, op: Op) -> bool {
        let Some(encoding) = ir.ty(ir.result(op)).encoding() else { return false };
        // Operands of dots are moved towards their loads elsewhere.
        if encoding.as_encoding().is_some_and(is_operand) {
            return false;
        }
        if self.reuse(ir, op) {
            return true;
        }
        let mut slice = Slice::default();
        if !self.repeatable(ir, Use { op, index: 0 }, encoding, &mut slice, |_, _| false)
            || !cost::is_beneficial(ir, op, &slice, 0)
        {
            return false;
        }
        self.rewrite(ir, op, slice, Mapping::default());
        true
    }

    fn hoist(&mut self, ir: &mut Ir, op: Op) -> bool {
        let Some(encoding) = ir.ty(ir.result(op)).encoding() else { return false };
        if encoding.as_encoding().is_some_and(is_operand) {
            return false;
        }
        let mut slice = Slice::default();
        if !self.repeatable(ir, Use { op, index: 0 }, encoding, &mut slice, is_widening) {
            return false;
        }
        let Some(widening) = self.only_widening(ir, &mut slice) else { return false };
        let wide = ir.result(widening);
        let Some(&target) = slice.layout.get(&wide) else { return false };
        let Some(narrow) = infer::operand_encoding(ir, widening, target) else { return false };
        let [source] = ir.all_operands(widening);
        if !cost::is_beneficial(ir, op, &slice, cost::of_conversion(ir, source, narrow)) {
            return false;
        }
        let (loc, ty) = (ir.loc(op), ir.ty(source).with_encoding(Some(narrow)));
        let mut builder = Builder::before(ir, widening);
        builder.loc = loc;
        let converted = builder.value(TtgOp::ConvertLayout, &[source], ty);
        let copy = ir.clone_op(widening, &mut Mapping::default());
        ir.insert_before(widening, copy);
        ir.set_operand(copy, 0, converted);
        let (result, ty) = (ir.result(copy), ir.ty(wide).with_encoding(Some(target)));
        ir.set_type(result, ty);
        let mut map = Mapping::default();
        map.map(wide, result);
        slice.remove(wide);
        self.rewrite(ir, op, slice, map);
        true
    }

    /// The one widening operation of a slice whose source cannot be computed anew; the slice takes in the sources of
    /// the others.
    fn only_widening(&self, ir: &Ir, slice: &mut Slice) -> Option<Op> {
        let mut only = None;
        for value in slice.values.clone() {
            let Some(op) = ir.def_op(value).filter(|&d| is_widening(ir, d)) else { continue };
            let source = infer::operand_encoding(ir, op, slice.layout[&value])?;
            if self.repeatable(ir, Use { op, index: 0 }, source, slice, |_, _| false) {
                continue;
            }
            if only.replace(op).is_some() {
                return None;
            }
        }
        only
    }

    /// Computes a slice anew, uses it instead of the conversion, and erases that.
    pub(super) fn rewrite(&mut self, ir: &mut Ir, op: Op, mut slice: Slice, mut map: Mapping) {
        let source = ttg::ConvertLayout(op).src(ir);
        for ((value, encoding), existing) in slice.existing.clone() {
            if let Some(existing) = existing
                && slice.layout.get(&value) == Some(&encoding)
            {
                map.map(value, existing);
                slice.remove(value);
            }
        }
        let plan = Plan::new(ir, self.func, &slice);
        for &step in &plan.ops {
            self.rewrite_step(ir, step, &slice, &plan, &mut map);
        }
        let new = map.get(source);
        ir.replace_op(op, &[new]);
    }

    fn rewrite_step(&mut self, ir: &mut Ir, op: Op, slice: &Slice, plan: &Plan, map: &mut Mapping) {
        if ir.is(op, ScfOp::For) {
            self.extend_for(ir, op, slice, map);
        } else if ir.is(op, ScfOp::If) {
            for result in ir.results(op).to_vec() {
                if slice.contains(result) {
                    let ty = ir.ty(result).with_encoding(Some(slice.layout[&result]));
                    let new = ir.add_result(op, ty);
                    self.record(result, slice.layout[&result], new, map);
                }
            }
        } else if ir.is(op, ScfOp::Yield) {
            let mut operands = ir.operands(op).to_vec();
            let further: Vec<Value> = plan.yields[&op].iter().map(|&i| map.get(operands[i])).collect();
            operands.extend(further);
            ir.set_operands(op, &operands);
        } else if ir.kind(op).has(Traits::CONSTANT) {
            let (result, encoding) = (ir.result(op), slice.layout[&ir.result(op)]);
            let copy = ir.clone_op(op, &mut Mapping::default());
            ir.insert_before(op, copy);
            let (value, ty) = (ir.result(copy), ir.ty(result).with_encoding(Some(encoding)));
            let converted = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], ty);
            self.record(result, encoding, converted, map);
        } else {
            let copy = ir.clone_op(op, map);
            ir.insert_before(op, copy);
            for (old, new) in ir.results(op).to_vec().into_iter().zip(ir.results(copy).to_vec()) {
                if let Some(&encoding) = slice.layout.get(&old) {
                    let ty = ir.ty(old).with_encoding(Some(encoding));
                    ir.set_type(new, ty);
                    self.record(old, encoding, new, map);
                }
            }
        }
    }

    /// Further carried values: the old ones in the new layout.
    fn extend_for(&mut self, ir: &mut Ir, op: Op, slice: &Slice, map: &mut Mapping) {
        let Some(body) = ir.body(op, 0) else { return };
        let carried = ir.args(body)[1..].to_vec();
        let inits = scf::For(op).init(ir).to_vec();
        let mut operands = ir.operands(op).to_vec();
        let results = ir.results(op).to_vec();
        for (i, arg) in carried.into_iter().enumerate().filter(|(_, a)| slice.contains(*a)) {
            let init = map.get(inits[i]);
            operands.push(init);
            let (ty, loc) = (ir.ty(init), ir.value_loc(init));
            let new_arg = ir.add_arg(body, ty, loc);
            let new_result = ir.add_result(op, ty);
            self.record(arg, slice.layout[&arg], new_arg, map);
            self.record(results[i], slice.layout[&arg], new_result, map);
        }
        ir.set_operands(op, &operands);
    }

    fn record(&mut self, old: Value, encoding: Attr, new: Value, map: &mut Mapping) {
        map.map(old, new);
        self.made.insert((old, encoding), new);
    }
}

/// The operations to redo, each after what it needs, and which yielded values to yield in the new layout too.
struct Plan {
    ops: Vec<Op>,
    yields: BTreeMap<Op, BTreeSet<usize>>,
}

impl Plan {
    fn new(ir: &Ir, func: Op, slice: &Slice) -> Plan {
        let mut ops = BTreeSet::new();
        let mut yields: BTreeMap<Op, BTreeSet<usize>> = BTreeMap::new();
        let mut add_yield = |ops: &mut BTreeSet<Op>, terminator: Option<Op>, index: usize| {
            if let Some(t) = terminator {
                ops.insert(t);
                yields.entry(t).or_default().insert(index);
            }
        };
        for &value in &slice.values {
            match ir.def(value) {
                ValueDef::Result { op, index } => {
                    ops.insert(op);
                    if ir.is(op, ScfOp::If) {
                        for &region in ir.regions_of(op) {
                            add_yield(&mut ops, ir.entry(region).and_then(|b| ir.last_op(b)), index as usize);
                        }
                    }
                }
                ValueDef::Arg { block, index } => {
                    if let Some(parent) = ir.block_op(block) {
                        ops.insert(parent);
                    }
                    add_yield(&mut ops, ir.last_op(block), index as usize - 1);
                }
            }
        }
        // In the order of the text every operation stands after what it needs, and a loop before its body.
        let mut ordered: Vec<(Vec<u64>, Op)> =
            ops.into_iter().filter_map(|o| Some((ir.place_in(func, o)?, o))).collect();
        ordered.sort();
        Plan { ops: ordered.into_iter().map(|(_, o)| o).collect(), yields }
    }
}
