//! The `math` dialect, by the functions that its table states ([`HostFunction`]); constant folding uses the same ones.
//! Narrow formats are computed in f32, sums of products in f64, and rounded once.

use super::super::fault::Fault;
use super::super::numbers::{decode, mask, signed, width};
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use super::arith::{float1, float2};
use crate::ir::dialects::HostFunction;
use crate::ir::{FloatKind, MathOp, Op, Type};

pub(crate) fn eval(p: &Program<'_>, op: Op, kind: MathOp) -> Result<Val, Fault> {
    let ty = p.ir.ty(p.ir.result(op));
    let w = width(ty);
    let Some(function) = kind.spec().host else { return Err(p.unsupported(op, "")) };
    let lanes = match function {
        HostFunction::One(function) => {
            let [x] = p.operands(op);
            float1(ty, &x.lanes, function.single, function.double)
        }
        HostFunction::Two(single, double) => {
            let [x, y] = p.operands(op);
            float2(ty, &x.lanes, &y.lanes, single, double)
        }
        HostFunction::Three(single, double) => {
            let [x, y, z] = p.operands(op);
            float3(ty, [&x.lanes, &y.lanes, &z.lanes], single, double)
        }
        HostFunction::Patterns(function) => {
            let [x, y] = p.operands(op);
            x.lanes.zip(&y.lanes, |x, y| function(x, y, w))
        }
        HostFunction::Integer(function) => {
            let [x] = p.operands(op);
            x.lanes.map(|x| function(signed(x, w), w) & mask(w))
        }
    };
    Ok(lanes.into())
}

/// Computes a · b + c, rounded once.
pub(crate) fn fma(ty: Type, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    float3(ty, [a, b, c], f32::mul_add, f64::mul_add)
}

/// A function of three floats. The product of narrow floats is exact in f64, and the sum has 53 bits there, more than
/// twice as many as the format.
fn float3(
    ty: Type,
    [a, b, c]: [&Lanes; 3],
    single: fn(f32, f32, f32) -> f32,
    double: fn(f64, f64, f64) -> f64,
) -> Lanes {
    match ty.elem().as_float() {
        Some(FloatKind::F64) => {
            a.zip3(b, c, |x, y, z| double(f64::from_bits(x), f64::from_bits(y), f64::from_bits(z)).to_bits())
        }
        Some(FloatKind::F32) => a.zip3(b, c, |x, y, z| {
            let f = |v: u64| f32::from_bits(v as u32);
            u64::from(single(f(x), f(y), f(z)).to_bits())
        }),
        Some(kind) => a.zip3(b, c, |x, y, z| {
            let f = |v: u64| f64::from(decode(kind, v));
            kind.from_f64(double(f(x), f(y), f(z)))
        }),
        None => a.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_dialect_has_a_function() {
        for kind in MathOp::ALL {
            assert!(kind.spec().host.is_some(), "{}", kind.spec().name);
        }
    }
}
