//! Launchers for what a run compiled: one set of files for all of its kernels, architectures and configurations.
//!
//! 1. [`Launchers::new`] settles the name of the files and where they go, before anything is compiled.
//! 2. Each job that is done gives a variant of a kernel ([`Launchers::variant`]).
//! 3. [`Launchers::write`] puts the variants of one name together, prints launchers, and writes them. Configurations
//!    of a kernel are kernels of their own, `matmul_0` and `matmul_1`, since nothing at run time chooses between them.
//!    Symbols that differ name kernels of their own as well.
//!
//! Example: `ttc add.tk --emit c --out-dir out` writes `out/add.h`, `out/add.c` and `out/ttc_rt.h`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::job::{Compiled, Job};
use super::output;
use crate::backend::Stage;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::launch::{File, Kernel, Options, Variant, c, rust};

/// A language that launchers are printed in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Language {
    C,
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 2] = [Language::C, Language::Rust];

    /// The word that `--emit` takes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Rust => "rust",
        }
    }

    /// The extension of the file that `-o` names.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Rust => "rs",
        }
    }

    /// The language of a word or extension.
    #[must_use]
    pub fn find(word: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|l| l.word() == word || l.extension() == word)
    }

    /// Prints launchers of kernels into files whose names begin with that of the module.
    #[must_use]
    pub fn print(self, kernels: &[Kernel], module: &str, embed: bool) -> Vec<File> {
        let options = Options { module: module.to_owned(), embed };
        match self {
            Language::C => c::print(kernels, &options),
            Language::Rust => rust::print(kernels, &options),
        }
    }
}

/// The launchers that a run was asked for.
#[derive(Clone, Debug)]
pub struct Launchers {
    languages: BTreeSet<Language>,
    dir: PathBuf,
    module: String,
    embed: bool,
    /// Whether all configurations are compiled.
    configs: bool,
}

impl Launchers {
    /// Launchers in `dir`. `module` is the name of their files; without it, that is the one input's, or `kernels`.
    /// `configs` says whether all configurations are compiled.
    ///
    /// # Errors
    /// `E0910` if the name cannot be that of a file in a directory.
    pub fn new(
        languages: BTreeSet<Language>,
        dir: PathBuf,
        module: Option<&str>,
        embed: bool,
        inputs: &[&Path],
        configs: bool,
    ) -> Result<Launchers, Diagnostic> {
        let module = match module {
            Some(name) => check_name(name).map(|()| name.to_owned())?,
            None => inputs_name(inputs),
        };
        Ok(Launchers { languages, dir, module, embed, configs })
    }

    /// Whether there are any.
    #[must_use]
    pub fn wanted(&self) -> bool {
        !self.languages.is_empty()
    }

    /// What a job made, as a variant of the kernel of this name.
    ///
    /// # Errors
    /// `E0941` if it is not known how to launch it.
    pub fn variant(&self, job: &Job, made: &Compiled) -> Result<(String, Variant), Diagnostic> {
        let (Some(descriptor), Some(image)) = (&made.metadata.launch, made.artifacts.get(&Stage::Binary)) else {
            return Err(unknown(&made.kernel, job));
        };
        let variant = Variant {
            arch: made.metadata.arch.clone(),
            constants: made.metadata.constants.clone().unwrap_or_default(),
            descriptor: descriptor.clone(),
            image: image.clone(),
        };
        // A symbol that the user gave names every configuration and variant by itself.
        let name = match job.config.filter(|_| self.configs && descriptor.symbol == made.kernel) {
            Some(n) => format!("{}_{n}", made.kernel),
            None => descriptor.symbol.clone(),
        };
        Ok((name, variant))
    }

    /// Writes the launchers of these variants, whose kernels come in the order of their first ones.
    ///
    /// # Errors
    /// `E0940` if variants of one name do not belong together, `E0906` if a file cannot be written.
    pub fn write(&self, variants: Vec<(String, Variant)>) -> Result<(), Diagnostic> {
        let kernels = together(variants)?;
        output::make_dir(&self.dir)?;
        for language in &self.languages {
            for (name, bytes) in language.print(&kernels, &self.module, self.embed) {
                output::write_file(&self.dir.join(name), &bytes)?;
            }
        }
        Ok(())
    }
}

/// The error for a kernel whose parameters are not known.
pub fn unknown(kernel: &str, job: &Job) -> Diagnostic {
    Diagnostic::error(&cli::NO_LAUNCH, format!("it is not known how to launch `{kernel}`"))
        .at(Place::File(job.input.path.display().to_string()), "")
        .help("start from the kernel, or from a file of ttc, whose last line says how to launch it")
}

/// The variants of each name as a kernel.
///
/// # Errors
/// `E0940` if variants of one name do not belong together.
pub fn together(variants: Vec<(String, Variant)>) -> Result<Vec<Kernel>, Diagnostic> {
    let mut names: Vec<(String, Vec<Variant>)> = vec![];
    for (name, variant) in variants {
        match names.iter_mut().find(|(n, _)| *n == name) {
            Some((_, known)) => known.push(variant),
            None => names.push((name, vec![variant])),
        }
    }
    let kernel = |(name, variants): (String, Vec<Variant>)| {
        let symbol = |v: &Variant| v.descriptor.symbol.clone();
        if let Some(other) = variants.iter().find(|v| symbol(v) != symbol(&variants[0])) {
            let message = format!(
                "`{name}` would be the launcher of two kernels, `{}` and `{}`",
                symbol(&variants[0]),
                symbol(other)
            );
            return Err(Diagnostic::error(&cli::NO_VARIANTS, message)
                .note("configuration N of a kernel is called KERNEL_N")
                .help("compile one of them by itself, with another `--module`"));
        }
        Kernel::of(name, variants).map_err(|why| {
            Diagnostic::error(&cli::NO_VARIANTS, why)
                .help("name them with `--symbol`, or compile them into launchers of their own, with another `--module`")
        })
    };
    names.into_iter().map(kernel).collect()
}

/// The characters of a name that may stand in the name of a file and in `#include`.
fn named(text: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = text.chars().map(fits).collect();
    if name.is_empty() { "kernels".to_owned() } else { name }
}

/// The name after the only input. Standard input and several files have none.
fn inputs_name(inputs: &[&Path]) -> String {
    match inputs {
        [one] if *one != Path::new("-") => {
            named(&one.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default())
        }
        _ => "kernels".to_owned(),
    }
}

/// Reports a name that launchers' files cannot have.
///
/// # Errors
/// `E0910`
pub fn check_name(name: &str) -> Result<(), Diagnostic> {
    if named(name) == name && name != "ttc_rt" {
        return Ok(());
    }
    let shown = name.escape_debug();
    Err(Diagnostic::error(&cli::BAD_OPTION, format!("`{shown}` cannot be the name of launchers' files"))
        .help("use letters from a to z, digits, `_` and `-`; `ttc_rt` is the runtime header's"))
}
