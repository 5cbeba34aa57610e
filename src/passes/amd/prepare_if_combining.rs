//! `tritonamdgpu-prepare-if-combining`: what stands between two `scf.if` on one condition goes in front of the first,
//! and both become one.
//!
//! ```text
//! %a = scf.if %c { … yield %x }           %t = tt.trans %x
//! %t = tt.trans %x                →       %a, %b = scf.if %c { … yield %x, %y }
//! %b = scf.if %c { … yield %y }
//! ```
//!
//! 1. Take neighbours among the `scf.if` of a block that have one condition.
//! 2. Nothing moves unless everything between them can: it has no effects, and uses no result of the first.
//! 3. Of two that then stand side by side, the second one's branches go behind those of the first. There a result of
//!    the first is what its branch yields.
//!
//! Step 3 is a part of MLIR's canonicalisation of `scf.if`, which Triton runs behind this pass. ttc's has no such
//! pattern.

use crate::ir::core::{Block, InsertPoint, Ir, Op, OpState, Region, Type, Value};
use crate::ir::dialects::scf::scf::If;
use crate::ir::dialects::{OpKind, ScfOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-prepare-if-combining",
    doc: "make one of two scf.if on one condition, with what is between them in front",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut blocks: Vec<Block> = vec![];
    for op in ir.all_ops(ir.module()) {
        if let (Some(_), Some(block)) = (If::of(ir, op), ir.parent_block(op))
            && !blocks.contains(&block)
        {
            blocks.push(block);
        }
    }
    let mut changed = false;
    for block in blocks {
        let ifs: Vec<If> = ir.ops(block).filter_map(|op| If::of(ir, op)).collect();
        for pair in ifs.windows(2) {
            if let Some(between) = movable(ir, block, pair[0], pair[1]) {
                changed |= !between.is_empty();
                for op in between {
                    ir.move_before(op, pair[0].0);
                }
            }
        }
    }
    let module = ir.module();
    changed |= rewrite_greedily(ir, module, &[&COMBINE], Config::default());
    Ok(Changed::from(changed))
}

/// Step 3.
static COMBINE: Pattern = Pattern::new("if c { A }; if c { B } -> if c { A; B }", OpKind::Scf(ScfOp::If), combine);

fn combine(rw: &mut Rewriter<'_>, second: Op) -> bool {
    let Some(first) = rw.ir.prev_op(second).filter(|&op| rw.ir.is(op, ScfOp::If)) else { return false };
    if If(first).condition(rw.ir) != If(second).condition(rw.ir) {
        return false;
    }
    for branch in 0..2 {
        let (of_first, of_second) = (rw.ir.region(first, branch), rw.ir.region(second, branch));
        resolve(rw, first, of_first, of_second);
    }
    let results: Vec<Value> = [first, second].iter().flat_map(|&op| rw.ir.results(op)).copied().collect();
    let types: Vec<Type> = results.iter().map(|&v| rw.ir.ty(v)).collect();
    let condition = If(first).condition(rw.ir);
    rw.at = InsertPoint::Before(second);
    let state = OpState::new(ScfOp::If, rw.ir.loc(second)).operands(&[condition]).results(&types).regions(2);
    let both = rw.insert(state);
    for branch in 0..2 {
        let [to, a, b] = [both, first, second].map(|op| rw.ir.region(op, branch));
        rw.ir.splice_region(a, to);
        append(rw, b, to);
    }
    let made = rw.ir.results(both).to_vec();
    let (of_first, of_second) = made.split_at(rw.ir.results(first).len());
    rw.replace(first, of_first);
    rw.replace(second, of_second);
    true
}

/// What ends a region of one block, and what that yields.
fn end(ir: &Ir, region: Region) -> Option<(Op, Vec<Value>)> {
    let last = ir.entry(region).and_then(|block| ir.last_op(block))?;
    Some((last, ir.operands(last).to_vec()))
}

/// In a branch of the second, the results of the first are what the first one's branch yields.
fn resolve(rw: &mut Rewriter<'_>, first: Op, of_first: Region, of_second: Region) {
    let Some((_, yielded)) = end(rw.ir, of_first) else { return };
    let Some(block) = rw.ir.entry(of_second) else { return };
    let results = rw.ir.results(first).to_vec();
    for (result, value) in results.into_iter().zip(yielded) {
        for used in rw.ir.uses(result).to_vec() {
            let top = std::iter::successors(Some(used.op), |&op| rw.ir.parent_op(op));
            if top.into_iter().any(|op| rw.ir.parent_block(op) == Some(block)) {
                rw.set_operand(used.op, used.index as usize, value);
            }
        }
    }
}

/// Puts a branch behind another one.
fn append(rw: &mut Rewriter<'_>, from: Region, to: Region) {
    let Some((old, mut yielded)) = end(rw.ir, to) else { return rw.ir.splice_region(from, to) };
    let Some(block) = rw.ir.entry(from) else { return };
    yielded.extend(rw.inline_before(block, old, &[], 0));
    rw.replace_by(old, OpState::new(ScfOp::Yield, rw.ir.loc(old)).operands(&yielded));
}

/// The operations between two `scf.if` on one condition, if all of them can go in front of the first.
fn movable(ir: &Ir, block: Block, first: If, second: If) -> Option<Vec<Op>> {
    if first.condition(ir) != second.condition(ir) {
        return None;
    }
    let between: Vec<Op> =
        ir.ops(block).skip_while(|&op| op != first.0).skip(1).take_while(|&op| op != second.0).collect();
    let free = |&op: &Op| effects(ir, op).is_free() && !ir.operands(op).iter().any(|&v| ir.def_op(v) == Some(first.0));
    between.iter().all(free).then_some(between)
}
