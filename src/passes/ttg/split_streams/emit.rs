//! Step 3: a loop for each part, and their results put together.

use super::plan::Plan;
use crate::ir::core::{Builder, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::tt::tt;
use crate::layout::{Dim, from_linear, layout_of};
use crate::passes::common::parts::{cut, part_type};

pub(super) fn apply(ir: &mut Ir, plan: &Plan) {
    let loops: Vec<Op> = (0..plan.parts as usize).map(|part| one_part(ir, plan, part)).collect();
    for (index, &old) in ir.results(plan.looped).to_vec().iter().enumerate() {
        let results: Vec<Value> = loops.iter().map(|&part| ir.results(part)[index]).collect();
        let new = match plan.axes.get(&old) {
            Some(&axis) if ir.has_uses(old) => joined(ir, plan.looped, (ir.ty(old), axis), &results),
            // All parts compute the same.
            _ => results[0],
        };
        ir.replace_all_uses(old, new);
    }
    ir.erase_op(plan.looped);
    for &op in plan.outside.iter().rev() {
        if !ir.has_uses(ir.result(op)) {
            ir.erase_op(op);
        }
    }
}

/// Writes what one part needs, and its loop, in front of the loop over all.
fn one_part(ir: &mut Ir, plan: &Plan, part: usize) -> Op {
    let mut map = Mapping::default();
    for &op in &plan.outside {
        let copy = ir.clone_op(op, &mut map);
        ir.insert_before(plan.looped, copy);
    }
    let copy = ir.clone_op(plan.looped, &mut map);
    ir.insert_before(plan.looped, copy);
    for &value in plan.axes.keys() {
        if let Some(ty) = plan.part(ir, value) {
            ir.set_type(map.get(value), ty);
        }
        if let Some((op, copy)) = ir.def_op(value).zip(ir.def_op(map.get(value))) {
            cut(ir, op, copy, part);
        }
    }
    copy
}

/// The types on the way from two halves to the whole.
pub(super) struct Views {
    /// The halves side by side along a new last axis.
    paired: Type,
    /// The same with the new axis in front of the one that was split.
    apart: Type,
}

impl Views {
    /// The views with which two halves of a tensor along an axis become the whole, if all elements stay where they are.
    ///
    /// Example: of 8192 elements, `paired` is 4096x2 and `apart` is 2x4096.
    pub(super) fn of(whole: Type, axis: usize) -> Option<Views> {
        let half = part_type(whole, axis, 2, whole.encoding());
        let mut shape = half.shape().to_vec();
        let rank = shape.len();
        shape.insert(axis, 2);
        let sizes: Vec<u32> = shape.iter().map(|&s| u32::try_from(s).ok()).collect::<Option<_>>()?;
        let apart = layout_of(whole).ok()?.reshape_row_major(&sizes);
        let order: Vec<u32> = (0..=rank).filter(|&d| d != axis).chain([axis]).map(|d| d as u32).collect();
        let paired = apart.permute_axes(&order);
        let found = paired.halved_along(rank)?.squeeze_out(Dim::axis(rank));
        if !found.same_map(layout_of(half).ok()?) {
            return None;
        }
        let pairs: Vec<i64> = order.iter().map(|&d| shape[d as usize]).collect();
        let [paired, apart] = [(pairs, paired), (shape, apart)]
            .map(|(shape, layout)| Type::tensor(&shape, whole.elem(), Some(from_linear(&layout))));
        Some(Views { paired, apart })
    }
}

/// Puts parts along an axis together, in front of `before`.
fn joined(ir: &mut Ir, before: Op, (whole, axis): (Type, usize), parts: &[Value]) -> Value {
    let (low, high) = match parts {
        &[one] => return one,
        parts => parts.split_at(parts.len() / 2),
    };
    let half = part_type(whole, axis, 2, whole.encoding());
    let halves = [low, high].map(|parts| joined(ir, before, (half, axis), parts));
    let views = Views::of(whole, axis).expect("the plan has seen that the halves are halves of the registers");
    let rank = whole.rank();
    let order: Vec<i64> = (0..axis).chain([rank]).chain(axis..rank).map(|d| d as i64).collect();
    let mut b = Builder::before(ir, before);
    let paired = b.result(tt::Join::state(b.loc, halves[0], halves[1]), views.paired);
    let apart = b.result(tt::Trans::state(b.loc, paired).with(tt::Trans::ATTR.order, &order), views.apart);
    b.result(tt::Reshape::state(b.loc, apart), whole)
}
