//! AMD's GPUs: from TTGIR to assembly and code objects.
//!
//! Everything behind TTGIR follows Triton's order on AMD: shared memory is placed and barriers inserted as on any
//! vendor, lowering writes through [`machine::Amd`], LLVM's own `O3` runs with the target machine set, and the assembly
//! becomes a code object by LLVM's assembler ([`object`]) and a linker ([`link`]), both in this process. Where one of
//! them does not take what it gets, or the user names another, LLVM's programs do the step.

mod atomics;
mod buffer;
mod bundle;
mod copies;
mod debug;
mod dialect;
mod dot;
mod facts;
mod fp_convert;
mod inline_asm;
mod link;
mod llvm;
mod machine;
mod math;
mod memory;
mod mfma;
mod object;
mod ocml;
mod pipelines;
mod raw;
mod threads;
mod wmma;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Backend, Binary, Generator, GpuOptions, Image, Stage, Tools};
use crate::codegen::machine::Machine;
use crate::diag::Diagnostic;
use crate::passes::manager::Pipeline;
use crate::ptxas::{self, Ahead, Tool, code_object};
use crate::target::Target;

/// AMD's GPUs.
pub(super) struct AmdBackend;

/// What the list of vendors leads to.
pub(super) static BACK_END: AmdBackend = AmdBackend;

impl Backend for AmdBackend {
    fn stages(&self) -> &'static [(Stage, &'static str)] {
        &[
            (Stage::Ttir, "ttir"),
            (Stage::Ttgir, "ttgir"),
            (Stage::Llir, "llir"),
            (Stage::Assembly, "amdgcn"),
            (Stage::Binary, "hsaco"),
            (Stage::Listing, "isa"),
        ]
    }

    fn ttir(&self, _: &GpuOptions) -> Pipeline {
        pipelines::ttir()
    }

    fn ttgir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::ttgir(options)
    }

    fn generator(&self) -> Option<&'static dyn Generator> {
        Some(&BACK_END)
    }
}

impl Generator for AmdBackend {
    fn llir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::llir(options)
    }

    fn machine(&self) -> &'static dyn Machine {
        &machine::Amd
    }

    fn library(&self) -> Result<PathBuf, Diagnostic> {
        Ok(PathBuf::new())
    }

    fn outside(&self, last: Stage, _: Option<&Path>) -> Result<Vec<PathBuf>, Diagnostic> {
        // These two are asked where ttc's own parts do not suffice, and need not be there.
        let made_by = [Tool::LlvmMc, Tool::Lld].map(|tool| ptxas::find(tool, None));
        let made_by = made_by.into_iter().filter_map(Result::ok);
        match last {
            Stage::Listing => made_by.map(Ok).chain([ptxas::find(Tool::Objdump, None)]).collect(),
            Stage::Binary => Ok(made_by.collect()),
            _ => Ok(vec![]),
        }
    }

    fn assemble(
        &self,
        assembly: &str,
        target: &Target,
        tools: &Tools<'_>,
        _: Option<Ahead>,
    ) -> Result<Binary, Diagnostic> {
        let bytes = code_object(assembly, target, tools.time_limit)?;
        let facts = facts::Facts::of(assembly);
        let (registers, spill_stores) = (facts.registers, facts.scratch);
        Ok(Binary { bytes, registers, spill_stores, spill_loads: 0, settled: false, cost: None, assembly: None })
    }

    fn assembler(&self, _: Option<&Path>) -> String {
        "LLVM's assembler".to_owned()
    }

    fn list(&self, binary: &[u8], tools: &Tools<'_>) -> Result<String, Diagnostic> {
        code_object::disassemble(binary, tools.line_listing, tools.time_limit)
    }

    fn lives(&self, _: &[u8], _: &Tools<'_>) -> Result<Option<String>, Diagnostic> {
        Ok(None)
    }

    fn registers(&self, assembly: &str, _: &[u8]) -> Option<u32> {
        Some(facts::Facts::of(assembly).registers).filter(|&n| n > 0)
    }

    fn bundle(&self, images: &[Image], _: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
        Ok(bundle::bundle(images))
    }

    fn bundle_extension(&self) -> &'static str {
        "hipfb"
    }

    fn work(&self, stage: Stage) -> &'static str {
        match stage {
            Stage::Binary => "code object",
            Stage::Listing => "llvm-objdump",
            _ => "amdgcn",
        }
    }
}

/// The code object of an assembly text.
fn code_object(assembly: &str, target: &Target, limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
    let own = |tool| !ptxas::is_named(tool);
    let object = match own(Tool::LlvmMc).then(|| object::assemble(assembly, target)).flatten() {
        Some(object) => object,
        None => code_object::assemble(assembly, target, limit)?,
    };
    match own(Tool::Lld).then(|| link::link(&object)).flatten() {
        Some(linked) => Ok(linked),
        None => code_object::link(&object, target.name, limit),
    }
}
