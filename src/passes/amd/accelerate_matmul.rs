//! `tritonamdgpu-accelerate-matmul`: gives matrix products the layouts of AMD's matrix instructions.
//!
//! # Algorithm
//!
//! Of each `tt.dot` whose result is `blocked`, and each `tt.dot_scaled`, which becomes one first
//! ([`crate::passes::ttg::decompose_scaled`]) or, on CDNA4, uses the scaled instruction ([`scaled`]):
//!
//! 1. Choose the instruction ([`choose`]): `mfma` of 32×32, of 16×16 where the result is smaller, of 64×4 or 4×64 where
//!    one side is smaller still; `wmma` of 16×16. Its K must divide the operands'. CDNA4 takes the instruction that
//!    reads all floats of 8 bits where both operands have them: it is the fastest, and becomes a `tt.dot_scaled`
//!    without scales.
//! 2. Choose how warps tile the result ([`choose::warps`]).
//! 3. The result is held transposed, so that a lane's neighbours are adjacent in a row, and are stored together.
//! 4. A lane reads `kWidth` neighbours along K: as many as the instruction takes, times the option `kPack`. What
//!    another product computed keeps the width that it has as a result.
//! 5. The accumulator is converted to the new layout, and widened to f32, i32 or f64; the result goes back.
//!
//! Products that no instruction computes are left to threads ([`threads`]): operands and result get one type.
//!
//! ```text
//! %d = tt.dot %a, %b, %c : … -> tensor<128x128xf32, #blocked>
//! → %acc = ttg.convert_layout %c; %x = ttg.convert_layout %a; %y = ttg.convert_layout %b
//!   %r = tt.dot %x, %y, %acc : … -> tensor<128x128xf32, #mma>; %d = ttg.convert_layout %r
//! ```

mod choose;
mod scaled;
mod threads;

use choose::Chosen;

use super::chains::is_tail;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Builder, Encoding, FloatKind, Ir, Op, Type, Value};
use crate::ir::dialects::enums::{FpRounding, ScaledElem};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, TtOp, TtgOp};
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::{decompose_scaled, module_attrs};
use crate::target::{MatrixUnit, Target};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-accelerate-matmul",
    doc: "give matrix products the layouts of AMD's matrix instructions",
    input: Input::Ttgir,
    options: &[
        OptionSpec {
            name: INSTRUCTION_SIZE,
            kind: OptionKind::Int,
            default: "0",
            doc: "M and N of the `mfma` instructions: 16 or 32; 0 chooses",
        },
        OptionSpec {
            name: K_PACK,
            kind: OptionKind::Int,
            default: "1",
            doc: "how many instructions' elements a lane reads from shared memory at once: 1 or 2",
        },
    ],
    run,
};

/// The options. Triton's users know the first as `matrix_instr_nonkdim`.
pub const INSTRUCTION_SIZE: &str = "matrix-instruction-size";
pub const K_PACK: &str = "kPack";

/// What the options ask for.
#[derive(Clone, Copy)]
struct Wishes {
    size: u32,
    k_pack: u32,
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let Some((target, unit)) = module_attrs::target(ir).and_then(|t| Some((t, t.matrix_unit()?))) else {
        return Ok(Changed::No);
    };
    let wishes = wishes(ir, cx)?;
    let mut changed = false;
    for op in products(ir) {
        let mut op = op;
        if ir.is(op, TtOp::DotScaled) {
            if !is_blocked(ir, op) || scaled::accelerate(ir, op, unit, wishes.size) {
                changed = true;
                continue;
            }
            if let Some(ty) = decompose_scaled::wide_scale(ir, op) {
                let text = format!(
                    "scales of type {} do not fit into the 16 bits of the product's factors: scale with bytes (e8m0)",
                    ty.elem()
                );
                return Err(cx.fail(&codes::PASS_FAILED, ir.loc(op), text));
            }
            let Some(dot) = decompose_scaled::decompose(ir, op) else { continue };
            changed = true;
            op = dot;
        }
        if !is_blocked(ir, op) {
            continue;
        }
        if let Some(chosen) = choose::instruction(ir, op, unit, wishes.size) {
            accelerate(ir, op, unit, &chosen, wishes.k_pack);
            changed = true;
        } else {
            let text = format!("no matrix instruction of {target} computes this product; threads multiply");
            cx.remark(&codes::SLOWER_DOT, ir.loc(op), text);
        }
    }
    changed |= rewrite_greedily(ir, module, &[], Config::default());
    changed |= legalize(ir, &target);
    Ok(Changed::from(changed))
}

fn wishes(ir: &Ir, cx: &mut PassCx) -> Result<Wishes, Failed> {
    let (size, k_pack) = (cx.int(INSTRUCTION_SIZE), cx.int(K_PACK));
    let found = [(size, &[0, 16, 32][..], INSTRUCTION_SIZE), (k_pack, &[1, 2][..], K_PACK)];
    if let Some((value, allowed, name)) = found.into_iter().find(|(value, allowed, _)| !allowed.contains(value)) {
        let text = format!("`{name}` is one of {allowed:?}, found {value}");
        return Err(cx.fail(&codes::PASS_FAILED, ir.loc(ir.module()), text));
    }
    Ok(Wishes { size: u32::try_from(size).unwrap_or(0), k_pack: u32::try_from(k_pack).unwrap_or(1) })
}

fn products(ir: &Ir) -> Vec<Op> {
    ir.all_ops(ir.module()).into_iter().filter(|&op| super::chains::is_dot(ir, op)).collect()
}

