//! Atomic accesses to global memory: LLVM's own instructions, with the scope of each.
//!
//! - A pair of f16 or bf16 is one word of 32 bits. Where the hardware cannot add a pair, or an f64, LLVM writes a loop
//!   that compares and swaps.
//! - The order comes from the instruction: LLVM writes the waits, write-backs and invalidations that the scope needs
//!   ("User Guide for AMDGPU Backend", "Memory Model").
//! - A thread whose predicate is false branches around the access; its result is zero.

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I};

use super::memory::{guarded, guarded_values, moved, words_of};
use super::raw::{self, Ordering, Rmw};
use crate::codegen::bits::{bits_as, operand};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::{AtomicAccess, AtomicForm, Poll, Words};
use crate::ir::Type;
use crate::ir::dialects::enums::{MemScope, RmwKind};

/// Bits of a word of narrow floats.
const PAIR: u32 = 32;

/// LLVM's operation; `None` where there is none on this type.
pub(super) fn function(rmw: RmwKind, elem: Type) -> Option<Rmw> {
    let bits = elem.bit_width().unwrap_or(64);
    let float = elem.as_float().is_some();
    let function = match rmw {
        RmwKind::Fadd if float => Rmw::LLVMAtomicRMWBinOpFAdd,
        RmwKind::Exch => Rmw::LLVMAtomicRMWBinOpXchg,
        _ if float => return None,
        RmwKind::And => Rmw::LLVMAtomicRMWBinOpAnd,
        RmwKind::Or => Rmw::LLVMAtomicRMWBinOpOr,
        RmwKind::Xor => Rmw::LLVMAtomicRMWBinOpXor,
        RmwKind::Add => Rmw::LLVMAtomicRMWBinOpAdd,
        RmwKind::Max => Rmw::LLVMAtomicRMWBinOpMax,
        RmwKind::Min => Rmw::LLVMAtomicRMWBinOpMin,
        RmwKind::Umax => Rmw::LLVMAtomicRMWBinOpUMax,
        RmwKind::Umin => Rmw::LLVMAtomicRMWBinOpUMin,
        RmwKind::Fadd => return None,
    };
    (matches!(bits, 32 | 64) || bits == 16 && rmw == RmwKind::Fadd).then_some(function)
}

/// How an operation is done.
pub(super) fn form(rmw: RmwKind, elem: Type) -> Option<AtomicForm> {
    function(rmw, elem)?;
    let bits = elem.bit_width().unwrap_or(64);
    Some(AtomicForm { widest: bits.max(PAIR), emulated: false })
}

/// `atomicrmw`, a word at a time.
pub(super) fn rmw<'c>(
    cx: &mut Lower<'c, '_>,
    access: &AtomicAccess<'_, 'c>,
    (rmw, elem): (RmwKind, Type),
    words: Vec<Val<'c>>,
) -> Res<Vec<Val<'c>>> {
    let function = function(rmw, elem).ok_or_else(|| defect(format!("`{rmw}` of {elem} is not atomic")))?;
    let word = cx.int_type(access.words.bits);
    let ty: BasicTypeEnum<'c> = match (rmw, access.per_word) {
        (RmwKind::Fadd, 1) => cx.elem_type(elem)?,
        (RmwKind::Fadd, n) => Lower::vector_type(cx.elem_type(elem)?, n as u32)?.into(),
        _ => word.into(),
    };
    let value = bits_as(cx, operand(&words, 0)?, ty)?;
    let how = (function, raw::ordering(access.order.sem), raw::scope(access.order.scope));
    let old = guarded_values(cx, access.pred, &[word.const_zero().into()], |cx| {
        let old = raw::atomic_rmw(cx, how, access.address, value)?;
        Ok(vec![bits_as(cx, old, word.into())?])
    })?;
    one_word(access.words, old)
}

