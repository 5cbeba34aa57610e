//! The launch descriptor: everything that a program must know to call a kernel.
//!
//! 1. [`Descriptor`] lists the arguments that a caller has ([`Argument`]) and the parameters that the kernel takes
//!    ([`Parameter`]), with the rule that makes each parameter. One argument may be several parameters, as a tensor
//!    descriptor is, or none, where its value is settled.
//! 2. It is part of the metadata beside a cubin. Launchers are printed from it, and nothing else knows how to launch.
//! 3. Numbers are those of the CUDA driver API (`cuda.h`), which AMD's runtime takes from there where it has them.
//!
//! Example: `add(x: *fp32, n: i32)` has two arguments and the parameters `x` (offset 0, 8 bytes) and `n` (offset 8, 4
//! bytes).

pub mod c;
mod facts;
pub mod grid;
mod parameters;
pub mod rust;
mod variants;

use serde::{Deserialize, Serialize};

pub use parameters::{descriptor_rank, flatten, parameter_count};
pub use variants::Promise;

/// The version of this description. It changes when a field changes its meaning.
pub const VERSION: u32 = 1;

/// A text as it may stand in a line of a comment: what would end the line, or show other words than the compiler reads
/// (control characters and those that change the direction of writing), stands as `\u{202e}`.
fn one_line(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            c if hides(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// How launchers are printed.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the files without an extension.
    pub module: String,
    /// Whether the source holds the images. Otherwise they are files of their own.
    pub embed: bool,
}

/// A file by its name and content.
pub type File = (String, Vec<u8>);

/// How a kernel is launched. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    pub version: u32,
    /// The name of the function in the module.
    pub symbol: String,
    /// The threads of a block, all of them in x.
    pub threads: u32,
    /// Dynamic shared memory.
    pub shared: u32,
    /// The blocks of a cluster. A grid of `[x, y, z]` programs has `cluster[0] * x` blocks in x.
    pub cluster: [u32; 3],
    /// Whether the kernel waits for the kernel before it, or lets the next one start early (PTX ISA, `griddepcontrol`).
    /// A launch may then carry `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
    pub programmatic: bool,
    /// How many programs there are along each axis, as expressions over the arguments ([`grid`]); `None` if nobody
    /// said.
    pub grid: Option<[String; 3]>,
    /// What a caller passes, in the order of the kernel's definition.
    pub arguments: Vec<Argument>,
    /// What the kernel takes, in order.
    pub parameters: Vec<Parameter>,
    /// The bytes of all parameters, from the first one's start to the last one's end.
    pub parameter_bytes: u32,
    /// What the kernel does to memory whose address it reads from memory or makes from a number. Where this is not
    /// empty, [`Argument::access`] does not say everything.
    pub elsewhere: Access,
}

/// A kernel with all that was compiled of it: what a launcher is printed from. All variants have the same names and
/// types of arguments; they differ in their architectures, promises, constants and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name of the function in its source.
    pub name: String,
    /// At least one. Of those that a GPU runs and whose promises hold, the first is launched.
    pub variants: Vec<Variant>,
}

/// One compilation of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The architecture, such as `sm_90a` or `gfx942`. What runs where is said by [`crate::target`].
    pub arch: String,
    /// The compile-time parameters and their values, as text.
    pub constants: std::collections::BTreeMap<String, String>,
    pub descriptor: Descriptor,
    /// The cubin or AMD's code object.
    pub image: Vec<u8>,
}

/// Whether a kernel reads or writes memory. What cannot be excluded counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub reads: bool,
    pub writes: bool,
}

/// One argument of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    /// The type as a signature has it: `*fp32`, `i32`, `tensordesc<fp16[128, 64]>`.
    #[serde(rename = "type")]
    pub ty: String,
    /// A promise: the value is a multiple of this number. The code relies on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub divisible_by: Option<u64>,
    /// A promise: the value is this number. The kernel has no parameter for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub equals: Option<i64>,
    /// What the kernel does to the memory that a pointer or a descriptor leads to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub access: Option<Access>,
    /// How to encode a tensor descriptor that the hardware reads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tensor_map: Option<TensorMap>,
}

