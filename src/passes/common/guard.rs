//! An operation that runs only under a condition.

use crate::ir::core::{Builder, Ir, Op, OpState, Type, Value};
use crate::ir::dialects::ScfOp;

/// Puts an operation into an `scf.if`, in its place. Who used its results uses those of the branch now: the same if
/// the condition holds, else `otherwise`, a value for each.
pub(crate) fn guard(ir: &mut Ir, op: Op, condition: Value, otherwise: &[Value]) {
    let loc = ir.loc(op);
    let results = ir.results(op).to_vec();
    let types: Vec<Type> = results.iter().map(|&result| ir.ty(result)).collect();
    let branch = OpState::new(ScfOp::If, loc).operands(&[condition]).results(&types).regions(2);
    let branch = Builder::before(ir, op).insert(branch);
    for (old, new) in results.iter().zip(ir.results(branch).to_vec()) {
        ir.replace_all_uses(*old, new);
    }
    for (side, yielded) in [results.as_slice(), otherwise].iter().enumerate() {
        let region = ir.region(branch, side);
        let block = ir.add_block(region, &[]);
        let end = ir.create_op(OpState::new(ScfOp::Yield, loc).operands(yielded));
        ir.append(block, end);
        if side == 0 {
            ir.move_before(op, end);
        }
    }
}
