//! `tt.print`, `tt.assert`, `cf.assert`: what the machine offers to talk to the host.
//!
//! 1. A print is one line per element, in Triton's words: `pid (0, 1, 0) idx ( 3) x: 1.5`, with `(operand 1) `
//!    before the value where there are several. Of the threads that hold copies of an element one prints it, so each
//!    element appears once.
//! 2. Values are what variadic C functions take: integers below 32 bits are widened to 32, floats to `double`.
//! 3. An assertion branches on any element being false to the end of the grid, with the message, the file, the line and
//!    the kernel's name. After the assertion of a tensor the block waits, so that nothing behind it traps first.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as I, IntValue};

use super::memory::owner;
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::codegen::machine::{Assertion, Grid};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::tt::tt::Print;
use crate::ir::{Op, Value};
use crate::layout::{FreeMasks, free_variable_masks};

/// Lowers `tt.print`.
pub(crate) fn print(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let view = Print(op);
    let (prefix, hex, values) = (view.prefix(ir).unwrap_or_default(), view.hex(ir), view.args(ir));
    let signs = view.isSigned(ir).unwrap_or_default();
    let pid = program_ids(cx)?;
    if values.is_empty() {
        let format = format!("pid (%u, %u, %u){}", escaped(prefix));
        let once = owner(cx, FreeMasks { register: 0, lane: u32::MAX, warp: u32::MAX, block: u32::MAX })?;
        return guarded(cx, once, |cx| {
            let printer = cx.machine.printer(cx, &format!("{format}\n"), 3 * 4)?;
            cx.machine.print(cx, &printer, &pid)
        });
    }
    for (i, &value) in values.iter().enumerate() {
        let signed = signs.get(i).is_none_or(|&s| s != 0);
        let which = if values.len() > 1 { format!("(operand {i}) ") } else { String::new() };
        print_value(cx, value, &pid, &format!("{}{which}", escaped(prefix)), hex, signed)?;
    }
    Ok(())
}

/// The program's own text as a part of a format, in which a `%` is written twice.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}

fn program_ids<'c>(cx: &mut Lower<'c, '_>) -> Res<Vec<Val<'c>>> {
    let read = |axis| Ok(cx.machine.grid(cx, Grid::ProgramId, axis)?.into());
    [ProgramDim::X, ProgramDim::Y, ProgramDim::Z].into_iter().map(read).collect()
}

/// Prints the elements of one operand that this thread is the first to hold.
fn print_value<'c>(
    cx: &mut Lower<'c, '_>,
    value: Value,
    pid: &[Val<'c>],
    label: &str,
    hex: bool,
    signed: bool,
) -> Res<()> {
    let ty = cx.ir.ty(value);
    let regs = cx.get(value)?;
    let mut free = FreeMasks { register: 0, lane: u32::MAX, warp: u32::MAX, block: u32::MAX };
    let mut indices = vec![vec![]];
    if ty.is_tensor() {
        let layout = Lower::layout(ty)?;
        free = free_variable_masks(layout);
        indices = cx.indices(layout)?;
    }
    let axes: Vec<String> =
        ty.shape().iter().map(|&size| format!("%{}u", (size - 1).max(0).to_string().len())).collect();
    let shown = cx.elem_type(ty)?;
    let format = format!(
        "pid (%u, %u, %u) idx ({}){label}{}\n",
        axes.join(", "),
        directive(shown, cx.bits_of(shown), hex, signed)
    );
    let once = owner(cx, free)?;
    guarded(cx, once, |cx| {
        let printer = cx.machine.printer(cx, &format, 4 * (pid.len() + axes.len()) as u32 + 16)?;
        for (i, (&reg, index)) in regs.iter().zip(&indices).enumerate() {
            if i & free.register as usize != 0 {
                continue;
            }
            let element = promoted(cx, reg, signed)?;
            let args: Vec<Val<'c>> =
                pid.iter().copied().chain(index.iter().map(|&x| x.into())).chain([element]).collect();
            cx.machine.print(cx, &printer, &args)?;
        }
        Ok(())
    })
}

/// The directive of one element: `%p`, `0x%08x`, `%f`, `%a`, `%lli`, `%u`.
fn directive(ty: BasicTypeEnum<'_>, bits: u32, hex: bool, signed: bool) -> String {
    let long = if bits > 32 { "ll" } else { "" };
    match ty {
        BasicTypeEnum::PointerType(_) => "%p".into(),
        BasicTypeEnum::FloatType(_) => if hex { "%a" } else { "%f" }.into(),
        _ if hex => format!("0x%0{}{long}x", bits.div_ceil(4)),
        _ => format!("%{long}{}", if signed { "i" } else { "u" }),
    }
}

/// The value as variadic C functions take it (step 2).
fn promoted<'c>(cx: &Lower<'c, '_>, value: Val<'c>, signed: bool) -> Res<Val<'c>> {
    let bits = cx.bits_of(value.get_type());
    Ok(match value {
        Val::FloatValue(_) if bits < 64 => cx.b.build_cast(I::FPExt, value, cx.llvm.f64_type(), "")?,
        Val::IntValue(_) if bits < 32 => {
            cx.b.build_cast(if signed && bits > 1 { I::SExt } else { I::ZExt }, value, cx.int_type(32), "")?
        }
        Val::PointerValue(_) => cx.b.build_cast(I::PtrToInt, value, cx.int_type(64), "")?,
        other => other,
    })
}

/// Runs code only where `condition` holds.
fn guarded<'c, 'a>(
    cx: &mut Lower<'c, 'a>,
    condition: Option<IntValue<'c>>,
    code: impl FnOnce(&mut Lower<'c, 'a>) -> Res<()>,
) -> Res<()> {
    let Some(condition) = condition else { return code(cx) };
    let (inside, after) =
        (cx.llvm.append_basic_block(cx.function, "once"), cx.llvm.append_basic_block(cx.function, ""));
    cx.b.build_conditional_branch(condition, inside, after)?;
    cx.b.position_at_end(inside);
    code(cx)?;
    cx.b.build_unconditional_branch(after)?;
    cx.b.position_at_end(after);
    Ok(())
}

/// Lowers `tt.assert` or `cf.assert`, whose operand and message have names of their own.
pub(crate) fn assert(cx: &mut Lower<'_, '_>, op: Op, condition: Value, message: &str) -> Res<()> {
    let ty = cx.ir.ty(condition);
    let mut failed: Option<IntValue<'_>> = None;
    for &reg in cx.get(condition)?.iter() {
        let value = as_int(reg)?;
        let wrong = cx.b.build_int_compare(inkwell::IntPredicate::EQ, value, value.get_type().const_zero(), "")?;
        failed = Some(match failed {
            Some(before) => cx.b.build_or(before, wrong, "")?,
            None => wrong,
        });
    }
    let (file, line) =
        cx.ir.loc(op).file_line_col().map_or(("unknown".to_owned(), 0), |(f, l, _)| (f.as_str().to_owned(), l));
    guarded(cx, failed, |cx| cx.machine.fail(cx, &Assertion { message, file: &file, line }))?;
    if ty.is_tensor() {
        cx.barrier()?;
    }
    Ok(())
}
