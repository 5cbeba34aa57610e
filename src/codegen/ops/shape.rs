//! Operations that change a tensor's shape or layout but not its elements.
//!
//! Each is reduced to one question: seen in the result's coordinates, which register of the source holds what register
//! `r` of the result holds?
//! 1. The source's layout is rewritten into the result's coordinates (or, for a broadcast, the result's into the
//!    source's).
//! 2. Where both agree up to registers, the answer is a table, and no code is made.
//! 3. Otherwise elements would move between threads, which the rules of layouts rule out.

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::diag::Diagnostic;
use crate::ir::dialects::tt::tt;
use crate::ir::{Op, Type, Value};
use crate::layout::{Dim, LinearLayout, register_offsets, register_permutation};

/// An operation whose elements would have to move between threads, which the rules of layouts rule out
/// (`crate::layout::rules`).
fn needs_exchange(cx: &Lower<'_, '_>, op: Op) -> Diagnostic {
    defect(format!("`{}` moves elements between threads", cx.ir.op_name(op)))
}

/// Picks the result's registers from those of `value`, the operand, whose layouts these are (step 2).
fn pick(cx: &mut Lower<'_, '_>, op: Op, value: Value, source: &LinearLayout, result: &LinearLayout) -> Res<()> {
    let table = register_permutation(source, result).map_err(|e| defect(format!("`{}`: {e}", cx.ir.op_name(op))))?;
    let Some(table) = table else { return Err(needs_exchange(cx, op)) };
    let regs = cx.get(value)?;
    let picked = table
        .iter()
        .map(|&i| regs.get(i).copied().ok_or_else(|| defect("a register too few")))
        .collect::<Res<Vec<Val<'_>>>>()?;
    cx.set(cx.ir.result(op), picked);
    Ok(())
}

/// The types of an operand and of the result.
fn types(cx: &Lower<'_, '_>, op: Op, source: Value) -> (Type, Type) {
    (cx.ir.ty(source), cx.ir.ty(cx.ir.result(op)))
}

/// `tt.splat`: every register is the scalar.
pub(crate) fn splat(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let value = cx.scalar(tt::Splat(op).src(cx.ir))?;
    let count = Lower::num_regs(cx.ir.ty(cx.ir.result(op)))?;
    cx.set(cx.ir.result(op), vec![value; count]);
    Ok(())
}

/// `tt.unsplat`: every register holds the one element.
pub(crate) fn unsplat(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let value = cx.scalar(tt::Unsplat(op).src(cx.ir))?;
    cx.set(cx.ir.result(op), vec![value]);
    Ok(())
}

/// `tt.make_range`: the coordinate plus the start.
pub(crate) fn make_range(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ty = cx.ir.ty(cx.ir.result(op));
    let start = tt::MakeRange(op).start(cx.ir).unwrap_or(0);
    let layout = Lower::layout(ty)?;
    let mut regs = Vec::new();
    for coordinates in cx.indices(layout)? {
        let &[index] = coordinates.as_slice() else { return Err(defect("a range has one axis")) };
        regs.push(if start == 0 {
            index.into()
        } else {
            cx.b.build_int_add(index, cx.i32(start as u32 as u64), "")?.into()
        });
    }
    cx.set(cx.ir.result(op), regs);
    Ok(())
}

/// A layout with its elements seen under another shape, in row-major order.
fn reshaped(layout: &LinearLayout, ty: Type) -> Res<LinearLayout> {
    let shape = ty
        .shape()
        .iter()
        .map(|&s| u32::try_from(s))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| defect("a shape that is too large"))?;
    let bits: u32 = shape.iter().map(|s| s.trailing_zeros()).sum();
    if shape.iter().any(|s| !s.is_power_of_two()) || bits != layout.total_out_bits() {
        return Err(defect("a reshape to another number of elements"));
    }
    Ok(layout.reshape_row_major(&shape))
}

/// `tt.reshape`. With `allow_reorder` the elements may come in any order, so registers stay where they are.
pub(crate) fn reshape(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = tt::Reshape(op);
    let value = view.src(cx.ir);
    let (from, to) = types(cx, op, value);
    if view.allow_reorder(cx.ir) && Lower::num_regs(from)? == Lower::num_regs(to)? {
        let regs = cx.get(value)?;
        cx.set(cx.ir.result(op), regs.to_vec());
        return Ok(());
    }
    let source = reshaped(Lower::layout(from)?, to)?;
    let result = Lower::layout(to)?;
    pick(cx, op, value, &source, result)
}

/// `tt.expand_dims`: a reshape that adds an axis of size 1.
pub(crate) fn expand_dims(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let value = tt::ExpandDims(op).src(cx.ir);
    let (from, to) = types(cx, op, value);
    let source = reshaped(Lower::layout(from)?, to)?;
    let result = Lower::layout(to)?;
    pick(cx, op, value, &source, result)
}

