//! The grids that `--grid` gives: one for all kernels of a run, and others for single kernels.
//!
//! 1. `cdiv(n, BLOCK)` is for every kernel, and `softmax=rows` for the kernel `softmax` alone. What is said of a kernel
//!    wins over what is said of all.
//! 2. A kernel that the run does not compile is an error, since the text would be lost.
//! 3. A grid of a case file is taken where nobody gave one and the kernel's own arguments say it.

use super::call;
use super::input::Language;
use super::job::{Job, JobOptions};
use super::metadata::Metadata;
use super::request::expected_kernel;
use crate::diag::Diagnostic;
use crate::diag::codes::cli;
use crate::diag::suggest::did_you_mean;
use crate::irgen;
use crate::source::SourceMap;

/// Puts the values of `--grid` into the options.
///
/// # Errors
/// `E0910` where two are for the same kernel, or for all.
pub fn set(options: &mut JobOptions, texts: &[String]) -> Result<(), Diagnostic> {
    for text in texts {
        let bad = |what: &str| {
            Diagnostic::error(&cli::BAD_OPTION, format!("`--grid {text}`: another `--grid` is for {what}"))
                .help("name the kernel of each: `--grid \"softmax=rows\"`")
        };
        match of_kernel(text) {
            Some((kernel, _)) if options.grids.iter().any(|(k, _)| k == kernel) => {
                return Err(bad(&format!("the kernel `{kernel}`")));
            }
            Some((kernel, grid)) => options.grids.push((kernel.to_owned(), grid.to_owned())),
            None if options.grid.is_some() => return Err(bad("all kernels")),
            None => options.grid = Some(text.clone()),
        }
    }
    Ok(())
}

/// The kernel and the grid of `KERNEL=EXPRS`. A grid itself has no `=`.
fn of_kernel(text: &str) -> Option<(&str, &str)> {
    let (kernel, grid) = text.split_once('=')?;
    let kernel = kernel.trim();
    let is_name = kernel.chars().all(|c| c.is_alphanumeric() || c == '_') && !kernel.is_empty();
    (is_name && !grid.starts_with('=')).then(|| (kernel, grid.trim()))
}

impl Job {
    /// Settles the grid of the job, whose kernel has this name.
    pub(super) fn choose_grid(&self, kernel: &str, options: &mut JobOptions) {
        let own = |name: &str| name == kernel || self.kernel.as_deref() == Some(name);
        if let Some((_, grid)) = options.grids.iter().find(|(name, _)| own(name)) {
            options.grid = Some(grid.clone());
        }
    }

    /// Takes the grid of the case file, if nobody gave one and it can be computed from the arguments.
    pub(super) fn take_grid_of_case(&self, metadata: &Metadata, options: &mut JobOptions) {
        let known = self.input.preset.grid.as_ref().filter(|text| call::grid_of(text, metadata).is_ok());
        options.grid = options.grid.take().or_else(|| known.cloned());
    }
}

/// Checks that every kernel that has a grid of its own is compiled.
pub(super) fn check(jobs: &[Job], sources: &mut SourceMap, options: &JobOptions) -> Vec<Diagnostic> {
    if options.grids.is_empty() {
        return vec![];
    }
    let mut names: Vec<String> = vec![];
    for job in jobs {
        let kernels = match expected_kernel(job, sources) {
            Some(name) => vec![name],
            None if job.input.language == Language::Source => {
                let (list, _) = irgen::list_kernels(sources, job.input.file, &options.include);
                list.into_iter().filter(|k| k.entry).map(|k| k.name).collect()
            }
            None => vec![],
        };
        names.extend(kernels.into_iter().filter(|k| !names.contains(k)).collect::<Vec<_>>());
    }
    let unknown = options.grids.iter().filter(|(kernel, _)| !names.contains(kernel));
    let error = |(kernel, grid): &(String, String)| {
        let near = did_you_mean(kernel, names.iter().map(String::as_str));
        let text = format!("`--grid {kernel}={grid}`: the run compiles no kernel `{kernel}`");
        Diagnostic::error(&cli::BAD_OPTION, text)
            .help(near.unwrap_or_else(|| format!("it compiles {}", names.join(", "))))
    };
    unknown.map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grids(texts: &[&str]) -> Result<JobOptions, Diagnostic> {
        let mut options = JobOptions::default();
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        set(&mut options, &texts).map(|()| options)
    }

    #[test]
    fn a_grid_is_for_a_kernel_or_for_all() {
        let got = grids(&["cdiv(n, B), 2", "softmax = rows", "k2=min(a, 3)"]).unwrap();
        assert_eq!(got.grid.as_deref(), Some("cdiv(n, B), 2"));
        assert_eq!(got.grids, [("softmax".into(), "rows".into()), ("k2".into(), "min(a, 3)".into())]);
        assert_eq!(grids(&["a == b"]).unwrap().grid.as_deref(), Some("a == b"), "an error of the expression");
        assert_eq!(grids(&["a", "b"]).unwrap_err().code.id, "E0910");
        assert_eq!(grids(&["a=1", "a=2"]).unwrap_err().code.id, "E0910");
    }
}
