//! Buffer instructions: a scalar address, an offset in bytes of each lane, and a bound that is checked.
//!
//! 1. The address becomes a resource of 2^31 - 2 bytes: an offset of 2^31 is beyond it. A load there gives 0, a store
//!    and an atomic operation there do nothing, so a mask is a choice of the offset and needs no branch.
//! 2. Registers are cut into accesses as the operation says which elements are adjacent (`contiguity`).
//! 3. What `other` gives is chosen behind a load.
//!
//! ```text
//! %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc(ptr addrspace(1) %base, i16 0, i64 2147483646, i32 flags)
//! %o = select i1 %mask, i32 %bytes, i32 -2147483648
//! %v = call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load(ptr addrspace(8) %r, i32 %o, i32 0, i32 0)
//! ```
//!
//! "CDNA3 ISA" and "RDNA3 ISA", "Buffer Resource Descriptor"; "User Guide for AMDGPU Backend", "LLVM IR Intrinsics".

use inkwell::AddressSpace;
use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;

use super::memory::{moved, words_of};
use super::raw::{self, Ordering};
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::machine::{Order, Words};
use crate::codegen::ops::atomics::{finish, order, wait};
use crate::codegen::ops::memory::{GlobalAccess, owner, register};
use crate::ir::dialects::amdg::amdg as view;
use crate::ir::dialects::enums::{CacheModifier, MemScope, RmwKind};
use crate::ir::{Op, Value};

/// LLVM's address space of resources.
const RESOURCE: u16 = 8;

/// The bytes that a resource says it has.
const BYTES: u64 = (1 << 31) - 2;

/// An offset beyond them.
const OUTSIDE: u64 = 1 << 31;

/// Bits of the widest access.
const WIDEST: u32 = 128;

/// The words of a resource behind its address and size: 32-bit floats as the format, which nothing reads but which must
/// not be 0. On RDNA3 bit 24 is 1, and an offset is checked against the size alone (bits 28 and 29). From gfx12 on LLVM
/// takes the lowest four bits alone.
fn flags(cx: &Lower<'_, '_>) -> u64 {
    let format = 7 << 12 | 4 << 15;
    if cx.options.target.has_row_xmask() { format | 1 << 24 | 3 << 28 } else { format }
}

/// How an instruction treats caches ("User Guide for AMDGPU Backend", "Memory Model", and the intrinsics' `aux`): bit 0
/// is `sc0` or `glc`, bit 1 `nt` or `slc`, bit 4 `sc1`.
fn cache_bits(cx: &Lower<'_, '_>, cache: Option<CacheModifier>) -> u64 {
    let streams = cache == Some(CacheModifier::Cs) || cache == Some(CacheModifier::Cg);
    if streams && !cx.options.target.has_row_xmask() { 2 } else { 0 }
}

/// The memory that an operation accesses.
struct Buffer<'c> {
    resource: Val<'c>,
    offsets: Regs<'c>,
    masks: Option<Regs<'c>>,
    access: GlobalAccess<'c>,
    owner: Option<IntValue<'c>>,
}

