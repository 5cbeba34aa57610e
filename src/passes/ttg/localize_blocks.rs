//! `ttc-localize-blocks`: behind it, only `ttg.convert_layout` and `tt.reduce` move elements between the blocks of a
//! cluster.
//!
//! # Algorithm
//!
//! Code generation knows two ways from block to block, whose loads reach into the shared memory of other blocks: a
//! conversion, and a reduction of few partial results ([`exchange::reduce`] has a plan for it). Other operations whose
//! elements lie in several blocks are rewritten with conversions:
//!
//! 1. `tt.reduce` along an axis that blocks share, where there is no plan. The axis is seen as two, the blocks and what
//!    each of them holds. Each block reduces what it holds, a conversion gives the partial results to all, and a second
//!    reduction combines them.
//! 2. `tt.scan`, `tt.gather` and `tt.histogram`. Conversions give each block the whole axis (of a gather: of its
//!    source) before, and its share of the result behind.
//! 3. `ttg.local_alloc`, `ttg.local_store`, `ttg.local_load` and `ttg.async_copy_global_to_local` where the blocks of
//!    the tensor are not those of the memory: the tensor, or the pointers and masks, are converted.
//! 4. Calls are inlined first, those of `noinline` functions too: blocks wait for each other in a kernel.
//!
//! A module for one block is left as it is.
//!
//! # Example
//!
//! 1024 floats over two blocks are reduced to 2 partial results, seen as 2×512, of which each block holds one. Behind
//! the conversion both blocks hold both, and both compute the sum.

use crate::analysis::exchange;
use crate::ir::core::{Attr, Builder, Encoding, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::discardable::NOINLINE;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::encoding::questions::cga_of;
use crate::layout::plan::SharedAccess;
use crate::layout::{self, Dim, LinearLayout, layout_of};
use crate::passes::common::inline;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, target};
use crate::passes::ttg::infer;
use crate::passes::ttg::module_attrs::{self, Threads};
use crate::target::SharedMemory;

pub static PASS: Pass = Pass {
    name: "ttc-localize-blocks",
    doc: "let only layout conversions and reductions move elements between the blocks of a cluster",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    if threads.num_ctas == 1 {
        return Ok(Changed::No);
    }
    let memory = target(ir, cx)?.shared;
    let mut changed = false;
    for func in ir.functions() {
        if ir.get(func, NOINLINE) == Some(true) {
            ir.put(func, NOINLINE, false);
            changed = true;
        }
    }
    // Later it would undo conversions before operations that read any layout.
    changed |= inline::run(ir, cx)? == Changed::Yes;
    for op in ir.all_ops_post(ir.module()) {
        changed |= match ir.kind(op) {
            OpKind::Tt(TtOp::Reduce) => reduce(ir, tt::Reduce(op)),
            OpKind::Tt(TtOp::Scan) => scan(ir, tt::Scan(op)),
            OpKind::Tt(TtOp::Gather) => gather(ir, tt::Gather(op)),
            OpKind::Tt(TtOp::Histogram) => histogram(ir, op),
            OpKind::Ttg(TtgOp::LocalAlloc | TtgOp::LocalStore | TtgOp::LocalLoad | TtgOp::AsyncCopyGlobalToLocal) => {
                local(ir, op, threads, &memory)
            }
            _ => None,
        }
        .is_some();
    }
    Ok(Changed::from(changed))
}

/// An axis as operations state it.
fn axis_of(stated: Option<i64>) -> Option<usize> {
    usize::try_from(stated?).ok()
}

/// Whether blocks hold different elements along an axis, or along any where none is given.
fn is_shared(layout: &LinearLayout, axis: Option<usize>) -> bool {
    layout.bases(Dim::Block).iter().any(|b| moves(b, axis))
}

fn moves(basis: &[i32], axis: Option<usize>) -> bool {
    match axis {
        Some(axis) => basis.get(axis).is_some_and(|&c| c != 0),
        None => basis.iter().any(|&c| c != 0),
    }
}

/// The type with all elements along an axis in each block, or with all elements where none is given: what blocks held
/// apart, each thread holds in further registers.
fn gathered(ty: Type, axis: Option<usize>) -> Option<Type> {
    let mut bases = layout::bases_of(layout_of(ty).ok()?);
    for block in &mut bases.block {
        if moves(block, axis) {
            let zero = vec![0; block.len()];
            bases.register.push(std::mem::replace(block, zero));
        }
    }
    Some(ty.with_encoding(Some(Attr::encoding(Encoding::Linear(bases)))))
}

fn convert(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    if b.ir.ty(value) == ty { value } else { b.value(TtgOp::ConvertLayout, &[value], ty) }
}

