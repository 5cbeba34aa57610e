//! What the destination of a load in shared memory looks like, and whether the copy can run on its own (`cp.async`).

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::encoding::SwizzledShared;
use crate::ir::core::{Encoding, Ir, Op, Type, Value};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::tt::tt;
use crate::ir::encoding::questions::{cga_of, is_operand, stated_order};
use crate::layout::{self, Dim, LinearLayout};
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::shared_encodings::{swizzled, swizzled_for_dot};

/// Bits of the narrowest asynchronous copy of one thread (PTX ISA, "cp.async").
pub const NARROWEST_COPY: u32 = 32;

/// What the start of a copy through a descriptor must be a multiple of in shared memory, in bytes (PTX ISA,
/// "cp.async.bulk.tensor").
const DESCRIPTOR_ALIGNMENT: i64 = 128;

/// Whether slots for what a load through a descriptor gives, one behind the other, all start where its copy may. A tile
/// of one row of 32 bytes has no such slots.
#[must_use]
pub fn has_aligned_slots(ir: &Ir, load: Op) -> bool {
    let ty = ir.ty(ir.result(load));
    let bits = ty.num_elements() * i64::from(ty.elem().bit_width().unwrap_or(8));
    let blocks = module_attrs::threads(ir).map_or(1, |threads| i64::from(threads.num_ctas));
    bits % (8 * DESCRIPTOR_ALIGNMENT * blocks) == 0
}

/// What all users of a value agree on as its encoding in shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All are dot operands, or read alike, and want this.
    Same(SwizzledShared),
    /// Two want different ones.
    Incompatible,
    /// Some user wants none.
    None,
}

/// The encoding that suits all users of a value, if they are dot operands.
#[must_use]
pub fn wanted_by_dots(ir: &Ir, value: Value) -> Wanted {
    let mut agreed: Option<SwizzledShared> = None;
    let users: Vec<Op> = ir.uses(value).iter().rev().map(|u| u.op).collect();
    for user in users {
        let [result] = ir.results(user) else { return Wanted::None };
        let to = ir.ty(*result);
        let wish = if let Some(desc) = to.as_memdesc() {
            let Some(Encoding::SwizzledShared(e)) = desc.encoding.as_encoding() else { return Wanted::None };
            match wanted_by_dots(ir, *result) {
                Wanted::Same(_) => e.clone(),
                other => return other,
            }
        } else {
            let reads = ir.is(user, TtgOp::LocalLoad) || ir.is(user, TtgOp::ConvertLayout);
            match reads.then(|| swizzle_of_reader(ir.ty(value), to)).flatten() {
                Some(wish) => wish,
                None => return Wanted::None,
            }
        };
        if agreed.as_ref().is_some_and(|a| *a != wish) {
            return Wanted::Incompatible;
        }
        agreed = Some(wish);
    }
    agreed.map_or(Wanted::None, Wanted::Same)
}

/// The swizzle for a read in the layout of `to`, where that is a dot operand or has a matrix instruction's tile.
fn swizzle_of_reader(from: Type, to: Type) -> Option<SwizzledShared> {
    let encoding = to.encoding()?;
    if is_operand(encoding.as_encoding()?) {
        let order = order_of(from)?;
        return swizzled_for_dot(from, encoding.as_encoding()?, &order, cga_of(to), false);
    }
    let order = layout::thread_order(encoding, to.shape());
    let rank = order.len();
    if rank < 2 {
        return None;
    }
    let k_fastest = |operand: usize| {
        let mut order: Vec<u32> = (0..rank as u32).rev().collect();
        if operand == 1 {
            order.swap(0, 1);
        }
        order
    };
    let operand = (0..2).find(|&i| k_fastest(i) == order)?;
    let k_width = layout::contig_per_thread(to)[order[0] as usize];
    let mut tile = vec![1; rank];
    tile[order[0] as usize] = 4 * k_width;
    tile[order[1] as usize] = 8;
    let in_order: Vec<u32> = (0..rank as u32).collect();
    let tile = layout::encodings::mma_tile(&tile, k_width, &order, &in_order).ok()?;
    layout::layout_of(to).ok()?.divide_left(&tile)?;
    swizzled(to, operand as u32, k_width, &order, cga_of(to), false)
}

/// The order in which a tensor's, or a buffer's, elements run in memory.
fn order_of(ty: Type) -> Option<Vec<u32>> {
    if let Some(desc) = ty.as_memdesc() {
        return stated_order(desc.encoding, desc.shape.len());
    }
    Some(layout::order_for_memory(ty.encoding()?, ty.shape()))
}

/// Bytes that one thread can copy at once from registers, or lanes' pointers, of a tensor to a buffer of this encoding.
#[must_use]
pub fn copy_bytes(tensor: Type, shared: &Encoding) -> Option<u32> {
    let registers: &LinearLayout = layout::layout_of(tensor).ok()?;
    let buffer = layout::try_to_linear_layout(tensor.shape(), crate::ir::core::Attr::encoding(shared.clone())).ok()?;
    debug_assert!(buffer.has_in(Dim::Offset));
    let elements = registers.invert_and_compose(buffer)?.num_consecutive_in_out();
    Some(elements * tensor.elem().bit_width()? / 8)
}

/// Whether a thread's part of the load is wide enough for an asynchronous copy.
#[must_use]
pub fn is_wide_enough(ir: &Ir, axis: &AxisInfoAnalysis, load: Op) -> bool {
    let Some(load) = tt::Load::of(ir, load) else { return false };
    let ty = ir.ty(load.ptr(ir));
    let bits = ty.elem().pointee().and_then(Type::bit_width).unwrap_or(0);
    if !ty.is_tensor() {
        return bits >= NARROWEST_COPY;
    }
    contiguity(ir, axis, load) * bits >= NARROWEST_COPY
}

/// Elements that are adjacent in memory and loaded, or not loaded, together.
#[must_use]
pub fn contiguity(ir: &Ir, axis: &AxisInfoAnalysis, load: tt::Load) -> u32 {
    let elements = axis.ptr_contiguity(ir, load.ptr(ir));
    load.mask(ir).map_or(elements, |mask| elements.min(axis.mask_alignment(ir, mask)))
}

/// The buffer of a loaded scalar, of which each block of a cluster has a copy.
#[must_use]
pub fn scalar_buffer_encoding(num_ctas: u32) -> Encoding {
    let cga = vec![vec![0]; num_ctas.max(1).ilog2() as usize];
    Encoding::SwizzledShared(SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order: vec![0], cga })
}

/// The encodings of the buffers that a value is stored to.
#[must_use]
pub fn stored_encodings(ir: &Ir, value: Value) -> Vec<&'static Encoding> {
    ir.uses(value)
        .iter()
        .filter(|u| ir.is(u.op, TtgOp::LocalAlloc))
        .filter_map(|u| ir.ty(ir.result(u.op)).as_memdesc()?.encoding.as_encoding())
        .collect()
}

/// The encoding of the buffer that a pipelined load fills.
#[must_use]
pub fn buffer_encoding(ir: &Ir, load: Op) -> Option<Encoding> {
    let value = ir.result(load);
    let ty = ir.ty(value);
    if let Some(&stored) = stored_encodings(ir, value).first() {
        return Some(stored.clone());
    }
    if let Wanted::Same(e) = wanted_by_dots(ir, value) {
        return Some(Encoding::SwizzledShared(e));
    }
    let order = layout::order(ty.encoding()?, ty.shape());
    Some(Encoding::SwizzledShared(SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order, cga: cga_of(ty) }))
}
