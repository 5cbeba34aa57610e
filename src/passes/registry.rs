//! Every pass there is, by name.

use super::manager::Pass;
use super::{common, nvidia, tt, ttg};

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
    &tt::loop_unroll::PASS,
    &tt::loop_peeling::PASS,
    &ttg::convert_from_tt::PASS,
    &ttg::coalesce::PASS,
    &ttg::coalesce_async_copy::PASS,
    &nvidia::prefetch::PASS,
    &nvidia::tma_lowering::PASS,
    &ttg::remove_layout_conversions::PASS,
    &nvidia::f32_dot::PASS,
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
    &nvidia::two_ctas::PASS,
    &nvidia::fence_insertion::PASS,
    &ttg::full_iterations::PASS,
    &ttg::unroll_streams::PASS,
    &ttg::allocate_shared_memory::PASS,
    &nvidia::proxy_fences::PASS,
    &ttg::insert_barriers::PASS,
    &ttg::check_shared_memory::PASS,
    &ttg::global_scratch::PASS,
    &ttg::print_alignment::PASS,
    &ttg::print_allocation::ALLOCATION,
    &ttg::print_allocation::ALIAS,
];

/// The pass of this name. MLIR's older spelling of a name, Triton's generic name of a pass that it has for each vendor,
/// and its name for what it has only as a test, are found too.
#[must_use]
pub fn find(name: &str) -> Option<&'static Pass> {
    let name = match name {
        "inliner" => "inline",
        "canonicalizer" => "canonicalize",
        "allocate-shared-memory" => "allocate-shared-memory-nv",
        "test-print-membar" => "tritongpu-insert-barriers",
        other => other,
    };
    ALL.iter().copied().find(|p| p.name == name)
}

/// Up to three names that are close to this one: they share a part of it, or are a few edits away.
#[must_use]
pub fn similar(name: &str) -> Vec<&'static str> {
    let mut scored: Vec<(usize, &'static str)> = ALL.iter().map(|p| (edits(name, p.name), p.name)).collect();
    scored.sort_unstable();
    scored.into_iter().filter(|&(d, n)| d <= 2 + name.len() / 4 || n.contains(name)).take(3).map(|s| s.1).collect()
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
