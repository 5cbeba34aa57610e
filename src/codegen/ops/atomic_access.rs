//! `tt.atomic_load`, `tt.atomic_store` and `tt.atomic_poll`.
//!
//! 1. Registers are cut into accesses of one word: at most 32 bits, or one element where that is wider. Each is single,
//!    as vectors are not.
//! 2. Of the threads that hold copies of an element one performs the access; the others get its result through scratch
//!    memory (`atomics`).
//! 3. A release waits for the whole block before the access, an acquire after it.
//! 4. A poll reads again and again, relaxed, until the value is there or the time is over: one loop for each element,
//!    one after the other, with one start for all. A fence behind the last makes them acquire. All threads wait for all
//!    polls.

use super::atomics::{delivered, finish, order, pack, pointee, predicate, wait};
use super::memory::{GlobalAccess, owner, register, thread_mask};
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::codegen::machine::Poll;
use crate::ir::Op;
use crate::ir::dialects::tt::tt as view;

/// Bits of a word of elements that are narrower.
const WORD: u32 = 32;

/// Lowers `tt.atomic_load`.
pub(crate) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicLoad(op);
    let (ptr, mask) = (view.ptr(cx.ir), view.mask(cx.ir));
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let access = words(cx, op, ptr, mask)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let ptrs = cx.get(ptr)?;
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let owner = owner(cx, access.free)?;
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for first in (0..ptrs.len()).step_by(access.vec) {
        let canonical = access.canonical(first);
        if canonical != first {
            results.extend_from_within(canonical..canonical + access.vec);
            continue;
        }
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        let one = access.atomic(&order, register(&ptrs, first)?, pred);
        for word in cx.machine.atomic_load(cx, &one)? {
            access.unpack(cx, word, &mut results)?;
        }
    }
    finish(cx, op, &access, owner, if used { results } else { vec![] }, &order)
}

/// Lowers `tt.atomic_store`.
pub(crate) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicStore(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.val(cx.ir), view.mask(cx.ir));
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let access = words(cx, op, ptr, mask)?;
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    if order.releases() {
        wait(cx, access.free)?;
    }
    let owner = owner(cx, access.free)?;
    for first in (0..ptrs.len()).step_by(access.vec).filter(|&first| access.canonical(first) == first) {
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        let words = pack(cx, &access, &values, first)?;
        let one = access.atomic(&order, register(&ptrs, first)?, pred);
        cx.machine.atomic_store(cx, &one, words)?;
    }
    Ok(())
}

/// Cuts registers into accesses of one word (step 1).
fn words<'c>(
    cx: &Lower<'c, '_>,
    op: Op,
    ptr: crate::ir::Value,
    mask: Option<crate::ir::Value>,
) -> Res<GlobalAccess<'c>> {
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(64).next_multiple_of(8);
    if bits > 64 {
        return Err(cx.unsupported(op, &format!("{elem} is wider than one access")));
    }
    GlobalAccess::new(cx, ptr, mask, bits.max(WORD))
}

/// Lowers `tt.atomic_poll`.
pub(crate) fn poll(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicPoll(op);
    let (ptr, expected) = (view.ptr(cx.ir), view.expected(cx.ir));
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(0);
    if !matches!(bits, 16 | 32 | 64) || !elem.is_int() {
        return Err(cx.unsupported(op, &format!("{elem} cannot be waited for; integers of 16, 32 and 64 bits can")));
    }
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let access = GlobalAccess::new(cx, ptr, None, bits)?;
    let (ptrs, values) = (cx.get(ptr)?, cx.get(expected)?);
    let limit = match view.timeout(cx.ir) {
        Some(timeout) => Some((cx.machine.clock(cx)?, cx.scalar(timeout)?)),
        None => None,
    };
    let owner = owner(cx, access.free)?;
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for i in 0..ptrs.len() {
        let canonical = access.canonical(i);
        if canonical != i {
            results.extend_from_within(canonical..=canonical);
            continue;
        }
        let (address, expected) = (register(&ptrs, i)?, register(&values, i)?);
        let pred = predicate(cx, owner, None, i)?;
        let one = Poll { bits, scope: order.scope, address, expected, limit, pred };
        let found = as_int(cx.machine.poll(cx, &one)?)?;
        results.push(cx.b.build_int_truncate(found, cx.int_type(8), "")?.into());
    }
    if order.acquires() {
        cx.machine.fence(cx, order.scope)?;
    }
    // Results go from thread to thread as bytes.
    let byte = cx.int_type(8).into();
    let places = vec![];
    let bytes = GlobalAccess { elem: byte, elem_bits: 8, vec: 1, places, word_bits: 8, words: 1, free: access.free };
    let result = cx.ir.result(op);
    if !cx.ir.has_uses(result) || thread_mask(cx, access.free) == 0 {
        wait(cx, access.free)?;
    }
    let arrived = delivered(cx, op, &bytes, owner, results, &order)?;
    let regs = match arrived {
        Some(bytes) => bytes
            .into_iter()
            .map(|b| {
                Ok(cx
                    .b
                    .build_int_compare(inkwell::IntPredicate::NE, as_int(b)?, cx.int_type(8).const_zero(), "")?
                    .into())
            })
            .collect::<Res<Vec<Val<'_>>>>()?,
        None => cx.poison(cx.ir.ty(result))?.to_vec(),
    };
    cx.set(result, regs);
    Ok(())
}
