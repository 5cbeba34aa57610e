//! Checks the relations between the types of operands and results that an operation's traits state.
//!
//! A scalar has no shape and no encoding. A pointer to a tensor (a block pointer) counts as that tensor, which is what
//! loads and stores through it mean. Encodings are compared only where both types have one.

use super::Verifier;
use crate::diag::codes::verify as codes;
use crate::ir::core::{Attr, Ir, Op, Type, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::spec::Traits;

impl Verifier<'_> {
    pub(super) fn check_traits(&mut self, op: Op) {
        let traits = self.ir.spec(op).traits;
        if !traits.intersects(RELATIONS) {
            return;
        }
        if let Err(message) = relations(self.ir, op, traits) {
            self.fault(&codes::TYPE_MISMATCH, op, &message);
        }
    }
}

const RELATIONS: Traits = Traits::SAME_OPERANDS_AND_RESULT_TYPE
    .union(Traits::SAME_OPERANDS_AND_RESULT_SHAPE)
    .union(Traits::SAME_OPERANDS_AND_RESULT_ENCODING)
    .union(Traits::SAME_TYPE_OPERANDS)
    .union(Traits::SAME_OPERANDS_SHAPE)
    .union(Traits::SAME_OPERANDS_ENCODING)
    .union(Traits::CAST)
    .union(Traits::ELEMENTWISE);

/// The first relation that does not hold.
fn relations(ir: &Ir, op: Op, traits: Traits) -> Result<(), String> {
    let (operands, results) = (ir.operands(op), ir.results(op));
    if traits.contains(Traits::SAME_OPERANDS_AND_RESULT_TYPE) {
        same(ir, operands, results, "type", |ty| ty)?;
        return Ok(());
    }
    if traits.contains(Traits::SAME_TYPE_OPERANDS) {
        same(ir, operands, &[], "type", |ty| ty)?;
    }
    if traits.intersects(Traits::SAME_OPERANDS_AND_RESULT_SHAPE.union(Traits::CAST)) {
        same(ir, operands, results, "shape", shape_of)?;
    } else if traits.contains(Traits::SAME_OPERANDS_SHAPE) {
        same(ir, operands, &[], "shape", shape_of)?;
    } else if traits.contains(Traits::ELEMENTWISE) {
        elementwise(ir, operands, results)?;
    }
    // The encodings of a broadcast may differ if the layouts for the source's shape are the same (`layouts`).
    if ir.is(op, TtOp::Broadcast) {
        return Ok(());
    }
    if traits.intersects(Traits::SAME_OPERANDS_AND_RESULT_ENCODING.union(Traits::CAST)) {
        same_encoding(ir, operands, results)?;
    } else if traits.contains(Traits::SAME_OPERANDS_ENCODING) {
        same_encoding(ir, operands, &[])?;
    }
    Ok(())
}

/// Whether `what` is the same for all values.
fn same<T: PartialEq>(
    ir: &Ir,
    operands: &[Value],
    results: &[Value],
    what: &str,
    of: fn(Type) -> T,
) -> Result<(), String> {
    let mut all = operands.iter().chain(results);
    let Some(&first) = all.next() else { return Ok(()) };
    let (first, expected) = (ir.ty(first), of(ir.ty(first)));
    for (at, &value) in all.enumerate() {
        let ty = ir.ty(value);
        if ty != first && of(ty) != expected {
            let here = name(at + 1, operands.len());
            return Err(format!(
                "{here} has type {ty}, expected the {what} of {}, which has type {first}",
                name(0, operands.len())
            ));
        }
    }
    Ok(())
}

/// Whether all encodings that are there are equal.
fn same_encoding(ir: &Ir, operands: &[Value], results: &[Value]) -> Result<(), String> {
    let mut first: Option<(usize, Attr)> = None;
    for (at, &value) in operands.iter().chain(results).enumerate() {
        let Some(encoding) = block(ir.ty(value)).encoding() else { continue };
        match first {
            None => first = Some((at, encoding)),
            Some((_, expected)) if expected == encoding => {}
            Some((other, expected)) => {
                let (here, there) = (name(at, operands.len()), name(other, operands.len()));
                return Err(format!("{here} has the encoding {encoding}, and {there} has {expected}"));
            }
        }
    }
    Ok(())
}

/// Checks an elementwise operation without further relations. Its tensors have one shape, and if there are any among
/// the operands, the results are tensors.
fn elementwise(ir: &Ir, operands: &[Value], results: &[Value]) -> Result<(), String> {
    let mut first: Option<(usize, Type)> = None;
    for (at, &value) in operands.iter().chain(results).enumerate() {
        let ty = ir.ty(value);
        match first {
            Some((other, expected)) if ty.is_tensor() && ty.shape() != expected.shape() => {
                let (here, there) = (name(at, operands.len()), name(other, operands.len()));
                return Err(format!("{here} has type {ty}, expected the shape of {there}, which has type {expected}"));
            }
            Some(_) if !ty.is_tensor() && at >= operands.len() => {
                return Err(format!(
                    "{} has type {ty}, expected a tensor since an operand is one",
                    name(at, operands.len())
                ));
            }
            None if ty.is_tensor() => {
                if at >= operands.len() && !operands.is_empty() {
                    return Err(format!(
                        "{} has type {ty}, expected a scalar since all operands are scalars",
                        name(at, operands.len())
                    ));
                }
                first = Some((at, ty));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name of a position in the list of operands and results.
fn name(at: usize, operands: usize) -> String {
    if at < operands { format!("operand #{at}") } else { format!("result #{}", at - operands) }
}

/// The tensor that a block pointer points at. Any other type stands for itself.
fn block(ty: Type) -> Type {
    ty.pointee().filter(|p| p.is_tensor()).unwrap_or(ty)
}

fn shape_of(ty: Type) -> Option<&'static [i64]> {
    block(ty).as_tensor().map(|t| t.shape.as_slice())
}
