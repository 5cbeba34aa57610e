//! Global memory: pointer arithmetic, loads, stores.
//!
//! 1. The axis analysis says how many consecutive registers of a thread address consecutive elements at a matching
//!    alignment, and how many consecutive mask bits are equal; the lesser of both, up to 16 bytes, is one access.
//!    Where the mask allows less than the addresses do, the accesses of such a run share the address of its first
//!    element. So do neighbours in memory that a thread does not hold side by side, if that saves many addresses
//!    ([`MANY`]).
//! 2. An access moves words: elements narrower than 32 bits are packed into 32-bit words, and up to four words form a
//!    vector. Eight bf16 are four words of two.
//! 3. The mask of the first element predicates the access. A load's registers start as `other`, or zero, where the mask
//!    is false.
//! 4. Registers that hold copies are loaded once. Elements that several threads hold are stored by the one whose free
//!    bits are all 0.

use std::collections::BTreeSet;

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I, IntValue};

use super::elementwise::elementwise;
use crate::codegen::bits::bits_as;
use crate::codegen::bits::operand;
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::machine::Order;
use crate::codegen::machine::{AtomicAccess, Caching, GlobalLoad, GlobalStore, Words};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Ir, Op, Type, Value};
use crate::layout::{FreeMasks, free_variable_masks, neighbours};

/// Bits of the widest access of one thread.
const MAX_ACCESS: u32 = 128;

/// The stores of a thread that wait for its loads, at the most.
const MOST_BEHIND: usize = 16;

/// The addresses that one access must save so that neighbours that a thread does not hold side by side share one. On an
/// H200, 58 launches that save as many ran at 1.026 of their speed, four above 1.05 (up to 2.1, where they spilled) and
/// none below 0.95. With fewer ptxas makes other plans for nothing: 786 at 0.999, 13 above and 17 below.
const MANY: usize = 16;

/// The operations between a load and a store to the same place that are looked through.
const FARTHEST: usize = 64;

/// How the registers of one load or store are cut into accesses.
pub(crate) struct GlobalAccess<'c> {
    pub(crate) elem: BasicTypeEnum<'c>,
    /// Bits that an element takes in memory.
    pub(crate) elem_bits: u32,
    /// Elements of one access.
    pub(crate) vec: usize,
    /// The register whose address each register's access takes, and the bytes behind it. Without them each takes its
    /// own.
    pub(crate) places: Vec<(usize, u32)>,
    /// Bits of one word: 8, 16, 32 or 64.
    pub(crate) word_bits: u32,
    pub(crate) words: usize,
    pub(crate) free: FreeMasks,
}

