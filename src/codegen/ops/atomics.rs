//! `tt.atomic_rmw` and `tt.atomic_cas`.
//!
//! 1. Registers are cut into accesses as for a store (`memory`), at most as wide as the machine's widest for the
//!    operation.
//! 2. Of the threads that hold copies of an element one performs the access, under the mask of its first element.
//! 3. A used result of an element that several threads hold goes through scratch memory from the one that performed the
//!    access to the others: element `r` of kept thread `t` lies at `(r · kept threads + t) · bytes`.
//! 4. A release waits for the whole block before the access, an acquire after it: the other threads' accesses are
//!    ordered by the barrier.
//! 5. Where blocks of a cluster hold copies, one of them performs the access. They all wait for each other in place of
//!    the block alone, and the others read the result in its shared memory.
//!
//! Example: the scalar `atomic_add(p, 1)` is an addition by the first thread, a store to scratch, a barrier and a load
//! by all.

use std::collections::BTreeMap;

use inkwell::values::IntValue;

use super::constant::is_zero;
use super::memory::{GlobalAccess, block_mask, owner, register, thread_mask};
use crate::codegen::bits::{bits_as, operand};
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::machine::Order;
use crate::ir::dialects::enums::{MemScope, MemSemantic, RmwKind};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Op, Type, Value};
use crate::layout::{Dim, FreeMasks};

/// The order that an atomic operation states by these two attributes.
pub(crate) fn order(sem: Option<MemSemantic>, scope: Option<MemScope>) -> Res<Order> {
    sem.zip(scope).map(|(sem, scope)| Order { sem, scope }).ok_or_else(|| defect("an atomic without an order"))
}

/// The element type that a pointer or a tensor of pointers leads to.
pub(crate) fn pointee(cx: &Lower<'_, '_>, ptr: Value) -> Res<Type> {
    cx.ir.ty(ptr).elem().pointee().ok_or_else(|| defect("an atomic through something that is no pointer"))
}

/// Lowers `tt.atomic_rmw`.
pub(crate) fn rmw(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicRmw(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.val(cx.ir), view.mask(cx.ir));
    let elem = pointee(cx, ptr)?;
    let rmw = view.atomic_rmw_op(cx.ir).ok_or_else(|| cx.unsupported(op, "it names no atomic operation"))?;
    let form = cx
        .machine
        .atomic_form(cx, rmw, elem)
        .ok_or_else(|| cx.unsupported(op, &format!("`{rmw}` of {elem} is no atomic operation of the hardware")))?;
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let access = GlobalAccess::new(cx, ptr, mask, form.widest)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let reads = !form.emulated && is_read(cx, op, rmw, &order, value);
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    if order.releases() {
        wait(cx, access.free)?;
    }
    let owner = owner(cx, access.free)?;
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for first in (0..ptrs.len()).step_by(access.vec) {
        let canonical = access.canonical(first);
        if canonical != first {
            if used {
                results.extend_from_within(canonical..canonical + access.vec);
            }
            continue;
        }
        let pred = predicate(cx, owner, masks.as_ref(), first)?;
        let words = pack(cx, &access, &values, first)?;
        let address = register(&ptrs, first)?;
        let one = access.atomic(&order, address, pred);
        let old = if reads {
            cx.machine.atomic_load(cx, &one)?
        } else {
            cx.machine.atomic_rmw(cx, &one, (rmw, elem), words)?
        };
        if used {
            old.into_iter().try_for_each(|word| access.unpack(cx, word, &mut results))?;
        }
    }
    finish(cx, op, &access, owner, results, &order)
}

