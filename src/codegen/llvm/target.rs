//! A back end of LLVM: what a module for it carries, how its target machine is made, what happens around the passes.

use std::path::Path;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::{FileType, TargetData, TargetMachine};
use inkwell::values::FunctionValue;

use crate::diag::Diagnostic;
use crate::target::Target;

/// How hard a back end tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    Full,
    /// Instruction selection alone, for functions on which the passes beside it would take many minutes.
    Least,
}

/// Which assembly of a kernel it is: the first, or another one because the first spilled registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    First,
    /// With what saves registers at the price of instructions, and with crowded blocks in an order that needs fewer of
    /// them ([`super::order`]).
    Sparing,
}

/// A part of what runs asynchronously on registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InFlight {
    /// Registers that were written before it may be read by what starts behind it.
    Fence,
    /// Something starts.
    Start,
    /// Some of it is waited for.
    Wait,
    /// All of it is waited for.
    End,
}

/// A back end of LLVM. Versions are those of the assembly language, times ten; a vendor without such a thing says 0.
pub(crate) trait LlvmTarget: Sync {
    fn triple(&self) -> &'static str;

    /// The calling convention of kernels: LLVM's number and its name.
    fn kernel_convention(&self) -> (u32, &'static str);

    /// The target machine for assembly of this version.
    ///
    /// # Errors
    /// When LLVM lacks the back end or the architecture.
    fn machine(&self, target: &Target, version: u32, effort: Effort) -> Result<TargetMachine, Diagnostic>;

    /// The version that assembly, or LLVM IR with assembly in it, needs on a target; at least the target's own.
    fn version_of_text(&self, text: &str, target: &Target) -> u32;

    /// The version that a kernel's parameters need.
    ///
    /// # Errors
    /// When no version has room for them.
    fn version_of_parameters(&self, kernel: FunctionValue<'_>, layout: &TargetData) -> Result<u32, Diagnostic>;

    /// The passes for a kernel that ttc lowered, in the form of `opt -passes=`.
    fn passes(&self, module: Option<&Module<'_>>, target: &Target) -> String;

    /// Whether LLVM's vectorizer of straight-line code may run.
    fn vectorizes(&self, target: &Target) -> bool;

    /// The vendor's library of device code: its name, and what its functions start with.
    fn library(&self) -> (&'static str, &'static str);

    /// Links what `module` calls; the names of functions that it still lacks come back.
    ///
    /// # Errors
    /// Why the file cannot be read or linked.
    fn link_library<'c>(&self, module: &Module<'c>, context: &'c Context, path: &Path) -> Result<Vec<String>, String>;

    /// What inline assembly, or a function by its name, has to do with instructions that still work on their registers
    /// when the next one starts. `None` if nothing.
    fn in_flight(&self, assembly: &str) -> Option<InFlight>;

    /// Changes a module before LLVM's passes.
    ///
    /// # Errors
    /// When LLVM fails.
    fn before_passes(&self, module: &Module<'_>) -> Result<(), Diagnostic>;

    /// Changes a module before the back end gets it. Says whether there is something that saves registers at the price
    /// of instructions, which the first attempt leaves out.
    ///
    /// # Errors
    /// When LLVM fails.
    fn before_emission(
        &self,
        module: &Module<'_>,
        machine: &TargetMachine,
        attempt: Attempt,
    ) -> Result<bool, Diagnostic>;

    /// The assembly that the back end writes for a module, which it changes.
    ///
    /// # Errors
    /// LLVM's message, or that the assembly is no text.
    fn written(&self, module: &Module<'_>, machine: &TargetMachine) -> Result<String, String> {
        let buffer = machine.write_to_memory_buffer(module, FileType::Assembly).map_err(|e| e.to_string())?;
        text_of(buffer.as_slice().to_vec())
    }

    /// Changes the assembly that the back end wrote.
    fn after_emission(&self, text: String) -> String;
}

/// What LLVM wrote, as text.
///
/// # Errors
/// When it is none.
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
}
