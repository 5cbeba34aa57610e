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

use super::is_block_pointer;
use crate::ir::core::{Attr, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::enums::PaddingOption;
use crate::ir::dialects::tt::tt::{ExpandDims, Load, Store};
use crate::passes::tt::block_access;

/// What a block pointer is made of, as values at the access.
pub(super) struct Parts {
    pub(super) base: Value,
    /// The three have one i64 for each dimension.
    pub(super) extents: Vec<Value>,
    pub(super) strides: Vec<Value>,
    pub(super) offsets: Vec<Value>,
}

/// The block pointer through which an operation accesses memory, if it does.
pub(super) fn block_pointer(ir: &Ir, op: Op) -> Option<Value> {
    let load = Load::of(ir, op).map(|load| load.ptr(ir));
    let ptr = load.or_else(|| Store::of(ir, op).map(|store| store.ptr(ir)))?;
    Some(ptr).filter(|&ptr| is_block_pointer(ir.ty(ptr)))
}

/// Why an access through a block pointer cannot be rewritten.
pub(super) fn fault(ir: &Ir, op: Op) -> Option<String> {
    let name = ir.op_name(op);
    let elem = ir.ty(block_pointer(ir, op)?).pointee().map(Type::elem)?;
    let load = Load::of(ir, op);
    let masked_load = load.is_some_and(|load| load.mask(ir).is_some() || load.other(ir).is_some());
    if masked_load || Store::of(ir, op).is_some_and(|store| store.mask(ir).is_some()) {
        return Some(format!("`{name}` through a block pointer has a mask; it can check boundaries only"));
    }
    match load.and_then(|load| load.padding(ir)) {
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
    let block = block_pointer(ir, op).and_then(|ptr| ir.ty(ptr).pointee()).expect("the address is a block pointer");
    // Loads and stores write what they check in the same way.
    let checked = ir.get(op, Load::ATTR.boundaryCheck).unwrap_or_default();
    let checked: Vec<usize> = checked.iter().map(|&d| d as usize).collect();
    let padding = Load::of(ir, op).and_then(|load| load.padding(ir));
    let load = ir.is(op, TtOp::Load);
    let mut made = vec![None; block.rank()];
    let mut at =
        |b: &mut Builder<'_>, d: usize| *made[d].get_or_insert_with(|| coordinates(b, parts.offsets[d], block, d));
    let mut b = Builder::before(ir, op);
    let ptr = block_access::pointers(&mut b, parts.base, &parts.strides, block, &mut at);
    let mask = block_access::mask(&mut b, &parts.extents, &checked, block, &mut at);
    let other = padding.filter(|_| load && mask.is_some()).map(|p| padded(&mut b, block, p));
    if load {
        ir.put_operands(op, Load::SLOT.ptr, &[ptr]);
        ir.put_operands(op, Load::SLOT.mask, mask.as_slice());
        ir.put_operands(op, Load::SLOT.other, other.as_slice());
        ir.take(op, Load::ATTR.padding);
    } else {
        ir.put_operands(op, Store::SLOT.ptr, &[ptr]);
        ir.put_operands(op, Store::SLOT.mask, mask.as_slice());
    }
    ir.take(op, Load::ATTR.boundaryCheck);
}

/// The coordinates along dimension `d`, with size 1 along the others.
fn coordinates(b: &mut Builder<'_>, offset: Value, block: Type, d: usize) -> Value {
    let size = block.shape()[d];
    let mut at = block_access::row(b, offset, size, block.encoding());
    let mut shape = vec![size];
    for axis in (0..block.rank()).filter(|&axis| axis != d) {
        shape.insert(axis, 1);
        let ty = Type::tensor(&shape, Type::int(64), block.encoding());
        let expanded = ExpandDims::state(b.loc, at).with(ExpandDims::ATTR.axis, axis as i64);
        at = b.result(expanded, ty);
    }
    at
}

fn padded(b: &mut Builder<'_>, block: Type, padding: PaddingOption) -> Value {
    let elem = block.elem();
    let bits = elem.as_float().map_or(0, |k| k.from_f64(if padding == PaddingOption::Nan { f64::NAN } else { 0.0 }));
    let scalar = b.constant(Attr::splat_bits(elem, bits));
    b.value(TtOp::Splat, &[scalar], block)
}
