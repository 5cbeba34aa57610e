//! Passes for AMD's GPUs: matrix instructions, buffer instructions, and what ranges of numbers tell.

pub mod accelerate_matmul;
pub mod block_pingpong;
mod chains;
pub mod coalesce_async_copy;
pub mod convert_to_buffer_ops;
pub mod count_copies;
pub(crate) mod direct_copies;
pub mod fold_true_cmpi;
pub mod hoist_layout_conversions;
pub mod in_thread_transpose;
pub mod move_up_prologue_loads;
pub mod optimize_epilogue;
pub mod pipeline;
pub mod prepare_if_combining;
pub mod schedule_loops;
pub mod sink_layout_conversions;
