//! `tritonamdgpu-move-up-prologue-loads`: the loads in front of a pipelined loop are issued as early as possible.
//!
//! The pipeliner marks them (`amd.pipeliner_part`). From the last to the first, each moves up, with what it needs,
//! behind the last of: the definition of its pointer, an atomic access, a barrier, a loop; or to the start of its
//! block.

use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::tt::tt::Load;
use crate::ir::dialects::{ScfOp, TtOp, TtgOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::pipeline::schedule::nested_operands;

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-move-up-prologue-loads",
    doc: "issue the loads in front of pipelined loops early",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// The mark of a load in front of a pipelined loop.
pub const PART: &str = "amd.pipeliner_part";

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let marked = |op: &Op| ir.is(*op, TtOp::Load) && ir.attr(*op, PART).is_some();
    let loads: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(marked).collect();
    for &load in loads.iter().rev() {
        move_up(ir, load);
    }
    Ok(Changed::from(!loads.is_empty()))
}

fn move_up(ir: &mut Ir, load: Op) {
    let Some(block) = ir.parent_block(load) else { return };
    let ptr = Load(load).ptr(ir);
    let in_front = ir.op_list(block).into_iter().take_while(|&op| op != load);
    let mut at = in_front.filter(|&op| stops(ir, op, ptr)).last();
    for op in needed(ir, load) {
        match at {
            Some(anchor) if ir.is_before(anchor, op) => ir.move_after(op, anchor),
            Some(_) => continue,
            None => {
                ir.detach(op);
                ir.prepend(block, op);
            }
        }
        at = Some(op);
    }
}

fn stops(ir: &Ir, op: Op, ptr: Value) -> bool {
    let kinds = ir.is(op, TtOp::AtomicRmw) || ir.is(op, TtOp::AtomicCas) || ir.is(op, TtgOp::Barrier);
    ir.results(op).contains(&ptr) || kinds || ir.is(op, ScfOp::For) || ir.is(op, ScfOp::While)
}

/// A load behind what it needs of its block, operand by operand.
fn needed(ir: &Ir, load: Op) -> Vec<Op> {
    fn visit(ir: &Ir, block: Option<Block>, op: Op, found: &mut Vec<Op>) {
        for value in nested_operands(ir, op) {
            let def = ir.def_op(value).filter(|&def| ir.parent_block(def) == block);
            if let Some(def) = def.filter(|def| !found.contains(def)) {
                visit(ir, block, def, found);
            }
        }
        found.push(op);
    }
    let mut found = vec![];
    visit(ir, ir.parent_block(load), load, &mut found);
    found
}
