//! `tt.atomic_load`, `tt.atomic_store` and `tt.atomic_poll`.
//!
//! 1. Registers are cut into accesses of one word: at most 32 bits, or one element where that is wider. Each is single
//!    (PTX ISA, "Memory Consistency Model"), as vectors are not.
//! 2. Of the threads that hold copies of an element one performs the access; the others get its result through scratch
//!    memory (`atomics`).
//! 3. A release waits for the whole block before the access, an acquire after it.
//! 4. A poll reads again and again, relaxed, until the value is there or the time is over: one loop in inline PTX for
//!    each element, one after the other, with one start for all. A fence behind the last makes them acquire. All
//!    threads wait for all polls.
//!
//! Example of a poll of 32 bits: `more: ld.relaxed.gpu.global.b32 seen, [p]; setp.ne.b32 again, seen, expected; @again
//! bra more;`

use super::arith::operand;
use super::atomics::{Order, check_sharing, delivered, finish, one_access, pack, pointee, predicate};
use super::memory::{Access, owner, register, thread_mask};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::ptx_builder::{Arg, PtxAsm, Reg};
use crate::ir::Op;
use crate::ir::dialects::enums::MemScope;
use crate::ir::dialects::tt::tt as view;

/// Bits of a word of elements that are narrower.
const WORD: u32 = 32;

/// Lowers `tt.atomic_load`.
pub(super) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicLoad(op);
    let (ptr, mask) = (view.ptr(cx.ir), view.mask(cx.ir));
    let order = Order::of(cx, op)?;
    check_sharing(cx, op)?;
    let access = words(cx, op, ptr, mask)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let ptrs = cx.get(ptr)?;
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let owner = owner(cx, access.free)?;
    let opcode = format!("ld.{}.{}.global.b{}", order.sem, order.scope, access.word_bits);
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for first in (0..ptrs.len()).step_by(access.vec) {
        let canonical = access.canonical(first);
        if canonical != first {
            results.extend_from_within(canonical..canonical + access.vec);
            continue;
        }
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        for word in one_access(cx, &access, &opcode, register(&ptrs, first)?, &[], pred, true)? {
            access.unpack(cx, word, &mut results)?;
        }
    }
    finish(cx, op, &access, owner, if used { results } else { vec![] }, &order)
}

/// Lowers `tt.atomic_store`.
pub(super) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicStore(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.val(cx.ir), view.mask(cx.ir));
    let order = Order::of(cx, op)?;
    let access = words(cx, op, ptr, mask)?;
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    if order.releases() {
        cx.barrier_once()?;
    }
    let owner = owner(cx, access.free)?;
    let opcode = format!("st.{}.{}.global.b{}", order.sem, order.scope, access.word_bits);
    for first in (0..ptrs.len()).step_by(access.vec).filter(|&first| access.canonical(first) == first) {
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        let word = pack(cx, &access, &values, first)?;
        one_access(cx, &access, &opcode, register(&ptrs, first)?, &[word], pred, false)?;
    }
    Ok(())
}

/// Step 1.
fn words<'c>(cx: &Lower<'c, '_>, op: Op, ptr: crate::ir::Value, mask: Option<crate::ir::Value>) -> Res<Access<'c>> {
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(64).next_multiple_of(8);
    if bits > 64 {
        return Err(cx.unsupported(op, &format!("{elem} is wider than one access")));
    }
    Access::new(cx, ptr, mask, bits.max(WORD))
}

