//! Talking to the host.
//!
//! # Printing
//!
//! The HIP runtime gives a kernel a buffer, if the code object has formats, and prints what it finds there behind the
//! kernel. No library of device code is needed for that.
//!
//! 1. A format is a string of the code object (`amdhsa.printf`), under a number: `0:0:1,pid (%u, %u, %u)…`. Equal
//!    formats have one number. The runtime knows no way to write a backslash, so a format that has one stands in the
//!    records.
//! 2. The buffer starts with the bytes that are taken and the bytes that there are, 32 bits each. A lane takes as many
//!    as its record has, by comparing and swapping; if there are not enough, nothing of it is printed.
//! 3. A record is a word of 32 bits, its length in bytes times 4, plus 2 for a format with a number; this number in 64
//!    bits, or the text with zeros up to 8 bytes; and each argument in 64 bits.
//!
//! "User Guide for AMDGPU Backend", "Code Object V5 Metadata", `hidden_printf_buffer`; LLVM's `AMDGPUEmitPrintf` and
//! ROCm's `rocprintf` agree on the records.
//!
//! # Assertions
//!
//! An assertion that fails ends the grid by a trap; its message stays behind.

use inkwell::values::{BasicMetadataValueEnum, BasicValue, InstructionOpcode as I, IntValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};

use super::raw::{self, Ordering, SPACES};
use super::{memory, threads};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::Printer;
use crate::ir::dialects::enums::MemScope;

/// The module's list of formats, which LLVM writes into the code object.
const FORMATS: &str = "llvm.printf.fmts";
/// Where the address of the buffer lies among the arguments that the runtime adds.
const BUFFER: u64 = 72;
/// Bytes in front of the records.
const HEAD: u64 = 8;
/// Of a record's first word: the format is a number.
const NUMBERED: u64 = 2;

/// A format, as the records have it (step 1).
pub(super) fn printer<'c>(cx: &mut Lower<'c, '_>, format: &str) -> Res<Printer<'c>> {
    let constant = !format.contains('\\');
    // The runtime turns `\n` into the end of a line.
    let text = if constant { format.replace('\n', "\\n") } else { String::new() };
    let number = numbered(cx, &text)?;
    let words = |text: &str| text.as_bytes().chunks(8).map(word).collect();
    let format = if constant { vec![number] } else { words(&format!("{format}\0")) };
    Ok(Printer::Record { format, constant })
}

/// Up to eight bytes, the first one lowest.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The number of a format in the module's list.
fn numbered(cx: &Lower<'_, '_>, text: &str) -> Res<u64> {
    let known = cx.module.get_global_metadata(FORMATS);
    let entry = |number: usize| format!("0:0:{number:x},{text}");
    for (i, node) in known.iter().enumerate() {
        let same = match node.get_node_values().unwrap_or_default().first() {
            Some(BasicMetadataValueEnum::MetadataValue(value)) => {
                value.get_string_value().is_some_and(|string| string == entry(i + 1).as_bytes())
            }
            _ => false,
        };
        if same {
            return Ok(i as u64 + 1);
        }
    }
    let number = known.len() + 1;
    let node = cx.llvm.metadata_node(&[cx.llvm.metadata_string(&entry(number)).into()]);
    cx.module.add_global_metadata(FORMATS, &node).map_err(defect)?;
    Ok(number as u64)
}