impl<'c> GlobalAccess<'c> {
    /// Accesses of at most `widest` bits.
    pub(crate) fn new(cx: &Lower<'c, '_>, ptr: Value, mask: Option<Value>, widest: u32) -> Res<GlobalAccess<'c>> {
        let ty = cx.ir.ty(ptr);
        let pointee = ty.elem().pointee().ok_or_else(|| defect("an access through something that is no pointer"))?;
        if !ty.is_tensor() {
            return GlobalAccess::of_run(cx, pointee, ty, 1, widest);
        }
        let by_mask = mask.map_or(u32::MAX, |m| cx.prepared.axis.mask_alignment(cx.ir, m));
        let aligned = cx.prepared.axis.ptr_contiguity(cx.ir, ptr);
        let access = GlobalAccess::of_run(cx, pointee, ty, aligned.min(by_mask), widest)?;
        if !cx.machine.takes_distances() {
            return Ok(access);
        }
        let registers = Lower::num_regs(ty)?;
        let run = cx.prepared.axis.ptr_run(cx.ir, ptr) as usize;
        let run = if registers.is_multiple_of(run) && run.is_power_of_two() { run } else { access.vec };
        let run = run.max(access.vec);
        let side_by_side: Vec<_> = (0..registers).map(|r| (r - r % run, (r % run) as u32)).collect();
        let apart = match cx.prepared.axis.ptr_neighbours(cx.ir, ptr) {
            Some((axis, count)) => Some(neighbours(Lower::layout(ty)?, axis, count)),
            None => None,
        };
        let addresses =
            |places: &[(usize, u32)]| access.firsts(registers).map(|r| places[r].0).collect::<BTreeSet<_>>();
        let saves_many = |apart: &Vec<_>| addresses(apart).len() + MANY <= addresses(&side_by_side).len();
        let places = apart.filter(saves_many).unwrap_or(side_by_side);
        let bytes = access.elem_bits / 8;
        let places = places.into_iter().map(|(start, elements)| (start, elements * bytes)).collect();
        Ok(GlobalAccess { places, ..access })
    }

    /// The first registers of the accesses of a thread that has so many.
    fn firsts(&self, registers: usize) -> impl Iterator<Item = usize> {
        (0..registers).step_by(self.vec).filter(|&first| self.canonical(first) == first)
    }

    /// Accesses of at most `widest` bits to elements of type `pointee`, of which `run` consecutive registers of `ty`
    /// hold adjacent ones.
    pub(crate) fn of_run(cx: &Lower<'c, '_>, pointee: Type, ty: Type, run: u32, widest: u32) -> Res<GlobalAccess<'c>> {
        let elem = cx.elem_type(pointee)?;
        let elem_bits = cx.bits_of(elem).next_multiple_of(8);
        let mut vec = 1;
        let mut free = FreeMasks { register: 0, lane: u32::MAX, warp: u32::MAX, block: u32::MAX };
        if ty.is_tensor() {
            vec = run.min(widest / elem_bits).max(1) as usize;
            vec = if Lower::num_regs(ty)?.is_multiple_of(vec) && vec.is_power_of_two() { vec } else { 1 };
            free = free_variable_masks(Lower::layout(ty)?);
        }
        let total = elem_bits * vec as u32;
        let word_bits = total.min(elem_bits.max(32));
        let words = (total / word_bits) as usize;
        Ok(GlobalAccess { elem, elem_bits, vec, places: vec![], word_bits, words, free })
    }

    /// The register whose address the access of register `first` takes, and the bytes behind it.
    fn place(&self, first: usize) -> (usize, u32) {
        self.places.get(first).copied().unwrap_or((first, 0))
    }

    pub(crate) fn per_word(&self) -> usize {
        self.vec / self.words
    }

    /// What one access moves.
    pub(crate) fn moved(&self) -> Words {
        Words { count: self.words, bits: self.word_bits }
    }

    /// One access of a thread, if it is atomic.
    pub(crate) fn atomic<'x>(&self, order: &'x Order, address: Val<'c>, pred: Option<Val<'c>>) -> AtomicAccess<'x, 'c> {
        AtomicAccess { words: self.moved(), per_word: self.per_word(), order, address, pred }
    }

    /// The register whose copy register `first` is.
    pub(crate) fn canonical(&self, first: usize) -> usize {
        first & !(self.free.register as usize)
    }

    /// The elements of one word as the integer that its register holds.
    pub(crate) fn pack(&self, cx: &Lower<'c, '_>, elements: &[Val<'c>]) -> Res<Val<'c>> {
        let elements = elements.iter().map(|&e| self.as_stored(cx, e)).collect::<Res<Vec<_>>>()?;
        let word = match elements.as_slice() {
            [one] => *one,
            many => {
                let mut vector = Lower::vector_type(operand(many, 0)?.get_type(), many.len() as u32)?.get_poison();
                for (i, &e) in many.iter().enumerate() {
                    vector = cx.b.build_insert_element(vector, e, cx.i32(i as u64), "")?;
                }
                vector.as_basic_value_enum()
            }
        };
        let int = bits_as(cx, word, cx.int_type(self.word_bits).into())?;
        // A word of 8 bits travels in the low half of one of 16.
        if self.word_bits == 8 { Ok(cx.b.build_cast(I::ZExt, int, cx.int_type(16), "")?) } else { Ok(int) }
    }

    /// The reverse of [`GlobalAccess::pack`].
    pub(crate) fn unpack(&self, cx: &Lower<'c, '_>, word: Val<'c>, out: &mut Vec<Val<'c>>) -> Res<()> {
        let word = if self.word_bits == 8 { cx.b.build_cast(I::Trunc, word, cx.int_type(8), "")? } else { word };
        let stored = self.stored_type(cx);
        if self.per_word() == 1 {
            out.push(self.restore(cx, word)?);
            return Ok(());
        }
        let vector = cx.b.build_bit_cast(word, Lower::vector_type(stored, self.per_word() as u32)?, "")?;
        let Val::VectorValue(vector) = vector else { return Err(defect("a word is no vector")) };
        for i in 0..self.per_word() {
            let e = cx.b.build_extract_element(vector, cx.i32(i as u64), "")?;
            out.push(self.restore(cx, e)?);
        }
        Ok(())
    }

    /// The type of an element in memory: of whole bytes, and no pointer, so that vectors of it can be reinterpreted.
    fn stored_type(&self, cx: &Lower<'c, '_>) -> BasicTypeEnum<'c> {
        let whole = cx.bits_of(self.elem) == self.elem_bits && !self.elem.is_pointer_type();
        if whole { self.elem } else { cx.int_type(self.elem_bits).into() }
    }

    /// An element as it lies in memory; truth values are all ones or all zeros.
    fn as_stored(&self, cx: &Lower<'c, '_>, e: Val<'c>) -> Res<Val<'c>> {
        let stored = self.stored_type(cx);
        if cx.bits_of(self.elem) == self.elem_bits {
            bits_as(cx, e, stored)
        } else {
            Ok(cx.b.build_cast(I::SExt, e, stored, "")?)
        }
    }

    fn restore(&self, cx: &Lower<'c, '_>, e: Val<'c>) -> Res<Val<'c>> {
        if cx.bits_of(self.elem) == self.elem_bits {
            bits_as(cx, e, self.elem)
        } else {
            Ok(cx.b.build_cast(I::Trunc, e, self.elem, "")?)
        }
    }
}

/// `tt.addptr`
pub(crate) fn addptr(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let pointee = cx.ir.ty(cx.ir.result(op)).elem().pointee().ok_or_else(|| defect("`tt.addptr` of no pointer"))?;
    let elem = cx.elem_type(pointee)?;
    // An i1 takes a byte in memory.
    let elem = if cx.bits_of(elem) < 8 { cx.int_type(8).into() } else { elem };
    elementwise(cx, op, |cx, args| match operand(args, 0)? {
        Val::PointerValue(ptr) => {
            let offset = as_int(operand(args, 1)?)?;
            // SAFETY: `getelementptr` without `inbounds` only computes an address.
            Ok(unsafe { cx.b.build_gep(elem, ptr, &[offset], "")? }.into())
        }
        _ => Err(defect("`tt.addptr` of no pointer")),
    })
}

fn refuse_block_pointer(cx: &Lower<'_, '_>, op: Op, ptr: Type) -> Res<()> {
    if ptr.pointee().is_some_and(Type::is_tensor) {
        return Err(cx.unsupported(op, "block pointers must be rewritten to tensors of pointers first"));
    }
    Ok(())
}

/// `tt.load`
pub(crate) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::Load(op);
    let (ptr, mask, other) = (view.ptr(cx.ir), view.mask(cx.ir), view.other(cx.ir));
    refuse_block_pointer(cx, op, cx.ir.ty(ptr))?;
    let caching = Caching::of(view.cache(cx.ir), view.evict(cx.ir), view.isVolatile(cx.ir));
    let loaded = load_elements(cx, &caching, ptr, mask, other)?;
    cx.set(cx.ir.result(op), loaded);
    Ok(())
}

/// The elements that the pointers `ptr` point to, one per register.
pub(crate) fn load_elements<'c>(
    cx: &mut Lower<'c, '_>,
    caching: &Caching,
    ptr: Value,
    mask: Option<Value>,
    other: Option<Value>,
) -> Res<Vec<Val<'c>>> {
    let access = GlobalAccess::new(cx, ptr, mask, MAX_ACCESS)?;
    let volatile = caching.volatile;
    let hint = cx.machine.load_hint(cx, caching)?;
    let ptrs = cx.get(ptr)?;
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let others = other.map(|o| cx.get(o)).transpose()?;
    let mut loaded: Vec<Val<'c>> = Vec::with_capacity(ptrs.len());
    for first in (0..ptrs.len()).step_by(access.vec) {
        let canonical = access.canonical(first);
        if canonical != first {
            loaded.extend_from_within(canonical..canonical + access.vec);
            continue;
        }
        let mut otherwise = vec![];
        for word in 0..access.words {
            let range = first + word * access.per_word()..first + (word + 1) * access.per_word();
            match (&masks, &others) {
                (None, _) => {}
                (Some(_), Some(others)) => {
                    let regs = others.get(range).ok_or_else(|| defect("`other` has too few registers"))?;
                    otherwise.push(access.pack(cx, regs)?);
                }
                (Some(_), None) => otherwise.push(cx.int_type(access.word_bits.max(16)).const_zero().into()),
            }
        }
        let pred = masks.as_ref().map(|m| register(m, first)).transpose()?;
        let (start, offset) = access.place(first);
        let address = register(&ptrs, start)?;
        let load = GlobalLoad { words: access.moved(), address, offset, pred, otherwise, volatile, hint: &hint };
        for word in cx.machine.load_global(cx, load)? {
            access.unpack(cx, word, &mut loaded)?;
        }
    }
    Ok(loaded)
}