impl<'c> Buffer<'c> {
    /// `adjacent`: how many elements are known to be.
    fn new(
        cx: &mut Lower<'c, '_>,
        ptr: Value,
        offsets: Value,
        mask: Option<Value>,
        adjacent: Option<i64>,
    ) -> Res<Buffer<'c>> {
        let base = cx.scalar(ptr)?;
        let pointee =
            cx.ir.ty(ptr).pointee().ok_or_else(|| defect("an access through something that is no pointer"))?;
        let run = adjacent.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let access = GlobalAccess::of_run(cx, pointee, cx.ir.ty(offsets), run, WIDEST)?;
        let size = cx.int_type(64).const_int(BYTES, false);
        let (stride, flags) = (cx.int_type(16).const_zero(), cx.i32(flags(cx)));
        let to: BasicTypeEnum<'c> = cx.llvm.ptr_type(AddressSpace::from(RESOURCE)).into();
        let args = [base, stride.into(), size.into(), flags.into()];
        let resource = cx.intrinsic("llvm.amdgcn.make.buffer.rsrc", &[to, base.get_type()], &args)?;
        let owner = owner(cx, access.free)?;
        let masks = mask.map(|m| cx.get(m)).transpose()?;
        Ok(Buffer { resource, offsets: cx.get(offsets)?, masks, access, owner })
    }

    /// The offset in bytes of the access that starts at a register, or one beyond the resource. `once`: of threads that
    /// hold copies one performs it.
    fn offset(&self, cx: &Lower<'c, '_>, first: usize, once: bool) -> Res<Val<'c>> {
        let bytes = cx.i32(u64::from(self.access.elem_bits / 8));
        let offset = cx.b.build_int_mul(as_int(register(&self.offsets, first)?)?, bytes, "")?;
        let mut chosen = offset;
        let mask = self.masks.as_ref().map(|m| as_int(register(m, first)?)).transpose()?;
        for pred in [mask, self.owner.filter(|_| once)].into_iter().flatten() {
            chosen = cx.b.build_select(pred, chosen, cx.i32(OUTSIDE), "")?.into_int_value();
        }
        Ok(chosen.into())
    }

    /// The registers at which accesses start, each with the first register that holds copies of its elements.
    fn starts(&self) -> impl Iterator<Item = (usize, usize)> {
        let (vec, free) = (self.access.vec, self.access.free.register as usize);
        (0..self.offsets.len()).step_by(vec).map(move |first| (first, first & !free))
    }

    /// The words of the registers from `first` on.
    fn packed(&self, cx: &Lower<'c, '_>, values: &Regs<'c>, first: usize) -> Res<Vec<Val<'c>>> {
        let all =
            values.get(first..first + self.access.vec).ok_or_else(|| defect("the value has too few registers"))?;
        all.chunks(self.access.per_word()).map(|word| self.access.pack(cx, word)).collect()
    }
}

/// The type of what an instruction moves.
fn moved_type<'c>(cx: &Lower<'c, '_>, words: Words) -> BasicTypeEnum<'c> {
    let word = cx.int_type(words.bits);
    if words.count > 1 { word.vec_type(words.count as u32).into() } else { word.into() }
}

/// `amdg.buffer_load`
pub(super) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::BufferLoad(op);
    let (ptr, offsets, mask) = (view.ptr(cx.ir), view.offsets(cx.ir), view.mask(cx.ir));
    let buffer = Buffer::new(cx, ptr, offsets, mask, view.contiguity(cx.ir))?;
    let others = view.other(cx.ir).map(|o| cx.get(o)).transpose()?;
    let aux = cx.i32(cache_bits(cx, view.cache(cx.ir)));
    let words = buffer.access.moved();
    let ty = moved_type(cx, words);
    let mut loaded: Vec<Val<'_>> = Vec::with_capacity(buffer.offsets.len());
    for (first, canonical) in buffer.starts() {
        if canonical != first {
            loaded.extend_from_within(canonical..canonical + buffer.access.vec);
            continue;
        }
        let args = [buffer.resource, buffer.offset(cx, first, false)?, cx.i32(0).into(), aux.into()];
        let value = cx.intrinsic("llvm.amdgcn.raw.ptr.buffer.load", &[ty], &args)?;
        for word in words_of(cx, value, words)? {
            buffer.access.unpack(cx, word, &mut loaded)?;
        }
        if let (Some(masks), Some(others)) = (&buffer.masks, &others) {
            let mask = as_int(register(masks, first)?)?;
            for (i, value) in loaded.iter_mut().enumerate().skip(first) {
                *value = cx.b.build_select(mask, *value, register(others, i)?, "")?;
            }
        }
    }
    cx.set(cx.ir.result(op), loaded);
    Ok(())
}

/// `amdg.buffer_store`
pub(super) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::BufferStore(op);
    let (ptr, offsets, mask) = (view.ptr(cx.ir), view.offsets(cx.ir), view.mask(cx.ir));
    let buffer = Buffer::new(cx, ptr, offsets, mask, view.contiguity(cx.ir))?;
    let values = cx.get(view.value(cx.ir))?;
    let aux = cx.i32(cache_bits(cx, view.cache(cx.ir).filter(|&c| c == CacheModifier::Cs)));
    for (first, _) in buffer.starts().filter(|(first, canonical)| first == canonical) {
        let packed = buffer.packed(cx, &values, first)?;
        let value = moved(cx, &packed, buffer.access.word_bits)?;
        let args = [value, buffer.resource, buffer.offset(cx, first, true)?, cx.i32(0).into(), aux.into()];
        cx.effect("llvm.amdgcn.raw.ptr.buffer.store", &[value.get_type()], &args)?;
    }
    Ok(())
}

