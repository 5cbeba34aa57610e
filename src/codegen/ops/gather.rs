//! `tt.gather`: emission of a [`GatherPlan`].

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::reduce::{first_coordinates, slot_address};
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::scratch::element_bits;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::Source;
use crate::ir::Op;
use crate::ir::dialects::tt::tt::Gather;
use crate::layout::plan::gather::{GatherShared, GatherShuffles};
use crate::layout::plan::shared_access::element_bytes;
use crate::layout::plan::{GatherPlan, SharedAccess};

/// `tt.gather`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ExchangePlan::Gather(plan) = cx.plan(op)? else { return Err(defect("a plan of another operation")) };
    let gather = Gather(op);
    let source = cx.get(gather.src(cx.ir))?;
    let indices = cx.get(gather.indices(cx.ir))?;
    let indices = indices.iter().map(|&i| index(cx, i)).collect::<Res<Vec<_>>>()?;
    let picked = match &plan {
        GatherPlan::Shuffles(plan) => shuffles(cx, plan, &source, &indices)?,
        GatherPlan::Shared(plan) => shared(cx, op, plan, &source, &indices)?,
    };
    cx.set(cx.ir.result(op), picked);
    Ok(())
}

/// An index as `i32`; there are no negative ones.
fn index<'c>(cx: &Lower<'c, '_>, value: Val<'c>) -> Res<IntValue<'c>> {
    let value = as_int(value)?;
    Ok(match value.get_type().get_bit_width() {
        32 => value,
        width if width > 32 => cx.b.build_int_truncate(value, cx.int_type(32), "")?,
        _ => cx.b.build_int_z_extend(value, cx.int_type(32), "")?,
    })
}

/// Gathers within warps, by shuffles.
fn shuffles<'c>(
    cx: &mut Lower<'c, '_>,
    plan: &GatherShuffles,
    source: &[Val<'c>],
    indices: &[IntValue<'c>],
) -> Res<Vec<Val<'c>>> {
    let fixed = cx.indices(&plan.fixed)?;
    let mut picked = Vec::with_capacity(indices.len());
    for ((&index, place), candidates) in indices.iter().zip(&fixed).zip(&plan.candidates) {
        let &[lane, register] = place.as_slice() else { return Err(defect("a place is a lane and a register")) };
        let lanes: Vec<u32> = plan.by_index.iter().map(|p| p.0).collect();
        let lane = cx.xor_image(lane, index, &lanes)?;
        let registers: Vec<u32> = plan.by_index.iter().map(|p| p.1).collect();
        let register = cx.xor_image(register, index, &registers)?;
        let values = candidates
            .iter()
            .map(|&r| source.get(r).copied().ok_or_else(|| defect("a register too few")))
            .collect::<Res<Vec<_>>>()?;
        let mut result = None;
        for (&candidate, value) in candidates.iter().zip(cx.shuffle(&values, Source::Lane(lane))?) {
            result = Some(match result {
                None => value,
                Some(others) => {
                    let this = cx.b.build_int_compare(IntPredicate::EQ, register, cx.i32(candidate as u64), "")?;
                    cx.b.build_select(this, value, others, "")?
                }
            });
        }
        picked.push(result.ok_or_else(|| defect("a gather without candidates"))?);
    }
    Ok(picked)
}

/// Gathers through shared memory.
fn shared<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    plan: &GatherShared,
    source: &[Val<'c>],
    indices: &[IntValue<'c>],
) -> Res<Vec<Val<'c>>> {
    let ty = cx.ir.ty(Gather(op).src(cx.ir));
    let bits = element_bits(ty);
    let base = cx.scratch(op)?;
    let access = SharedAccess::new(Lower::layout(ty)?, &plan.order, bits, 0, &cx.options.target.shared)
        .map_err(|e| cx.unsupported(op, &e.reason))?;
    cx.store_layout_to_shared(&access, base, None, (Gather(op).src(cx.ir), source))?;
    cx.barrier()?;
    let elem = cx.elem_type(ty)?;
    let starts = first_coordinates(cx.indices(&plan.load)?)?;
    let mut picked = Vec::with_capacity(indices.len());
    for (&index, &start) in indices.iter().zip(&starts) {
        let along = cx.b.build_left_shift(index, cx.i32(u64::from(plan.stride.trailing_zeros())), "")?;
        let slot = cx.b.build_int_add(start, along, "")?;
        let at = slot_address(cx, base, 0, slot, element_bytes(bits))?;
        picked.extend(cx.load_shared_run(at, elem, 1)?);
    }
    Ok(picked)
}
