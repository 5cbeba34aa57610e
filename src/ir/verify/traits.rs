//! What the traits state: which operands and results agree in type, shape or encoding.

use super::table::block_pointee;
use crate::ir::core::{Ir, Op, Type};
use crate::ir::dialects::{OpKind, Traits, TtOp};

type Check = Result<(), String>;

/// Checks all traits of an operation.
pub(super) fn check(ir: &Ir, op: Op) -> Check {
    let traits = ir.spec(op).traits;
    let has = |t: Traits| traits.contains(t);
    // A block pointer stands for the block it points to.
    let through_pointers = matches!(ir.kind(op), OpKind::Tt(TtOp::Load | TtOp::Store));
    let ty = |v| {
        let ty = ir.ty(v);
        if through_pointers { block_pointee(ty).unwrap_or(ty) } else { ty }
    };
    let operands = || ir.operands(op).iter().map(|&v| ty(v));
    let all = || operands().chain(ir.results(op).iter().map(|&v| ty(v)));
    if has(Traits::SAME_OPERANDS_AND_RESULT_TYPE) {
        agree(&mut all(), "operands and results must have one type", |a, b| a == b)?;
    }
    if has(Traits::SAME_TYPE_OPERANDS) {
        agree(&mut operands(), "operands must have one type", |a, b| a == b)?;
    }
    if has(Traits::SAME_OPERANDS_AND_RESULT_SHAPE) {
        agree(&mut all(), "operands and results must have one shape", same_shape)?;
    }
    if has(Traits::SAME_OPERANDS_SHAPE) {
        agree(&mut operands(), "operands must have one shape", same_shape)?;
    }
    // Along dimensions of size 1 different encodings may say the same, which a broadcast makes use of.
    if has(Traits::SAME_OPERANDS_AND_RESULT_ENCODING) && !ir.is(op, TtOp::Broadcast) {
        agree(&mut all().filter(|t| t.is_tensor()), "operands and results must have one encoding", |a, b| a.encoding() == b.encoding())?;
    }
    if has(Traits::SAME_OPERANDS_ENCODING) {
        agree(&mut operands().filter(|t| t.is_tensor()), "operands must have one encoding", |a, b| a.encoding() == b.encoding())?;
    }
    if has(Traits::ELEMENTWISE) {
        agree(&mut all().filter(|t| t.is_tensor()), "tensors must have one shape", same_shape)?;
    }
    Ok(())
}

fn same_shape(a: Type, b: Type) -> bool {
    a.is_tensor() == b.is_tensor() && a.shape() == b.shape()
}

/// All types agree with the first.
fn agree(mut types: &mut dyn Iterator<Item = Type>, rule: &str, same: fn(Type, Type) -> bool) -> Check {
    let Some(first) = types.next() else { return Ok(()) };
    match Iterator::find(&mut types, |&t| !same(first, t)) {
        Some(other) => Err(format!("{rule}, found `{first}` and `{other}`")),
        None => Ok(()),
    }
}
