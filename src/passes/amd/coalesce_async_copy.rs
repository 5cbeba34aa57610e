//! `tritonamdgpu-coalesce-async-copy`: asynchronous copies in a layout in which a warp writes consecutive bytes.
//!
//! # Algorithm
//!
//! Of each `ttg.async_copy_global_to_local` whose source is `blocked`:
//!
//! 1. A lane copies as many elements as are adjacent in global memory, not split by the mask, and adjacent in the
//!    buffer: 16 or 4 bytes.
//! 2. A copy whose lanes lie one behind the other stays as it is. Swizzling does not count: code generation exchanges
//!    lanes for it ([`super::direct_copies`]).
//! 3. For a swizzled buffer, a lane gets the elements of one copy. For a padded one, registers, lanes and warps take
//!    the bits of the buffer's offset in this order.
//!
//! Source, mask and other values are converted to the new layout.

use super::direct_copies::widest;
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::encoding::{PaddedShared, SwizzledShared};
use crate::ir::core::{Attr, Builder, Encoding, InsertPoint, Ir, Op, Type};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::ttg::ttg::AsyncCopyGlobalToLocal;
use crate::ir::encoding::questions::cga_of;
use crate::layout::{self, Dim, LinearLayout};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs::{self, Threads};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-coalesce-async-copy",
    doc: "choose layouts for copies straight to shared memory",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    let copies: Vec<Op> =
        ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, TtgOp::AsyncCopyGlobalToLocal)).collect();
    if copies.is_empty() {
        return Ok(Changed::No);
    }
    let axis = AxisInfoAnalysis::of_module(ir);
    let plan: Vec<(Op, u32, Attr)> =
        copies.iter().filter_map(|&op| decide(ir, &axis, op, threads).map(|(n, e)| (op, n, e))).collect();
    for &(op, count, encoding) in &plan {
        retarget(ir, op, count, encoding);
    }
    Ok(Changed::from(!plan.is_empty()))
}

/// The elements that a lane copies, and the layout in which it does.
fn decide(ir: &Ir, axis: &AxisInfoAnalysis, op: Op, threads: Threads) -> Option<(u32, Attr)> {
    let copy = AsyncCopyGlobalToLocal(op);
    let (source, buffer) = (ir.ty(copy.src(ir)), ir.ty(copy.result(ir)));
    let Encoding::Blocked(blocked) = source.layout()? else { return None };
    let desc = buffer.as_memdesc()?;
    let bits = desc.elem.bit_width()?;
    let memory = layout::try_to_linear_layout(&desc.shape, desc.encoding).ok()?;
    let registers = layout::layout_of(source).ok()?;
    let masked = copy.mask(ir).map_or(u32::MAX, |mask| axis.mask_alignment(ir, mask));
    let adjacent = axis.ptr_contiguity(ir, copy.src(ir)).min(masked);
    let count = widest(adjacent.min(registers.invert_and_compose(memory)?.num_consecutive_in_out()), bits);
    let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
    let threads = Threads { num_warps, ..threads };
    if count == 0 || lies_in_order(source, &buffer, count, bits, threads)? {
        return None;
    }
    let encoding = match desc.encoding.as_encoding()? {
        Encoding::SwizzledShared(_) => {
            let mut size = layout::contig_per_thread(source);
            size[*blocked.order.first()? as usize] = count;
            let cga = cga_of(source);
            let (warps, lanes) = (threads.num_warps, threads.threads_per_warp);
            Attr::encoding(layout::blocked_in_cga(source.shape(), &size, &blocked.order, warps, lanes, &cga))
        }
        Encoding::PaddedShared(padded) => along_offsets(padded, source, count, threads)?,
        _ => return None,
    };
    (source.encoding() != Some(encoding)).then_some((count, encoding))
}

/// Step 2.
fn lies_in_order(source: Type, buffer: &Type, count: u32, bits: u32, threads: Threads) -> Option<bool> {
    let desc = buffer.as_memdesc()?;
    let mut count = count;
    let flat = match desc.encoding.as_encoding()? {
        Encoding::SwizzledShared(e) => {
            Attr::encoding(Encoding::SwizzledShared(SwizzledShared { per_phase: 1, max_phase: 1, ..e.clone() }))
        }
        Encoding::PaddedShared(e) => {
            let least = e.intervals.iter().map(|&(interval, _)| interval).min().unwrap_or(u32::MAX);
            count = count.min(least / threads.threads_per_warp);
            desc.encoding
        }
        _ => desc.encoding,
    };
    if widest(count, bits) != count || count == 0 {
        return Some(false);
    }
    let memory = layout::try_to_linear_layout(&desc.shape, flat).ok()?;
    let map = layout::layout_of(source).ok()?.invert_and_compose(memory)?;
    let lanes = (0..threads.threads_per_warp.trailing_zeros() as usize)
        .all(|bit| bit < map.in_bits(Dim::Lane) as usize && map.basis(Dim::Lane, bit, Dim::Offset) == count << bit);
    Some(map.num_consecutive_in_out() == count && lanes)
}

/// Step 3 of a padded buffer.
fn along_offsets(padded: &PaddedShared, source: Type, count: u32, threads: Threads) -> Option<Attr> {
    let rank = source.shape().len();
    let mut bits = padded.offset.iter().cloned();
    let mut take = |n: u32| -> Vec<Vec<i32>> { bits.by_ref().take(n.trailing_zeros() as usize).collect() };
    let (mut register, lane, mut warp) = (take(count), take(threads.threads_per_warp), take(threads.num_warps));
    if lane.len() < threads.threads_per_warp.trailing_zeros() as usize {
        return None;
    }
    warp.resize(threads.num_warps.trailing_zeros() as usize, vec![0; rank]);
    register.extend(bits);
    let axes = Dim::axes(rank);
    let sizes: Vec<(Dim, u32)> = axes
        .iter()
        .zip(source.shape())
        .map(|(&axis, &n)| Some((axis, u32::try_from(n).ok()?)))
        .collect::<Option<_>>()?;
    let bases = [(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp), (Dim::Block, vec![])];
    Some(layout::from_linear(&LinearLayout::from_bases(&bases, &sizes).ok()?))
}

fn retarget(ir: &mut Ir, op: Op, count: u32, encoding: Attr) {
    for index in 0..ir.operands(op).len() {
        let value = ir.operand(op, index);
        if !ir.ty(value).is_tensor() {
            continue;
        }
        let (loc, ty) = (ir.loc(op), ir.ty(value).with_encoding(Some(encoding)));
        let converted = Builder::new(ir, InsertPoint::Before(op), loc).value(TtgOp::ConvertLayout, &[value], ty);
        ir.set_operand(op, index, converted);
    }
    ir.put(op, AsyncCopyGlobalToLocal::ATTR.contiguity, i64::from(count));
}
