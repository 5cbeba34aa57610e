//! Atomic operations on memory.

use super::entry::entry;
use super::memory;
use super::memory::memory_type;
use crate::diag::codes::{names, types};
use crate::ir::ArithOp;
use crate::ir::dialects::enums::{MemScope, MemSemantic, RmwKind};
use crate::ir::dialects::tt::tt;
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{arith, convert, faults, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "atomic_add",
        "pointer, val, mask=None, sem=None, scope=None",
        "Adds to memory; gives what was there.",
        |cx, a| simple(cx, a, RmwKind::Add),
    )
    .method(),
    entry(
        "atomic_and",
        "pointer, val, mask=None, sem=None, scope=None",
        "Bitwise and with memory; gives what was there.",
        |cx, a| simple(cx, a, RmwKind::And),
    )
    .method(),
    entry(
        "atomic_or",
        "pointer, val, mask=None, sem=None, scope=None",
        "Bitwise or with memory; gives what was there.",
        |cx, a| simple(cx, a, RmwKind::Or),
    )
    .method(),
    entry(
        "atomic_xor",
        "pointer, val, mask=None, sem=None, scope=None",
        "Bitwise exclusive or with memory; gives what was there.",
        |cx, a| simple(cx, a, RmwKind::Xor),
    )
    .method(),
    entry(
        "atomic_xchg",
        "pointer, val, mask=None, sem=None, scope=None",
        "Replaces memory; gives what was there.",
        |cx, a| simple(cx, a, RmwKind::Exch),
    )
    .method(),
    entry(
        "atomic_max",
        "pointer, val, mask=None, sem=None, scope=None",
        "Maximum with memory; gives what was there.",
        |cx, a| extremum(cx, a, true),
    )
    .method(),
    entry(
        "atomic_min",
        "pointer, val, mask=None, sem=None, scope=None",
        "Minimum with memory; gives what was there.",
        |cx, a| extremum(cx, a, false),
    )
    .method(),
    entry(
        "atomic_cas",
        "pointer, cmp, val, sem=None, scope=None",
        "Stores `val` if memory equals `cmp`; gives what was there.",
        cas,
    )
    .method(),
    entry(
        "atomic_load",
        "pointer, mask=None, sem=None, scope=None",
        "Reads memory atomically where `mask` is true, acquiring (`sem='acquire'`) or not ('relaxed').",
        load,
    )
    .method(),
    entry(
        "atomic_store",
        "pointer, val, mask=None, sem=None, scope=None",
        "Writes memory atomically where `mask` is true, releasing (`sem='release'`) or not ('relaxed').",
        store,
    )
    .method(),
    entry(
        "atomic_poll",
        "pointer, expected_value, sem=None, scope=None, timeout_ns=None",
        "Waits until memory holds the expected value, or the time is over; gives whether it did.",
        poll,
    )
    .method(),
];

const SEM: &[(&str, MemSemantic)] = &[
    ("", MemSemantic::AcqRel),
    ("relaxed", MemSemantic::Relaxed),
    ("acquire", MemSemantic::Acquire),
    ("release", MemSemantic::Release),
    ("acq_rel", MemSemantic::AcqRel),
];
const LOAD_SEM: &[(&str, MemSemantic)] =
    &[("", MemSemantic::Acquire), ("relaxed", MemSemantic::Relaxed), ("acquire", MemSemantic::Acquire)];
const STORE_SEM: &[(&str, MemSemantic)] =
    &[("", MemSemantic::Release), ("relaxed", MemSemantic::Relaxed), ("release", MemSemantic::Release)];
const SCOPE: &[(&str, MemScope)] =
    &[("", MemScope::Gpu), ("gpu", MemScope::Gpu), ("cta", MemScope::Cta), ("sys", MemScope::Sys)];

struct AtomicArgs {
    ptr: Tensor,
    val: Tensor,
    mask: Tensor,
    sem: MemSemantic,
    scope: MemScope,
}

