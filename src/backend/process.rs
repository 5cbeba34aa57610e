//! Options that LLVM has only as flags of the process.
//!
//! One process may compile for several vendors, and its code must not depend on which of them came first. So all flags
//! are set at once, by whichever back end is used first, and each says whom it concerns.

use std::ffi::CString;
use std::sync::Once;

/// - 32-bit pointers to shared memory, and `mad.wide` for `a * b + c` with a widening product (NVPTX), both as Triton
///   sets them.
/// - Partial redundancies are left, also by the pass that back ends run themselves: removing one splits the edge around
///   a loop, on which the accumulators of `wgmma` would be set a second time, and ptxas would run the products of the
///   loop one by one.
/// - Straight-line strength reduction is left out: it is quadratic, half a second on a large kernel and minutes on a
///   tile of 2^18 elements. NVIDIA's `strides` does what matters of it.
/// - The SLP vectorizer looks for no horizontal reductions: that is half of its time on large blocks, and what it may
///   reorder of a block it spends there, so that pairs of 16 bits are left alone.
const FLAGS: [&str; 6] = [
    "ttc",
    "-nvptx-short-ptr",
    "-nvptx-mad-wide-opt",
    "-enable-pre=false",
    "-opt-disable=slsr",
    "-slp-vectorize-hor=false",
];

/// Sets the flags, once a process.
pub(super) fn set_flags() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let flags: Vec<CString> = FLAGS.iter().filter_map(|f| CString::new(*f).ok()).collect();
        let pointers: Vec<_> = flags.iter().map(|f| f.as_ptr()).collect();
        // SAFETY: valid C strings that outlive the call; a null overview means none.
        unsafe {
            inkwell::llvm_sys::support::LLVMParseCommandLineOptions(
                FLAGS.len() as i32,
                pointers.as_ptr(),
                std::ptr::null(),
            );
        };
    });
}
