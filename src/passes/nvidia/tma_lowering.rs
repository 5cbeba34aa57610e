//! `triton-nvidia-tma-lowering`: accesses through tensor descriptors become copies by the tensor memory accelerator
//! (TMA), descriptors that the kernel makes are written to memory.
//!
//! # Algorithm
//!
//! From the last operation to the first, so that a store of what was just loaded reads the load's buffer:
//!
//! 1. *Loads* get a buffer and an mbarrier. The barrier is told how many bytes will arrive, the copy is started, and
//!    every thread waits for phase 0. Users that store the block to shared memory in the same layout get the buffer;
//!    others read it.
//! 2. *Stores* and *reductions* write the block to a buffer; a fence orders that before the copy, and the copy is
//!    waited for.
//! 3. *Gathers* and *scatters* are loads and stores of rows by index.
//! 4. *Descriptors* that the kernel makes get 128 bytes of scratch memory ([`tensor_descriptors`]).
//!
//! ```text
//! %x = tt.descriptor_load %d[%i, %j]
//! → %s = ttg.local_alloc; %b = ttg.local_alloc; ttng.init_barrier %b, 1; ttng.barrier_expect %b, 16384, %true
//!   ttng.async_tma_copy_global_to_local %d[%i, %j] %s, %b, %true
//!   ttng.wait_barrier %b, %c0; ttng.inval_barrier %b; %x = ttg.local_load %s
//! ```

use super::tensor_descriptors::{self, Recipe};
use crate::diag::codes::passes as codes;
use crate::ir::core::{Builder, Ir, Op, Type, Value};
use crate::ir::dialects::classes::moved_tensor;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::verify::ttng_tma::combines;
use crate::ir::dialects::{ArithOp, Classes, TtOp, TtgOp, TtngOp};
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::layout::LayoutError;
use crate::layout::encodings::{DESCRIPTOR_BYTES, tma_bytes};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::{buffers, module_attrs};

pub static PASS: Pass = Pass {
    name: "triton-nvidia-tma-lowering",
    doc: "accesses through descriptors become copies by hardware",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let ops: Vec<Op> = ir
        .all_ops(module)
        .into_iter()
        .rev()
        .filter(|&op| ir.is(op, TtOp::MakeTensorDesc) || ir.kind(op).belongs(Classes::DESCRIPTOR_ACCESS))
        .collect();
    let mut failed = None;
    for &op in &ops {
        if ir.is(op, TtOp::DescriptorReduce)
            && let Err(why) = combines(ir, op)
        {
            failed = Some(cx.fail(&codes::PASS_FAILED, ir.loc(op), format!("`{}`: {why}", ir.op_name(op))));
        } else if let Err(e) = lower(ir, op) {
            failed = Some(cx.fail(&codes::PASS_FAILED, ir.loc(op), format!("`{}`: {e}", ir.op_name(op))));
        }
    }
    if let Some(failed) = failed {
        return Err(failed);
    }
    if !ops.is_empty() {
        rewrite_greedily(ir, module, &[], Config::default());
    }
    Ok(Changed::from(!ops.is_empty()))
}

fn lower(ir: &mut Ir, op: Op) -> Result<(), LayoutError> {
    match moved_tensor(ir, op) {
        Some(_) if ir.kind(op).is_load() => load(ir, op),
        Some(source) => store(ir, op, source),
        None => make(ir, op),
    }
}

/// Step 1.
fn load(ir: &mut Ir, op: Op) -> Result<(), LayoutError> {
    let result = ir.result(op);
    let ty = ir.ty(result);
    let layout = tensor_descriptors::block_layout(ir.ty(descriptor(ir, op)), ty)?;
    let memory = buffers::shared(ty.shape(), ty.elem(), layout, true);
    let bytes = tma_bytes(memory)?;
    let num_ctas = module_attrs::threads(ir).map_or(1, |t| t.num_ctas);
    let mut b = Builder::before(ir, op);
    let buffer = b.value(TtgOp::LocalAlloc, &[], memory);
    let barrier = b.value(TtgOp::LocalAlloc, &[], buffers::mbarriers(None, num_ctas));
    b.insert(ttng::InitBarrier::state(b.loc, barrier).with(ttng::InitBarrier::ATTR.count, 1));
    let always = b.int(1, Type::int(1));
    let expect = ttng::BarrierExpect::state(b.loc, barrier, always);
    b.insert(expect.with(ttng::BarrierExpect::ATTR.size, i64::from(bytes)));
    copy_in(&mut b, op, barrier, buffer, always);
    let phase = b.i32(0);
    b.insert(ttng::WaitBarrier::state(b.loc, barrier, phase, None, &[]));
    b.op(TtngOp::InvalBarrier, &[barrier], &[]);
    read(ir, op, result, buffer);
    ir.erase_op(op);
    Ok(())
}

