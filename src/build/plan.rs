//! What a manifest asks for, as units.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::manifest::{self, Build, Configs, Constant, Kernel, Manifest, Tuned};
use super::tuned::{self, Key};
use super::unit::Unit;
use super::wording;
use crate::backend::{self, Stage, Tma};
use crate::diag::codes::cli;
use crate::diag::suggest::did_you_mean;
use crate::diag::{Diagnostic, Place};
use crate::driver::input::{self, Input};
use crate::driver::launchers::{self, Language};
use crate::driver::request::{self, Choice, ConfigChoice};
use crate::driver::{Job, JobOptions, Variant};
use crate::gpu::lock::{self, Lock};
use crate::irgen::{Given, TypeRule};
use crate::source::{FileId, SourceMap};
use crate::target::{AmdOptions, Target};

/// What the user says of a build beside the manifest.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub manifest: PathBuf,
    /// The folder of the outputs, instead of the manifest's.
    pub out: Option<PathBuf>,
    /// The kernels to build. Without any, all of them.
    pub kernels: Vec<String>,
    /// The architectures, instead of the manifest's.
    pub archs: Vec<String>,
    /// What to make, instead of what the manifest says.
    pub emit: Vec<String>,
    /// The name of what is made of all kernels together, instead of the manifest's.
    pub module: Option<String>,
    pub ptxas: Option<PathBuf>,
    /// How long ptxas may run. `None` sets no limit.
    pub time_limit: Option<Duration>,
    /// Whether to write a list of dependencies in the language of make.
    pub depfile: bool,
}

/// What is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Emit {
    pub(super) stages: BTreeSet<Stage>,
    pub(super) languages: BTreeSet<Language>,
    /// An object file of the launchers in C.
    pub(super) object: bool,
    pub(super) fat_binaries: bool,
}

impl Emit {
    /// The words beside those of stages and of languages.
    const MORE: [&str; 2] = ["fatbin", "o"];

    fn of(words: &[String], at: &Place) -> Result<Emit, Diagnostic> {
        let mut emit = Emit::default();
        for word in words {
            match (Stage::find(word), Language::find(word), word.as_str()) {
                (Some(stage), ..) => _ = emit.stages.insert(stage),
                (_, Some(language), _) => _ = emit.languages.insert(language),
                (.., "fatbin") => emit.fat_binaries = true,
                (.., "o") => emit.object = true,
                _ => return Err(unknown_word(word, at)),
            }
        }
        if emit.object {
            emit.languages.insert(Language::C);
        }
        if emit.fat_binaries || !emit.languages.is_empty() || emit.stages.is_empty() {
            emit.stages.insert(Stage::Binary);
        }
        Ok(emit)
    }
}

fn unknown_word(word: &str, at: &Place) -> Diagnostic {
    let languages = Language::ALL.map(Language::word);
    let known: Vec<&str> = backend::words().into_iter().chain(languages).chain(Emit::MORE).collect();
    let help = did_you_mean(word, known.iter().copied());
    let message = format!("`emit`: `{word}` is no kind of output; expected some of {}", known.join(", "));
    let error = Diagnostic::error(&cli::BAD_MANIFEST, message).at(at.clone(), "");
    help.into_iter().fold(error, Diagnostic::help)
}

/// A manifest that was read: where its outputs go, and what they are.
pub(super) struct Plan {
    pub(super) manifest: Manifest,
    /// The folder that paths in the manifest are relative to.
    root: PathBuf,
    /// The folder of the outputs.
    pub(super) out: PathBuf,
    pub(super) emit: Emit,
    /// The manifest's text.
    pub(super) text: String,
    /// The manifest among the sources.
    file: FileId,
    /// What was tuned. It is empty if no kernel asks for it.
    pub(super) lock: Lock,
    /// The file of that, if there is one and a kernel asks for it.
    pub(super) lock_file: Option<PathBuf>,
    /// The manifest and the kernel files that were read so far.
    pub(super) sources: SourceMap,
}

/// The folder that paths in a manifest are relative to.
fn root(manifest: &Path, build: &Build) -> PathBuf {
    let folder = manifest.parent().unwrap_or(Path::new(""));
    // Joining an empty path would add a slash.
    if build.root.as_os_str().is_empty() { folder.to_owned() } else { folder.join(&build.root) }
}

