//! Buffers in shared memory in the making: mbarriers, slots of rotating buffers, and one buffer in another's place.

use crate::ir::core::encoding::{Bases, SwizzledShared};
use crate::ir::core::{Attr, AttrData, Encoding, Ir, MemDesc, Op, Type, TypeData, Value};
use crate::ir::dialects::Classes;

/// A buffer that can be written, in shared memory.
#[must_use]
pub fn shared(shape: &[i64], elem: Type, encoding: Attr, mutable: bool) -> Type {
    let memory_space = Attr::new(AttrData::SharedMemory);
    Type::new(TypeData::MemDesc(MemDesc {
        shape: shape.to_vec(),
        elem,
        encoding,
        memory_space,
        mutable,
        alloc_shape: shape.to_vec(),
    }))
}

/// The type of mbarriers, one for each block of a cluster; of several with `slots`.
#[must_use]
pub fn mbarriers(slots: Option<u32>, num_ctas: u32) -> Type {
    let cga: Bases = (0..num_ctas.max(1).trailing_zeros()).map(|bit| vec![1 << bit]).collect();
    let encoding = Encoding::SwizzledShared(SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order: vec![0], cga });
    let shape: Vec<i64> = slots.map(i64::from).into_iter().chain([i64::from(num_ctas.max(1))]).collect();
    shared(&shape, Type::int(64), Attr::encoding(encoding), true)
}

/// The type of one slot of a buffer with several.
///
/// # Panics
/// When the type is no memory descriptor with slots.
#[must_use]
pub fn slot_of(buffer: Type) -> Type {
    let desc = buffer.as_memdesc().expect("a buffer");
    let shape = desc.shape[1..].to_vec();
    Type::new(TypeData::MemDesc(MemDesc { shape: shape.clone(), alloc_shape: shape, ..desc.clone() }))
}

/// Puts a buffer that can be written in the place of another; views of it, and what waits for products that read it,
/// follow. Gives the views.
pub fn replace(ir: &mut Ir, old: Value, new: Value) -> Vec<Op> {
    let mut views = vec![];
    for u in ir.uses(old).to_vec() {
        ir.set_operand(u.op, u.index as usize, new);
        views.extend(ir.kind(u.op).is_view().then_some(u.op));
    }
    follow(ir, new);
    views
}

/// Gives what hands a buffer on the type that follows from the buffer's.
fn follow(ir: &mut Ir, buffer: Value) {
    for u in ir.uses(buffer).to_vec() {
        if ir.kind(u.op).is_view() {
            become_mutable(ir, u.op);
        } else if ir.kind(u.op).belongs(Classes::FORWARDS) {
            let (ty, result) = (ir.ty(buffer), ir.results(u.op)[u.index as usize]);
            ir.set_type(result, ty);
        }
    }
}

fn become_mutable(ir: &mut Ir, view: Op) {
    let result = ir.result(view);
    if let Some(desc) = ir.ty(result).as_memdesc() {
        ir.set_type(result, Type::new(TypeData::MemDesc(MemDesc { mutable: true, ..desc.clone() })));
    }
    follow(ir, result);
}
