//! `layout`: conversions between layouts that cost shuffles or shared memory, at the line of what needs them.
//!
//! 1. Each `ttg.convert_layout` gets the plan that code generation emits ([`ConversionPlan`]); renamed registers cost
//!    nothing and are not told.
//! 2. The place is that of the first operation that uses the result, for that is whose layout differs; where the value
//!    was made is a second label.
//!
//! ```text
//! remark[E0615]: a tensor 128x64xf16 changes its layout for this store through shared memory: 16384 bytes
//!   note: a warp stores 16 times and loads 16 times, no bank conflicts, 1 barrier
//! ```

use super::{bytes, place_of};
use crate::analysis::exchange::conversion;
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op, Type, Value};
use crate::ir::dialects::OpKind;
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::layout::plan::{Among, ConversionPlan, Costs};
use crate::target::Target;

/// The remarks on a module.
pub(super) fn of_module(ir: &Ir, target: &Target) -> Vec<Diagnostic> {
    let conversions = ir.all_ops(ir.module()).into_iter().filter_map(|op| ConvertLayout::of(ir, op));
    conversions.filter_map(|conversion| remark(ir, conversion, target)).collect()
}

fn remark(ir: &Ir, converted: ConvertLayout, target: &Target) -> Option<Diagnostic> {
    let (from, to) = (ir.ty(converted.src(ir)), ir.ty(converted.result(ir)));
    let plan = conversion(ir, converted.0, target).ok()?;
    let (way, costs) = way(&plan)?;
    let user = user(ir, converted.result(ir));
    let need = user.map_or_else(String::new, |u| format!(" for `{}`", ir.op_name(u)));
    let diagnostic = Diagnostic::remark(
        &codes::LAYOUT_CONVERSION,
        format!("a tensor {} changes its layout{need} {way}", shape(from)),
    );
    let needed = user.and_then(|u| place_of(ir.loc(u))).or_else(|| place_of(ir.loc(converted.0)));
    let made = place_of(ir.value_loc(converted.src(ir))).filter(|p| Some(p) != needed.as_ref());
    let labels = needed.map(|p| (p, "")).into_iter().chain(made.map(|p| (p, "the tensor is made here")));
    let diagnostic = labels.fold(diagnostic, |d, (place, text)| d.at(place, text));
    Some(diagnostic.note(costs).note(format!("from {}", encoding(from))).note(format!("to {}", encoding(to))))
}

/// The first operation that uses the value and is more than a way of passing it on.
fn user(ir: &Ir, value: Value) -> Option<Op> {
    let passes_on = |op: Op| matches!(ir.kind(op), OpKind::Scf(_));
    ir.users(value).into_iter().find(|&op| !passes_on(op))
}

/// How the elements move, and what that costs; `None` where it costs nothing.
fn way(plan: &ConversionPlan) -> Option<(String, String)> {
    let costs = plan.costs();
    match plan {
        ConversionPlan::Registers(_) => None,
        ConversionPlan::Shuffles(_) => Some((
            "by shuffles".to_owned(),
            format!("a thread shuffles {} words and selects {} times", costs.shuffles, costs.selects),
        )),
        ConversionPlan::Shared(plan) => {
            let whose =
                if plan.among() == Among::Cluster { "the shared memory of other blocks" } else { "shared memory" };
            Some((format!("through {whose}: {}", bytes(costs.bytes)), shared_costs(&costs)))
        }
    }
}

fn shared_costs(costs: &Costs) -> String {
    let conflicts = match costs.conflicts {
        0 => "no bank conflicts".to_owned(),
        n => format!("{n} of {} wavefronts for bank conflicts", costs.store_wavefronts + costs.load_wavefronts),
    };
    let barriers = if costs.barriers == 1 { "1 barrier".to_owned() } else { format!("{} barriers", costs.barriers) };
    format!("a warp stores {} times and loads {} times, {conflicts}, {barriers}", costs.stores, costs.loads)
}

/// `128x64xf16`
fn shape(ty: Type) -> String {
    let sizes: String = ty.shape().iter().map(|s| format!("{s}x")).collect();
    format!("{sizes}{}", ty.elem())
}

fn encoding(ty: Type) -> String {
    ty.encoding().map_or_else(String::new, |e| e.to_string())
}
