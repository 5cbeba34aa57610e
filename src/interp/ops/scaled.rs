//! `tt.dot_scaled`: operands in narrow formats with a scale per group of elements along k (OCP Microscaling Formats).
//!
//! 1. An operand of 4-bit floats holds two in a byte, the first in the low half, along k or (without `k_pack`) along
//!    its other dimension.
//! 2. Elements and scales become f16 if either operand is f16, else bf16, and the product is computed in that format.
//!    bf16 holds every value of the narrow formats and every scale. f16 does not hold scales beyond 2^15, which become
//!    infinite.
//! 3. There is a scale for each row of a or column of b, and each group along k. Scales are powers of two with bias 127
//!    as integers, or floats. The integer 255 is NaN. With fast math nobody looks for it, and it is what its bits say
//!    as the exponent of a float, infinity. In the same way, 0 is nothing in f32, on the way to f16, but 2^-127 in
//!    bf16.
//! 4. Each element times its scale is rounded to that format. The product is computed as in `dot.rs`.

use super::super::fault::Fault;
use super::super::numbers;
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use super::dot::{Sizes, decode, encode, exact};
use crate::ir::dialects::enums::ScaledElem;
use crate::ir::{FloatKind, Op, Type, Value};

/// One operand with its scales.
struct Side {
    /// The format in which the operand is computed.
    wide: FloatKind,
    fast: bool,
    value: Value,
    scale: Option<Value>,
    format: ScaledElem,
    k_pack: bool,
    /// Whether it is the left operand, (m, k). The right one is (k, n).
    left: bool,
}

pub(crate) fn dot_scaled(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let ir = p.ir;
    let td = ir.ty(ir.result(op));
    let formats = ["a_elem_type", "b_elem_type"].map(|name| ir.enum_attr(op, name));
    let wide = if formats.contains(&Some(ScaledElem::Fp16)) { FloatKind::F16 } else { FloatKind::BF16 };
    let fast = ir.bool_attr(op, "fastMath");
    let side = |left: bool| {
        let (index, scale, format, pack) =
            if left { (0, 3, "a_elem_type", "lhs_k_pack") } else { (1, 4, "b_elem_type", "rhs_k_pack") };
        Side {
            wide,
            fast,
            value: ir.operand(op, index),
            scale: ir.operand_group(op, scale).first().copied(),
            format: ir.enum_attr(op, format).unwrap_or(ScaledElem::E4m3),
            k_pack: ir.bool_attr(op, pack),
            left,
        }
    };
    let rank = td.rank();
    let (m, n) = (td.shape()[rank - 2] as usize, td.shape()[rank - 1] as usize);
    let batch = td.shape()[..rank - 2].iter().product::<i64>() as usize;
    let (a, k) = operand(p, op, &side(true), batch, m)?;
    let (b, kb) = operand(p, op, &side(false), batch, n)?;
    if k != kb {
        return Err(p.unsupported(op, &format!("operands of {k} and {kb} elements along k")));
    }
    let kind = td.elem().as_float().unwrap_or(FloatKind::F32);
    let mut sum = decode(kind, &p.operand(op, 2).lanes, batch * m * n);
    exact(Sizes { batch, m, n, k }, &a, &b, &mut sum);
    Ok(encode(kind, &sum))
}

/// The elements times their scales, as (batch, m, k) or (batch, k, n), and the number k.
fn operand(p: &Program<'_>, op: Op, side: &Side, batch: usize, other: usize) -> Result<(Vec<f32>, usize), Fault> {
    let ty = p.ir.ty(side.value);
    let lanes = p.get(side.value).lanes;
    let (mut values, k) = if side.format == ScaledElem::E2m1 {
        unpack(&lanes, ty, side, batch, other)
    } else {
        let kind = match side.format {
            ScaledElem::E4m3 => FloatKind::F8E4M3FN,
            ScaledElem::E5m2 => FloatKind::F8E5M2,
            ScaledElem::Bf16 => FloatKind::BF16,
            ScaledElem::Fp16 => FloatKind::F16,
            ScaledElem::E2m1 | ScaledElem::E2m3 | ScaledElem::E3m2 => {
                return Err(p.unsupported(op, "operands of 6 bits"));
            }
        };
        let values = decode(kind, &lanes, ty.num_elements() as usize);
        let k = values.len() / (batch * other).max(1);
        (values, k)
    };
    round(side.wide, &mut values);
    if let Some(scale) = side.scale {
        apply(p, side, scale, &mut values, Counts { batch, other, k });
    }
    Ok((values, k))
}

/// Unpacks 4-bit floats, which lie in pairs.
fn unpack(lanes: &Lanes, ty: Type, side: &Side, batch: usize, other: usize) -> (Vec<f32>, usize) {
    let bytes = ty.num_elements() as usize;
    let k = 2 * bytes / (batch * other).max(1);
    // The operand is row-major (rows, columns). A pair lies along columns if k is packed on the left or n on the right.
    let (rows, columns) = if side.left { (other, k) } else { (k, other) };
    let along_columns = side.left == side.k_pack;
    let mut out = Vec::with_capacity(2 * bytes);
    for b in 0..batch {
        for r in 0..rows {
            for c in 0..columns {
                let (byte, half) = if along_columns {
                    ((b * rows + r) * (columns / 2) + c / 2, c % 2)
                } else {
                    ((b * (rows / 2) + r / 2) * columns + c, r % 2)
                };
                out.push(numbers::decode(FloatKind::F4E2M1FN, lanes.get(byte) >> (4 * half) & 15));
            }
        }
    }
    (out, k)
}

/// How many elements an operand has along each dimension.
#[derive(Clone, Copy)]
struct Counts {
    batch: usize,
    /// The rows of the left operand, or the columns of the right one.
    other: usize,
    k: usize,
}

fn round(kind: FloatKind, values: &mut [f32]) {
    values.iter_mut().for_each(|v| *v = numbers::decode(kind, numbers::encode(kind, *v)));
}

/// Multiplies each element by its scale.
fn apply(p: &Program<'_>, side: &Side, scale: Value, values: &mut [f32], n: Counts) {
    let ty = p.ir.ty(scale);
    let lanes = p.get(scale).lanes;
    let groups = ty.shape().last().copied().unwrap_or(1).max(1) as usize;
    let group = n.k.div_ceil(groups).max(1);
    let count = n.batch * n.other * groups;
    let mut factors: Vec<f32> = (0..count).map(|i| factor(side, ty.elem().as_float(), lanes.get(i))).collect();
    round(side.wide, &mut factors);
    for b in 0..n.batch {
        for o in 0..n.other {
            for i in 0..n.k {
                let at = if side.left { (b * n.other + o) * n.k + i } else { (b * n.k + i) * n.other + o };
                values[at] *= factors[(b * n.other + o) * groups + i / group];
            }
        }
    }
    round(side.wide, values);
}

/// One scale. `kind` is its format where it is a float.
fn factor(side: &Side, kind: Option<FloatKind>, bits: u64) -> f32 {
    match (kind, (bits & 0xff) as u32) {
        (Some(kind), _) => numbers::decode(kind, bits),
        (None, 255) if !side.fast => f32::NAN,
        (None, 0) if side.wide == FloatKind::BF16 => f32::from_bits(0x40 << 16),
        (None, exponent) => f32::from_bits(exponent << 23),
    }
}
