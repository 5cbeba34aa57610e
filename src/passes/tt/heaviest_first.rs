//! `ttc-heaviest-first`, ttc's own: where programs with larger numbers have more to do, the grid is gone through from
//! its end.
//!
//! A GPU starts the blocks of a grid in the order of their numbers. In causal attention the last rows see the most keys,
//! so the longest blocks would start last, and at the end most multiprocessors would wait for a few of them. From the
//! longest to the shortest, the blocks that are still at work in the end are short.
//!
//! # Algorithm
//!
//! 1. The work of a program is the length of its loops with matrix products: `upper - lower` ([`slopes`]). If one rises
//!    along an axis of the grid, and none falls or is not known, the axis is turned round.
//! 2. `tt.get_program_id` of that axis becomes `num_programs - 1 - tt.get_program_id`, everywhere in the kernel.
//!
//! ```text
//! for k in range(0, (program_id(0) + 1) * 128, 64): … tl.dot …
//! → m = num_programs(0) - 1 - program_id(0)
//!   for k in range(0, (m + 1) * 128, 64): … tl.dot …
//! ```
//!
//! # Why nobody sees it
//!
//! Each program number occurs once, as before, and computes the same from it. Neither the language nor the GPU promises
//! an order of programs. What depends on one nevertheless keeps it: kernels that learn what other programs have done
//! (atomic operations, volatile loads), and code in another language, which may ask the GPU for the number itself. Only
//! functions that were inlined may ask for it.

use crate::analysis::slopes::{Slope, Slopes};
use crate::analysis::touched;
use crate::ir::core::{Attr, Builder, Ir, Op, Type};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::{GetNumPrograms, GetProgramId};
use crate::ir::dialects::{ArithOp, ScfOp, TtOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-heaviest-first",
    doc: "go through the grid from its end where programs with larger numbers have more to do",
    input: Input::Ttir,
    options: &[],
    run,
};

const AXES: [ProgramDim; 3] = [ProgramDim::X, ProgramDim::Y, ProgramDim::Z];

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    if depends_on_order(ir) {
        return Ok(Changed::No);
    }
    let kernels: Vec<Op> = ir.functions().into_iter().filter(|&f| !ir.is_private(f)).collect();
    let mut changed = false;
    for kernel in kernels {
        for axis in AXES {
            if rises(ir, kernel, axis) {
                turn(ir, kernel, axis);
                changed = true;
            }
        }
    }
    Ok(Changed::from(changed))
}

/// Whether somebody could see in which order programs run, or asks for a program's number elsewhere than in a kernel.
fn depends_on_order(ir: &Ir) -> bool {
    touched::may_learn_of_others(ir)
        || ir.all_ops(ir.module()).into_iter().any(|op| {
            [TtOp::AtomicRmw, TtOp::AtomicCas, TtOp::ElementwiseInlineAsm, TtOp::Call].iter().any(|&k| ir.is(op, k))
        })
}

/// Step 1.
fn rises(ir: &Ir, kernel: Op, axis: ProgramDim) -> bool {
    let mut slopes = Slopes::new(ir, axis);
    let mut rising = false;
    for op in ir.all_ops(kernel) {
        if !ir.is(op, ScfOp::For) || !ir.all_ops(op).into_iter().any(|inner| ir.kind(inner).is_product()) {
            continue;
        }
        match slopes.of_difference(For(op).upper(ir), For(op).lower(ir)) {
            Some(Slope::Level) => {}
            Some(Slope::Rising) => rising = true,
            Some(Slope::Falling) | None => return false,
        }
    }
    rising
}

/// Step 2.
fn turn(ir: &mut Ir, kernel: Op, axis: ProgramDim) {
    let of_axis = |&op: &Op| GetProgramId::of(ir, op).is_some_and(|p| p.axis(ir) == Some(axis));
    let asked: Vec<Op> = ir.all_ops(kernel).into_iter().filter(of_axis).collect();
    for op in asked {
        let ty = Type::int(32);
        let mut b = Builder::before(ir, op);
        let count = b.result(GetNumPrograms::state(b.loc).with(GetNumPrograms::ATTR.axis, axis), ty);
        let one = b.constant(Attr::int(1, ty));
        let last = b.value(ArithOp::Subi, &[count, one], ty);
        let number = b.result(GetProgramId::state(b.loc).with(GetProgramId::ATTR.axis, axis), ty);
        let turned = b.value(ArithOp::Subi, &[last, number], ty);
        ir.replace_op(op, &[turned]);
    }
}