fn is_blocked(ir: &Ir, op: Op) -> bool {
    matches!(ir.ty(ir.result(op)).layout(), Some(Encoding::Blocked(_)))
}

/// What threads multiply.
fn legalize(ir: &mut Ir, target: &Target) -> bool {
    let left: Vec<Op> = products(ir).into_iter().filter(|&op| ir.is(op, TtOp::Dot) && is_blocked(ir, op)).collect();
    let mut changed = false;
    for op in left {
        changed |= threads::legalize(ir, op, target);
    }
    changed && {
        let module = ir.module();
        rewrite_greedily(ir, module, &[], Config::default());
        true
    }
}

/// Steps 3 to 5.
fn accelerate(ir: &mut Ir, op: Op, unit: MatrixUnit, chosen: &Chosen, k_pack: u32) {
    let dot = tt::Dot(op);
    let (a, b, c) = (dot.a(ir), dot.b(ir), dot.c(ir));
    let old = ir.ty(ir.result(op));
    let warps = choose::warps(ir, op, old.shape(), (chosen.instr.m, chosen.instr.n));
    let encoding = choose::result_encoding(ir, op, unit, chosen, &warps);
    let k_width = k_width(ir, op, unit, chosen, k_pack);
    let accumulator = converted(ir, op, c, encoding, chosen.accumulator);
    let mut factors = [a, b];
    for (index, factor) in factors.iter_mut().enumerate() {
        let layout = Encoding::DotOp { op_idx: index as u32, parent: encoding, k_width };
        *factor = converted(ir, op, *factor, Attr::encoding(layout), chosen.operands[index]);
    }
    let [a, b] = factors;
    let ty = old.with_elem(chosen.accumulator).with_encoding(Some(encoding));
    let state = if let Some([lhs, rhs]) = chosen.scaled {
        tt::DotScaled::state(ir.loc(op), a, b, accumulator, None, None)
            .with(tt::DotScaled::ATTR.a_elem_type, lhs)
            .with(tt::DotScaled::ATTR.b_elem_type, rhs)
            .with(tt::DotScaled::ATTR.fastMath, false)
    } else {
        tt::Dot::state(ir.loc(op), a, b, accumulator).attrs(ir.attrs(op))
    };
    let product = Builder::before(ir, op).result(state, ty);
    let back = old.encoding().map_or(product, |encoding| converted(ir, op, product, encoding, old.elem()));
    ir.replace_op(op, &[back]);
}

/// Step 4.
fn k_width(ir: &Ir, op: Op, unit: MatrixUnit, chosen: &Chosen, k_pack: u32) -> u32 {
    let instr = chosen.instr;
    match unit {
        MatrixUnit::Mfma(_) => {
            let tail = is_tail(ir, op);
            let two_bytes = chosen.operands[0].is_float() && chosen.operands[0].bit_width() == Some(16);
            // Packed operands must not be longer than K. The instructions of 64×4 and 4×64 read one operand in each of
            // 16 blocks of lanes, which leaves no room for another part of it.
            let k = ir.ty(tt::Dot(op).a(ir)).shape().last().copied().unwrap_or(0);
            let packs = k >= i64::from(instr.k * k_pack) && instr.m == instr.n;
            match (tail, chosen.scaled.is_some()) {
                (true, _) if two_bytes => 4,
                (_, true) => instr.held / 2,
                (false, false) if packs => instr.held * k_pack,
                _ => instr.held,
            }
        }
        MatrixUnit::Wmma(_) => {
            let k = ir.ty(tt::Dot(op).a(ir)).shape().last().copied().unwrap_or(0);
            if k < i64::from(instr.k) { u32::try_from(k / 2).unwrap_or(1) } else { instr.held }
        }
    }
}

/// A value in another layout, then as another type.
fn converted(ir: &mut Ir, op: Op, value: Value, encoding: Attr, elem: Type) -> Value {
    let ty = ir.ty(value).with_encoding(Some(encoding));
    let mut b = Builder::before(ir, op);
    let value = b.value(TtgOp::ConvertLayout, &[value], ty);
    cast(&mut b, value, elem)
}

/// A value as another type: of floats by rounding to the nearest; integers are widened with zeros.
fn cast(b: &mut Builder<'_>, value: Value, elem: Type) -> Value {
    let ty = b.ir.ty(value);
    let (from, to) = (ty.elem(), ty.with_elem(elem));
    let (Some(old), Some(new)) = (from.bit_width(), elem.bit_width()) else { return value };
    if from == elem {
        return value;
    }
    let is = |ty: Type, kind| ty == Type::float(kind);
    if elem.is_int() {
        return b.value(if old > new { ArithOp::Trunci } else { ArithOp::Extui }, &[value], to);
    }
    if is(from, FloatKind::F16) && is(elem, FloatKind::F32) {
        return b.value(ArithOp::Extf, &[value], to);
    }
    if is(from, FloatKind::F32) && is(elem, FloatKind::F16) {
        return b.value(ArithOp::Truncf, &[value], to);
    }
    let rounding = (old > new).then_some(FpRounding::Rtne);
    let state = tt::FpToFp::state(b.loc, value).with_some(tt::FpToFp::ATTR.rounding, rounding);
    b.result(state, to)
}

/// The word for a float of 8 bits in a `tt.dot_scaled`.
fn scaled_elem(ty: Type) -> Option<ScaledElem> {
    match ty.as_float()?.name() {
        "f8E4M3FN" => Some(ScaledElem::E4m3),
        "f8E5M2" => Some(ScaledElem::E5m2),
        _ => None,
    }
}
