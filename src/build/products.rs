//! What is made of several units: fat binaries, launchers, an object file, an index, a list of dependencies.
//!
//! A file whose content is as before keeps its time, so that nothing that depends on it is built again for its sake.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::Folder;
use super::object;
use super::plan::{Plan, Settings};
use super::record::{Output, Record};
use super::tuned;
use super::unit::Unit;
use crate::backend::{self, Image, Stage};
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::driver::launchers;
use crate::launch::{Descriptor, Variant};
use crate::target::RunsOn;

/// Writes what is made of all units, and gives its files.
///
/// # Errors
/// Why something cannot be made or written, or what was made of a unit cannot be read again.
pub(super) fn write(
    plan: &Plan,
    settings: &Settings,
    units: &[Unit],
    record: &Record,
    folder: &Folder<'_>,
) -> Result<Vec<Output>, Diagnostic> {
    let mut made = Products { out: &plan.out, folder, outputs: vec![] };
    let module = &plan.manifest.build.module;
    if plan.emit.fat_binaries {
        made.fat_binaries(plan, units, settings)?;
    }
    if !plan.emit.languages.is_empty() {
        made.launchers(plan, units)?;
    }
    if plan.emit.object {
        let source = plan.out.join(format!("{module}.c"));
        let object = object::compile(&source)?;
        made.put(&format!("{module}.o"), &object)?;
    }
    made.index(plan, units, record)?;
    if settings.depfile {
        made.dependencies(plan, settings, units, record)?;
    }
    Ok(made.outputs)
}

struct Products<'a> {
    out: &'a Path,
    folder: &'a Folder<'a>,
    outputs: Vec<Output>,
}

/// What of a unit's metadata launchers are printed from.
#[derive(Deserialize)]
struct Known {
    arch: String,
    constants: Option<BTreeMap<String, String>>,
    launch: Option<Descriptor>,
}

/// The index: what there is, and what it was made from.
#[derive(Serialize)]
struct Index<'a> {
    kernels: Vec<Entry<'a>>,
    /// The files that were read, but for the manifest, and the lock file if kernels are tuned.
    sources: BTreeSet<&'a Path>,
}

/// An entry of the index.
#[derive(Serialize)]
struct Entry<'a> {
    kernel: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<usize>,
    arch: &'a str,
    /// The files by their kinds.
    files: BTreeMap<&'a str, String>,
}

