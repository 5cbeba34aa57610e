//! Assembles a text in this process, by LLVM's assembler.
//!
//! `assemble.cpp` does what `llvm-mc` does, without the 30 ms in which the system starts that program and relocates
//! LLVM. What it makes is the same, byte for byte.

use std::ffi::{CString, c_char, c_void};

use crate::backend::amd::llvm;
use crate::codegen::llvm::guarded;
use crate::target::Target;

/// Gets the object file, in one piece.
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
}

unsafe extern "C" fn take(to: *mut c_void, bytes: *const c_char, size: usize) {
    // SAFETY: `to` is the vector that `assemble` passes, and `ttc_assemble` says how many bytes there are.
    unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), size)) };
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
