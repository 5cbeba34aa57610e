//! Accesses to global and shared memory.
//!
//! No access has a predicate of its own: code branches around it, and LLVM turns the branch into a mask of lanes. What
//! a load gives where it does not happen comes in by a phi.
//!
//! ```text
//!     br i1 %mask, label %access, label %after
//! access:
//!     %loaded = load <4 x i32>, ptr addrspace(1) %p, align 16
//!     br label %after
//! after:
//!     %words = phi <4 x i32> [ %loaded, %access ], [ %otherwise, %before ]
//! ```
//! One word is a vector too, of one element. Otherwise LLVM moves what is computed of it (its conversion to f32, say)
//! into the branch, and there the thread waits for each load before it starts the next one.

use inkwell::AddressSpace;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, InstructionOpcode as I, InstructionValue, IntValue};

use super::raw::{self, Ordering, Rmw, SPACES};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::{CacheHint, Caching, GlobalLoad, GlobalStore, Words};
use crate::ir::dialects::enums::CacheModifier;

/// The words of a [`CacheHint`]: data that is not used again, and data that others change.
const STREAMING: &str = "streaming";
const VOLATILE: &str = "volatile";

/// What a load says of caches, as Triton has it on AMD. There are no eviction priorities.
pub(super) fn load_hint<'c>(caching: &Caching) -> CacheHint<'c> {
    let words = match caching.cache {
        _ if caching.volatile => VOLATILE,
        CacheModifier::Cv => VOLATILE,
        CacheModifier::Cg | CacheModifier::Cs => STREAMING,
        _ => "",
    };
    CacheHint { words: words.to_owned(), operand: None }
}

/// What a store says of caches.
pub(super) fn store_hint<'c>(caching: &Caching) -> CacheHint<'c> {
    let words = match caching.cache {
        CacheModifier::Wt => VOLATILE,
        CacheModifier::Cs => STREAMING,
        _ => "",
    };
    CacheHint { words: words.to_owned(), operand: None }
}

/// Marks an access as a hint says.
fn hinted(cx: &Lower<'_, '_>, access: InstructionValue<'_>, hint: &CacheHint<'_>) -> Res<()> {
    match hint.words.as_str() {
        STREAMING => raw::mark_streaming(cx, access),
        VOLATILE => access.set_volatile(true).map_err(defect),
        _ => Ok(()),
    }
}

/// A vector of words, as memory has them.
fn vector_of<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], bits: u32) -> Res<Val<'c>> {
    let mut vector = cx.int_type(bits).vec_type(values.len() as u32).get_poison();
    for (i, &value) in values.iter().enumerate() {
        vector = cx.b.build_insert_element(vector, narrowed(cx, value, bits)?, cx.i32(i as u64), "")?;
    }
    Ok(vector.as_basic_value_enum())
}

/// The words of what was loaded; a word of 8 bits comes in 16.
pub(super) fn words_of<'c>(cx: &Lower<'c, '_>, value: Val<'c>, words: Words) -> Res<Vec<Val<'c>>> {
    let Val::VectorValue(vector) = value else { return Ok(vec![widened(cx, value, words.bits)?]) };
    (0..words.count)
        .map(|i| widened(cx, cx.b.build_extract_element(vector, cx.i32(i as u64), "")?, words.bits))
        .collect()
}

fn widened<'c>(cx: &Lower<'c, '_>, word: Val<'c>, bits: u32) -> Res<Val<'c>> {
    if bits == 8 { Ok(cx.b.build_cast(I::ZExt, word, cx.int_type(16), "")?) } else { Ok(word) }
}

fn narrowed<'c>(cx: &Lower<'c, '_>, word: Val<'c>, bits: u32) -> Res<Val<'c>> {
    if bits == 8 { Ok(cx.b.build_cast(I::Trunc, word, cx.int_type(8), "")?) } else { Ok(word) }
}

/// The reverse of [`words_of`]; one word is no vector.
pub(super) fn moved<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], bits: u32) -> Res<Val<'c>> {
    match *values {
        [one] => narrowed(cx, one, bits),
        _ => vector_of(cx, values, bits),
    }
}

/// Runs code only where the predicate holds.
pub(super) fn guarded<'c, 'a>(
    cx: &mut Lower<'c, 'a>,
    pred: Option<Val<'c>>,
    code: impl FnOnce(&mut Lower<'c, 'a>) -> Res<()>,
) -> Res<()> {
    guarded_values(cx, pred, &[], |cx| code(cx).map(|()| vec![])).map(|_| ())
}

