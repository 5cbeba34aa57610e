//! What is known of one version of a document.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::kernels::Kernels;
use super::snapshot::Snapshot;
use super::stages::StageFile;
use super::{kernels, stages};
use crate::diag::{Diagnostic, Place};
use crate::driver::input::{Input, Language, language};
use crate::driver::reproducer;
use crate::driver::variant::Preset;
use crate::source::{FileId, SourceFile, SourceMap, Span};

/// The analysis of a document.
pub(super) struct Analysis {
    pub(super) version: i32,
    pub(super) sources: SourceMap,
    pub(super) file: FileId,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) about: About,
}

/// What a document holds.
pub(super) enum About {
    Kernels(Box<Kernels>),
    Stage(Box<StageFile>),
    /// Nothing that is known here.
    Nothing,
}

impl Analysis {
    /// The document's own file.
    #[must_use]
    pub(super) fn own(&self) -> &SourceFile {
        self.sources.file(self.file)
    }

    /// A span of the document.
    #[must_use]
    pub(super) fn span(&self, lo: u32, hi: u32) -> Span {
        Span { file: self.file, lo, hi }
    }
}

/// Analyses a document; `others` are the open ones that it may import. `None` if `stop` came first.
#[must_use]
pub(super) fn analyse(
    version: i32,
    own: &Snapshot,
    others: &[Snapshot],
    old: Option<&Arc<Analysis>>,
    stop: &Arc<AtomicBool>,
) -> Option<Analysis> {
    let mut sources = SourceMap::default();
    let add = |sources: &mut SourceMap, s: &Snapshot| {
        sources.add(s.path.to_string_lossy(), s.on_disk.then_some(s.path.as_path()), s.text.clone())
    };
    let file = add(&mut sources, own);
    for other in others.iter().filter(|o| o.on_disk && o.path != own.path) {
        add(&mut sources, other);
    }
    let nothing = |sources, diagnostics| Some(Analysis { version, sources, file, diagnostics, about: About::Nothing });
    let Some(language) = language(&own.path).filter(|l| matches!(l, Language::Source | Language::Ir(_))) else {
        return nothing(sources, vec![]);
    };
    let input = Input { path: own.path.clone(), file, language, preset: Preset::default() };
    // A defect of the compiler must not end the server.
    let before = sources.clone();
    let about = || format!("language server: {}", own.path.display());
    let done = reproducer::guard(about, &before, || {
        if language == Language::Source {
            let done = kernels::analyse(&input, &mut sources, old, stop);
            return Ok(done.map(|(k, said)| (About::Kernels(Box::new(k)), said)));
        }
        let (stage, said) = stages::analyse(&sources, file);
        Ok(Some((About::Stage(Box::new(stage)), said)))
    });
    match done {
        Ok(None) => None,
        Ok(Some((about, diagnostics))) => {
            Some(Analysis { version, sources, file, diagnostics: once(diagnostics), about })
        }
        Err(said) => nothing(before, said.into_iter().map(|d| d.at(Place::File(String::new()), "")).collect()),
    }
}

/// Leaves out what was said already: two kernels may call one faulty helper.
fn once(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = vec![];
    for d in all {
        if !kept.iter().any(|k| k.code == d.code && k.place() == d.place() && k.message == d.message) {
            kept.push(d);
        }
    }
    kept
}
