//! Loads and stores through block pointers as loads and stores through tensors of pointers.
//!
//! # Algorithm
//!
//! 1. The coordinate of every element along dimension d is offset + 0, 1, 2, …, as a tensor that has size 1 along all other dimensions.
//! 2. The address is the base plus coordinate × stride, for each dimension.
//! 3. Along each dimension of `boundaryCheck` the mask asks for 0 ≤ coordinate < extent. Without boundary checks there is no mask.
//! 4. A load's `padding` is what it gives where the mask is false.
//!
//! Example: a block of 2×4 at (4, 4) of a 5×6 tensor with strides (6, 1): addresses base + 28 to 31 and 34 to 37; with both dimensions checked only
//! 28 and 29 are read.

use crate::ir::core::{Attr, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::{ArithOp, TtOp};

/// What a block pointer is made of, as values at the access.
pub(super) struct Parts {
    pub(super) base: Value,
    /// The three have one i64 for each dimension.
    pub(super) extents: Vec<Value>,
    pub(super) strides: Vec<Value>,
    pub(super) offsets: Vec<Value>,
}

const SGE: i64 = 5;
const SLT: i64 = 2;
/// `padding = 2`
const NAN: i64 = 2;

/// Why an access through a block pointer cannot be rewritten.
pub(super) fn fault(ir: &Ir, op: Op) -> Option<String> {
    let name = ir.op_name(op);
    let mask = if ir.is(op, TtOp::Load) { ir.operand_group(op, 1) } else { ir.operand_group(op, 2) };
    if !mask.is_empty() || ir.is(op, TtOp::Load) && !ir.operand_group(op, 2).is_empty() {
        return Some(format!("`{name}` through a block pointer has a mask; it can check boundaries only"));
    }
    let elem = ir.ty(ir.operand(op, 0)).pointee().map(Type::elem)?;
    match ir.stored_attr(op, "padding").and_then(Attr::as_int) {
        Some(NAN) if !elem.is_float() => Some(format!("`{name}` pads with NaN, and the elements have type {elem}")),
        Some(_) if !elem.is_float() && !elem.is_int() => Some(format!("`{name}` pads, and the elements have type {elem}")),
        _ => None,
    }
}

/// Rewrites a load or store in place.
pub(super) fn rewrite(ir: &mut Ir, op: Op, parts: &Parts) {
    let block = ir.ty(ir.operand(op, 0)).pointee().expect("the address is a block pointer");
    let checked = ir.stored_attr(op, "boundaryCheck").and_then(Attr::as_dense_array).unwrap_or_default();
    let padding = ir.stored_attr(op, "padding").and_then(Attr::as_int);
    let load = ir.is(op, TtOp::Load);
    let mut access = Access { b: Builder::before(ir, op), parts, block, coordinates: vec![None; block.rank()] };
    let ptr = access.pointers();
    let mask = access.mask(checked);
    let other = padding.filter(|_| load && mask.is_some()).map(|p| access.padding(p));
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

struct Access<'a> {
    b: Builder<'a>,
    parts: &'a Parts,
    block: Type,
    /// Of each dimension, once it has been made.
    coordinates: Vec<Option<Value>>,
}

impl Access<'_> {
    /// The coordinates along dimension `d`, with size 1 along the others.
    fn coordinate(&mut self, d: usize) -> Value {
        if let Some(made) = self.coordinates[d] {
            return made;
        }
        let size = self.block.shape()[d];
        let row = |bits: u32| Type::tensor(&[size], Type::int(bits), self.block.encoding());
        let (narrow, wide) = (row(32), row(64));
        let offset = self.b.value(TtOp::Splat, &[self.parts.offsets[d]], wide);
        let range = self.b.value_with(TtOp::MakeRange, &[], narrow, &[("start", Attr::i32(0)), ("end", Attr::i32(size))]);
        let range = self.b.value(ArithOp::Extsi, &[range], wide);
        let mut at = self.b.value(ArithOp::Addi, &[offset, range], wide);
        let mut shape = vec![size];
        for axis in (0..self.block.rank()).filter(|&axis| axis != d) {
            shape.insert(axis, 1);
            let ty = Type::tensor(&shape, Type::int(64), self.block.encoding());
            at = self.b.value_with(TtOp::ExpandDims, &[at], ty, &[("axis", Attr::i32(axis as i64))]);
        }
        self.coordinates[d] = Some(at);
        at
    }

    fn splat(&mut self, scalar: Value, like: Value) -> Value {
        let ty = self.b.ir.ty(like);
        self.b.value(TtOp::Splat, &[scalar], ty)
    }

    fn pointers(&mut self) -> Value {
        let ty = self.block.with_elem(self.b.ir.ty(self.parts.base));
        let whole = self.block.with_elem(Type::int(64));
        let mut ptr = self.b.value(TtOp::Splat, &[self.parts.base], ty);
        for d in 0..self.block.rank() {
            let at = self.coordinate(d);
            // The stride is repeated over the expanded shape, so that what is known of its divisibility is kept.
            let stride = self.splat(self.parts.strides[d], at);
            let at_ty = self.b.ir.ty(at);
            let distance = self.b.value(ArithOp::Muli, &[at, stride], at_ty);
            let distance = self.b.value(TtOp::Broadcast, &[distance], whole);
            ptr = self.b.value(TtOp::Addptr, &[ptr, distance], ty);
        }
        ptr
    }

    fn mask(&mut self, checked: &[i64]) -> Option<Value> {
        let whole = self.block.with_elem(Type::int(1));
        let mut mask = None;
        for &d in checked {
            let at = self.coordinate(d as usize);
            let zero = self.b.int(0, Type::int(64));
            let zero = self.splat(zero, at);
            let above = self.compare(SGE, at, zero);
            let extent = self.splat(self.parts.extents[d as usize], at);
            let below = self.compare(SLT, at, extent);
            let ty = self.b.ir.ty(above);
            let inside = self.b.value(ArithOp::Andi, &[above, below], ty);
            let inside = self.b.value(TtOp::Broadcast, &[inside], whole);
            mask = Some(match mask {
                Some(so_far) => self.b.value(ArithOp::Andi, &[so_far, inside], whole),
                None => inside,
            });
        }
        mask
    }

    fn compare(&mut self, predicate: i64, x: Value, y: Value) -> Value {
        let ty = self.b.ir.ty(x).with_elem(Type::int(1));
        self.b.value_with(ArithOp::Cmpi, &[x, y], ty, &[("predicate", Attr::int(predicate, Type::int(64)))])
    }

    fn padding(&mut self, padding: i64) -> Value {
        let elem = self.block.elem();
        let bits = elem.as_float().map_or(0, |k| k.from_f64(if padding == NAN { f64::NAN } else { 0.0 }));
        let scalar = self.b.constant(Attr::splat_bits(elem, bits));
        self.b.value(TtOp::Splat, &[scalar], self.block)
    }
}
