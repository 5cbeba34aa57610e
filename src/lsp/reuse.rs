//! What of the analysis of an older text still holds for a newer one, so that a key costs one kernel and not all.
//!
//! 1. If the lines outside of functions are the same but for empty ones, and the functions have the same names in the
//!    same order, only functions whose own text differs have changed. Otherwise nothing is reused.
//! 2. A kernel's results are reused if it reaches no changed function, and is compiled as before.
//! 3. Its places move with the function that they lie in.
//!
//! Example: typing in `softmax` of a file with `softmax` and `matmul` leaves `matmul` as it was, three bytes further
//! on.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::analysis::{About, Analysis};
use super::kernels::Unit;
use crate::diag::{Diagnostic, Fix, Label, Place};
use crate::driver::Job;
use crate::irgen::front::top_level::TopLevel;
use crate::irgen::reaching;
use crate::source::{FileId, Span};

/// An older analysis, seen from a newer text.
pub(super) struct Reuse {
    old: Arc<Analysis>,
    /// The names of functions whose text differs.
    changed: BTreeSet<String>,
    /// Those, and all that use them.
    reached: BTreeSet<String>,
    /// Functions of the old text: start, end, and how far they moved.
    moved: Vec<(u32, u32, i64)>,
}

impl Reuse {
    /// Compares two texts of one document. `None` if nothing of the old analysis can be used.
    #[must_use]
    pub(super) fn of(old: &Arc<Analysis>, text: &str, top: &TopLevel, file: FileId) -> Option<Reuse> {
        let About::Kernels(kernels) = &old.about else { return None };
        let (before, now) = (&kernels.top.functions, &top.functions);
        if old.file != file || before.len() != now.len() {
            return None;
        }
        let old_text = &*old.own().text;
        let slice = |text: &'_ str, s: Span| text.get(s.lo as usize..s.hi as usize).map(str::to_owned);
        let (mut changed, mut moved) = (BTreeSet::new(), vec![]);
        for (a, b) in before.iter().zip(now) {
            if a.name.name != b.name.name || a.is_jit != b.is_jit {
                return None;
            }
            if slice(old_text, a.span) != slice(text, b.span) {
                changed.insert(a.name.to_string());
            }
            moved.push((a.span.lo, a.span.hi, i64::from(b.span.lo) - i64::from(a.span.lo)));
        }
        let outside = outside(text, now.iter().map(|f| f.span));
        // A constant may stand for a function.
        let named = changed.iter().any(|name| outside.contains(name.as_str()));
        let same = outside == self::outside(old_text, before.iter().map(|f| f.span));
        let reached = reaching(now, &changed);
        (same && !named).then(|| Reuse { old: old.clone(), changed, reached, moved })
    }

    /// The results of a kernel, if they still hold.
    #[must_use]
    pub(super) fn unit(&self, job: &Job) -> Option<Unit> {
        let About::Kernels(kernels) = &self.old.about else { return None };
        let name = job.kernel.as_deref().filter(|name| !self.reached.contains(*name))?;
        let old = kernels.units.iter().find(|u| u.name == name)?;
        let options = |job: &Job| format!("{:?} {:?} {:?}", job.settled(), job.config, job.target.name);
        let now = options(job);
        if now != options(&old.job) || self.changed.iter().any(|name| now.contains(name.as_str())) {
            return None;
        }
        let said = old.said.iter().map(|d| self.diagnostic(d)).collect::<Option<_>>()?;
        let sights = old.sights.moved(&|span| self.span(span));
        Some(Unit { name: old.name.clone(), job: job.clone(), sights, said, lowered: old.lowered.clone() })
    }

    /// Where a place of the old text is now. `None` for one outside of functions, or in another file of the user's.
    fn span(&self, span: Span) -> Option<Span> {
        if span.file.is_embedded() {
            return Some(span);
        }
        let within = |&&(lo, hi, _): &&(u32, u32, i64)| lo <= span.lo && span.hi <= hi;
        let &(_, _, by) = self.moved.iter().find(within).filter(|_| span.file == self.old.file)?;
        let shift = |at: u32| u32::try_from(i64::from(at) + by).ok();
        Some(Span { lo: shift(span.lo)?, hi: shift(span.hi)?, ..span })
    }

    fn diagnostic(&self, d: &Diagnostic) -> Option<Diagnostic> {
        let label = |l: &Label| match &l.place {
            Place::Span(span) => Some(Label { place: self.span(*span)?.into(), text: l.text.clone() }),
            Place::At { .. } | Place::File(_) => None,
        };
        let mut moved = d.clone();
        moved.labels = d.labels.iter().map(label).collect::<Option<_>>()?;
        if let Some(Fix { title, edits }) = d.fix.as_deref() {
            let edits =
                edits.iter().map(|(span, text)| Some((self.span(*span)?, text.clone()))).collect::<Option<_>>()?;
            moved.fix = Some(Box::new(Fix { title: title.clone(), edits }));
        }
        Some(moved)
    }
}

/// The lines outside of functions, without empty ones and without blanks at their ends.
fn outside(text: &str, functions: impl Iterator<Item = Span>) -> String {
    let (mut out, mut at) = (String::new(), 0);
    let mut add = |part: &str| {
        for line in part.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            out.push_str(line);
            out.push('\n');
        }
    };
    for span in functions {
        // A function in another one begins before the end of that.
        add(text.get(at..span.lo as usize).unwrap_or(""));
        at = at.max(span.hi as usize);
    }
    add(text.get(at..).unwrap_or(""));
    out
}