/// Runs code only where the predicate holds; elsewhere the values are `otherwise`.
pub(super) fn guarded_values<'c, 'a>(
    cx: &mut Lower<'c, 'a>,
    pred: Option<Val<'c>>,
    otherwise: &[Val<'c>],
    code: impl FnOnce(&mut Lower<'c, 'a>) -> Res<Vec<Val<'c>>>,
) -> Res<Vec<Val<'c>>> {
    let Some(pred) = pred.map(as_int).transpose()?.filter(|p| p.get_zero_extended_constant() != Some(1)) else {
        return code(cx);
    };
    let before = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    let inside = cx.llvm.append_basic_block(cx.function, "access");
    let after = cx.llvm.append_basic_block(cx.function, "after");
    cx.b.build_conditional_branch(pred, inside, after)?;
    cx.b.position_at_end(inside);
    let made = code(cx)?;
    let inside = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    cx.b.build_unconditional_branch(after)?;
    cx.b.position_at_end(after);
    let mut values = Vec::with_capacity(made.len());
    for (value, other) in made.into_iter().zip(otherwise) {
        let phi = cx.b.build_phi(value.get_type(), "")?;
        phi.add_incoming(&[(&value, inside), (other, before)]);
        values.push(phi.as_basic_value());
    }
    Ok(values)
}

/// A load from global memory.
pub(super) fn load<'c>(cx: &mut Lower<'c, '_>, load: GlobalLoad<'_, 'c>) -> Res<Vec<Val<'c>>> {
    let words = load.words;
    // LLVM 22 loses vectors of one half between two blocks where halves of a register are registers.
    let is_half = words.count == 1 && words.bits <= 16 && cx.options.target.has_half_registers();
    let otherwise = match load.pred {
        Some(_) if is_half => vec![moved(cx, &load.otherwise, words.bits)?],
        Some(_) => vec![vector_of(cx, &load.otherwise, words.bits)?],
        None => vec![],
    };
    let word = cx.int_type(words.bits);
    let ty: BasicTypeEnum<'c> = if is_half { word.into() } else { word.vec_type(words.count as u32).into() };
    let loaded = guarded_values(cx, load.pred, &otherwise, |cx| {
        let value = cx.b.build_load(ty, load.address.into_pointer_value(), "")?;
        let access = value.as_instruction_value().ok_or_else(|| defect("a load is an instruction"))?;
        access.set_alignment(words.count as u32 * words.bits / 8).map_err(defect)?;
        hinted(cx, access, load.hint)?;
        Ok(vec![value])
    })?;
    words_of(cx, loaded[0], words)
}

/// A store to global memory.
pub(super) fn store<'c>(cx: &mut Lower<'c, '_>, store: GlobalStore<'_, 'c>) -> Res<()> {
    guarded(cx, store.pred, |cx| {
        let value = moved(cx, &store.values, store.bits)?;
        let access = cx.b.build_store(store.address.into_pointer_value(), value)?;
        access.set_alignment(store.values.len() as u32 * store.bits / 8).map_err(defect)?;
        hinted(cx, access, store.hint)
    })
}

/// A store to shared memory under a predicate.
pub(super) fn store_shared<'c>(
    cx: &mut Lower<'c, '_>,
    pred: IntValue<'c>,
    address: IntValue<'c>,
    (values, bits): (&[Val<'c>], u32),
) -> Res<()> {
    guarded(cx, Some(pred.into()), |cx| {
        let value = moved(cx, values, bits)?;
        let at = cx.b.build_int_to_ptr(address, cx.llvm.ptr_type(AddressSpace::from(SPACES.shared)), "")?;
        let access = cx.b.build_store(at, value)?;
        access.set_alignment(values.len() as u32 * bits / 8).map_err(defect)
    })
}

/// `ds_add_u32` of 1.
pub(super) fn count_shared<'c>(cx: &mut Lower<'c, '_>, pred: IntValue<'c>, address: IntValue<'c>) -> Res<()> {
    guarded(cx, Some(pred.into()), |cx| {
        let at = cx.b.build_int_to_ptr(address, cx.llvm.ptr_type(AddressSpace::from(SPACES.shared)), "")?;
        let how = (Rmw::LLVMAtomicRMWBinOpAdd, Ordering::LLVMAtomicOrderingMonotonic, raw::BLOCK);
        raw::atomic_rmw(cx, how, at.into(), cx.i32(1).into())?;
        Ok(())
    })
}