/// Checks and shapes the arguments.
fn access(cx: &mut Emitter, a: &Args, op: RmwKind) -> R<AtomicArgs> {
    let ptr = memory::pointer_arg(cx, a.get(0), a.builtin.name)?;
    let (val, mask) = (a.tensor(cx, 1)?, a.optional_tensor(cx, 2)?);
    not_constant(cx, ptr)?;
    let elem = ptr.ty.dtype.pointee().map_or(Dtype::Void, |t| t.dtype);
    let half = matches!(elem, Dtype::Fp16 | Dtype::Bf16);
    if elem.bits() < 16 || (elem.is_int() && elem.bits() == 16) || (half && op != RmwKind::Add) {
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!("`{}` does not work on {elem}", a.builtin.name),
            format!("a pointer to {elem}"),
            "the hardware has it for 32- and 64-bit types, and the addition for fp16 and bf16",
        ));
    }
    let (val, mask) = (fitting(cx, ptr, val, "value")?, mask.map(|m| fitting(cx, ptr, m, "mask")).transpose()?);
    let val = convert::cast(cx, val, elem, None)?;
    let mask = mask_or_all(cx, ptr, mask)?;
    let (sem, scope) = (a.word(cx, 3, SEM)?, a.word(cx, 4, SCOPE)?);
    Ok(AtomicArgs { ptr, val, mask, sem, scope })
}

fn not_constant(cx: &mut Emitter, ptr: Tensor) -> R<()> {
    if ptr.ty.dtype.is_const_ptr() {
        return Err(cx.error_help(
            &types::NOT_A_POINTER,
            "nothing can be stored through a pointer to constant data",
            "in this call",
            "declare the parameter without `k`, and without `tl.const`",
        ));
    }
    Ok(())
}

/// A value or a mask in the pointer's shape. A scalar pointer takes scalars only.
fn fitting(cx: &mut Emitter, ptr: Tensor, t: Tensor, what: &str) -> R<Tensor> {
    if ptr.ty.is_block() {
        return memory::to_pointer_shape(cx, ptr, t, what);
    }
    if t.ty.is_block() {
        return Err(cx.error_help(
            &types::MASK,
            "a block of values or masks needs a block of pointers",
            "the pointer is a scalar",
            "add block offsets to the pointer: `ptr + tl.arange(...)`",
        ));
    }
    Ok(t)
}

/// The mask as bits; without one, all of them.
fn mask_or_all(cx: &mut Emitter, ptr: Tensor, mask: Option<Tensor>) -> R<Tensor> {
    if let Some(m) = mask {
        return memory::mask_bits(cx, m);
    }
    let yes = convert::scalar_constant(cx, &Const::Bool(true), Dtype::Int1)?;
    shape::splat(cx, yes, ptr.ty.shape())
}

fn rmw(cx: &mut Emitter, op: RmwKind, x: &AtomicArgs, ptr: Tensor, val: Tensor, mask: Tensor) -> R<Tensor> {
    let state = tt::AtomicRmw::state(cx.loc(), ptr.value, val.value, Some(mask.value))
        .with(tt::AtomicRmw::ATTR.atomic_rmw_op, op)
        .with(tt::AtomicRmw::ATTR.sem, x.sem)
        .with(tt::AtomicRmw::ATTR.scope, x.scope);
    cx.tensor_of(state, val.ty)
}

fn simple(cx: &mut Emitter, a: &Args, op: RmwKind) -> R<Object> {
    let x = access(cx, a, op)?;
    let kind = if op == RmwKind::Add && x.val.ty.dtype.is_float() { RmwKind::Fadd } else { op };
    if matches!(op, RmwKind::And | RmwKind::Or | RmwKind::Xor) && !x.val.ty.dtype.is_int() {
        let help = "these are operations on bits: point to integers; for elements of 32 bits that is `p.to(tl.pointer_type(tl.int32))`";
        return Err(faults::expected_of_tensor(cx, "integers", &x.val.into(), help));
    }
    Ok(rmw(cx, kind, &x, x.ptr, x.val, x.mask)?.into())
}

