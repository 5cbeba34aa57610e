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
use crate::ir::core::{Attr, Builder, Ir, Op, OpState, Type, Value};
use crate::ir::dialects::verify::ttng_tma::combines;
use crate::ir::dialects::{ArithOp, Classes, OpKind, TtOp, TtgOp, TtngOp};
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
    match ir.kind(op) {
        OpKind::Tt(TtOp::MakeTensorDesc) => make(ir, op),
        OpKind::Tt(TtOp::DescriptorLoad | TtOp::DescriptorGather) => load(ir, op),
        OpKind::Tt(TtOp::DescriptorStore | TtOp::DescriptorReduce) => store(ir, op, 1),
        _ => store(ir, op, 3),
    }
}

/// Step 1.
fn load(ir: &mut Ir, op: Op) -> Result<(), LayoutError> {
    let (desc, result) = (ir.operand(op, 0), ir.result(op));
    let ty = ir.ty(result);
    let memory = buffers::shared(ty.shape(), ty.elem(), tensor_descriptors::block_layout(ir.ty(desc), ty)?, true);
    let bytes = tma_bytes(memory)?;
    let num_ctas = module_attrs::threads(ir).map_or(1, |t| t.num_ctas);
    let mut b = Builder::before(ir, op);
    let buffer = b.value(TtgOp::LocalAlloc, &[], memory);
    let barrier = b.value(TtgOp::LocalAlloc, &[], buffers::mbarriers(None, num_ctas));
    let state = b.state(TtngOp::InitBarrier).operands(&[barrier]).attr("count", Attr::i32(1));
    b.insert(state);
    let always = b.int(1, Type::int(1));
    let state = b.state(TtngOp::BarrierExpect).operands(&[barrier, always]).attr("size", Attr::i32(i64::from(bytes)));
    b.insert(state);
    copy_in(&mut b, op, barrier, buffer, always);
    let phase = b.i32(0);
    let state = b
        .state(TtngOp::WaitBarrier)
        .operands(&[barrier, phase])
        .attr("operandSegmentSizes", Attr::i32_array(&[1, 1, 0, 0]));
    b.insert(state);
    b.op(TtngOp::InvalBarrier, &[barrier], &[]);
    read(ir, op, result, buffer);
    ir.erase_op(op);
    Ok(())
}

/// Starts the copy of a load or gather to a buffer; gives the operations.
pub(super) fn copy_in(b: &mut Builder<'_>, op: Op, barrier: Value, buffer: Value, pred: Value) -> Vec<Op> {
    let (desc, operands) = (b.ir.operand(op, 0), b.ir.operands(op).to_vec());
    if b.ir.is(op, TtOp::DescriptorGather) {
        let (rows, widening) = whole_rows(b, operands[1]);
        let copy = b.op(TtngOp::AsyncTmaGather, &[desc, rows, operands[2], barrier, buffer, pred], &[]);
        return widening.into_iter().chain([copy]).collect();
    }
    let all: Vec<Value> = operands.iter().copied().chain([barrier, buffer, pred]).collect();
    let sizes = [1, operands.len() as i64 - 1, 0, 1, 1, 1];
    let mut state =
        b.state(TtngOp::AsyncTmaCopyGlobalToLocal).operands(&all).attr("operandSegmentSizes", Attr::i32_array(&sizes));
    for name in ["cache", "evict"] {
        if let Some(value) = b.ir.stored_attr(op, name) {
            state = state.attr(name, value);
        }
    }
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
        let state = OpState::new(TtgOp::LocalLoad, loc).operands(&[buffer]).results(&[ty]);
        let loaded = Builder::before(ir, op).insert(state);
        let loaded = ir.result(loaded);
        ir.replace_all_uses(result, loaded);
    }
}

/// Step 2; `index` says which operand is stored.
fn store(ir: &mut Ir, op: Op, index: usize) -> Result<(), LayoutError> {
    let source = ir.operand(op, index);
    let (desc, ty) = (ir.ty(ir.operand(op, 0)), ir.ty(source));
    let memory = buffers::shared(ty.shape(), ty.elem(), tensor_descriptors::block_layout(desc, ty)?, false);
    let mut b = Builder::before(ir, op);
    let buffer = b.value(TtgOp::LocalAlloc, &[source], memory);
    let state = b.state(TtngOp::FenceAsyncShared).attr("bCluster", Attr::bool(false));
    b.insert(state);
    copy_out(&mut b, op, buffer);
    let state = b.state(TtngOp::TmaStoreWait).attr("pendings", Attr::i32(0));
    b.insert(state);
    ir.erase_op(op);
    Ok(())
}

/// Starts the copy of a store, reduction or scatter from a buffer.
pub(super) fn copy_out(b: &mut Builder<'_>, op: Op, buffer: Value) {
    let operands = b.ir.operands(op).to_vec();
    if b.ir.is(op, TtOp::DescriptorScatter) {
        let (rows, _) = whole_rows(b, operands[1]);
        b.op(TtngOp::AsyncTmaScatter, &[operands[0], rows, operands[2], buffer], &[]);
        return;
    }
    let all: Vec<Value> = operands[..1].iter().chain(&operands[2..]).copied().chain([buffer]).collect();
    let state = match b.ir.stored_attr(op, "kind").filter(|_| b.ir.is(op, TtOp::DescriptorReduce)) {
        Some(kind) => b.state(TtngOp::AsyncTmaReduce).attr("kind", kind),
        None => b.state(TtngOp::AsyncTmaCopyLocalToGlobal),
    };
    b.insert(state.operands(&all));
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
    let attrs = [("nbytes", Attr::i32(i64::from(bytes))), ("alignment", Attr::i32(i64::from(DESCRIPTOR_BYTES)))];
    b.value_with(TtgOp::GlobalScratchAlloc, &[], Type::ptr(Type::int(8)), &attrs)
}
