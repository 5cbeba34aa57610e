//! One job's way through the stages. Each method is a stage and hands over to the next, unless nothing later was asked for.

use std::time::Instant;

use super::input::Language;
use super::metadata::{Metadata, Param, TensorDesc, fingerprint};
use super::observe::Observer;
use super::{Compiled, Debug, Job, Options, Stage, compiler_version, plan};
use crate::codegen::{self, CodegenOptions};
use crate::diag::codes::tools;
use crate::diag::{Diagnostic, Place, Severity};
use crate::ir::Ir;
use crate::ir::text::parser::{ParseOptions, parse_module};
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::irgen;
use crate::irgen::config::Launch;
use crate::layout;
use crate::passes::analysis::clusters;
use crate::passes::manager::{self, Pipeline, Verifier};
use crate::passes::pipelines::{self, GpuOptions};
use crate::passes::remarks::{self, Group, Parameter};
use crate::ptxas::{self, AssembleOptions};
use crate::source::SourceMap;

type Step<T = ()> = Result<T, Vec<Diagnostic>>;

struct Flow<'a> {
    job: &'a Job,
    options: &'a Options,
    want: &'a [Stage],
    debug: &'a Debug,
    made: Compiled,
    /// The options to compile with.
    launch: Launch,
    /// Where the kernel stands in its source.
    kernel_loc: Option<Place>,
}

/// Takes one job through the stages until everything in `want` is made.
///
/// # Errors
/// The errors of the stage that failed, after the warnings that came before it.
pub(super) fn run(job: &Job, sources: &mut SourceMap, options: &Options, want: &[Stage], debug: &Debug) -> Step<Compiled> {
    let metadata = initial_metadata(job, sources, options);
    let launch = options.given().over(Launch::default());
    let mut flow = Flow { job, options, want, debug, launch, made: Compiled { metadata, ..Compiled::default() }, kernel_loc: None };
    match flow.start(sources) {
        Ok(()) => Ok(flow.made),
        Err(errors) => Err(flow.made.diagnostics.into_iter().chain(errors).collect()),
    }
}

/// What is known before anything has run.
fn initial_metadata(job: &Job, sources: &SourceMap, options: &Options) -> Metadata {
    let text = &sources.file(job.input.file).text;
    let settings = format!("{:?} {:?} {:?} {options:?} {}", job.kernel, job.config, job.target, compiler_version());
    let metadata = Metadata {
        arch: job.target.name.to_owned(),
        global_scratch_align: 1,
        hidden_params: if options.triton_abi { 2 } else { 0 },
        hash: fingerprint([text.as_bytes(), settings.as_bytes()]),
        compiler: compiler_version(),
        ..Metadata::default()
    };
    metadata.with_launch(options.given().over(Launch::default()))
}

