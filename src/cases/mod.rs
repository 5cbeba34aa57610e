//! Cases: kernels with arguments, expected results and sweeps, described by a `.toml` beside the kernel.
//!
//! 1. [`spec`] reads a case file. [`expr`] holds the expressions in it, [`value`] their values.
//! 2. [`config`] chooses a value for each parameter and says what that means: signature, constants, grid, arguments.
//!    [`space`] combines values that are measured or tuned.
//! 3. [`random`] fills buffers, the same way on every machine and in NumPy.
//! 4. [`launch`] runs a configuration in the interpreter and compares it with what a reference expects; [`manual`]
//!    takes arguments from a command line instead, and [`call`] a kernel with arguments by name.
//! 5. [`template`] writes a case to begin with.
//!
//! `ttc interpret`, the tests of `kernels/` and the export for a GPU all go through here. `docs/interpreter.md`
//! describes the format.
//!
//! ```
//! use ttc::cases::{Folder, launch};
//! let mut folder = Folder::default();
//! let loaded = folder.load(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/add.toml").as_ref()).unwrap();
//! let config = loaded.case.default_config();
//! let instance = loaded.case.instance(&loaded.kernel, &config).unwrap();
//! let lowered = launch::lower(&mut folder.sources, &loaded, &instance).unwrap();
//! let done = launch::run(&lowered.ir, &lowered.kernel, &instance, &Default::default()).unwrap();
//! assert_eq!(done.outputs.keys().collect::<Vec<_>>(), ["out_ptr"]);
//! ```

pub mod call;
pub mod config;
pub mod expr;
pub mod launch;
pub mod manual;
pub mod random;
mod space;
pub mod spec;
pub mod template;
pub mod value;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use config::{Config, Instance, InstanceArg};
pub use launch::Inputs;
pub use spec::{Case, Lists};
pub use value::Value;

use crate::diag::codes::interp as codes;
use crate::diag::{Diagnostic, Place};
use crate::driver::input::{self, Input, Language};
use crate::irgen::{KernelInfo, list_kernels};
use crate::source::SourceMap;

/// Case files and the kernel files that they are about.
#[derive(Default)]
pub struct Folder {
    pub sources: SourceMap,
    /// Where imports between kernel files are looked up.
    pub include: Vec<PathBuf>,
}

/// A case with its kernel.
pub struct Loaded {
    pub case: Case,
    pub input: Input,
    pub kernel: KernelInfo,
    pub include: Vec<PathBuf>,
}

impl Folder {
    /// Reads a case file and its kernel file: the one that it names, else the `.tk` or the `.py` with its own name.
    pub fn load(&mut self, path: &Path) -> Result<Loaded, Vec<Diagnostic>> {
        self.load_for(path, None)
    }

    /// Does what [`Folder::load`] does for this kernel instead of the one that the case names.
    pub fn load_for(&mut self, path: &Path, kernel: Option<&str>) -> Result<Loaded, Vec<Diagnostic>> {
        let case = self.read(path)?;
        let case = Case { kernel: kernel.map(str::to_owned).or(case.kernel.clone()), ..case };
        let implied = || {
            let names = ["tk", "py"].map(|ext| format!("{}.{ext}", case.name));
            let there = names.iter().find(|n| path.with_file_name(n).is_file());
            there.unwrap_or(&names[0]).clone()
        };
        let source = path.with_file_name(case.source.clone().unwrap_or_else(implied));
        let input = input::read(&mut self.sources, &source, None).map_err(|d| vec![d])?;
        self.attach(case, input)
    }

    fn read(&mut self, path: &Path) -> Result<Case, Vec<Diagnostic>> {
        let text = input::read_text(path).map_err(|d| vec![d])?;
        let file = self.sources.add(path.to_string_lossy(), Some(path), text);
        spec::read(&self.sources, file)
    }

    /// Finds the case for a kernel of a file: the `.toml` of the same name, or another one of the folder whose `file`
    /// is the kernel's file.
    ///
    /// # Errors
    /// Fails if a case file is wrong. If there is none, the result is `Ok(None)`.
    pub fn find(&mut self, input: &Input, kernel: Option<&str>) -> Result<Option<Loaded>, Vec<Diagnostic>> {
        let own = input.path.with_extension("toml");
        let dir = input.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut others: Vec<PathBuf> =
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        others
            .retain(|p| p.extension().is_some_and(|e| e == "toml") && p.file_name() != own.file_name() && p.is_file());
        others.sort();
        for path in std::iter::once(&own).filter(|p| p.is_file()).chain(&others) {
            let text = input::read_text(path).map_err(|d| vec![d])?;
            let name = input.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            // Another case file is read in full only if it can be about this kernel file.
            if *path != own && !text.contains(&name) {
                continue;
            }
            let case = self.read(path)?;
            let about = case.source.as_ref().map_or(*path == own, |s| *s == name);
            let wanted = kernel.is_none() || case.kernel.is_none() || case.kernel.as_deref() == kernel;
            if about && wanted {
                let case = Case { kernel: kernel.map(str::to_owned).or(case.kernel.clone()), ..case };
                return self.attach(case, input.clone()).map(Some);
            }
        }
        Ok(None)
    }

    fn attach(&mut self, case: Case, input: Input) -> Result<Loaded, Vec<Diagnostic>> {
        let place = Place::File(self.sources.file(case.file).name.clone());
        let wrong = |message: String| vec![Diagnostic::error(&codes::BAD_CASE, message).at(place.clone(), "")];
        if input.language != Language::Source {
            return Err(wrong(format!(
                "a case is about a kernel file (.tk, .py), not about `{}`",
                input.path.display()
            )));
        }
        let (kernels, errors) = list_kernels(&mut self.sources, input.file, &self.include);
        if errors.iter().any(Diagnostic::is_error) {
            return Err(errors);
        }
        let chosen: Vec<KernelInfo> = match &case.kernel {
            Some(name) => kernels.into_iter().filter(|k| k.is_called(name)).collect(),
            None => kernels.into_iter().filter(|k| k.entry).collect(),
        };
        match (chosen.as_slice(), &case.kernel) {
            ([one], _) => Ok(Loaded { kernel: one.clone(), case, input, include: self.include.clone() }),
            (_, Some(name)) => Err(wrong(format!("`{}` has no kernel `{name}`", input.path.display()))),
            ([], None) => Err(wrong(format!("`{}` has no kernel", input.path.display()))),
            (many, None) => Err(wrong(format!(
                "`{}` has {} kernels; `kernel = \"NAME\"` chooses one",
                input.path.display(),
                many.len()
            ))),
        }
    }
}