impl Plan {
    /// Reads a manifest.
    ///
    /// # Errors
    /// `E0901` to `E0904` and `E0950`, with the sources that they point into.
    pub(super) fn read(settings: &Settings) -> Result<Plan, (Vec<Diagnostic>, SourceMap)> {
        let mut sources = SourceMap::default();
        let path = &settings.manifest;
        let read = input::read_text(path).map_err(|d| {
            let missing = d.code == &cli::CANNOT_READ && path.ends_with(manifest::NAME);
            if missing { d.help("name the manifest, `ttc build FOLDER/ttc.toml`, or begin one: `ttc list --manifest FILE > ttc.toml`") } else { d }
        });
        let text = read.map_err(|d| (vec![d], sources.clone()))?;
        let file = sources.add(path.to_string_lossy(), Some(path), text.as_str());
        let at = Place::File(path.to_string_lossy().into_owned());
        let read = manifest::read(&sources, file).and_then(|mut m| {
            if !settings.emit.is_empty() {
                m.build.emit.clone_from(&settings.emit);
            }
            m.build.module = settings.module.clone().unwrap_or(m.build.module);
            launchers::check_name(&m.build.module).map_err(|d| match settings.module {
                Some(_) => d,
                None => {
                    Diagnostic { code: &cli::BAD_MANIFEST, ..d.at(at.clone(), "").note("`module` in `[build]` is it") }
                }
            })?;
            let emit = Emit::of(&m.build.emit, &at)?;
            if let Some(name) = settings.kernels.iter().find(|n| !m.kernel.contains_key(*n)) {
                let help = did_you_mean(name, m.kernel.keys().map(String::as_str));
                let error = Diagnostic::error(&cli::NO_SUCH_KERNEL, format!("the manifest has no kernel `{name}`"));
                return Err(help.into_iter().fold(error.at(at.clone(), ""), Diagnostic::help));
            }
            Ok((m, emit))
        });
        let (manifest, emit) = read.map_err(|d| (vec![d], sources.clone()))?;
        let root = root(path, &manifest.build);
        let tuned = manifest.kernel.values().any(|k| k.tuned != Tuned::No);
        let lock_file = tuned.then(|| root.join(&manifest.build.lock)).filter(|path| path.is_file());
        let lock = lock_file.as_deref().map_or_else(|| Ok(Lock::default()), Lock::read);
        let lock = lock.map_err(|d| (vec![d], sources.clone()))?;
        let out = settings.out.clone().unwrap_or_else(|| root.join(&manifest.build.out));
        // Names in outputs do not depend on where the manifest lies.
        if let Some(prefix) = root.to_str().filter(|p| !p.is_empty()) {
            sources.remap(vec![(format!("{}/", prefix.trim_end_matches('/')), String::new())]);
        }
        Ok(Plan { manifest, root, out, emit, text, file, lock, lock_file, sources })
    }

    /// The units of the manifest, in the order of their kernels' names.
    ///
    /// # Errors
    /// Everything that is wrong with the kernels' options and files.
    pub(super) fn units(&mut self, settings: &Settings) -> Result<Vec<Unit>, Vec<Diagnostic>> {
        let (mut units, mut errors) = (vec![], vec![]);
        let mut inputs: BTreeMap<PathBuf, Result<Input, ()>> = BTreeMap::new();
        let root = self.root.clone();
        let chosen = |name: &String| settings.kernels.is_empty() || settings.kernels.contains(name);
        for (name, kernel) in self.manifest.kernel.clone().iter().filter(|(name, _)| chosen(name)) {
            let path = root.join(&kernel.file);
            let sources = &mut self.sources;
            let input = inputs.entry(path.clone()).or_insert_with(|| {
                input::read(sources, &path, None)
                    .map_err(|d| errors.push(d.note(format!("`[kernel.{name}]` names it"))))
            });
            let Ok(input) = input.clone() else { continue };
            match self.of_kernel(name, kernel, &input, settings) {
                Ok(found) => units.extend(found),
                Err(said) => {
                    let said = said.into_iter().map(|d| self.in_its_words(d, &self.sources, name, settings));
                    let of_command = |d: &Diagnostic| d.code == &cli::UNKNOWN_ARCH;
                    let note = |d: Diagnostic| d.note(format!("`[kernel.{name}]` of the manifest"));
                    errors.extend(said.map(|d| if of_command(&d) { d } else { note(d) }));
                }
            }
        }
        errors.extend(same_launcher(&units));
        if errors.is_empty() { Ok(units) } else { Err(errors) }
    }

