//! The pipelines of a compilation for NVIDIA's GPUs, as functions of the target and its options: Triton's, with the
//! passes that there are.

use crate::backend::{
    Chains, GpuOptions, Iterations, Loads, Operands, Programs, Refill, Rows, Slots, Stages, Steps, Tma, Versions,
};
use crate::passes::common::{canonicalize, cse, inline, sccp, symbol_dce};
use crate::passes::manager::Pipeline;
use crate::passes::nvidia::pipeline::{refill, rotate};
use crate::passes::nvidia::{fuse_k_steps, late_operands, loads_to_tma};
use crate::passes::ttg::pipeline::{assign_latencies, fit_stages};
use crate::passes::{nvidia, tt, ttg};
use crate::target::Generation;

/// Bytes of a line of memory.
const LINE: u32 = 128;

/// Multiprocessors of an H100, and warps of the blocks that share one where each has room for two programs. A launch of
/// programs that are all there at once gains nothing from fewer blocks.
const MULTIPROCESSORS: u32 = 132;
const WARPS_OF_TWO: u32 = 8;

/// TTIR as the front end makes it to optimised TTIR.
pub(super) fn ttir(options: &GpuOptions) -> Pipeline {
    let mut p = Pipeline::default();
    let target = &options.target;
    p.add(&inline::PASS);
    if !target.has_tma() {
        p.add(&tt::rewrite_tensor_descriptor::PASS);
    } else if !target.has_tensormap_replace() {
        p.add_with(
            &tt::rewrite_tensor_descriptor::PASS,
            &[(tt::rewrite_tensor_descriptor::IF_MADE, "true".to_owned())],
        );
    }
    p.add(&tt::rewrite_tensor_pointer::PASS);
    p.add(&canonicalize::PASS);
    p.add(&tt::combine::PASS);
    p.add(&tt::reorder_broadcast::PASS);
    p.add(&cse::PASS);
    p.add(&symbol_dce::PASS);
    // A row that several steps make together is what a descriptor should describe.
    if options.pipelining.steps == Steps::Fused && options.num_ctas == 1 && target.has_wgmma() {
        let mut chosen = vec![
            ("num-stages", options.num_stages.to_string()),
            ("num-warps", options.num_warps.to_string()),
            (fuse_k_steps::SHARED, target.shared.bytes.to_string()),
        ];
        if options.tma == Tma::Host {
            chosen.push((fuse_k_steps::LAUNCH, "true".to_owned()));
        }
        p.add_with(&fuse_k_steps::PASS, &chosen);
    }
    if options.pipelining.programs != Programs::One && options.num_ctas == 1 && target.has_wgmma() {
        let one_wave = MULTIPROCESSORS * (WARPS_OF_TWO / options.num_warps).max(1);
        let least = if options.pipelining.programs == Programs::Two { 2 } else { one_wave + 1 };
        let fits = options.pipelining.stages == Stages::Fit;
        let least_stages = if fits { fit_stages::LEAST } else { i64::from(options.num_stages) };
        let chosen = [
            (tt::merge_programs::WARPS, options.num_warps.to_string()),
            (tt::merge_programs::LEAST_PROGRAMS, least.to_string()),
            (tt::merge_programs::STAGES, options.num_stages.to_string()),
            (tt::merge_programs::LEAST_STAGES, least_stages.to_string()),
            (tt::merge_programs::SHARED, target.shared.bytes.to_string()),
        ];
        p.add_with(&tt::merge_programs::PASS, &chosen);
    }
    // By default where it was measured to be faster, which was on warp groups of one block.
    let gains = options.num_warps >= 4 && options.num_ctas == 1 && target.has_wgmma();
    let wanted = options.tma == Tma::Device || matches!(options.tma, Tma::Auto | Tma::Host) && gains;
    let (device, host) = (wanted && target.has_tensormap_replace(), options.tma == Tma::Host && target.has_tma());
    if device || host {
        // Each block of a cluster copies its share of a row.
        let row = 16 * options.num_ctas;
        let (drifting, computed) = if options.tma == Tma::Device { (0, 0) } else { (options.num_warps, LINE) };
        let mut chosen = vec![
            (loads_to_tma::DRIFTING_WARPS, drifting.to_string()),
            (loads_to_tma::COMPUTED_ROW, computed.to_string()),
            (loads_to_tma::NUM_STAGES_OPTION, options.num_stages.to_string()),
            (loads_to_tma::WARPS, options.num_warps.to_string()),
            (loads_to_tma::PRODUCTS, "true".to_owned()),
            (loads_to_tma::ONCE, "false".to_owned()),
            (loads_to_tma::LEAST_ROW, row.to_string()),
        ];
        if host {
            chosen.extend([(loads_to_tma::LAUNCH, "true".to_owned()), (loads_to_tma::DEVICE, device.to_string())]);
        }
        p.add_with(&loads_to_tma::PASS, &chosen);
    }
    if options.pipelining.rows == Rows::Split && options.num_ctas == 1 && options.num_warps >= 4 && target.has_wgmma() {
        p.add_with(&tt::split_rows::PASS, &[(tt::split_rows::WARPS, options.num_warps.to_string())]);
    }
    p.add(&tt::loop_unroll::PASS);
    p
}

