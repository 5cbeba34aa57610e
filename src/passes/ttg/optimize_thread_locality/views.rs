//! Layouts of views that may reorder, and of gathers.
//!
//! 1. A `tt.reshape allow_reorder` whose users reduce along one axis gets the layout in which no other thread holds
//!    elements along it: lanes and warps are dealt out to the other axes first.
//! 2. A `tt.gather` gets a layout in which each warp holds whole columns along the axis, spread over as many lanes as
//!    the column has elements: then it needs no shared memory, and as few shuffles as possible.
//!
//! Both are marked `efficient_layout`, so that later passes leave them alone, and converted back.

use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Builder, Encoding, Ir, Op, Type};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::keys::{Key, Unit};
use crate::ir::dialects::tt::tt;
use crate::ir::encoding::questions::cga_of;
use crate::layout;
use crate::passes::ttg::module_attrs::{self, Threads};

/// Returns whether anything changed.
pub(super) fn run(ir: &mut Ir, threads: Threads) -> bool {
    let mut changed = false;
    for op in ir.all_ops(ir.module()) {
        let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
        let threads = Threads { num_warps, ..threads };
        changed |= match (tt::Reshape::of(ir, op), tt::Gather::of(ir, op)) {
            (Some(view), _) => reshape(ir, view, threads).is_some(),
            (None, Some(found)) => gather(ir, found, threads).is_some(),
            (None, None) => false,
        };
    }
    changed
}

/// The result's type changes; its users get it converted back.
fn change_result(ir: &mut Ir, op: Op, new: Type, efficient: Key<Unit>) {
    let result = ir.result(op);
    let old = ir.ty(result);
    let users = ir.uses(result).to_vec();
    ir.set_type(result, new);
    ir.put(op, efficient, true);
    let back = Builder::after(ir, op).value(TtgOp::ConvertLayout, &[result], old);
    for u in users {
        ir.set_operand(u.op, u.index as usize, back);
    }
}

/// Step 1.
fn reshape(ir: &mut Ir, view: tt::Reshape, threads: Threads) -> Option<()> {
    if !view.allow_reorder(ir) {
        return None;
    }
    let ty = ir.ty(view.result(ir));
    let mut axis = None;
    for user in ir.users(view.result(ir)).into_iter().filter_map(|u| tt::Reduce::of(ir, u)) {
        let of_user = usize::try_from(user.axis(ir)?).ok()?;
        if axis.is_some_and(|a| a != of_user) {
            return None;
        }
        axis = Some(of_user);
    }
    let axis = axis?;
    if let Some(Encoding::Blocked(b)) = ty.layout()
        && b.threads_per_warp.get(axis) == Some(&1)
        && b.warps_per_cta.get(axis) == Some(&1)
        && b.cga.iter().all(|basis| basis.get(axis) == Some(&0))
    {
        return None;
    }
    let mut order = layout::order(ty.encoding()?, ty.shape());
    order.retain(|&d| d as usize != axis);
    order.push(u32::try_from(axis).ok()?);
    let size = vec![1; ty.rank()];
    let (warps, lanes, ctas) = (threads.num_warps, threads.threads_per_warp, threads.num_ctas);
    let encoding = Attr::encoding(layout::blocked_from_size(ty.shape(), &size, &order, warps, lanes, ctas));
    let new = ty.with_encoding(Some(encoding));
    if new == ty || layout::is_expensive_view(ir.ty(view.src(ir)), new).unwrap_or(true) {
        return None;
    }
    change_result(ir, view.0, new, tt::Reshape::ATTR.efficient_layout);
    Some(())
}

/// Step 2.
fn gather(ir: &mut Ir, gather: tt::Gather, threads: Threads) -> Option<()> {
    if gather.efficient_layout(ir) {
        return None;
    }
    let (op, ty) = (gather.0, ir.ty(gather.src(ir)));
    let axis = usize::try_from(gather.axis(ir)?).ok()?;
    if ty.rank() < 2 {
        return None;
    }
    let encoding = Attr::encoding(columns_in_warps(ty, axis, threads)?);
    let slots = tt::Gather::SLOT;
    for (value, slot) in [(gather.src(ir), slots.src), (gather.indices(ir), slots.indices)] {
        let wanted = ir.ty(value).with_encoding(Some(encoding));
        let converted = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], wanted);
        ir.put_operands(op, slot, &[converted]);
    }
    let new = ir.ty(ir.result(op)).with_encoding(Some(encoding));
    change_result(ir, op, new, tt::Gather::ATTR.efficient_layout);
    Some(())
}

/// The layout of a gather's source: lanes along the axis first, no two warps on one column.
fn columns_in_warps(ty: Type, axis: usize, threads: Threads) -> Option<Encoding> {
    let shape: Vec<u32> = ty.shape().iter().map(|&d| u32::try_from(d).ok()).collect::<Option<_>>()?;
    let present = ty.encoding()?;
    let rank = shape.len();
    let along = shape[axis].min(threads.threads_per_warp);
    let (mut lanes, mut warps, mut size) = (vec![1; rank], vec![1; rank], vec![1; rank]);
    lanes[axis] = along;
    let mut order = vec![u32::try_from(axis).ok()?];
    let mut left = threads.threads_per_warp / along;
    for d in layout::thread_order(present, ty.shape()).into_iter().filter(|&d| d as usize != axis) {
        order.push(d);
        lanes[d as usize] = shape[d as usize].min(left);
        left /= lanes[d as usize];
    }
    let mut warps_left = threads.num_warps;
    for d in layout::warp_order(present, ty.shape()).into_iter().map(|d| d as usize).filter(|&d| d != axis) {
        warps[d] = (shape[d] / lanes[d]).min(warps_left);
        warps_left /= warps[d];
    }
    size[axis] = shape[axis] / along;
    // What no axis takes holds copies along this one.
    lanes[axis] *= left;
    warps[axis] *= warps_left;
    Some(Encoding::Blocked(Blocked {
        size_per_thread: size,
        threads_per_warp: lanes,
        warps_per_cta: warps,
        order,
        cga: cga_of(ty),
    }))
}
