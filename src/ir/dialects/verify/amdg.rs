//! Rules of the `amdg` dialect.

use super::{ensure, operand_ty, result_ty};
use crate::ir::core::{Encoding, Ir, Op, Type};
use crate::ir::dialects::amdg::amdg as view;
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::type_rules::is_like;

/// What is accessed has the type that the address points at.
fn accesses(ptr: Type, what: &str, accessed: Type, contiguity: Option<i64>) -> VerifyResult {
    ensure!(
        ptr.pointee() == Some(accessed.elem()),
        "it accesses {} through {ptr}, and `{what}` has type {accessed}",
        ptr.pointee().unwrap_or(ptr)
    );
    let number = contiguity.unwrap_or(1);
    ensure!(number > 0 && number & (number - 1) == 0, "`contiguity` is a power of two, found {number}");
    Ok(())
}

pub fn buffer_load(ir: &Ir, op: Op) -> VerifyResult {
    let load = view::BufferLoad(op);
    accesses(ir.ty(load.ptr(ir)), "result", result_ty(ir, op), load.contiguity(ir))?;
    ensure!(load.other(ir).is_none() || load.mask(ir).is_some(), "it has a value for masked-off elements and no mask");
    Ok(())
}

pub fn buffer_store(ir: &Ir, op: Op) -> VerifyResult {
    let store = view::BufferStore(op);
    accesses(ir.ty(store.ptr(ir)), "value", ir.ty(store.value(ir)), store.contiguity(ir))
}

pub fn buffer_atomic_rmw(ir: &Ir, op: Op) -> VerifyResult {
    accesses(operand_ty(ir, op, 0), "result", result_ty(ir, op), None)
}

pub fn buffer_atomic_cas(ir: &Ir, op: Op) -> VerifyResult {
    accesses(operand_ty(ir, op, 0), "result", result_ty(ir, op), None)
}

/// The buffer has the shape of the offsets and the elements that the address points at.
pub fn buffer_load_to_local(ir: &Ir, op: Op) -> VerifyResult {
    let copy = view::BufferLoadToLocal(op);
    let (ptr, dest, offsets) = (ir.ty(copy.ptr(ir)), ir.ty(copy.dest(ir)), ir.ty(copy.offsets(ir)));
    accesses(ptr, "dest", dest, copy.contiguity(ir))?;
    ensure!(
        dest.shape() == offsets.shape(),
        "the offsets have shape {:?}, and the buffer has {:?}",
        offsets.shape(),
        dest.shape()
    );
    if let Some(other) = copy.other(ir).map(|v| ir.ty(v)) {
        ensure!(
            is_like(other, offsets, dest.elem()),
            "`other` has type {other}, expected {}",
            offsets.with_elem(dest.elem())
        );
    }
    Ok(())
}

/// Only a thread's own tile, as a blocked layout has it, is turned. What the result's layout must be, the rules of
/// layouts say.
pub fn in_thread_transpose(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(from.elem() == to.elem(), "it turns elements of type {}, and the result has {}", from.elem(), to.elem());
    ensure!(from.rank() == 2, "it turns tensors of two dimensions, found {}", from.rank());
    ensure!(matches!(from.layout(), Some(Encoding::Blocked(_))), "the layout of its operand is blocked, found {from}");
    Ok(())
}