/// Starts the copy of a load or gather to a buffer; gives the operations.
pub(super) fn copy_in(b: &mut Builder<'_>, op: Op, barrier: Value, buffer: Value, pred: Value) -> Vec<Op> {
    if let Some(gather) = tt::DescriptorGather::of(b.ir, op) {
        let (desc, column) = (gather.desc(b.ir), gather.y_offset(b.ir));
        let (rows, widening) = whole_rows(b, gather.x_offsets(b.ir));
        let copy = b.insert(ttng::AsyncTmaGather::state(b.loc, desc, rows, column, barrier, buffer, pred));
        return widening.into_iter().chain([copy]).collect();
    }
    let Some(load) = tt::DescriptorLoad::of(b.ir, op) else { return vec![] };
    let (desc, indices) = (load.desc(b.ir), load.indices(b.ir).to_vec());
    let (from, to) = (tt::DescriptorLoad::ATTR, ttng::AsyncTmaCopyGlobalToLocal::ATTR);
    let state = ttng::AsyncTmaCopyGlobalToLocal::state(b.loc, desc, &indices, &[], barrier, buffer, pred)
        .with_some(to.cache, b.ir.stored(op, from.cache))
        .with_some(to.evict, b.ir.stored(op, from.evict));
    vec![b.insert(state)]
}

/// Row numbers as i32.
fn whole_rows(b: &mut Builder<'_>, rows: Value) -> (Value, Option<Op>) {
    let ty = b.ir.ty(rows);
    if ty.elem().is_int_of(32) {
        return (rows, None);
    }
    let wide = b.op(ArithOp::Extsi, &[rows], &[ty.with_elem(Type::int(32))]);
    (b.ir.result(wide), Some(wide))
}

/// Users of a loaded block get its buffer, where they would have stored it alike; others a load.
fn read(ir: &mut Ir, op: Op, result: Value, buffer: Value) {
    let encoding = ir.ty(buffer).encoding();
    for u in ir.uses(result).to_vec() {
        if ir.is(u.op, TtgOp::LocalAlloc) && ir.ty(ir.result(u.op)).encoding() == encoding {
            let old = ir.result(u.op);
            buffers::replace(ir, old, buffer);
            ir.erase_op(u.op);
        }
    }
    if ir.has_uses(result) {
        let (ty, loc) = (ir.ty(result), ir.value_loc(result));
        let loaded = Builder::before(ir, op).result(ttg::LocalLoad::state(loc, buffer, None), ty);
        ir.replace_all_uses(result, loaded);
    }
}

/// Step 2; `source` is what is stored.
fn store(ir: &mut Ir, op: Op, source: Value) -> Result<(), LayoutError> {
    let ty = ir.ty(source);
    let layout = tensor_descriptors::block_layout(ir.ty(descriptor(ir, op)), ty)?;
    let memory = buffers::shared(ty.shape(), ty.elem(), layout, false);
    let mut b = Builder::before(ir, op);
    let buffer = b.value(TtgOp::LocalAlloc, &[source], memory);
    fence(&mut b);
    copy_out(&mut b, op, buffer);
    b.insert(ttng::TmaStoreWait::state(b.loc).with(ttng::TmaStoreWait::ATTR.pendings, 0));
    ir.erase_op(op);
    Ok(())
}

/// Starts the copy of a store, reduction or scatter from a buffer.
pub(super) fn copy_out(b: &mut Builder<'_>, op: Op, buffer: Value) {
    if let Some(scatter) = tt::DescriptorScatter::of(b.ir, op) {
        let (desc, column) = (scatter.desc(b.ir), scatter.y_offset(b.ir));
        let (rows, _) = whole_rows(b, scatter.x_offsets(b.ir));
        b.insert(ttng::AsyncTmaScatter::state(b.loc, desc, rows, column, buffer));
    } else if let Some(reduce) = tt::DescriptorReduce::of(b.ir, op) {
        let state = ttng::AsyncTmaReduce::state(b.loc, reduce.desc(b.ir), reduce.indices(b.ir), buffer);
        b.insert(state.with_some(ttng::AsyncTmaReduce::ATTR.kind, reduce.kind(b.ir)));
    } else if let Some(store) = tt::DescriptorStore::of(b.ir, op) {
        b.insert(ttng::AsyncTmaCopyLocalToGlobal::state(b.loc, store.desc(b.ir), store.indices(b.ir), buffer));
    }
}

/// The hardware sees what threads wrote to shared memory.
pub(super) fn fence(b: &mut Builder<'_>) -> Op {
    b.insert(ttng::FenceAsyncShared::state(b.loc).with(ttng::FenceAsyncShared::ATTR.bCluster, false))
}

/// The descriptor of an access through one.
pub(super) fn descriptor(ir: &Ir, access: Op) -> Value {
    ir.operands(access)[0]
}

/// Step 4.
fn make(ir: &mut Ir, op: Op) -> Result<(), LayoutError> {
    let recipe = Recipe::new(ir, op)?;
    let mut b = Builder::before(ir, op);
    let memory = scratch(&mut b, DESCRIPTOR_BYTES);
    let made = recipe.emit(&mut b, op, memory);
    if let Some(&last) = made.last() {
        let new = ir.result(last);
        ir.replace_op(op, &[new]);
    }
    Ok(())
}

/// Scratch memory for descriptors.
pub(super) fn scratch(b: &mut Builder<'_>, bytes: u32) -> Value {
    let keys = ttg::GlobalScratchAlloc::ATTR;
    let state = ttg::GlobalScratchAlloc::state(b.loc)
        .with(keys.nbytes, i64::from(bytes))
        .with(keys.alignment, i64::from(DESCRIPTOR_BYTES));
    b.result(state, Type::ptr(Type::int(8)))
}
