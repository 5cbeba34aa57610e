//! What the manifest of a folder says of one kernel file: for editors, which check a file as it will be built.

use std::path::{Path, PathBuf};

use super::manifest;
use super::plan::{Plan, Settings};
use crate::driver::Job;
use crate::driver::input::Input;
use crate::source::SourceMap;

/// How many folders above a file may hold its manifest.
const MOST_FOLDERS: usize = 16;

/// The manifest that a file may be part of: the nearest one above it.
#[must_use]
pub fn nearest(file: &Path) -> Option<PathBuf> {
    let manifests = file.ancestors().skip(1).take(MOST_FOLDERS).map(|folder| folder.join(manifest::NAME));
    manifests.into_iter().find(|path| path.is_file())
}

/// The jobs of a manifest for a kernel file that is read already. There are none if the manifest is wrong or does not
/// name the file: `ttc build` says why.
pub fn jobs_of(manifest: &Path, input: &Input, sources: &mut SourceMap) -> Vec<Job> {
    let settings = Settings { manifest: manifest.to_owned(), ..Settings::default() };
    let Ok(mut plan) = Plan::read(&settings) else { return vec![] };
    plan.sources = std::mem::take(sources);
    let units = plan.units_of(input, &settings);
    *sources = plan.sources;
    units.into_iter().map(|unit| unit.job).collect()
}
