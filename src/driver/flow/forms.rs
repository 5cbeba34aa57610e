//! What a form of a kernel's TTGIR is compiled with, and how. The first form goes through the stages with everything
//! that was asked for; another one needs its binary alone, so it may be compiled by another thread.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::binary::{self, About};
use super::{Step, timings};
use crate::backend::{self, Binary, Generator, GpuOptions, Pipelining, Stage, Tools};
use crate::codegen::{CodegenOptions, Facts, Module};
use crate::driver::job::{Job, JobOptions};
use crate::ir::Ir;
use crate::irgen::Launch;
use crate::passes::manager;
use crate::ptxas::Stop;

/// Times of stages.
pub(super) type Times = Vec<(&'static str, Duration)>;

/// What all forms of a kernel are compiled with.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) job: &'a Job,
    pub(super) options: &'a JobOptions,
    pub(super) launch: Launch,
}

/// A form as assembly.
pub(super) struct Form {
    pub(super) module: Module,
    pub(super) assembly: String,
    pub(super) about: About,
}

/// A form as a binary.
pub(super) struct Made {
    pub(super) facts: Facts,
    pub(super) assembly: String,
    pub(super) binary: Binary,
}

fn timed<T>(times: &mut Times, stage: &'static str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    timings::add(times, stage, start.elapsed());
    result
}

impl Settings<'_> {
    fn generator(self) -> Step<&'static dyn Generator> {
        backend::generator(&self.job.target).map_err(|e| vec![e])
    }

    pub(super) fn gpu_options(self) -> GpuOptions {
        GpuOptions {
            target: self.job.target,
            num_warps: self.launch.num_warps,
            num_ctas: self.launch.num_ctas,
            num_stages: self.launch.num_stages,
            maxnreg: self.launch.maxnreg,
            tma: self.options.tma,
            pipelining: self.options.pipelining.unwrap_or_default(),
            amd: self.launch.amd,
        }
    }

    pub(super) fn codegen_options(self) -> CodegenOptions {
        let o = self.options;
        CodegenOptions {
            num_warps: self.launch.num_warps,
            num_ctas: self.launch.num_ctas,
            fp_fusion: o.fp_fusion && self.job.target.fuses_products(),
            maxnreg: self.launch.maxnreg,
            waves_per_eu: self.launch.amd.waves_per_eu,
            lineinfo: o.line_info,
            triton_abi: o.triton_abi,
            ..CodegenOptions::new(self.job.target)
        }
    }

    pub(super) fn optimize(self, module: &mut Module, times: &mut Times) -> Step {
        if module.needs_library() {
            let path = self.generator()?.library().map_err(|e| vec![e])?;
            timed(times, "libdevice", || module.link_library(&path)).map_err(|e| vec![e])?;
        }
        timed(times, "LLVM passes", || module.optimize()).map_err(|e| vec![e])
    }

    /// The assembly of LLVM IR after its passes. Where it is assembled, the module stays for another order of its
    /// instructions.
    pub(super) fn emit(self, module: &mut Module, is_assembled: bool, times: &mut Times) -> Step<String> {
        if self.options.retry && is_assembled {
            module.keep().map_err(|e| vec![e])?;
        }
        let work = backend::work(&self.job.target, Stage::Assembly);
        timed(times, work, || module.emit_assembly()).map_err(|e| vec![e])
    }

    /// Compiles TTGIR to assembly with other choices.
    pub(super) fn form(self, mut ir: Ir, choose: impl FnOnce(&mut Pipelining), times: &mut Times) -> Step<Form> {
        let mut options = self.gpu_options();
        choose(&mut options.pipelining);
        let pipeline = backend::llir(&options).map_err(|e| vec![e])?;
        let report = timed(times, "LLVM preparation", || manager::run(&mut ir, &pipeline, |_| vec![], &mut []));
        if !report.is_ok() {
            return Err(report.diagnostics);
        }
        let options = self.codegen_options();
        let mut module = timed(times, "LLVM IR", || backend::lower(&ir, &options, report.prepared))?;
        let about = About { shared: Some(module.facts().shared), versions: binary::versions(&ir) };
        drop(ir);
        self.optimize(&mut module, times)?;
        let assembly = self.emit(&mut module, true, times)?;
        Ok(Form { module, assembly, about })
    }

    /// Compiles TTGIR to a binary with other choices. Where code costs more than `most`, the assembler is asked once.
    pub(super) fn binary(
        self,
        ir: Ir,
        choose: impl FnOnce(&mut Pipelining),
        most: &OnceLock<f64>,
        stop: Option<&Stop>,
        times: &mut Times,
    ) -> Step<Made> {
        let (generator, target) = (self.generator()?, self.job.target);
        // It loads while LLVM works.
        let ahead = generator.ahead(&target, &binary::tools(self.options, None, About::default()));
        let Form { module, assembly, about } = self.form(ir, choose, times)?;
        let tools = Tools { most_cost: Some(most), stop, ..binary::tools(self.options, None, about) };
        let work = backend::work(&target, Stage::Binary);
        let binary =
            timed(times, work, || generator.assemble(&assembly, &target, &tools, ahead)).map_err(|e| vec![e])?;
        Ok(Made { facts: module.facts().clone(), assembly, binary })
    }
}
