//! Rules of `ttng.packed_arith`: which element types one instruction takes together (PTX ISA, "Mixed Precision
//! Floating-Point Instructions").
//!
//! | result | operations | operands |
//! |---|---|---|
//! | f32, f16, bf16 | all; `min` and `max` only of f16 and bf16 | all of the result's type |
//! | f32 | `add`, `sub`, `fma` | f16 or bf16, then f32 |
//! | f16, bf16 | `add`, `sub`, `mul` | two of f32 |
//! | f16, bf16 | `mul` | one of the result's type, one of the other |
//! | f8E5M2, f8E4M3FN | `add`, `sub`, `mul`, `fma` | factors and the first addend of 8 or 4 bits or scales, the last addend of the result's type |
//!
//! 4-bit floats come two in an i8, so such an operand has half of the elements along one dimension, the same one for
//! all.

use super::{Type, ensure, result_ty};
use crate::ir::core::{FloatKind, Ir, Op};
use crate::ir::dialects::enums::PackedKind::{self, Add, Fma, Max, Min, Mul, Sub};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttng::ttng as view;

/// What an element is to the instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    F32,
    /// f16 or bf16.
    Half(FloatKind),
    /// f8E5M2 or f8E4M3FN.
    Float8(FloatKind),
    /// Two 4-bit floats in an i8.
    Pair4,
    /// f8E8M0FNU
    Scale,
}

fn element(ty: Type) -> Element {
    match ty.elem().as_float() {
        Some(FloatKind::F32) => Element::F32,
        Some(k @ (FloatKind::F16 | FloatKind::BF16)) => Element::Half(k),
        Some(FloatKind::F8E8M0FNU) => Element::Scale,
        Some(k) => Element::Float8(k),
        None => Element::Pair4,
    }
}

/// How many elements one instruction computes.
#[must_use]
pub fn lanes(result: Type) -> usize {
    if matches!(element(result), Element::Float8(_)) { 4 } else { 2 }
}

/// Operands as many and of such types as an instruction takes, of the result's shape.
pub fn packed_arith(ir: &Ir, op: Op) -> VerifyResult {
    let kind = view::PackedArith(op).op_kind(ir).unwrap_or(Add);
    let types: Vec<Type> = ir.operands(op).iter().map(|&v| ir.ty(v)).collect();
    let expected = if kind == Fma { 3 } else { 2 };
    ensure!(types.len() == expected, "it has {} operands, expected {expected}", types.len());
    let result = result_ty(ir, op);
    ensure!(result.encoding().is_some(), "the result has type {result}, expected a layout");
    let elements: Vec<Element> = types.iter().map(|&t| element(t)).collect();
    ensure!(
        has_instruction(kind, element(result), &elements),
        "no instruction computes `{}` of {} in {}",
        kind,
        types.iter().map(|t| t.elem().to_string()).collect::<Vec<_>>().join(", "),
        result.elem()
    );
    let mut axis = None;
    for (at, &ty) in types.iter().enumerate() {
        if element(ty) != Element::Pair4 {
            ensure!(
                ty.shape() == result.shape(),
                "operand #{at} has shape {:?}, and the result {:?}",
                ty.shape(),
                result.shape()
            );
            continue;
        }
        let halved = halved_axis(ty, result);
        ensure!(
            halved.is_some() && axis.is_none_or(|a| Some(a) == halved),
            "operand #{at} has shape {:?}, expected {:?} with one dimension halved, the same for all operands",
            ty.shape(),
            result.shape()
        );
        axis = halved;
    }
    Ok(())
}

fn has_instruction(kind: PackedKind, result: Element, operands: &[Element]) -> bool {
    let alike = operands.iter().all(|&o| o == result);
    let half = |e: Element| matches!(e, Element::Half(_));
    let narrow = |e: Element| matches!(e, Element::Float8(_) | Element::Pair4 | Element::Scale);
    match (result, operands) {
        (Element::F32, _) if alike => !matches!(kind, Min | Max),
        (Element::Half(_), _) if alike => true,
        (Element::F32, [a, Element::F32]) => half(*a) && matches!(kind, Add | Sub),
        (Element::F32, [a, Element::F32, Element::F32]) => half(*a) && kind == Fma,
        (Element::Half(_), [Element::F32, Element::F32]) => matches!(kind, Add | Sub | Mul),
        (Element::Half(_), [a, b]) => *a == result && half(*b) && kind == Mul,
        (Element::Float8(_), [a, b]) if matches!(kind, Add | Sub) => narrow(*a) && *b == result,
        (Element::Float8(_), [a, b]) => narrow(*a) && narrow(*b) && !matches!(kind, Min | Max),
        (Element::Float8(_), [a, b, c]) => narrow(*a) && narrow(*b) && *c == result,
        _ => false,
    }
}

/// The one dimension along which `part` has half of the elements of `whole`.
#[must_use]
pub fn halved_axis(part: Type, whole: Type) -> Option<usize> {
    let (from, to) = (part.shape(), whole.shape());
    let differ: Vec<usize> = (0..from.len()).filter(|&d| to.get(d) != Some(&from[d])).collect();
    match differ[..] {
        [d] if from.len() == to.len() && to[d] == 2 * from[d] => Some(d),
        _ => None,
    }
}
