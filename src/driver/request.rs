//! Turns a request into jobs: which kernels of which inputs for which architectures. It also checks whether the options
//! make sense.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::{Diagnostic, Place, codes};
use crate::ir::dialects::tt::tt::Func;
use crate::ir::{BuiltinOp, Ir, Op};
use crate::irgen::{self, KernelRequest};
use crate::irgen::{Given, Launch, LaunchFault, TypeRule};
use crate::source::{FileId, SourceMap};
use crate::target::Target;

use super::input::{Input, Language};
use super::job::{Job, JobOptions};
use super::ptx_facts::PtxFacts;
use super::repeated::Seen;
use super::variant::{self, Variant};
use super::{agree, grids};
use crate::backend::{self, Stage};

/// Which configurations of a kernel are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfigChoice {
    One(usize),
    /// All configurations. A kernel without configurations is compiled once.
    All,
}

/// Which kernels are meant, for which GPUs.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The kernels of these names.
    pub kernels: Vec<String>,
    /// Whether a request without a name means every kernel of a file. Otherwise a file must hold exactly one.
    pub all: bool,
    pub config: Option<ConfigChoice>,
    /// The specialisations in which each kernel is compiled. Without any, it is compiled once.
    pub variants: Vec<Variant>,
    /// The GPUs. Without any, a stage file is compiled for the GPU that it was made for, and a kernel for
    /// [`Target::usual`].
    pub targets: Vec<Target>,
}

/// The jobs of a request: every chosen kernel of every input in every variant and every chosen configuration, for every
/// architecture.
///
/// # Errors
/// Fails if the choice is impossible: there is no kernel, there are several, or the name is unknown; or a stage file
/// was made for a GPU that ttc does not know.
pub fn jobs(
    inputs: &[Input],
    sources: &mut SourceMap,
    choice: &Choice,
    options: &JobOptions,
) -> Result<Vec<Job>, Vec<Diagnostic>> {
    let (mut jobs, mut errors) = (vec![], twice(&choice.variants));
    let shared = Arc::new(options.clone());
    let names = Names::of(inputs, sources, choice, options);
    for input in inputs {
        errors.extend(for_kernels_only(input, choice, options));
        let own = match own_targets(input, sources, &choice.targets) {
            Ok(own) => own,
            Err(e) => {
                errors.push(e);
                continue;
            }
        };
        let kernels = match names.kernels(input, sources, choice, options) {
            Ok(kernels) => kernels,
            Err(e) => {
                errors.extend(e);
                continue;
            }
        };
        for kernel in kernels {
            for variant in each(&choice.variants) {
                for &target in &own {
                    let (kernel, input) = (kernel.clone(), input.clone());
                    let job = Job { kernel, variant: variant.cloned(), ..Job::new(input, target, shared.clone()) };
                    match configs(&job, sources, choice.config) {
                        Ok(chosen) => jobs.extend(chosen.into_iter().map(|config| Job { config, ..job.clone() })),
                        Err(e) => errors.extend(e),
                    }
                }
            }
        }
    }
    for job in &jobs {
        let wrong = check_options(&job.settled()).err().unwrap_or_default();
        errors.extend(wrong.into_iter().map(|d| said_by(d, job)));
    }
    let mut seen = Seen::default();
    errors.retain(|d| seen.is_new(d, sources));
    errors.extend(variant::check_symbols(&jobs).err());
    errors.extend(grids::check(&jobs, sources, options));
    for_others(&mut jobs, sources, options);
    if errors.is_empty() { Ok(jobs) } else { Err(errors) }
}

/// Adds who said a wrong option of the launch, if it is not the command line.
fn said_by(d: Diagnostic, job: &Job) -> Diagnostic {
    match &job.variant {
        Some(v) if v.given != Given::default() => d.note(format!("the variant `{}` says so", v.name)),
        _ if job.input.preset.given != Given::default() => d.note("the case file says so"),
        _ => d,
    }
}

/// The variants, or none as the only one.
fn each(variants: &[Variant]) -> Vec<Option<&Variant>> {
    if variants.is_empty() { vec![None] } else { variants.iter().map(Some).collect() }
}

