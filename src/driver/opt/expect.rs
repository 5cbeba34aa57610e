//! Expected diagnostics in comments, as MLIR's `-verify-diagnostics` has them.
//!
//! `expected-error@+1 {{text}}` says that the next line has an error whose message contains the text. The severity is `error`, `warning`,
//! `remark` or `note`; the place is this line, `@+N`, `@-N`, `@above` (the line before) or `@below`; a number may follow the place for the same
//! diagnostic several times. Each diagnostic must be expected by one comment and each comment met by one diagnostic.

use crate::diag::{Diagnostic, Place, Severity, codes};
use crate::source::{FileId, SourceMap};

/// One expectation.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Expected {
    /// Where the comment is, 1-based.
    comment: u32,
    /// The line that must have the diagnostic.
    line: u32,
    severity: Severity,
    text: String,
}

/// What does not agree between a file's comments and the diagnostics it gave.
#[must_use]
pub fn check(sources: &SourceMap, file: FileId, given: &[Diagnostic]) -> Vec<Diagnostic> {
    let name = &sources.file(file).name;
    let mut wanted = expectations(&sources.file(file).text);
    let mut faults = vec![];
    let mut said: Vec<(Severity, Option<u32>, &str)> = vec![];
    for d in given {
        let line = line_of(d, sources);
        said.push((d.severity, line, &d.message));
        said.extend(d.notes.iter().map(|n| (Severity::Note, line, n.as_str())));
    }
    for (severity, line, message) in said {
        let met = wanted.iter().position(|e| e.severity == severity && line.is_none_or(|l| l == e.line) && message.contains(&e.text));
        match met {
            Some(i) => drop(wanted.remove(i)),
            // A note explains its error; it may go without a comment of its own.
            None if severity == Severity::Note => {}
            None => faults.push(
                Diagnostic::error(&codes::cli::NOT_EXPECTED, format!("unexpected {}: {message}", severity.word()))
                    .at(Place::At { file: name.clone(), line: line.unwrap_or(1), col: 1 }, ""),
            ),
        }
    }
    faults.extend(wanted.into_iter().map(|e| {
        let text = format!("expected {} \"{}\" at line {} was not produced", e.severity.word(), e.text, e.line);
        Diagnostic::error(&codes::cli::NOT_EXPECTED, text).at(Place::At { file: name.clone(), line: e.comment, col: 1 }, "")
    }));
    faults
}

fn line_of(d: &Diagnostic, sources: &SourceMap) -> Option<u32> {
    match d.place()? {
        Place::Span(s) => Some(sources.line_col(*s).line),
        Place::At { line, .. } => Some(*line),
        Place::File(_) => None,
    }
}

fn expectations(text: &str) -> Vec<Expected> {
    let mut all = vec![];
    for (index, line) in text.lines().enumerate() {
        let comment = index as u32 + 1;
        for (at, _) in line.match_indices("expected-") {
            if let Some((expected, times)) = expectation(&line[at + "expected-".len()..], comment) {
                all.extend(std::iter::repeat_n(expected, times));
            }
        }
    }
    all
}

/// Reads one expectation behind `expected-`, and how often it is meant.
fn expectation(rest: &str, comment: u32) -> Option<(Expected, usize)> {
    let severities = [Severity::Error, Severity::Warning, Severity::Remark, Severity::Note];
    let severity = severities.into_iter().find(|s| rest.starts_with(s.word()))?;
    let rest = &rest[severity.word().len()..];
    let open = rest.find("{{")?;
    let mut head = rest[..open].trim();
    let text = rest[open + 2..].split("}}").next()?.to_owned();
    let mut line = i64::from(comment);
    if let Some(place) = head.strip_prefix('@') {
        let end = place.find(char::is_whitespace).unwrap_or(place.len());
        line += match &place[..end] {
            "above" => -1,
            "below" => 1,
            offset => offset.parse::<i64>().ok()?,
        };
        head = place[end..].trim();
    }
    let times = if head.is_empty() { 1 } else { head.parse().ok()? };
    Some((Expected { comment, line: u32::try_from(line).ok()?, severity, text }, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_counts_are_read() {
        let text = "// expected-error@+2 {{a b}}\n// expected-remark@above 2 {{c}} expected-note {{d}}\n";
        let lines: Vec<_> = expectations(text).into_iter().map(|e| (e.line, e.severity, e.text)).collect();
        let s = |t: &str| t.to_owned();
        assert_eq!(
            lines,
            [(3, Severity::Error, s("a b")), (1, Severity::Remark, s("c")), (1, Severity::Remark, s("c")), (2, Severity::Note, s("d"))]
        );
    }
}