/// The intrinsic of an atomic operation, without what all have in common.
fn atomic_name(rmw: RmwKind) -> &'static str {
    match rmw {
        RmwKind::And => "and",
        RmwKind::Or => "or",
        RmwKind::Xor => "xor",
        RmwKind::Add => "add",
        RmwKind::Fadd => "fadd",
        RmwKind::Max => "smax",
        RmwKind::Min => "smin",
        RmwKind::Umax => "umax",
        RmwKind::Umin => "umin",
        RmwKind::Exch => "swap",
    }
}

/// `amdg.buffer_atomic_rmw`
pub(super) fn atomic_rmw(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::BufferAtomicRmw(op);
    let (ptr, offsets, mask) = (view.ptr(cx.ir), view.offsets(cx.ir), view.mask(cx.ir));
    let rmw = view.atomic_rmw_op(cx.ir).ok_or_else(|| cx.unsupported(op, "it names no atomic operation"))?;
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let buffer = Buffer::new(cx, ptr, offsets, mask, None)?;
    if buffer.access.word_bits < 32 {
        return Err(cx.unsupported(op, "elements below 32 bits have no buffer instruction"));
    }
    let name = format!("llvm.amdgcn.raw.ptr.buffer.atomic.{}", atomic_name(rmw));
    let values = cx.get(view.value(cx.ir))?;
    in_order(cx, op, buffer, &order, |cx, buffer, first, offset| {
        let value = register(&values, first)?;
        let args = [value, buffer.resource, offset, cx.i32(0).into(), cx.i32(0).into()];
        cx.intrinsic(&name, &[value.get_type()], &args)
    })
}

/// `amdg.buffer_atomic_cas`
pub(super) fn atomic_cas(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::BufferAtomicCas(op);
    let (ptr, offsets) = (view.ptr(cx.ir), view.offsets(cx.ir));
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let buffer = Buffer::new(cx, ptr, offsets, None, None)?;
    let (compared, values) = (cx.get(view.cmp(cx.ir))?, cx.get(view.val(cx.ir))?);
    let word: BasicTypeEnum<'_> = cx.int_type(buffer.access.word_bits).into();
    in_order(cx, op, buffer, &order, |cx, buffer, first, offset| {
        let (new, old) = (register(&values, first)?, register(&compared, first)?);
        let (new, old) = (bits_as(cx, new, word)?, bits_as(cx, old, word)?);
        let args = [new, old, buffer.resource, offset, cx.i32(0).into(), cx.i32(0).into()];
        let seen = cx.intrinsic("llvm.amdgcn.raw.ptr.buffer.atomic.cmpswap", &[word], &args)?;
        bits_as(cx, seen, buffer.access.elem)
    })
}

/// Performs the accesses of an atomic operation, between the fences that its order asks for.
fn in_order<'c, 'a>(
    cx: &mut Lower<'c, 'a>,
    op: Op,
    buffer: Buffer<'c>,
    order: &Order,
    mut one: impl FnMut(&mut Lower<'c, 'a>, &Buffer<'c>, usize, Val<'c>) -> Res<Val<'c>>,
) -> Res<()> {
    let used = cx.ir.has_uses(cx.ir.result(op));
    if order.releases() {
        wait(cx, buffer.access.free)?;
        fence(cx, Ordering::LLVMAtomicOrderingRelease, order.scope)?;
    }
    let mut results: Vec<Val<'c>> = Vec::with_capacity(buffer.offsets.len());
    for (first, canonical) in buffer.starts() {
        if canonical != first {
            results.extend_from_within(canonical..=canonical);
            continue;
        }
        let offset = buffer.offset(cx, first, true)?;
        results.push(one(cx, &buffer, first, offset)?);
    }
    if order.acquires() {
        fence(cx, Ordering::LLVMAtomicOrderingAcquire, order.scope)?;
    }
    let results = if used { results } else { vec![] };
    finish(cx, op, &buffer.access, buffer.owner, results, order)
}

fn fence(cx: &Lower<'_, '_>, ordering: Ordering, scope: MemScope) -> Res<()> {
    raw::fence(cx, ordering, raw::scope(scope), false)
}