/// `tt.store`
pub(crate) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::Store(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.value(cx.ir), view.mask(cx.ir));
    refuse_block_pointer(cx, op, cx.ir.ty(ptr))?;
    let access = GlobalAccess::new(cx, ptr, mask, MAX_ACCESS)?;
    let caching = Caching::of(view.cache(cx.ir), view.evict(cx.ir), false);
    let hint = cx.machine.store_hint(cx, &caching)?;
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let owner = owner(cx, access.free)?;
    let few = ptrs.len() <= access.vec * MOST_BEHIND;
    let loaded = loaded_before(cx.ir, op).filter(|_| few).map(|v| cx.get(v)).transpose()?;
    for first in (0..ptrs.len()).step_by(access.vec).filter(|&first| access.canonical(first) == first) {
        let mut packed = Vec::with_capacity(access.words);
        for word in 0..access.words {
            let range = first + word * access.per_word()..first + (word + 1) * access.per_word();
            let regs = values.get(range).ok_or_else(|| defect("the value has too few registers"))?;
            packed.push(access.pack(cx, regs)?);
        }
        let mask = masks.as_ref().map(|m| as_int(register(m, first)?)).transpose()?;
        let pred = match (owner, mask) {
            (Some(a), Some(b)) => Some(cx.b.build_and(a, b, "")?),
            (one, other) => one.or(other),
        };
        let (start, offset) = access.place(first);
        let (bits, mut address) = (access.word_bits, register(&ptrs, start)?);
        if let Some(loaded) = &loaded {
            let number = in_32_bits(cx, register(loaded, first)?, access.elem_bits)?;
            address = cx.machine.address_behind(cx, address, bits / 8 * access.words as u32, number)?;
        }
        let store = GlobalStore { bits, address, offset, pred: pred.map(Into::into), values: packed, hint: &hint };
        cx.machine.store_global(cx, store)?;
    }
    Ok(())
}

