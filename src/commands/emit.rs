//! What `ttc compile` shall make, by `--emit` and `-o`: stages, and launchers in some languages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ttc::backend;
use ttc::diag::{Diagnostic, codes};
use ttc::driver::launchers::{Language, Launchers};
use ttc::driver::request::ConfigChoice;
use ttc::driver::{Job, Stage};
use ttc::target::Target;

use crate::args::{Compile, YesNo};

/// What a run shall make.
#[derive(Default)]
pub(super) struct Wanted {
    /// In order.
    pub(super) stages: Vec<Stage>,
    /// The languages of launchers.
    pub(super) languages: BTreeSet<Language>,
}

/// What is asked for: by `--emit`, or else by the extension of `-o`, or else a cubin.
pub(super) fn wanted(emit: &[String], output: Option<&Path>) -> Result<Wanted, Diagnostic> {
    let extension = output.and_then(Path::extension).map(|e| e.to_string_lossy().into_owned());
    let words: Vec<&str> = match &extension {
        _ if !emit.is_empty() => emit.iter().map(|w| w.trim()).collect(),
        Some(extension) => vec![extension],
        None => return Ok(Wanted { stages: vec![Stage::Binary], ..Wanted::default() }),
    };
    let (mut stages, mut languages) = (BTreeSet::new(), BTreeSet::new());
    for word in words {
        match (Stage::find(word), Language::find(word)) {
            (Some(stage), _) => _ = stages.insert(stage),
            (None, Some(language)) => _ = languages.insert(language),
            (None, None) if emit.is_empty() => return Err(unknown_extension(output, word)),
            (None, None) => {
                let text = format!("`--emit {word}`: expected some of {}", known_outputs().join(", "));
                return Err(Diagnostic::error(&codes::cli::UNKNOWN_EMIT, text));
            }
        }
    }
    Ok(Wanted { stages: stages.into_iter().collect(), languages })
}

/// Checks that every word for a stage is one of some target's. Where targets differ in their words, each stands for the
/// stage of all.
pub(super) fn check(emit: &[String], output: Option<&Path>, jobs: &[Job]) -> Result<(), Diagnostic> {
    let extension = output.and_then(Path::extension).map(|e| e.to_string_lossy().into_owned());
    let words = if emit.is_empty() { extension.as_slice() } else { emit };
    let targets: Vec<Target> = jobs.iter().map(|job| job.target).collect();
    words.iter().try_for_each(|word| backend::check_word(word.trim(), &targets))
}

/// The words of everything that can be made.
fn known_outputs() -> Vec<&'static str> {
    backend::words().into_iter().chain(Language::ALL.map(Language::word)).collect()
}

fn unknown_extension(output: Option<&Path>, extension: &str) -> Diagnostic {
    let words = backend::words().into_iter().chain(Language::ALL.map(Language::extension));
    let known = words.map(|w| format!(".{w}")).collect::<Vec<_>>().join(", ");
    let path = output.unwrap_or(Path::new("")).display();
    Diagnostic::error(
        &codes::cli::UNKNOWN_EMIT,
        format!("`-o {path}`: `.{extension}` is no kind of output; expected some of {known}"),
    )
    .help("for a name with another extension say what to make, for example `--emit cubin`")
}

/// The launchers that are asked for. `-o out/add.c` names them as `--out-dir out --module add` does.
pub(super) fn launchers(c: &Compile, languages: BTreeSet<Language>, stages: &[Stage]) -> Result<Launchers, Diagnostic> {
    let alone = [("--module", c.module.is_some()), ("--embed no", c.embed == YesNo::No)];
    if let Some((option, _)) = alone.iter().find(|(_, given)| *given && languages.is_empty()) {
        return Err(Diagnostic::error(&codes::cli::BAD_OPTION, format!("`{option}` is about launchers"))
            .help("add `--emit c` or `--emit rust`, or leave the option out"));
    }
    let output = c.output.as_deref().filter(|_| !languages.is_empty());
    if let Some(path) = output
        && (!stages.is_empty() || path.extension().and_then(|e| e.to_str()).and_then(Language::find).is_none())
    {
        let text = format!("`-o {}`: launchers are several files", path.display());
        return Err(Diagnostic::error(&codes::cli::OUTPUT_CONFLICT, text)
            .help("name their source, such as `-o add.c` or `-o add.rs`, or give a directory with `--out-dir`"));
    }
    let module = c.module.clone().or_else(|| output?.file_stem().map(|s| s.to_string_lossy().into_owned()));
    let dir = output.and_then(Path::parent).or(c.out_dir.as_deref());
    let dir = dir.filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let inputs: Vec<&Path> = c.kernel.files.iter().map(PathBuf::as_path).collect();
    let configs = c.kernel.config == Some(ConfigChoice::All);
    Launchers::new(languages, dir, module.as_deref(), c.embed == YesNo::Yes, &inputs, configs)
}
