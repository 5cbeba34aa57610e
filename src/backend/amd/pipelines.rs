//! The pipelines of a compilation for AMD's GPUs, as functions of the target and its options: Triton's, with the passes
//! that there are.

use crate::backend::{GpuOptions, Iterations};
use crate::passes::common::{canonicalize, cse, inline, symbol_dce};
use crate::passes::manager::Pipeline;
use crate::passes::{amd, tt, ttg};

/// TTIR as the front end makes it to optimised TTIR.
pub(super) fn ttir() -> Pipeline {
    let mut p = Pipeline::default();
    p.add(&inline::PASS);
    p.add(&tt::rewrite_tensor_descriptor::PASS);
    p.add(&tt::rewrite_tensor_pointer::PASS);
    p.add(&canonicalize::PASS);
    p.add(&tt::combine::PASS);
    p.add(&tt::reorder_broadcast::PASS);
    p.add(&cse::PASS);
    p.add(&tt::licm::PASS);
    p.add(&symbol_dce::PASS);
    p.add(&tt::loop_unroll::PASS);
    p
}

/// TTIR to TTGIR for an AMD GPU.
pub(super) fn ttgir(options: &GpuOptions) -> Pipeline {
    let mut p = Pipeline::default();
    p.add_with(
        &ttg::convert_from_tt::PASS,
        &[
            ("target", options.target.triton_word()),
            ("num-warps", options.num_warps.to_string()),
            ("threads-per-warp", options.target.warp_size().to_string()),
            ("num-ctas", options.num_ctas.to_string()),
        ],
    );
    p.add(&ttg::coalesce::PASS);
    // No instruction for tf32 is taken apart into three here.
    p.add_with(&ttg::f32_dot::PASS, &[("emu-tf32", "false".to_owned())]);
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&ttg::optimize_thread_locality::PASS);
    p.add_with(
        &amd::accelerate_matmul::PASS,
        &[
            (amd::accelerate_matmul::INSTRUCTION_SIZE, options.amd.matrix_instr_nonkdim.unwrap_or(0).to_string()),
            (amd::accelerate_matmul::K_PACK, options.amd.kpack.unwrap_or(1).to_string()),
        ],
    );
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&amd::optimize_epilogue::PASS);
    p.add(&amd::hoist_layout_conversions::PASS);
    p.add(&amd::sink_layout_conversions::PASS);
    p.add(&ttg::fuse_nested_loops::PASS);
    p.add(&canonicalize::PASS);
    p.add(&tt::licm::PASS);
    p.add(&canonicalize::PASS);
    let async_copy = options.target.copies_ahead_to_shared();
    let pingpong = options.target.alternates_warps();
    p.add_with(&amd::schedule_loops::PASS, &[(amd::schedule_loops::NUM_STAGES_OPTION, options.num_stages.to_string())]);
    p.add_with(
        &amd::pipeline::PASS,
        &[(amd::pipeline::ASYNC_COPY, async_copy.to_string()), (amd::pipeline::PINGPONG, pingpong.to_string())],
    );
    if async_copy {
        p.add(&amd::coalesce_async_copy::PASS);
    }
    p.add(&canonicalize::PASS);
    p.add(&ttg::remove_layout_conversions::PASS);
    p.add(&ttg::reduce_data_duplication::PASS);
    if options.target.turns_operands_in_registers() {
        p.add(&amd::in_thread_transpose::PASS);
        p.add(&ttg::remove_layout_conversions::PASS);
    }
    p.add(&amd::move_up_prologue_loads::PASS);
    if pingpong && options.num_stages > 1 {
        let stages = options.num_stages.to_string();
        p.add_with(&amd::block_pingpong::PASS, &[(amd::block_pingpong::NUM_STAGES, stages)]);
    }
    p.add(&canonicalize::PASS);
    p.add(&amd::convert_to_buffer_ops::PASS);
    p.add(&amd::fold_true_cmpi::PASS);
    p.add(&amd::prepare_if_combining::PASS);
    p.add(&canonicalize::PASS);
    p.add(&cse::PASS);
    p.add(&symbol_dce::PASS);
    p
}

/// TTGIR to the form that code generation reads: memory laid out, barriers inserted.
pub(super) fn llir(options: &GpuOptions) -> Pipeline {
    let mut p = Pipeline::default();
    p.add(&amd::count_copies::PASS);
    p.add(&ttg::whole_groups::PASS);
    p.add(&ttg::unswitch::PASS);
    if options.pipelining.iterations == Iterations::Full {
        p.add(&ttg::full_iterations::PASS);
    }
    // What canonicalisation made selects of becomes results of branches again: no pass behind this one undoes it.
    p.add(&ttg::combine_select_if::PASS);
    p.add(&ttg::narrow_divisions::PASS);
    p.add(&ttg::allocate_shared_memory::PASS);
    p.add(&ttg::insert_barriers::PASS);
    if cfg!(debug_assertions) {
        p.add(&ttg::check_shared_memory::PASS);
    }
    p.add(&ttg::global_scratch::PASS);
    p
}
