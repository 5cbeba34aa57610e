//! What holds of the parameters of called functions: what holds of the arguments at every call.
//!
//! 1. Functions are analysed callers first, each with what has been found about its own parameters.
//! 2. A parameter's facts are the gcd over the calls, and over what its attributes state already.
//! 3. Only values with one axis count: scalars, pointers, and tensors of rank 1.
//!
//! Example: `tt.call @f(%p, %n)` with `%p` a multiple of 16 gives the first parameter of `@f` `tt.divisibility = 16`.

use std::collections::{BTreeMap, BTreeSet};

use super::{AxisInfo, AxisInfoAnalysis, MAX_DIVISOR, gcd, pessimistic};
use crate::ir::core::{AttrData, Ir, Op, Value};
use crate::ir::dialects::TtOp;

/// The facts about parameters of called functions, as far as they have one axis.
#[must_use]
pub fn parameters(ir: &Ir) -> BTreeMap<Value, AxisInfo> {
    let mut found = BTreeMap::new();
    for func in callers_first(ir) {
        let analysis = AxisInfoAnalysis::assuming(ir, func, found.clone());
        for call in calls(ir, func) {
            let Some(entry) = callee(ir, call).and_then(|f| ir.body(f, 0)) else { continue };
            for (&param, &argument) in ir.args(entry).iter().zip(ir.operands(call)) {
                let Some(info) = analysis.get(argument).filter(|i| i.rank() == 1) else { continue };
                let before = found.get(&param).cloned().unwrap_or_else(|| stated(ir, param));
                let with = |old: &[i64], new: &[i64]| vec![gcd(new[0], old[0])];
                let joined = AxisInfo {
                    contiguity: with(&before.contiguity, &info.contiguity),
                    divisibility: with(&before.divisibility, &info.divisibility),
                    constancy: with(&before.constancy, &info.constancy),
                    constant: None,
                };
                found.insert(param, joined);
            }
        }
    }
    found
}

/// What attributes state of a parameter; where they are silent, anything may hold.
fn stated(ir: &Ir, param: Value) -> AxisInfo {
    let all = vec![MAX_DIVISOR];
    let mut info = AxisInfo { contiguity: all.clone(), divisibility: all.clone(), constancy: all, constant: None };
    if pessimistic(ir, param).rank() == 1 {
        info.apply_hints(&|key| ir.value_attr(param, key).filter(|a| matches!(a.data(), AttrData::Int(..))));
    }
    info
}

fn calls(ir: &Ir, func: Op) -> Vec<Op> {
    ir.all_ops(func).into_iter().filter(|&op| ir.is(op, TtOp::Call)).collect()
}

fn callee(ir: &Ir, call: Op) -> Option<Op> {
    ir.callee(call)
}

/// Functions, each before those that it calls.
fn callers_first(ir: &Ir) -> Vec<Op> {
    fn visit(ir: &Ir, func: Op, seen: &mut BTreeSet<Op>, done: &mut Vec<Op>) {
        if seen.insert(func) {
            calls(ir, func).into_iter().filter_map(|c| callee(ir, c)).for_each(|f| visit(ir, f, seen, done));
            done.push(func);
        }
    }
    let (mut seen, mut done) = (BTreeSet::new(), vec![]);
    ir.functions().into_iter().for_each(|f| visit(ir, f, &mut seen, &mut done));
    done.reverse();
    done
}
