//! The JSON beside a cubin: what a launcher must know, under Triton's names.
//!
//! A compilation that starts at a later stage may find some of it in no text any more ([`super::carried`],
//! [`super::ptx_facts`]). Such a field is `None`, which JSON shows as `null`, because a launcher must know what it does
//! not know.

use crate::ir::dialects::tt::tt::Func;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hidden::Hidden;
use crate::codegen::Facts;
use crate::fingerprint::fingerprint;
use crate::ir::dialects::array_map::ArrayMap;
use crate::ir::{Ir, Op};
use crate::irgen::{ConfigInfo, Launch};
use crate::launch::{Descriptor, TensorMap};
use crate::layout::encodings::{TmaBlock, tma_block};
use crate::target::AmdOptions;

/// One argument of a kernel, in launch order.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    /// The type as a signature has it: `*fp32`, `i32`. Read from PTX, it is PTX's word (`u32`, `b8[128]`), and `*` for
    /// a pointer.
    #[serde(rename = "type")]
    pub ty: String,
    /// The number that the value is a multiple of, as the compiler was told. It is 1 when it was told nothing.
    pub divisibility: Option<u64>,
    /// The number that the value is, where the code relies on it. The kernel then takes no parameter for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub equals: Option<i64>,
}

/// Writes the parameters that the kernel takes. Triton counts an argument of a settled value among the constants.
fn taken<S: serde::Serializer>(params: &[Param], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(params.iter().filter(|p| p.equals.is_none()))
}

/// What a launcher must know of a parameter that is a tensor descriptor, to encode it (CUDA driver API,
/// `cuTensorMapEncodeTiled`).
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct TensorDesc {
    /// 0 for none; 1, 2 and 3 for 32, 64 and 128 bytes, as in `CUtensorMapSwizzle`.
    pub swizzle: u32,
    /// Bytes of an element.
    pub elem_size: u32,
    /// The number of the type in PTX ISA, "tensormap.replace", `.elemtype`. `CUtensorMapDataType` orders f64 (9), bf16
    /// (10) and f32 with flushed subnormals (8) differently.
    pub elem_type: u32,
    /// The box that one message moves, the outermost axis first.
    pub block_size: Vec<i64>,
    pub fp4_padded: bool,
    /// This is always false, since descriptors of images are not supported.
    pub is_im2col: bool,
}

impl TensorDesc {
    /// The descriptors among a kernel's parameters that a caller passes and the hardware reads, in order.
    #[must_use]
    pub fn of_kernel(ir: &Ir) -> Vec<TensorDesc> {
        let public = |&f: &Op| Func::of(ir, f).and_then(|f| f.sym_visibility(ir)).is_none_or(|v| v == "public");
        let Some(entry) = ir.functions().into_iter().find(public).and_then(|f| ir.body(f, 0)) else { return vec![] };
        let passed = ir.block_op(entry).map_or(0, |kernel| ArrayMap::passed(ir, kernel));
        ir.args(entry)[..passed].iter().filter_map(|&a| tma_block(ir.ty(a)).ok()).map(TensorDesc::from).collect()
    }
}

impl From<TmaBlock> for TensorDesc {
    fn from(b: TmaBlock) -> TensorDesc {
        TensorDesc {
            swizzle: b.swizzle_mode,
            elem_size: b.element_bytes,
            elem_type: b.element_type,
            block_size: b.box_shape,
            fp4_padded: b.fp4_padded,
            is_im2col: false,
        }
    }
}

