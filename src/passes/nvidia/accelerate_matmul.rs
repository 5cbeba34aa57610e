//! `tritongpu-accelerate-matmul`: gives matrix products the layouts of tensor-core instructions.
//!
//! # Algorithm
//!
//! Of each `tt.dot` whose result has no tensor-core layout yet, and each `tt.dot_scaled`, which becomes one first
//! ([`decompose_scaled`]), from the last to the first:
//!
//! 1. Choose the instruction: `wgmma` (version 3) on sm_90a for whole warp groups, M a multiple of 64, N of 8 and
//!    operand types that it takes; else `mma.sync` (version 2); else none, and threads multiply (f32 at full precision,
//!    f64 beside sm_80 and sm_90).
//! 2. Choose how warps tile the result. Products that feed one another split along one axis only, so that what follows
//!    stays within a warp; else the tiles are as square as possible. The last product of a chain decides for all of it:
//!    its result lives longest.
//! 3. Version 3 reads both operands from shared memory (`ttg.local_alloc`), or A from registers where it is computed.
//!    Version 2 reads registers; `kWidth` is chosen for the narrowest type on the way from memory, so that widening
//!    needs no exchange.
//! 4. The accumulator is converted to the new layout and the result back; later passes remove what is not needed.
//!
//! Last, operands that the chosen instruction does not take are widened: fp8 to fp16 where the GPU has no fp8
//! `mma.sync`, and to the result's type where threads multiply.
//!
//! ```text
//! %d = tt.dot %a, %b, %c : … -> tensor<128x128xf32, #blocked>
//! → %sa = ttg.local_alloc %a; %sb = ttg.local_alloc %b; %acc = ttg.convert_layout %c
//!   %d = ttng.warp_group_dot %sa, %sb, %acc : … -> tensor<128x128xf32, #mma>
//! ```

mod chains;
mod choose;

use chains::Chains;
use choose::Multiplier;

use crate::diag::codes::passes as codes;
use crate::ir::core::encoding::NvidiaMma;
use crate::ir::core::{Attr, Builder, Encoding, InsertPoint, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{ArithOp, TtOp, TtgOp};
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::nvidia::shared_encodings::nvmma;
use crate::passes::ttg::shared_encodings::buffer;
use crate::passes::ttg::{decompose_scaled, module_attrs};
use crate::target::Target;

pub static PASS: Pass = Pass {
    name: "tritongpu-accelerate-matmul",
    doc: "give matrix products the layouts of tensor-core instructions",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: WGMMA,
        kind: OptionKind::Bool,
        default: "true",
        doc: "use `wgmma` where the target has it",
    }],
    run,
};

/// The option that keeps `wgmma` out, for sm_90 without `a`.
pub const WGMMA: &str = "wgmma";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let Some(target) = module_attrs::target(ir) else { return Ok(Changed::No) };
    let mut changed = false;
    let products = products(ir);
    let mut chains = Chains::new(ir, &products);
    for (number, op) in products.into_iter().enumerate().rev() {
        let op = if ir.is(op, TtOp::DotScaled) {
            if let Some(ty) = decompose_scaled::wide_scale(ir, op) {
                let text = format!(
                    "scales of type {} do not fit into the 16 bits of the product's factors: scale with bytes (e8m0), with \
                     floats of 8 or 16 bits, or scale the result",
                    ty.elem()
                );
                return Err(cx.fail(&codes::PASS_FAILED, ir.loc(op), text));
            }
            let Some(dot) = decompose_scaled::decompose(ir, op) else { continue };
            changed = true;
            dot
        } else {
            op
        };
        let Multiplier { mma, refused } = choose::multiplier(ir, (number, op), &mut chains, &target, cx.flag(WGMMA));
        if refused {
            let text = format!("no `wgmma` on {target} for these shapes and types; a slower instruction multiplies");
            cx.remark(&codes::SLOWER_DOT, ir.loc(op), text);
        }
        if let Some(mma) = mma {
            let product = accelerate(ir, op, mma, &mut chains);
            chains.settle(ir, number, product);
            changed = true;
        }
    }
    // Conversions that nobody reads any more go, and constants meet.
    changed |= rewrite_greedily(ir, module, &[], Config::default());
    for op in dots(ir) {
        changed |= widen(ir, op, &target);
    }
    Ok(Changed::from(changed))
}

fn products(ir: &Ir) -> Vec<Op> {
    ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, TtOp::Dot) || ir.is(op, TtOp::DotScaled)).collect()
}

fn dots(ir: &Ir) -> Vec<Op> {
    ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, TtOp::Dot)).collect()
}

