//! Memory of a program's threads in huge pages.
//!
//! A compilation touches its memory page by page, and LLVM keeps tables of half a megabyte for each register file of
//! AMD's GPUs. In a process that compiles one small kernel the system spends as much time on new pages as ttc on
//! everything else. Where the system has huge pages for those who ask (`/sys/kernel/mm/transparent_hugepage`), 2 MiB
//! come at once.
//!
//! 1. A program says that its threads may keep what they free ([`keep`]). It does so before it starts any.
//! 2. Each thread of [`super`] and of LLVM begins with [`prepare`]. The C library gives it an arena, 64 MiB of address
//!    space of which almost nothing may be touched yet. The thread takes what is left of the first 2 MiB and keeps it.
//!    Nobody touches that, so it costs no memory.
//! 3. It takes [`SIZE`] bytes behind that, asks for huge pages there, and gives them back: these are what it gets next.
//! 4. What it frees stays with the arena, so that the next pass does not fetch the same pages again.
//!
//! No address space is asked for beyond that of the arena, and none of this happens where address space is limited
//! (`ulimit -v`). Where any of it fails, memory comes as usual.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether [`keep`] was called.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Lets the threads of this process keep the memory that they free, and get it in huge pages. It is for programs that
/// end when their work is done.
pub fn keep() {
    if super::address_space().is_some() || !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return;
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only numbers change that say when memory goes back to the system. The second one is the greatest that the
    // C library takes.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 512 << 20);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
    }
    KEPT.store(true, Ordering::Relaxed);
}

/// Asks for huge pages where the calling thread gets its memory, if [`keep`] was called.
pub fn prepare() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if KEPT.load(Ordering::Relaxed) {
        reserve();
    }
}

/// Steps 2 and 3.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn reserve() {
    /// Bytes that come in huge pages. More come as usual.
    const SIZE: usize = 30 << 20;
    const HUGE: usize = 2 << 20;
    // What the C library writes in front of a piece of memory, and room for what it rounds up to.
    const HEADERS: usize = 4096;
    // SAFETY: each piece is either null or of the size that was asked for, none is used, and the advice is about whole
    // pages within the last one.
    unsafe {
        // The optimizer removes pieces that nobody uses, unless it cannot see that.
        let probe = black_box(libc::malloc(64));
        let left = HUGE - probe as usize % HUGE;
        libc::free(probe);
        if left > HEADERS {
            black_box(libc::malloc(left - HEADERS));
        }
        let piece = libc::malloc(SIZE);
        let start = (piece as usize).next_multiple_of(HUGE);
        let end = (piece as usize + SIZE) / HUGE * HUGE;
        if !piece.is_null() && start < end {
            libc::madvise(std::ptr::with_exposed_provenance_mut(start), end - start, libc::MADV_HUGEPAGE);
        }
        libc::free(piece);
    }
}
