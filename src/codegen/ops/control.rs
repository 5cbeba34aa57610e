//! Control flow: structured loops and conditionals, branches.
//!
//! | operation | blocks |
//! |---|---|
//! | `scf.for` | `head` (phis of induction variable and carried values, comparison) → `body` → `head`; `head` → `exit` |
//! | `scf.if` | `then`, `else` (when it has a region) → `join` (phis of the results) |
//! | `scf.while` | `before` (phis) → `after` or `exit`; `after` → `before` |
//! | `cf.br`, `cf.cond_br` | to the blocks of the function, whose phis were made beforehand |
//!
//! A carried tensor has one phi per register.

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;

use super::debug::assert;
use crate::analysis::serial_divisions::turns_wait_for_divisions;
use crate::analysis::trips::trips;
use crate::codegen::llvm::loops;
use crate::codegen::lower::{Label, Lower, Res, as_int, defect};
use crate::ir::dialects::discardable::DOES_THE_REST;
use crate::ir::dialects::scf::{cf, scf};
use crate::ir::dialects::{CfOp, ScfOp, UbOp};
use crate::ir::{Block, Ir, Op, Value};

/// Turns of a loop that becomes straight code, whatever it does. A longer one whose turns wait for one another's
/// divisions is not unrolled at all: nothing of its turns overlaps, and its code only grows.
const FEW_TURNS: i64 = 16;

/// Lowers an operation of the `scf` dialect.
pub(crate) fn scf(cx: &mut Lower<'_, '_>, op: Op, kind: ScfOp) -> Res<()> {
    match kind {
        ScfOp::For => for_loop(cx, op),
        ScfOp::If => conditional(cx, op),
        ScfOp::While => while_loop(cx, op),
        ScfOp::ExecuteRegion => Err(cx.unsupported(op, "")),
        // These are lowered with the operation around them.
        ScfOp::Yield | ScfOp::Condition => Err(defect("a region's end was reached on its own")),
    }
}

/// Lowers an operation of the `cf` dialect.
pub(crate) fn cf(cx: &mut Lower<'_, '_>, op: Op, kind: CfOp) -> Res<()> {
    match kind {
        CfOp::Br => {
            let target = target(cx, op, 0)?;
            cx.pass(&target, cx.ir.operands(op))?;
            cx.b.build_unconditional_branch(target.block)?;
            Ok(())
        }
        CfOp::CondBr => cond_br(cx, op),
        CfOp::Assert => {
            let view = cf::Assert(op);
            assert(cx, op, view.arg(cx.ir), view.msg(cx.ir).unwrap_or_default())
        }
    }
}

/// Lowers an operation of the `ub` dialect.
pub(crate) fn ub(cx: &mut Lower<'_, '_>, op: Op, kind: UbOp) -> Res<()> {
    match kind {
        UbOp::Poison => {
            let regs = cx.poison(cx.ir.ty(cx.ir.result(op)))?;
            cx.set(cx.ir.result(op), regs.to_vec());
        }
        UbOp::Unreachable => {
            cx.b.build_unreachable()?;
        }
    }
    Ok(())
}

fn target<'c>(cx: &Lower<'c, '_>, op: Op, index: usize) -> Res<Label<'c>> {
    let block = cx.ir.successors(op).get(index).ok_or_else(|| defect("a branch to nowhere"))?;
    cx.blocks.get(block).cloned().ok_or_else(|| defect("a branch to a block of another region"))
}

fn cond_br(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let branch = cf::CondBr(op);
    let condition = cx.int(branch.condition(cx.ir))?;
    let (yes, no) = (target(cx, op, 0)?, target(cx, op, 1)?);
    let (yes_args, no_args) = (branch.true_args(cx.ir), branch.false_args(cx.ir));
    if yes.block != no.block {
        cx.pass(&yes, yes_args)?;
        cx.pass(&no, no_args)?;
        cx.b.build_conditional_branch(condition, yes.block, no.block)?;
        return Ok(());
    }
    // Both edges lead to one block, whose phis cannot tell them apart: one of them goes through a block of its own.
    let between = cx.llvm.append_basic_block(cx.function, "");
    cx.pass(&yes, yes_args)?;
    cx.b.build_conditional_branch(condition, yes.block, between)?;
    cx.b.position_at_end(between);
    cx.pass(&no, no_args)?;
    cx.b.build_unconditional_branch(no.block)?;
    Ok(())
}

/// The block that code is being added to.
fn here<'c>(cx: &Lower<'c, '_>) -> Res<BasicBlock<'c>> {
    cx.b.get_insert_block().ok_or_else(|| defect("no current block"))
}

/// Lowers all operations of a region's only block but its terminator, and gives that.
pub(crate) fn region(cx: &mut Lower<'_, '_>, block: Block) -> Res<Op> {
    let end = cx.ir.terminator(block).ok_or_else(|| defect("a region without an end"))?;
    for op in cx.ir.op_list(block) {
        if op != end {
            cx.op(op)?;
        }
    }
    Ok(end)
}

fn body(cx: &Lower<'_, '_>, op: Op, index: usize) -> Res<Block> {
    cx.ir.body(op, index).ok_or_else(|| defect("a region without a block"))
}

