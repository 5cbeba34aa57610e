//! `tt.histogram`: counters in shared memory.
//!
//! 1. The threads set all counters to 0.
//! 2. After a barrier each element adds 1 to the counter of its value, where the mask allows it and the value has a
//!    counter; of threads that hold copies, one does.
//! 3. After another barrier every thread reads the counters of its registers, neighbours in one access.

use inkwell::IntPredicate;
use inkwell::values::{IntValue, PointerValue};

use crate::analysis::scratch::bins;
use crate::codegen::lower::{Lower, Res, as_int};
use crate::ir::Op;
use crate::ir::dialects::tt::tt::Histogram;
use crate::layout::plan::SharedAccess;
use crate::layout::{Dim, LinearLayout, free_variable_masks, register_offsets};

const COUNTER_BITS: u32 = 32;

/// `tt.histogram`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let histogram = Histogram(op);
    let (source, mask) = (histogram.src(cx.ir), histogram.mask(cx.ir));
    let result_type = cx.ir.ty(cx.ir.result(op));
    let (from, to) = (Lower::layout(cx.ir.ty(source))?, Lower::layout(result_type)?);
    if from.bases(Dim::Block).iter().flatten().any(|&c| c != 0) {
        return Err(cx.unsupported(op, "counting over the blocks of a cluster"));
    }
    let bins = bins(cx.ir, op);
    let base = cx.scratch(op)?;
    clear(cx, base, bins)?;
    cx.barrier()?;
    count(cx, source, mask, from, base, bins)?;
    cx.barrier()?;
    let order = LinearLayout::identity1d(bins, Dim::Offset, Dim::axis(0));
    let access = SharedAccess::new(to, &order, COUNTER_BITS, 0, &cx.options.target.shared)
        .map_err(|e| cx.unsupported(op, &e.reason))?;
    let counts = cx.load_layout_from_shared(&access, base, None, cx.int_type(COUNTER_BITS).into())?;
    let bits = cx.bits_of(cx.elem_type(result_type)?);
    let resized = counts.into_iter().map(|c| resize(cx, as_int(c)?, bits).map(Into::into)).collect::<Res<Vec<_>>>()?;
    cx.set(cx.ir.result(op), resized);
    Ok(())
}

/// A count or a value in another width; neither has a sign.
fn resize<'c>(cx: &Lower<'c, '_>, value: IntValue<'c>, bits: u32) -> Res<IntValue<'c>> {
    Ok(match value.get_type().get_bit_width() {
        width if width < bits => cx.b.build_int_z_extend(value, cx.int_type(bits), "")?,
        width if width > bits => cx.b.build_int_truncate(value, cx.int_type(bits), "")?,
        _ => value,
    })
}

/// Sets all counters to 0 (step 1).
fn clear<'c>(cx: &mut Lower<'c, '_>, base: PointerValue<'c>, bins: u32) -> Res<()> {
    let threads = cx.threads();
    let own = cx.b.build_left_shift(cx.thread_id(), cx.i32(2), "")?;
    let at = cx.shared_at(base, own)?;
    for first in (0..bins).step_by(threads as usize) {
        let left = bins - first;
        let pred = if left < threads {
            Some(cx.b.build_int_compare(IntPredicate::ULT, cx.thread_id(), cx.i32(u64::from(left)), "")?)
        } else {
            None
        };
        let at = cx.shared_at(at, cx.i32(u64::from(first) * 4))?;
        cx.store_shared_if(pred, at, cx.i32(0).into())?;
    }
    Ok(())
}

/// Adds 1 to the counter of each element (step 2).
fn count<'c>(
    cx: &mut Lower<'c, '_>,
    source: crate::ir::Value,
    mask: Option<crate::ir::Value>,
    layout: &LinearLayout,
    base: PointerValue<'c>,
    bins: u32,
) -> Res<()> {
    let free = free_variable_masks(layout);
    let threads = u64::from(free.lane) | u64::from(free.warp) << layout.in_bits(Dim::Lane);
    let owner = cx.owner_predicate(threads & u64::from(cx.threads() - 1), 0)?;
    let values = cx.get(source)?;
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let base = cx.b.build_ptr_to_int(base, cx.int_type(32), "")?;
    for (register, _) in register_offsets(layout).iter().enumerate().filter(|(r, _)| *r as u32 & free.register == 0) {
        let value = as_int(values[register])?;
        // They are compared in a width that holds both the value and the number of bins.
        let wide = resize(cx, value, value.get_type().get_bit_width().max(COUNTER_BITS))?;
        let limit = wide.get_type().const_int(u64::from(bins), false);
        let mut pred = cx.b.build_int_compare(IntPredicate::ULT, wide, limit, "")?;
        for also in [owner, masks.as_ref().map(|m| as_int(m[register])).transpose()?].into_iter().flatten() {
            pred = cx.b.build_and(pred, also, "")?;
        }
        let bin = resize(cx, wide, 32)?;
        let address = cx.b.build_int_add(base, cx.b.build_left_shift(bin, cx.i32(2), "")?, "")?;
        cx.machine.count_shared(cx, pred, address)?;
    }
    Ok(())
}
