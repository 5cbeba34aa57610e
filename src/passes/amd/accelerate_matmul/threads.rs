//! Products that threads compute by multiplying and adding: operands and result get types that the instructions take.
//!
//! `v_dot` multiplies pairs of f16 (on CDNA4 also of bf16) and quadruples of i8 with exact sums in f32 and i32; plain
//! instructions want f16, f32 or f64 throughout. All else becomes the widest type among them: f16, or f32 where that
//! has to hold bf16 or wide integers.

use crate::ir::core::{Builder, FloatKind, Ir, Op, Type, Value};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::enums::FpRounding;
use crate::ir::dialects::tt::tt;
use crate::target::Target;

/// Whether it changed anything.
pub(super) fn legalize(ir: &mut Ir, op: Op, target: &Target) -> bool {
    let dot = tt::Dot(op);
    let factors = [dot.a(ir), dot.b(ir), dot.c(ir)];
    let elems = [factors[0], factors[1], factors[2], dot.d(ir)].map(|v| ir.ty(v).elem());
    let k = ir.ty(factors[0]).shape().last().copied().unwrap_or(0);
    if is_legal(elems, k, target) {
        return false;
    }
    let Some(widest) = elems.iter().filter_map(|ty| ty.bit_width()).max().filter(|&bits| bits <= 32) else {
        return false;
    };
    let fits_f16 = |ty: &Type| *ty != float(FloatKind::BF16) && !(ty.is_int() && ty.bit_width() > Some(8));
    let common = if widest <= 16 && elems.iter().all(fits_f16) { float(FloatKind::F16) } else { Type::f32() };
    let result = ir.ty(dot.d(ir));
    let mut b = Builder::before(ir, op);
    let [lhs, rhs, acc] = factors.map(|v| cast(&mut b, v, common));
    let state = tt::Dot::state(b.loc, lhs, rhs, acc).attrs(b.ir.attrs(op));
    let ty = b.ir.ty(acc);
    let product = b.result(state, ty);
    let back = cast(&mut b, product, result.elem());
    ir.replace_op(op, &[back]);
    true
}

fn float(kind: FloatKind) -> Type {
    Type::float(kind)
}

fn is_legal([a, b, c, d]: [Type; 4], k: i64, target: &Target) -> bool {
    let of = |factor: Type, sum: Type| a == factor && b == factor && c == sum && d == sum;
    let pairs = of(float(FloatKind::F16), Type::f32()) || target.is_cdna4() && of(float(FloatKind::BF16), Type::f32());
    if pairs && k % 2 == 0 || of(Type::int(8), Type::int(32)) && k % 4 == 0 {
        return true;
    }
    let plain = [FloatKind::F16, FloatKind::F32, FloatKind::F64].map(float).contains(&a);
    plain && b == a && c == a
}

fn cast(b: &mut Builder<'_>, value: Value, elem: Type) -> Value {
    let ty = b.ir.ty(value);
    let (from, to) = (ty.elem(), ty.with_elem(elem));
    match (from.is_float(), elem.is_float()) {
        _ if from == elem => value,
        (true, true) => {
            let rounding = (from.bit_width() > elem.bit_width()).then_some(FpRounding::Rtne);
            let state = tt::FpToFp::state(b.loc, value).with_some(tt::FpToFp::ATTR.rounding, rounding);
            b.result(state, to)
        }
        (false, true) => b.value(ArithOp::Sitofp, &[value], to),
        (true, false) => b.value(ArithOp::Fptosi, &[value], to),
        (false, false) => value,
    }
}
