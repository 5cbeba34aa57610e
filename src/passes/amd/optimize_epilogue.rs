//! `tritonamdgpu-optimize-epilogue`: what a product computed is stored as it lies in registers.
//!
//! A lane of AMD's matrix instructions holds neighbours in a row ([`super::accelerate_matmul`]), so a store in the
//! instruction's own layout is wide enough, and exchanging the result through shared memory costs more than it brings.
//!
//! # Algorithm
//!
//! 1. Of each `tt.store` of a blocked tensor, go up through elementwise operations with one operand and one user to a
//!    `ttg.convert_layout` of a matrix instruction's result.
//! 2. These operations compute in that layout instead; pointer and mask are converted to it, which costs nothing where
//!    they are computed from numbers alone.
//! 3. On CDNA4, 16-bit results are exchanged between pairs of lanes first, so that each stores 8 elements at once: the
//!    conversion is two `v_permlane_swap` an element.
//!
//! ```text
//! %h = arith.truncf (ttg.convert_layout %mma); tt.store %p, %h
//! → %h = arith.truncf %mma; %q = ttg.convert_layout %p; tt.store %q, %h
//! ```

use crate::ir::core::encoding::{AmdMfma, LinearBases};
use crate::ir::core::{Attr, Builder, Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::tt::tt::{ExternElementwise, Store};
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::ir::dialects::{ArithOp, OpKind, TtOp, TtgOp};
use crate::ir::encoding::questions::is_matrix_result;
use crate::layout::{self, Dim};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-optimize-epilogue",
    doc: "store results of products in the layout that they are computed in",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let stores: Vec<Store> = ir.all_ops(ir.module()).into_iter().filter_map(|op| Store::of(ir, op)).collect();
    let mut changed = false;
    for store in stores {
        if let Some((convert, chain)) = path(ir, store) {
            bypass(ir, store, convert, &chain);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

fn is_blocked(ty: Type) -> bool {
    matches!(ty.layout(), Some(Encoding::Blocked(_)))
}

/// Step 1: the conversion, and the operations between it and the store, from the store up.
fn path(ir: &Ir, store: Store) -> Option<(ConvertLayout, Vec<Op>)> {
    if !is_blocked(ir.ty(store.ptr(ir))) || !is_blocked(ir.ty(store.value(ir))) {
        return None;
    }
    let mut value = store.value(ir);
    let mut chain = vec![];
    loop {
        let op = ir.def_op(value)?;
        if let Some(convert) = ConvertLayout::of(ir, op) {
            let from_product = ir.ty(convert.src(ir)).layout().is_some_and(is_matrix_result);
            return (from_product && ir.has_one_use(value)).then_some((convert, chain));
        }
        if !ir.has_one_use(value) || !is_unary(ir, op) {
            return None;
        }
        chain.push(op);
        value = ir.operand(op, 0);
    }
}

/// Elementwise operations with one operand.
fn is_unary(ir: &Ir, op: Op) -> bool {
    if ir.operands(op).len() != 1 || ir.results(op).len() != 1 {
        return false;
    }
    match ir.kind(op) {
        OpKind::Arith(kind) => matches!(
            kind,
            ArithOp::Extf
                | ArithOp::Extsi
                | ArithOp::Extui
                | ArithOp::Fptosi
                | ArithOp::Fptoui
                | ArithOp::Negf
                | ArithOp::Sitofp
                | ArithOp::Truncf
                | ArithOp::Trunci
                | ArithOp::Uitofp
        ),
        OpKind::Math(_) => true,
        OpKind::Tt(TtOp::IntToPtr | TtOp::PtrToInt | TtOp::Bitcast | TtOp::FpToFp) => true,
        _ => ExternElementwise::of(ir, op).is_some_and(|call| call.r#pure(ir)),
    }
}

/// Steps 2 and 3.
fn bypass(ir: &mut Ir, store: Store, convert: ConvertLayout, chain: &[Op]) {
    let source = convert.src(ir);
    let encoding = ir.ty(source).encoding();
    let mut value = source;
    let ptr = converted(ir, store.0, store.ptr(ir), encoding);
    for &op in chain.iter().rev() {
        ir.set_operand(op, 0, value);
        value = ir.result(op);
        let ty = ir.ty(value).with_encoding(encoding);
        ir.set_type(value, ty);
    }
    let mask = store.mask(ir).map(|mask| converted(ir, store.0, mask, encoding));
    let mut parts = [Some(ptr), Some(value), mask];
    if let Some(wide) = wide_layout(ir.ty(value)) {
        parts = parts.map(|part| part.map(|v| converted(ir, store.0, v, Some(wide))));
    }
    let state = ir.attrs(store.0).to_vec();
    let [Some(ptr), Some(value), mask] = parts else { return };
    let mut b = Builder::before(ir, store.0);
    let state = Store::state(b.loc, ptr, value, mask).attrs(&state);
    b.insert(state);
    ir.erase_op(store.0);
    if !ir.has_uses(convert.result(ir)) {
        ir.erase_op(convert.0);
    }
}

fn converted(ir: &mut Ir, at: Op, value: Value, encoding: Option<Attr>) -> Value {
    let ty = ir.ty(value).with_encoding(encoding);
    let loc = ir.value_loc(value);
    let mut b = Builder::before(ir, at);
    b.loc = loc;
    b.value(TtgOp::ConvertLayout, &[value], ty)
}

/// The layout of step 3 for a result of 16 bits: two bits of the column change places, so that the four neighbours of a
/// lane and those of the lane next to it become eight of one lane. With 32×32 these are the bits for 4 and 8; with
/// 16×16 the tile beside belongs to it, and they are those for 4 and 16.
fn wide_layout(ty: Type) -> Option<Attr> {
    let Some(Encoding::AmdMfma(AmdMfma { version: 4, is_transposed: true, instr_shape, warps_per_cta, .. })) =
        ty.layout()
    else {
        return None;
    };
    if ty.rank() != 2 || !ty.elem().is_float() || ty.elem().bit_width() != Some(16) {
        return None;
    }
    let columns = ty.shape()[1];
    let other = match instr_shape[..2] {
        [32, 32] => 8,
        [16, 16] if columns >= 32 && warps_per_cta.last() == Some(&1) => 16,
        _ => return None,
    };
    let layout = layout::layout_of(ty).ok()?;
    let moved = |dim| {
        let mut bases = layout.bases(dim);
        for basis in &mut bases {
            basis[1] = match basis[1] {
                4 => other,
                column if column == other => 4,
                column => column,
            };
        }
        bases
    };
    Some(Attr::encoding(Encoding::Linear(LinearBases {
        register: moved(Dim::Register),
        lane: moved(Dim::Lane),
        warp: moved(Dim::Warp),
        block: moved(Dim::Block),
    })))
}