/// What `cuTensorMapEncodeTiled` takes beside the address, the extents and the strides of a tensor. Its extents and
/// strides start with the innermost axis, and its strides are in bytes and without that of the innermost axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap {
    /// `CUtensorMapDataType`
    pub data_type: u32,
    /// The number of axes.
    pub rank: u32,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// The box that one message moves, the innermost axis first.
    pub box_dim: Vec<u32>,
    /// The innermost axis first.
    pub element_strides: Vec<u32>,
    /// `CUtensorMapInterleave`
    pub interleave: u32,
    /// `CUtensorMapSwizzle`
    pub swizzle: u32,
    /// `CUtensorMapL2promotion`
    pub l2_promotion: u32,
    /// `CUtensorMapFloatOOBfill` for a tensor that is padded with zeros. One that is padded with NaN takes 1.
    pub fill: u32,
    /// How many elements of the map one element of the innermost extent is: 2 for two elements of 4 bits in a byte.
    pub packed: u32,
}

impl TensorMap {
    /// The number in `CUtensorMapDataType` of a type that PTX calls by another one (PTX ISA, "tensormap.replace",
    /// `.elemtype`): the two order f32 with flushed subnormals, f64 and bf16 differently.
    #[must_use]
    pub fn data_type_of(elem_type: u32) -> u32 {
        match elem_type {
            8 => 10,
            9 => 8,
            10 => 9,
            same => same,
        }
    }
}

/// An array in the memory of an argument, of which a launch encodes a tensor map. Its axes are listed from the
/// outermost one on. Numbers are expressions over integer arguments ([`grid`]), in elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayMap {
    /// The pointer that the array starts at.
    pub base: String,
    pub extents: Vec<String>,
    /// Those of all axes but the innermost, whose stride is 1.
    pub strides: Vec<String>,
    pub map: TensorMap,
}

impl ArrayMap {
    /// The extents and the strides as expressions.
    ///
    /// # Errors
    /// Says what is wrong with one of them, or with their number.
    pub fn expressions(&self) -> Result<[Vec<grid::Expr>; 2], String> {
        let rank = self.map.rank as usize;
        if self.extents.len() != rank || self.strides.len() + 1 != rank {
            let (extents, strides) = (self.extents.len(), self.strides.len());
            return Err(format!("a tensor map of {rank} axes has {extents} extents and {strides} strides"));
        }
        let read = |texts: &[String]| texts.iter().map(|t| grid::Expr::read(t)).collect::<Result<Vec<_>, _>>();
        Ok([read(&self.extents)?, read(&self.strides)?])
    }

    /// The array in words, for messages: `[M, K] with the strides [stride_am, 1]`.
    #[must_use]
    pub fn words(&self) -> String {
        let strides: Vec<&str> = self.strides.iter().map(|s| &**s).chain(["1"]).collect();
        format!("[{}] with the strides [{}]", self.extents.join(", "), strides.join(", "))
    }
}

impl Value {
    /// Whether no argument of a caller stands for the parameter.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        matches!(self, Value::ArrayMap(_) | Value::GlobalScratch { .. } | Value::ProfileScratch)
    }
}

/// One parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    #[serde(flatten)]
    pub value: Value,
    /// Where it starts, as the PTX declares it. In the cubin of a kernel that takes tensor maps, all parameters may
    /// start later by the same number, so a launch passes a pointer to each.
    pub offset: u32,
    pub size: u32,
    pub align: u32,
}

/// What a parameter holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "value", rename_all = "snake_case")]
pub enum Value {
    /// The argument itself.
    Argument { argument: String },
    /// The encoded tensor map, a `CUtensorMap`, by value.
    TensorMap { argument: String },
    /// The address that a descriptor starts with.
    Base { argument: String },
    /// The extent of a descriptor's axis, in elements; axis 0 is the outermost.
    Extent { argument: String, axis: u32 },
    /// The stride of a descriptor's axis, in elements.
    Stride { argument: String, axis: u32 },
    /// 1 if what lies outside of the tensor reads as NaN, and 0 if as zero.
    PadsWithNan { argument: String },
    /// 1 if elements of f32 are rounded to tf32 as they are loaded.
    RoundsToTf32 { argument: String },
    /// A tensor map that no caller passes: that of an array in memory, by value.
    ArrayMap(ArrayMap),
    /// The address of scratch memory that nobody else uses during the launch: `bytes_per_block` for each block of
    /// the grid, from an address that is a multiple of `memory_align`.
    GlobalScratch { bytes_per_block: u32, memory_align: u32 },
    /// The address of a profiler's buffer. Zero will do.
    ProfileScratch,
}
