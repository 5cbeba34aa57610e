//! What values stand for at a point: integers that are known there, and the places of descriptors.
//!
//! Only what control flow hands on is kept in a [`State`]; everything else is computed from it when it is asked for,
//! through the operations that define it.

use crate::ir::dialects::arith::arith::{Constant, Select};
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::dialects::ttng::ttng::{WaitBarrier, WarpGroupDotWait};
use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::flow::value_edges;
use crate::analysis::shared_alias::viewed;
use crate::ir::core::{Attr, Ir, Op, Type, Value};
use crate::ir::dialects::{Folded, OpKind};
use crate::ir::rewrite::fold::fold_results;

use super::places::{Place, is_shared, view};
use super::state::State;

/// The integers on which an index into buffers or a phase of an mbarrier depends: only these are worth telling states
/// apart for.
pub(super) fn deciding(ir: &Ir, func: Op) -> BTreeSet<Value> {
    let mut sources: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for (from, to) in value_edges(ir, func) {
        sources.entry(to).or_default().push(from);
    }
    let mut open: Vec<Value> = vec![];
    for op in ir.all_ops(func) {
        open.extend(MemDescIndex::of(ir, op).map(|view| view.index(ir)));
        open.extend(WaitBarrier::of(ir, op).map(|wait| wait.phase(ir)));
    }
    let mut found = BTreeSet::new();
    while let Some(value) = open.pop() {
        if !is_scalar(ir.ty(value)) || !found.insert(value) {
            continue;
        }
        open.extend(sources.get(&value).into_iter().flatten());
        let op = ir.def_op(value).filter(|&op| ir.regions_of(op).is_empty());
        open.extend(op.map_or(&[][..], |op| ir.operands(op)));
    }
    found
}

fn is_scalar(ty: Type) -> bool {
    ty.is_int()
}

/// The value of an integer, if it is known.
pub(super) fn int(ir: &Ir, state: &State, value: Value) -> Option<i64> {
    known(ir, state, value, &mut BTreeMap::new())
}

fn known(ir: &Ir, state: &State, value: Value, seen: &mut BTreeMap<Value, Option<i64>>) -> Option<i64> {
    if let Some(&known) = state.ints.get(&value) {
        return Some(known);
    }
    let op = ir.def_op(value).filter(|&op| is_scalar(ir.ty(value)) && ir.regions_of(op).is_empty())?;
    if let Some(&known) = seen.get(&value) {
        return known;
    }
    seen.insert(value, None);
    let constant = |ir: &Ir, &v: &Value, seen: &mut _| Some(Attr::int(known(ir, state, v, seen)?, ir.ty(v)));
    let result = if let Some(constant) = Constant::of(ir, op) {
        constant.value(ir).and_then(Attr::int_value)
    } else if let OpKind::Arith(_) = ir.kind(op) {
        let constants: Vec<Option<Attr>> = ir.operands(op).iter().map(|v| constant(ir, v, seen)).collect();
        match fold_results(ir, op, &constants).as_deref() {
            Some([Folded::Attr(attr)]) => attr.int_value(),
            Some([Folded::Value(same)]) => known(ir, state, *same, seen),
            _ => None,
        }
    } else {
        None
    };
    seen.insert(value, result);
    result
}

/// The places that a descriptor may stand for; which index lies outside, if one does.
pub(super) fn places(ir: &Ir, state: &State, value: Value) -> Result<BTreeSet<Place>, String> {
    if let Some(places) = state.places.get(&value) {
        return Ok(places.clone());
    }
    let Some(op) = ir.def_op(value) else { return Ok(BTreeSet::from([Place::foreign()])) };
    if let Some(source) = viewed(ir, op) {
        let index = MemDescIndex::of(ir, op).and_then(|view| int(ir, state, view.index(ir)));
        return places(ir, state, source)?.iter().map(|p| view(ir, op, p, index)).collect();
    }
    if let Some(select) = Select::of(ir, op) {
        return match int(ir, state, select.condition(ir)) {
            Some(0) => places(ir, state, select.false_value(ir)),
            Some(_) => places(ir, state, select.true_value(ir)),
            None => {
                let mut either = places(ir, state, select.true_value(ir))?;
                either.extend(places(ir, state, select.false_value(ir))?);
                Ok(either)
            }
        };
    }
    // What a wait is for passes through.
    if let Some(wait) = WarpGroupDotWait::of(ir, op) {
        let passed = wait.outputs(ir).iter().zip(wait.inputs(ir)).find(|&(&out, _)| out == value);
        return passed.map_or_else(|| Ok(BTreeSet::from([Place::foreign()])), |(_, &from)| places(ir, state, from));
    }
    Ok(BTreeSet::from([Place::foreign()]))
}

/// Control hands `from` on as `to`, all at once.
pub(super) fn hand_on(ir: &Ir, state: &mut State, deciding: &BTreeSet<Value>, from: &[Value], to: &[Value]) {
    let mut new = vec![];
    for (&source, &target) in from.iter().zip(to) {
        let number = if deciding.contains(&target) { int(ir, state, source) } else { None };
        // An index outside is reported where the descriptor is used; nothing is known of it then.
        let shared = is_shared(ir.ty(target));
        let places = shared.then(|| places(ir, state, source).unwrap_or_else(|_| BTreeSet::from([Place::foreign()])));
        let ages = (state.ages.get(&source).copied(), state.sums.get(&source).copied());
        new.push((target, number, places, ages));
    }
    for (target, number, places, (age, sum)) in new {
        forget(state, target);
        state.ints.extend(number.map(|n| (target, n)));
        state.places.extend(places.map(|p| (target, p)));
        state.ages.extend(age.map(|a| (target, a)));
        state.sums.extend(sum.map(|a| (target, a)));
    }
}

/// Nothing is known of a value any more.
pub(super) fn forget(state: &mut State, value: Value) {
    state.ints.remove(&value);
    state.places.remove(&value);
    state.ages.remove(&value);
    state.sums.remove(&value);
}
