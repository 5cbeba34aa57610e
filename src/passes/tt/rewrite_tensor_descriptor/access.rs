//! Loads, stores, reductions, gathers and scatters through descriptors, on tensors of pointers.
//!
//! # Algorithm
//!
//! 1. The coordinates of the block's elements: along dimension d the index of the operation + 0, 1, 2, …; for gathers
//!    and scatters along dimension 0 the row numbers. They are made once for the addresses and once for the mask, which
//!    `cse` merges.
//! 2. Addresses and mask as [`block_access`] says, with every dimension checked.
//! 3. What is loaded outside of the tensor is 0, or NaN for a float if the descriptor says so.
//! 4. A descriptor made by the host may ask for f32 rounded to tf32: then the loaded bits are rounded to nearest even
//!    at bit 13.
//!
//! Example of 4: 0x3f80_1000 lies half way between 0x3f80_0000 and 0x3f80_2000. Bit 13 of the bits is 0, so 0x0fff is
//! added and the sum 0x3f80_1fff is cut to 0x3f80_0000. From 0x3f80_3000, where bit 13 is 1, adding 0x1000 gives
//! 0x3f80_4000.

use crate::ir::core::{Attr, Builder, InsertPoint, Ir, Name, Op, OpState, Type, TypeData, Value};
use crate::ir::dialects::enums::{CmpiPredicate, DescriptorReduceKind, Enumeration, MemScope, MemSemantic, RmwKind};
use crate::ir::dialects::keys::OPERAND_SEGMENTS;
use crate::ir::dialects::tt::tt::{
    AtomicRmw, DescriptorGather, DescriptorLoad, DescriptorReduce, DescriptorScatter, DescriptorStore, Load, Store,
};
use crate::ir::dialects::{ArithOp, ScfOp, TtOp};
use crate::passes::tt::block_access;

/// What a descriptor is made of, as values at the access.
pub(super) struct Parts<'a> {
    base: Value,
    /// The two have one i64 for each dimension.
    extents: &'a [Value],
    strides: &'a [Value],
    /// Whether elements outside of the tensor are NaN.
    nan: Value,
    /// Whether f32 is rounded to tf32.
    tf32: Value,
}

impl Parts<'_> {
    /// From the parts in order, of a descriptor of this type.
    pub(super) fn new(parts: &[Value], desc: Type) -> Parts<'_> {
        let rank = desc.rank();
        let (extents, strides) = parts[1..=2 * rank].split_at(rank);
        Parts { base: parts[0], extents, strides, nan: parts[1 + 2 * rank], tf32: parts[2 + 2 * rank] }
    }
}

/// An access through a descriptor.
#[derive(Clone, Copy)]
pub(super) enum DescriptorAccess {
    Load(DescriptorLoad),
    Store(DescriptorStore),
    Reduce(DescriptorReduce),
    Gather(DescriptorGather),
    Scatter(DescriptorScatter),
}

impl DescriptorAccess {
    /// The access that an operation makes, if it makes one.
    pub(super) fn of(ir: &Ir, op: Op) -> Option<DescriptorAccess> {
        let load = DescriptorLoad::of(ir, op).map(DescriptorAccess::Load);
        load.or_else(|| DescriptorStore::of(ir, op).map(DescriptorAccess::Store))
            .or_else(|| DescriptorReduce::of(ir, op).map(DescriptorAccess::Reduce))
            .or_else(|| DescriptorGather::of(ir, op).map(DescriptorAccess::Gather))
            .or_else(|| DescriptorScatter::of(ir, op).map(DescriptorAccess::Scatter))
    }

    /// The descriptor.
    pub(super) fn descriptor(self, ir: &Ir) -> Value {
        match self {
            DescriptorAccess::Load(access) => access.desc(ir),
            DescriptorAccess::Store(access) => access.desc(ir),
            DescriptorAccess::Reduce(access) => access.desc(ir),
            DescriptorAccess::Gather(access) => access.desc(ir),
            DescriptorAccess::Scatter(access) => access.desc(ir),
        }
    }

