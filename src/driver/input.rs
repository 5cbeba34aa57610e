//! Reads inputs. The extension says what a file holds; `-` is standard input.
//!
//! What can be wrong with a file before its text is looked at is found by [`text_file`].

use std::path::{Path, PathBuf};

use crate::diag::suggest::nearest;
use crate::diag::{Diagnostic, Place, codes};
use crate::source::{FileId, SourceMap};
use crate::text_file;

use super::variant::Preset;
use crate::backend::Stage;
pub use crate::text_file::{MAX_BYTES, plain};

/// The language of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// A kernel file: `.tk`, `.py`.
    Source,
    /// IR text: `.ttir`, `.ttgir`, `.mlir`. The stage says which passes it has behind it.
    Ir(Stage),
    /// LLVM IR: `.llir`, `.ll`.
    Llir,
    /// `.ptx`, or what another vendor calls its assembly.
    Assembly,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    pub file: FileId,
    pub language: Language,
    /// What the input says of its compilation. It is empty unless a case file says something.
    pub preset: Preset,
}

impl Input {
    /// The file's name without directory and extension, or `stdin` for standard input.
    #[must_use]
    pub fn stem(&self) -> String {
        if self.path == Path::new("-") {
            return "stdin".to_owned();
        }
        self.path.file_stem().map_or_else(|| "out".to_owned(), |s| s.to_string_lossy().into_owned())
    }
}

/// The language that a path's extension stands for. Standard input is kernel source.
#[must_use]
pub fn language(path: &Path) -> Option<Language> {
    if path == Path::new("-") {
        return Some(Language::Source);
    }
    match path.extension()?.to_str()? {
        "tk" | "py" => Some(Language::Source),
        "ttir" | "mlir" => Some(Language::Ir(Stage::Ttir)),
        "ttgir" => Some(Language::Ir(Stage::Ttgir)),
        "llir" | "ll" => Some(Language::Llir),
        word => (Stage::find(word) == Some(Stage::Assembly)).then_some(Language::Assembly),
    }
}

/// Reads a file into the source map.
///
/// # Errors
/// `E0901` to `E0904`, depending on what is wrong with the file.
pub fn read(sources: &mut SourceMap, path: &Path, language: Option<Language>) -> Result<Input, Diagnostic> {
    add(sources, path, read_text(path)?, language, path != Path::new("-"))
}

/// Adds a text under a name. The name's extension says what the text is, as it does for a file. Imports beside it are
/// not looked for.
///
/// # Errors
/// `E0903` (too large), `E0905` (no known extension).
pub fn add_text(
    sources: &mut SourceMap,
    name: &Path,
    text: &str,
    language: Option<Language>,
) -> Result<Input, Diagnostic> {
    text_file::check_size(name, text.len() as u64)?;
    add(sources, name, text.to_owned(), language, false)
}

fn add(
    sources: &mut SourceMap,
    path: &Path,
    text: String,
    language: Option<Language>,
    on_disk: bool,
) -> Result<Input, Diagnostic> {
    if let (Some(Language::Ir(_)), Some(Language::Source)) =
        (language, self::language(path).filter(|_| path != Path::new("-")))
    {
        let shown = path.display();
        let d = Diagnostic::error(
            &codes::cli::UNKNOWN_INPUT,
            format!("`{shown}` is a kernel file, and this command reads IR"),
        );
        let help = format!("make IR of it first: `ttc compile {shown} --emit ttir -o -`");
        return Err(d.at(Place::File(path.to_string_lossy().into_owned()), "").help(help));
    }
    let Some(language) = language.or_else(|| self::language(path)) else { return Err(unknown_extension(path)) };
    if language == Language::Source {
        text_file::check_source(path, text.len())?;
    }
    let name = if path == Path::new("-") { "<stdin>".into() } else { path.to_string_lossy() };
    let file = sources.add(name, on_disk.then_some(path), text);
    Ok(Input { path: path.to_owned(), file, language, preset: Preset::default() })
}

/// Reads the text of a file, checked for everything but its contents.
///
/// # Errors
/// `E0901` (cannot be read), `E0902` (a directory), `E0903` (too large), `E0904` (not UTF-8 text).
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    text_file::read(path).map_err(|d| if path == Path::new("-") || path.exists() { d } else { with_target(d, path) })
}

fn unknown_extension(path: &Path) -> Diagnostic {
    let what = path
        .extension()
        .map_or_else(|| "no extension".to_owned(), |e| format!("the extension `.{}`", e.to_string_lossy()));
    Diagnostic::error(
        &codes::cli::UNKNOWN_INPUT,
        format!("`{}` has {what}, so its language is not known", path.display()),
    )
    .at(Place::File(path.to_string_lossy().into_owned()), "")
    .help("inputs end in .tk or .py (kernels), .ttir or .ttgir (IR), .llir (LLVM IR) or .ptx")
}

/// Adds where a link leads that leads to no file.
fn with_target(d: Diagnostic, path: &Path) -> Diagnostic {
    match std::fs::read_link(path) {
        Ok(target) => d.help(format!("it is a link to `{}`, which does not exist", target.display())),
        Err(_) => with_neighbour(d, path),
    }
}

/// Adds the suggestion of a file in the same directory whose name is near.
fn with_neighbour(d: Diagnostic, path: &Path) -> Diagnostic {
    let Some(stem) = path.file_stem() else { return d };
    let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(dir) else { return d };
    let mut near: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.file_stem() == Some(stem) && language(p).is_some()).collect();
    near.sort();
    match near.first() {
        Some(p) => d.help(format!("there is `{}`", p.strip_prefix("./").unwrap_or(p).display())),
        None => match nearest(&path.to_string_lossy(), COMMANDS.into_iter()).filter(|_| path.extension().is_none()) {
            Some(command) => d.help(format!("did you mean the command `{command}`?")),
            None => d,
        },
    }
}

/// The commands. The name of a file that does not exist may be meant as one of them: `ttc complie add.tk`.
const COMMANDS: [&str; 11] =
    ["compile", "build", "opt", "interpret", "check", "list", "layout", "cache", "explain", "completions", "man"];
