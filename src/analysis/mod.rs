//! Analyses: facts about the IR that passes and codegen ask for. None of them changes the IR.

pub(crate) mod addresses;
pub mod allocation;
pub mod axis_info;
pub mod chained_products;
pub mod check_shared;
pub mod cluster_mbarriers;
pub mod clusters;
pub mod exchange;
pub mod flow;
pub(crate) mod forms;
pub(crate) mod global_order;
pub mod live_range;
pub mod membar;
pub mod prepared;
pub mod programs;
pub mod ranges;
pub mod register_use;
pub mod scratch;
pub mod shared_accesses;
pub mod shared_alias;
pub mod shared_effects;
pub mod slots;
pub(crate) mod stored_ahead;
pub mod touched;
pub mod trips;
