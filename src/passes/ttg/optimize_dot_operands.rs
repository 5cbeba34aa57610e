//! `tritongpu-optimize-dot-operands`: transposed and reshaped operands of matrix products are read from shared memory
//! as they lie there.
//!
//! # Algorithm
//!
//! Canonicalize; then, until nothing changes:
//!
//! 1. `convert_layout(trans x)` to a dot operand with one user stores `x` swizzled for the transposed read, and loads
//!    the transposed view.
//! 2. An operand of `wgmma` that stores a transposed tensor stores the tensor and takes the transposed view: the
//!    instruction reads both ways.
//! 3. One that stores a reshaped tensor stores the tensor and takes the reshaped view, where that is an encoding that
//!    the instruction reads.

use crate::ir::core::{Attr, Encoding, InsertPoint, Ir, MemDesc, Op, OpState, Type, TypeData};
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use crate::layout;
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::shared_encodings::{buffer, reshaped_nvmma, swizzled_for_dot, transposed};

pub static PASS: Pass = Pass {
    name: "tritongpu-optimize-dot-operands",
    doc: "read transposed and reshaped operands of matrix products from shared memory as they are",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: "hoist-layout-conversion",
        kind: OptionKind::Bool,
        default: "true",
        doc: "accepted as Triton does; conversions are hoisted by tritongpu-remove-layout-conversions",
    }],
    run,
};

static PATTERNS: &[&Pattern] = &[
    &Pattern::new("convert(trans x) -> local_load(trans(local_alloc x))", OpKind::Ttg(TtgOp::ConvertLayout), swizzle),
    &Pattern::new("local_alloc(trans x) -> trans(local_alloc x)", OpKind::Ttg(TtgOp::LocalAlloc), fuse_transposition),
    &Pattern::new("local_alloc(reshape x) -> reshape(local_alloc x)", OpKind::Ttg(TtgOp::LocalAlloc), fuse_reshape),
];

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let first = (canonicalize::PASS.run)(ir, cx)?;
    let module = ir.module();
    let patterns: Vec<&'static Pattern> = PATTERNS.iter().chain(canonicalize::ttg::PATTERNS).copied().collect();
    let second = rewrite_greedily(ir, module, &patterns, Config::default());
    Ok(Changed::from(first == Changed::Yes || second))
}

const SWAP: [i64; 2] = [1, 0];

/// The transposition of two axes that makes `value`, if it is one.
fn transposition(rw: &Rewriter<'_>, op: Op) -> Option<Op> {
    let def = rw.ir.def_op(*rw.ir.operands(op).first()?)?;
    let swaps =
        rw.ir.is(def, TtOp::Trans) && rw.ir.attr(def, "order").and_then(Attr::as_dense_array) == Some(&SWAP[..]);
    swaps.then_some(def)
}

fn order_attr() -> Attr {
    Attr::i32_array(&SWAP)
}

/// A buffer's type with another shape and encoding.
fn reseen(ty: &MemDesc, shape: &[i64], encoding: Attr) -> Type {
    Type::new(TypeData::MemDesc(MemDesc { shape: shape.to_vec(), alloc_shape: shape.to_vec(), encoding, ..ty.clone() }))
}

/// Step 1.
fn swizzle(rw: &mut Rewriter<'_>, op: Op) -> bool {
    swizzled(rw, op).is_some()
}

fn swizzled(rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let result = rw.ir.result(op);
    let feeds_dot = rw.ir.has_one_use(result) && rw.ir.users(result).iter().all(|&u| rw.ir.is(u, TtOp::Dot));
    let ty = rw.ir.ty(result);
    let operand = ty.layout().filter(|e| feeds_dot && matches!(e, Encoding::DotOp { .. }))?;
    let trans = transposition(rw, op)?;
    let source = rw.ir.operand(trans, 0);
    // What the source had before a conversion decides the order.
    let inner =
        rw.ir.def_op(source).filter(|&d| rw.ir.is(d, TtgOp::ConvertLayout)).map_or(source, |d| rw.ir.operand(d, 0));
    let from = rw.ir.ty(inner);
    let order = layout::order_for_memory(from.encoding()?, from.shape());
    let memory = buffer(from, swizzled_for_dot(from, operand, &order, true)?, false);
    let desc = memory.as_memdesc()?;
    let view = reseen(desc, ty.shape(), transposed(desc.encoding, &desc.shape, &[1, 0])?);
    let loc = rw.ir.loc(trans);
    rw.at = InsertPoint::Before(trans);
    let alloc = rw.value(TtgOp::LocalAlloc, loc, &[source], memory);
    let state = OpState::new(TtgOp::MemDescTrans, loc).operands(&[alloc]).results(&[view]).attr("order", order_attr());
    let seen = rw.insert(state);
    let seen = rw.ir.result(seen);
    let loaded = rw.value(TtgOp::LocalLoad, loc, &[seen], ty);
    rw.set_operand(op, 0, loaded);
    Some(())
}

/// Whether the only user of an allocation is a matrix product that reads shared memory.
fn feeds_wgmma(rw: &Rewriter<'_>, alloc: Op) -> bool {
    let result = rw.ir.result(alloc);
    rw.ir.has_one_use(result) && rw.ir.users(result).iter().all(|&u| rw.ir.kind(u).is_product())
}

/// Step 2.
fn fuse_transposition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ty = rw.ir.ty(rw.ir.result(op));
    let (Some(trans), Some(desc)) = (transposition(rw, op).filter(|_| feeds_wgmma(rw, op)), ty.as_memdesc()) else {
        return false;
    };
    if !matches!(desc.encoding.as_encoding(), Some(Encoding::NvmmaShared(_))) {
        return false;
    }
    let source = rw.ir.operand(trans, 0);
    let Some(encoding) = transposed(desc.encoding, &desc.shape, &[1, 0]) else { return false };
    let inner = reseen(desc, rw.ir.ty(source).shape(), encoding);
    if !is_transposed_view(inner, ty) {
        return false;
    }
    rw.at = InsertPoint::Before(op);
    let alloc = rw.value(TtgOp::LocalAlloc, rw.ir.loc(op), &[source], inner);
    rw.replace_with_attrs(op, TtgOp::MemDescTrans, &[alloc], &[("order", order_attr())]);
    true
}

/// Whether the elements of `view` are where those of `source` are, with the axes exchanged. An axis longer than a TMA
/// box (256 elements) is laid out box after box in the order of the axes, and then they are not.
fn is_transposed_view(source: Type, view: Type) -> bool {
    match (layout::layout_of(source), layout::layout_of(view)) {
        (Ok(from), Ok(to)) => to.same_map(&from.permute_axes(&[1, 0])),
        _ => false,
    }
}

/// Step 3.
fn fuse_reshape(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let ty = rw.ir.ty(rw.ir.result(op));
    let source = rw.ir.operands(op).first().and_then(|&v| rw.ir.def_op(v)).filter(|&d| rw.ir.is(d, TtOp::Reshape));
    let (Some(reshape), Some(desc)) = (source, ty.as_memdesc()) else { return false };
    let from = rw.ir.operand(reshape, 0);
    let shape = rw.ir.ty(from).shape();
    let Some(encoding) = reshaped_nvmma(desc.encoding, &desc.shape, shape) else { return false };
    let inner = reseen(desc, shape, encoding);
    rw.at = InsertPoint::Before(op);
    let alloc = rw.value(TtgOp::LocalAlloc, rw.ir.loc(op), &[from], inner);
    rw.replace_with(op, TtgOp::MemDescReshape, &[alloc]);
    true
}
