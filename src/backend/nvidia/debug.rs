//! Talking to the host: calls of the two functions that the driver offers device code.
//!
//! - `vprintf` takes the format and a buffer laid out like a C struct. One buffer per operation lies in the entry
//!   block, so that loops do not grow the stack.
//! - `__assertfail` ends the grid with the message, the file, the line and the function's name.
//!
//! CUDA C++ programming guide, "Formatted output" and "Assertion"; PTX ISA interoperability guide, "System calls".

use inkwell::AddressSpace;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Linkage;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, FunctionValue, PointerValue};

use super::machine::SPACES;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::{Assertion, Printer};

/// The format as a constant, and a buffer of so many bytes.
pub(super) fn printer<'c>(cx: &mut Lower<'c, '_>, format: &str, bytes: u32) -> Res<Printer<'c>> {
    let format = text(cx, "printfFormat_", format);
    Ok(Printer::Call { format, arguments: buffer(cx, bytes)? })
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

/// Calls `vprintf`.
pub(super) fn print<'c>(cx: &mut Lower<'c, '_>, printer: &Printer<'c>, args: &[Val<'c>]) -> Res<()> {
    let &Printer::Call { format, arguments: buffer } = printer else {
        return Err(defect("`vprintf` takes a format"));
    };
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
        let global = cx.module.add_global(value.get_type(), Some(AddressSpace::from(SPACES.global)), name);
        global.set_initializer(&value);
        global.set_constant(true);
        global.set_linkage(Linkage::Internal);
        global
    });
    global.as_pointer_value().const_address_space_cast(cx.llvm.ptr_type(AddressSpace::default()))
}

/// Calls `__assertfail`.
pub(super) fn fail(cx: &mut Lower<'_, '_>, assertion: &Assertion<'_>) -> Res<()> {
    let &Assertion { message, file, line } = assertion;
    let name = cx.function.get_name().to_string_lossy().into_owned();
    let texts =
        [("assertMessage_", message), ("assertFile_", file), ("assertFunc_", &name)].map(|(n, t)| text(cx, n, t));
    let (ptr, i32, i64) =
        (BasicTypeEnum::from(cx.llvm.ptr_type(AddressSpace::default())), cx.int_type(32), cx.int_type(64));
    let function = declared(cx, "__assertfail", None, &[ptr, ptr, i32.into(), ptr, i64.into()])?;
    let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("noreturn");
    function.add_attribute(AttributeLoc::Function, cx.llvm.create_enum_attribute(kind, 0));
    let line = i32.const_int(u64::from(line), false);
    let args = [texts[0].into(), texts[1].into(), line.into(), texts[2].into(), i64.const_int(1, false).into()];
    cx.b.build_direct_call(function, &args, "")?;
    Ok(())
}