    /// Why the access cannot be rewritten.
    pub(super) fn fault(self, ir: &Ir) -> Option<String> {
        if let DescriptorAccess::Reduce(reduce) = self { reduction(ir, reduce).err() } else { None }
    }

    /// Makes what takes the place of the access, before it, and replaces its result.
    pub(super) fn rewrite(self, ir: &mut Ir, parts: &Parts<'_>) {
        let block = block_type(ir.ty(self.descriptor(ir)));
        match self {
            DescriptorAccess::Load(access) => load(ir, access, parts, block),
            DescriptorAccess::Gather(access) => gather(ir, access, parts),
            DescriptorAccess::Store(access) => {
                let (op, indices) = (access.0, extended(ir, access.0, access.indices(ir).to_vec()));
                let (ptr, mask) = block_at(ir, op, parts, block, &indices);
                store(ir, op, [ptr, access.src(ir), mask]);
            }
            DescriptorAccess::Scatter(access) => {
                let (op, block) = (access.0, ir.ty(access.src(ir)));
                let (ptr, mask) = rows(ir, op, parts, block, (access.x_offsets(ir), access.y_offset(ir)));
                store(ir, op, [ptr, access.src(ir), mask]);
            }
            DescriptorAccess::Reduce(access) => reduce(ir, access, parts, block),
        }
    }
}

/// The atomic operation that does what a `tt.descriptor_reduce` does.
///
/// # Errors
/// Says why there is none.
fn reduction(ir: &Ir, reduce: DescriptorReduce) -> Result<RmwKind, String> {
    let TypeData::TensorDesc { elem, .. } = *ir.ty(reduce.desc(ir)) else {
        return Err("it reduces through no descriptor".into());
    };
    let signed = match *elem {
        TypeData::SignedInt { signed, .. } => Some(signed),
        _ => None,
    };
    let Some(kind) = reduce.kind(ir) else { return Err("it says no reduction".into()) };
    match (kind, signed) {
        (DescriptorReduceKind::Add, _) => Ok(if elem.is_float() { RmwKind::Fadd } else { RmwKind::Add }),
        (DescriptorReduceKind::Min, Some(signed)) => Ok(if signed { RmwKind::Min } else { RmwKind::Umin }),
        (DescriptorReduceKind::Max, Some(signed)) => Ok(if signed { RmwKind::Max } else { RmwKind::Umax }),
        (DescriptorReduceKind::And, _) => Ok(RmwKind::And),
        (DescriptorReduceKind::Or, _) => Ok(RmwKind::Or),
        (DescriptorReduceKind::Xor, _) => Ok(RmwKind::Xor),
        (
            DescriptorReduceKind::Min
            | DescriptorReduceKind::Max
            | DescriptorReduceKind::Inc
            | DescriptorReduceKind::Dec,
            _,
        ) => {
            let name = kind.name();
            Err(format!("there is no atomic operation for `tt.descriptor_reduce {name}` on elements of type {elem}"))
        }
    }
}

/// The type of the descriptor's block as a tensor.
fn block_type(desc: Type) -> Type {
    Type::tensor(desc.shape(), desc.elem(), None)
}

/// The indices of the operation as i64.
fn extended(ir: &mut Ir, op: Op, indices: Vec<Value>) -> Vec<Value> {
    indices.into_iter().map(|index| super::extend(ir, op, index)).collect()
}

/// Addresses and mask of a block that starts at these indices.
fn block_at(ir: &mut Ir, op: Op, parts: &Parts<'_>, block: Type, indices: &[Value]) -> (Value, Value) {
    let mut b = Builder::before(ir, op);
    from_coordinates(&mut b, parts, block, &|b| {
        indices.iter().enumerate().map(|(d, &index)| coordinates(b, index, block, d)).collect()
    })
}

