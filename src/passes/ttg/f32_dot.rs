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
use crate::ir::dialects::enums::{CmpfPredicate, Enumeration, InputPrecision};
use crate::ir::dialects::tt::tt as view;
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
        let precise = [0, 1].iter().all(|&i| ir.ty(ir.operand(op, i)).elem() == Type::f32());
        match view::Dot(op).inputPrecision(ir) {
            Some(InputPrecision::Tf32x3) if precise && emulate => from_tf32(ir, op),
            Some(InputPrecision::Bf16x3) if precise => from_bf16(ir, op, 2),
            Some(InputPrecision::Bf16x6) if precise => from_bf16(ir, op, 3),
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
    let mut attrs = vec![("inputPrecision", precision.attr())];
    if imprecise != 0 {
        attrs.push(("maxNumImpreciseAcc", Attr::i32(imprecise)));
    }
    b.value_with(TtOp::Dot, &[lhs, rhs, acc], ty, &attrs)
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
    let nan = b.value_with(ArithOp::Cmpf, &[value, value], truth, &[("predicate", CmpfPredicate::Uno.attr())]);
    let zero = zero(b, value);
    b.value(ArithOp::Select, &[nan, zero, value], ty)
}

/// A value rounded to tf32, and what is left.
fn split_tf32(b: &mut Builder<'_>, value: Value) -> (Value, Value) {
    let ty = b.ir.ty(value);
    let attrs = [
        ("asm_string", Attr::str("cvt.rna.tf32.f32 $0, $1;")),
        ("constraints", Attr::str("=r,r")),
        ("packed_element", Attr::i32(1)),
        ("pure", Attr::bool(true)),
    ];
    let big = b.value_with(TtOp::ElementwiseInlineAsm, &[value], ty, &attrs);
    let small = b.value(ArithOp::Subf, &[value, big], ty);
    (big, small)
}

fn from_tf32(ir: &mut Ir, op: Op) {
    let (lhs, rhs, acc) = (ir.operand(op, 0), ir.operand(op, 1), ir.operand(op, 2));
    let imprecise = ir.int_attr(op, "maxNumImpreciseAcc").unwrap_or(0);
    let mut b = Builder::before(ir, op);
    let (a_big, a_small) = split_tf32(&mut b, lhs);
    let (b_big, b_small) = split_tf32(&mut b, rhs);
    let start = zero(&mut b, acc);
    let sum = product(&mut b, a_small, b_big, start, InputPrecision::Tf32, imprecise);
    let sum = product(&mut b, a_big, b_small, sum, InputPrecision::Tf32, imprecise);
    let sum = without_nans(&mut b, sum);
    let sum = product(&mut b, a_big, b_big, sum, InputPrecision::Tf32, imprecise);
    let ty = b.ir.ty(acc);
    let sum = b.value(ArithOp::Addf, &[sum, acc], ty);
    ir.replace_op(op, &[sum]);
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

fn from_bf16(ir: &mut Ir, op: Op, n: usize) {
    let (lhs, rhs, acc) = (ir.operand(op, 0), ir.operand(op, 1), ir.operand(op, 2));
    let mut b = Builder::before(ir, op);
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
    ir.replace_op(op, &[sum]);
}
