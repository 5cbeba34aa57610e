//! Shared memory as the layouts see it: banks, widths of accesses, and the instructions that move matrices.

/// The shared memory (AMD: LDS) of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedMemory {
    /// Bytes that one block can have, after opting in where a device asks for that.
    pub bytes: u32,
    /// Banks; each serves one word at a time.
    pub banks: u32,
    /// Bytes of a word of a bank.
    pub bank_bytes: u32,
    /// Bits of the widest access of one thread.
    pub max_access_bits: u32,
    /// Bytes that a block may use for each of its warps without fewer blocks fitting on a multiprocessor.
    pub free_bytes_per_warp: u32,
    /// Whether reductions may take more bytes than they need, so that threads wait for each other less often.
    pub ample_for_reductions: bool,
    /// Whether conversions may take more bytes than they need, for the same reason.
    pub ample_for_conversions: bool,
    /// Whether conversions hold all of their elements at once, so that no barrier stands between loads.
    pub conversions_at_once: bool,
    /// Loads of 8x8 matrices of 16-bit elements by a warp of 32 threads (PTX ISA, "ldmatrix").
    pub ldmatrix: bool,
    /// The stores to them (PTX ISA, "stmatrix").
    pub stmatrix: bool,
}

impl SharedMemory {
    /// Bytes of each block that the device takes for itself (CUDA C++ Programming Guide, "Shared Memory").
    pub const RESERVED: u32 = 1024;

    /// Bytes that each of several blocks on one multiprocessor can have. One block can have all but what is reserved
    /// for it.
    #[must_use]
    pub fn bytes_each(&self, blocks: u32) -> u32 {
        (self.bytes + Self::RESERVED) / blocks - Self::RESERVED
    }
}