/// Lowers `tt.atomic_poll`.
pub(super) fn poll(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicPoll(op);
    let (ptr, expected) = (view.ptr(cx.ir), view.expected(cx.ir));
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(0);
    if !matches!(bits, 16 | 32 | 64) || !elem.is_int() {
        return Err(cx.unsupported(op, &format!("{elem} cannot be waited for; integers of 16, 32 and 64 bits can")));
    }
    let order = Order::of(cx, op)?;
    check_sharing(cx, op)?;
    let access = Access::new(cx, ptr, None, bits)?;
    let (ptrs, values) = (cx.get(ptr)?, cx.get(expected)?);
    let limit = match view.timeout(cx.ir) {
        Some(timeout) => Some((now(cx)?, cx.scalar(timeout)?)),
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
        let one =
            Poll { bits, scope: order.scope, address: register(&ptrs, i)?, expected: register(&values, i)?, limit };
        let pred = predicate(cx, owner, None, i)?;
        results.push(one.wait(cx, pred)?);
    }
    if order.acquires() {
        cx.inline_asm(&format!("fence.acq_rel.{};", order.scope), "~{memory}", &[], &[], true)?;
    }
    // Results go from thread to thread as bytes.
    let byte = cx.int_type(8).into();
    let bytes = Access { elem: byte, elem_bits: 8, vec: 1, word_bits: 8, words: 1, free: access.free };
    let result = cx.ir.result(op);
    if !cx.ir.has_uses(result) || thread_mask(cx, access.free) == 0 {
        cx.barrier_once()?;
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

/// The time in nanoseconds (PTX ISA, "globaltimer").
fn now<'c>(cx: &mut Lower<'c, '_>) -> Res<Val<'c>> {
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B64);
    asm.inst(None, "mov.u64", vec![Arg::Reg(out), Arg::Text("%globaltimer")]);
    operand(&asm.emit(cx, true)?, 0)
}

/// Waiting for one element.
struct Poll<'c> {
    bits: u32,
    scope: MemScope,
    address: Val<'c>,
    expected: Val<'c>,
    /// When the operation started, and how long it may take.
    limit: Option<(Val<'c>, Val<'c>)>,
}

impl<'c> Poll<'c> {
    /// Step 4; gives a byte, 1 if the value came. A thread whose predicate is false does not wait.
    fn wait(&self, cx: &mut Lower<'c, '_>, pred: Option<Val<'c>>) -> Res<Val<'c>> {
        let bits = self.bits;
        let mut asm = PtxAsm::default();
        let out = asm.output(Reg::B32);
        let address = asm.input(Reg::B64, self.address);
        let expected = asm.input(Reg::of_bits(bits), self.expected);
        let limit = self.limit.map(|(start, time)| (asm.input(Reg::B64, start), asm.input(Reg::B64, time)));
        let pred = pred.map(|p| asm.input(Reg::Pred, p));
        asm.inst(None, format!("{{ .reg .pred again; .reg .b{bits} seen; .reg .b32 found; .reg .b64 now"), vec![]);
        asm.inst(None, "mov.b32 found, 0", vec![]);
        if let Some(pred) = pred {
            asm.inst(Some(pred), "bra $$more", vec![]);
            asm.inst(None, "bra $$done", vec![]);
        }
        asm.inst(None, format!("$$more: ld.relaxed.{}.global.b{bits} seen,", self.scope), vec![Arg::Address(address)]);
        asm.inst(None, format!("setp.ne.b{bits} again, seen,"), vec![Arg::Reg(expected)]);
        asm.inst(None, "selp.b32 found, 0, 1, again", vec![]);
        if let Some((start, time)) = limit {
            asm.inst(None, "@!again bra $$done", vec![]);
            asm.inst(None, "mov.u64 now, %globaltimer", vec![]);
            asm.inst(None, "sub.u64 now, now,", vec![Arg::Reg(start)]);
            asm.inst(None, "setp.lt.u64 again, now,", vec![Arg::Reg(time)]);
        }
        asm.inst(None, "@again bra $$more", vec![]);
        asm.inst(None, "$$done: mov.b32", vec![Arg::Reg(out), Arg::Text("found")]);
        asm.inst(None, "}", vec![]);
        asm.memory_clobber();
        let found = asm.emit(cx, true)?;
        let found = as_int(found.first().copied().ok_or_else(|| defect("a poll without a result"))?)?;
        Ok(cx.b.build_int_truncate(found, cx.int_type(8), "")?.into())
    }
}
