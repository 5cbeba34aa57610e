//! `tritonamdgpu-prepare-if-combining`: what stands between two `scf.if` on one condition goes in front of the first, so
//! that canonicalisation makes one of both.
//!
//! ```text
//! %a = scf.if %c { … }                    %t = tt.trans %x
//! %t = tt.trans %x                →       %a = scf.if %c { … }
//! %b = scf.if %c { … }                    %b = scf.if %c { … }
//! ```
//!
//! 1. Take neighbours among the `scf.if` of a block that have one condition.
//! 2. Nothing moves unless everything between them can: it has no effects, and uses no result of the first.

use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::scf::scf::If;
use crate::ir::effects::effects;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-prepare-if-combining",
    doc: "move what is between two scf.if on one condition out of the way",
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
    Ok(Changed::from(changed))
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
