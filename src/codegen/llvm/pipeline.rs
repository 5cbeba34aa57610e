//! Which LLVM passes run, and how.
//!
//! The target machine is set before the first of them: without it jump threading and others do not know that barriers are convergent.
//! TENSOR is what a kernel that ttc made needs: it holds no calls but to libdevice, no memory but that of inline PTX, and its loops are
//! the source's. FULL is LLVM's own `O3`, for input that somebody else made.

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

/// LLVM's `O3`.
pub(crate) const FULL: &str = "default<O3>";

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
