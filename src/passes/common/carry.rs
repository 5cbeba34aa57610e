//! Further values that a loop carries.

use crate::ir::core::{Block, Ir, Op, Value};

/// A further value that an `scf.for` carries; it is yielded unchanged for now, as the last operand of the end.
pub(crate) fn carry(ir: &mut Ir, looped: Op, body: Block, init: Value) -> Value {
    let (ty, loc) = (ir.ty(init), ir.loc(looped));
    let operands: Vec<Value> = ir.operands(looped).iter().copied().chain([init]).collect();
    ir.set_operands(looped, &operands);
    ir.add_result(looped, ty);
    let arg = ir.add_arg(body, ty, loc);
    let end = ir.terminator(body).expect("a loop ends in a yield");
    let yielded: Vec<Value> = ir.operands(end).iter().copied().chain([init]).collect();
    ir.set_operands(end, &yielded);
    arg
}