/// Floats compare as signed integers when they are positive and as unsigned ones, reversed, when they are negative.
fn extremum(cx: &mut Emitter, a: &Args, max: bool) -> R<Object> {
    let x = access(cx, a, if max { RmwKind::Max } else { RmwKind::Min })?;
    let d = x.val.ty.dtype;
    if d.is_int() {
        let name = match (max, d.is_signed()) {
            (true, true) => RmwKind::Max,
            (true, false) => RmwKind::Umax,
            (false, true) => RmwKind::Min,
            (false, false) => RmwKind::Umin,
        };
        return Ok(rmw(cx, name, &x, x.ptr, x.val, x.mask)?.into());
    }
    let (signed, unsigned) = if d.bits() == 32 { (Dtype::Int32, Dtype::Uint32) } else { (Dtype::Int64, Dtype::Uint64) };
    let as_type = |cx: &mut Emitter, to: Dtype| -> R<(Tensor, Tensor)> {
        let val = convert::bitcast(cx, x.val, to)?;
        let ptr = convert::cast(cx, x.ptr, Dtype::pointer_to(Ty::scalar(to), false), None)?;
        Ok((val, ptr))
    };
    let (s_val, s_ptr) = as_type(cx, signed)?;
    let (u_val, u_ptr) = as_type(cx, unsigned)?;
    let bits = convert::bitcast(cx, x.val, unsigned)?;
    let sign = arith::bitwise(cx, ArithOp::Shrui, ">>", &bits.into(), &Object::int(d.bits() - 1))?;
    let negative = convert::cast(cx, sign, Dtype::Int1, None)?;
    let positive = arith::invert(cx, negative)?;
    let on_positive = arith::bitwise(cx, ArithOp::Andi, "&", &x.mask.into(), &positive.into())?;
    let pos = rmw(cx, if max { RmwKind::Max } else { RmwKind::Min }, &x, s_ptr, s_val, on_positive)?;
    let on_negative = arith::bitwise(cx, ArithOp::Andi, "&", &x.mask.into(), &negative.into())?;
    let neg = rmw(cx, if max { RmwKind::Umin } else { RmwKind::Umax }, &x, u_ptr, u_val, on_negative)?;
    let result = arith::select(cx, &positive.into(), &pos.into(), &neg.into())?;
    Ok(convert::bitcast(cx, result, d)?.into())
}

fn cas(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = memory::pointer_arg(cx, a.get(0), "atomic_cas")?;
    not_constant(cx, ptr)?;
    let (ptr, elem, _) = memory_type(cx, ptr)?;
    if ![16, 32, 64].contains(&elem.bits()) {
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!("`atomic_cas` works on 16, 32 and 64 bits, not on {elem}"),
            "in this call",
            "use a buffer of 32-bit elements",
        ));
    }
    let mut values = vec![];
    let mut result = elem;
    for i in [1, 2] {
        let t = a.tensor(cx, i)?;
        // What comes back is signed or not as the new value is.
        if t.ty.dtype.is_int() && elem.is_int() && t.ty.dtype.bits() == elem.bits() {
            result = t.ty.dtype;
        }
        let t = if ptr.ty.is_block() { memory::to_pointer_shape(cx, ptr, t, "value")? } else { t };
        values.push(convert::cast(cx, t, elem, None)?);
    }
    let (sem, scope) = (a.word(cx, 3, SEM)?, a.word(cx, 4, SCOPE)?);
    let ty = ptr.ty.with(result);
    let state = tt::AtomicCas::state(cx.loc(), ptr.value, values[0].value, values[1].value)
        .with(tt::AtomicCas::ATTR.sem, sem)
        .with(tt::AtomicCas::ATTR.scope, scope);
    Ok(cx.tensor_of(state, ty)?.into())
}

