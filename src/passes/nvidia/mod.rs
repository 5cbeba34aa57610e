//! Passes for NVIDIA's GPUs: products for the tensor cores, copies by the hardware, fences between proxies.

pub mod accelerate_matmul;
pub mod assign_cga_layouts;
mod blocks;
pub mod copies_before_waits;
pub mod descriptors_side_by_side;
pub mod fence_insertion;
pub mod fuse_k_steps;
pub mod keep_operands;
pub mod late_operands;
pub mod loads_to_tma;
pub mod optimize_accumulator_init;
pub mod optimize_cta_locality;
pub mod optimize_descriptor_encoding;
pub mod optimize_dot_operands;
pub mod pipeline;
pub mod prefetch;
pub mod proxy_fences;
pub mod shared_encodings;
pub mod spare_slots;
pub mod sums_behind_copies;
pub mod tensor_descriptors;
pub mod tma_lowering;
pub mod transpose_bytes;
pub mod two_ctas;