/// Addresses and mask, each from its own coordinates.
fn from_coordinates(
    b: &mut Builder<'_>,
    parts: &Parts<'_>,
    block: Type,
    make: &dyn Fn(&mut Builder<'_>) -> Vec<Value>,
) -> (Value, Value) {
    let at = make(b);
    let ptr = block_access::pointers(b, parts.base, parts.strides, block, &mut |_, d| at[d]);
    let at = make(b);
    (ptr, inside(b, parts, block, &at))
}

fn inside(b: &mut Builder<'_>, parts: &Parts<'_>, block: Type, at: &[Value]) -> Value {
    let all: Vec<usize> = (0..at.len()).collect();
    block_access::mask(b, parts.extents, &all, block, &mut |_, d| at[d])
        .expect("a descriptor has at least one dimension")
}

/// Coordinates that start at `index` along dimension `d`, with size 1 along the others.
fn coordinates(b: &mut Builder<'_>, index: Value, block: Type, d: usize) -> Value {
    let row = block_access::row(b, index, block.shape()[d], None);
    expand(b, row, block.rank(), d)
}

/// A vector along dimension `d` of `rank`.
fn expand(b: &mut Builder<'_>, vector: Value, rank: usize, d: usize) -> Value {
    let ty = b.ir.ty(vector);
    let mut shape = vec![1; rank];
    shape[d] = ty.shape()[0];
    b.value(TtOp::Reshape, &[vector], ty.with_shape(&shape, None))
}

/// Addresses and mask of the rows of a gather or scatter.
fn rows(ir: &mut Ir, op: Op, parts: &Parts<'_>, block: Type, at: (Value, Value)) -> (Value, Value) {
    let (numbers, column) = at;
    let mut b = Builder::before(ir, op);
    let x = expand(&mut b, numbers, 2, 0);
    let y = super::extend(ir, op, column);
    let mut b = Builder::before(ir, op);
    let wide = b.ir.ty(x).with_elem(Type::int(64));
    let x = b.value(ArithOp::Extsi, &[x], wide);
    let at = [x, coordinates(&mut b, y, block, 1)];
    let ptr = block_access::pointers(&mut b, parts.base, parts.strides, block, &mut |_, d| at[d]);
    (ptr, inside(&mut b, parts, block, &at))
}

fn load(ir: &mut Ir, access: DescriptorLoad, parts: &Parts<'_>, block: Type) {
    let (op, indices) = (access.0, extended(ir, access.0, access.indices(ir).to_vec()));
    let other = outside(&mut Builder::before(ir, op), parts, block);
    let (ptr, mask) = block_at(ir, op, parts, block, &indices);
    let mut value = load_op(ir, op, [ptr, mask, other]);
    if block.elem() == Type::f32() {
        let state = OpState::new(ScfOp::If, ir.loc(op)).operands(&[parts.tf32]).results(&[ir.ty(value)]).regions(2);
        let choice = ir.create_op(state);
        ir.insert_before(op, choice);
        for rounds in [true, false] {
            let region = ir.region(choice, usize::from(!rounds));
            let block = ir.add_block(region, &[]);
            let loc = ir.loc(op);
            let mut b = Builder::new(ir, InsertPoint::End(block), loc);
            let chosen = if rounds { rounded(&mut b, value) } else { value };
            b.op(ScfOp::Yield, &[chosen], &[]);
        }
        value = ir.result(choice);
    }
    replace_result(ir, op, value);
}

fn gather(ir: &mut Ir, access: DescriptorGather, parts: &Parts<'_>) {
    let (op, block) = (access.0, ir.ty(access.result(ir)));
    let (ptr, mask) = rows(ir, op, parts, block, (access.x_offsets(ir), access.y_offset(ir)));
    let other = outside(&mut Builder::before(ir, op), parts, block);
    let mut value = load_op(ir, op, [ptr, mask, other]);
    if block.elem() == Type::f32() {
        let mut b = Builder::before(ir, op);
        let rounded = rounded(&mut b, value);
        value = b.value(ArithOp::Select, &[parts.tf32, rounded, value], block);
    }
    replace_result(ir, op, value);
}

/// A descriptor's block may have another shape than the tensor that it is loaded as, with as many elements.
fn replace_result(ir: &mut Ir, op: Op, mut value: Value) {
    let (result, ty) = (ir.result(op), ir.ty(ir.result(op)));
    if ir.ty(value) != ty {
        value = Builder::before(ir, op).value(TtOp::Reshape, &[value], ty);
    }
    ir.replace_all_uses(result, value);
}

fn reduce(ir: &mut Ir, access: DescriptorReduce, parts: &Parts<'_>, block: Type) {
    let kind = reduction(ir, access).expect("checked before anything is changed");
    let (op, indices) = (access.0, extended(ir, access.0, access.indices(ir).to_vec()));
    let (ptr, mask) = block_at(ir, op, parts, block, &indices);
    let value = as_block(ir, op, access.src(ir), block);
    let atomic = AtomicRmw::state(ir.loc(op), ptr, value, Some(mask))
        .results(&[block])
        .with(AtomicRmw::ATTR.atomic_rmw_op, kind)
        .with(AtomicRmw::ATTR.sem, MemSemantic::Release)
        .with(AtomicRmw::ATTR.scope, MemScope::Gpu);
    Builder::before(ir, op).insert(atomic);
}

/// The value in the shape of the block.
fn as_block(ir: &mut Ir, op: Op, value: Value, block: Type) -> Value {
    if ir.ty(value).shape() == block.shape() {
        value
    } else {
        Builder::before(ir, op).value(TtOp::Reshape, &[value], block)
    }
}

/// The attributes of the access but those that say how its operands are grouped.
fn kept_attrs(ir: &Ir, op: Op) -> Vec<(Name, Attr)> {
    ir.attrs(op).iter().copied().filter(|(name, _)| name.as_str() != OPERAND_SEGMENTS.name()).collect()
}

fn load_op(ir: &mut Ir, op: Op, [ptr, mask, other]: [Value; 3]) -> Value {
    let state = Load::state(ir.loc(op), ptr, Some(mask), Some(other)).results(&[ir.ty(other)]);
    let new = ir.create_op(state.attrs(&kept_attrs(ir, op)));
    ir.insert_before(op, new);
    ir.result(new)
}

fn store(ir: &mut Ir, op: Op, [ptr, value, mask]: [Value; 3]) {
    let block = ir.ty(ptr).with_elem(ir.ty(value).elem());
    let value = as_block(ir, op, value, block);
    let attrs = kept_attrs(ir, op);
    let new = ir.create_op(Store::state(ir.loc(op), ptr, value, Some(mask)).attrs(&attrs));
    ir.insert_before(op, new);
}

/// What stands for the elements outside of the tensor.
fn outside(b: &mut Builder<'_>, parts: &Parts<'_>, block: Type) -> Value {
    let Some(kind) = block.elem().as_float() else { return b.int(0, block) };
    let [nan, zero] = [f64::NAN, 0.0].map(|x| b.constant(Attr::splat_bits(block, kind.from_f64(x))));
    b.value(ArithOp::Select, &[parts.nan, nan, zero], block)
}

/// f32 rounded to the 10 bits of mantissa of tf32, to nearest even; infinities and NaNs as they are.
fn rounded(b: &mut Builder<'_>, value: Value) -> Value {
    let float = b.ir.ty(value);
    let ty = float.with_elem(Type::int(32));
    let bits = b.value(TtOp::Bitcast, &[value], ty);
    let exponent_mask = b.int(0x7f80_0000, ty);
    let exponent = b.value(ArithOp::Andi, &[bits, exponent_mask], ty);
    let special = b.cmpi(CmpiPredicate::Eq, exponent, exponent_mask);
    let thirteen = b.int(13, ty);
    let kept = b.value(ArithOp::Shrui, &[bits, thirteen], ty);
    let one = b.int(1, ty);
    let lowest = b.value(ArithOp::Andi, &[kept, one], ty);
    let half = b.int(0xfff, ty);
    let bias = b.value(ArithOp::Addi, &[lowest, half], ty);
    let sum = b.value(ArithOp::Addi, &[bits, bias], ty);
    let cut = b.int(0xffff_e000, ty);
    let cut = b.value(ArithOp::Andi, &[sum, cut], ty);
    let bits = b.value(ArithOp::Select, &[special, bits, cut], ty);
    b.value(TtOp::Bitcast, &[bits], float)
}
