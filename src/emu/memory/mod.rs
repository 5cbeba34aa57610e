//! Memory: the buffers of the host, the shared memory of a block, and local memory.
//!
//! Addresses of the generic space are cut into windows, so that an address alone says what it is in:
//!
//! | bits | space |
//! |---|---|
//! | `(n + 1) << 40` | buffer number n |
//! | `1 << 56` | variables of the module |
//! | `1 << 57` | shared memory: the rank of the block in its cluster in bits 24 and up, then the distance |
//! | `1 << 58` | local memory of the lane |
//! | `1 << 59` | parameters of the kernel |
//!
//! Every byte knows whether it was written.

mod buffer;
mod bytes;

pub use buffer::{BufferId, Memory};
pub(crate) use bytes::Bytes;

/// Where the variables of the module start.
pub const GLOBALS_BASE: u64 = 1 << 56;
/// Where shared memory starts in the generic space.
pub const SHARED_WINDOW: u64 = 1 << 57;
/// Where local memory starts in the generic space.
pub const LOCAL_WINDOW: u64 = 1 << 58;
/// Where parameters of the kernel start in the generic space.
pub const PARAM_WINDOW: u64 = 1 << 59;

/// Which window of the generic space an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Global,
    Shared,
    Local,
    Param,
}

pub(crate) fn window(address: u64) -> Window {
    match address >> 57 {
        0 => Window::Global,
        1 => Window::Shared,
        2 | 3 => Window::Local,
        _ => Window::Param,
    }
}
