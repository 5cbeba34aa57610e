//! A kernel with arguments by name, made ready for the interpreter.
//!
//! 1. The kernel becomes TTIR as the front end makes it, so that faults point at what the user wrote. The arguments
//!    decide what its signature leaves open.
//! 2. The arguments are laid out in memory, in the order of the parameters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::manual::{self, Bound, Given};
use crate::diag::{Diagnostic, codes};
use crate::driver::input::Language;
use crate::driver::{Job, JobOptions, Stage, request};
use crate::interp::{self, Arg, Memory};
use crate::ir::Ir;
use crate::ir::text::parser::{ParseOptions, parse_module};
use crate::irgen::{KernelInfo, list_kernels, lower_kernel};
use crate::source::SourceMap;

/// Arguments by the names of parameters.
pub type Arguments = BTreeMap<String, Given>;

/// A launch that can begin.
pub struct Ready {
    pub ir: Ir,
    pub kernel: String,
    /// The types that a kernel file was lowered with, as a signature has them.
    pub signature: Option<String>,
    /// The names of the parameters that have arguments, in order.
    pub names: Vec<String>,
    pub args: Vec<Arg>,
    pub memory: Memory,
    pub buffers: Vec<Bound>,
    pub warnings: Vec<Diagnostic>,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
}

/// A kernel as TTIR.
struct Module {
    ir: Ir,
    kernel: String,
    signature: Option<String>,
    /// The names of the kernel's parameters.
    names: Vec<String>,
    warnings: Vec<Diagnostic>,
    printed: Vec<String>,
}

/// Makes the kernel of a job, a kernel file or TTIR, ready to run with these arguments.
///
/// # Errors
/// The diagnostics of the front end; `E0909` for an input that is past TTIR; `E1003` for the arguments.
pub fn ready(
    sources: &mut SourceMap,
    job: &Job,
    options: &JobOptions,
    given: Arguments,
) -> Result<Ready, Vec<Diagnostic>> {
    let Module { ir, kernel, signature, names, warnings, printed } = match job.input.language {
        Language::Source => from_source(sources, job, options, &given)?,
        Language::Ir(_) => from_ir(sources, job)?,
        Language::Llir | Language::Assembly => {
            return Err(request::check_reachable(&job.input, &[Stage::Ttir]).err().into_iter().collect());
        }
    };
    let params = interp::params(&ir, &kernel).map_err(|d| vec![*d])?;
    let mut memory = Memory::new();
    let (args, buffers) = manual::bind(&names, &params, given, &mut memory)?;
    Ok(Ready { ir, kernel, signature, names, args, memory, buffers, warnings, printed })
}

fn from_source(
    sources: &mut SourceMap,
    job: &Job,
    options: &JobOptions,
    given: &Arguments,
) -> Result<Module, Vec<Diagnostic>> {
    let info = kernel_info(sources, job, &options.include)?;
    let signature = match &options.signature {
        Some(s) => s.clone(),
        None => manual::signature(&info, given, &options.types, &options.defines).map_err(|d| vec![d])?,
    };
    let options = JobOptions { signature: Some(signature.clone()), ..options.clone() };
    let job = Job { kernel: Some(info.name), ..job.clone() };
    let lowered = lower_kernel(sources, job.input.file, &request::kernel_request(&job, &options))?;
    Ok(Module {
        ir: lowered.ir,
        kernel: lowered.kernel,
        signature: Some(signature),
        names: lowered.params.into_iter().map(|p| p.name).collect(),
        warnings: lowered.warnings,
        printed: lowered.printed,
    })
}

fn from_ir(sources: &SourceMap, job: &Job) -> Result<Module, Vec<Diagnostic>> {
    let mut ir = parse_module(sources, job.input.file, &ParseOptions::default())?;
    let file = job.input.path.to_string_lossy();
    let kernel = request::choose_kernel(&mut ir, job.kernel.as_deref(), true, &file).map_err(|d| vec![d])?;
    let params = interp::params(&ir, &kernel).map_err(|d| vec![*d])?;
    let names = params.iter().enumerate().map(|(at, p)| p.name.map_or_else(|| at.to_string(), str::to_owned)).collect();
    Ok(Module { ir, kernel, signature: None, names, warnings: vec![], printed: vec![] })
}

/// Reads what a kernel file says about the kernel that is meant.
///
/// # Errors
/// Fails if the file is wrong, if there is no such kernel, or if there are several.
pub fn kernel_info(sources: &mut SourceMap, job: &Job, include: &[PathBuf]) -> Result<KernelInfo, Vec<Diagnostic>> {
    let (kernels, errors) = list_kernels(sources, job.input.file, include);
    if errors.iter().any(Diagnostic::is_error) {
        return Err(errors);
    }
    let fits = |k: &&KernelInfo| job.kernel.as_ref().map_or(k.entry, |n| k.is_called(n));
    let chosen: Vec<&KernelInfo> = kernels.iter().filter(fits).collect();
    if let [one] = chosen[..] {
        return Ok(one.clone());
    }
    // The front end knows how to say what is wrong with the choice.
    let request = request::kernel_request(job, &JobOptions::default());
    let none =
        || vec![Diagnostic::error(&codes::interp::NO_KERNEL, format!("`{}` has no kernel", job.input.path.display()))];
    lower_kernel(sources, job.input.file, &request).and_then(|_| kernels.first().cloned().ok_or_else(none))
}
