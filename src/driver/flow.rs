//! One job's way through the stages. Each method is a stage and hands over to the next one, unless nothing later was
//! asked for.

mod binary;
mod forms;

use std::time::Instant;

use self::forms::{Settings, Times};
use super::cached::Memo;
use super::cached::key::Behind;
use super::call::{self, Call};
use super::carried::{self, Carried};
use super::input::Language;
use super::job::{Compiled, Debug, Job, JobOptions, compiler_version};
use super::metadata::{Metadata, Param, TensorDesc};
use super::observe::Observer;
use super::ptx_facts::PtxFacts;
use super::{agree, params, request, timings, variant};
use crate::analysis::clusters;
use crate::analysis::prepared::Prepared;
use crate::backend::{self, Generator, Stage, Stages};
use crate::codegen::{CodegenOptions, Module};
use crate::diag::codes::cli;
use crate::diag::codes::codegen::{KERNEL_NAME, SHARED_LIMIT};
use crate::diag::{Diagnostic, Place, Severity};
use crate::ir::dialects::discardable::NUM_WARPS;
use crate::ir::text::parser::{ParseOptions, parse_module};
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::ir::{Attr, Ir};
use crate::irgen;
use crate::irgen::{Given, Launch};
use crate::layout;
use crate::passes::manager::{self, Pipeline, Verifier};
use crate::passes::remarks::{self, Group, Parameter};
use crate::passes::ttg::allocate_shared_memory;
use crate::ptxas::Ahead;
use crate::source::{FileId, SourceMap};
use crate::target::AmdOptions;

type Step<T = ()> = Result<T, Vec<Diagnostic>>;

struct Flow<'a, 'm> {
    job: &'a Job,
    /// The options of the user, and those that the input carries.
    options: JobOptions,
    want: &'a [Stage],
    debug: &'a Debug,
    made: Compiled,
    /// What the user said about the launch.
    given: Given,
    /// The options to compile with.
    launch: Launch,
    /// Where the kernel stands in its source.
    kernel_loc: Option<Place>,
    /// The compilation as the cache sees it.
    memo: Option<&'a mut Memo<'m>>,
    /// The assembler that waits for its input.
    ahead: Option<Ahead>,
    /// TTGIR of which there are other forms, until it is known what its assembly costs.
    spare: Option<binary::Spare>,
    /// How many versions of the code the assembly has.
    versions: u32,
}

/// Takes one job through the stages until everything in `want` is made. A `memo` may know what the stages behind the
/// front end make, and keeps what was made.
///
/// # Errors
/// The errors of the stage that failed, after the warnings that came before it.
pub(super) fn run(
    job: &Job,
    sources: &mut SourceMap,
    want: &[Stage],
    debug: &Debug,
    memo: Option<&mut Memo<'_>>,
) -> Step<Compiled> {
    let metadata = Metadata {
        arch: job.target.name.to_owned(),
        warp_size: job.target.warp_sizes_differ().then(|| job.target.warp_size()),
        compiler: compiler_version(),
        variant: job.variant.as_ref().map(|v| v.name.clone()),
        ..Metadata::default()
    };
    let options = job.settled();
    let said = options.given();
    let given = Given { amd: said.amd.for_target(&job.target), ..said };
    let launch = given.over(Launch::usual(&job.target)).for_target(&job.target);
    let made = Compiled { metadata, ..Compiled::default() };
    let mut flow = Flow {
        job,
        given,
        options,
        want,
        debug,
        launch,
        made,
        kernel_loc: None,
        memo,
        ahead: None,
        spare: None,
        versions: 1,
    };
    match flow.start(sources) {
        Ok(()) => {
            flow.finish();
            if let Some(memo) = flow.memo {
                memo.keep(&flow.made, sources);
            }
            flow.made.diagnostics.iter_mut().for_each(|d| name_files(d, sources));
            Ok(flow.made)
        }
        Err(errors) => {
            let mut said: Vec<Diagnostic> = flow.made.diagnostics.into_iter().chain(errors).collect();
            said.iter_mut().for_each(|d| name_files(d, sources));
            Err(said)
        }
    }
}