    /// A message about a kernel in the words of the manifest. The sources are the plan's, or begin with them.
    pub(super) fn in_its_words(
        &self,
        d: Diagnostic,
        sources: &SourceMap,
        kernel: &str,
        settings: &Settings,
    ) -> Diagnostic {
        wording::of_kernel(d, sources, self.file, kernel, !settings.archs.is_empty())
    }

    /// The files that a build reads, but for those that kernels import.
    pub(super) fn inputs<'a>(&'a self, settings: &'a Settings, units: &'a [Unit]) -> impl Iterator<Item = &'a Path> {
        let own = [Some(&*settings.manifest), self.lock_file.as_deref()];
        own.into_iter().flatten().chain(units.iter().map(|u| &*u.job.input.path))
    }

    /// The units of one file, without those of kernels with which something is wrong.
    pub(super) fn units_of(&mut self, input: &Input, settings: &Settings) -> Vec<Unit> {
        let same = |path: &Path| path == input.path || path.canonicalize().ok() == input.path.canonicalize().ok();
        let kernels = self.manifest.kernel.clone();
        let own = kernels.iter().filter(|(_, kernel)| same(&self.root.join(&kernel.file)));
        let own: Vec<(&String, &Kernel)> = own.collect();
        own.into_iter()
            .flat_map(|(name, kernel)| self.of_kernel(name, kernel, input, settings).unwrap_or_default())
            .collect()
    }

    fn of_kernel(
        &mut self,
        name: &str,
        kernel: &Kernel,
        input: &Input,
        settings: &Settings,
    ) -> Result<Vec<Unit>, Vec<Diagnostic>> {
        let own = [&settings.archs, kernel.archs.as_ref().unwrap_or(&vec![]), &self.manifest.build.archs]
            .into_iter()
            .find(|a| !a.is_empty())
            .cloned()
            .unwrap_or_default();
        let targets: Vec<Target> =
            own.iter().map(|a| Target::parse(a.trim())).collect::<Result<_, _>>().map_err(|d| vec![d])?;
        let function = kernel.function.as_deref().unwrap_or(name);
        let options = self.options(name, kernel, settings);
        request::check_options(&options)?;
        let want: Vec<Stage> = self.emit.stages.iter().copied().collect();
        request::check_reachable(input, &want).map_err(|d| vec![d])?;
        let variants = kernel.variant.iter().map(|(name, v)| Variant {
            name: name.clone(),
            signature: None,
            types: v.types.iter().map(|(n, t)| TypeRule { of_variant: true, ..TypeRule::new(n, t) }).collect(),
            defines: defines(&v.constants),
            given: Given {
                num_warps: v.num_warps,
                num_stages: v.num_stages,
                num_ctas: v.num_ctas,
                maxnreg: v.maxnreg,
                amd: AmdOptions {
                    matrix_instr_nonkdim: v.matrix_instr_nonkdim,
                    kpack: v.kpack,
                    waves_per_eu: v.waves_per_eu,
                },
            },
        });
        let variants: Vec<Variant> = variants.collect();
        let plain = Choice { kernels: vec![function.to_owned()], variants: variants.clone(), ..Choice::default() };
        // Each architecture has been tuned by itself, so each has variants of its own.
        let mut choices: Vec<(Choice, Vec<Vec<Key>>)> = vec![];
        if kernel.tuned == Tuned::No {
            let keys = vec![vec![]; variants.len().max(1)];
            choices.push((Choice { targets, ..plain }, keys));
        } else {
            let file = lock::file_name(&self.root.join(&self.manifest.build.lock), &input.path);
            for target in if targets.is_empty() { vec![Target::usual()] } else { targets } {
                let tuned = tuned::variants(&self.lock, &file, function, target.name, kernel, &variants);
                let (variants, keys): (Vec<Variant>, Vec<Vec<Key>>) = tuned.into_iter().unzip();
                choices.push((Choice { targets: vec![target], variants, ..plain.clone() }, keys));
            }
        }
        let configs: Vec<Option<ConfigChoice>> = match &kernel.config {
            Configs::None => vec![None],
            Configs::All => vec![Some(ConfigChoice::All)],
            Configs::These(list) => list.iter().map(|&n| Some(ConfigChoice::One(n))).collect(),
        };
        let several_configs = kernel.config == Configs::All || configs.len() > 1;
        if several_configs && kernel.tuned != Tuned::No {
            let text =
                format!("`[kernel.{name}]`: `tuned` chooses the configurations, so `config` must not name several");
            return Err(vec![Diagnostic::error(&cli::BAD_MANIFEST, text).help("leave one of the two out")]);
        }
        let mut units = vec![];
        for config in configs {
            for (choice, keys) in &choices {
                let choice = Choice { config, ..choice.clone() };
                let jobs = request::jobs(std::slice::from_ref(input), &mut self.sources, &choice, &options)?;
                let keys_of = |job: &Job| {
                    let at =
                        choice.variants.iter().position(|v| job.variant.as_ref().is_some_and(|w| w.name == v.name));
                    keys[at.unwrap_or(0)].clone()
                };
                units.extend(jobs.into_iter().map(|mut job| {
                    // Launchers make tensor maps, and these are what was measured to be faster.
                    let says_nothing = kernel.tma.or(self.manifest.build.tma).is_none();
                    if says_nothing && !kernel.triton_abi && job.target.has_wgmma() {
                        Arc::make_mut(&mut job.options).tma = Tma::Host;
                    }
                    Unit { kernel: name.to_owned(), keys: keys_of(&job), job, several_configs }
                }));
            }
        }
        Ok(units)
    }

    fn options(&self, name: &str, kernel: &Kernel, settings: &Settings) -> JobOptions {
        let build = &self.manifest.build;
        let renamed = kernel.function.as_ref().is_some_and(|f| f != name);
        JobOptions {
            signature: kernel.signature.clone(),
            types: kernel.types.iter().map(|(n, t)| TypeRule::new(n, t)).collect(),
            defines: defines(&kernel.constants),
            include: kernel.include.iter().chain(&build.include).map(|i| self.root.join(i)).collect(),
            num_warps: kernel.num_warps,
            num_stages: kernel.num_stages,
            num_ctas: kernel.num_ctas,
            maxnreg: kernel.maxnreg,
            amd: AmdOptions {
                matrix_instr_nonkdim: kernel.matrix_instr_nonkdim,
                kpack: kernel.kpack,
                waves_per_eu: kernel.waves_per_eu,
            },
            debug: kernel.debug,
            fp_fusion: build.fp_fusion,
            retry: build.retry,
            line_info: build.line_info,
            triton_abi: kernel.triton_abi,
            tma: kernel.tma.or(build.tma).unwrap_or_default(),
            symbol: renamed.then(|| match &kernel.config {
                Configs::None => name.to_owned(),
                Configs::These(list) if list.len() == 1 => name.to_owned(),
                Configs::These(_) | Configs::All => format!("{name}_{{config}}"),
            }),
            ptxas: settings.ptxas.clone(),
            time_limit: settings.time_limit,
            grid: kernel.grid.clone(),
            ..JobOptions::default()
        }
    }
}

/// Reports kernels whose launchers would have one name: configurations are numbered, and another kernel may be called
/// so.
fn same_launcher(units: &[Unit]) -> Vec<Diagnostic> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let mut errors = vec![];
    for unit in units {
        let name = unit.launcher();
        let other = *known.entry(name.clone()).or_insert(&unit.kernel);
        if other != unit.kernel && !errors.iter().any(|(n, _)| *n == name) {
            let message = format!("`[kernel.{other}]` and `[kernel.{}]` both make `{name}`", unit.kernel);
            let error = Diagnostic::error(&cli::BAD_MANIFEST, message)
                .note("configuration N of a kernel is called KERNEL_N")
                .help("give one of them another name, and name the function with `function`");
            errors.push((name, error));
        }
    }
    errors.into_iter().map(|(_, e)| e).collect()
}

fn defines(constants: &BTreeMap<String, Constant>) -> Vec<(String, String)> {
    constants.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
}