/// TTIR to TTGIR for an NVIDIA GPU.
pub(super) fn ttgir(options: &GpuOptions) -> Pipeline {
    let mut p = Pipeline::default();
    let target = &options.target;
    if options.pipelining.versions == Versions::Two && options.num_ctas == 1 {
        let chosen = [
            (ttg::multiples::WARPS, options.num_warps.to_string()),
            (ttg::multiples::LANES, target.warp_size().to_string()),
        ];
        p.add_with(&ttg::multiples::PASS, &chosen);
    }
    p.add_with(
        &ttg::convert_from_tt::PASS,
        &[
            ("target", options.target.triton_word()),
            ("num-warps", options.num_warps.to_string()),
            ("threads-per-warp", options.target.warp_size().to_string()),
            ("num-ctas", options.num_ctas.to_string()),
        ],
    );
    let chosen = [ttg::coalesce::DATA_MASKS, ttg::coalesce::AGREE].map(|option| (option, "true".to_owned()));
    p.add_with(&ttg::coalesce::PASS, &chosen);
    p.add_with(&ttg::f32_dot::PASS, &[("emu-tf32", target.has_tf32_mma().to_string())]);
    // Each of the passes that choose layouts is followed by one that spreads them.
    p.add(&nvidia::assign_cga_layouts::PASS);
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&nvidia::optimize_cta_locality::PASS);
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&ttg::optimize_thread_locality::PASS);
    // The module's `cuda:90` stands for sm_90a, as in Triton; the baseline has no `wgmma`.
    if target.generation() == Generation::Hopper && !target.has_wgmma() {
        p.add_with(&nvidia::accelerate_matmul::PASS, &[(nvidia::accelerate_matmul::WGMMA, "false".to_owned())]);
    } else {
        p.add(&nvidia::accelerate_matmul::PASS);
    }
    p.add(&nvidia::two_ctas::PASS);
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&nvidia::optimize_dot_operands::PASS);
    p.add(&nvidia::optimize_descriptor_encoding::PASS);
    p.add(&tt::loop_aware_cse::PASS);
    match target.generation() {
        Generation::Ampere | Generation::Hopper => {
            p.add(&ttg::fuse_nested_loops::PASS);
            p.add(&canonicalize::PASS);
            p.add(&tt::licm::PASS);
            p.add(&canonicalize::PASS);
            if target.has_wgmma() {
                // A select could not wait for the product: it would read a sum that is still under way.
                let chosen = [(nvidia::optimize_accumulator_init::RESETS_ONLY, "true".to_owned())];
                p.add_with(&nvidia::optimize_accumulator_init::PASS, &chosen);
            }
            p.add(&ttg::combine_select_if::PASS);
            pipelined(&mut p, options);
        }
        Generation::Blackwell => {
            p.add(&ttg::fuse_nested_loops::PASS);
            p.add(&canonicalize::PASS);
            p.add(&tt::licm::PASS);
            p.add(&nvidia::optimize_accumulator_init::PASS);
            pipelined(&mut p, options);
            p.add(&ttg::combine_select_if::PASS);
        }
        Generation::Older => p.add(&tt::licm::PASS),
    }
    p.add(&canonicalize::PASS);
    p.add(&tt::loop_aware_cse::PASS);
    if target.generation() == Generation::Ampere {
        p.add(&nvidia::prefetch::PASS);
    }
    p.add(&nvidia::optimize_dot_operands::PASS);
    p.add_with(&ttg::coalesce_async_copy::PASS, &[(ttg::coalesce_async_copy::TRANSPOSED, "true".to_owned())]);
    if target.has_wgmma() {
        p.add(&nvidia::transpose_bytes::PASS);
    }
    if target.has_tma() {
        p.add(&nvidia::tma_lowering::PASS);
    }
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&ttg::reduce_data_duplication::PASS);
    p.add(&ttg::reorder_instructions::PASS);
    p.add(&tt::loop_aware_cse::PASS);
    p.add(&symbol_dce::PASS);
    if target.has_tma() {
        p.add_with(&nvidia::fence_insertion::PASS, &[("compute-capability", target.triton_number().to_string())]);
    }
    p.add(&sccp::PASS);
    p.add(&cse::PASS);
    p.add(&canonicalize::PASS);
    p
}

