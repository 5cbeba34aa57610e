//! Passes on TTGIR: giving tensors layouts, and taking conversions between layouts out again.

pub mod allocate_shared_memory;
pub mod coalesce;
pub mod convert_from_tt;
pub mod global_scratch;
pub mod infer;
pub mod insert_barriers;
pub mod module_attrs;
pub mod print_alignment;
pub mod print_allocation;
pub mod remove_layout_conversions;
pub mod reorder_instructions;
pub mod two_ctas;
