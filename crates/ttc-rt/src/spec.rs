//! A kernel and its variants as tables. `ttc compile --emit rust` prints them; nobody writes them by hand.
//!
//! Arguments are named by their numbers, in the order of the kernel's definition. Sizes are in bytes.

use crate::error::Promise;
use crate::grid::Expr;

/// A kernel with everything that was compiled of it.
#[derive(Debug)]
pub struct Kernel {
    /// Its name in its source.
    pub name: &'static str,
    /// The names of its arguments.
    pub arguments: &'static [&'static str],
    /// Of those that a GPU runs and whose promises hold, the first is launched.
    pub variants: &'static [Variant],
}

/// One compilation of a kernel.
#[derive(Debug)]
pub struct Variant {
    /// The architecture, such as `sm_90a` or `gfx942`.
    pub arch: &'static str,
    /// The GPUs that run it.
    pub runs_on: RunsOn,
    /// The name of the function in the image.
    pub symbol: &'static str,
    /// The threads of a block.
    pub threads: u32,
    /// Dynamic shared memory.
    pub shared: u32,
    /// The blocks of a cluster. Along each axis there are so many blocks for one program.
    pub cluster: [u32; 3],
    /// How many programs there are along each axis, if the kernel's author said so.
    pub grid: Option<[Expr; 3]>,
    /// What the code relies on, by argument.
    pub promises: &'static [(usize, Promise)],
    /// What the function takes.
    pub parameters: &'static [Parameter],
    /// The cubin or code object.
    pub image: &'static [u8],
}

/// The GPUs that run a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// NVIDIA's of a compute capability.
    Capability {
        /// The major number.
        major: u32,
        /// The minor number.
        minor: u32,
        /// Whether it runs on exactly this capability. Otherwise GPUs with a larger minor number run it too.
        exact: bool,
    },
    /// AMD's processor of this name.
    Processor(&'static str),
}

/// One parameter of the function.
#[derive(Debug)]
pub struct Parameter {
    /// What it holds.
    pub value: Value,
    /// Where it starts.
    pub offset: usize,
    /// How large it is.
    pub size: usize,
}

/// What a parameter holds. The numbers are those of arguments.
#[derive(Debug)]
pub enum Value {
    /// The argument itself.
    Argument(usize),
    /// A tensor's map for the hardware.
    TensorMap(usize, &'static Recipe),
    /// A tensor's address.
    Base(usize),
    /// The extent of a tensor's axis, in elements; axis 0 is the outermost.
    Extent(usize, usize),
    /// The stride of a tensor's axis, in elements.
    Stride(usize, usize),
    /// 1 if what lies outside of the tensor reads as NaN, and 0 if as zero.
    PadsWithNan(usize),
    /// 1 if elements of f32 are rounded to tf32 as they are loaded.
    RoundsToTf32(usize),
    /// The map of an array that starts at an argument's address.
    ArrayMap(&'static ArrayMap),
    /// The address of memory that nobody else uses during the launch: so many bytes for each block.
    GlobalScratch {
        /// The bytes of a block.
        bytes_per_block: u64,
        /// What the address is a multiple of.
        memory_align: u64,
    },
    /// The address of a profiler's buffer, which is null here.
    ProfileScratch,
}

/// An array of which a launch encodes a map. Its axes are listed from the outermost one on, in elements.
#[derive(Debug)]
pub struct ArrayMap {
    /// The argument whose address it starts at.
    pub base: usize,
    /// The extents.
    pub extents: &'static [Expr],
    /// The strides of all axes but the innermost, whose stride is 1.
    pub strides: &'static [Expr],
    /// How it is encoded.
    pub recipe: &'static Recipe,
    /// The array in words: `[M, K] with the strides [stride_am, 1]`.
    pub words: &'static str,
}

/// What `cuTensorMapEncodeTiled` takes beside a tensor. Axes are ordered from the innermost one.
#[derive(Debug)]
pub struct Recipe {
    /// `CUtensorMapDataType`
    pub data_type: i32,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// The box that one message moves.
    pub box_dim: &'static [u32],
    /// The steps in which elements are read.
    pub element_strides: &'static [u32],
    /// `CUtensorMapInterleave`
    pub interleave: i32,
    /// `CUtensorMapSwizzle`
    pub swizzle: i32,
    /// `CUtensorMapL2promotion`
    pub l2_promotion: i32,
    /// `CUtensorMapFloatOOBfill` for a tensor that is padded with zeros.
    pub fill: i32,
    /// How many elements of the map one element of the innermost extent is.
    pub packed: u32,
}

/// Bytes that start at a multiple of 64, as the driver reads an image fastest.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Aligned<T: ?Sized>(pub T);
