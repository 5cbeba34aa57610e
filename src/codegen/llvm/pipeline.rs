//! Which LLVM passes run, and how.
//!
//! The target machine is set before the first of them: without it jump threading and others do not know that barriers are convergent.
//!
//! [`tensor`] is for kernels that ttc lowered: straight-line code of many registers, the source's loops, calls of libdevice only, no memory but
//! that of inline PTX. It resolves `__nvvm_reflect` and inlines first, so that everything after sees the code that stays, then does once what `O3`
//! repeats: scalar clean-up, loop rotation and hoisting, full unrolling, redundancy elimination, vectors for packed 16-bit arithmetic, and a last
//! clean-up. Measured on 31 elementwise kernels at sm_80 and sm_90a, it gave the same machine code as `O3` for
//! 29 and three instructions of 440 more for two, in 60 to 70 % of the time. [`FULL`] is LLVM's own `O3`, for LLVM IR that somebody else made.

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

/// LLVM's `O3`.
pub(super) const FULL: &str = "default<O3>";

/// The pipeline for kernels that ttc lowered, with or without the SLP vectorizer.
pub(super) fn tensor(slp: bool) -> String {
    let clean = "simplifycfg,instcombine<no-verify-fixpoint>";
    let scalar = format!("nvvm-intr-range,sroa<modify-cfg>,early-cse<memssa>,{clean}");
    let loops = format!("loop-mssa(loop-rotate,licm),{clean},loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>");
    let redundancy = "gvn,sccp,bdce,instcombine<no-verify-fixpoint>,reassociate,early-cse";
    let vectors = if slp { "slp-vectorizer,vector-combine" } else { "vector-combine" };
    let last = "simplifycfg<forward-switch-cond;switch-range-to-icmp;sink-common-insts;hoist-common-insts>,instcombine<no-verify-fixpoint>";
    format!("nvvm-reflect,always-inline,function<eager-inv>({scalar},{loops},{redundancy},{vectors},{last}),globaldce")
}

/// Runs a pipeline in the text form of LLVM's `opt -passes=`.
///
/// # Errors
/// LLVM's message when the text names an unknown pass.
pub(super) fn run(module: &Module<'_>, machine: &TargetMachine, passes: &str, slp: bool) -> Result<(), String> {
    let options = PassBuilderOptions::create();
    options.set_loop_unrolling(true);
    options.set_loop_interleaving(true);
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(slp);
    module.run_passes(passes, machine, options).map_err(|e| e.to_string())
}