/// Makes the results of `op` what the phis of a block are.
fn results_from(cx: &mut Lower<'_, '_>, op: Op, from: &[Value]) -> Res<()> {
    for (&result, &value) in cx.ir.results(op).iter().zip(from) {
        let regs = cx.get(value)?;
        cx.set(result, regs.to_vec());
    }
    Ok(())
}

fn for_loop(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let view = scf::For(op);
    let (lower, upper, step) = (view.lower(ir), cx.int(view.upper(ir))?, cx.int(view.step(ir))?);
    let block = body(cx, op, 0)?;
    let (args, inits) = (ir.args(block), view.init(ir));
    let initial: Vec<Value> = std::iter::once(lower).chain(inits.iter().copied()).collect();
    let head = cx.new_block("for.head", args)?;
    cx.pass(&head, &initial)?;
    cx.b.build_unconditional_branch(head.block)?;

    let inner = cx.llvm.append_basic_block(cx.function, "for.body");
    let exit = cx.llvm.append_basic_block(cx.function, "for.exit");
    cx.b.position_at_end(head.block);
    let variable = *args.first().ok_or_else(|| defect("a loop without an induction variable"))?;
    let index = cx.int(variable)?;
    let predicate = if view.unsignedCmp(ir) { IntPredicate::ULT } else { IntPredicate::SLT };
    let more = cx.b.build_int_compare(predicate, index, upper, "")?;
    cx.b.build_conditional_branch(more, inner, exit)?;

    cx.b.position_at_end(inner);
    let end = region(cx, block)?;
    let next = cx.b.build_int_add(index, step, "")?;
    let from = here(cx)?;
    let carried = Label { block: head.block, phis: head.phis[1..].to_vec() };
    cx.pass(&carried, ir.operands(end))?;
    head.phis[0].iter().for_each(|(_, phi)| phi.add_incoming(&[(&next, from)]));
    let back = cx.b.build_unconditional_branch(head.block)?;
    let waits = trips(ir, view).is_none_or(|turns| turns > FEW_TURNS) && turns_wait_for_divisions(ir, view);
    if waits || ir.stores(op, DOES_THE_REST) || branches_in_an_inner_loop(ir, op, block) {
        loops::set(cx.llvm, back, loops::NOT_UNROLLED);
    }

    cx.b.position_at_end(exit);
    results_from(cx, op, &args[1..])
}

/// Whether a loop runs in each turn of another one, asks in its own turns what to do, and may have any number of them.
/// Mostly there are few turns, as for the elements of a convolution's kernel. Neither LLVM nor ptxas is to unroll it:
/// loads behind branches do not come together, and what computes the split costs every turn around it.
fn branches_in_an_inner_loop(ir: &Ir, op: Op, body: Block) -> bool {
    let is_loop = |op: Op| ir.is(op, ScfOp::For) || ir.is(op, ScfOp::While);
    let is_inner = std::iter::successors(ir.parent_op(op), |&around| ir.parent_op(around)).any(is_loop);
    is_inner && ir.ops(body).any(|inner| ir.is(inner, ScfOp::If)) && trips(ir, scf::For(op)).is_none()
}

fn conditional(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let condition = cx.int(scf::If(op).condition(ir))?;
    let join = cx.new_block("if.join", ir.results(op))?;
    let then = cx.llvm.append_basic_block(cx.function, "if.then");
    let otherwise = match ir.body(op, 1) {
        Some(block) => Some((block, cx.llvm.append_basic_block(cx.function, "if.else"))),
        None => None,
    };
    cx.b.build_conditional_branch(condition, then, otherwise.map_or(join.block, |o| o.1))?;
    for (block, start) in std::iter::once((body(cx, op, 0)?, then)).chain(otherwise) {
        cx.b.position_at_end(start);
        let end = region(cx, block)?;
        cx.pass(&join, ir.operands(end))?;
        cx.b.build_unconditional_branch(join.block)?;
    }
    // The blocks of the branches come first in the text, so that it reads in order.
    if let Some(last) = cx.function.get_last_basic_block().filter(|&b| b != join.block) {
        join.block.move_after(last).map_err(|()| defect("a block cannot be moved"))?;
    }
    cx.b.position_at_end(join.block);
    Ok(())
}

fn while_loop(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let (before, after) = (body(cx, op, 0)?, body(cx, op, 1)?);
    let head = cx.new_block("while.before", ir.args(before))?;
    cx.pass(&head, ir.operands(op))?;
    cx.b.build_unconditional_branch(head.block)?;

    cx.b.position_at_end(head.block);
    let end = region(cx, before)?;
    let end = scf::Condition(end);
    let condition = as_int(cx.scalar(end.condition(ir))?)?;
    let passed = end.args(ir);
    let inner = cx.llvm.append_basic_block(cx.function, "while.after");
    let exit = cx.llvm.append_basic_block(cx.function, "while.exit");
    cx.b.build_conditional_branch(condition, inner, exit)?;

    cx.b.position_at_end(inner);
    for (&arg, &value) in ir.args(after).iter().zip(passed) {
        let regs = cx.get(value)?;
        cx.set(arg, regs.to_vec());
    }
    let end = region(cx, after)?;
    cx.pass(&head, ir.operands(end))?;
    cx.b.build_unconditional_branch(head.block)?;

    cx.b.position_at_end(exit);
    results_from(cx, op, passed)
}
