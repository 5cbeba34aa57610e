//! Copies from global to shared memory that bypass registers.
//!
//! 1. One instruction copies as many bytes as the machine offers. It may take as many elements as lie side by side both
//!    in global memory (axis analysis: contiguity, alignment, equal mask bits) and in shared memory (the accesses of
//!    [`SharedAccess`](crate::layout::plan::SharedAccess)), in consecutive registers.
//! 2. A mask sets the number of bytes that are read to 0, and the rest of the destination is filled with zeros. With
//!    another value to fill in, the copy is predicated, and the value is stored where it does not run.
//! 3. Elements that several threads hold are copied by one of them.
//! 4. Where less than 4 bytes lie side by side, elements go through registers: loaded, then stored. The waits
//!    that follow are stricter than that needs.
//!
//! Where not threads but warps copy, the machine does it ([`crate::codegen::machine::Machine::copy_by_warps`]).

use inkwell::values::{IntValue, PointerValue};

use super::memory;
use crate::analysis::shared_accesses::{Piece, pieces};
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::machine::{AsyncCopy, Caching};
use crate::codegen::memdesc::ViewAccess;
use crate::ir::dialects::ttg::ttg as view;
use crate::ir::{Op, Value};
use crate::layout::{FreeMasks, free_variable_masks};

/// `ttg.async_copy_global_to_local`
pub(crate) fn copy(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if cx.machine.copy_by_warps(cx, op)? {
        return Ok(());
    }
    let view = view::AsyncCopyGlobalToLocal(op);
    let (src, target, mask, other) = (view.src(cx.ir), view.result(cx.ir), view.mask(cx.ir), view.other(cx.ir));
    // The instruction itself fills in zeros.
    let other = other.filter(|&o| !super::constant::is_zero(cx, o));
    let at = cx.view_store(target, cx.ir.ty(src))?;
    let widths = cx.machine.async_copy_bytes();
    if let Some((bytes, pieces)) = pieces(cx.ir, view, &at.at.access, &cx.prepared.axis, widths) {
        instructions(cx, &at, bytes, &pieces, src, mask, other)?;
    } else {
        let caching = Caching::of(view.cache(cx.ir), view.evict(cx.ir), view.isVolatile(cx.ir));
        let regs = memory::load_elements(cx, &caching, src, mask, view.other(cx.ir))?;
        cx.store_layout_to_shared(&at.at.access, at.base, at.foreign, (src, &regs))?;
    }
    cx.set(cx.ir.result(op), vec![]);
    Ok(())
}

/// Writes the copies, each by one thread and under its mask (steps 2 and 3).
fn instructions<'c>(
    cx: &mut Lower<'c, '_>,
    at: &ViewAccess<'c>,
    bytes: u32,
    pieces: &[Piece],
    src: Value,
    mask: Option<Value>,
    other: Option<Value>,
) -> Res<()> {
    let ptrs = cx.get(src)?;
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let others = other.map(|o| cx.get(o)).transpose()?;
    // Every block of a cluster fills its own memory, whatever the others hold.
    let free = FreeMasks { block: 0, ..free_variable_masks(Lower::layout(cx.ir.ty(src))?) };
    let owner = memory::owner(cx, free)?;
    let addresses = cx.shared_addresses(&at.at.access, at.base, at.foreign)?;
    let count = pieces_len(at, bytes);
    for piece in pieces {
        let to = cx.shared_address(&addresses, piece.offset, 0)?;
        let mask = masks.as_ref().map(|m| as_int(register(m, piece.first)?)).transpose()?;
        let filled = others.is_some() && mask.is_some();
        let pred = if filled { both(cx, owner, mask)? } else { owner };
        let address = cx.shared_address_bits(to)?;
        let from = register(&ptrs, piece.first)?;
        let read = match mask {
            Some(mask) if !filled => {
                let read = cx.b.build_select(mask, cx.i32(u64::from(bytes)), cx.i32(0), "")?;
                Some(as_int(read)?)
            }
            _ => None,
        };
        cx.machine.copy_async(cx, AsyncCopy { bytes, to: address, from, pred, read })?;
        if let (Some(others), Some(mask)) = (&others, mask) {
            let rest = cx.b.build_not(mask, "")?;
            let rest = both(cx, owner, Some(rest))?;
            let values =
                others.get(piece.first..piece.first + count).ok_or_else(|| defect("`other` has too few registers"))?;
            fill(cx, rest, to, values)?;
        }
    }
    Ok(())
}

fn pieces_len(at: &ViewAccess<'_>, bytes: u32) -> usize {
    (bytes / (at.at.access.access_bytes() / at.at.access.vec() as u32)) as usize
}

/// Stores what stands for elements that are masked off. A branch around the store would part what is behind it from
/// what is before it: a loop that loads a tile and multiplies it would keep all of the tile in registers.
fn fill<'c>(cx: &mut Lower<'c, '_>, pred: Option<IntValue<'c>>, to: PointerValue<'c>, values: &[Val<'c>]) -> Res<()> {
    let stored = values.iter().map(|&v| cx.as_stored(v)).collect::<Res<Vec<_>>>()?;
    let words = cx.in_words(&stored)?;
    cx.store_shared_run_if(pred, to, &words)
}

fn both<'c>(cx: &Lower<'c, '_>, a: Option<IntValue<'c>>, b: Option<IntValue<'c>>) -> Res<Option<IntValue<'c>>> {
    Ok(match (a, b) {
        (Some(a), Some(b)) => Some(cx.b.build_and(a, b, "")?),
        (one, other) => one.or(other),
    })
}

fn register<'c>(regs: &Regs<'c>, i: usize) -> Res<Val<'c>> {
    regs.get(i).copied().ok_or_else(|| defect("a value has too few registers"))
}

/// `ttg.async_commit_group`
pub(crate) fn commit(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    cx.machine.commit_copies(cx)?;
    cx.set(cx.ir.result(op), vec![]);
    Ok(())
}

/// `ttg.async_wait` waits for the copies of this thread. To wait for those of others is a barrier's business.
pub(crate) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let pending = view::AsyncWait(op).num(cx.ir).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    cx.machine.wait_for_copies(cx, op, pending)?;
    cx.set(cx.ir.result(op), vec![]);
    Ok(())
}
