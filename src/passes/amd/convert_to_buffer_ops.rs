//! `tritonamdgpu-convert-to-buffer-ops`: accesses to global memory at small offsets from one address become buffer
//! instructions.
//!
//! A buffer instruction takes a scalar address and an offset of 32 bits a lane, and leaves out lanes whose offset is
//! beyond a bound: no branch is needed for a mask, and fewer registers hold addresses.
//!
//! ```text
//! %p = tt.splat %base
//! %q = tt.addptr %p, %offsets        %offsets: 0 to 1023
//! %v = tt.load %q, %mask        →    %v = amdg.buffer_load %base[%offsets], %mask {contiguity = 4 : i32}
//! ```
//!
//! # Algorithm
//!
//! 1. Compute the ranges of a function's numbers, and what is known of its pointers.
//! 2. An access qualifies if its pointer is a splat moved by offsets of 32 or 64 bits, of which none is negative and
//!    none reaches 2 GiB. An address that a parameter says is of an array below 2 GiB (`tt.pointer_range = 32`)
//!    qualifies with any offsets.
//! 3. It becomes a buffer operation with as many adjacent elements as pointer and mask allow. A mask that is true
//!    everywhere and a default of zero, which the hardware gives anyway, are left out.
//! 4. `tt.atomic_cas` on integers of 32 or 64 bits becomes one too.

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::ranges::Ranges;
use crate::ir::core::{Attr, Builder, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::amdg::amdg::{BufferAtomicCas, BufferLoad, BufferStore};
use crate::ir::dialects::discardable::POINTER_RANGE;
use crate::ir::dialects::enums::MemScope;
use crate::ir::dialects::tt::tt::{Addptr, AtomicCas, Load, Splat, Store};
use crate::ir::rewrite::fold::{const_of, has_no_bits};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-convert-to-buffer-ops",
    doc: "access global memory at small offsets by buffer instructions",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// The bytes that an offset may reach.
const LIMIT: i128 = (1 << 31) - 1;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let axis = AxisInfoAnalysis::of_module(ir);
    let mut found: Vec<(Op, Place, u32)> = vec![];
    for func in ir.functions() {
        let ranges = Ranges::of(ir, func);
        for op in ir.all_ops(func) {
            let Some((ptr, mask)) = accessed(ir, op) else { continue };
            if let Some(place) = Place::of(ir, func, &ranges, ptr) {
                let adjacent = axis.ptr_contiguity(ir, ptr);
                let mask = mask.filter(|&mask| !is_all_true(ir, mask));
                found.push((op, place, mask.map_or(adjacent, |mask| adjacent.min(axis.mask_alignment(ir, mask)))));
            }
        }
    }
    for (op, place, adjacent) in &found {
        convert(ir, *op, *place, i64::from(*adjacent));
    }
    Ok(Changed::from(!found.is_empty()))
}

/// The pointer and the mask of an access that there is a buffer instruction for.
fn accessed(ir: &Ir, op: Op) -> Option<(Value, Option<Value>)> {
    if let Some(load) = Load::of(ir, op) {
        // The table has no place for volatile.
        return (!load.isVolatile(ir)).then(|| (load.ptr(ir), load.mask(ir)));
    }
    if let Some(store) = Store::of(ir, op) {
        return Some((store.ptr(ir), store.mask(ir)));
    }
    let cas = AtomicCas::of(ir, op)?;
    let elem = ir.ty(cas.val(ir)).elem();
    let supported = (elem.is_int_of(32) || elem.is_int_of(64)) && cas.scope(ir) != Some(MemScope::Sys);
    supported.then(|| (cas.ptr(ir), None))
}

/// A scalar address with offsets.
#[derive(Clone, Copy)]
struct Place {
    base: Value,
    offsets: Value,
}

impl Place {
    /// What a pointer is made of, if a buffer instruction can reach it.
    fn of(ir: &Ir, func: Op, ranges: &Ranges, ptr: Value) -> Option<Place> {
        let moved = Addptr::defining(ir, ptr)?;
        let base = Splat::defining(ir, moved.ptr(ir))?.src(ir);
        let offsets = moved.offset(ir);
        let width = ir.ty(offsets).elem().bit_width()?;
        if width != 32 && width != 64 {
            return None;
        }
        let bits = i128::from(ir.ty(base).pointee()?.bit_width()?);
        let reaches = |most: i64| (bits * i128::from(most) + bits + 7) / 8;
        let small = is_of_small_array(ir, func, base)
            || ranges.get(offsets).is_some_and(|r| r.min >= 0 && reaches(r.max) <= LIMIT);
        small.then_some(Place { base, offsets })
    }
}

/// Whether an address is a parameter whose array lies within 2 GiB.
fn is_of_small_array(ir: &Ir, func: Op, base: Value) -> bool {
    let ValueDef::Arg { block, index } = ir.def(base) else { return false };
    let stated = || ir.param_attr(func, index as usize, POINTER_RANGE);
    ir.body(func, 0) == Some(block) && stated().is_some_and(|bits| bits <= 32)
}

fn is_all_true(ir: &Ir, mask: Value) -> bool {
    const_of(ir, mask).and_then(Attr::splat_value).is_some_and(|bits| bits & 1 == 1)
}

fn convert(ir: &mut Ir, op: Op, place: Place, adjacent: i64) {
    let Place { base, offsets } = place;
    let (ty, loc) = (ir.ty(offsets), ir.loc(op));
    let mut b = Builder::before(ir, op);
    let offsets = if ty.elem().is_int_of(32) {
        offsets
    } else {
        b.value(ArithOp::Trunci, &[offsets], ty.with_elem(Type::int(32)))
    };
    if let Some(load) = Load::of(b.ir, op) {
        let mask = load.mask(b.ir).filter(|&mask| !is_all_true(b.ir, mask));
        let other = load.other(b.ir).filter(|&other| mask.is_some() && !has_no_bits(b.ir, other));
        let mut state =
            BufferLoad::state(loc, base, offsets, None, mask, other).with(BufferLoad::ATTR.contiguity, adjacent);
        if let (Some(cache), Some(evict)) = (load.cache(b.ir), load.evict(b.ir)) {
            state = state.with(BufferLoad::ATTR.cache, cache).with(BufferLoad::ATTR.evict, evict);
        }
        let ty = b.ir.ty(load.result(b.ir));
        let loaded = b.result(state, ty);
        ir.replace_op(op, &[loaded]);
    } else if let Some(store) = Store::of(b.ir, op) {
        let mask = store.mask(b.ir).filter(|&mask| !is_all_true(b.ir, mask));
        let mut state = BufferStore::state(loc, store.value(b.ir), base, offsets, None, mask)
            .with(BufferStore::ATTR.contiguity, adjacent);
        if let (Some(cache), Some(evict)) = (store.cache(b.ir), store.evict(b.ir)) {
            state = state.with(BufferStore::ATTR.cache, cache).with(BufferStore::ATTR.evict, evict);
        }
        b.insert(state);
        ir.erase_op(op);
    } else if let Some(cas) = AtomicCas::of(b.ir, op) {
        let (cmp, val) = (cas.cmp(b.ir), cas.val(b.ir));
        let mut state = BufferAtomicCas::state(loc, base, offsets, cmp, val, None);
        if let (Some(sem), Some(scope)) = (cas.sem(b.ir), cas.scope(b.ir)) {
            state = state.with(BufferAtomicCas::ATTR.sem, sem).with(BufferAtomicCas::ATTR.scope, scope);
        }
        let ty = b.ir.ty(cas.result(b.ir));
        let found = b.result(state, ty);
        ir.replace_op(op, &[found]);
    }
}
