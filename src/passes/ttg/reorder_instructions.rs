//! `tritongpu-reorder-instructions`: moves operations to where they cost fewer registers, or where later passes look for them.
//!
//! # Algorithm
//!
//! 1. A layout conversion sinks behind the last release of shared memory before its first use, so that both do not need memory at once.
//! 2. A conversion to a dot operand, or a load from shared memory, with one use inside a loop sinks to that use.
//! 3. An allocation of shared memory that stores a value moves right behind the value's definition.
//! 4. A transposition moves right behind the definition of its source.

use crate::ir::core::{Encoding, Ir, Op, Value};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp, TtgOp};
use crate::passes::manager::{Changed, Failed, Pass, PassCx};

pub static PASS: Pass =
    Pass { name: "tritongpu-reorder-instructions", doc: "move operations to where they need fewer registers", options: &[], run };

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let mut changed = false;
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, TtgOp::ConvertLayout)).collect::<Vec<_>>() {
        changed |= sink_behind_releases(ir, op);
    }
    let sinking: Vec<(Op, Op)> = ir.all_ops_post(module).into_iter().filter_map(|op| Some((op, sinks_into_loop(ir, op)?))).collect();
    for (op, user) in sinking {
        ir.move_before(op, user);
        changed = true;
    }
    for op in ir.all_ops_post(module) {
        changed |= follow_source(ir, op);
    }
    Ok(Changed::from(changed))
}

/// The operation in `op`'s block that holds the first use.
fn first_use(ir: &Ir, op: Op) -> Option<Op> {
    let block = ir.parent_block(op);
    let ancestor = |user: Op| std::iter::successors(Some(user), |&u| ir.parent_op(u)).find(|&u| ir.parent_block(u) == block);
    let users = ir.results(op).iter().flat_map(|&r| ir.uses(r)).filter_map(|u| ancestor(u.op));
    users.reduce(|a, b| if b != a && ir.is_before(b, a) { b } else { a })
}

fn sink_behind_releases(ir: &mut Ir, op: Op) -> bool {
    let until = first_use(ir, op);
    let mut last_release = None;
    let mut at = ir.next_op(op);
    while let Some(o) = at.filter(|&o| Some(o) != until) {
        if ir.is(o, TtgOp::LocalDealloc) {
            last_release = Some(o);
        }
        at = ir.next_op(o);
    }
    if let Some(release) = last_release {
        ir.move_after(op, release);
    }
    last_release.is_some()
}

fn enclosing_loop(ir: &Ir, op: Op) -> Option<Op> {
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For))
}

fn sinks_into_loop(ir: &Ir, op: Op) -> Option<Op> {
    let costly = match ir.kind(op) {
        OpKind::Ttg(TtgOp::LocalLoad) => true,
        OpKind::Ttg(TtgOp::ConvertLayout) => matches!(ir.ty(ir.result(op)).layout(), Some(Encoding::DotOp { .. })),
        _ => false,
    };
    let uses: Vec<_> = ir.results(op).iter().flat_map(|&r| ir.uses(r)).collect();
    let [only] = uses[..] else { return None };
    (costly && enclosing_loop(ir, only.op) != enclosing_loop(ir, op)).then_some(only.op)
}

/// Steps 3 and 4.
fn follow_source(ir: &mut Ir, op: Op) -> bool {
    let source: Option<Value> = match ir.kind(op) {
        OpKind::Ttg(TtgOp::LocalAlloc | TtgOp::MemDescTrans) | OpKind::Tt(TtOp::Trans) => ir.operands(op).first().copied(),
        _ => None,
    };
    let Some(def) = source.and_then(|v| ir.def_op(v)) else { return false };
    let uniform = matches!(ir.kind(def), OpKind::Arith(ArithOp::Constant) | OpKind::Tt(TtOp::Splat));
    if ir.is(op, TtgOp::LocalAlloc) && uniform || ir.next_op(def) == Some(op) {
        return false;
    }
    ir.move_after(op, def);
    true
}
