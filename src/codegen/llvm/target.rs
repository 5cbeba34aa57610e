//! LLVM's NVPTX target: initialisation, process-wide options, target machines.

use std::ffi::CString;
use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine, TargetTriple};

use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::target::Target;

/// The triple of every module.
pub(super) const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Options of the back end that LLVM has only as process-wide flags: 32-bit pointers to shared memory, and `mad.wide`
/// for `a * b + c` with a widening product, both as Triton sets them. Partial redundancies are left, also by the pass
/// that the back end runs itself: removing one splits the edge around a loop, on which the accumulators of `wgmma`
/// would be set a second time, and ptxas would run the products of the loop one by one. Straight-line strength
/// reduction is left out: it is quadratic, half a second on a large kernel and minutes on a tile of 2^18 elements.
/// [`super::strides`] does what matters of it.
const FLAGS: [&str; 5] = ["ttc", "-nvptx-short-ptr", "-nvptx-mad-wide-opt", "-enable-pre=false", "-opt-disable=slsr"];

/// Initialises the NVPTX back end, nothing else, once a process.
fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        LlvmTarget::initialize_nvptx(&InitializationConfig {
            asm_parser: false,
            asm_printer: true,
            base: true,
            disassembler: false,
            info: true,
            machine_code: true,
        });
        let flags: Vec<CString> = FLAGS.iter().filter_map(|f| CString::new(*f).ok()).collect();
        let pointers: Vec<_> = flags.iter().map(|f| f.as_ptr()).collect();
        // SAFETY: valid C strings that outlive the call; a null overview means none.
        unsafe {
            inkwell::llvm_sys::support::LLVMParseCommandLineOptions(
                FLAGS.len() as i32,
                pointers.as_ptr(),
                std::ptr::null(),
            )
        };
    });
}

/// How hard the back end tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effort {
    Full,
    /// Instruction selection alone, for functions on which the passes beside it would take many minutes.
    Least,
}

/// The target machine for an architecture that prints PTX of version `ptx` (78 is PTX 7.8).
///
/// # Errors
/// When LLVM lacks the back end or the architecture.
pub(super) fn machine(target: &Target, ptx: u32, effort: Effort) -> Result<TargetMachine, Diagnostic> {
    initialize();
    let triple = TargetTriple::create(TRIPLE);
    let failed = |why: &str| {
        Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM has no code generator for {}: {why}", target.name))
    };
    let llvm = LlvmTarget::from_triple(&triple).map_err(|e| failed(&e.to_string()))?;
    let features = format!("+ptx{ptx}");
    let level = match effort {
        Effort::Full => OptimizationLevel::Aggressive,
        Effort::Least => OptimizationLevel::None,
    };
    llvm.create_target_machine(&triple, target.name, &features, level, RelocMode::PIC, CodeModel::Default)
        .ok_or_else(|| failed("it made no target machine"))
}
