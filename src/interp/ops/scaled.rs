//! `tt.dot_scaled`: operands in narrow formats with a scale per group of elements along k (OCP Microscaling Formats).
//!
//! 1. An operand of 4-bit floats holds two in a byte, the first in the low half, along k or (without `k_pack`) along its other dimension.
//! 2. Scales are (rows of a or columns of b, k / group): powers of two with bias 127 as integers (255 is NaN), or 8-bit floats.
//! 3. Each element times its scale is computed in f32, the product as in `dot.rs`.

use super::super::fault::Fault;
use super::super::numbers;
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use super::arith::width;
use super::dot::{Sizes, decode, encode, exact};
use crate::ir::{FloatKind, Op, Type, Value};

/// One operand with its scales.
struct Side {
    value: Value,
    scale: Option<Value>,
    format: i64,
    k_pack: bool,
    /// Whether it is the left one, (m, k); the right one is (k, n).
    left: bool,
}

pub(crate) fn dot_scaled(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let ir = p.ir;
    let td = ir.ty(ir.result(op));
    let side = |left: bool| {
        let (index, scale, format, pack) = if left { (0, 3, "a_elem_type", "lhs_k_pack") } else { (1, 4, "b_elem_type", "rhs_k_pack") };
        Side {
            value: ir.operand(op, index),
            scale: ir.operand_group(op, scale).first().copied(),
            format: ir.int_attr(op, format).unwrap_or(0),
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

/// The elements times their scales, as (batch, m, k) or (batch, k, n), and k.
fn operand(p: &Program<'_>, op: Op, side: &Side, batch: usize, other: usize) -> Result<(Vec<f32>, usize), Fault> {
    let ty = p.ir.ty(side.value);
    let lanes = p.get(side.value).lanes;
    let (values, k) = if side.format == 4 {
        unpack(&lanes, ty, side, batch, other)
    } else {
        let kind = match side.format {
            0 => FloatKind::F8E4M3FN,
            1 => FloatKind::F8E5M2,
            5 => FloatKind::BF16,
            6 => FloatKind::F16,
            _ => return Err(p.unsupported(op, "operands of 6 bits")),
        };
        let values = decode(kind, &lanes, ty.num_elements() as usize);
        let k = values.len() / (batch * other).max(1);
        (values, k)
    };
    let Some(scale) = side.scale else { return Ok((values, k)) };
    Ok((scaled(p, values, scale, side.left, batch, other, k), k))
}

/// 4-bit floats in pairs.
fn unpack(lanes: &Lanes, ty: Type, side: &Side, batch: usize, other: usize) -> (Vec<f32>, usize) {
    let bytes = ty.num_elements() as usize;
    let k = 2 * bytes / (batch * other).max(1);
    // Row-major (rows, columns) of the operand; the pair lies along columns if k is packed on the left or n on the right.
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

fn scaled(p: &Program<'_>, mut values: Vec<f32>, scale: Value, left: bool, batch: usize, other: usize, k: usize) -> Vec<f32> {
    let ty = p.ir.ty(scale);
    let lanes = p.get(scale).lanes;
    let groups = ty.shape().last().copied().unwrap_or(1).max(1) as usize;
    let group = k.div_ceil(groups).max(1);
    let one = |bits: u64| match ty.elem().as_float() {
        Some(kind) => numbers::decode(kind, bits),
        None if bits & 0xff == 0xff => f32::NAN,
        None => 2f64.powi((bits & 0xff) as i32 - 127) as f32,
    };
    debug_assert!(width(ty) == 8);
    for b in 0..batch {
        for o in 0..other {
            for i in 0..k {
                let factor = one(lanes.get((b * other + o) * groups + i / group));
                let at = if left { (b * other + o) * k + i } else { (b * k + i) * other + o };
                values[at] *= factor;
            }
        }
    }
    values
}
