//! The `math` dialect.
//!
//! Functions of f32 and f64 are the host's, within one unit in the last place of the exact result. Constant folding
//! uses the same ones. Narrow formats are computed in f32 and rounded once.

use super::super::numbers::{mask, signed, width};
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use super::arith::{float1, float2};
use crate::ir::{FloatKind, MathOp, Op, Type};

pub(crate) fn eval(p: &Program<'_>, op: Op, kind: MathOp) -> Val {
    let ir = p.ir;
    let ty = ir.ty(ir.result(op));
    let w = width(ty);
    let vals = p.all(ir.operands(op));
    let a = &vals.first().expect("every operation of the dialect has an operand").lanes;
    let second = || &vals.get(1).expect("the operations that ask have two operands").lanes;
    let lanes = match kind {
        MathOp::Absf => a.map(|x| x & (mask(w) >> 1)),
        MathOp::Ceil => float1(ty, a, f32::ceil, f64::ceil),
        MathOp::Cos => float1(ty, a, f32::cos, f64::cos),
        MathOp::Erf => float1(ty, a, |x| libm::erf(f64::from(x)) as f32, libm::erf),
        MathOp::Exp => float1(ty, a, f32::exp, f64::exp),
        MathOp::Exp2 => float1(ty, a, f32::exp2, f64::exp2),
        MathOp::Expm1 => float1(ty, a, f32::exp_m1, f64::exp_m1),
        MathOp::Floor => float1(ty, a, f32::floor, f64::floor),
        MathOp::Log => float1(ty, a, f32::ln, f64::ln),
        MathOp::Log10 => float1(ty, a, f32::log10, f64::log10),
        MathOp::Log1p => float1(ty, a, f32::ln_1p, f64::ln_1p),
        MathOp::Log2 => float1(ty, a, f32::log2, f64::log2),
        MathOp::Round => float1(ty, a, f32::round, f64::round),
        MathOp::Roundeven => float1(ty, a, f32::round_ties_even, f64::round_ties_even),
        MathOp::Rsqrt => float1(ty, a, |x| (1.0 / f64::from(x).sqrt()) as f32, |x| 1.0 / x.sqrt()),
        MathOp::Sin => float1(ty, a, f32::sin, f64::sin),
        MathOp::Sqrt => float1(ty, a, f32::sqrt, f64::sqrt),
        MathOp::Tan => float1(ty, a, f32::tan, f64::tan),
        MathOp::Tanh => float1(ty, a, f32::tanh, f64::tanh),
        MathOp::Trunc => float1(ty, a, f32::trunc, f64::trunc),
        MathOp::Absi => a.map(|x| signed(x, w).wrapping_abs() as u64 & mask(w)),
        MathOp::Ctlz => a.map(|x| u64::from(x.leading_zeros() - (64 - w))),
        MathOp::Ctpop => a.map(|x| u64::from(x.count_ones())),
        MathOp::Cttz => a.map(|x| u64::from(x.trailing_zeros().min(w))),
        MathOp::Atan2 => float2(ty, a, second(), f32::atan2, f64::atan2),
        MathOp::Copysign => {
            let sign = 1u64 << (w - 1);
            a.zip(second(), |x, y| x & !sign | y & sign)
        }
        MathOp::Powf => float2(ty, a, second(), f32::powf, f64::powf),
        MathOp::Fma => {
            let [x, y, z] = p.operands(op);
            fma(ty, &x.lanes, &y.lanes, &z.lanes)
        }
    };
    lanes.into()
}

/// Computes a · b + c, rounded once.
pub(crate) fn fma(ty: Type, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    use super::super::numbers::decode;
    match ty.elem().as_float() {
        Some(FloatKind::F64) => {
            a.zip3(b, c, |x, y, z| f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(z)).to_bits())
        }
        Some(FloatKind::F32) => a.zip3(b, c, |x, y, z| {
            let f = |v: u64| f32::from_bits(v as u32);
            u64::from(f(x).mul_add(f(y), f(z)).to_bits())
        }),
        // The product of narrow floats is exact in f64. The sum has 53 bits, more than twice as many as the format.
        Some(kind) => a.zip3(b, c, |x, y, z| {
            let (x, y, z) = (f64::from(decode(kind, x)), f64::from(decode(kind, y)), f64::from(decode(kind, z)));
            let sum = x.mul_add(y, z);
            kind.from_f64(sum)
        }),
        None => a.clone(),
    }
}
