//! When the system has no more memory to give (`ulimit -v`, a container's limit), ttc ends with a message and exit code
//! 1. Rust alone would abort.
//!
//! 1. The allocator is the system's. Where it has no memory to give, the message is written from a static text, because
//!    making one would ask for memory.
//! 2. LLVM has an allocator of its own. It tells the caller or, where it cannot, ends in the same way.
//! 3. The process ends at once. Other threads may hold anything in any state, so nobody is asked to clean up; outputs
//!    are complete or absent, since each is renamed into place when it is whole.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_void};

/// The text of `E0917`, which has no source to point into.
const MESSAGE: &[u8] =
    b"error[E0917]: ttc has run out of memory\n  = help: give it more (see `ulimit -v`), run fewer jobs at once with -j, or \
lower --max-ops to end earlier with a message about the kernel\n";

unsafe extern "C" {
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
    fn _exit(code: c_int) -> !;
}

/// The system's allocator, except for what it does when there is no memory.
pub(crate) struct Bounded;

/// Says that there is no memory and ends the process.
pub(crate) fn end() -> ! {
    // SAFETY: the text lives as long as the process, and both functions may be called at any time, in a signal handler
    // even.
    unsafe {
        write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        _exit(1)
    }
}

fn or_end(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end()
    }
    memory
}

// SAFETY: every method hands its arguments to the system's allocator as they are.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        or_end(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}
