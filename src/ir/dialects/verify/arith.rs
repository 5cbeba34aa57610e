//! Rules of the `arith` dialect.

use super::{operand_type, result_type, rule};
use crate::ir::core::{AttrData, DenseData, Ir, Op, Type, TypeData};
use crate::ir::dialects::spec::VerifyResult;

/// The value's type is the result's, and a dense value has as many elements as its type.
pub fn constant(ir: &Ir, op: Op) -> VerifyResult {
    let Some(value) = ir.stored_attr(op, "value") else { return Err("must have a `value`".to_owned()) };
    let ty = result_type(ir, op);
    rule(value.type_of() == Some(ty), || format!("the value's type must be the result's: expected `{ty}`, found `{value}`"))?;
    if let AttrData::Dense(ty, DenseData::Elements(values)) = value.data() {
        rule(values.len() as i64 == ty.num_elements(), || {
            format!("`{ty}` must have {} elements, found {}", ty.num_elements(), values.len())
        })?;
    }
    Ok(())
}

/// The condition is one bit, or a tensor of bits in the shape and encoding of the values.
pub fn select(ir: &Ir, op: Op) -> VerifyResult {
    let (condition, yes, no, result) = (operand_type(ir, op, 0), operand_type(ir, op, 1), operand_type(ir, op, 2), result_type(ir, op));
    rule(yes == no && yes == result, || format!("both values and the result must have one type, found `{yes}`, `{no}` and `{result}`"))?;
    rule(condition.is_int_of(1) || condition == yes.with_elem(Type::int(1)), || {
        format!("the condition must be `i1` or `{}`, found `{condition}`", yes.with_elem(Type::int(1)))
    })
}

fn widths(ir: &Ir, op: Op) -> (u32, u32, Type, Type) {
    let (from, to) = (operand_type(ir, op, 0), result_type(ir, op));
    (from.bit_width().unwrap_or(0), to.bit_width().unwrap_or(0), from, to)
}

/// The result is wider.
pub fn widens(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, from, to) = widths(ir, op);
    rule(a < b, || format!("the result must be wider than the operand, found `{from}` to `{to}`"))
}

/// The result is narrower.
pub fn narrows(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, from, to) = widths(ir, op);
    rule(a > b, || format!("the result must be narrower than the operand, found `{from}` to `{to}`"))
}

/// Operand and result are as wide.
pub fn same_width(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, from, to) = widths(ir, op);
    rule(a == b, || format!("operand and result must have the same width, found `{from}` to `{to}`"))
}

/// One side is `index`.
pub fn index_cast(ir: &Ir, op: Op) -> VerifyResult {
    let (.., from, to) = widths(ir, op);
    let index = |t: Type| matches!(t.elem().data(), TypeData::Index);
    rule(index(from) != index(to), || format!("must convert between `index` and an integer, found `{from}` to `{to}`"))
}