/// An atomic access moves one word.
fn one_word(words: Words, values: Vec<Val<'_>>) -> Res<Vec<Val<'_>>> {
    if words.count == 1 { Ok(values) } else { Err(defect("an atomic access of several words")) }
}

/// `cmpxchg`
pub(super) fn compare_and_swap<'c>(
    cx: &mut Lower<'c, '_>,
    access: &AtomicAccess<'_, 'c>,
    compared: &[Val<'c>],
    words: &[Val<'c>],
) -> Res<Vec<Val<'c>>> {
    let (compared, value) = (operand(compared, 0)?, operand(words, 0)?);
    let how = (raw::ordering(access.order.sem), raw::scope(access.order.scope));
    let zero = cx.int_type(access.words.bits).const_zero();
    let old = guarded_values(cx, access.pred, &[zero.into()], |cx| {
        Ok(vec![raw::compare_exchange(cx, how, access.address, compared, value)?])
    })?;
    one_word(access.words, old)
}

/// An atomic load of one word.
pub(super) fn load<'c>(cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>) -> Res<Vec<Val<'c>>> {
    let words = access.words;
    let zero = cx.int_type(words.bits.max(16)).const_zero();
    let how = (raw::ordering(access.order.sem), raw::scope(access.order.scope));
    let loaded = guarded_values(cx, access.pred, &[zero.into()], |cx| {
        let value = atomic_load(cx, access.address, words.bits, how)?;
        words_of(cx, value, words)
    })?;
    one_word(words, loaded)
}

fn atomic_load<'c>(cx: &Lower<'c, '_>, address: Val<'c>, bits: u32, how: (Ordering, &str)) -> Res<Val<'c>> {
    let value = cx.b.build_load(cx.int_type(bits), address.into_pointer_value(), "")?;
    let access = value.as_instruction_value().ok_or_else(|| defect("a load is an instruction"))?;
    access.set_alignment(bits / 8).map_err(defect)?;
    raw::make_atomic(cx, access, how)?;
    Ok(value)
}

/// An atomic store of one word.
pub(super) fn store<'c>(cx: &mut Lower<'c, '_>, access: &AtomicAccess<'_, 'c>, words: &[Val<'c>]) -> Res<()> {
    let how = (raw::ordering(access.order.sem), raw::scope(access.order.scope));
    guarded(cx, access.pred, |cx| {
        let value = moved(cx, words, access.words.bits)?;
        let store = cx.b.build_store(access.address.into_pointer_value(), value)?;
        store.set_alignment(access.words.bits / 8).map_err(defect)?;
        raw::make_atomic(cx, store, how)
    })
}

/// Makes the reads before it acquire.
pub(super) fn fence(cx: &Lower<'_, '_>, scope: MemScope) -> Res<()> {
    raw::fence(cx, Ordering::LLVMAtomicOrderingAcquireRelease, raw::scope(scope), false)
}

/// Nanoseconds of a tick of the clock that runs at the same rate always: it has 100 MHz ("CDNA3 ISA", S_MEMREALTIME).
const TICK: u64 = 10;

/// The time in nanoseconds.
pub(super) fn clock<'c>(cx: &mut Lower<'c, '_>) -> Res<Val<'c>> {
    let ticks = as_int(cx.intrinsic("llvm.readsteadycounter", &[], &[])?)?;
    Ok(cx.b.build_int_mul(ticks, cx.int_type(64).const_int(TICK, false), "")?.into())
}

/// A loop that reads again and again, relaxed, until the value is there or the time is over. Gives 1 if it came.
pub(super) fn poll<'c>(cx: &mut Lower<'c, '_>, poll: &Poll<'c>) -> Res<Val<'c>> {
    let zero = cx.i32(0).into();
    let how = (Ordering::LLVMAtomicOrderingMonotonic, raw::scope(poll.scope));
    let found = guarded_values(cx, poll.pred, &[zero], |cx| {
        let again = cx.llvm.append_basic_block(cx.function, "again");
        let done = cx.llvm.append_basic_block(cx.function, "done");
        cx.b.build_unconditional_branch(again)?;
        cx.b.position_at_end(again);
        let seen = as_int(atomic_load(cx, poll.address, poll.bits, how)?)?;
        let came = cx.b.build_int_compare(IntPredicate::EQ, seen, as_int(poll.expected)?, "")?;
        let mut stop = came;
        if let Some((start, time)) = poll.limit {
            let now = as_int(clock(cx)?)?;
            let passed = cx.b.build_int_sub(now, as_int(start)?, "")?;
            let over = cx.b.build_int_compare(IntPredicate::UGE, passed, as_int(time)?, "")?;
            stop = cx.b.build_or(came, over, "")?;
        }
        cx.b.build_conditional_branch(stop, done, again)?;
        cx.b.position_at_end(done);
        Ok(vec![cx.b.build_cast(I::ZExt, came.as_basic_value_enum(), cx.int_type(32), "")?])
    })?;
    operand(&found, 0)
}
