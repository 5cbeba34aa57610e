//! What LLVM's interface for C lacks: writing assembly without a pass that finds nothing, and assembling.
//!
//! `emit.cpp` leaves a pass out. `assemble.cpp` does what `llvm-mc` does, without the 30 ms in which the system starts
//! that program and relocates LLVM. What either makes is the same as otherwise, byte for byte.

use std::ffi::{CString, c_char, c_void};

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use crate::backend::amd::llvm;
use crate::codegen::llvm::{guarded, text_of};
use crate::target::Target;

/// Gets what was made, in one piece.
type Take = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

unsafe extern "C" {
    fn ttc_assemble(
        triple: *const c_char,
        processor: *const c_char,
        text: *const c_char,
        size: usize,
        take: Take,
        to: *mut c_void,
    ) -> bool;
    fn ttc_emit_assembly(machine: LLVMTargetMachineRef, module: LLVMModuleRef, take: Take, to: *mut c_void) -> bool;
}

unsafe extern "C" fn take(to: *mut c_void, bytes: *const c_char, size: usize) {
    // SAFETY: `to` is the vector that a caller below passes, and LLVM says how many bytes there are.
    unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), size)) };
}

/// The assembly that LLVM's back end writes for a module, which it changes.
///
/// # Errors
/// When the machine writes none, or it is no text.
pub(super) fn emit(module: &Module<'_>, machine: &TargetMachine) -> Result<String, String> {
    let mut text = vec![];
    // SAFETY: machine and module are alive, and `take` fits the vector.
    let is_done = unsafe {
        ttc_emit_assembly(machine.as_mut_ptr(), module.as_mut_ptr(), take, std::ptr::from_mut(&mut text).cast())
    };
    if is_done { text_of(text) } else { Err("the target writes no assembly".to_owned()) }
}

/// The object file of an assembly text. `None` if LLVM does not take it; `llvm-mc` says why.
pub(super) fn assemble(text: &str, target: &Target) -> Option<Vec<u8>> {
    llvm::initialize();
    let (triple, processor) = (CString::new(llvm::TRIPLE).ok()?, CString::new(target.name).ok()?);
    let text = text.to_owned();
    let done = guarded(move || {
        let mut object = vec![];
        let to = std::ptr::from_mut(&mut object).cast();
        // SAFETY: both names end in a zero, the text has the size that is given, and `take` fits `to`.
        let is_done =
            unsafe { ttc_assemble(triple.as_ptr(), processor.as_ptr(), text.as_ptr().cast(), text.len(), take, to) };
        is_done.then_some(object)
    });
    done.ok()?
}
