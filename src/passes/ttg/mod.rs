//! Passes on TTGIR: giving tensors layouts, and taking conversions between layouts out again.

pub mod allocate_shared_memory;
pub mod buffers;
pub mod check_shared_memory;
pub mod coalesce;
pub mod coalesce_async_copy;
pub mod combine_select_if;
pub mod convert_from_tt;
pub mod decompose_scaled;
pub mod f32_dot;
pub mod full_iterations;
pub mod fuse_nested_loops;
pub mod global_scratch;
pub mod infer;
pub mod insert_barriers;
pub mod localize_blocks;
pub mod module_attrs;
pub mod optimize_thread_locality;
pub mod pipeline;
pub mod print_alignment;
pub mod print_allocation;
pub mod reduce_data_duplication;
pub mod remove_layout_conversions;
pub mod reorder_instructions;
pub mod shared_encodings;
pub mod transposed_operands;
pub mod unroll_streams;