impl Flow<'_> {
    /// Whether a stage after this one was asked for.
    fn goes_past(&self, stage: Stage) -> bool {
        self.want.iter().any(|&s| s > stage)
    }

    fn timed<T>(&mut self, stage: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        self.made.timings.push((stage, start.elapsed()));
        result
    }

    fn keep(&mut self, stage: Stage, bytes: impl FnOnce(&Self) -> Vec<u8>) {
        if self.want.contains(&stage) {
            let bytes = bytes(self);
            self.made.artifacts.insert(stage, bytes);
        }
    }

    fn name(&mut self, kernel: String) {
        self.made.metadata.name.clone_from(&kernel);
        self.made.kernel = kernel;
    }

    fn start(&mut self, sources: &mut SourceMap) -> Step {
        let file = self.job.input.file;
        match self.job.input.language {
            Language::Source => {
                let ir = self.timed("front end", |f| f.front_end(sources))?;
                self.ttir(ir)
            }
            Language::Ir(_) => {
                let mut ir = self.timed("parse", |_| parse_module(sources, file, &ParseOptions::default()))?;
                ir.set_max_ops(self.options.max_ops);
                let kernel = plan::choose_kernel(&mut ir, self.job.kernel.as_deref(), self.goes_past(Stage::Ptx), &sources.file(file).name);
                self.name(kernel.map_err(|e| vec![e])?);
                let faults = self.timed("verify", |_| layout::verify(&ir));
                if !faults.is_empty() {
                    return Err(faults);
                }
                if ir.stored_attr(ir.module(), "ttg.num-warps").is_some() { self.ttgir(ir) } else { self.ttir(ir) }
            }
            Language::Llir => {
                let text = sources.file(file).text.clone();
                let options = CodegenOptions { source_name: Some(sources.file(file).name.clone()), ..self.codegen_options() };
                let module = self.timed("parse", |_| codegen::parse_llir(&text, &options)).map_err(|e| vec![e])?;
                self.llvm(module)
            }
            Language::Ptx => {
                let text = sources.file(file).text.to_string();
                self.name(plan::ptx_entry(&text).unwrap_or_else(|| self.job.input.stem()));
                self.ptx_of(text, Some(&sources.file(file).name))
            }
        }
    }

    fn front_end(&mut self, sources: &mut SourceMap) -> Step<Ir> {
        let lowered = irgen::lower_kernel(sources, self.job.input.file, &plan::kernel_request(self.job, self.options))?;
        self.made.diagnostics.extend(lowered.warnings);
        self.made.printed.extend(lowered.printed);
        self.made.metadata.params = lowered
            .params
            .into_iter()
            .map(|p| Param { name: p.name, ty: p.ty, divisibility: u64::from(p.divisibility.unwrap_or(1)) })
            .collect();
        self.made.metadata.constants = lowered.constants.into_iter().collect();
        self.made.metadata.config = lowered.config;
        self.launch = lowered.launch;
        self.made.metadata = std::mem::take(&mut self.made.metadata).with_launch(lowered.launch);
        self.name(lowered.kernel);
        Ok(lowered.ir)
    }

    /// TTIR before its passes.
    fn ttir(&mut self, mut ir: Ir) -> Step {
        clusters::check(&ir, self.launch.num_ctas, &self.job.target).map_err(|e| vec![e])?;
        self.passes("TTIR passes", &mut ir, &pipelines::ttir(&self.job.target))?;
        self.keep(Stage::Ttir, |f| f.print(&ir));
        if !self.goes_past(Stage::Ttir) {
            return Ok(());
        }
        self.passes("TTGIR passes", &mut ir, &pipelines::ttgir(&self.gpu_options()))?;
        self.ttgir(ir)
    }

    /// TTGIR after its passes.
    fn ttgir(&mut self, mut ir: Ir) -> Step {
        self.remark(&ir);
        self.made.metadata.tensordesc_meta = TensorDesc::of_kernel(&ir);
        self.keep(Stage::Ttgir, |f| f.print(&ir));
        if !self.goes_past(Stage::Ttgir) {
            return Ok(());
        }
        self.passes("LLVM preparation", &mut ir, &pipelines::llir(&self.gpu_options()))?;
        let options = self.codegen_options();
        let module = self.timed("LLVM IR", |_| codegen::lower(&ir, &options))?;
        self.llvm(module)
    }

    /// LLVM IR before its passes.
    fn llvm(&mut self, mut module: codegen::Module) -> Step {
        if module.needs_libdevice() {
            let path = ptxas::find_libdevice(None).map_err(|e| vec![e])?;
            self.timed("libdevice", |_| module.link_libdevice(&path)).map_err(|e| vec![e])?;
        }
        self.timed("LLVM passes", |_| module.optimize()).map_err(|e| vec![e])?;
        let facts = module.facts().clone();
        if let Some(kernel) = facts.kernels.first() {
            self.name(kernel.clone());
        }
        self.made.metadata.shared = facts.shared;
        self.made.metadata.global_scratch_size = facts.global_scratch_size;
        self.made.metadata.global_scratch_align = facts.global_scratch_align.max(1);
        self.made.metadata.hidden_params = self.made.metadata.hidden_params.max(facts.hidden_params);
        self.made.metadata.num_warps = facts.num_warps;
        self.made.metadata.num_ctas = facts.num_ctas;
        self.made.metadata.cluster_dims = [facts.num_ctas, 1, 1];
        self.keep(Stage::Llir, |_| module.to_llir().into_bytes());
        if !self.goes_past(Stage::Llir) {
            return Ok(());
        }
        let ptx = self.timed("PTX", |_| module.emit_ptx()).map_err(|e| vec![e])?;
        self.ptx(ptx)
    }

    fn ptx(&mut self, ptx: String) -> Step {
        self.ptx_of(ptx, None)
    }

    /// `file`: where the user wrote the PTX; ptxas's complaints point into it.
    fn ptx_of(&mut self, ptx: String, file: Option<&str>) -> Step {
        self.made.metadata.ptx_version = plan::ptx_version(&ptx).unwrap_or_default();
        self.keep(Stage::Ptx, |_| ptx.clone().into_bytes());
        if !self.goes_past(Stage::Ptx) {
            return Ok(());
        }
        let assemble = AssembleOptions {
            ptxas: self.options.ptxas.as_deref(),
            line_info: self.options.line_info,
            fp_fusion: self.options.fp_fusion,
            source_name: file,
            ..AssembleOptions::default()
        };
        let done = self.timed("ptxas", |f| ptxas::assemble(&ptx, &f.job.target, &assemble)).map_err(|e| vec![e])?;
        let usage = done.usage();
        self.made.metadata.registers = Some(usage.registers);
        self.made.metadata.spills = Some(usage.spill_stores + usage.spill_loads);
        self.remark_registers(usage.registers, usage.spill_stores, usage.spill_loads);
        self.keep(Stage::Cubin, |_| done.cubin.clone());
        if !self.goes_past(Stage::Cubin) {
            return Ok(());
        }
        let sass = self.timed("nvdisasm", |_| ptxas::disassemble(&done.cubin, None)).map_err(|e| vec![e])?;
        self.keep(Stage::Sass, |_| sass.into_bytes());
        Ok(())
    }

    /// Runs a pipeline, with everything that was asked to be shown.
    fn passes(&mut self, stage: &'static str, ir: &mut Ir, pipeline: &Pipeline) -> Step {
        let title = format!("{}.{}", self.made.kernel, stage.split(' ').next().unwrap_or(stage).to_lowercase());
        let mut observer = Observer::new(self.debug, self.options.locations, &title);
        let verifier: Verifier = if self.debug.verify_each { layout::verify } else { |_| vec![] };
        let report = self.timed(stage, |_| manager::run(ir, pipeline, verifier, &mut [&mut observer]));
        let (dumps, failed) = observer.finish();
        self.made.dumps.extend(dumps);
        if !report.is_ok() {
            return Err(report.diagnostics);
        }
        let shown =
            |d: &Diagnostic| d.severity != Severity::Remark || Group::of_code(d.code).is_some_and(|g| self.debug.remarks.contains(&g));
        self.made.diagnostics.extend(remarks::without_repetitions(report.diagnostics.into_iter().filter(shown).collect()));
        failed.map_or(Ok(()), |d| Err(vec![d]))
    }

    /// The remarks on final TTGIR that were asked for.
    fn remark(&mut self, ir: &Ir) {
        self.kernel_loc = ir.functions().first().and_then(|&f| ir.loc(f).file_line_col()).map(|(file, line, col)| Place::At {
            file: file.to_string(),
            line,
            col,
        });
        if self.debug.remarks.is_empty() {
            return;
        }
        let parameters: Vec<Parameter> =
            self.made.metadata.params.iter().map(|p| Parameter { name: p.name.clone(), ty: p.ty.clone() }).collect();
        let target = self.job.target;
        let said = self.timed("remarks", |f| remarks::of_module(ir, &f.debug.remarks, target.capability, target.max_shared, &parameters));
        self.made.diagnostics.extend(said);
    }

    /// What ptxas says of registers, if that was asked for.
    fn remark_registers(&mut self, registers: u32, stored: u32, loaded: u32) {
        if !self.debug.remarks.contains(&Group::Spill) {
            return;
        }
        let spilled = if stored + loaded == 0 {
            "nothing is spilled".to_owned()
        } else {
            format!("{stored} bytes of spill stores, {loaded} of spill loads")
        };
        let name = &self.made.kernel;
        let mut remark = Diagnostic::remark(&tools::REGISTER_USE, format!("`{name}` uses {registers} registers a thread; {spilled}"));
        if let Some(place) = &self.kernel_loc {
            remark = remark.at(place.clone(), "");
        }
        if stored + loaded > 0 {
            let more = if self.launch.maxnreg.is_some() { "raise `--maxnreg`, use more warps" } else { "use more warps" };
            remark = remark.help(format!("{more} or smaller blocks, so that a thread holds fewer elements"));
        }
        self.made.diagnostics.push(remark);
    }

    fn gpu_options(&self) -> GpuOptions {
        GpuOptions {
            target: self.job.target,
            num_warps: self.launch.num_warps,
            num_ctas: self.launch.num_ctas,
            num_stages: self.launch.num_stages,
        }
    }

    fn codegen_options(&self) -> CodegenOptions {
        let o = self.options;
        CodegenOptions {
            num_warps: self.launch.num_warps,
            num_ctas: self.launch.num_ctas,
            fp_fusion: o.fp_fusion,
            maxnreg: self.launch.maxnreg,
            lineinfo: o.line_info,
            triton_abi: o.triton_abi,
            ..CodegenOptions::new(self.job.target)
        }
    }

    fn print(&self, ir: &Ir) -> Vec<u8> {
        print_module(ir, &PrintOptions { locations: self.options.locations, ..PrintOptions::default() }).into_bytes()
    }
}
