//! Loads and stores through block pointers as loads and stores through tensors of pointers.
//!
//! # Algorithm
//!
//! 1. The coordinates along dimension d are its offset + 0, 1, 2, …, expanded to the rank of the block; each
//!    dimension's are made once.
//! 2. Addresses and mask come from them as [`block_access`] says. Only the dimensions of `boundaryCheck` are checked;
//!    without any there is no mask.
//! 3. A load's `padding` is what it gives where the mask is false.
//!
//! Example: `tt.load %p {boundaryCheck = array<i32: 0>, padding = 1 : i32}` becomes a load with a mask of one
//! comparison by dimension 0, and a splat of 0 for the elements outside.

use crate::ir::core::{Attr, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::enums::PaddingOption;
use crate::passes::tt::block_access;

/// What a block pointer is made of, as values at the access.
pub(super) struct Parts {
    pub(super) base: Value,
    /// The three have one i64 for each dimension.
    pub(super) extents: Vec<Value>,
    pub(super) strides: Vec<Value>,
    pub(super) offsets: Vec<Value>,
}

/// Why an access through a block pointer cannot be rewritten.
pub(super) fn fault(ir: &Ir, op: Op) -> Option<String> {
    let name = ir.op_name(op);
    let mask = if ir.is(op, TtOp::Load) { ir.operand_group(op, 1) } else { ir.operand_group(op, 2) };
    if !mask.is_empty() || ir.is(op, TtOp::Load) && !ir.operand_group(op, 2).is_empty() {
        return Some(format!("`{name}` through a block pointer has a mask; it can check boundaries only"));
    }
    let elem = ir.ty(ir.operand(op, 0)).pointee().map(Type::elem)?;
    match ir.enum_attr(op, "padding") {
        Some(PaddingOption::Nan) if !elem.is_float() => {
            Some(format!("`{name}` pads with NaN, and the elements have type {elem}"))
        }
        Some(_) if !elem.is_float() && !elem.is_int() => {
            Some(format!("`{name}` pads, and the elements have type {elem}"))
        }
        _ => None,
    }
}

/// Rewrites a load or store in place.
pub(super) fn rewrite(ir: &mut Ir, op: Op, parts: &Parts) {
    let block = ir.ty(ir.operand(op, 0)).pointee().expect("the address is a block pointer");
    let checked = ir.stored_attr(op, "boundaryCheck").and_then(Attr::as_dense_array).unwrap_or_default();
    let checked: Vec<usize> = checked.iter().map(|&d| d as usize).collect();
    let padding = ir.enum_attr::<PaddingOption>(op, "padding");
    let load = ir.is(op, TtOp::Load);
    let mut made = vec![None; block.rank()];
    let mut at =
        |b: &mut Builder<'_>, d: usize| *made[d].get_or_insert_with(|| coordinates(b, parts.offsets[d], block, d));
    let mut b = Builder::before(ir, op);
    let ptr = block_access::pointers(&mut b, parts.base, &parts.strides, block, &mut at);
    let mask = block_access::mask(&mut b, &parts.extents, &checked, block, &mut at);
    let other = padding.filter(|_| load && mask.is_some()).map(|p| padded(&mut b, block, p));
    if load {
        let operands: Vec<Value> = std::iter::once(ptr).chain(mask).chain(other).collect();
        let sizes = Attr::i32_array(&[1, i64::from(mask.is_some()), i64::from(other.is_some())]);
        ir.set_attr(op, "operandSegmentSizes", sizes);
        ir.set_operands(op, &operands);
    } else {
        let value = ir.operand(op, 1);
        let operands: Vec<Value> = [ptr, value].into_iter().chain(mask).collect();
        ir.set_operands(op, &operands);
    }
    ir.remove_attr(op, "boundaryCheck");
    ir.remove_attr(op, "padding");
}

/// The coordinates along dimension `d`, with size 1 along the others.
fn coordinates(b: &mut Builder<'_>, offset: Value, block: Type, d: usize) -> Value {
    let size = block.shape()[d];
    let mut at = block_access::row(b, offset, size, block.encoding());
    let mut shape = vec![size];
    for axis in (0..block.rank()).filter(|&axis| axis != d) {
        shape.insert(axis, 1);
        let ty = Type::tensor(&shape, Type::int(64), block.encoding());
        at = b.value_with(TtOp::ExpandDims, &[at], ty, &[("axis", Attr::i32(axis as i64))]);
    }
    at
}

fn padded(b: &mut Builder<'_>, block: Type, padding: PaddingOption) -> Value {
    let elem = block.elem();
    let bits = elem.as_float().map_or(0, |k| k.from_f64(if padding == PaddingOption::Nan { f64::NAN } else { 0.0 }));
    let scalar = b.constant(Attr::splat_bits(elem, bits));
    b.value(TtOp::Splat, &[scalar], block)
}