impl From<&TensorDesc> for TensorMap {
    fn from(desc: &TensorDesc) -> TensorMap {
        let inner_first: Vec<u32> =
            desc.block_size.iter().rev().map(|&n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
        TensorMap {
            data_type: TensorMap::data_type_of(desc.elem_type),
            rank: inner_first.len() as u32,
            element_bytes: desc.elem_size,
            element_strides: vec![1; inner_first.len()],
            box_dim: inner_first,
            interleave: 0,
            swizzle: desc.swizzle,
            // `CU_TENSOR_MAP_L2_PROMOTION_L2_128B`, as in Triton's launcher.
            l2_promotion: 2,
            fill: 0,
            packed: if desc.fp4_padded { 2 } else { 1 },
        }
    }
}

/// Launch metadata of one kernel. All sizes are in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    pub name: String,
    /// The name of the specialisation that was compiled, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The architecture, such as `sm_90a`.
    pub arch: String,
    /// The number of warps. The block has 32 times as many threads, or `warp_size` times.
    pub num_warps: Option<u32>,
    /// The threads of a warp. The field is absent where that is 32 on every GPU of the vendor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp_size: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub cluster_dims: Option<[u32; 3]>,
    /// How much dynamic shared memory to launch with.
    pub shared: Option<u32>,
    pub global_scratch_size: Option<u32>,
    pub global_scratch_align: Option<u32>,
    /// How many pointer parameters follow the kernel's own. Where this is not known, `params` holds them as well.
    pub hidden_params: Option<u32>,
    /// All parameters behind the kernel's own, where tensor maps are among them that the launch makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Hidden>,
    /// What a caller passes, in order. The file shows those without a settled value, which are the kernel's parameters.
    #[serde(serialize_with = "taken")]
    pub params: Vec<Param>,
    /// One entry for each parameter that is a tensor descriptor, where hardware reads it (from sm_90 on).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tensordesc_meta: Vec<TensorDesc>,
    /// Compile-time parameters and their values, as text.
    pub constants: Option<BTreeMap<String, String>>,
    /// The configuration that was taken, as its file has it. What was compiled is in `constants` and the options above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigInfo>,
    pub maxnreg: Option<u32>,
    /// Options that AMD's GPUs alone have ([`AmdOptions`]); absent on others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix_instr_nonkdim: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kpack: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves_per_eu: Option<u32>,
    /// Registers of a thread. The field is absent until ptxas has run.
    pub registers: Option<u32>,
    /// Bytes of spill stores and loads. The field is absent until ptxas has run.
    pub spills: Option<u32>,
    /// The version of the PTX ISA, such as `8.0`; empty for AMD's GPUs, whose assembly has none.
    pub ptx_version: String,
    /// Identifies what was made: the cubin (or else the PTX) and everything else that this file says. Equal hashes mean
    /// equal bytes, whatever files, tools, options and paths led to them.
    pub hash: String,
    /// The compiler and its LLVM: `ttc 0.1.0 (LLVM 22.1.8)`.
    pub compiler: String,
    /// How to launch the kernel. `None` where the input does not say it.
    pub launch: Option<Descriptor>,
    /// The files that were read: the input and what it imports. The hash does not cover their names.
    pub sources: Vec<String>,
}

impl Metadata {
    /// Takes what code generation says of the memory of a block and of a program.
    pub fn take_memory(&mut self, facts: &Facts) {
        self.shared = Some(facts.shared);
        self.global_scratch_size = Some(facts.global_scratch_size);
        self.global_scratch_align = Some(facts.global_scratch_align.max(1));
    }

    /// Adds these options of the launch.
    #[must_use]
    pub fn with_launch(self, launch: Launch) -> Metadata {
        let Launch { num_warps, num_stages, num_ctas, maxnreg, amd } = launch;
        let AmdOptions { matrix_instr_nonkdim, kpack, waves_per_eu } = amd;
        let (num_warps, num_stages) = (Some(num_warps), Some(num_stages));
        Metadata { num_warps, num_stages, maxnreg, matrix_instr_nonkdim, kpack, waves_per_eu, ..self }
            .with_ctas(Some(num_ctas))
    }

    /// Adds the number of blocks in a cluster.
    #[must_use]
    pub fn with_ctas(self, num_ctas: Option<u32>) -> Metadata {
        Metadata { num_ctas, cluster_dims: num_ctas.map(|n| [n, 1, 1]), ..self }
    }

    /// Adds the hash of what was made, which covers all other fields as well.
    #[must_use]
    pub fn hashed(self, made: &[u8]) -> Metadata {
        let sources = self.sources;
        let rest = Metadata { hash: String::new(), sources: vec![], ..self };
        Metadata { hash: fingerprint([made, &rest.to_json()]), sources, ..rest }
    }

    /// The file's bytes.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_string_pretty(self).expect("metadata holds strings and numbers only");
        text.push('\n');
        text.into_bytes()
    }
}
