//! `tritongpu-F32DotTC`: products of f32 matrices at more than tf32's precision, from several products of narrower
//! numbers.
//!
//! # Algorithm
//!
//! 1. `tf32x3` (with `emu-tf32`): each operand is the sum of a tf32 number and a small rest; the products small×big,
//!    big×small and big×big are added in this order.
//! 2. `bf16x3`, `bf16x6`: each operand is the sum of two or three bf16 numbers; the three or six largest products are
//!    added from small to large.
//! 3. Before the largest product, a sum that is not a number becomes zero: infinity times the zero rest of an operand
//!    must not spoil an infinite result.
//!
//! The schemes: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
//! Higher-Precision Computations"; the tf32 variant is CUTLASS's.

use crate::ir::core::{Attr, Builder, FloatKind, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::{CmpfPredicate, InputPrecision};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, TtOp};
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-F32DotTC",
    doc: "compute precise f32 products from several narrower ones",
    input: Input::Any,
    options: &[OptionSpec {
        name: "emu-tf32",
        kind: OptionKind::Bool,
        default: "false",
        doc: "compute tf32x3 from three tf32 products",
    }],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let emulate = cx.flag("emu-tf32");
    let module = ir.module();
    let dots: Vec<Op> = ir.all_ops(module).into_iter().filter(|&op| ir.is(op, TtOp::Dot)).collect();
    let mut changed = false;
    for op in dots {
        let dot = tt::Dot(op);
        let precise = [dot.a(ir), dot.b(ir)].iter().all(|&factor| ir.ty(factor).elem() == Type::f32());
        match dot.inputPrecision(ir) {
            Some(InputPrecision::Tf32x3) if precise && emulate => from_tf32(ir, dot),
            Some(InputPrecision::Bf16x3) if precise => from_bf16(ir, dot, 2),
            Some(InputPrecision::Bf16x6) if precise => from_bf16(ir, dot, 3),
            _ => continue,
        }
        changed = true;
    }
    changed |= rewrite_greedily(ir, module, &[], Config::default());
    Ok(Changed::from(changed))
}

fn product(
    b: &mut Builder<'_>,
    lhs: Value,
    rhs: Value,
    acc: Value,
    precision: InputPrecision,
    imprecise: i64,
) -> Value {
    let ty = b.ir.ty(acc);
    let state = tt::Dot::state(b.loc, lhs, rhs, acc).with(tt::Dot::ATTR.inputPrecision, precision);
    let limit = Some(imprecise).filter(|&limit| limit != 0);
    b.result(state.with_some(tt::Dot::ATTR.maxNumImpreciseAcc, limit), ty)
}

fn zero(b: &mut Builder<'_>, like: Value) -> Value {
    let ty = b.ir.ty(like);
    let scalar = b.constant(Attr::float(0.0, FloatKind::F32));
    b.value(TtOp::Splat, &[scalar], ty)
}

/// Step 3.
fn without_nans(b: &mut Builder<'_>, value: Value) -> Value {
    let ty = b.ir.ty(value);
    let truth = ty.with_elem(Type::int(1));
    let compare = arith::Cmpf::state(b.loc, value, value);
    let nan = b.result(compare.with(arith::Cmpf::ATTR.predicate, CmpfPredicate::Uno), truth);
    let zero = zero(b, value);
    b.value(ArithOp::Select, &[nan, zero, value], ty)
}

/// A value rounded to tf32, and what is left.
fn split_tf32(b: &mut Builder<'_>, value: Value) -> (Value, Value) {
    let ty = b.ir.ty(value);
    let keys = tt::ElementwiseInlineAsm::ATTR;
    let state = tt::ElementwiseInlineAsm::state(b.loc, &[value])
        .with(keys.asm_string, "cvt.rna.tf32.f32 $0, $1;")
        .with(keys.constraints, "=r,r")
        .with(keys.packed_element, 1)
        .with(keys.pure, true);
    let big = b.result(state, ty);
    let small = b.value(ArithOp::Subf, &[value, big], ty);
    (big, small)
}

fn from_tf32(ir: &mut Ir, dot: tt::Dot) {
    let (lhs, rhs, acc) = (dot.a(ir), dot.b(ir), dot.c(ir));
    let imprecise = dot.maxNumImpreciseAcc(ir).unwrap_or(0);
    let mut b = Builder::before(ir, dot.0);
    let (a_big, a_small) = split_tf32(&mut b, lhs);
    let (b_big, b_small) = split_tf32(&mut b, rhs);
    let start = zero(&mut b, acc);
    let sum = product(&mut b, a_small, b_big, start, InputPrecision::Tf32, imprecise);
    let sum = product(&mut b, a_big, b_small, sum, InputPrecision::Tf32, imprecise);
    let sum = without_nans(&mut b, sum);
    let sum = product(&mut b, a_big, b_big, sum, InputPrecision::Tf32, imprecise);
    let ty = b.ir.ty(acc);
    let sum = b.value(ArithOp::Addf, &[sum, acc], ty);
    ir.replace_op(dot.0, &[sum]);
}

/// A value as the sum of `n` bf16 numbers, the largest first.
fn split_bf16(b: &mut Builder<'_>, value: Value, n: usize) -> Vec<Value> {
    let ty = b.ir.ty(value);
    let mut rest = value;
    let mut parts = vec![];
    for i in 0..n {
        let part = b.value(ArithOp::Truncf, &[rest], ty.with_elem(Type::float(FloatKind::BF16)));
        if i + 1 < n {
            let wide = b.value(ArithOp::Extf, &[part], ty);
            rest = b.value(ArithOp::Subf, &[rest, wide], ty);
        }
        parts.push(part);
    }
    parts
}

fn from_bf16(ir: &mut Ir, dot: tt::Dot, n: usize) {
    let (lhs, rhs, acc) = (dot.a(ir), dot.b(ir), dot.c(ir));
    let mut b = Builder::before(ir, dot.0);
    let (x, y) = (split_bf16(&mut b, lhs, n), split_bf16(&mut b, rhs, n));
    let mut sum = zero(&mut b, acc);
    let small: &[(usize, usize)] = if n == 3 { &[(1, 1), (2, 0), (0, 2)] } else { &[] };
    for &(i, j) in small.iter().chain(&[(1, 0), (0, 1)]) {
        sum = product(&mut b, x[i], y[j], sum, InputPrecision::Ieee, 0);
    }
    let sum = without_nans(&mut b, sum);
    let sum = product(&mut b, x[0], y[0], sum, InputPrecision::Ieee, 0);
    let ty = b.ir.ty(acc);
    let sum = b.value(ArithOp::Addf, &[sum, acc], ty);
    ir.replace_op(dot.0, &[sum]);
}
