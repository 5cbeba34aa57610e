//! `tt.dot` and `ttng.warp_group_dot`: matrices and batches of matrices.
//!
//! Narrow floats are decoded to f32, in which their products are exact, and summed in f32 in the order of k. A result
//! of f16 is rounded once at the end. `inputPrecision` decides how f32 operands are multiplied:
//! - `ieee`: as they are, each product and sum rounded as by a fused multiply-add (computed in f64);
//! - `tf32`: the low 13 bits of the mantissa are dropped, as tensor cores do, and products are exact;
//! - `tf32x3`, `bf16x3`, `bf16x6`: each operand is split into a sum of two or three narrow ones and the largest
//!   products are added up, smallest first.
//!
//! Integers are signed and wrap in the result's width. f64 is computed in f64.

use super::super::fault::Fault;
use super::super::numbers::{self, bf16, mask, signed, tf32, width};
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use crate::ir::core::Value;
use crate::ir::dialects::enums::InputPrecision;
use crate::ir::{FloatKind, Op, Type};

/// The sizes of a batched product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) batch: usize,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

fn sizes(d: Type, k: i64) -> Sizes {
    let rank = d.rank();
    let batch = d.shape()[..rank - 2].iter().product::<i64>() as usize;
    Sizes { batch, m: d.shape()[rank - 2] as usize, n: d.shape()[rank - 1] as usize, k: k as usize }
}

/// Computes the product of two matrices, added to `sum`.
pub(crate) fn dot(
    p: &Program<'_>,
    op: Op,
    factors: [Value; 2],
    sum: Val,
    precision: Option<InputPrecision>,
) -> Result<Val, Fault> {
    let ir = p.ir;
    let ([ta, tb], td) = (factors.map(|v| ir.ty(v)), ir.ty(ir.result(op)));
    let k = ta.shape().last().copied().unwrap_or(1);
    let s = sizes(td, k);
    let ([a, b], c) = (factors.map(|v| p.get(v).lanes), sum.lanes);
    match (ta.elem().as_float(), tb.elem().as_float(), td.elem().as_float()) {
        (Some(FloatKind::F64), Some(FloatKind::F64), Some(FloatKind::F64)) => Ok(double(s, &a, &b, &c)),
        (Some(ka), Some(kb), Some(kd)) => {
            let (a, b) = (decode(ka, &a, s.batch * s.m * s.k), decode(kb, &b, s.batch * s.k * s.n));
            let mut sum = decode(kd, &c, s.batch * s.m * s.n);
            let precision = precision.unwrap_or(InputPrecision::Ieee);
            if ka == FloatKind::F32 {
                wide(s, &a, &b, &mut sum, precision);
            } else {
                exact(s, &a, &b, &mut sum);
            }
            Ok(encode(kd, &sum))
        }
        (None, None, None) => Ok(integer(s, (&a, width(ta)), (&b, width(tb)), (&c, width(td)))),
        _ => Err(p.unsupported(op, "a product of integers and floats")),
    }
}

pub(crate) fn decode(kind: FloatKind, v: &Lanes, n: usize) -> Vec<f32> {
    v.to_vec(n).iter().map(|&x| numbers::decode(kind, x)).collect()
}

pub(crate) fn encode(kind: FloatKind, v: &[f32]) -> Val {
    Val::full(v.iter().map(|&x| numbers::encode(kind, x)).collect())
}

