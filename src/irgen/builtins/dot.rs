//! Matrix products.

use super::entry::entry;
use crate::diag::codes::{names, types};
use crate::ir::dialects::enums::{InputPrecision, ScaledElem};
use crate::ir::dialects::tt::tt::{Dot, DotScaled};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{convert, faults, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "dot",
        "input, other, acc=None, input_precision=..., allow_tf32=..., max_num_imprecise_acc=None, out_dtype=None",
        "The matrix product of two blocks of two dimensions (or three, the first counting products), plus `acc`. The precision is tf32 where the target has it; `allow_tf32` that is false or None takes it away.",
        dot,
    ),
    entry(
        "dot_scaled",
        "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=None, fast_math=False, lhs_k_pack=True, rhs_k_pack=True, out_dtype=None",
        "The matrix product of two blocks in microscaling formats (`e2m1` in pairs, `e4m3`, `e5m2`) or `bf16`, `fp16`: groups of 32 elements along k share a scale, 2^(s - 127).",
        dot_scaled,
    ),
];

const PRECISION: &[(&str, InputPrecision)] = &[
    ("tf32", InputPrecision::Tf32),
    ("tf32x3", InputPrecision::Tf32x3),
    ("ieee", InputPrecision::Ieee),
    ("bf16x3", InputPrecision::Bf16x3),
    ("bf16x6", InputPrecision::Bf16x6),
];

fn precision(cx: &mut Emitter, a: &Args) -> R<InputPrecision> {
    let allowed = cx.target().dot_precisions();
    let is_passed = |i: usize| !matches!(a.get(i), Object::Const(Const::Ellipsis));
    if is_passed(3) && is_passed(4) {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            "`input_precision` and `allow_tf32` say the same thing",
            "both are given",
            "leave `allow_tf32` out",
        ));
    }
    if is_passed(3) && a.given(3).is_some() {
        let lower = a.text(cx, 3)?.to_ascii_lowercase();
        let known: Vec<_> = PRECISION.iter().copied().filter(|(w, _)| allowed.contains(w)).collect();
        if let Some((_, v)) = known.iter().find(|(w, _)| *w == lower) {
            return Ok(*v);
        }
        return a.word(cx, 3, &known);
    }
    // To Triton, `allow_tf32=None` is a value that is not true, and not the same as nothing.
    let tf32 = allowed.contains(&"tf32") && (!is_passed(4) || a.flag(cx, 4)?);
    Ok(if tf32 { InputPrecision::Tf32 } else { InputPrecision::Ieee })
}

/// Reports elements that cannot be multiplied.
fn check_types(cx: &mut Emitter, x: Tensor, y: Tensor) -> R<()> {
    let (dx, dy) = (x.ty.dtype, y.ty.dtype);
    let fine =
        |d: Dtype| matches!(d, Dtype::Int8 | Dtype::Uint8 | Dtype::Fp16 | Dtype::Bf16 | Dtype::Fp32 | Dtype::Fp64);
    if !(dx.is_fp8() && dy.is_fp8()) && (!fine(dx) || !fine(dy) || dx != dy || dx == Dtype::Uint8) {
        return Err(cx.error_help(
            &types::DOT,
            format!("`dot` does not multiply {dx} by {dy}"),
            format!("{} times {}", x.ty, y.ty),
            if dx.is_ptr() || dy.is_ptr() {
                faults::LOAD_FIRST
            } else {
                "both operands need one type of int8, fp16, bf16, fp32 or fp64, or 8-bit floats; convert one with `.to(...)`"
            },
        ));
    }
    Ok(())
}