/// Writes a record (steps 2 and 3).
pub(super) fn print<'c>(cx: &mut Lower<'c, '_>, printer: &Printer<'c>, args: &[Val<'c>]) -> Res<()> {
    let Printer::Record { format, constant } = printer else { return Err(defect("a print writes a record")) };
    let mut words: Vec<Val<'c>> = format.iter().map(|&w| cx.int_type(64).const_int(w, false).into()).collect();
    for &arg in args {
        words.push(widened(cx, arg)?);
    }
    let bytes = 4 + 8 * words.len() as u64;
    let control = cx.i32(bytes << 2 | if *constant { NUMBERED } else { 0 });
    let at = threads::hidden_argument(cx, BUFFER)?;
    let global = cx.llvm.ptr_type(AddressSpace::from(SPACES.global));
    let buffer = cx.b.build_load(global, at, "")?.into_pointer_value();
    let given = cx.b.build_is_not_null(buffer, "")?;
    memory::guarded(cx, Some(given.into()), |cx| {
        let (offset, taken) = take(cx, buffer, bytes)?;
        memory::guarded(cx, Some(taken.into()), |cx| {
            let offset = cx.b.build_int_z_extend(offset, cx.int_type(64), "")?;
            let start = place(cx, buffer, offset)?;
            let of = |cx: &Lower<'c, '_>, bytes: u64| place(cx, start, cx.int_type(64).const_int(bytes, false));
            cx.b.build_store(of(cx, HEAD)?, control)?.set_alignment(4).map_err(defect)?;
            for (i, &word) in words.iter().enumerate() {
                let at = of(cx, HEAD + 4 + 8 * i as u64)?;
                cx.b.build_store(at, word)?.set_alignment(4).map_err(defect)?;
            }
            Ok(())
        })
    })
}

/// Takes bytes of the buffer: where they start behind its head, and whether there were enough.
fn take<'c>(cx: &mut Lower<'c, '_>, buffer: PointerValue<'c>, bytes: u64) -> Res<(IntValue<'c>, IntValue<'c>)> {
    let how = (Ordering::LLVMAtomicOrderingMonotonic, raw::scope(MemScope::Gpu));
    let word = cx.int_type(32);
    let capacity = place(cx, buffer, cx.int_type(64).const_int(4, false))?;
    let capacity = as_int(cx.b.build_load(word, capacity, "")?)?;
    let first = cx.b.build_load(word, buffer, "")?;
    let access = first.as_instruction_value().ok_or_else(|| defect("a load is an instruction"))?;
    access.set_alignment(4).map_err(defect)?;
    raw::make_atomic(cx, access, how)?;
    let [again, swap, done] = ["again", "swap", "done"].map(|name| cx.llvm.append_basic_block(cx.function, name));
    let before = cx.b.get_insert_block().ok_or_else(|| defect("no current block"))?;
    cx.b.build_unconditional_branch(again)?;
    cx.b.position_at_end(again);
    let offset = cx.b.build_phi(word, "")?;
    let old = as_int(offset.as_basic_value())?;
    let next = cx.b.build_int_add(old, cx.i32(bytes), "")?;
    let fits = cx.b.build_int_compare(IntPredicate::ULE, next, capacity, "")?;
    cx.b.build_conditional_branch(fits, swap, done)?;
    cx.b.position_at_end(swap);
    let seen = raw::compare_exchange(cx, how, buffer.into(), old.into(), next.into())?;
    let ours = cx.b.build_int_compare(IntPredicate::EQ, as_int(seen)?, old, "")?;
    cx.b.build_conditional_branch(ours, done, again)?;
    offset.add_incoming(&[(&first, before), (&seen, swap)]);
    cx.b.position_at_end(done);
    Ok((old, fits))
}

fn place<'c>(cx: &Lower<'c, '_>, from: PointerValue<'c>, bytes: IntValue<'c>) -> Res<PointerValue<'c>> {
    // SAFETY: the runtime's buffer has a head and as many bytes as that says.
    Ok(unsafe { cx.b.build_in_bounds_gep(cx.llvm.i8_type(), from, &[bytes], "")? })
}

/// An argument as 64 bits. What the format reads of an integer are its lowest bits, whose sign the runtime's own
/// `printf` sees.
fn widened<'c>(cx: &Lower<'c, '_>, arg: Val<'c>) -> Res<Val<'c>> {
    let word = cx.int_type(64);
    Ok(match arg {
        Val::FloatValue(_) => cx.b.build_bit_cast(arg, word, "")?,
        Val::IntValue(_) if cx.bits_of(arg.get_type()) < 64 => cx.b.build_cast(I::ZExt, arg, word, "")?,
        other => other,
    })
}

/// Ends the grid ("User Guide for AMDGPU Backend", "Trap Handler ABI").
pub(super) fn fail(cx: &mut Lower<'_, '_>) -> Res<()> {
    cx.effect("llvm.trap", &[], &[])
}