/// What a loop loads from where it then stores, if what it stores does not wait for that: states that a scan replaces
/// by the sums in front of them. A store to a line that is on its way to the multiprocessor holds up the accesses
/// behind it. On an H200, eight such scans ran at 0.88 to 2.5 times their speed with stores that wait for their loads,
/// 1.38 in the geometric mean. Of four others, one with 32 stores a thread then spilled (0.56), and two in which other
/// loads follow, which cannot go before the store, ran at 0.76 and 0.87.
fn loaded_before(ir: &Ir, op: Op) -> Option<Value> {
    let (ptr, value) = (view::Store(op).ptr(ir), view::Store(op).value(ir));
    let body = ir.parent_block(op)?;
    if !ir.block_op(body).is_some_and(|looped| ir.is(looped, ScfOp::For)) || !ir.ty(ptr).is_tensor() {
        return None;
    }
    let mut before = std::iter::successors(ir.prev_op(op), |&o| ir.prev_op(o)).take(FARTHEST);
    let load = before.find(|&o| view::Load::of(ir, o).is_some_and(|load| load.ptr(ir) == ptr))?;
    let loaded = ir.result(load);
    let is_load = |&o: &Op| view::Load::of(ir, o).is_some();
    if std::iter::successors(ir.next_op(op), |&o| ir.next_op(o)).any(|o| is_load(&o)) {
        return None;
    }
    let (mut open, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = open.pop() {
        if value == loaded {
            return None;
        }
        // What stands in front of the load does not wait for it.
        let inside = ir.def_op(value).filter(|&o| ir.parent_block(o) == Some(body) && ir.is_before(load, o));
        open.extend(inside.filter(|&o| seen.insert(o)).map_or(&[][..], |o| ir.operands(o)));
    }
    Some(loaded)
}

/// The bits of an element of so many, or the lowest 32 of them.
fn in_32_bits<'c>(cx: &Lower<'c, '_>, value: Val<'c>, width: u32) -> Res<IntValue<'c>> {
    let held = match value {
        Val::IntValue(number) => number,
        _ => as_int(bits_as(cx, value, cx.int_type(width).into())?)?,
    };
    let word = cx.int_type(32);
    Ok(match held.get_type().get_bit_width() {
        32 => held,
        width if width < 32 => cx.b.build_int_z_extend(held, word, "")?,
        _ => cx.b.build_int_truncate(held, word, "")?,
    })
}

pub(crate) fn register<'c>(regs: &Regs<'c>, i: usize) -> Res<Val<'c>> {
    regs.get(i).copied().ok_or_else(|| defect("a value has too few registers"))
}

/// The predicate of the one thread that stores what several hold.
pub(crate) fn owner<'c>(cx: &mut Lower<'c, '_>, free: FreeMasks) -> Res<Option<IntValue<'c>>> {
    let thread = thread_mask(cx, free);
    let block = block_mask(cx, free);
    cx.owner_predicate(thread, block)
}

/// The free bits of a block's number in its cluster.
pub(crate) fn block_mask(cx: &Lower<'_, '_>, free: FreeMasks) -> u64 {
    u64::from(free.block) & u64::from(cx.num_ctas - 1)
}

/// The free bits of a thread's number.
pub(crate) fn thread_mask(cx: &Lower<'_, '_>, free: FreeMasks) -> u64 {
    let lane_bits = cx.options.target.warp_size().trailing_zeros();
    (u64::from(free.lane) & u64::from(cx.options.target.warp_size() - 1)) | (u64::from(free.warp) << lane_bits & 0x3ff)
}