/// Lowers `tt.atomic_cas`.
pub(crate) fn cas(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::AtomicCas(op);
    let (ptr, cmp, value) = (view.ptr(cx.ir), view.cmp(cx.ir), view.val(cx.ir));
    let elem = pointee(cx, ptr)?;
    let bits = elem.bit_width().unwrap_or(64);
    if !matches!(bits, 16 | 32 | 64) {
        return Err(cx.unsupported(op, &format!("{elem} cannot be compared and swapped; 16, 32 and 64 bits can")));
    }
    let order = order(view.sem(cx.ir), view.scope(cx.ir))?;
    let access = GlobalAccess::new(cx, ptr, None, bits)?;
    let used = cx.ir.has_uses(cx.ir.result(op));
    let (ptrs, cmps, values) = (cx.get(ptr)?, cx.get(cmp)?, cx.get(value)?);
    if order.releases() {
        wait(cx, access.free)?;
    }
    let owner = owner(cx, access.free)?;
    let mut results: Vec<Val<'_>> = Vec::with_capacity(ptrs.len());
    for i in 0..ptrs.len() {
        let canonical = access.canonical(i);
        if canonical != i {
            if used {
                results.extend_from_within(canonical..=canonical);
            }
            continue;
        }
        let (compared, words) = (pack(cx, &access, &cmps, i)?, pack(cx, &access, &values, i)?);
        let pred = predicate(cx, owner, None, i)?;
        let one = access.atomic(&order, register(&ptrs, i)?, pred);
        for word in cx.machine.compare_and_swap(cx, &one, compared, words)? {
            if used {
                access.unpack(cx, word, &mut results)?;
            }
        }
    }
    finish(cx, op, &access, owner, results, &order)
}

/// Whether an addition is one of zero that only reads: a scalar with a constant operand, without a release.
fn is_read(cx: &Lower<'_, '_>, op: Op, rmw: RmwKind, order: &Order, value: Value) -> bool {
    let ty = cx.ir.ty(value);
    if !matches!(rmw, RmwKind::Add | RmwKind::Fadd) || order.releases() || ty.is_tensor() {
        return false;
    }
    is_zero(cx, value) && cx.ir.has_uses(cx.ir.result(op))
}

/// The words of the access that starts at register `first`.
pub(crate) fn pack<'c>(
    cx: &Lower<'c, '_>,
    access: &GlobalAccess<'c>,
    regs: &Regs<'c>,
    first: usize,
) -> Res<Vec<Val<'c>>> {
    let all = regs.get(first..first + access.vec).ok_or_else(|| defect("the value has too few registers"))?;
    all.chunks(access.per_word()).map(|word| access.pack(cx, word)).collect()
}

pub(crate) fn predicate<'c>(
    cx: &Lower<'c, '_>,
    owner: Option<IntValue<'c>>,
    masks: Option<&Regs<'c>>,
    first: usize,
) -> Res<Option<Val<'c>>> {
    let mask = masks.map(|m| as_int(register(m, first)?)).transpose()?;
    // A mask that is always true is none.
    let mask = mask.filter(|m| m.get_zero_extended_constant() != Some(1));
    Ok(match (owner, mask) {
        (Some(a), Some(b)) => Some(cx.b.build_and(a, b, "")?.into()),
        (one, other) => one.or(other).map(Into::into),
    })
}

/// Waits for all who hold copies of what is accessed, and for what their blocks did before: the block, or the cluster.
pub(crate) fn wait(cx: &mut Lower<'_, '_>, free: FreeMasks) -> Res<()> {
    if block_mask(cx, free) == 0 { cx.barrier_once() } else { cx.machine.cluster_barrier(cx, false) }
}

/// Steps 3 and 4: makes these results, from the threads that performed the accesses, the operation's. `access` says
/// what they are.
pub(crate) fn finish<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &GlobalAccess<'c>,
    owner: Option<IntValue<'c>>,
    results: Vec<Val<'c>>,
    order: &Order,
) -> Res<()> {
    let result = cx.ir.result(op);
    let regs = match delivered(cx, op, access, owner, results, order)? {
        Some(regs) => regs,
        None => cx.poison(cx.ir.ty(result))?.to_vec(),
    };
    cx.set(result, regs);
    Ok(())
}

