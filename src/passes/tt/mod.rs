//! Passes on TTIR, before anybody decides which thread holds what.

mod block_access;
pub mod combine;
pub mod licm;
pub mod loop_aware_cse;
pub mod loop_peeling;
pub mod loop_unroll;
pub mod merge_programs;
pub mod reorder_broadcast;
pub mod rewrite_tensor_descriptor;
pub mod rewrite_tensor_pointer;
pub mod split_rows;
