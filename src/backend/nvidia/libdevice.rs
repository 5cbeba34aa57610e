//! Links the functions of libdevice that a module calls.
//!
//! 1. The library is opened lazily: function bodies are read only when they are needed.
//! 2. Every function gets linkonce linkage; LLVM's linker takes such functions only where something refers to them, so
//!    a module with one call of `__nv_sinf` gets that function and what it calls instead of all 350.
//! 3. What was taken becomes internal, so that nothing of it stays behind after inlining.
//! 4. A name that ends with [`NEAR_SUFFIX`] is the function without what only large arguments need
//!    ([`super::sines`]): the library's own function, linked once more by that name, whose test for such arguments is
//!    false. Where no such test is found it stays whole, which is as right.
//! 5. Its loops stay loops. The library of CUDA 13 wants the reduction of large arguments of sines unrolled six times,
//!    though hardly any thread runs it.

use std::collections::BTreeSet;
use std::path::Path;

use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, InstructionValue, Operand};
use inkwell::{FloatPredicate, llvm_sys};

use super::sines::{NEAR, NEAR_SUFFIX};
use crate::codegen::llvm::loops;

/// What its functions start with.
pub(crate) const PREFIX: &str = "__nv_";

/// Links what `module` calls; the names of functions that it still lacks come back.
///
/// # Errors
/// Why the file cannot be read or linked.
pub(crate) fn link<'c>(module: &Module<'c>, context: &'c Context, path: &Path) -> Result<Vec<String>, String> {
    let near: Vec<String> = declared(module).filter(|name| name.ends_with(NEAR_SUFFIX)).collect();
    if !near.is_empty() {
        let library = open(context, path)?;
        for name in &near {
            let whole = library.get_function(name.trim_end_matches(NEAR_SUFFIX));
            whole.inspect(|whole| whole.as_global_value().set_name(name));
        }
        take(module, context, library)?;
        for function in near.iter().filter_map(|name| module.get_function(name)) {
            forget_large_arguments(context, function);
        }
    }
    take(module, context, open(context, path)?)?;
    Ok(declared(module).filter(|name| name.starts_with(PREFIX)).collect())
}

/// Links what `module` calls of one library.
fn take<'c>(module: &Module<'c>, context: &'c Context, library: Module<'c>) -> Result<(), String> {
    library.set_triple(&module.get_triple());
    library.set_data_layout(&module.get_data_layout());
    for function in library.get_functions().filter(|f| f.get_linkage() == Linkage::External) {
        // A declaration has no body to link, and LLVM allows it no linkage but external.
        // SAFETY: the function is alive; the call only asks a question.
        if unsafe { llvm_sys::core::LLVMIsDeclaration(function.as_value_ref()) } == 0 {
            function.set_linkage(Linkage::LinkOnceODR);
        }
    }
    // With opaque pointers LLVM would link a call of the wrong type without a word.
    for declared in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = declared.get_name().to_string_lossy().into_owned();
        if let Some(known) = library.get_function(&name).filter(|known| known.get_type() != declared.get_type()) {
            let show = |f: inkwell::values::FunctionValue<'_>| f.get_type().print_to_string().to_string();
            return Err(format!("`{name}` is `{}`, but is used as `{}`", show(known), show(declared)));
        }
    }
    let own: BTreeSet<Vec<u8>> = defined(module).map(|f| f.get_name().to_bytes().to_vec()).collect();
    module.link_in_module(library).map_err(|e| e.to_string())?;
    for function in defined(module).filter(|f| !own.contains(f.get_name().to_bytes())) {
        function.set_linkage(Linkage::Internal);
        keep_loops(context, function);
    }
    Ok(())
}

/// Makes the test of a function for arguments from [`NEAR`] on false: the only branch on a comparison of something with
/// a number at least that large.
fn forget_large_arguments(context: &Context, function: inkwell::values::FunctionValue<'_>) {
    let ends = function.get_basic_block_iter().filter_map(BasicBlock::get_terminator);
    let tests: Vec<InstructionValue<'_>> = ends.filter(|&end| asks_for_large_arguments(end)).collect();
    if let [test] = tests.as_slice() {
        test.set_operand(0, context.bool_type().const_zero());
    }
}

/// Whether a branch asks if something is a number from [`NEAR`] on.
fn asks_for_large_arguments(end: InstructionValue<'_>) -> bool {
    let condition = end.get_operand(0).and_then(Operand::value);
    let compare = condition.filter(|c| c.is_int_value()).and_then(|c| c.into_int_value().as_instruction());
    let compare = compare.filter(|c| c.get_fcmp_predicate() == Some(FloatPredicate::OGE));
    let limit = compare.and_then(|c| c.get_operand(1)).and_then(Operand::value);
    let limit = limit.filter(|limit| limit.is_float_value()).and_then(|limit| limit.into_float_value().get_constant());
    limit.is_some_and(|(limit, _)| limit >= NEAR)
}

/// Forbids to unroll the loops of a function that say how far.
fn keep_loops(context: &Context, function: inkwell::values::FunctionValue<'_>) {
    let kind = context.get_kind_id(loops::PROPERTIES);
    let ends = function.get_basic_block_iter().filter_map(BasicBlock::get_terminator);
    for end in ends.filter(|end| end.get_metadata(kind).is_some()) {
        loops::set(context, end, loops::NOT_UNROLLED);
    }
}

/// The names of the functions without a body.
fn declared(module: &Module<'_>) -> impl Iterator<Item = String> {
    let functions = module.get_functions().filter(|f| f.count_basic_blocks() == 0);
    functions.map(|f| f.get_name().to_string_lossy().into_owned())
}

fn defined<'c>(module: &Module<'c>) -> impl Iterator<Item = inkwell::values::FunctionValue<'c>> {
    module.get_functions().filter(|f| f.count_basic_blocks() > 0)
}

/// Opens a bitcode file without reading its functions.
fn open<'c>(context: &'c Context, path: &Path) -> Result<Module<'c>, String> {
    let buffer = MemoryBuffer::create_from_file(path).map_err(|e| e.to_string())?;
    let raw = buffer.as_mut_ptr();
    // The lazy module owns its buffer, also when reading it fails.
    std::mem::forget(buffer);
    let mut module = std::ptr::null_mut();
    // SAFETY: the context outlives the module by the lifetime of the result, the buffer is a valid one that LLVM now
    // owns.
    let failed = unsafe { llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2(context.raw(), raw, &raw mut module) };
    if failed != 0 || module.is_null() {
        return Err("it is no LLVM bitcode".into());
    }
    // SAFETY: the module was just made and nobody else owns it.
    Ok(unsafe { Module::new(module) })
}
