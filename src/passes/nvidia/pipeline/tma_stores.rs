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
use crate::ir::core::{Attr, Builder, Ir, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::enums::MemSemantic;
use crate::ir::dialects::{OpKind, ScfOp, TtOp, TtgOp, TtngOp};
use crate::passes::nvidia::{tensor_descriptors, tma_lowering};
use crate::passes::ttg::buffers;

/// `relaxed`
/// Slots of a descriptor are one less.
const STAGES: u32 = 3;

/// Rewrites the stores of one loop.
pub(super) fn pipeline(ir: &mut Ir, looped: Op) {
    let stores = stores(ir, looped);
    if stores.is_empty() || orders_memory(ir, looped) {
        return;
    }
    let made_here = stores.iter().any(|&op| !is_parameter(ir, ir.operand(op, 0)));
    let mut made: Vec<(Type, Value)> = vec![];
    for &op in &stores {
        let source = source_of(ir, op);
        let Some(ty) = buffer_type(ir, op, source) else { continue };
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
    let state = b.state(TtngOp::TmaStoreWait).attr("pendings", Attr::i32(0));
    b.insert(state);
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
    let is_store = |op: Op| {
        matches!(ir.kind(op), OpKind::Tt(TtOp::DescriptorStore | TtOp::DescriptorReduce | TtOp::DescriptorScatter))
    };
    let known = |op: Op| matches!(*ir.ty(ir.operand(op, 0)), TypeData::TensorDesc { layout: Some(_), .. });
    ir.all_ops(looped).into_iter().filter(|&op| is_store(op) && known(op) && innermost(op) == Some(looped)).collect()
}

fn orders_memory(ir: &Ir, looped: Op) -> bool {
    let orders = |op: Op| {
        ir.kind(op).is_atomic() && ir.enum_attr::<MemSemantic>(op, "sem").is_some_and(|sem| sem != MemSemantic::Relaxed)
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
            Some(outer) if ir.is(outer, ScfOp::For) && index > 0 => match ir.operands(outer).get(index as usize + 2) {
                Some(&init) => value = init,
                None => return false,
            },
            _ => return false,
        }
    }
}

fn source_of(ir: &Ir, op: Op) -> Value {
    ir.operand(op, if ir.is(op, TtOp::DescriptorScatter) { 3 } else { 1 })
}

fn buffer_type(ir: &Ir, op: Op, source: Value) -> Option<Type> {
    let ty = ir.ty(source);
    let encoding = tensor_descriptors::block_layout(ir.ty(ir.operand(op, 0)), ty).ok()?;
    Some(buffers::shared(ty.shape(), ty.elem(), encoding, true))
}

/// Step 2.
fn store(ir: &mut Ir, op: Op, source: Value, buffer: Value) {
    let mut b = Builder::before(ir, op);
    let state = b.state(TtngOp::TmaStoreWait).attr("pendings", Attr::i32(0)).attr("read_only", Attr::unit());
    b.insert(state);
    b.op(TtgOp::LocalStore, &[source, buffer], &[]);
    let state = b.state(TtngOp::FenceAsyncShared).attr("bCluster", Attr::bool(false));
    b.insert(state);
    tma_lowering::copy_out(&mut b, op, buffer);
    ir.erase_op(op);
}
