//! The JSON beside a cubin: what a launcher must know, under Triton's names.
//!
//! Where a compilation starts at a later stage, some of it may be in no text any more ([`super::carried`],
//! [`super::ptx_facts`]). Such a field is `None`, which JSON shows as `null`: a launcher must know that it does not
//! know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ir::{Ir, Op};
use crate::irgen::{ConfigInfo, Launch};
use crate::layout::encodings::{TmaBlock, tma_block};

/// One run-time parameter, in launch order.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    /// As in a signature: `*fp32`, `i32`. Read from PTX it is PTX's word (`u32`, `b8[128]`), and `*` for a pointer.
    #[serde(rename = "type")]
    pub ty: String,
    /// What the compiler was told the value is a multiple of; 1 when nothing.
    pub divisibility: Option<u64>,
}

/// What a launcher must know of a parameter that is a tensor descriptor, to encode it (CUDA driver API,
/// `cuTensorMapEncodeTiled`).
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct TensorDesc {
    /// 0 none, 1 to 3: 32, 64, 128 bytes, as in `CUtensorMapSwizzle`.
    pub swizzle: u32,
    /// Bytes of an element.
    pub elem_size: u32,
    /// PTX ISA, "tensormap.replace", `.elemtype`. `CUtensorMapDataType` has the numbers of f64 (9), bf16 (10) and f32
    /// with flushed subnormals (8) in another order.
    pub elem_type: u32,
    /// The box that one message moves, the outermost axis first.
    pub block_size: Vec<i64>,
    pub fp4_padded: bool,
    /// Always false: descriptors of images are not supported.
    pub is_im2col: bool,
}

impl TensorDesc {
    /// Those of a kernel's parameters that the hardware reads, in order.
    #[must_use]
    pub fn of_kernel(ir: &Ir) -> Vec<TensorDesc> {
        let public = |&f: &Op| ir.str_attr(f, "sym_visibility").is_none_or(|v| v == "public");
        let Some(entry) = ir.functions().into_iter().find(public).and_then(|f| ir.body(f, 0)) else { return vec![] };
        let blocks = ir.args(entry).iter().filter_map(|&a| tma_block(ir.ty(a)).ok());
        let of = |b: TmaBlock| TensorDesc {
            swizzle: b.swizzle_mode,
            elem_size: b.element_bytes,
            elem_type: b.element_type,
            block_size: b.box_shape,
            fp4_padded: b.fp4_padded,
            is_im2col: false,
        };
        blocks.map(of).collect()
    }
}

/// Launch metadata of one kernel. Sizes are in bytes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Metadata {
    pub name: String,
    /// `sm_90a`
    pub arch: String,
    /// The block has `32 * num_warps` threads.
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub cluster_dims: Option<[u32; 3]>,
    /// Dynamic shared memory to launch with.
    pub shared: Option<u32>,
    pub global_scratch_size: Option<u32>,
    pub global_scratch_align: Option<u32>,
    /// Trailing pointer parameters that follow the kernel's own. Where this is not known, `params` holds them as well.
    pub hidden_params: Option<u32>,
    pub params: Vec<Param>,
    /// For each parameter that is a tensor descriptor, where hardware reads it (from sm_90 on).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tensordesc_meta: Vec<TensorDesc>,
    /// Compile-time parameters and their values, as text.
    pub constants: Option<BTreeMap<String, String>>,
    /// The configuration that was taken, as its file has it; `constants` and the options above are what was compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigInfo>,
    pub maxnreg: Option<u32>,
    /// Per thread; absent until ptxas has run.
    pub registers: Option<u32>,
    /// Bytes of spill stores and loads; absent until ptxas has run.
    pub spills: Option<u32>,
    /// PTX ISA version, `8.0`.
    pub ptx_version: String,
    /// Identifies what was made: the cubin (else the PTX) and everything else that this file says. Equal hashes mean
    /// equal bytes, whatever files, tools, options and paths led to them.
    pub hash: String,
    /// `ttc 0.1.0 (LLVM 22.1.8)`
    pub compiler: String,
}

impl Metadata {
    /// With these options of the launch.
    #[must_use]
    pub fn with_launch(self, launch: Launch) -> Metadata {
        let Launch { num_warps, num_stages, num_ctas, maxnreg } = launch;
        Metadata { num_warps: Some(num_warps), num_stages: Some(num_stages), maxnreg, ..self }.with_ctas(Some(num_ctas))
    }

    /// With this many blocks in a cluster.
    #[must_use]
    pub fn with_ctas(self, num_ctas: Option<u32>) -> Metadata {
        Metadata { num_ctas, cluster_dims: num_ctas.map(|n| [n, 1, 1]), ..self }
    }

    /// With the hash of what was made, which goes over all other fields as well.
    #[must_use]
    pub fn hashed(self, made: &[u8]) -> Metadata {
        let rest = Metadata { hash: String::new(), ..self };
        Metadata { hash: fingerprint([made, &rest.to_json()]), ..rest }
    }

    /// The file's bytes.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_string_pretty(self).expect("metadata holds strings and numbers only");
        text.push('\n');
        text.into_bytes()
    }
}

/// FNV-1a over the parts, each followed by its length so that boundaries count: a fingerprint, not a signature.
#[must_use]
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    // 128 bits: offset basis and prime of FNV-1a (draft-eastlake-fnv, section 5).
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut eat = |b: u8| hash = (hash ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    for part in parts {
        part.iter().copied().chain((part.len() as u64).to_le_bytes()).for_each(&mut eat);
    }
    format!("{hash:032x}")
}
