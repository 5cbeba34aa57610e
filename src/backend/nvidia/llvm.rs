//! LLVM's NVPTX back end: initialisation, target machines, and what ttc does around it.

use std::fmt::Display;
use std::path::Path;
use std::sync::Once;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target as Registered, TargetData, TargetMachine, TargetTriple,
};
use inkwell::values::FunctionValue;

use super::{
    advances, always, bases, compares, flags, inductions, intervals, libdevice, llvm_passes, pins, pointers,
    predicates, ptx_version, shuffles, siblings, starts, strides, sums,
};
use crate::backend::process;
use crate::codegen::llvm::{Attempt, Effort, InFlight, LlvmTarget};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ptxas::widen_exits;
use crate::target::Target;

/// The triple of every module.
const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Initialises the NVPTX back end, nothing else, once a process.
fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        Registered::initialize_nvptx(&InitializationConfig {
            asm_parser: false,
            asm_printer: true,
            base: true,
            disassembler: false,
            info: true,
            machine_code: true,
        });
        process::set_flags();
    });
}

/// The target machine for an architecture that prints PTX of version `ptx` (78 is PTX 7.8).
///
/// # Errors
/// When LLVM lacks the back end or the architecture.
fn machine(target: &Target, ptx: u32, effort: Effort) -> Result<TargetMachine, Diagnostic> {
    initialize();
    let triple = TargetTriple::create(TRIPLE);
    let failed = |why: &str| {
        Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM has no code generator for {}: {why}", target.name))
    };
    let llvm = Registered::from_triple(&triple).map_err(|e| failed(&e.to_string()))?;
    let features = format!("+ptx{ptx}");
    let level = match effort {
        Effort::Full => OptimizationLevel::Aggressive,
        Effort::Least => OptimizationLevel::None,
    };
    llvm.create_target_machine(&triple, target.name, &features, level, RelocMode::PIC, CodeModel::Default)
        .ok_or_else(|| failed("it made no target machine"))
}

/// See the module documentation.
pub(crate) struct Nvptx;

impl LlvmTarget for Nvptx {
    fn triple(&self) -> &'static str {
        TRIPLE
    }

    fn kernel_convention(&self) -> (u32, &'static str) {
        (71, "ptx_kernel")
    }

    fn machine(&self, target: &Target, version: u32, effort: Effort) -> Result<TargetMachine, Diagnostic> {
        machine(target, version, effort)
    }

    fn version_of_text(&self, text: &str, target: &Target) -> u32 {
        ptx_version::required(text, target)
    }

    fn version_of_parameters(&self, kernel: FunctionValue<'_>, layout: &TargetData) -> Result<u32, Diagnostic> {
        ptx_version::of_parameters(kernel, layout)
    }

    fn passes(&self, module: Option<&Module<'_>>, target: &Target) -> String {
        let slp = target.takes_slp_vectors() && module.is_some_and(llvm_passes::computes_in_16_bits);
        llvm_passes::tensor(slp, module.map_or_else(llvm_passes::Loops::default, llvm_passes::Loops::of))
    }

    fn vectorizes(&self, target: &Target) -> bool {
        target.takes_slp_vectors()
    }

    fn library(&self) -> (&'static str, &'static str) {
        ("libdevice", libdevice::PREFIX)
    }

    fn link_library<'c>(&self, module: &Module<'c>, context: &'c Context, path: &Path) -> Result<Vec<String>, String> {
        libdevice::link(module, context, path)
    }

    fn in_flight(&self, assembly: &str) -> Option<InFlight> {
        let (_, instruction) = assembly.split_once("wgmma.")?;
        if instruction.starts_with("fence") {
            return Some(InFlight::Fence);
        }
        let Some(left) = instruction.strip_prefix("wait_group.sync.aligned") else { return Some(InFlight::Start) };
        let left = left.trim_start().split(|c: char| !c.is_ascii_digit()).next();
        Some(if left == Some("0") { InFlight::End } else { InFlight::Wait })
    }

    fn before_passes(&self, module: &Module<'_>) -> Result<(), Diagnostic> {
        let failed = |e| Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM cannot keep sums behind barriers: {e}"));
        sums::keep(module).map_err(failed)
    }

    fn before_emission(
        &self,
        module: &Module<'_>,
        machine: &TargetMachine,
        attempt: Attempt,
    ) -> Result<bool, Diagnostic> {
        let data = machine.get_target_data();
        let failed =
            |what: &str, e: &dyn Display| Diagnostic::error(&codes::LLVM_FAILED, format!("LLVM cannot {what}: {e}"));
        let run = |passes: &str, what| {
            let passes = format!("function({passes})");
            module.run_passes(&passes, machine, PassBuilderOptions::create()).map_err(|e| failed(what, &e))
        };
        if intervals::decide(module) {
            run(&format!("simplifycfg,{}", llvm_passes::COMBINE), "remove what no comparison leads to")?;
        }
        always::remove(module);
        if shuffles::fold(module) {
            run(llvm_passes::COMBINE, "combine what is between shuffles")?;
        }
        compares::share(module).map_err(|e| failed("compare numbers by their differences", &e))?;
        flags::widen(module).map_err(|e| failed("keep the flags of a loop in numbers", &e))?;
        inductions::hide(module).map_err(|e| failed("hide the counters of loops", &e))?;
        let saves_registers = bases::would_carry(module, &data) || pins::would_pin(module);
        if attempt == Attempt::Sparing {
            bases::carry(module, &data).map_err(|e| failed("give the pointers of a loop one base", &e))?;
            pins::pin(module).map_err(|e| failed("keep numbers in their blocks", &e))?;
        }
        advances::split(module).map_err(|e| failed("split the products that move pointers on", &e))?;
        strides::share(module, &data);
        siblings::carry_one(module, &data).map_err(|e| failed("carry one of the pointers of a loop", &e))?;
        predicates::pack(module).map_err(|e| failed("keep masks in the bits of a register", &e))?;
        pointers::keep_recurrences(module);
        starts::write(module);
        Ok(saves_registers)
    }

    fn after_emission(&self, text: String) -> String {
        widen_exits(without_debug_flag(text))
    }
}

/// Removes `, debug` from the `.target` line: with it ptxas does not optimise. The line table stays.
fn without_debug_flag(ptx: String) -> String {
    let Some(start) = ptx.find(".target ") else { return ptx };
    let end = ptx[start..].find('\n').map_or(ptx.len(), |n| start + n);
    let line = ptx[start..end].replace(", debug", "");
    format!("{}{line}{}", &ptx[..start], &ptx[end..])
}
