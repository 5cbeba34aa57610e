//! The `short` format: one line a diagnostic, for editors and for `grep`.
//!
//! `add.tk:3:9: error[E0203]: unknown name `offs`; help: did you mean `offsets`?`

use super::{Located, one_line};
use crate::diag::Diagnostic;

/// Renders one diagnostic with its line break. The place is the primary label's; without a label the line starts with
/// the severity.
pub(super) fn line(d: &Diagnostic, labels: &[Located]) -> String {
    let place = labels.first().map(|l| l.to_text() + ": ").unwrap_or_default();
    let help = d.help.as_deref().map(|h| format!("; help: {}", one_line(h, 1000))).unwrap_or_default();
    format!("{place}{}[{}]: {}{help}\n", d.severity.word(), d.code.id, one_line(&d.message, 1000))
}