/// Reports shapes that cannot be multiplied.
fn check_shapes(cx: &mut Emitter, x: Tensor, y: Tensor) -> R<()> {
    let dx = x.ty.dtype;
    let (sx, sy) = (x.ty.shape(), y.ty.shape());
    let n = sx.len();
    if n != sy.len() || !(2..=3).contains(&n) {
        return Err(cx.error_help(
            &types::DOT,
            format!("`dot` needs two matrices (or two batches of them), found {} and {}", x.ty, y.ty),
            "wrong rank",
            "add a dimension with `x[:, None]` or `x[None, :]`; the product of two vectors is `tl.sum(a * b, 0)`",
        ));
    }
    if sx[n - 1] != sy[n - 2] || sx[..n - 2] != sy[..n - 2] {
        return Err(cx.error_help(
            &types::DOT,
            format!(
                "the shapes {sx:?} and {sy:?} do not multiply: the left has {} columns, the right {} rows",
                sx[n - 1],
                sy[n - 2]
            ),
            "inner dimensions differ",
            "transpose one with `tl.trans` if it is stored the other way round",
        ));
    }
    let min_k = match dx.bits() {
        _ if cx.target().takes_small_products() => 1,
        8 => 32,
        64 => 4,
        32 => 8,
        _ => 16,
    };
    if sx[n - 1] < min_k {
        return Err(cx.error_help(
            &types::DOT,
            format!("the inner dimension of a product of {dx} must be at least {min_k}, found {}", sx[n - 1]),
            "too small for the tensor cores", "use larger blocks, or fill up with zeros (a mask with `other=0.0`); small products are written `tl.sum(a[:, :, None] * b[None, :, :], 1)`"));
    }
    Ok(())
}

