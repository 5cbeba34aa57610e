//! `tritongpu-optimize-dot-operands`: transposed and reshaped operands of matrix products are read from shared memory
//! as they lie there.
//!
//! # Algorithm
//!
//! Canonicalize; then, until nothing changes:
//!
//! 1. A transposition in front of an operand in registers is done by the read ([`transposed_operands`]).
//! 2. An operand of `wgmma` that stores a transposed tensor stores the tensor and takes the transposed view: the
//!    instruction reads both ways.
//! 3. One that stores a reshaped tensor stores the tensor and takes the reshaped view, where that is an encoding that
//!    the instruction reads.

use crate::ir::core::{Attr, Encoding, InsertPoint, Ir, Op, Type};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{OpKind, TtgOp};
use crate::ir::rewrite::{Config, Pattern, Rewriter, rewrite_greedily};
use crate::layout;
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::nvidia::shared_encodings::reshaped_nvmma;
use crate::passes::ttg::shared_encodings::transposed;
use crate::passes::ttg::transposed_operands::{self, SWAP, reseen, transposition};

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
    &transposed_operands::PATTERN,
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
    let source = trans.src(rw.ir);
    let Some(encoding) = transposed(desc.encoding, &desc.shape, &[1, 0]) else { return false };
    let inner = reseen(desc, rw.ir.ty(source).shape(), encoding);
    if !is_transposed_view(inner, ty) {
        return false;
    }
    rw.at = InsertPoint::Before(op);
    let alloc = rw.value(TtgOp::LocalAlloc, rw.ir.loc(op), &[source], inner);
    let order = (ttg::MemDescTrans::ATTR.order.name(), Attr::i32_array(&SWAP));
    rw.replace_with_attrs(op, TtgOp::MemDescTrans, &[alloc], &[order]);
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
    let source = ttg::LocalAlloc(op).src(rw.ir).and_then(|v| tt::Reshape::defining(rw.ir, v));
    let (Some(reshape), Some(desc)) = (source, ty.as_memdesc()) else { return false };
    let from = reshape.src(rw.ir);
    let shape = rw.ir.ty(from).shape();
    let Some(encoding) = reshaped_nvmma(desc.encoding, &desc.shape, shape) else { return false };
    let inner = reseen(desc, shape, encoding);
    rw.at = InsertPoint::Before(op);
    let alloc = rw.value(TtgOp::LocalAlloc, rw.ir.loc(op), &[from], inner);
    rw.replace_with(op, TtgOp::MemDescReshape, &[alloc]);
    true
}