/// Steps 3 and 4. Returns the new product.
fn accelerate(ir: &mut Ir, op: Op, mma: NvidiaMma, chains: &mut Chains) -> Op {
    let dot = tt::Dot(op);
    let (a, b, c) = (dot.a(ir), dot.b(ir), dot.c(ir));
    let old = ir.ty(ir.result(op));
    let encoding = Attr::encoding(Encoding::NvidiaMma(mma.clone()));
    let ty = old.with_encoding(Some(encoding));
    let accumulator = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[c], ty);
    let new = if mma.version_major == 3 {
        let transposes = matches!(ir.ty(a).elem().bit_width(), Some(16));
        let a = if choose::comes_from_load(ir, a) {
            in_shared(ir, a, 0, transposes)
        } else {
            let bits = ir.ty(a).elem().bit_width().unwrap_or(32);
            in_registers(ir, op, a, 0, bits, encoding)
        };
        let b = in_shared(ir, b, 1, transposes);
        ttng::WarpGroupDot::state(ir.loc(op), a, b, accumulator, None)
    } else {
        let bits = chains.loaded_bits(ir, a).min(chains.loaded_bits(ir, b));
        let a = in_registers(ir, op, a, 0, bits, encoding);
        let b = in_registers(ir, op, b, 1, bits, encoding);
        tt::Dot::state(ir.loc(op), a, b, accumulator)
    };
    let new = new.attrs(ir.attrs(op));
    let value = Builder::before(ir, op).result(new, ty);
    let back = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], old);
    ir.replace_op(op, &[back]);
    ir.def_op(value).unwrap_or(op)
}

/// An operand in the registers of the instruction.
fn in_registers(ir: &mut Ir, op: Op, value: Value, index: u32, bits: u32, parent: Attr) -> Value {
    let encoding = Encoding::DotOp { op_idx: index, parent, k_width: (32 / bits.max(1)).max(1) };
    let ty = ir.ty(value).with_encoding(Some(Attr::encoding(encoding)));
    let state = ttg::ConvertLayout::state(ir.value_loc(value), value);
    Builder::before(ir, op).result(state, ty)
}

/// An operand in shared memory, stored right behind its definition. Where the instruction cannot transpose, K is the
/// fastest axis.
fn in_shared(ir: &mut Ir, value: Value, index: usize, transposes: bool) -> Value {
    let mut source = value;
    while let Some(convert) = ttg::ConvertLayout::defining(ir, source) {
        source = convert.src(ir);
    }
    if let Some(shared) = as_blocks_read(ir.ty(value), ir.ty(source)) {
        let state = ttg::ConvertLayout::state(ir.value_loc(source), source);
        source = behind(ir, source).result(state, shared);
    }
    let ty = ir.ty(source);
    let Some(encoding) = ty.encoding() else { return value };
    let mut order = layout::order_for_memory(encoding, ty.shape());
    if !transposes {
        order = if index == 1 { vec![0, 1] } else { vec![1, 0] };
    }
    let memory = buffer(ty, nvmma(ty, &order), false);
    let state = ttg::LocalAlloc::state(ir.value_loc(source), Some(source));
    behind(ir, source).result(state, memory)
}

/// The type of an operand's source where the blocks of a cluster share it as the product reads it; `None` where they do
/// already.
fn as_blocks_read(operand: Type, source: Type) -> Option<Type> {
    let cga = |ty: Type| layout::cga_of_layout(layout::layout_of(ty).ok()?);
    let (wanted, found) = (cga(operand)?, cga(source)?);
    if wanted == found {
        return None;
    }
    Some(source.with_encoding(Some(layout::with_cga(source.shape(), source.encoding()?, &wanted)?)))
}

/// A builder right behind a value's definition.
fn behind(ir: &mut Ir, value: Value) -> Builder<'_> {
    let loc = ir.value_loc(value);
    let point = match ir.def(value) {
        ValueDef::Result { op, .. } => InsertPoint::After(op),
        ValueDef::Arg { block, .. } => InsertPoint::Start(block),
    };
    Builder::new(ir, point, loc)
}

/// Widens operands that the chosen instruction does not take.
fn widen(ir: &mut Ir, op: Op, target: &Target) -> bool {
    let dot = tt::Dot(op);
    let (a, result) = (ir.ty(dot.a(ir)).elem(), ir.ty(dot.d(ir)));
    let wide = match result.layout() {
        Some(Encoding::NvidiaMma(mma)) => {
            let native = target.has_fast_fp8_mma() || mma.version_major == 3;
            if !choose::is_fp8(a) || native {
                return false;
            }
            Type::float(crate::ir::core::FloatKind::F16)
        }
        _ if a == result.elem() => return false,
        _ => result.elem(),
    };
    for (value, slot) in [(dot.a(ir), tt::Dot::SLOT.a), (dot.b(ir), tt::Dot::SLOT.b)] {
        let ty = ir.ty(value).with_elem(wide);
        let mut b = Builder::before(ir, op);
        let new = if choose::is_fp8(a) {
            b.value(TtOp::FpToFp, &[value], ty)
        } else if a.is_int() {
            b.value(ArithOp::Extsi, &[value], ty)
        } else {
            b.value(ArithOp::Extf, &[value], ty)
        };
        ir.put_operands(op, slot, &[new]);
    }
    true
}