/// Step 1.
fn reduce(ir: &mut Ir, reduce: tt::Reduce) -> Option<()> {
    let axis = axis_of(reduce.axis(ir))?;
    let sources = reduce.srcs(ir).to_vec();
    let ty = ir.ty(*sources.first()?);
    let layout = layout_of(ty).ok()?;
    if !is_shared(layout, Some(axis)) || exchange::reduce(ir, reduce.0, true).is_ok() {
        return None;
    }
    let parts = parts(layout, axis, ty.shape()[axis]);
    let mut b = Builder::before(ir, reduce.0);
    let inner: Vec<Value> = match parts {
        Some(parts) => {
            let mut shape = ty.shape().to_vec();
            shape[axis] /= parts;
            shape.insert(axis, parts);
            let encoding = infer::reshaped(ty.encoding()?, ty.shape(), &shape)?;
            let views: Vec<Value> = sources
                .iter()
                .map(|&source| {
                    let elem = b.ir.ty(source).elem();
                    b.result(tt::Reshape::state(b.loc, source), Type::tensor(&shape, elem, Some(encoding)))
                })
                .collect();
            let partial = reduced(&mut b, reduce, &views, axis + 1)?;
            partial
                .into_iter()
                .map(|part| {
                    let whole = gathered(b.ir.ty(part), Some(axis))?;
                    Some(convert(&mut b, part, whole))
                })
                .collect::<Option<_>>()?
        }
        None => whole(&mut b, &sources, Some(axis))?,
    };
    let results = reduced(&mut b, reduce, &inner, axis)?;
    finish(&mut b, reduce.0, &results);
    Some(())
}

/// How many blocks share an axis, where the highest bits of the coordinate tell them apart.
fn parts(layout: &LinearLayout, axis: usize, size: i64) -> Option<i64> {
    let blocks: Vec<Vec<i32>> = layout.bases(Dim::Block).into_iter().filter(|b| moves(b, Some(axis))).collect();
    let parts = 1i64 << blocks.len();
    let alone = |b: &Vec<i32>| b.iter().filter(|&&c| c != 0).count() == 1;
    let mut found: Vec<i64> = blocks.iter().map(|b| i64::from(b[axis])).collect();
    found.sort_unstable();
    let highest = (0..blocks.len()).map(|bit| (size / parts) << bit);
    (blocks.iter().all(alone) && found.into_iter().eq(highest)).then_some(parts)
}

/// A copy of a reduction with these operands and along this axis.
fn reduced(b: &mut Builder<'_>, reduce: tt::Reduce, sources: &[Value], axis: usize) -> Option<Vec<Value>> {
    let copy = b.ir.clone_op(reduce.0, &mut Mapping::default());
    b.place(copy);
    b.ir.set_operands(copy, sources);
    b.ir.put(copy, tt::Reduce::ATTR.axis, axis as i64);
    let encoding = b.ir.ty(*sources.first()?).encoding()?;
    let mut shape = b.ir.ty(*sources.first()?).shape().to_vec();
    shape.remove(axis);
    let results = b.ir.results(copy).to_vec();
    for (&result, &source) in results.iter().zip(sources) {
        let elem = b.ir.ty(source).elem();
        let ty =
            if shape.is_empty() { elem } else { Type::tensor(&shape, elem, Some(infer::slice(axis as u32, encoding))) };
        b.ir.set_type(result, ty);
    }
    Some(results)
}

/// The values with all elements along an axis in each block.
fn whole(b: &mut Builder<'_>, values: &[Value], axis: Option<usize>) -> Option<Vec<Value>> {
    let types = values.iter().map(|&v| gathered(b.ir.ty(v), axis)).collect::<Option<Vec<_>>>()?;
    Some(values.iter().zip(types).map(|(&v, ty)| convert(b, v, ty)).collect())
}

/// Puts these values, in the layouts of the results, in place of an operation.
fn finish(b: &mut Builder<'_>, op: Op, values: &[Value]) {
    let types: Vec<Type> = b.ir.results(op).iter().map(|&r| b.ir.ty(r)).collect();
    let converted: Vec<Value> = values.iter().zip(types).map(|(&v, ty)| convert(b, v, ty)).collect();
    b.ir.replace_op(op, &converted);
}

/// A copy of an operation with other operands, whose results have `encoding`.
fn again(b: &mut Builder<'_>, op: Op, operands: &[Value], encoding: Attr) -> Vec<Value> {
    let copy = b.ir.clone_op(op, &mut Mapping::default());
    b.place(copy);
    b.ir.set_operands(copy, operands);
    let results = b.ir.results(copy).to_vec();
    for &result in &results {
        let ty = b.ir.ty(result).with_encoding(Some(encoding));
        b.ir.set_type(result, ty);
    }
    results
}

