//! What is asked of the front end, and the walker that begins with a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::irgen::emit::Settings;
use crate::irgen::front::launch::Given;
use crate::irgen::front::modules::Modules;
use crate::irgen::front::type_rules::TypeRule;
use crate::irgen::walk::Walker;
use crate::source::{FileId, SourceMap, Span};

/// What to lower and how.
#[derive(Clone, Debug)]
pub struct KernelRequest {
    /// The kernel's name; may be left out if the file has one kernel.
    pub kernel: Option<String>,
    /// Types and values of the parameters; the annotations if absent.
    pub signature: Option<String>,
    /// Types of parameters by name. They win over the signature and the annotations.
    pub types: Vec<TypeRule>,
    /// Values of compile-time parameters, as text.
    pub defines: Vec<(String, String)>,
    /// Names in `defines` and patterns in `types` that mean nothing here, because they are for another kernel of the
    /// run.
    pub for_others: BTreeSet<String>,
    /// Folders in which imports are looked for.
    pub include_dirs: Vec<PathBuf>,
    /// The configuration to take, by its number.
    pub config: Option<usize>,
    /// The options of the launch that the user gave: they win over a configuration's.
    pub given: Given,
    pub settings: Settings,
}

/// An argument of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamInfo {
    pub name: String,
    /// As in a signature: `*fp32`, `i32`.
    pub ty: String,
    /// What the value is divisible by, if that is known.
    pub divisibility: Option<u32>,
    /// What the value is equal to, if the code relies on that. The kernel then takes no parameter for it.
    pub equals: Option<i64>,
}

/// A walker at the beginning of a file, and the file's module.
pub(in crate::irgen) fn start<'m>(
    map: &'m mut SourceMap,
    file: FileId,
    include_dirs: &[PathBuf],
    settings: Settings,
) -> (Walker<'m>, usize) {
    let stem = map.file(file).path.as_deref().and_then(Path::file_stem);
    let name = stem.map_or_else(|| "kernels".to_owned(), |s| s.to_string_lossy().into_owned());
    let mut mods = Modules::new(map, include_dirs);
    let module = mods.add(file, &name, false);
    let span = Span { file, lo: 0, hi: 0 };
    (Walker::new(mods, module, span, settings), module)
}
