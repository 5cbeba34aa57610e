//! Leaves out what was said before. The jobs of a run share files, functions and options, so each of them may find the
//! same fault.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Place};
use crate::source::SourceMap;

/// What was said: codes, places and messages.
#[derive(Default)]
pub struct Seen(BTreeSet<(&'static str, String, String)>);

impl Seen {
    /// Whether a diagnostic says something new, which is then no longer new.
    pub fn is_new(&mut self, d: &Diagnostic, sources: &SourceMap) -> bool {
        let at = match d.place() {
            Some(Place::Span(s)) => format!("{}:{}", sources.file(s.file).name, s.lo),
            other => format!("{other:?}"),
        };
        self.0.insert((d.code.id, at, d.message.clone()))
    }
}

/// Leaves out what was said before, of those diagnostics that `counts` is true of.
pub fn once(groups: &mut [(Vec<Diagnostic>, SourceMap)], counts: impl Fn(&Diagnostic) -> bool) {
    let mut seen = Seen::default();
    for (said, sources) in groups {
        said.retain(|d| !counts(d) || seen.is_new(d, sources));
    }
}
