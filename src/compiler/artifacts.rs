//! The result of a compilation.

use std::collections::BTreeMap;

use super::Diagnostics;
use crate::driver::metadata::Metadata;
use crate::driver::{Compiled, Stage};
use crate::source::SourceMap;

/// A compiled kernel: the stages that were asked for, what a launcher must know, and the messages.
#[derive(Clone, Debug)]
pub struct Artifacts {
    /// The kernel's name, under which a launcher finds it.
    pub kernel: String,
    /// What a launcher must know. Some of it is known only once a certain stage was made: registers and spills need a
    /// run of ptxas.
    pub metadata: Metadata,
    /// Warnings and remarks.
    pub diagnostics: Diagnostics,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
    stages: BTreeMap<Stage, Vec<u8>>,
}

impl Artifacts {
    pub(super) fn new(made: Compiled, sources: SourceMap) -> Artifacts {
        Artifacts {
            kernel: made.metadata.name.clone(),
            metadata: made.metadata,
            diagnostics: Diagnostics::new(made.diagnostics, sources),
            printed: made.printed,
            stages: made.artifacts,
        }
    }

    /// The bytes of a stage, if it was asked for.
    #[must_use]
    pub fn bytes(&self, stage: Stage) -> Option<&[u8]> {
        self.stages.get(&stage).map(Vec::as_slice)
    }

    /// The text of a stage, if it was asked for. Every stage but the cubin is text.
    #[must_use]
    pub fn text(&self, stage: Stage) -> Option<&str> {
        self.bytes(stage).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// The PTX, if it was asked for.
    #[must_use]
    pub fn ptx(&self) -> Option<&str> {
        self.text(Stage::Assembly)
    }

    /// The cubin, if it was asked for.
    #[must_use]
    pub fn cubin(&self) -> Option<&[u8]> {
        self.bytes(Stage::Binary)
    }

    /// The stages that were made, in the order of the pipeline.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, &[u8])> {
        self.stages.iter().map(|(&stage, bytes)| (stage, bytes.as_slice()))
    }
}
