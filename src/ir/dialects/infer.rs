//! Filling in types from others: shared by the text parser, which meets operands without types, and by builders, which
//! know operands only.

use super::spec::TypeSlots;
use crate::ir::core::{Type, TypeData};

/// All operands and results have one type.
pub fn same_type(t: &mut TypeSlots<'_>) {
    let known = t.operands.iter().chain(&t.results).flatten().copied().flatten().next();
    if let Some(ty) = known {
        for slot in t.operands.iter_mut().chain(&mut t.results).flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// Operands of one type, a result of booleans of the same shape and encoding.
pub fn compare(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operand(0).or(t.operand(1)) {
        t.set_operand(0, ty);
        t.set_operand(1, ty);
        t.set_result(0, ty.with_elem(Type::int(1)));
    }
}

/// `condition, true, false -> result`: the last three agree; an unknown condition is a scalar bit.
pub fn select(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.result(0).or(t.operand(1)).or(t.operand(2)) {
        t.set_operand(1, ty);
        t.set_operand(2, ty);
        t.set_result(0, ty);
    }
    t.set_operand(0, Type::int(1));
}

/// `ptr, mask?, other? -> result` of a load: the result has the pointee as elements, the mask bits.
pub fn load(t: &mut TypeSlots<'_>) {
    if let Some((value, mask)) = t.operand(0).and_then(accessed) {
        t.set_operand(1, mask);
        t.set_operand(2, value);
        t.set_result(0, value);
    }
}

/// `ptr, value, mask?` of a store.
pub fn store(t: &mut TypeSlots<'_>) {
    if let Some((value, mask)) = t.operand(0).and_then(accessed) {
        t.set_operand(1, value);
        t.set_operand(2, mask);
    }
}

/// The types of the value and of the mask of an access through a pointer type: a scalar pointer, a tensor of pointers
/// or a block pointer.
#[must_use]
pub fn accessed(ptr: Type) -> Option<(Type, Type)> {
    let pointee = ptr.elem().pointee()?;
    let value = if pointee.is_tensor() { pointee } else { ptr.with_elem(pointee) };
    Some((value, value.with_elem(Type::int(1))))
}

/// The first result has the type of the first operand.
pub fn result_as_operand(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operand(0) {
        t.set_result(0, ty);
    } else if let Some(ty) = t.result(0) {
        t.set_operand(0, ty);
    }
}

/// `ptr, offset -> result`: the result is the pointer's type.
pub fn addptr(t: &mut TypeSlots<'_>) {
    result_as_operand(t);
}

/// `get_program_id` and its like give i32.
pub fn i32_result(t: &mut TypeSlots<'_>) {
    t.set_result(0, Type::int(32));
}

/// `a, b, c -> d` of a dot: the accumulator has the result's type.
pub fn dot(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.result(0).or(t.operand(2)) {
        t.set_result(0, ty);
        t.set_operand(2, ty);
    }
}

/// One i1 scalar operand.
pub fn bool_operand(t: &mut TypeSlots<'_>) {
    t.set_operand(0, Type::int(1));
}

/// The result is the operand's element type.
pub fn unsplat(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operand(0) {
        t.set_result(0, ty.elem());
    }
}

/// All operands have the type of the first that is known.
pub fn same_operands(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operands.iter().flatten().copied().flatten().next() {
        for slot in t.operands.iter_mut().flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// All results have the type of the first that is known.
pub fn same_results(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.results.iter().flatten().copied().flatten().next() {
        for slot in t.results.iter_mut().flatten() {
            slot.get_or_insert(ty);
        }
    }
}

/// `src, mask?`: the mask is bits in the source's shape.
pub fn histogram(t: &mut TypeSlots<'_>) {
    if let Some(ty) = t.operand(0) {
        t.set_operand(1, ty.with_elem(Type::int(1)));
    }
}

/// `base, shape…, strides…`: extents are i32, strides i64.
pub fn make_descriptor(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(32));
    t.set_operand(2, Type::int(64));
}

/// `desc, indices…`
pub fn indices_i32(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(32));
}

/// `desc, src, indices…`
pub fn store_indices_i32(t: &mut TypeSlots<'_>) {
    t.set_operand(2, Type::int(32));
}

/// `ptr, offsets… -> result` of a block pointer.
pub fn advance(t: &mut TypeSlots<'_>) {
    result_as_operand(t);
    t.set_operand(1, Type::int(32));
}

/// `base, shape…, strides…, offsets… -> result` of a block pointer: the base points at the block's elements.
pub fn make_block_pointer(t: &mut TypeSlots<'_>) {
    if let Some(block) = t.result(0).and_then(Type::pointee) {
        t.set_operand(0, Type::ptr(block.elem()));
    }
    t.set_operand(1, Type::int(64));
    t.set_operand(2, Type::int(64));
    t.set_operand(3, Type::int(32));
}

/// Whatever is left unknown is a token.
pub fn tokens(t: &mut TypeSlots<'_>) {
    for slot in t.operands.iter_mut().chain(&mut t.results).flatten() {
        slot.get_or_insert(Type::new(TypeData::AsyncToken));
    }
}

/// The second operand group is i32.
pub fn second_i32(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(32));
}

/// The second operand group is bits.
pub fn second_bool(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(1));
}

/// `src, dst, mask?, other? -> token`
pub fn async_copy(t: &mut TypeSlots<'_>) {
    if let Some((value, mask)) = t.operand(0).and_then(accessed) {
        t.set_operand(2, mask);
        t.set_operand(3, value);
    }
    t.set_result(0, Type::new(TypeData::AsyncToken));
}

/// `a, b, c, useC? -> d`
pub fn warp_group_dot(t: &mut TypeSlots<'_>) {
    dot(t);
    t.set_operand(3, Type::int(1));
}

/// Each result has the type of the operand at its place.
pub fn results_as_operands(t: &mut TypeSlots<'_>) {
    let types: Vec<_> = t.operands.iter().flatten().copied().collect();
    for (slot, ty) in t.results.iter_mut().flatten().zip(types) {
        if slot.is_none() {
            *slot = ty;
        }
    }
}

/// `barrier, phase, pred?, deps…`
pub fn wait_barrier(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(32));
    t.set_operand(2, Type::int(1));
}

/// `desc, coord…, offsets…, barrier, result, pred`
pub fn tma_load(t: &mut TypeSlots<'_>) {
    t.set_operand(1, Type::int(32));
    t.set_operand(2, Type::int(16));
    t.set_operand(5, Type::int(1));
}

/// `a, b, d, dep?, useD, pred, barriers…, preds… -> token?`
pub fn mma5(t: &mut TypeSlots<'_>) {
    for group in [4, 5, 7] {
        t.set_operand(group, Type::int(1));
    }
    tokens(t);
}

/// `a, b, d, dep?, a_scale, b_scale, useD, pred, barriers…, preds… -> token?`
pub fn mma5_scaled(t: &mut TypeSlots<'_>) {
    for group in [6, 7, 9] {
        t.set_operand(group, Type::int(1));
    }
    tokens(t);
}

/// `dst, dep?, src, pred -> token?`
pub fn tmem_store(t: &mut TypeSlots<'_>) {
    t.set_operand(3, Type::int(1));
    tokens(t);
}

/// A third operand is an i64.
pub fn third_i64(t: &mut TypeSlots<'_>) {
    t.set_operand(2, Type::int(64));
}