/// Multiplies `f32` operands.
fn wide(s: Sizes, a: &[f32], b: &[f32], sum: &mut [f32], precision: InputPrecision) {
    let map = |v: &[f32], f: &dyn Fn(f32) -> f32| v.iter().map(|&x| f(x)).collect::<Vec<f32>>();
    let rest = |v: &[f32], part: &[f32]| v.iter().zip(part).map(|(x, y)| x - y).collect::<Vec<f32>>();
    match precision {
        InputPrecision::Tf32 => exact(s, &map(a, &tf32), &map(b, &tf32), sum),
        InputPrecision::Tf32x3 | InputPrecision::Bf16x3 => {
            let narrow: &dyn Fn(f32) -> f32 = if precision == InputPrecision::Tf32x3 { &tf32 } else { &bf16 };
            let (a0, b0) = (map(a, narrow), map(b, narrow));
            let (a1, b1) = (map(&rest(a, &a0), narrow), map(&rest(b, &b0), narrow));
            for (x, y) in [(&a1, &b0), (&a0, &b1), (&a0, &b0)] {
                exact(s, x, y, sum);
            }
        }
        InputPrecision::Bf16x6 => {
            let split = |v: &[f32]| {
                let first = map(v, &bf16);
                let left = rest(v, &first);
                let second = map(&left, &bf16);
                let third = map(&rest(&left, &second), &bf16);
                [first, second, third]
            };
            let (x, y) = (split(a), split(b));
            for (i, j) in [(2, 0), (1, 1), (0, 2), (1, 0), (0, 1), (0, 0)] {
                exact(s, &x[i], &y[j], sum);
            }
        }
        InputPrecision::Ieee => fused(s, a, b, sum),
    }
}

/// Multiplies where f32 holds every product exactly.
pub(crate) fn exact(s: Sizes, a: &[f32], b: &[f32], sum: &mut [f32]) {
    rows(s, sum, |row, bi, i| {
        for k in 0..s.k {
            let x = a[(bi * s.m + i) * s.k + k];
            let line = &b[(bi * s.k + k) * s.n..][..s.n];
            for (c, &y) in row.iter_mut().zip(line) {
                *c += x * y;
            }
        }
    });
}

/// Rounds product and sum together, since f64 holds the product exactly.
fn fused(s: Sizes, a: &[f32], b: &[f32], sum: &mut [f32]) {
    rows(s, sum, |row, bi, i| {
        for k in 0..s.k {
            let x = f64::from(a[(bi * s.m + i) * s.k + k]);
            let line = &b[(bi * s.k + k) * s.n..][..s.n];
            for (c, &y) in row.iter_mut().zip(line) {
                *c = (f64::from(*c) + x * f64::from(y)) as f32;
            }
        }
    });
}

fn rows(s: Sizes, sum: &mut [f32], f: impl Fn(&mut [f32], usize, usize)) {
    for (r, row) in sum.chunks_mut(s.n.max(1)).enumerate() {
        f(row, r / s.m, r % s.m);
    }
}

fn double(s: Sizes, a: &Lanes, b: &Lanes, c: &Lanes) -> Val {
    let read = |v: &Lanes, n: usize| v.to_vec(n).into_iter().map(f64::from_bits).collect::<Vec<f64>>();
    let (a, b) = (read(a, s.batch * s.m * s.k), read(b, s.batch * s.k * s.n));
    let mut sum = read(c, s.batch * s.m * s.n);
    for (r, row) in sum.chunks_mut(s.n.max(1)).enumerate() {
        let (bi, i) = (r / s.m, r % s.m);
        for k in 0..s.k {
            let x = a[(bi * s.m + i) * s.k + k];
            for (j, c) in row.iter_mut().enumerate() {
                *c = x.mul_add(b[(bi * s.k + k) * s.n + j], *c);
            }
        }
    }
    Val::full(sum.into_iter().map(f64::to_bits).collect())
}

fn integer(s: Sizes, (a, wa): (&Lanes, u32), (b, wb): (&Lanes, u32), (c, wc): (&Lanes, u32)) -> Val {
    let read = |v: &Lanes, n: usize, w: u32| v.to_vec(n).into_iter().map(|x| signed(x, w)).collect::<Vec<i64>>();
    let (a, b) = (read(a, s.batch * s.m * s.k, wa), read(b, s.batch * s.k * s.n, wb));
    let mut sum = read(c, s.batch * s.m * s.n, wc);
    for (r, row) in sum.chunks_mut(s.n.max(1)).enumerate() {
        let (bi, i) = (r / s.m, r % s.m);
        for k in 0..s.k {
            let x = a[(bi * s.m + i) * s.k + k];
            for (c, &y) in row.iter_mut().zip(&b[(bi * s.k + k) * s.n..][..s.n]) {
                *c = c.wrapping_add(x.wrapping_mul(y));
            }
        }
    }
    Val::full(sum.into_iter().map(|x| x as u64 & mask(wc)).collect())
}
