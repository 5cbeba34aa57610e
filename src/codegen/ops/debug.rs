//! `tt.print`, `tt.assert`, `cf.assert`: calls of the two functions that the driver offers device code.
//!
//! 1. A print is one `vprintf` per element, in Triton's words: `pid (0, 1, 0) idx ( 3) x: 1.5`, with `(operand 1) `
//!    before the value where there are several. Of the threads that hold copies of an element one prints it, so each
//!    element appears once.
//! 2. `vprintf` takes the format and a buffer laid out like a C struct: integers below 32 bits are widened to 32,
//!    floats to `double`. One buffer per operation lies in the entry block, so that loops do not grow the stack.
//! 3. An assertion branches on any element being false to `__assertfail`, which ends the grid with the message, the
//!    file, the line and the kernel's name. After the assertion of a tensor the block waits, so that nothing behind it
//!    traps first.
//!
//! CUDA C++ programming guide, "Formatted output" and "Assertion"; PTX ISA interoperability guide, "System calls".

use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode as I, IntValue, PointerValue};

use super::memory::owner;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::ir::{Attr, Op, Value};
use crate::layout::{FreeMasks, free_variable_masks};

/// LLVM's address space of global memory in NVPTX.
const GLOBAL_SPACE: u16 = 1;

/// Lowers `tt.print`.
pub(super) fn print(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let prefix = ir.str_attr(op, "prefix").unwrap_or_default();
    let hex = ir.bool_attr(op, "hex");
    let signs = ir.attr(op, "isSigned").and_then(Attr::as_dense_array).unwrap_or_default();
    let pid = program_ids(cx)?;
    if ir.operands(op).is_empty() {
        let format = format!("pid (%u, %u, %u){}", escaped(prefix));
        let once = owner(cx, FreeMasks { register: 0, lane: u32::MAX, warp: u32::MAX, block: u32::MAX })?;
        return guarded(cx, once, |cx| {
            let text = text(cx, "printfFormat_", &format!("{format}\n"));
            let buffer = buffer(cx, 3 * 4)?;
            call_printf(cx, text, buffer, &pid)
        });
    }
    for (i, &value) in ir.operands(op).iter().enumerate() {
        let signed = signs.get(i).is_none_or(|&s| s != 0);
        let which = if ir.operands(op).len() > 1 { format!("(operand {i}) ") } else { String::new() };
        print_value(cx, value, &pid, &format!("{}{which}", escaped(prefix)), hex, signed)?;
    }
    Ok(())
}

/// A `%` of the program's own text.
fn escaped(text: &str) -> String {
    text.replace('%', "%%")
}