/// Where the kernel of a module stands in its source.
fn kernel_place(ir: &Ir) -> Option<Place> {
    let (file, line, col) = ir.loc(*ir.functions().first()?).file_line_col()?;
    Some(Place::At { file: file.to_string(), line, col })
}

/// The names of files, as the user gave them or as imports lead to them.
fn names(sources: &SourceMap, files: &[FileId]) -> Vec<String> {
    files.iter().map(|&f| sources.remapped(&sources.file(f).name).into_owned()).collect()
}

/// Gives files in a diagnostic the names that the user knows, since locations in IR may have others.
pub(super) fn name_files(d: &mut Diagnostic, sources: &SourceMap) {
    for label in &mut d.labels {
        if let Place::At { file, .. } | Place::File(file) = &mut label.place
            && let Some(name) = sources.original(file)
        {
            name.clone_into(file);
        }
    }
}

impl Flow<'_, '_> {
    fn generator(&self) -> Step<&'static dyn Generator> {
        backend::generator(&self.job.target).map_err(|e| vec![e])
    }

    /// Whether a stage after this one was asked for.
    fn goes_past(&self, stage: Stage) -> bool {
        self.want.iter().any(|&s| s > stage)
    }

    fn timed<T>(&mut self, stage: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        timings::add(&mut self.made.timings, stage, start.elapsed());
        result
    }

    fn keep(&mut self, stage: Stage, bytes: impl FnOnce(&Self) -> Vec<u8>) {
        if self.want.contains(&stage) {
            let bytes = bytes(self);
            self.made.artifacts.insert(stage, bytes);
        }
    }

    /// Keeps a stage's text, together with its metadata line.
    fn keep_text(&mut self, stage: Stage, text: impl FnOnce(&Self) -> String) {
        self.keep(stage, |f| carried::append(text(f), stage, &f.made.metadata, &f.options).into_bytes());
    }

    fn name(&mut self, kernel: String) {
        self.job.choose_grid(&kernel, &mut self.options);
        self.made.metadata.name.clone_from(&kernel);
        self.made.kernel = kernel;
    }

    /// Gives the kernel the name that `--symbol` asks for. Files keep the name that it has in the input.
    fn rename(&mut self, ir: &mut Ir) -> Step {
        let kernel = &self.made.kernel;
        let Some(symbol) = variant::symbol(self.job, kernel).filter(|s| s != kernel) else {
            return Ok(());
        };
        if ir.function(&symbol).is_some() {
            let text = format!("`--symbol {symbol}`: the module has another function of this name");
            return Err(vec![Diagnostic::error(&cli::BAD_OPTION, text).help("choose another name")]);
        }
        if let Some(func) = ir.function(kernel) {
            ir.set_attr(func, "sym_name", Attr::str(&symbol));
        }
        self.made.metadata.name = symbol;
        Ok(())
    }

    /// The name of the input.
    fn file<'s>(&self, sources: &'s SourceMap) -> &'s str {
        &sources.file(self.job.input.file).name
    }

    fn start(&mut self, sources: &mut SourceMap) -> Step {
        backend::check_stages(&self.job.target, self.want).map_err(|e| vec![e])?;
        self.made.files = vec![self.job.input.file];
        self.made.metadata.sources = names(sources, &self.made.files);
        match self.job.input.language {
            Language::Source => {
                let mut ir = self.timed("front end", |f| f.front_end(sources))?;
                self.rename(&mut ir)?;
                if self.recall(&ir, sources) { Ok(()) } else { self.ttir(ir) }
            }
            Language::Ir(_) => self.start_at_ir(sources),
            Language::Llir => self.start_at_llir(sources),
            Language::Assembly => self.start_at_ptx(sources),
        }
    }

    fn start_at_ir(&mut self, sources: &SourceMap) -> Step {
        let file = self.job.input.file;
        let mut ir = self.timed("parse", |_| parse_module(sources, file, &ParseOptions::default()))?;
        ir.set_max_ops(self.options.max_ops);
        agree::module(&ir, self.job.target, self.file(sources), &sources.file(file).text).map_err(|e| vec![e])?;
        let kernel = request::choose_kernel(
            &mut ir,
            self.job.kernel.as_deref(),
            self.goes_past(Stage::Assembly),
            self.file(sources),
        );
        self.name(kernel.map_err(|e| vec![e])?);
        let carried = self.carried(sources)?.unwrap_or_default();
        let faults = self.timed("verify", |_| layout::verify(&ir));
        if !faults.is_empty() {
            return Err(faults);
        }
        self.resume(&carried);
        let said = carried.given();
        if let Some(func) = ir.function(&self.made.kernel) {
            self.made.metadata.params = params::of_kernel(&ir, func, carried.params);
        }
        self.rename(&mut ir)?;
        if !ir.stores(ir.module(), NUM_WARPS) {
            self.made.metadata = std::mem::take(&mut self.made.metadata).with_launch(self.launch);
            return self.ttir(ir);
        }
        let number = |name: &str| ir.int_attr(ir.module(), name).and_then(|v| u32::try_from(v).ok());
        let (num_warps, num_ctas) = (number("ttg.num-warps"), Some(number("ttg.num-ctas").unwrap_or(1)));
        let (maxnreg, waves_per_eu) = (self.launch.maxnreg, self.launch.amd.waves_per_eu);
        let amd = AmdOptions { waves_per_eu, ..said.amd };
        let known = Given { num_warps, num_ctas, num_stages: said.num_stages, maxnreg, amd };
        self.settled(known, self.file(sources))?;
        self.launch = known.over(self.launch);
        let metadata = std::mem::take(&mut self.made.metadata).with_launch(self.launch);
        self.made.metadata = Metadata { num_stages: carried.num_stages, ..metadata };
        self.ttgir(ir)
    }

    fn start_at_llir(&mut self, sources: &SourceMap) -> Step {
        let text = sources.file(self.job.input.file).text.clone();
        let kernel = request::expected_kernel(self.job, sources);
        let own = carried::find(&text, kernel.as_deref(), self.file(sources)).map_err(|e| vec![e])?;
        agree::llir(&text, own.as_ref(), self.job.target, self.file(sources)).map_err(|e| vec![e])?;
        let carried = own.clone().unwrap_or_default();
        self.job.choose_grid(&carried.kernel, &mut self.options);
        let grid = self.options.grid.clone();
        self.resume(&carried);
        self.take(&carried, grid.as_deref())?;
        let options =
            CodegenOptions { source_name: Some(self.file(sources).to_owned()), ..self.settings().codegen_options() };
        let module =
            self.timed("parse", |_| backend::parse_llir(&carried::without(&text), &options)).map_err(|e| vec![e])?;
        self.name(module.facts().kernels.first().cloned().unwrap_or_default());
        let file = Some(self.file(sources));
        // A text that ttc wrote has LLVM's passes behind it.
        if own.is_some() { self.optimized(module, file) } else { self.llvm(module, file) }
    }

    fn start_at_ptx(&mut self, sources: &SourceMap) -> Step {
        let text = sources.file(self.job.input.file).text.clone();
        let facts = PtxFacts::of(&text);
        agree::ptx(&facts, self.job.target, self.file(sources)).map_err(|e| vec![e])?;
        self.name(facts.kernel.clone().unwrap_or_else(|| self.job.input.stem()));
        let carried = self.carried(sources)?.unwrap_or_default();
        let grid = self.options.grid.clone();
        self.resume(&carried);
        self.take(&carried, grid.as_deref())?;
        self.describe(&facts, self.file(sources))?;
        self.made.metadata.ptx_version = facts.version.unwrap_or_default();
        self.settle(Some(facts.programmatic));
        self.keep(Stage::Assembly, |_| text.as_bytes().to_vec());
        self.assemble(&carried::without(&text), Some(self.file(sources)))
    }

    /// Reads what the input carries of the kernel.
    fn carried(&self, sources: &SourceMap) -> Step<Option<Carried>> {
        let file = sources.file(self.job.input.file);
        carried::find(&file.text, Some(&self.made.kernel), &file.name).map_err(|e| vec![e])
    }

    /// Goes on with the options that the input carries. What the user gives wins where it still can.
    fn resume(&mut self, carried: &Carried) {
        carried.set_options(&mut self.options);
        let usual = Launch::usual(&self.job.target);
        self.launch = self.given.over(carried.given().over(usual)).for_target(&self.job.target);
        (self.options.maxnreg, self.options.amd) = (self.launch.maxnreg, self.launch.amd);
        self.made.metadata.constants.clone_from(&carried.constants);
        self.made.metadata.config.clone_from(&carried.config);
        self.made.metadata.variant.clone_from(&carried.variant);
        self.made.metadata.tensordesc_meta.clone_from(&carried.tensordesc_meta);
    }

    /// Takes from the input what only code generation knows.
    fn take(&mut self, carried: &Carried, given_grid: Option<&str>) -> Step {
        let m = &mut self.made.metadata;
        m.num_stages = carried.num_stages;
        m.shared = carried.shared;
        m.global_scratch_size = carried.global_scratch_size;
        m.global_scratch_align = carried.global_scratch_align;
        m.hidden_params = carried.hidden_params;
        m.params.clone_from(&carried.params);
        m.launch.clone_from(&carried.launch);
        call::set_grid(m, given_grid).map_err(|e| vec![e])
    }

    /// Completes the metadata of a compilation that began behind code generation with what the PTX says. Where both say
    /// something, the PTX is right.
    fn describe(&mut self, facts: &PtxFacts, file: &str) -> Step {
        let known = Given {
            num_warps: facts.num_warps,
            num_ctas: facts.num_ctas,
            maxnreg: facts.maxnreg,
            num_stages: self.made.metadata.num_stages,
            amd: AmdOptions::default(),
        };
        self.settled(known, file)?;
        let m = &mut self.made.metadata;
        if self.options.triton_abi && m.hidden_params != Some(2) {
            let text = format!("`--triton-abi`: the parameters of `{}` in `{file}` are settled already", m.name);
            return Err(vec![Diagnostic::error(&cli::BAD_OPTION, text).help("start from TTGIR or from the kernel")]);
        }
        (m.num_warps, m.maxnreg) = (facts.num_warps, facts.maxnreg);
        m.shared = if facts.shared == Some(0) { Some(0) } else { m.shared };
        if m.params.is_empty() {
            // Nothing was carried, so these are all parameters of the PTX, the hidden ones among them.
            m.params.clone_from(&facts.params);
            m.hidden_params = if facts.params.is_empty() { Some(0) } else { m.hidden_params };
        }
        self.made.metadata = std::mem::take(&mut self.made.metadata).with_ctas(facts.num_ctas);
        Ok(())
    }

    /// Checks the user's options against what the input has settled.
    fn settled(&self, known: Given, file: &str) -> Step {
        let errors = agree::settled(self.given, known, file);
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Takes what is known of the launch into its descriptor.
    fn settle(&mut self, programmatic: Option<bool>) {
        call::settle(&mut self.made.metadata, &self.job.target, programmatic);
    }

    /// Adds what can be said when everything is made.
    fn finish(&mut self) {
        let made = [Stage::Binary, Stage::Assembly]
            .iter()
            .find_map(|s| self.made.artifacts.get(s))
            .cloned()
            .unwrap_or_default();
        self.made.metadata = std::mem::take(&mut self.made.metadata).hashed(&made);
    }

    fn front_end(&mut self, sources: &mut SourceMap) -> Step<Ir> {
        let lowered =
            irgen::lower_kernel(sources, self.job.input.file, &request::kernel_request(self.job, &self.options))?;
        self.made.diagnostics.extend(lowered.warnings);
        self.made.printed.extend(lowered.printed);
        self.made.metadata.params = lowered
            .params
            .into_iter()
            .map(|p| Param {
                name: p.name,
                ty: p.ty,
                divisibility: Some(u64::from(p.divisibility.unwrap_or(1))),
                equals: p.equals,
            })
            .collect();
        self.made.metadata.constants = Some(lowered.constants.into_iter().collect());
        self.made.metadata.config = lowered.config;
        self.made.metadata.sources = names(sources, &lowered.files);
        self.made.files = lowered.files;
        self.made.trail = lowered.trail;
        self.launch = lowered.launch.for_target(&self.job.target);
        self.made.metadata = std::mem::take(&mut self.made.metadata).with_launch(self.launch);
        self.name(lowered.kernel);
        self.job.take_grid_of_case(&self.made.metadata, &mut self.options);
        Ok(lowered.ir)
    }

    /// Takes what the later stages make from the cache, if it is there.
    fn recall(&mut self, ir: &Ir, sources: &mut SourceMap) -> bool {
        let Some(memo) = &mut self.memo else { return false };
        let start = Instant::now();
        let behind = Behind { job: self.job, options: &self.options, launch: self.launch, made: &self.made, ir };
        let Some(later) = memo.recall(&behind, sources) else { return false };
        let Compiled {
            kernel,
            artifacts,
            metadata,
            diagnostics,
            files: _,
            trail: _,
            timings: _,
            printed: _,
            dumps: _,
            passes: _,
            lives: _,
            slow_assembler: _,
        } = later;
        (self.made.kernel, self.made.artifacts, self.made.metadata) = (kernel, artifacts, metadata);
        self.made.diagnostics.extend(diagnostics);
        self.made.timings.push(("cache", start.elapsed()));
        true
    }

    /// Goes on from TTIR before its passes.
    fn ttir(&mut self, mut ir: Ir) -> Step {
        clusters::check(&ir, self.launch.num_ctas, &self.job.target).map_err(|e| vec![e])?;
        request::check_block(self.launch, &self.job.target).map_err(|e| vec![e])?;
        self.start_assembler();
        self.passes("TTIR passes", &mut ir, &backend::ttir(&self.settings().gpu_options()))?;
        self.keep_text(Stage::Ttir, |f| f.print(&ir));
        if !self.goes_past(Stage::Ttir) {
            return Ok(());
        }
        let ir = self.ttgir_that_fits(ir)?;
        self.ttgir(ir)
    }

    /// TTGIR with the stages that were asked for. Where these take more shared memory than a block can have, with the
    /// most that do not, if there is such a number: loops may have a slot more than stages, and the author may have had
    /// another GPU in mind. Two are two then: by default a chain of products gets three for them where its buffers fit,
    /// and what its conversions need besides may not.
    fn ttgir_that_fits(&mut self, ttir: Ir) -> Step<Ir> {
        let (asked, target) = (self.launch.num_stages, self.job.target);
        let may = asked > 1 && self.settings().gpu_options().pipelining.stages == Stages::Fit;
        let (kept, said) = (may.then(|| ttir.clone()), self.made.diagnostics.len());
        let mut first = ttir;
        self.passes("TTGIR passes", &mut first, &backend::ttgir(&self.settings().gpu_options()))?;
        let Some((kept, excess)) = kept.zip(allocate_shared_memory::excess(&first, &target)) else { return Ok(first) };
        let remarks = self.made.diagnostics.split_off(said);
        for stages in (2..asked.max(3)).rev() {
            self.launch.num_stages = stages;
            let (mut ir, mut options) = (kept.clone(), self.settings().gpu_options());
            if stages == 2 {
                options.pipelining.stages = Stages::Asked;
            }
            self.passes("TTGIR passes", &mut ir, &backend::ttgir(&options))?;
            if allocate_shared_memory::excess(&ir, &target).is_none() {
                if stages == asked {
                    return Ok(ir);
                }
                let (needed, most) = (target.shared.bytes + excess, target.shared.bytes);
                let text = format!(
                    "the kernel gets {stages} stages instead of {asked}, with which it needs {needed} bytes of shared memory"
                );
                let diag = Diagnostic::warning(&SHARED_LIMIT, text)
                    .note(format!("a block on {} can have {most}", target.name))
                    .help(format!("`--num-stages {stages}` asks for as many"));
                self.made.diagnostics.push(match kernel_place(&ir) {
                    Some(place) => diag.at(place, ""),
                    None => diag,
                });
                self.made.metadata = std::mem::take(&mut self.made.metadata).with_launch(self.launch);
                return Ok(ir);
            }
            self.made.diagnostics.truncate(said);
        }
        self.launch.num_stages = asked;
        self.made.diagnostics.extend(remarks);
        Ok(first)
    }

    /// Goes on from TTGIR after its passes.
    fn ttgir(&mut self, mut ir: Ir) -> Step {
        self.remark(&ir);
        self.made.metadata.tensordesc_meta = TensorDesc::of_kernel(&ir);
        let call = ir.function(&self.made.metadata.name).map(|kernel| Call::of(&ir, kernel)).unwrap_or_default();
        self.keep_text(Stage::Ttgir, |f| f.print(&ir));
        if !self.goes_past(Stage::Ttgir) {
            return Ok(());
        }
        self.check_name()?;
        if self.options.triton_abi && call.has_maps() {
            let text = "`--triton-abi`: Triton's launcher does not make the tensor maps that this kernel takes";
            let error = Diagnostic::error(&cli::BAD_OPTION, text);
            return Err(vec![error.help("compile with `--tma device`, or leave out `--triton-abi`")]);
        }
        self.start_assembler();
        self.keep_spare(&ir);
        let pipeline = backend::llir(&self.settings().gpu_options()).map_err(|e| vec![e])?;
        let prepared = self.passes("LLVM preparation", &mut ir, &pipeline)?;
        let options = self.settings().codegen_options();
        let module = self.timed("LLVM IR", |_| backend::lower(&ir, &options, prepared))?;
        let facts = module.facts();
        self.versions = binary::versions(&ir);
        let m = &mut self.made.metadata;
        m.take_memory(facts);
        m.hidden_params = Some(facts.hidden_params);
        m.num_warps = Some(facts.num_warps);
        self.made.metadata = std::mem::take(&mut self.made.metadata).with_ctas(Some(facts.num_ctas));
        let kernel = ir.function(&self.made.metadata.name);
        if let Some(name) = facts.kernels.first() {
            self.made.metadata.name.clone_from(name);
            if self.options.symbol.is_none() {
                self.made.kernel.clone_from(name);
            }
        }
        if let Some(kernel) = kernel {
            let grid = self.options.grid.as_deref();
            let made = call.descriptor(&ir, kernel, &self.made.metadata, grid).map_err(|e| vec![e])?;
            self.made.metadata.launch = made;
        }
        // LLVM needs the memory: a large kernel's operations take hundreds of megabytes.
        drop(ir);
        self.llvm(module, None)
    }

    /// Checks that the kernel's name is one in PTX (PTX ISA, "Identifiers"). Names of functions that a kernel calls are
    /// changed to fit, but a launcher looks for the kernel's own.
    fn check_name(&self) -> Step {
        let name = &self.made.metadata.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$');
        if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
            return Ok(());
        }
        let text = format!(
            "`{}` cannot be a kernel's name in PTX: only letters from a to z, digits, `_` and `$`",
            name.escape_debug()
        );
        let error = Diagnostic::error(&KERNEL_NAME, text).help("rename the kernel");
        Err(vec![match &self.kernel_loc {
            Some(place) => error.at(place.clone(), ""),
            None => error,
        }])
    }

    /// LLVM IR before its passes. `file` is where the user wrote it.
    fn llvm(&mut self, mut module: Module, file: Option<&str>) -> Step {
        self.with_settings(|settings, times| settings.optimize(&mut module, times))?;
        self.optimized(module, file)
    }

    /// LLVM IR after its passes.
    fn optimized(&mut self, mut module: Module, file: Option<&str>) -> Step {
        self.settle(None);
        self.keep_text(Stage::Llir, |_| module.to_llir());
        if !self.goes_past(Stage::Llir) {
            return Ok(());
        }
        let is_assembled = self.goes_past(Stage::Assembly);
        let ptx = self.with_settings(|settings, times| settings.emit(&mut module, is_assembled, times))?;
        let (ptx, binary) = self.tried_again(module, ptx)?;
        let facts = PtxFacts::of(&ptx);
        if let Some(file) = file {
            self.describe(&facts, file)?;
        }
        self.made.metadata.ptx_version = facts.version.unwrap_or_default();
        self.settle(Some(facts.programmatic));
        self.keep_text(Stage::Assembly, |_| ptx.clone());
        binary.map_or(Ok(()), |binary| self.keep_binary(binary))
    }

    /// Runs a pipeline and shows everything that was asked for.
    fn passes(&mut self, stage: &'static str, ir: &mut Ir, pipeline: &Pipeline) -> Step<Option<Prepared>> {
        let stem = self.debug.naming.stem(self.job, &self.made.kernel);
        let title = format!("{stem}.{}", stage.split(' ').next().unwrap_or(stage).to_lowercase());
        let mut observer = Observer::new(self.debug, self.options.locations, stage, &title);
        let verifier: Verifier = if self.debug.verify_each { layout::verify } else { |_| vec![] };
        let report = self.timed(stage, |_| manager::run(ir, pipeline, verifier, &mut [&mut observer]));
        let (dumps, passes, failed) = observer.finish();
        self.made.dumps.extend(dumps);
        self.made.passes.extend(passes);
        if !report.is_ok() {
            return Err(report.diagnostics);
        }
        let shown = |d: &Diagnostic| {
            d.severity != Severity::Remark || Group::of_code(d.code).is_some_and(|g| self.debug.remarks.contains(&g))
        };
        self.made
            .diagnostics
            .extend(remarks::without_repetitions(report.diagnostics.into_iter().filter(shown).collect()));
        failed.map_or(Ok(report.prepared), |d| Err(vec![d]))
    }

    /// Makes the remarks on final TTGIR that were asked for.
    fn remark(&mut self, ir: &Ir) {
        self.kernel_loc = kernel_place(ir);
        if self.debug.remarks.is_empty() {
            return;
        }
        let taken = self.made.metadata.params.iter().filter(|p| p.equals.is_none());
        let parameters: Vec<Parameter> = taken.map(|p| Parameter { name: p.name.clone(), ty: p.ty.clone() }).collect();
        let target = self.job.target;
        let said = self.timed("remarks", |f| remarks::of_module(ir, &f.debug.remarks, &target, &parameters));
        self.made.diagnostics.extend(said);
    }

    fn settings(&self) -> Settings<'_> {
        Settings { job: self.job, options: &self.options, launch: self.launch }
    }

    /// Runs stages that other forms have too, and keeps their times.
    fn with_settings<T>(&mut self, work: impl FnOnce(Settings<'_>, &mut Times) -> T) -> T {
        let settings = Settings { job: self.job, options: &self.options, launch: self.launch };
        work(settings, &mut self.made.timings)
    }

    fn print(&self, ir: &Ir) -> String {
        print_module(ir, &PrintOptions { locations: self.options.locations, ..PrintOptions::default() })
    }
}
