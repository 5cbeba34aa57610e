//! Code generation: TTGIR to LLVM IR, and LLVM IR to assembly.
//!
//! 1. `module` walks each kernel, and each function that one calls, once and builds LLVM IR directly, with no dialect
//!    between. A value is the vector of its registers in one thread, in the order of its layout's register
//!    index ([`lower`](mod@self::lower) holds the state, `ops` a file per family of operations).
//! 2. [`Module`] (or [`parse_llir`], for LLVM IR that is the input) runs LLVM and prints assembly.
//!
//! Nothing here is an instruction of a vendor: those stand behind [`machine::Machine`], and what LLVM has to be told of
//! a vendor behind [`llvm::LlvmTarget`]. Back ends implement both ([`crate::backend`]).
//!
//! Which element a register holds is computed from the linear layout alone (`indices`): the lane's and warp's part at
//! run time, the register's part as a constant. Source locations become line tables (`debug_info`).
//!
//! Invariants: the IR is read, never changed; nothing outside this module and the back ends imports inkwell; whatever
//! verified IR holds, the answer is code or a coded diagnostic, never a panic.
//!
//! ```no_run
//! # fn f(ir: &ttc::ir::Ir, target: ttc::target::Target) -> Result<String, Vec<ttc::diag::Diagnostic>> {
//! use ttc::codegen::CodegenOptions;
//! let mut module = ttc::backend::lower(ir, &CodegenOptions::new(target), None)?;
//! module.optimize().map_err(|d| vec![d])?;
//! module.emit_assembly().map_err(|d| vec![d])
//! # }
//! ```

pub(crate) mod bits;
mod debug_info;
mod declared;
pub(crate) mod functions;
mod indices;
pub(crate) mod llvm;
pub(crate) mod lower;
pub(crate) mod machine;
pub(crate) mod memdesc;
mod module;
mod operands_behind;
pub(crate) mod ops;
mod options;
mod region;
mod shared;
mod shared_access;
#[cfg(test)]
mod tests;
mod type_map;
pub(crate) mod warp;

use crate::analysis::prepared::Prepared;
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::{Ir, Op};
use crate::layout::LayoutError;
use machine::Machine;

pub(crate) use llvm::parse_llir;
pub use llvm::{Facts, Module, on_out_of_memory};
pub use options::CodegenOptions;

/// Lowers every kernel of a module of TTGIR, with what it calls, to LLVM IR, not optimised yet. `prepared` holds of the
/// module.
///
/// # Errors
/// All that code generation cannot do with this module: E07xx with the operation's place.
pub(crate) fn lower(
    ir: &Ir,
    options: &CodegenOptions,
    prepared: &Prepared,
    machine: &'static dyn Machine,
) -> Result<Module, Vec<Diagnostic>> {
    module::module(ir, options, prepared, machine)
}

/// The diagnostic for a module that cannot be prepared: a type of an operation has no layout.
pub(crate) fn no_layout(ir: &Ir, op: Op, why: &LayoutError) -> Diagnostic {
    let text = format!("`{}`: {why}", ir.op_name(op));
    lower::located(Diagnostic::error(&codes::NO_LAYOUT, text), ir.loc(op))
}

/// LLVM's version, `22.1.8`.
#[must_use]
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}