fn pipelined(p: &mut Pipeline, options: &GpuOptions) {
    let stages = options.num_stages.to_string();
    let fit = options.pipelining.stages == Stages::Fit && options.target.has_wgmma();
    let chosen = [("num-stages", stages.clone()), (assign_latencies::FIT, fit.to_string())];
    p.add_with(&assign_latencies::PASS, &chosen);
    p.add(&ttg::pipeline::schedule_loops::PASS);
    p.add_with(&nvidia::pipeline::software_pipeline::PASS, &[("num-stages", stages)]);
}

/// TTGIR to the form that code generation reads: memory laid out, barriers inserted.
pub(super) fn llir(options: &GpuOptions) -> Pipeline {
    let mut p = Pipeline::default();
    p.add(&ttg::whole_groups::PASS);
    p.add(&ttg::peel_first::PASS);
    p.add(&ttg::unswitch::PASS);
    p.add(&ttg::split_streams::PASS);
    if options.pipelining.iterations == Iterations::Full {
        p.add(&ttg::full_iterations::PASS);
    }
    p.add(&ttg::unroll_streams::PASS);
    if options.pipelining.loads == Loads::Ahead {
        p.add(&ttg::loads_ahead::PASS);
    }
    p.add(&ttg::loads_before_waits::PASS);
    p.add(&nvidia::sums_behind_copies::PASS);
    // What canonicalisation made selects of becomes results of branches again: no pass behind this one undoes it.
    p.add(&ttg::combine_select_if::PASS);
    p.add(&ttg::merge_equal_branches::PASS);
    p.add(&ttg::narrow_divisions::PASS);
    if options.pipelining.versions == Versions::Two && options.num_ctas == 1 {
        p.add(&ttg::whole_vectors::PASS);
    }
    let capability = [("compute-capability", options.target.triton_number().to_string())];
    if options.pipelining.operands == Operands::Kept && options.target.has_wgmma() {
        p.add(&nvidia::keep_operands::PASS);
    }
    if options.pipelining.refill != Refill::Never && options.target.has_tma() {
        let chosen = [
            (refill::MULTICAST, options.pipelining.multicast.to_string()),
            (refill::CHAINED, (options.pipelining.refill == Refill::Chained).to_string()),
        ];
        p.add_with(&refill::PASS, &chosen);
        if options.pipelining.chains == Chains::Rotated {
            p.add(&rotate::PASS);
        }
    }
    if options.target.has_tensormap_replace() {
        p.add(&nvidia::descriptors_side_by_side::PASS);
    }
    if options.num_ctas > 1 {
        p.add_with(&ttg::localize_blocks::PASS, &capability);
    }
    let mut chosen = capability.to_vec();
    chosen.extend(options.maxnreg.map(|n| (late_operands::REGISTERS, n.to_string())));
    p.add_with(&late_operands::PASS, &chosen);
    if options.pipelining.slots == Slots::Spare && options.target.has_wgmma() {
        p.add_with(&nvidia::spare_slots::PASS, &capability);
    }
    p.add_with(&nvidia::copies_before_waits::PASS, &capability);
    p.add_with(&ttg::allocate_shared_memory::PASS, &capability);
    p.add_with(&nvidia::proxy_fences::PASS, &capability);
    p.add_with(&ttg::insert_barriers::PASS, &capability);
    if cfg!(debug_assertions) {
        p.add_with(&ttg::check_shared_memory::PASS, &capability);
    }
    p.add(&ttg::global_scratch::PASS);
    p
}
