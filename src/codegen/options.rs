//! What a kernel is compiled for, and how.

use crate::target::Target;

/// What a kernel is compiled for and how.
#[derive(Clone, Debug)]
pub struct CodegenOptions {
    pub target: Target,
    /// Warps of a block, where the module does not say (`ttg.num-warps`).
    pub num_warps: u32,
    /// Blocks of a cluster, where the module does not say (`ttg.num-ctas`).
    pub num_ctas: u32,
    /// Fuse multiplications and additions.
    pub fp_fusion: bool,
    /// Upper bound on registers of a thread.
    pub maxnreg: Option<u32>,
    /// How many warps are to fit on a SIMD unit, on AMD's GPUs.
    pub waves_per_eu: Option<u32>,
    /// Write line tables.
    pub lineinfo: bool,
    /// Append the two pointers (global scratch, profile scratch) that Triton's launcher passes to every kernel.
    pub triton_abi: bool,
    /// LLVM's pipeline, in the form of `opt -passes=`, instead of the built-in one.
    pub llvm_passes: Option<String>,
    /// The name of the file of LLVM IR that is read, for messages.
    pub source_name: Option<String>,
}

impl CodegenOptions {
    /// Triton's defaults for a target.
    #[must_use]
    pub fn new(target: Target) -> CodegenOptions {
        CodegenOptions {
            target,
            num_warps: 4,
            num_ctas: 1,
            fp_fusion: true,
            maxnreg: None,
            waves_per_eu: None,
            lineinfo: true,
            triton_abi: false,
            llvm_passes: None,
            source_name: None,
        }
    }
}
