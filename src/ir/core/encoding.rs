//! Layout encodings as data: the contents of the attributes `#ttg.blocked<…>`, `#ttg.slice<…>` and the rest.
//!
//! Nothing computes an index from these fields. `crate::layout` turns an encoding and a shape into a linear layout.
//! Dimension lists are in the tensor's order, and `order[0]` is the fastest-running dimension.

use super::attrs::Attr;

/// The basis vectors of one input dimension of a linear layout, with one vector of output coordinates for each input
/// bit.
pub type Bases = Vec<Vec<i32>>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Encoding {
    Blocked(Blocked),
    /// The layout of `parent` with dimension `dim` removed.
    Slice {
        dim: u32,
        parent: Attr,
    },
    DotOp {
        op_idx: u32,
        parent: Attr,
        /// The width along K. It is 0 when the parent needs none (a blocked parent).
        k_width: u32,
    },
    NvidiaMma(NvidiaMma),
    AmdMfma(AmdMfma),
    AmdWmma(AmdWmma),
    /// Freely given bases of register, lane, warp and block: `#ttg.linear`.
    Linear(LinearBases),
    /// Like `Linear`, but not required to be a permutation: `#ttg.generic_linear`.
    GenericLinear(LinearBases),
    SwizzledShared(SwizzledShared),
    /// As `SwizzledShared`, with the phases of each block of rows turned on by one: `#ttg.amd_rotating_shared`.
    AmdRotatingShared(SwizzledShared),
    NvmmaShared(NvmmaShared),
    /// Bases of offset and block: `#ttg.shared_linear`.
    SharedLinear {
        offset: Bases,
        block: Bases,
        alignment: u32,
    },
    PaddedShared(PaddedShared),
    /// `#ttng.tensor_memory_encoding`
    TensorMemory(TensorMemory),
    /// `#ttng.tensor_memory_scales_encoding`
    TensorMemoryScales {
        cga: Bases,
        /// Whether blocks of 128 rows and 4 scales follow one another along K first (`blockRepOrder = kThenMn`).
        k_first: bool,
    },
}

/// `#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Blocked {
    pub size_per_thread: Vec<u32>,
    pub threads_per_warp: Vec<u32>,
    pub warps_per_cta: Vec<u32>,
    pub order: Vec<u32>,
    /// How the blocks of a cluster share the tensor. It is empty for a single block.
    pub cga: Bases,
}

/// `#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NvidiaMma {
    pub version_major: u32,
    pub version_minor: u32,
    pub warps_per_cta: Vec<u32>,
    pub cga: Bases,
    pub instr_shape: Vec<u32>,
}

/// `#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AmdMfma {
    /// The generation of CDNA: 3 is CDNA3.
    pub version: u32,
    pub warps_per_cta: Vec<u32>,
    /// M, N and K of one instruction.
    pub instr_shape: Vec<u32>,
    /// Whether a lane holds neighbours along N and not along M.
    pub is_transposed: bool,
    pub cga: Bases,
    /// Tiles side by side that one warp computes. Each is 1 unless it is printed.
    pub tiles_per_warp: Vec<u32>,
    /// Bits of an element of the result: 32 or 64.
    pub element_bit_width: u32,
}

/// `#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AmdWmma {
    /// 1 is RDNA3, 2 is RDNA4, 3 is gfx1250.
    pub version: u32,
    /// Whether a lane holds neighbours along N and not along M.
    pub is_transposed: bool,
    /// Where the tiles of one warp are, counted in tiles: `ctaLayout`.
    pub tiles: Bases,
    /// Where each warp's tiles are, counted in tiles: `ctaLayout`.
    pub warps: Bases,
    pub cga: Bases,
    /// M, N and K of one instruction.
    pub instr_shape: Vec<u32>,
    pub rank: u32,
}

/// The bases of a distributed layout.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinearBases {
    pub register: Bases,
    pub lane: Bases,
    pub warp: Bases,
    pub block: Bases,
}

/// `#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SwizzledShared {
    pub vec: u32,
    pub per_phase: u32,
    pub max_phase: u32,
    pub order: Vec<u32>,
    pub cga: Bases,
}

/// `#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NvmmaShared {
    pub swizzling_byte_width: u32,
    pub transposed: bool,
    pub element_bit_width: u32,
    pub fp4_padded: bool,
    /// The rank. It is printed when it is not 2 and there is no CGA layout.
    pub rank: u32,
    pub cga: Bases,
}

/// `#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PaddedShared {
    /// Pairs of numbers. After every `interval` elements, `padding` elements are left out.
    pub intervals: Vec<(u32, u32)>,
    pub offset: Bases,
    pub block: Bases,
    /// The output dimensions. With these, `offset` is an identity in `order`.
    pub shape: Vec<u32>,
}

/// `#ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TensorMemory {
    pub block_m: u32,
    pub block_n: u32,
    pub col_stride: u32,
    pub cga: Bases,
    pub two_ctas: bool,
    /// Whether every second half of a column is left out. That is an operand of 4-bit elements beside one of 8-bit
    /// elements.
    pub fp4_padded: bool,
}
