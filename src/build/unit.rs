//! One unit of a build: a kernel in one variant and configuration for one architecture.

use std::path::PathBuf;

use super::tuned::Key;
use crate::backend::Stage;
use crate::driver::Job;
use crate::fingerprint::file_part;

/// A unit.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The kernel's name in the manifest.
    pub(super) kernel: String,
    pub(super) job: Job,
    /// The values of arguments for which this unit is launched. If there are none, it is for every launch.
    pub(super) keys: Vec<Key>,
    /// Whether several configurations of the kernel are built.
    pub(super) several_configs: bool,
}

impl Unit {
    /// The name of what is made for all architectures: `KERNEL[.VARIANT][.CONFIGURATION]`.
    #[must_use]
    pub(super) fn name(&self) -> String {
        let variant = self.job.variant.as_ref().map_or_else(String::new, |v| format!(".{}", v.name));
        let config = self.job.config.filter(|_| self.several_configs).map_or_else(String::new, |n| format!(".{n}"));
        format!("{}{variant}{config}", file_part(&self.kernel))
    }

    /// The name of the unit's files without their extensions.
    #[must_use]
    pub(super) fn stem(&self) -> String {
        format!("{}.{}", self.name(), self.job.target.name)
    }

    /// The name that launchers have. Configurations are kernels of their own, since nothing at run time chooses between
    /// them.
    pub(super) fn launcher(&self) -> String {
        match self.job.config.filter(|_| self.several_configs) {
            Some(n) => format!("{}_{n}", self.kernel),
            None => self.kernel.clone(),
        }
    }

    /// The file of a stage in the folder of the outputs.
    pub(super) fn file(&self, stage: Stage) -> PathBuf {
        PathBuf::from(format!("{}.{}", self.stem(), stage.word(&self.job.target)))
    }

    /// The file of the metadata in the folder of the outputs.
    pub(super) fn json(&self) -> PathBuf {
        PathBuf::from(format!("{}.json", self.stem()))
    }
}
