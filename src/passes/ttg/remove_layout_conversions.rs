//! `tritongpu-remove-layout-conversions`: chooses layouts so that few conversions between them are left.
//!
//! # Algorithm
//!
//! 1. Forward ([`propagate`]): operations whose layout matters (wide loads and stores, dots, atomics) are anchors;
//!    their layouts flow to everything computed from them, and each value settles on one.
//! 2. Conversions that producers can take over (of splats, ranges, constants, other conversions) go.
//! 3. Backward ([`remat`]): what a remaining conversion converts is computed anew in the layout wanted, where all of it
//!    is cheap enough: up to loads of few elements, through loops and conditionals. Repeat 2 and 3 until nothing
//!    changes.
//! 4. A conversion that stays moves above operations that make its tensor larger: extensions, broadcasts.
//! 5. One that still stays moves into the branches of conditionals in loops, or, if it is an operand of a matrix
//!    instruction, up to the loads ([`hoist`]).
//! 6. Carried values that nothing reads are cut loose, and loops and conditionals cleaned up.

mod cost;
mod hoist;
mod propagate;
mod remat;
mod slice;

pub use remat::{can_recompute, may_repeat};

use crate::ir::core::{Attr, Ir, Op, Value};
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{Classes, ScfOp};
use crate::ir::encoding::questions::is_matrix_result;
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::layout;
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "tritongpu-remove-layout-conversions",
    doc: "choose layouts so that few conversions between them are left",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    module_attrs::require_threads(ir, cx)?;
    let module = ir.module();
    let mut changed = false;
    for func in ir.functions() {
        changed |= propagate::run(ir, func);
    }
    changed |= clean_up_conversions(ir, module);
    loop {
        let mut again = false;
        for func in ir.functions() {
            again |= remat::remove_conversions(ir, func);
        }
        changed |= clean_up_conversions(ir, module);
        if !again {
            break;
        }
        changed = true;
    }
    for func in ir.functions() {
        changed |= remat::hoist_conversions(ir, func);
    }
    changed |= cut_dead_carried_values(ir, module);
    changed |= clean_up_conversions(ir, module);
    let mut control: Vec<_> = canonicalize::scf::FOR_PATTERNS.to_vec();
    control.extend(canonicalize::scf::IF_PATTERNS);
    changed |= rewrite_greedily(ir, module, &control, Config::default());
    Ok(Changed::from(changed))
}

fn clean_up_conversions(ir: &mut Ir, module: Op) -> bool {
    rewrite_greedily(ir, module, canonicalize::ttg::PATTERNS, Config::default())
}

/// Whether an access moves so much that its layout matters: a tensor of at least one element a thread.
fn is_expensive_access(ir: &Ir, op: Op) -> bool {
    let ty = ir.ty(ir.operands(op)[0]);
    let Some(threads) = module_attrs::threads(ir) else { return true };
    let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
    ty.is_tensor() && ty.num_elements() > 1 && ty.num_elements() >= i64::from(num_warps * threads.threads_per_warp)
}

/// Whether the operation can give its result in this encoding whatever its operands have.
fn can_use_result_encoding(ir: &Ir, op: Op, encoding: Attr) -> bool {
    if let Some(convert) = ttg::ConvertLayout::of(ir, op) {
        let chosen = encoding.as_encoding().is_some_and(is_matrix_result);
        return !chosen || ir.ty(convert.src(ir)).encoding() == Some(encoding);
    }
    if let Some(reshape) = tt::Reshape::of(ir, op) {
        let to = ir.ty(reshape.result(ir)).with_encoding(Some(encoding));
        return reshape.allow_reorder(ir)
            && !reshape.efficient_layout(ir)
            && !layout::is_expensive_view(ir.ty(reshape.src(ir)), to).unwrap_or(true);
    }
    if let Some(cat) = tt::Cat::of(ir, op) {
        let to = ir.ty(cat.result(ir)).with_encoding(Some(encoding));
        let [a, b] = [cat.lhs(ir), cat.rhs(ir)].map(|part| layout::elems_per_thread(ir.ty(part)));
        return layout::elems_per_thread(to) == a + b;
    }
    ir.kind(op).belongs(Classes::TAKES_ANY_RESULT_LAYOUT)
}

/// Whether the layout of an operation is marked as one that suits it.
fn has_efficient_layout(ir: &Ir, op: Op) -> bool {
    // `tt.gather` and `tt.reshape` have the same attribute.
    ir.stores(op, tt::Reshape::ATTR.efficient_layout)
}

/// Carried values of loops that only compute themselves are replaced by their initial value inside; canonicalization
/// then drops them.
///
/// A carried value is alive if it, or what is computed from it, reaches anything but its own yield: an effect, another
/// carried value that is alive, or a use of the loop's result.
fn cut_dead_carried_values(ir: &mut Ir, module: Op) -> bool {
    let loops: Vec<Op> = ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, ScfOp::For)).collect();
    if loops.is_empty() {
        return false;
    }
    let live = slice::live_values(ir, module);
    let mut changed = false;
    for op in loops {
        let Some(body) = ir.body(op, 0) else { continue };
        let args: Vec<Value> = ir.args(body)[1..].to_vec();
        for (i, arg) in args.into_iter().enumerate() {
            if !live.contains(&arg) && ir.has_uses(arg) {
                let init = scf::For(op).init(ir)[i];
                ir.replace_all_uses(arg, init);
                changed = true;
            }
        }
    }
    changed
}