fn program_ids<'c>(cx: &mut Lower<'c, '_>) -> Res<Vec<Val<'c>>> {
    let register = if cx.num_ctas == 1 { "ctaid" } else { "clusterid" };
    let read = |axis| Ok(cx.special_register(&format!("llvm.nvvm.read.ptx.sreg.{register}.{axis}"))?.into());
    ["x", "y", "z"].into_iter().map(read).collect()
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
        let text = text(cx, "printfFormat_", &format);
        let buffer = buffer(cx, 4 * (pid.len() + axes.len()) as u32 + 16)?;
        for (i, (&reg, index)) in regs.iter().zip(&indices).enumerate() {
            if i & free.register as usize != 0 {
                continue;
            }
            let element = promoted(cx, reg, signed)?;
            let args: Vec<Val<'c>> =
                pid.iter().copied().chain(index.iter().map(|&x| x.into())).chain([element]).collect();
            call_printf(cx, text, buffer, &args)?;
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

/// Step 2: the value as variadic C functions take it.
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

/// Bytes of local memory, allocated once at the kernel's entry.
fn buffer<'c>(cx: &Lower<'c, '_>, bytes: u32) -> Res<PointerValue<'c>> {
    let entry = cx.function.get_first_basic_block().ok_or_else(|| defect("a function without a block"))?;
    // A builder of its own: moving the other one would change the place that its code is noted with.
    let b = cx.llvm.create_builder();
    match entry.get_first_instruction() {
        Some(first) => b.position_before(&first),
        None => b.position_at_end(entry),
    }
    let place = b.build_alloca(cx.int_type(64).array_type(bytes.div_ceil(8)), "")?;
    Ok(place)
}

fn call_printf<'c>(
    cx: &mut Lower<'c, '_>,
    format: PointerValue<'c>,
    buffer: PointerValue<'c>,
    args: &[Val<'c>],
) -> Res<()> {
    let mut offset = 0u64;
    for &arg in args {
        let bytes = cx.bits_of(arg.get_type()) / 8;
        offset = u64::from(bytes) * offset.div_ceil(u64::from(bytes));
        // SAFETY: the buffer is as large as the sum of its arguments with their padding.
        let at = unsafe { cx.b.build_in_bounds_gep(cx.llvm.i8_type(), buffer, &[cx.i32(offset)], "")? };
        cx.b.build_store(at, arg)?;
        offset += u64::from(bytes);
    }
    let ptr: BasicTypeEnum<'c> = cx.llvm.ptr_type(AddressSpace::default()).into();
    let function = declared(cx, "vprintf", Some(cx.llvm.i32_type().into()), &[ptr, ptr])?;
    cx.b.build_direct_call(function, &[format.into(), buffer.into()], "")?;
    Ok(())
}

/// A function that the driver links.
fn declared<'c>(
    cx: &Lower<'c, '_>,
    name: &str,
    result: Option<BasicTypeEnum<'c>>,
    args: &[BasicTypeEnum<'c>],
) -> Res<FunctionValue<'c>> {
    Ok(cx.module.get_function(name).unwrap_or_else(|| cx.module.add_function(name, cx.fn_type(result, args), None)))
}

/// A constant string in global memory, as a generic pointer. Equal strings share one.
fn text<'c>(cx: &Lower<'c, '_>, name: &str, text: &str) -> PointerValue<'c> {
    let value = cx.llvm.const_string(text.as_bytes(), true);
    let known = cx.module.get_globals().find(|g| g.get_initializer().is_some_and(|v| v == value.as_basic_value_enum()));
    let global = known.unwrap_or_else(|| {
        let global = cx.module.add_global(value.get_type(), Some(AddressSpace::from(GLOBAL_SPACE)), name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Internal);
        global
    });
    global.as_pointer_value().const_address_space_cast(cx.llvm.ptr_type(AddressSpace::default()))
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

/// Lowers `tt.assert`, and `cf.assert`, whose message has another name.
pub(in crate::codegen) fn assert(cx: &mut Lower<'_, '_>, op: Op, message: &str) -> Res<()> {
    let condition = cx.ir.operand(op, 0);
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
    guarded(cx, failed, |cx| {
        let name = cx.function.get_name().to_string_lossy().into_owned();
        let texts =
            [("assertMessage_", message), ("assertFile_", &file), ("assertFunc_", &name)].map(|(n, t)| text(cx, n, t));
        let (ptr, i32, i64) =
            (BasicTypeEnum::from(cx.llvm.ptr_type(AddressSpace::default())), cx.int_type(32), cx.int_type(64));
        let function = declared(cx, "__assertfail", None, &[ptr, ptr, i32.into(), ptr, i64.into()])?;
        let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("noreturn");
        function.add_attribute(AttributeLoc::Function, cx.llvm.create_enum_attribute(kind, 0));
        let line = i32.const_int(u64::from(line), false);
        let args = [texts[0].into(), texts[1].into(), line.into(), texts[2].into(), i64.const_int(1, false).into()];
        cx.b.build_direct_call(function, &args, "")?;
        Ok(())
    })?;
    if ty.is_tensor() {
        cx.barrier()?;
    }
    Ok(())
}