/// The results for every thread; `None` when nobody uses them.
pub(crate) fn delivered<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &GlobalAccess<'c>,
    owner: Option<IntValue<'c>>,
    results: Vec<Val<'c>>,
    order: &Order,
) -> Res<Option<Vec<Val<'c>>>> {
    let copies = thread_mask(cx, access.free) != 0 || block_mask(cx, access.free) != 0;
    let used = cx.ir.has_uses(cx.ir.result(op));
    if let (true, true, Some(owner)) = (used, copies, owner) {
        return share(cx, op, access, owner, &results).map(Some);
    }
    if order.acquires() {
        wait(cx, access.free)?;
    }
    Ok(used.then_some(results))
}

/// Gives every thread the results of the threads that performed the accesses.
fn share<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    access: &GlobalAccess<'c>,
    owner: IntValue<'c>,
    results: &[Val<'c>],
) -> Res<Vec<Val<'c>>> {
    let free = thread_mask(cx, access.free);
    let ty = cx.ir.ty(cx.ir.result(op));
    let threads = if ty.is_tensor() {
        let layout = Lower::layout(ty)?;
        1u64 << (layout.in_bits(Dim::Lane) + layout.in_bits(Dim::Warp))
    } else {
        1
    };
    let kept = !free & (threads - 1);
    let thread = kept_thread(cx, kept)?;
    let (bytes, kept_threads) = (u64::from(access.elem_bits / 8), 1u64 << kept.count_ones());
    let own = cx.b.build_int_mul(thread, cx.i32(bytes), "")?;
    let scratch = cx.scratch(op)?;
    let base = cx.shared_at(scratch, own)?;
    let unique: Vec<usize> = (0..results.len()).filter(|&i| access.canonical(i) == i).collect();
    for (slot, &i) in unique.iter().enumerate() {
        let at = cx.shared_at(base, cx.i32(slot as u64 * kept_threads * bytes))?;
        let address = cx.shared_address_bits(at)?;
        let value = bits_as(cx, results[i], cx.int_type(access.elem_bits).into())?;
        cx.machine.store_shared(cx, owner, address, (&[value], access.elem_bits), true)?;
    }
    let blocks = block_mask(cx, access.free);
    let base = if blocks == 0 {
        cx.barrier()?;
        base
    } else {
        cx.machine.cluster_barrier(cx, false)?;
        let own = cx.block_in_cluster()?;
        let first = cx.b.build_and(own, cx.i32(!blocks & u64::from(cx.num_ctas - 1)), "")?;
        cx.machine.in_block(cx, base, first)?
    };
    let mut loaded: BTreeMap<usize, Val<'c>> = BTreeMap::new();
    for (slot, &i) in unique.iter().enumerate() {
        let at = cx.shared_at(base, cx.i32(slot as u64 * kept_threads * bytes))?;
        loaded.insert(i, operand(&cx.load_shared(at, access.elem, 1)?, 0)?);
    }
    (0..results.len())
        .map(|i| loaded.get(&access.canonical(i)).copied().ok_or_else(|| defect("a result without its own register")))
        .collect()
}

/// The number of this thread among those that differ in the kept bits: those bits moved together.
/// If bits 0, 1 and 4 are kept, that is `(tid & 3) | (tid >> 2 & 4)`.
fn kept_thread<'c>(cx: &mut Lower<'c, '_>, kept: u64) -> Res<IntValue<'c>> {
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    for (place, bit) in (0..64).filter(|b| kept >> b & 1 == 1).enumerate() {
        *groups.entry(bit - place as u64).or_default() |= 1 << bit;
    }
    let mut number = cx.i32(0);
    for (shift, mask) in groups {
        let bits = cx.b.build_and(cx.thread_id(), cx.i32(mask), "")?;
        let moved = cx.b.build_right_shift(bits, cx.i32(shift), false, "")?;
        number = cx.b.build_or(number, moved, "")?;
    }
    Ok(number)
}
