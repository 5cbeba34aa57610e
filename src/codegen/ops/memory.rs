//! Global memory: pointer arithmetic, loads, stores.
//!
//! 1. The axis analysis says how many consecutive registers of a thread address consecutive elements at a matching
//!    alignment, and how many consecutive mask bits are equal; the lesser of both, up to 16 bytes, is one access.
//! 2. An access moves words: elements narrower than 32 bits are packed into 32-bit words, and up to four words form a
//!    vector (`ld.global.v4.b32`). Eight bf16 are four words of two.
//! 3. The mask of the first element predicates the access. A load's registers start as `other`, or zero, where the mask
//!    is false.
//! 4. Registers that hold copies are loaded once. Elements that several threads hold are stored by the one whose free
//!    bits are all 0.
//!
//! Instructions: PTX ISA, "Data Movement and Conversion Instructions: ld, st, createpolicy".

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I, IntValue};

use super::arith::operand;
use super::cast::bits_as;
use super::elementwise;
use crate::codegen::lower::{Lower, Regs, Res, Val, as_int, defect};
use crate::codegen::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::ir::dialects::enums::{CacheModifier, Enumeration, EvictionPolicy};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Attr, AttrData, Op, Type, Value};
use crate::layout::{FreeMasks, free_variable_masks};

/// Bits of the widest access of one thread.
const MAX_ACCESS: u32 = 128;

/// How the registers of one load or store are cut into accesses.
pub(super) struct Access<'c> {
    pub(super) elem: BasicTypeEnum<'c>,
    /// Bits that an element takes in memory.
    pub(super) elem_bits: u32,
    /// Elements of one access.
    pub(super) vec: usize,
    /// Bits of one word: 8, 16, 32 or 64.
    pub(super) word_bits: u32,
    pub(super) words: usize,
    pub(super) free: FreeMasks,
}