/// Step 2, for scans.
fn scan(ir: &mut Ir, scan: tt::Scan) -> Option<()> {
    let axis = axis_of(scan.axis(ir))?;
    let sources = scan.srcs(ir).to_vec();
    if !is_shared(layout_of(ir.ty(*sources.first()?)).ok()?, Some(axis)) {
        return None;
    }
    let mut b = Builder::before(ir, scan.0);
    let sources = whole(&mut b, &sources, Some(axis))?;
    let encoding = b.ir.ty(sources[0]).encoding()?;
    let results = again(&mut b, scan.0, &sources, encoding);
    finish(&mut b, scan.0, &results);
    Some(())
}

/// Step 2, for gathers: each block has the source's whole axis, and off the axis what its indices need.
fn gather(ir: &mut Ir, gather: tt::Gather) -> Option<()> {
    let axis = axis_of(gather.axis(ir))?;
    let (source, indices) = (gather.src(ir), gather.indices(ir));
    let (from, by) = (layout_of(ir.ty(source)).ok()?, layout_of(ir.ty(indices)).ok()?);
    let off_axis = |mut basis: Vec<i32>| {
        if let Some(c) = basis.get_mut(axis) {
            *c = 0;
        }
        basis
    };
    let beside = |l: &LinearLayout| l.bases(Dim::Block).into_iter().map(off_axis).collect::<Vec<_>>();
    if !is_shared(from, Some(axis)) && beside(from) == beside(by) {
        return None;
    }
    // Where both are apart off the axis, each block gets all.
    let all = beside(from) != beside(by);
    let mut b = Builder::before(ir, gather.0);
    let source = whole(&mut b, &[source], if all { None } else { Some(axis) })?[0];
    let indices = if all { whole(&mut b, &[indices], None)?[0] } else { indices };
    let encoding = b.ir.ty(indices).encoding()?;
    let results = again(&mut b, gather.0, &[source, indices], encoding);
    finish(&mut b, gather.0, &results);
    Some(())
}

/// Step 2, for histograms: each block counts everything.
fn histogram(ir: &mut Ir, op: Op) -> Option<()> {
    let operands = ir.operands(op).to_vec();
    if !is_shared(layout_of(ir.ty(*operands.first()?)).ok()?, None) {
        return None;
    }
    let mut b = Builder::before(ir, op);
    let operands = whole(&mut b, &operands, None)?;
    b.ir.set_operands(op, &operands);
    Some(())
}

/// Step 3.
fn local(ir: &mut Ir, op: Op, threads: Threads, memory: &SharedMemory) -> Option<()> {
    let load = ir.is(op, TtgOp::LocalLoad);
    let (tensor, descriptor) = match () {
        () if load => (ir.result(op), ttg::LocalLoad(op).src(ir)),
        () if ir.is(op, TtgOp::LocalStore) => (ttg::LocalStore(op).src(ir), ttg::LocalStore(op).dst(ir)),
        () if ir.is(op, TtgOp::AsyncCopyGlobalToLocal) => {
            (ttg::AsyncCopyGlobalToLocal(op).src(ir), ttg::AsyncCopyGlobalToLocal(op).result(ir))
        }
        () => (*ir.operands(op).first()?, ir.result(op)),
    };
    let (ty, stored) = (ir.ty(tensor), ir.ty(descriptor));
    let fits = |ty: Type| {
        let (Ok(registers), Ok(shared)) = (layout_of(ty), layout_of(stored)) else { return true };
        SharedAccess::new(registers, shared, 32, 0, memory).is_ok_and(|access| load || access.fills_blocks())
    };
    if fits(ty) {
        return None;
    }
    let rank = ty.rank();
    let order: Vec<u32> = (0..rank as u32).rev().collect();
    let (size, order) = match ty.layout() {
        Some(Encoding::Blocked(e)) => (e.size_per_thread.clone(), e.order.clone()),
        _ => (vec![1; rank], order),
    };
    let cga = cga_of(stored);
    let encoding = layout::blocked_in_cga(ty.shape(), &size, &order, threads.num_warps, threads.threads_per_warp, &cga);
    let own = ty.with_encoding(Some(Attr::encoding(encoding)));
    if !fits(own) {
        return None;
    }
    if load {
        let mut b = Builder::before(ir, op);
        let operands = b.ir.operands(op).to_vec();
        let results = again(&mut b, op, &operands, own.encoding()?);
        finish(&mut b, op, &results);
    } else {
        // A mask and what stands for masked elements are laid out as the pointers are.
        let mut b = Builder::before(ir, op);
        let operands = b.ir.operands(op).to_vec();
        let converted: Vec<Value> = operands
            .into_iter()
            .map(|v| {
                let ty = b.ir.ty(v);
                if ty.is_tensor() { convert(&mut b, v, ty.with_encoding(own.encoding())) } else { v }
            })
            .collect();
        b.ir.set_operands(op, &converted);
    }
    Some(())
}