/// Makes an error for each variant whose name another one has.
fn twice(variants: &[Variant]) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let repeated = variants.iter().filter(|v| !seen.insert(v.name.as_str()));
    let error = |v: &Variant| {
        let message = format!("`--variant {}: …`: another variant has this name", v.name);
        Diagnostic::error(&codes::cli::BAD_OPTION, message).help("variants are told apart by their names")
    };
    repeated.map(error).collect()
}

/// Notes for each job which names of `-D` and patterns of `--type` fit a parameter of another kernel of the run, and
/// none of its own.
fn for_others(jobs: &mut [Job], sources: &mut SourceMap, options: &JobOptions) {
    let several = jobs.windows(2).any(|j| (j[0].input.file, &j[0].kernel) != (j[1].input.file, &j[1].kernel));
    if !several {
        return;
    }
    let mut params: BTreeMap<(FileId, Option<String>), Vec<String>> = BTreeMap::new();
    for job in jobs.iter().filter(|j| j.input.language == Language::Source) {
        let key = (job.input.file, job.kernel.clone());
        params.entry(key).or_insert_with(|| {
            let (list, _) = irgen::list_kernels(sources, job.input.file, &options.include);
            let own = list.into_iter().filter(|k| job.kernel.as_ref().map_or(k.entry, |name| k.is_called(name)));
            own.flat_map(|k| k.params).map(|p| p.name).collect()
        });
    }
    for job in jobs {
        let said = job.settled();
        let rules = said.types.into_iter().chain(said.defines.into_iter().map(|(n, _)| TypeRule::new(n, "")));
        let own = (job.input.file, job.kernel.clone());
        let fits = |rule: &TypeRule, mine: bool| {
            params.iter().filter(|(key, _)| (**key == own) == mine).any(|(_, names)| names.iter().any(|n| rule.fits(n)))
        };
        job.for_others = rules.filter(|r| !fits(r, true) && fits(r, false)).map(|r| r.pattern).collect();
    }
}

/// Makes an error for each option that is given although only a kernel file obeys it. A stage file has its types and
/// constants already.
fn for_kernels_only(input: &Input, choice: &Choice, options: &JobOptions) -> Vec<Diagnostic> {
    if input.language == Language::Source {
        return vec![];
    }
    let signature = options.signature.is_some() || choice.variants.iter().any(|v| v.signature.is_some());
    let variant = choice.variants.iter().any(|v| v.signature.is_none());
    let named = options.symbol.is_some() && !matches!(input.language, Language::Ir(_));
    let given = [
        ("--config", choice.config.is_some(), "it has no configurations"),
        ("--signature", signature, "its parameters have their types already"),
        ("--variant", variant, "its parameters have their types already"),
        ("--symbol", named, "its kernel has its name already"),
        ("--type", !options.types.is_empty(), "its parameters have their types already"),
        ("-D", !options.defines.is_empty(), "its constants have their values already"),
    ];
    let error = |(option, _, why): (&str, bool, &str)| {
        Diagnostic::error(
            &codes::cli::BAD_OPTION,
            format!("`{option}`: `{}` is no kernel file, so {why}", input.path.display()),
        )
        .at(Place::File(input.path.display().to_string()), "")
        .help("leave the option out, or start from the kernel")
    };
    given.into_iter().filter(|g| g.1).map(error).collect()
}