impl<'c> Access<'c> {
    /// Accesses of at most `widest` bits.
    pub(super) fn new(cx: &Lower<'c, '_>, ptr: Value, mask: Option<Value>, widest: u32) -> Res<Access<'c>> {
        let ty = cx.ir.ty(ptr);
        let pointee = ty.elem().pointee().ok_or_else(|| defect("an access through something that is no pointer"))?;
        let elem = cx.elem_type(pointee)?;
        let elem_bits = cx.bits_of(elem).next_multiple_of(8);
        let mut vec = 1;
        let mut free = FreeMasks { register: 0, lane: u32::MAX, warp: u32::MAX, block: u32::MAX };
        if ty.is_tensor() {
            let layout = Lower::layout(ty)?;
            let run =
                cx.axis.ptr_contiguity(cx.ir, ptr).min(mask.map_or(u32::MAX, |m| cx.axis.mask_alignment(cx.ir, m)));
            vec = run.min(widest / elem_bits).max(1) as usize;
            vec = if Lower::num_regs(ty)?.is_multiple_of(vec) && vec.is_power_of_two() { vec } else { 1 };
            free = free_variable_masks(layout);
        }
        let total = elem_bits * vec as u32;
        let word_bits = total.min(elem_bits.max(32));
        Ok(Access { elem, elem_bits, vec, word_bits, words: (total / word_bits) as usize, free })
    }

    pub(super) fn per_word(&self) -> usize {
        self.vec / self.words
    }

    pub(super) fn class(&self) -> Reg {
        Reg::of_bits(self.word_bits)
    }

    /// `.v4.b32`
    fn suffix(&self) -> String {
        if self.words > 1 { format!(".v{}.b{}", self.words, self.word_bits) } else { format!(".b{}", self.word_bits) }
    }

    /// The register whose copy register `first` is.
    pub(super) fn canonical(&self, first: usize) -> usize {
        first & !(self.free.register as usize)
    }

    /// The elements of one word as the integer that its register holds.
    pub(super) fn pack(&self, cx: &Lower<'c, '_>, elements: &[Val<'c>]) -> Res<Val<'c>> {
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
        // PTX has no 8-bit registers in `ld` and `st`; the low half of a 16-bit one serves.
        if self.word_bits == 8 { Ok(cx.b.build_cast(I::ZExt, int, cx.int_type(16), "")?) } else { Ok(int) }
    }

    /// The reverse of [`Access::pack`].
    pub(super) fn unpack(&self, cx: &Lower<'c, '_>, word: Val<'c>, out: &mut Vec<Val<'c>>) -> Res<()> {
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

/// The words of an instruction between `ld` and `.v4`.
struct Modifiers<'c> {
    text: String,
    /// An L2 policy, an operand of the instruction.
    policy: Option<Val<'c>>,
}

/// The cache operators that loads and stores take.
const LOAD_CACHE: [&str; 4] = ["ca", "cg", "cs", "cv"];
const STORE_CACHE: [&str; 4] = ["wb", "cg", "cs", "wt"];

/// The cache modifier and the eviction policy of an access, by name. Triton 3.9 keeps both in one attribute,
/// `cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>`; earlier releases have one
/// attribute each.
fn cache_policy(cx: &Lower<'_, '_>, op: Op) -> (&'static str, &'static str) {
    if let Some(AttrData::Opaque(text)) = cx.ir.stored_attr(op, "cachePolicy").map(Attr::data) {
        let field = |key: &str| {
            let rest = text.as_str().split_once(key)?.1.trim_start_matches([' ', '=']);
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
        };
        return (field("cache_modifier").unwrap_or(""), field("eviction_policy").unwrap_or(""));
    }
    let (cache, evict) =
        (cx.ir.enum_attr::<CacheModifier>(op, "cache"), cx.ir.enum_attr::<EvictionPolicy>(op, "evict"));
    (cache.map_or("", CacheModifier::name), evict.map_or("", EvictionPolicy::name))
}

impl<'c> Modifiers<'c> {
    /// Cache operators and eviction priorities exclude each other in PTX, and a volatile access takes neither; the
    /// former wins.
    fn new(cx: &mut Lower<'c, '_>, op: Op, operators: &[&str], volatile: bool) -> Res<Modifiers<'c>> {
        let (cache, evict) = cache_policy(cx, op);
        if !volatile && operators.contains(&cache) {
            return Ok(Modifiers { text: format!(".{cache}"), policy: None });
        }
        if volatile || !["evict_first", "evict_last"].contains(&evict) {
            return Ok(Modifiers { text: String::new(), policy: None });
        }
        let mut asm = PtxAsm::default();
        let out = asm.output(Reg::B64);
        asm.inst(None, format!("createpolicy.fractional.L2::{evict}.b64"), vec![Arg::Reg(out), Arg::Text("1.0")]);
        let policy = asm.emit(cx, false)?.first().copied();
        Ok(Modifiers { text: format!(".L1::{evict}.L2::cache_hint"), policy })
    }

    fn operand(&self, asm: &mut PtxAsm<'c>, args: &mut Vec<Arg>) {
        if let Some(policy) = self.policy {
            args.push(Arg::Reg(asm.input(Reg::B64, policy)));
        }
    }
}

/// `tt.addptr`
pub(super) fn addptr(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let pointee = cx.ir.ty(cx.ir.result(op)).elem().pointee().ok_or_else(|| defect("`tt.addptr` of no pointer"))?;
    let elem = cx.elem_type(pointee)?;
    // An i1 takes a byte.
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
pub(super) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::Load(op);
    let (ptr, mask, other) = (view.ptr(cx.ir), view.mask(cx.ir), view.other(cx.ir));
    refuse_block_pointer(cx, op, cx.ir.ty(ptr))?;
    let loaded = load_elements(cx, op, ptr, mask, other)?;
    cx.set(cx.ir.result(op), loaded);
    Ok(())
}

/// The elements that the pointers `ptr` point to, one per register. `op` says how they are to be cached.
pub(super) fn load_elements<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    ptr: Value,
    mask: Option<Value>,
    other: Option<Value>,
) -> Res<Vec<Val<'c>>> {
    let access = Access::new(cx, ptr, mask, MAX_ACCESS)?;
    let volatile = cx.ir.bool_attr(op, "isVolatile");
    let modifiers = Modifiers::new(cx, op, &LOAD_CACHE, volatile)?;
    let opcode = format!("ld{}.global{}{}", if volatile { ".volatile" } else { "" }, modifiers.text, access.suffix());
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
        let mut asm = PtxAsm::default();
        let mut outputs = Vec::with_capacity(access.words);
        for word in 0..access.words {
            let range = first + word * access.per_word()..first + (word + 1) * access.per_word();
            outputs.push(match (&masks, &others) {
                (None, _) => asm.output(access.class()),
                (Some(_), Some(others)) => {
                    let start =
                        access.pack(cx, others.get(range).ok_or_else(|| defect("`other` has too few registers"))?)?;
                    asm.output_from(access.class(), start)
                }
                (Some(_), None) => {
                    asm.output_from(access.class(), cx.int_type(access.word_bits.max(16)).const_zero().into())
                }
            });
        }
        let pred = masks.as_ref().map(|m| register(m, first)).transpose()?.map(|m| asm.input(Reg::Pred, m));
        let mut args = vec![Arg::List(outputs), Arg::Address(asm.input(Reg::B64, register(&ptrs, first)?))];
        modifiers.operand(&mut asm, &mut args);
        asm.inst(pred, opcode.clone(), args);
        for word in asm.emit(cx, true)? {
            access.unpack(cx, word, &mut loaded)?;
        }
    }
    Ok(loaded)
}

