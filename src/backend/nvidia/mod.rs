//! NVIDIA's GPUs: from TTGIR to PTX and cubins.

mod advances;
mod always;
mod assembly;
mod atomics;
mod bases;
mod compares;
mod debug;
mod descriptor;
mod dialect;
mod flags;
mod fp_convert;
mod inductions;
mod intervals;
mod libdevice;
mod llvm;
mod llvm_passes;
mod machine;
mod math;
mod mbarrier;
mod memory;
mod mma;
mod pins;
mod pipelines;
mod pointers;
mod predicates;
mod ptx_builder;
mod ptx_version;
mod shuffles;
mod siblings;
mod sines;
mod starts;
mod strides;
mod sums;
mod tensormap;
mod tma;
mod users;
mod warp;
mod wgmma;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Backend, Binary, Cost, Generator, GpuOptions, Image, Stage, Tools};
use crate::codegen::machine::Machine;
use crate::diag::Diagnostic;
use crate::passes::manager::Pipeline;
use crate::ptxas::{self, Ahead, AssembleOptions, Detail, Part, Tool};
use crate::target::Target;

/// NVIDIA's GPUs.
pub(super) struct NvidiaBackend;

/// What the list of vendors leads to.
pub(super) static BACK_END: NvidiaBackend = NvidiaBackend;

impl Backend for NvidiaBackend {
    fn stages(&self) -> &'static [(Stage, &'static str)] {
        &[
            (Stage::Ttir, "ttir"),
            (Stage::Ttgir, "ttgir"),
            (Stage::Llir, "llir"),
            (Stage::Assembly, "ptx"),
            (Stage::Binary, "cubin"),
            (Stage::Listing, "sass"),
        ]
    }

    fn ttir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::ttir(options)
    }

    fn ttgir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::ttgir(options)
    }

    fn generator(&self) -> Option<&'static dyn Generator> {
        Some(&BACK_END)
    }
}

fn assemble_options<'a>(tools: &Tools<'a>) -> AssembleOptions<'a> {
    AssembleOptions {
        ptxas: tools.assembler,
        line_info: tools.line_info,
        fp_fusion: tools.fp_fusion,
        again: tools.retry,
        shared: tools.shared,
        versions: tools.versions,
        source_name: tools.source_name,
        time_limit: tools.time_limit,
        most_cost: tools.most_cost,
        at_once: true,
        stop: tools.stop,
        ..AssembleOptions::default()
    }
}

impl Generator for NvidiaBackend {
    fn llir(&self, options: &GpuOptions) -> Pipeline {
        pipelines::llir(options)
    }

    fn machine(&self) -> &'static dyn Machine {
        &machine::Nvidia
    }

    fn library(&self) -> Result<PathBuf, Diagnostic> {
        ptxas::find_libdevice(None)
    }

    fn outside(&self, last: Stage, assembler: Option<&Path>) -> Result<Vec<PathBuf>, Diagnostic> {
        let library = self.library().ok().filter(|_| last > Stage::Ttgir);
        let ptxas = (last > Stage::Assembly).then(|| ptxas::find(Tool::Ptxas, assembler));
        let nvdisasm = (last > Stage::Binary).then(|| ptxas::find(Tool::Nvdisasm, None));
        library.map(Ok).into_iter().chain(ptxas).chain(nvdisasm).collect()
    }

    fn ahead(&self, target: &Target, tools: &Tools<'_>) -> Option<Ahead> {
        ptxas::ahead(target, &assemble_options(tools))
    }

    fn knows_cost(&self) -> bool {
        true
    }

    fn may_spill(&self, assembly: &str) -> bool {
        ptxas::may_spill(assembly)
    }

    fn may_spill_less(&self, other: &str, assembly: &str) -> bool {
        ptxas::may_spill_less(other, assembly)
    }

    fn assemble(
        &self,
        assembly: &str,
        target: &Target,
        tools: &Tools<'_>,
        ahead: Option<Ahead>,
    ) -> Result<Binary, Diagnostic> {
        let done = ptxas::assemble(assembly, target, &assemble_options(tools), ahead)?;
        let usage = done.usage();
        let cost = tools.retry.then(|| {
            let (full, few, blocks) = ptxas::cost(&done, assembly, target, tools.shared);
            Cost { full, few, blocks }
        });
        Ok(Binary {
            cost,
            bytes: done.cubin,
            registers: usage.registers,
            spill_stores: usage.spill_stores,
            spill_loads: usage.spill_loads,
            settled: done.settled,
            assembly: done.ptx,
        })
    }

    fn assembler(&self, named: Option<&Path>) -> String {
        ptxas::release(named).map_or_else(|| "ptxas".to_owned(), |release| format!("ptxas {release}"))
    }

    fn list(&self, binary: &[u8], tools: &Tools<'_>) -> Result<String, Diagnostic> {
        let detail = if tools.line_listing { Detail::Lines } else { Detail::Plain };
        ptxas::disassemble(binary, None, detail, tools.time_limit)
    }

    fn lives(&self, binary: &[u8], tools: &Tools<'_>) -> Result<Option<String>, Diagnostic> {
        ptxas::disassemble(binary, None, Detail::Lives, tools.time_limit).map(Some)
    }

    fn registers(&self, _: &str, binary: &[u8]) -> Option<u32> {
        ptxas::registers(binary)
    }

    fn bundle(&self, images: &[Image], time_limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
        let parts: Vec<Part<'_>> = images
            .iter()
            .map(|i| Part { target: i.target, is_ptx: i.stage == Stage::Assembly, bytes: &i.bytes })
            .collect();
        ptxas::bundle(&parts, None, time_limit)
    }

    fn bundle_extension(&self) -> &'static str {
        "fatbin"
    }

    fn work(&self, stage: Stage) -> &'static str {
        match stage {
            Stage::Binary => "ptxas",
            Stage::Listing => "nvdisasm",
            _ => "PTX",
        }
    }
}
