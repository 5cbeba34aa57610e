//! Last step of `tritongpu-pipeline`: stores through descriptors in loops go on while the loop does.
//!
//! # Algorithm
//!
//! Of each loop with more than one stage, without atomics that order memory:
//!
//! 1. Stores, reductions and scatters of its body (not of loops in it) share a buffer in front of the loop, one for
//!    each shape, type and layout.
//! 2. In front of each stands a wait until the copy before has read its source; then the block is written to the
//!    buffer, a fence, and the copy is started. Behind the loop, all copies are waited for.
//! 3. Where descriptors of such stores are made by the kernel, those that the loop makes get two slots of scratch
//!    memory ([`lower_descriptors`]).

use super::lower_descriptors;
use crate::ir::core::{Builder, Ir, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::classes::moved_tensor;
use crate::ir::dialects::enums::MemSemantic;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{Classes, ScfOp, TtOp, TtgOp};
use crate::passes::nvidia::tma_lowering::descriptor;
use crate::passes::nvidia::{tensor_descriptors, tma_lowering};
use crate::passes::ttg::buffers;

/// A descriptor that the loop makes is kept as in a pipeline of so many stages. [`lower_descriptors`] gives it one slot
/// less, so it alternates between two.
const STAGES: u32 = 3;

/// Rewrites the stores of one loop.
pub(super) fn pipeline(ir: &mut Ir, looped: Op) {
    let stores = stores(ir, looped);
    if stores.is_empty() || orders_memory(ir, looped) {
        return;
    }
    let made_here = stores.iter().any(|&op| !is_parameter(ir, descriptor(ir, op)));
    let mut made: Vec<(Type, Value)> = vec![];
    for &op in &stores {
        let Some((source, ty)) = buffer_type(ir, op) else { continue };
        let known = made.iter().find(|m| m.0 == ty).map(|m| m.1);
        let buffer = known.unwrap_or_else(|| {
            let mut b = Builder::before(ir, looped);
            b.loc = b.ir.loc(op);
            b.value(TtgOp::LocalAlloc, &[], ty)
        });
        if known.is_none() {
            made.push((ty, buffer));
        }
        store(ir, op, source, buffer);
    }
    let mut b = Builder::after(ir, looped);
    b.insert(ttng::TmaStoreWait::state(b.loc).with(ttng::TmaStoreWait::ATTR.pendings, 0));
    for &(_, buffer) in &made {
        b.op(TtgOp::LocalDealloc, &[buffer], &[]);
    }
    if made_here {
        lower_descriptors::lower(ir, looped, STAGES, None);
    }
}

/// Step 1: the stores of the body in the order of the text.
fn stores(ir: &Ir, looped: Op) -> Vec<Op> {
    let innermost =
        |op: Op| std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For));
    let is_store = |op: Op| ir.kind(op).belongs(Classes::DESCRIPTOR_ACCESS) && !ir.kind(op).is_load();
    let known = |op: Op| matches!(*ir.ty(descriptor(ir, op)), TypeData::TensorDesc { layout: Some(_), .. });
    ir.all_ops(looped).into_iter().filter(|&op| is_store(op) && known(op) && innermost(op) == Some(looped)).collect()
}

fn orders_memory(ir: &Ir, looped: Op) -> bool {
    let orders = |op: Op| {
        // All atomic operations have the same attribute.
        let semantic = ir.get(op, tt::AtomicRmw::ATTR.sem).filter(|_| ir.kind(op).is_atomic());
        semantic.is_some_and(|semantic| semantic != MemSemantic::Relaxed)
    };
    ir.all_ops(looped).into_iter().any(orders)
}

/// Whether a descriptor is a parameter of the kernel, perhaps handed on by loops.
fn is_parameter(ir: &Ir, desc: Value) -> bool {
    let mut value = desc;
    loop {
        let ValueDef::Arg { block, index } = ir.def(value) else { return false };
        match ir.block_op(block) {
            Some(func) if ir.is(func, TtOp::Func) => return true,
            Some(outer) => {
                let inits = scf::For::of(ir, outer).map_or(&[][..], |looped| looped.init(ir));
                let Some(&init) = (index as usize).checked_sub(1).and_then(|i| inits.get(i)) else { return false };
                value = init;
            }
            None => return false,
        }
    }
}

/// What a store writes, and the type of the buffer for it.
fn buffer_type(ir: &Ir, op: Op) -> Option<(Value, Type)> {
    let source = moved_tensor(ir, op)?;
    let ty = ir.ty(source);
    let encoding = tensor_descriptors::block_layout(ir.ty(descriptor(ir, op)), ty).ok()?;
    Some((source, buffers::shared(ty.shape(), ty.elem(), encoding, true)))
}

/// Step 2.
fn store(ir: &mut Ir, op: Op, source: Value, buffer: Value) {
    let mut b = Builder::before(ir, op);
    let keys = ttng::TmaStoreWait::ATTR;
    b.insert(ttng::TmaStoreWait::state(b.loc).with(keys.pendings, 0).with(keys.read_only, true));
    b.op(TtgOp::LocalStore, &[source, buffer], &[]);
    tma_lowering::fence(&mut b);
    tma_lowering::copy_out(&mut b, op, buffer);
    ir.erase_op(op);
}
