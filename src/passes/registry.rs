//! Every pass there is, by name.

use super::manager::Pass;
use super::{amd, common, nvidia, tt, ttg};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::diag::suggest::distance;

/// All passes, in the order in which a compilation runs them.
pub static ALL: &[&Pass] = &[
    &common::inline::PASS,
    &tt::rewrite_tensor_pointer::PASS,
    &tt::rewrite_tensor_descriptor::PASS,
    &common::canonicalize::PASS,
    &common::cse::PASS,
    &common::sccp::PASS,
    &common::symbol_dce::PASS,
    &tt::combine::PASS,
    &tt::reorder_broadcast::PASS,
    &common::licm::PASS,
    &tt::loop_aware_cse::PASS,
    &tt::licm::PASS,
    &nvidia::fuse_k_steps::PASS,
    &tt::merge_programs::PASS,
    &tt::split_rows::PASS,
    &ttg::multiples::PASS,
    &nvidia::loads_to_tma::PASS,
    &tt::loop_unroll::PASS,
    &tt::loop_peeling::PASS,
    &ttg::convert_from_tt::PASS,
    &ttg::coalesce::PASS,
    &ttg::coalesce_async_copy::PASS,
    &nvidia::prefetch::PASS,
    &nvidia::tma_lowering::PASS,
    &ttg::remove_layout_conversions::PASS,
    &ttg::f32_dot::PASS,
    &nvidia::assign_cga_layouts::PASS,
    &nvidia::optimize_cta_locality::PASS,
    &ttg::optimize_thread_locality::PASS,
    &nvidia::accelerate_matmul::PASS,
    &nvidia::optimize_dot_operands::PASS,
    &ttg::fuse_nested_loops::PASS,
    &nvidia::optimize_accumulator_init::PASS,
    &nvidia::optimize_descriptor_encoding::PASS,
    &ttg::combine_select_if::PASS,
    &ttg::pipeline::assign_latencies::PASS,
    &ttg::pipeline::schedule_loops::PASS,
    &nvidia::pipeline::software_pipeline::PASS,
    &ttg::reduce_data_duplication::PASS,
    &ttg::reorder_instructions::PASS,
    &amd::accelerate_matmul::PASS,
    &amd::block_pingpong::PASS,
    &amd::coalesce_async_copy::PASS,
    &amd::convert_to_buffer_ops::PASS,
    &amd::count_copies::PASS,
    &amd::fold_true_cmpi::PASS,
    &amd::hoist_layout_conversions::PASS,
    &amd::in_thread_transpose::PASS,
    &amd::move_up_prologue_loads::PASS,
    &amd::optimize_epilogue::PASS,
    &amd::pipeline::PASS,
    &amd::prepare_if_combining::PASS,
    &amd::schedule_loops::PASS,
    &amd::sink_layout_conversions::PASS,
    &nvidia::two_ctas::PASS,
    &nvidia::fence_insertion::PASS,
    &ttg::full_iterations::PASS,
    &ttg::peel_first::PASS,
    &ttg::split_streams::PASS,
    &ttg::unroll_streams::PASS,
    &ttg::unswitch::PASS,
    &ttg::whole_groups::PASS,
    &ttg::whole_vectors::PASS,
    &ttg::loads_ahead::PASS,
    &ttg::loads_before_waits::PASS,
    &nvidia::sums_behind_copies::PASS,
    &ttg::merge_equal_branches::PASS,
    &ttg::narrow_divisions::PASS,
    &nvidia::transpose_bytes::PASS,
    &nvidia::keep_operands::PASS,
    &nvidia::pipeline::refill::PASS,
    &nvidia::pipeline::rotate::PASS,
    &nvidia::descriptors_side_by_side::PASS,
    &nvidia::late_operands::PASS,
    &nvidia::spare_slots::PASS,
    &nvidia::copies_before_waits::PASS,
    &ttg::allocate_shared_memory::PASS,
    &nvidia::proxy_fences::PASS,
    &ttg::insert_barriers::PASS,
    &ttg::localize_blocks::PASS,
    &ttg::check_shared_memory::PASS,
    &ttg::global_scratch::PASS,
    &ttg::print_alignment::PASS,
    &ttg::print_allocation::ALLOCATION,
    &ttg::print_allocation::ALIAS,
];

/// The pass of this name. MLIR's older spelling of a name, Triton's generic name of a pass that it has for each vendor,
/// its name for what it has only as a test, and the name that a pass had before, are found too.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pass> {
    let name = match name {
        "inliner" => "inline",
        "canonicalizer" => "canonicalize",
        "allocate-shared-memory" => "allocate-shared-memory-nv",
        "triton-nvidia-gpu-plan-cta" => "triton-nvidia-gpu-assign-cga-layouts",
        "test-print-membar" => "tritongpu-insert-barriers",
        other => other,
    };
    ALL.iter().copied().find(|p| p.name == name)
}

/// Up to three names that are close to this one: they share a part of it, or are a few edits away.
#[must_use]
pub fn similar(name: &str) -> Vec<&'static str> {
    let mut scored: Vec<(usize, &'static str)> = ALL.iter().map(|p| (distance(name, p.name), p.name)).collect();
    scored.sort_unstable();
    scored.into_iter().filter(|&(d, n)| d <= 2 + name.len() / 4 || n.contains(name)).take(3).map(|s| s.1).collect()
}

/// The pass of this name.
///
/// # Errors
/// `E0601` with names that are near.
pub fn named(name: &str) -> Result<&'static Pass, Diagnostic> {
    find(name).ok_or_else(|| {
        let diagnostic = Diagnostic::error(&codes::UNKNOWN_PASS, format!("there is no pass '{name}'"));
        let similar = similar(name);
        if similar.is_empty() { diagnostic } else { diagnostic.help(format!("similar names: {}", similar.join(", "))) }
    })
}