fn dot(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (mut x, mut y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
    let rank = x.ty.shape().len();
    if rank >= 4 && y.ty.shape().len() == rank {
        return batched(cx, a, x, y);
    }
    check_types(cx, x, y)?;
    // The IR has no fp8e4b15, and wants operands of one width.
    if [x, y].iter().any(|t| t.ty.dtype == Dtype::Fp8e4b15) {
        x = convert::cast(cx, x, Dtype::Fp16, None)?;
        y = convert::cast(cx, y, Dtype::Fp16, None)?;
    }
    check_shapes(cx, x, y)?;
    let acc = a.optional_tensor(cx, 2)?;
    let out = match (a.given(6), acc) {
        (Some(_), _) => a.dtype(cx, 6)?,
        (None, Some(acc)) => acc.ty.dtype,
        (None, None) => Dtype::Fp32,
    };
    if out == Dtype::Bf16 {
        return Err(cx.error_help(
            &types::DOT,
            "`dot` cannot accumulate in bf16",
            "out_dtype",
            "accumulate in fp32 and convert the result with `.to(tl.bfloat16)`",
        ));
    }
    let result = match x.ty.dtype {
        Dtype::Int8 => Dtype::Int32,
        Dtype::Fp32 | Dtype::Bf16 => Dtype::Fp32,
        Dtype::Fp64 => Dtype::Fp64,
        _ => out,
    };
    let mut shape = x.ty.shape()[..rank - 1].to_vec();
    shape.push(y.ty.shape()[rank - 1]);
    let ty = Ty::block(result, &shape);
    let acc = match acc {
        None => {
            let zero = convert::scalar_constant(cx, &Const::Int(0), result)?;
            shape::splat(cx, zero, &shape)?
        }
        Some(acc) if acc.ty != ty => {
            return Err(cx.error_help(
                &types::DOT,
                format!("the accumulator is {}, the product {ty}", acc.ty),
                "they must agree",
                format!("start with `tl.zeros({shape:?}, tl.{})`", result.attr_name()),
            ));
        }
        Some(acc) => acc,
    };
    let precision = precision(cx, a)?;
    let fp8 = x.ty.dtype.is_fp8() && y.ty.dtype.is_fp8();
    let imprecise = match a.given(5) {
        Some(_) => {
            let (most, k) = (a.int(cx, 5)?, x.ty.shape()[rank - 1]);
            if fp8 && most > i128::from(k) {
                return Err(cx.error_help(
                    &types::INT_RANGE,
                    format!("`max_num_imprecise_acc` is {most}, but only {k} products are added up"),
                    "more than the inner dimension",
                    format!("pass at most {k}, or leave it out"),
                ));
            }
            most as i64
        }
        None if fp8 && cx.target().rounds_fp8_sums() => 1 << 30,
        None => 0,
    };
    let state = Dot::state(cx.loc(), x.value, y.value, acc.value)
        .with(Dot::ATTR.inputPrecision, precision)
        .with(Dot::ATTR.maxNumImpreciseAcc, imprecise);
    Ok(cx.tensor_of(state, ty)?.into())
}

/// Four dimensions or more: the leading ones become one.
fn batched(cx: &mut Emitter, a: &Args, x: Tensor, y: Tensor) -> R<Object> {
    let rank = x.ty.shape().len();
    let flat = |t: Tensor| {
        let s = t.ty.shape();
        [s[..rank - 2].iter().product(), s[rank - 2], s[rank - 1]]
    };
    let mut values = a.values.clone();
    values[0] = shape::reshape(cx, x, &flat(x), false)?.into();
    values[1] = shape::reshape(cx, y, &flat(y), false)?.into();
    if let Some(acc) = a.optional_tensor(cx, 2)? {
        values[2] = shape::reshape(cx, acc, &flat(acc), false)?.into();
    }
    let result = dot(cx, &Args { builtin: a.builtin, values, places: vec![] })?;
    let t = convert::to_tensor(cx, &result)?;
    let mut shape = x.ty.shape()[..rank - 1].to_vec();
    shape.push(y.ty.shape()[rank - 1]);
    Ok(shape::reshape(cx, t, &shape, false)?.into())
}

const FORMATS: &[(&str, ScaledElem)] = &[
    ("e4m3", ScaledElem::E4m3),
    ("e5m2", ScaledElem::E5m2),
    ("e2m1", ScaledElem::E2m1),
    ("bf16", ScaledElem::Bf16),
    ("fp16", ScaledElem::Fp16),
];

/// An operand of `dot_scaled` in its format: bytes are read as floats, packed fp4 stays bytes.
fn scaled_operand(cx: &mut Emitter, t: Tensor, format: ScaledElem) -> R<Tensor> {
    let want = match format {
        ScaledElem::E4m3 => Dtype::Fp8e4nv,
        ScaledElem::E5m2 => Dtype::Fp8e5,
        ScaledElem::Bf16 => Dtype::Bf16,
        ScaledElem::Fp16 => Dtype::Fp16,
        ScaledElem::E2m1 | ScaledElem::E2m3 | ScaledElem::E3m2 => Dtype::Uint8,
    };
    if t.ty.dtype == want {
        return Ok(t);
    }
    let raw = if want.bits() == 8 { Dtype::Uint8 } else { Dtype::Uint16 };
    if want != Dtype::Uint8 && t.ty.dtype == raw {
        return convert::bitcast(cx, t, want);
    }
    Err(cx.error_help(
        &types::DOT,
        format!("an operand of this format is {want} (or its bits), found {}", t.ty.dtype),
        "in this product",
        "convert it with `.to(...)`, or give the format that its type has",
    ))
}

/// The scales of an operand with `rows` rows (or columns), in groups of `group` along k.
fn check_scale(cx: &mut Emitter, name: &str, scale: Option<Tensor>, leading: &[i64], rows: i64, groups: i64) -> R<()> {
    let Some(scale) = scale else { return Ok(()) };
    let bits = scale.ty.dtype.bits();
    if !(bits == 8 || scale.ty.dtype.is_float() && bits == 16) {
        return Err(cx.error_help(
            &types::DOT,
            format!("`{name}` is {}", scale.ty.dtype),
            "not a type of scales",
            "scales are powers of two as uint8 (e8m0), or floats of 8 or 16 bits",
        ));
    }
    let expected = [leading, &[rows, groups]].concat();
    if scale.ty.shape() != expected {
        return Err(cx.error_help(
            &types::DOT,
            format!("`{name}` has shape {:?}, expected {expected:?}", scale.ty.shape()),
            "wrong shape",
            "one row for each row of the left operand or column of the right one, with a scale for every 32 elements (or 16) along the inner dimension",
        ));
    }
    Ok(())
}

fn dot_scaled(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (lf, rf) = (a.word(cx, 2, FORMATS)?, a.word(cx, 5, FORMATS)?);
    let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 3)?);
    let (x, y) = (scaled_operand(cx, x, lf)?, scaled_operand(cx, y, rf)?);
    let (xs, ys) = (a.optional_tensor(cx, 1)?, a.optional_tensor(cx, 4)?);
    let (fast, lpack, rpack) = (a.flag(cx, 7)?, a.flag(cx, 8)?, a.flag(cx, 9)?);
    if a.given(10).is_some() && a.dtype(cx, 10)? != Dtype::Fp32 {
        return Err(cx.error_help(
            &types::DOT,
            "`dot_scaled` accumulates in fp32 only",
            "out_dtype",
            "leave `out_dtype` out, and convert the result",
        ));
    }
    for (name, packed, format) in [("lhs_k_pack", lpack, lf), ("rhs_k_pack", rpack, rf)] {
        if !packed && format != ScaledElem::E2m1 {
            return Err(cx.error_help(
                &types::DOT,
                format!("`{name}` is False, but only e2m1 has several elements in a byte"),
                "nothing is packed here",
                format!("leave `{name}` out"),
            ));
        }
    }
    let (sx, sy) = (x.ty.shape(), y.ty.shape());
    let n = sx.len();
    if n != sy.len() || !(2..=3).contains(&n) {
        return Err(cx.error_help(
            &types::DOT,
            format!("`dot_scaled` needs two matrices, found {} and {}", x.ty, y.ty),
            "wrong rank",
            "add a dimension with `x[:, None]` or `x[None, :]`",
        ));
    }
    if sx[..n - 2] != sy[..n - 2] {
        return Err(cx.error_help(
            &types::DOT,
            format!("the operands are batches of {} and {} matrices", sx[0], sy[0]),
            "they must agree",
            "reshape or broadcast one of them",
        ));
    }
    let pack = |format: ScaledElem| if format == ScaledElem::E2m1 { 2 } else { 1 };
    let k = if lpack { sx[n - 1] * pack(lf) } else { sx[n - 1] };
    let k_right = if rpack { sy[n - 2] * pack(rf) } else { sy[n - 2] };
    if k != k_right {
        return Err(cx.error_help(
            &types::DOT,
            format!("the operands have {k} and {k_right} elements along the inner dimension"),
            "they must agree",
            "the left has its columns there, the right its rows; e2m1 holds two elements in a byte",
        ));
    }
    let mut shape = sx[..n - 2].to_vec();
    shape.push(if lpack { sx[n - 2] } else { sx[n - 2] * pack(lf) });
    shape.push(if rpack { sy[n - 1] } else { sy[n - 1] * pack(rf) });
    // Groups are of 32 elements, unless a scale has as many columns as groups of 16.
    let columns = |s: Option<Tensor>| {
        s.filter(|t| t.ty.shape().iter().product::<i64>() != 1).and_then(|t| t.ty.shape().last().copied())
    };
    let group = if columns(xs).or(columns(ys)) == Some(k / 16) { 16 } else { 32 };
    check_scale(cx, "lhs_scale", xs, &shape[..n - 2], shape[n - 2], k / group)?;
    check_scale(cx, "rhs_scale", ys, &shape[..n - 2], shape[n - 1], k / group)?;
    let ty = Ty::block(Dtype::Fp32, &shape);
    let acc = match a.optional_tensor(cx, 6)? {
        Some(acc) if acc.ty == ty => acc,
        Some(acc) => {
            return Err(cx.error_help(
                &types::DOT,
                format!("the accumulator is {}, the product {ty}", acc.ty),
                "they must agree",
                format!("start with `tl.zeros({shape:?}, tl.float32)`"),
            ));
        }
        None => {
            let zero = convert::scalar_constant(cx, &Const::Int(0), Dtype::Fp32)?;
            shape::splat(cx, zero, &shape)?
        }
    };
    let (x_scale, y_scale) = (xs.map(|t| t.value), ys.map(|t| t.value));
    let state = DotScaled::state(cx.loc(), x.value, y.value, acc.value, x_scale, y_scale)
        .with(DotScaled::ATTR.a_elem_type, lf)
        .with(DotScaled::ATTR.b_elem_type, rf)
        .with(DotScaled::ATTR.fastMath, fast)
        .with(DotScaled::ATTR.lhs_k_pack, lpack)
        .with(DotScaled::ATTR.rhs_k_pack, rpack);
    Ok(cx.tensor_of(state, ty)?.into())
}