/// `tt.trans`
pub(crate) fn trans(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = tt::Trans(op);
    let value = view.src(cx.ir);
    let (from, to) = types(cx, op, value);
    let order: Vec<u32> = view.order(cx.ir).unwrap_or(&[]).iter().map(|&o| o as u32).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..from.rank() as u32) {
        return Err(defect("an order that is no permutation"));
    }
    let source = Lower::layout(from)?.permute_axes(&order);
    let result = Lower::layout(to)?;
    pick(cx, op, value, &source, result)
}

/// `tt.broadcast`: the element at (i, j) of the result is that at (i, 0) of a source of one column, so the result's
/// coordinates along such axes are set to 0.
pub(crate) fn broadcast(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let value = tt::Broadcast(op).src(cx.ir);
    let (from, to) = types(cx, op, value);
    let (source, result) = (Lower::layout(from)?, Lower::layout(to)?);
    let mut seen = result.clone();
    for (axis, (&a, &b)) in from.shape().iter().zip(to.shape()).enumerate() {
        if a == 1 && b != 1 {
            seen = seen.resize_out(Dim::axis(axis), 1);
        }
    }
    pick(cx, op, value, source, &seen)
}

/// `tt.cat`: the registers of both, one after the other; the operation leaves the order open.
pub(crate) fn cat(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = tt::Cat(op);
    let mut regs = cx.get(view.lhs(cx.ir))?.to_vec();
    regs.extend(cx.get(view.rhs(cx.ir))?.iter());
    if regs.len() != Lower::num_regs(cx.ir.ty(cx.ir.result(op)))? {
        return Err(needs_exchange(cx, op));
    }
    cx.set(cx.ir.result(op), regs);
    Ok(())
}

/// The layout without its last axis, and for each register its coordinate there. The axis has size 2, and registers
/// alone must decide it: `None` when threads differ along it.
fn without_last(layout: &LinearLayout, rank: usize) -> Option<(LinearLayout, Vec<i32>)> {
    let last = Dim::axis(rank.checked_sub(1)?);
    let across = [Dim::Lane, Dim::Warp, Dim::Block];
    if !layout.sublayout_is_zero(&across.into_iter().filter(|&d| layout.has_in(d)).collect::<Vec<_>>(), &[last]) {
        return None;
    }
    let sides = register_offsets(layout).iter().map(|c| c.last().copied().unwrap_or(0)).collect();
    Some((layout.resize_out(last, 1).squeeze_out(last), sides))
}

/// `tt.join`: the element at (…, s) is that of operand s.
pub(crate) fn join(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = tt::Join(op);
    let (from, to) = types(cx, op, view.lhs(cx.ir));
    let Some((result, sides)) = without_last(Lower::layout(to)?, to.rank()) else { return Err(needs_exchange(cx, op)) };
    let table = register_permutation(Lower::layout(from)?, &result).map_err(|e| defect(format!("`tt.join`: {e}")))?;
    let Some(table) = table else { return Err(needs_exchange(cx, op)) };
    let operands = [cx.get(view.lhs(cx.ir))?, cx.get(view.rhs(cx.ir))?];
    let regs = table.iter().zip(&sides).map(|(&i, &side)| operands[usize::from(side != 0)].get(i).copied());
    let regs = regs.collect::<Option<Vec<_>>>().ok_or_else(|| defect("a register too few"))?;
    cx.set(cx.ir.result(op), regs);
    Ok(())
}

/// `tt.split`: the reverse of `tt.join`.
pub(crate) fn split(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = tt::Split(op);
    let (from, to) = (cx.ir.ty(view.src(cx.ir)), cx.ir.ty(view.lhs(cx.ir)));
    let Some((source, sides)) = without_last(Lower::layout(from)?, from.rank()) else {
        return Err(needs_exchange(cx, op));
    };
    let table = register_permutation(&source, Lower::layout(to)?).map_err(|e| defect(format!("`tt.split`: {e}")))?;
    let Some(table) = table else { return Err(needs_exchange(cx, op)) };
    // `table` names a register of the wanted place on either side; its partner differs only along the last axis.
    let partner = register_offsets(Lower::layout(from)?);
    let regs = cx.get(view.src(cx.ir))?;
    for (side, &result) in cx.ir.results(op).iter().enumerate() {
        let find = |i: usize| {
            let mut wanted = partner.get(i)?.clone();
            *wanted.last_mut()? = side as i32;
            regs.get(partner.iter().position(|p| *p == wanted)?).copied()
        };
        let picked =
            table.iter().map(|&i| find(i)).collect::<Option<Vec<_>>>().ok_or_else(|| needs_exchange(cx, op))?;
        cx.set(result, picked);
    }
    debug_assert!(sides.iter().all(|s| (0..2).contains(s)));
    Ok(())
}
