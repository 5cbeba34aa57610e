//! Folds of the `math` dialect: constants of f32 and f64 through the host's functions, exact ones in every format.

use super::bits::{int_width, map, zip};
use super::{FoldResult, constant};
use crate::ir::core::attrs::zero_extend;
use crate::ir::core::{Attr, FloatKind, Ir, Op};
use crate::ir::dialects::{MathOp, OpKind};

type Constants = [Option<Attr>];

fn kind(ir: &Ir, op: Op) -> Option<FloatKind> {
    ir.ty(ir.result(op)).elem().as_float()
}

/// A function whose result is exact, in any format.
fn exact(ir: &Ir, op: Op, c: &Constants, f: fn(f64) -> f64) -> FoldResult {
    let k = kind(ir, op)?;
    constant(map(c[0]?, ir.ty(ir.result(op)), |v| Some(k.from_f64(f(k.to_f64(v)))))?)
}

/// Functions of one float.
pub fn unary(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let OpKind::Math(which) = ir.kind(op) else { return None };
    match which {
        MathOp::Absf => return exact(ir, op, c, f64::abs),
        MathOp::Ceil => return exact(ir, op, c, f64::ceil),
        MathOp::Floor => return exact(ir, op, c, f64::floor),
        MathOp::Trunc => return exact(ir, op, c, f64::trunc),
        MathOp::Round => return exact(ir, op, c, f64::round),
        MathOp::Roundeven => return exact(ir, op, c, f64::round_ties_even),
        _ => {}
    }
    let (single, double): (fn(f32) -> f32, fn(f64) -> f64) = match which {
        MathOp::Exp => (f32::exp, f64::exp),
        MathOp::Exp2 => (f32::exp2, f64::exp2),
        MathOp::Expm1 => (f32::exp_m1, f64::exp_m1),
        MathOp::Log => (f32::ln, f64::ln),
        MathOp::Log2 => (f32::log2, f64::log2),
        MathOp::Log10 => (f32::log10, f64::log10),
        MathOp::Log1p => (f32::ln_1p, f64::ln_1p),
        MathOp::Sin => (f32::sin, f64::sin),
        MathOp::Cos => (f32::cos, f64::cos),
        MathOp::Tan => (f32::tan, f64::tan),
        MathOp::Tanh => (f32::tanh, f64::tanh),
        MathOp::Sqrt => (f32::sqrt, f64::sqrt),
        MathOp::Rsqrt => (|x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt()),
        _ => return None,
    };
    let positive_only = matches!(which, MathOp::Log | MathOp::Log2 | MathOp::Log10 | MathOp::Sqrt | MathOp::Rsqrt);
    let k = kind(ir, op)?;
    let one = |v: u64| {
        let x = k.to_f64(v);
        if positive_only && x < 0.0 || which == MathOp::Log1p && x < -1.0 {
            return None;
        }
        match k {
            FloatKind::F32 => Some(u64::from(single(f32::from_bits(v as u32)).to_bits())),
            FloatKind::F64 => Some(double(f64::from_bits(v)).to_bits()),
            _ => None,
        }
    };
    constant(map(c[0]?, ir.ty(ir.result(op)), one)?)
}

/// Functions of two floats.
pub fn binary(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let (k, ty) = (kind(ir, op)?, ir.ty(ir.result(op)));
    let OpKind::Math(which) = ir.kind(op) else { return None };
    let one = |a: u64, b: u64| match (which, k) {
        (MathOp::Copysign, _) => {
            let sign = 1 << (k.bits() - 1);
            Some(a & !sign | b & sign)
        }
        (MathOp::Powf, FloatKind::F32) => {
            Some(u64::from(f32::from_bits(a as u32).powf(f32::from_bits(b as u32)).to_bits()))
        }
        (MathOp::Powf, FloatKind::F64) => Some(f64::from_bits(a).powf(f64::from_bits(b)).to_bits()),
        (MathOp::Atan2, FloatKind::F32) => {
            Some(u64::from(f32::from_bits(a as u32).atan2(f32::from_bits(b as u32)).to_bits()))
        }
        (MathOp::Atan2, FloatKind::F64) => Some(f64::from_bits(a).atan2(f64::from_bits(b)).to_bits()),
        _ => None,
    };
    constant(zip(c[0]?, c[1]?, ty, one)?)
}

/// Functions of one integer.
pub fn integer(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let ty = ir.ty(ir.result(op));
    let w = int_width(ty)?;
    let OpKind::Math(which) = ir.kind(op) else { return None };
    let one = |v: u64| {
        let bits = zero_extend(v as i64, w);
        Some(match which {
            MathOp::Absi => (v as i64).wrapping_abs() as u64,
            MathOp::Ctlz => u64::from(bits.leading_zeros() - (64 - w)),
            MathOp::Cttz => u64::from(bits.trailing_zeros().min(w)),
            MathOp::Ctpop => u64::from(bits.count_ones()),
            _ => return None,
        })
    };
    constant(map(c[0]?, ty, one)?)
}