fn load(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = memory::pointer_arg(cx, a.get(0), "atomic_load")?;
    let mask = a.optional_tensor(cx, 1)?;
    let mask = mask.map(|m| fitting(cx, ptr, m, "mask")).transpose()?;
    let (ptr, elem, bits) = memory_type(cx, ptr)?;
    numbers_only(cx, elem, "atomic_load")?;
    let mask = mask_or_all(cx, ptr, mask)?;
    let (sem, scope) = (a.word(cx, 2, LOAD_SEM)?, a.word(cx, 3, SCOPE)?);
    let ty = ptr.ty.with(elem);
    let state = tt::AtomicLoad::state(cx.loc(), ptr.value, Some(mask.value))
        .with(tt::AtomicLoad::ATTR.sem, sem)
        .with(tt::AtomicLoad::ATTR.scope, scope);
    let loaded = cx.tensor_of(state, ty)?;
    Ok(if bits { convert::cast(cx, loaded, Dtype::Int1, None)? } else { loaded }.into())
}

fn store(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = memory::pointer_arg(cx, a.get(0), "atomic_store")?;
    not_constant(cx, ptr)?;
    let (val, mask) = (a.tensor(cx, 1)?, a.optional_tensor(cx, 2)?);
    let (val, mask) = (fitting(cx, ptr, val, "value")?, mask.map(|m| fitting(cx, ptr, m, "mask")).transpose()?);
    let (ptr, elem, _) = memory_type(cx, ptr)?;
    numbers_only(cx, elem, "atomic_store")?;
    let val = convert::cast(cx, val, elem, None)?;
    let mask = mask_or_all(cx, ptr, mask)?;
    let (sem, scope) = (a.word(cx, 3, STORE_SEM)?, a.word(cx, 4, SCOPE)?);
    let state = tt::AtomicStore::state(cx.loc(), ptr.value, val.value, Some(mask.value))
        .with(tt::AtomicStore::ATTR.sem, sem)
        .with(tt::AtomicStore::ATTR.scope, scope);
    cx.emit(state)?;
    Ok(Object::NONE)
}

fn poll(cx: &mut Emitter, a: &Args) -> R<Object> {
    let ptr = memory::pointer_arg(cx, a.get(0), "atomic_poll")?;
    let expected = a.tensor(cx, 1)?;
    let timeout = a.optional_tensor(cx, 4)?;
    if a.get(4).as_const().and_then(Const::as_int).is_some_and(|t| t < 0) {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            "`timeout_ns` is negative",
            "in this call",
            "give nanoseconds, or leave it out to wait without end",
        ));
    }
    let elem = ptr.ty.dtype.pointee().map_or(Dtype::Void, |t| t.dtype);
    if !elem.is_int() || ![16, 32, 64].contains(&elem.bits()) {
        let message = format!("`atomic_poll` works on integers of 16, 32 and 64 bits, not on {elem}");
        return Err(cx.error_help(&types::ARGUMENT_TYPE, message, "in this call", "use a buffer of int32"));
    }
    let expected = convert::cast(cx, expected, elem, None)?;
    let expected = fitting(cx, ptr, expected, "expected value")?;
    let (sem, scope) = (a.word(cx, 2, LOAD_SEM)?, a.word(cx, 3, SCOPE)?);
    let mut limit = None;
    if let Some(t) = timeout {
        if t.ty.is_block() || !t.ty.dtype.is_int() {
            let help = "pass one integer: convert a float with `.to(tl.int64)`";
            return Err(faults::expected_of_tensor(cx, "a whole number of nanoseconds", &t.into(), help));
        }
        limit = Some(convert::cast(cx, t, Dtype::Uint64, None)?.value);
    }
    let ty = ptr.ty.with(Dtype::Int1);
    let state = tt::AtomicPoll::state(cx.loc(), ptr.value, expected.value, limit)
        .with(tt::AtomicPoll::ATTR.sem, sem)
        .with(tt::AtomicPoll::ATTR.scope, scope);
    Ok(cx.tensor_of(state, ty)?.into())
}

fn numbers_only(cx: &mut Emitter, elem: Dtype, name: &str) -> R<()> {
    if elem.is_int() || elem.is_float() {
        return Ok(());
    }
    Err(cx.error_help(
        &types::ARGUMENT_TYPE,
        format!("`{name}` works on integers and floats, not on {elem}"),
        "in this call",
        "convert the buffer: the hardware has atomics for numbers only",
    ))
}
