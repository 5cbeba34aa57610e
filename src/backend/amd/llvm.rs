//! LLVM's AMDGPU back end: initialisation, target machines, and what ttc does around it.
//!
//! The passes are those of LLVM's `O3` that find something in kernels that ttc lowered, once each: LLVM's own list
//! repeats most of them, and takes twice as long for the same code (docs/amd.md). LLVM IR of others gets all of `O3`.
//! Denormals are kept (`denormal-fp-math-f32` is `ieee`), and multiplications and additions are fused where the
//! compilation asks for it.

use std::path::Path;
use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target as Registered, TargetData, TargetMachine, TargetTriple,
};
use inkwell::values::FunctionValue;

use crate::backend::process;
use crate::codegen::llvm::{Attempt, Effort, InFlight, LlvmTarget};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::target::Target;

/// The triple of every module: the instruction set, and the system whose loader reads the code objects.
pub(super) const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// Initialises the AMDGPU back end, nothing else, once a process. Inline assembly is parsed.
pub(super) fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Registered::initialize_amd_gpu(&InitializationConfig {
            asm_parser: true,
            asm_printer: true,
            base: true,
            disassembler: false,
            info: true,
            machine_code: true,
        });
        process::set_flags();
    });
}

/// The target machine for a processor.
///
/// # Errors
/// When LLVM lacks the back end or the processor.
fn machine(target: &Target, effort: Effort) -> Result<TargetMachine, Diagnostic> {
    initialize();
    let triple = TargetTriple::create(TRIPLE);
    let failed = |why: &str| {
        Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM has no code generator for {}: {why}", target.name))
    };
    let llvm = Registered::from_triple(&triple).map_err(|e| failed(&e.to_string()))?;
    let level = match effort {
        Effort::Full => OptimizationLevel::Aggressive,
        Effort::Least => OptimizationLevel::None,
    };
    llvm.create_target_machine(&triple, target.name, "", level, RelocMode::PIC, CodeModel::Default)
        .ok_or_else(|| failed("it made no target machine"))
}

/// What runs on each function. `constraint-elimination` sees loops that run once at most; `slp-vectorizer` finds pairs
/// for packed instructions. There is no `instcombine` in front of `licm`: with it more addresses leave loops, and a
/// backward attention that takes all registers spills.
const PASSES: [&str; 16] = [
    "infer-address-spaces",
    "sroa<modify-cfg>",
    "early-cse<memssa>",
    "simplifycfg",
    "constraint-elimination",
    "loop-mssa(loop-rotate,licm)",
    "simplifycfg",
    "instcombine<no-verify-fixpoint>",
    "loop(indvars,loop-deletion,loop-unroll-full)",
    "sccp",
    "reassociate",
    "early-cse",
    "slp-vectorizer",
    "vector-combine",
    "simplifycfg<forward-switch-cond;switch-range-to-icmp;sink-common-insts;hoist-common-insts>",
    "instcombine<no-verify-fixpoint>",
];

/// See the module documentation.
pub(crate) struct Amdgcn;

impl LlvmTarget for Amdgcn {
    fn triple(&self) -> &'static str {
        TRIPLE
    }

    fn kernel_convention(&self) -> (u32, &'static str) {
        (91, "amdgpu_kernel")
    }

    fn machine(&self, target: &Target, _: u32, effort: Effort) -> Result<TargetMachine, Diagnostic> {
        machine(target, effort)
    }

    /// The assembly language has no versions.
    fn version_of_text(&self, _: &str, _: &Target) -> u32 {
        0
    }

    fn version_of_parameters(&self, _: FunctionValue<'_>, _: &TargetData) -> Result<u32, Diagnostic> {
        Ok(0)
    }

    fn passes(&self, _: Option<&Module<'_>>, _: &Target) -> String {
        format!("always-inline,function<eager-inv>({}),amdgpu-attributor,globaldce", PASSES.join(","))
    }

    fn vectorizes(&self, _: &Target) -> bool {
        true
    }

    fn library(&self) -> (&'static str, &'static str) {
        ("ocml", "__ocml_")
    }

    /// There is nothing to link: [`super::ocml`] makes the functions where they are called.
    fn link_library<'c>(&self, _: &Module<'c>, _: &'c Context, _: &Path) -> Result<Vec<String>, String> {
        Ok(vec![])
    }

    fn in_flight(&self, _: &str) -> Option<InFlight> {
        None
    }

    fn before_passes(&self, _: &Module<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn before_emission(&self, _: &Module<'_>, _: &TargetMachine, _: Attempt) -> Result<bool, Diagnostic> {
        Ok(false)
    }

    fn written(&self, module: &Module<'_>, machine: &TargetMachine) -> Result<String, String> {
        super::object::emit(module, machine)
    }

    fn after_emission(&self, text: String) -> String {
        text
    }
}
