//! Rules of the `arith` dialect.

use super::{count, ensure, is_like, operand_ty, result_ty};
use crate::ir::core::{AttrData, DenseData, Ir, Op, Type, TypeData};
use crate::ir::dialects::arith::arith as view;
use crate::ir::dialects::spec::VerifyResult;

/// The attribute has the result's type, and a list of elements one for each.
pub fn constant(ir: &Ir, op: Op) -> VerifyResult {
    let ty = result_ty(ir, op);
    let Some(value) = view::Constant(op).value(ir) else { return Ok(()) };
    let found = value.type_of().ok_or("its value has no type")?;
    ensure!(found == ty, "its value has type {found}, and the result has type {ty}");
    if let AttrData::Dense(ty, data) = value.data() {
        ensure!(ty.is_tensor(), "its value is dense, expected a tensor type instead of {ty}");
        if let DenseData::Elements(elements) = data {
            let expected = count(ty.shape());
            ensure!(
                expected == Some(elements.len() as i64),
                "its value lists {} elements, and {ty} has another number",
                elements.len()
            );
        }
    }
    Ok(())
}

/// A wider result of integers.
pub fn extend_int(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (int_width(operand_ty(ir, op, 0))?, int_width(result_ty(ir, op))?);
    ensure!(from < to, "it extends {from} bits to {to}, expected more bits");
    Ok(())
}

/// A narrower result of integers.
pub fn truncate_int(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (int_width(operand_ty(ir, op, 0))?, int_width(result_ty(ir, op))?);
    ensure!(from > to, "it truncates {from} bits to {to}, expected fewer bits");
    Ok(())
}

/// A wider result of floats.
pub fn extend_float(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(from.bit_width() < to.bit_width(), "it extends {from} to {to}, expected a wider float");
    Ok(())
}

/// A narrower result of floats.
pub fn truncate_float(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(from.bit_width() > to.bit_width(), "it truncates {from} to {to}, expected a narrower float");
    Ok(())
}

/// From integers of some width: `index` is none.
pub fn from_int(ir: &Ir, op: Op) -> VerifyResult {
    int_width(operand_ty(ir, op, 0)).map(|_| ())
}

/// To integers of some width: `index` is none.
pub fn to_int(ir: &Ir, op: Op) -> VerifyResult {
    int_width(result_ty(ir, op)).map(|_| ())
}

/// Integers and floats of one width.
pub fn bitcast(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    for ty in [from, to] {
        ensure!(
            ty.elem().is_int() || ty.elem().is_float(),
            "{ty} has no bits to reinterpret, expected integers or floats"
        );
    }
    let (a, b) = (from.bit_width(), to.bit_width());
    ensure!(a == b, "{from} and {to} have elements of {} and {} bits", a.unwrap_or(0), b.unwrap_or(0));
    Ok(())
}

/// `index` on one side and an integer on the other.
pub fn index_cast(ir: &Ir, op: Op) -> VerifyResult {
    let (from, to) = (operand_ty(ir, op, 0), result_ty(ir, op));
    let is_index = |ty: Type| matches!(*ty.elem(), TypeData::Index);
    let good = (is_index(from) && to.elem().is_int()) || (from.elem().is_int() && is_index(to));
    ensure!(good, "it converts {from} to {to}, expected index on one side and an integer on the other");
    Ok(())
}

/// Both values and the result of one type; the condition a bit, or a bit for each element.
pub fn select(ir: &Ir, op: Op) -> VerifyResult {
    let (condition, a, b, result) =
        (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 2), result_ty(ir, op));
    ensure!(a == b, "it selects between {a} and {b}, expected one type");
    ensure!(a == result, "it selects between values of type {a}, and the result has type {result}");
    ensure!(
        condition.is_int_of(1) || (condition.elem().is_int_of(1) && is_like(condition, result, condition.elem())),
        "the condition has type {condition}, expected i1 or {}",
        result.with_elem(Type::int(1))
    );
    Ok(())
}

fn int_width(ty: Type) -> Result<u32, String> {
    match *ty.elem() {
        TypeData::Int(width) => Ok(width),
        _ => Err(format!("{ty} has no width, expected integers")),
    }
}
