//! Memory for LLVM in huge pages.
//!
//! LLVM touches 5 to 10 MB for a small kernel, page by page, and in a process that compiles one kernel the system spends
//! as much time on these pages as on everything else. Where the system has huge pages for those who ask
//! (`/sys/kernel/mm/transparent_hugepage`), 2 MiB come at once.
//!
//! 1. The C library gives each thread an arena, and hands the arena of a thread that has ended to the next one. So what
//!    the first LLVM thread does with its arena serves the later ones.
//! 2. The thread takes what is left of the 2 MiB at which the arena begins, and keeps it. Nobody touches it, so it costs
//!    no memory.
//! 3. It takes [`SIZE`] bytes, asks for huge pages there, and gives them back: LLVM gets them next.
//! 4. What LLVM frees stays with the arena, so that the next pass does not fetch the same pages again.
//!
//! Where any of it fails, memory comes as usual.

/// Bytes that come in huge pages. More come as usual.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SIZE: usize = 24 << 20;

/// Asks for huge pages where the calling thread gets its memory. Only the first call in a process does something.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn prepare() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: only numbers change that say when memory goes back to the system. The second one is the greatest that
        // the C library takes.
        unsafe {
            libc::mallopt(libc::M_TRIM_THRESHOLD, 512 << 20);
            libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        }
        reserve();
    });
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn prepare() {}

/// Steps 2 and 3.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn reserve() {
    const HUGE: usize = 2 << 20;
    // What the C library writes in front of a piece of memory, and room for what it rounds up to.
    const HEADERS: usize = 4096;
    // SAFETY: each piece is either null or of the size that was asked for, none is used, and the advice is about whole
    // pages within the last one.
    unsafe {
        let probe = libc::malloc(64);
        let left = HUGE - probe as usize % HUGE;
        libc::free(probe);
        if left > HEADERS {
            libc::malloc(left - HEADERS);
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