impl Products<'_> {
    /// Writes a file of the folder.
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
        self.outputs.extend(self.folder.put(Path::new(name), bytes, [])?);
        Ok(())
    }

    /// One for each kernel, variant and configuration, and for each vendor, since a driver reads its own format alone:
    /// the binaries for all architectures, and the PTX of the newest architecture whose code later ones run, if PTX is
    /// made at all.
    fn fat_binaries(&mut self, plan: &Plan, units: &[Unit], settings: &Settings) -> Result<(), Diagnostic> {
        let mut groups: BTreeMap<String, Vec<&Unit>> = BTreeMap::new();
        for unit in units {
            groups.entry(fat_name(unit)?).or_default().push(unit);
        }
        for (name, units) in groups {
            let read_all = |stage: Stage, units: &mut dyn Iterator<Item = &&Unit>| {
                units
                    .map(|u| Ok(Image { target: u.job.target, stage, bytes: read(&self.out.join(u.file(stage)))? }))
                    .collect::<Result<Vec<Image>, Diagnostic>>()
            };
            let mut images = read_all(Stage::Binary, &mut units.iter())?;
            let portable = |u: &&&Unit| matches!(u.job.target.runs_on(), RunsOn::Capability { exact: false, .. });
            let with_ptx = plan.emit.stages.contains(&Stage::Assembly);
            let newest = units.iter().filter(|_| with_ptx).filter(portable).max_by_key(|u| u.job.target.version());
            images.extend(read_all(Stage::Assembly, &mut newest.iter().copied())?);
            let fat = backend::bundle(&images, settings.time_limit)?;
            self.put(&name, &fat)?;
        }
        Ok(())
    }

    fn launchers(&mut self, plan: &Plan, units: &[Unit]) -> Result<(), Diagnostic> {
        let mut variants = vec![];
        for unit in units {
            let (json, image) = (self.out.join(unit.json()), self.out.join(unit.file(Stage::Binary)));
            let known: Known = serde_json::from_slice(&read(&json)?).map_err(|e| unreadable(&json, &e.to_string()))?;
            let descriptor = known.launch.ok_or_else(|| launchers::unknown(&unit.kernel, &unit.job))?;
            let constants = known.constants.unwrap_or_default();
            let variant = Variant { arch: known.arch, constants, descriptor, image: read(&image)? };
            if unit.keys.is_empty() {
                variants.push((unit.launcher(), variant));
                continue;
            }
            for arguments in unit.keys.iter().filter_map(|k| tuned::arguments(&variant.descriptor.arguments, k)) {
                let descriptor = Descriptor { arguments, ..variant.descriptor.clone() };
                variants.push((unit.launcher(), Variant { descriptor, ..variant.clone() }));
            }
        }
        let kernels = launchers::together(variants).map_err(|d| {
            let help =
                "give each of them a table `[kernel.NAME]` of its own, or types that differ in what they promise";
            Diagnostic { code: &cli::BAD_MANIFEST, ..d.help(help) }
        })?;
        let build = &plan.manifest.build;
        for language in &plan.emit.languages {
            for (name, bytes) in language.print(&kernels, &build.module, build.embed) {
                self.put(&name, &bytes)?;
            }
        }
        Ok(())
    }

    /// A list of all units with their files, for programs that load them by themselves and for those that watch files.
    fn index(&mut self, plan: &Plan, units: &[Unit], record: &Record) -> Result<(), Diagnostic> {
        let name = |path: PathBuf| path.to_string_lossy().into_owned();
        let entries = units.iter().map(|unit| -> Result<Entry<'_>, Diagnostic> {
            let stages = plan.emit.stages.iter().map(|&s| (s.word(&unit.job.target), name(unit.file(s))));
            let mut files: BTreeMap<&str, String> = stages.collect();
            if plan.emit.stages.iter().any(|s| matches!(s, Stage::Assembly | Stage::Binary)) {
                files.insert("json", name(unit.json()));
            }
            if plan.emit.fat_binaries {
                files.insert(backend::bundle_extension(&unit.job.target)?, fat_name(unit)?);
            }
            Ok(Entry {
                kernel: &unit.kernel,
                variant: unit.job.variant.as_ref().map(|v| v.name.as_str()),
                config: unit.job.config,
                arch: unit.job.target.name,
                files,
            })
        });
        let index = Index { kernels: entries.collect::<Result<_, _>>()?, sources: inputs(plan, units, record) };
        let mut text = serde_json::to_string_pretty(&index).expect("an index holds strings and numbers only");
        text.push('\n');
        self.put(&format!("{}.json", plan.manifest.build.module), text.as_bytes())
    }

    /// A rule of make: everything that was made depends on everything that was read.
    fn dependencies(
        &mut self,
        plan: &Plan,
        settings: &Settings,
        units: &[Unit],
        record: &Record,
    ) -> Result<(), Diagnostic> {
        let mut inputs = inputs(plan, units, record);
        inputs.insert(&settings.manifest);
        let made = record.of(units).flat_map(|m| &m.outputs).chain(&self.outputs);
        let outputs: BTreeSet<PathBuf> = made.map(|o| self.out.join(&o.name)).collect();
        let outputs: BTreeSet<&Path> = outputs.iter().map(PathBuf::as_path).collect();
        let words = |paths: &BTreeSet<&Path>| paths.iter().map(|p| word_of_make(p)).collect::<Vec<_>>().join(" \\\n  ");
        let mut text = format!("{}: \\\n  {}\n", words(&outputs), words(&inputs));
        // A rule without a command for each input: make goes on where one of them is gone.
        for input in inputs {
            text.push_str(&format!("\n{}:\n", word_of_make(input)));
        }
        self.put(&format!("{}.d", plan.manifest.build.module), text.as_bytes())
    }
}

/// The files that units were made from, and what was tuned, but for the manifest.
fn inputs<'a>(plan: &'a Plan, units: &'a [Unit], record: &'a Record) -> BTreeSet<&'a Path> {
    let read = record.of(units).flat_map(|m| &m.inputs).map(|i| i.path.as_path());
    read.chain(plan.lock_file.as_deref()).collect()
}

/// The file with the code for all architectures of a vendor that a unit is part of.
fn fat_name(unit: &Unit) -> Result<String, Diagnostic> {
    Ok(format!("{}.{}", unit.name(), backend::bundle_extension(&unit.job.target)?))
}

/// A path as a word of a makefile.
fn word_of_make(path: &Path) -> String {
    path.to_string_lossy().replace('$', "$$").replace('#', "\\#").replace(' ', "\\ ").replace(':', "\\:")
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|e| unreadable(path, &crate::driver::input::plain(&e)))
}

fn unreadable(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(&cli::BUILDING, format!("cannot read `{}` again: {why}", path.display()))
        .at(Place::File(path.to_string_lossy().into_owned()), "")
        .help("remove the folder of the outputs and build again")
}