/// The GPUs to compile an input for: those that are asked for, each once; or else the input's own; or else the usual
/// one.
fn own_targets(input: &Input, sources: &SourceMap, asked: &[Target]) -> Result<Vec<Target>, Diagnostic> {
    if asked.is_empty() {
        return Ok(vec![agree::target_of(input, sources)?.unwrap_or_else(Target::usual)]);
    }
    let mut targets: Vec<Target> = vec![];
    for &target in asked {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The kernel that a job will compile, as far as that is known before it runs.
#[must_use]
pub fn expected_kernel(job: &Job, sources: &SourceMap) -> Option<String> {
    let text = &sources.file(job.input.file).text;
    if let Some(name) = &job.kernel {
        return Some(name.clone());
    }
    let name = match job.input.language {
        Language::Source => None,
        Language::Ir(_) => {
            text.lines().filter(|l| l.trim_start().starts_with("tt.func") && !l.contains(" private ")).find_map(symbol)
        }
        Language::Llir => {
            let convention = backend::kernel_convention(&job.target)?;
            text.lines().filter(|l| l.starts_with("define") && l.contains(convention)).find_map(symbol)
        }
        Language::Assembly => PtxFacts::of(text).kernel,
    };
    name.filter(|n| !n.is_empty())
}

/// The name behind the first `@` of a line, with or without quotes.
fn symbol(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('@')?;
    let end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-'));
    let name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(end).next(),
    };
    name.map(str::to_owned)
}

/// The names by which kernels are chosen.
struct Names {
    /// The kernels of each kernel file, if several files or names make it matter which file has which.
    known: BTreeMap<FileId, Vec<String>>,
}

impl Names {
    fn of(inputs: &[Input], sources: &mut SourceMap, choice: &Choice, options: &JobOptions) -> Names {
        let files: BTreeSet<FileId> =
            inputs.iter().filter(|i| i.language == Language::Source).map(|i| i.file).collect();
        let mut known = BTreeMap::new();
        if !choice.kernels.is_empty() && files.len() > 1 {
            for file in files {
                let (list, _) = irgen::list_kernels(sources, file, &options.include);
                known.insert(file, list.into_iter().map(|k| k.name).collect());
            }
        }
        Names { known }
    }

    /// The kernels of one input to compile. A `None` stands for the kernel that the stage itself knows (IR, LLVM IR and
    /// PTX). With several files, each gives those of the names that it has; a name that none has is asked of all, since
    /// it may be an alias.
    fn kernels(
        &self,
        input: &Input,
        sources: &mut SourceMap,
        choice: &Choice,
        options: &JobOptions,
    ) -> Result<Vec<Option<String>>, Vec<Diagnostic>> {
        if let Some(name) = &input.preset.kernel {
            return Ok(vec![Some(name.clone())]);
        }
        if !choice.kernels.is_empty() {
            let own = self.known.get(&input.file);
            let somewhere = |name: &String| self.known.values().any(|names| names.contains(name));
            let mut wanted: Vec<Option<String>> = vec![];
            for name in &choice.kernels {
                let here = own.is_none_or(|names| names.contains(name) || !somewhere(name));
                if here && !wanted.contains(&Some(name.clone())) {
                    wanted.push(Some(name.clone()));
                }
            }
            return Ok(wanted);
        }
        if input.language != Language::Source || !choice.all {
            return Ok(vec![None]);
        }
        let (list, errors) = irgen::list_kernels(sources, input.file, &options.include);
        if errors.iter().any(Diagnostic::is_error) {
            return Err(errors);
        }
        let entries: Vec<Option<String>> = list.into_iter().filter(|k| k.entry).map(|k| Some(k.name)).collect();
        // The front end says why there is none.
        Ok(if entries.is_empty() { vec![None] } else { entries })
    }
}

/// The configurations in which a kernel is compiled. The target may decide which ones there are.
fn configs(
    job: &Job,
    sources: &mut SourceMap,
    config: Option<ConfigChoice>,
) -> Result<Vec<Option<usize>>, Vec<Diagnostic>> {
    match config {
        None => Ok(vec![None]),
        Some(_) if job.input.language != Language::Source => Ok(vec![None]),
        Some(ConfigChoice::One(n)) => Ok(vec![Some(n)]),
        Some(ConfigChoice::All) => {
            let kernel = job.kernel.as_deref();
            let all = irgen::list_configs(sources, job.input.file, kernel, &job.options.include, job.target)?;
            Ok(if all.is_empty() { vec![None] } else { all.iter().map(|c| Some(c.index)).collect() })
        }
    }
}

/// The request to the front end, with the options of the job ([`Job::settled`]).
#[must_use]
pub fn kernel_request(job: &Job, options: &JobOptions) -> KernelRequest {
    let given = options.given();
    KernelRequest {
        kernel: job.kernel.clone(),
        signature: options.signature.clone(),
        types: options.types.clone(),
        defines: options.defines.clone(),
        for_others: job.for_others.clone(),
        include_dirs: options.include.clone(),
        config: job.config,
        given,
        settings: irgen::Settings {
            target: job.target,
            launch: given.over(Launch::usual(&job.target)),
            debug: options.debug,
            max_ops: options.max_ops,
        },
    }
}

/// Chooses the kernel of an IR module. It is the named one, and the others are erased. Without a name, it is the first,
/// which must be the only one if what is made describes one kernel (`single`).
///
/// # Errors
/// Fails if there is no kernel of that name, no kernel at all, or several.
pub fn choose_kernel(ir: &mut Ir, wanted: Option<&str>, single: bool, file: &str) -> Result<String, Diagnostic> {
    let is_public = |ir: &Ir, f| !ir.is_private(f);
    let nested = ir.ops(ir.module_block()).any(|op| ir.is(op, BuiltinOp::Module));
    let public: Vec<Op> = ir.functions().into_iter().filter(|&f| is_public(ir, f)).collect();
    let names: Vec<&str> = public.iter().filter_map(|&f| Func::of(ir, f).and_then(|f| f.sym_name(ir))).collect();
    let error = |message: String| {
        Err(Diagnostic::error(&codes::cli::NO_SUCH_KERNEL, message).at(Place::File(file.to_owned()), ""))
    };
    match (wanted, names.as_slice()) {
        (Some(w), all) if all.contains(&w) => {
            for &f in &public {
                if Func::of(ir, f).and_then(|f| f.sym_name(ir)) != Some(w) {
                    ir.erase_op(f);
                }
            }
            Ok(w.to_owned())
        }
        (Some(w), all) => error(format!("`{file}` holds no kernel `{w}`; it holds {}", listed(all))),
        (None, []) if nested => error(format!("`{file}` holds several modules")).map_err(|d| {
            d.help(
                "a compilation takes one module: `ttc opt` reads files of several, so cut the file into one for each",
            )
        }),
        (None, []) => error(format!("`{file}` holds no public function")),
        (None, [first, rest @ ..]) if rest.is_empty() || !single => Ok((*first).to_owned()),
        (None, all) => error(format!("`{file}` holds {} kernels: {}; choose one with `-k`", all.len(), listed(all))),
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
    }
}

/// Checks the numbers of the options against what a launch allows.
///
/// # Errors
/// `E0910` for each that is out of range.
pub fn check_options(options: &JobOptions) -> Result<(), Vec<Diagnostic>> {
    let faults = options.given().over(Launch::default()).faults();
    let error = |LaunchFault { name, value, nearest, expected }| {
        let option = format!("--{}", name.replace('_', "-"));
        Diagnostic::error(&codes::cli::BAD_OPTION, format!("`{option} {value}`: expected {expected}"))
            .help(format!("use `{option} {nearest}`"))
    };
    let errors: Vec<Diagnostic> = faults.into_iter().map(error).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks that a block of this launch fits on the target, and the options that this vendor alone has.
///
/// # Errors
/// `E0910` when it has too many threads, or an option is out of its range.
pub fn check_block(launch: Launch, target: &Target) -> Result<(), Diagnostic> {
    if let Some(LaunchFault { name, value, nearest, expected }) = launch.amd_faults().first() {
        let option = format!("--{}", name.replace('_', "-"));
        let text = format!("`{name}` is {value}: expected {expected}");
        return Err(Diagnostic::error(&codes::cli::BAD_OPTION, text).help(format!("use `{option} {nearest}`")));
    }
    let (warps, most) = (launch.num_warps, target.max_warps());
    if warps <= most {
        return Ok(());
    }
    let text = format!(
        "a block has {warps} warps, but one of {target} has at most {most}: a warp has {} threads, and a block at most {}",
        target.warp_size(),
        Target::MAX_THREADS_PER_BLOCK
    );
    Err(Diagnostic::error(&codes::cli::BAD_OPTION, text).help(format!("use `--num-warps {most}`")))
}

/// Checks that an input can still be turned into each stage.
///
/// # Errors
/// `E0909` when the input is past it.
pub fn check_reachable(input: &Input, want: &[Stage]) -> Result<(), Diagnostic> {
    let enters = match input.language {
        Language::Source => Stage::Ttir,
        Language::Ir(stage) => stage,
        Language::Llir => Stage::Llir,
        Language::Assembly => Stage::Assembly,
    };
    let own = input.path.extension().and_then(|e| e.to_str()).filter(|word| Stage::find(word) == Some(enters));
    match want.iter().find(|&&w| w < enters) {
        None => Ok(()),
        Some(w) => Err(Diagnostic::error(
            &codes::cli::EARLIER_STAGE,
            format!(
                "cannot make {} from `{}`: the input is {} already",
                w.names(),
                input.path.display(),
                own.map_or_else(|| enters.names(), str::to_owned)
            ),
        )
        .at(Place::File(input.path.to_string_lossy().into_owned()), "")),
    }
}
