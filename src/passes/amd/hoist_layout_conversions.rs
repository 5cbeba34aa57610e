//! `tritonamdgpu-hoist-layout-conversions`: an operand of a product that does not change in a loop is converted once,
//! in front of it.
//!
//! A conversion to a dot operand inside a loop, of a value from outside of it, moves right behind the value's
//! definition. AMD's register files are large and its LDS is small: attention keeps Q in registers.
//!
//! ```text
//! %q = tt.load …; scf.for … { %x = ttg.convert_layout %q … -> #ttg.dot_op; … }
//! → %q = tt.load …; %x = ttg.convert_layout %q …; scf.for … { … }
//! ```

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::ir::encoding::questions::is_operand;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-hoist-layout-conversions",
    doc: "convert operands of products that do not change in a loop in front of it",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for op in ir.all_ops_post(ir.module()) {
        if let Some(source) = hoistable(ir, op) {
            ir.move_after(op, source);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// The definition behind which a conversion can stand.
fn hoistable(ir: &Ir, op: Op) -> Option<Op> {
    let convert = ConvertLayout::of(ir, op)?;
    ir.ty(convert.result(ir)).layout().filter(|e| is_operand(e))?;
    let source = ir.def_op(convert.src(ir))?;
    let looped = std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For))?;
    (!ir.is_ancestor(looped, source)).then_some(source)
}