/// `tt.store`
pub(super) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::Store(op);
    let (ptr, value, mask) = (view.ptr(cx.ir), view.value(cx.ir), view.mask(cx.ir));
    refuse_block_pointer(cx, op, cx.ir.ty(ptr))?;
    let access = Access::new(cx, ptr, mask, MAX_ACCESS)?;
    let modifiers = Modifiers::new(cx, op, &STORE_CACHE, false)?;
    let opcode = format!("st.global{}{}", modifiers.text, access.suffix());
    let (ptrs, values) = (cx.get(ptr)?, cx.get(value)?);
    let masks = mask.map(|m| cx.get(m)).transpose()?;
    let owner = owner(cx, access.free)?;
    for first in (0..ptrs.len()).step_by(access.vec).filter(|&first| access.canonical(first) == first) {
        let mut asm = PtxAsm::default();
        let mut words: Vec<Operand> = Vec::with_capacity(access.words);
        for word in 0..access.words {
            let range = first + word * access.per_word()..first + (word + 1) * access.per_word();
            let packed =
                access.pack(cx, values.get(range).ok_or_else(|| defect("the value has too few registers"))?)?;
            words.push(asm.input(access.class(), packed));
        }
        let mask = masks.as_ref().map(|m| as_int(register(m, first)?)).transpose()?;
        let pred = match (owner, mask) {
            (Some(a), Some(b)) => Some(cx.b.build_and(a, b, "")?),
            (one, other) => one.or(other),
        };
        let pred = pred.map(|p| asm.input(Reg::Pred, p.into()));
        let mut args = vec![Arg::Address(asm.input(Reg::B64, register(&ptrs, first)?)), Arg::List(words)];
        modifiers.operand(&mut asm, &mut args);
        asm.inst(pred, opcode.clone(), args);
        asm.emit(cx, true)?;
    }
    Ok(())
}

pub(super) fn register<'c>(regs: &Regs<'c>, i: usize) -> Res<Val<'c>> {
    regs.get(i).copied().ok_or_else(|| defect("a value has too few registers"))
}

/// The predicate of the one thread that stores what several hold.
pub(super) fn owner<'c>(cx: &mut Lower<'c, '_>, free: FreeMasks) -> Res<Option<IntValue<'c>>> {
    let thread = thread_mask(cx, free);
    let block = if cx.num_ctas > 1 { u64::from(free.block) & u64::from(cx.num_ctas - 1) } else { 0 };
    cx.owner_predicate(thread, block)
}

/// The free bits of a thread's number.
pub(super) fn thread_mask(cx: &Lower<'_, '_>, free: FreeMasks) -> u64 {
    let lane_bits = cx.options.target.warp_size().trailing_zeros();
    (u64::from(free.lane) & u64::from(cx.options.target.warp_size() - 1)) | (u64::from(free.warp) << lane_bits & 0x3ff)
}
