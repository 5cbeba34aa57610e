//! Expected diagnostics in comments, in the form of MLIR's `-verify-diagnostics`.
//!
//! 1. `expected-error@+1 {{text}}` says that the next line has an error whose message contains the text. The severity
//!    is `error`, `warning`, `remark` or `note`. Without a place, the comment means its own line. `@+N` and `@-N` count
//!    lines, `@above` and `@below` mean the nearest line before or behind that has no such comment, and `@unknown`
//!    means no line. A number behind the place stands for as many comments.
//! 2. In `expected-error-re {{text}}`, a `{{…}}` inside the text holds a regular expression (`regex.rs`). The rest is
//!    literal.
//! 3. Each diagnostic, each note, and each label that points elsewhere (a note there) takes the first comment of its
//!    severity and line that it fits. A diagnostic that fits none is reported where it is, unless only what is expected
//!    is checked. A comment that nothing fits is reported where it stands.
//!
//! ```text
//! // expected-error-re @below {{has {{[0-9]+}} operands}}       fits `it has 3 operands, expected 2`
//! ```

use super::regex::Regex;
use crate::diag::{Diagnostic, Place, Severity, codes};
use crate::source::{FileId, SourceMap};

/// What a message must contain.
#[derive(Clone, Debug)]
enum Wanted {
    Text(String),
    Pattern(Regex),
}

/// One expected diagnostic.
#[derive(Clone, Debug)]
struct Expected {
    /// The line of the comment, from 1 on.
    comment: u32,
    /// The line that must have the diagnostic, or `None` for `@unknown`.
    line: Option<u32>,
    severity: Severity,
    /// The text as it stands in the comment.
    text: String,
    wanted: Wanted,
}

impl Expected {
    fn fits(&self, severity: Severity, line: Option<u32>, message: &str) -> bool {
        // A diagnostic of the whole input may be expected anywhere.
        let here = line.is_none() || line == self.line;
        let says = match &self.wanted {
            Wanted::Text(text) => message.contains(text),
            Wanted::Pattern(pattern) => pattern.is_in(message),
        };
        self.severity == severity && here && says
    }
}

/// Finds what does not agree between a file's comments and the diagnostics that it gave. With `only_expected`,
/// diagnostics that nobody expects agree.
#[must_use]
pub fn check(sources: &SourceMap, file: FileId, given: &[Diagnostic], only_expected: bool) -> Vec<Diagnostic> {
    let name = &sources.file(file).name;
    let fault = |line: u32, text: String| {
        Diagnostic::error(&codes::cli::NOT_EXPECTED, text).at(Place::At { file: name.clone(), line, col: 1 }, "")
    };
    let mut faults = vec![];
    let mut wanted = vec![];
    // The lines are those of the whole file.
    let before = sources.file(file).lines_before();
    for expectation in expectations(&sources.file(file).text) {
        match expectation {
            Ok(e) => wanted.push(Expected { comment: e.comment + before, line: e.line.map(|l| l + before), ..e }),
            Err((line, why)) => faults.push(fault(line + before, why)),
        }
    }
    let mut said: Vec<(Severity, Option<u32>, &str)> = vec![];
    for d in given {
        let line = line_of(d, sources);
        said.push((d.severity, line, &d.message));
        said.extend(d.notes.iter().map(|n| (Severity::Note, line, n.as_str())));
        let elsewhere = d.labels.iter().skip(1).filter(|l| !l.text.is_empty());
        said.extend(elsewhere.map(|l| (Severity::Note, line_at(&l.place, sources), l.text.as_str())));
    }
    for (severity, line, message) in said {
        match wanted.iter().position(|e| e.fits(severity, line, message)) {
            Some(i) => drop(wanted.remove(i)),
            None if only_expected => {}
            None => faults.push(fault(line.unwrap_or(1), format!("unexpected {}: {message}", severity.word()))),
        }
    }
    faults.extend(wanted.into_iter().map(|e| {
        let place = e.line.map_or("without a line".to_owned(), |l| format!("at line {l}"));
        fault(e.comment, format!("expected {} \"{}\" {place} was not produced", e.severity.word(), e.text))
    }));
    faults
}

fn line_of(d: &Diagnostic, sources: &SourceMap) -> Option<u32> {
    d.place().and_then(|p| line_at(p, sources))
}

fn line_at(place: &Place, sources: &SourceMap) -> Option<u32> {
    match place {
        Place::Span(s) => Some(sources.line_col(*s).line),
        Place::At { line, .. } => Some(*line),
        Place::File(_) => None,
    }
}

/// All expectations of a text. A comment that cannot be read gives its line and the reason.
fn expectations(text: &str) -> Vec<Result<Expected, (u32, String)>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = vec![];
    for (index, line) in lines.iter().enumerate() {
        for (at, _) in line.match_indices("expected-") {
            match expectation(&line[at + "expected-".len()..], index, &lines) {
                Ok(Some((expected, times))) => all.extend(std::iter::repeat_n(Ok(expected), times)),
                Ok(None) => {}
                Err(why) => all.push(Err((index as u32 + 1, why))),
            }
        }
    }
    all
}

/// Reads the expectation behind `expected-` and how often it is meant. The result is `None` if there is none.
fn expectation(rest: &str, index: usize, lines: &[&str]) -> Result<Option<(Expected, usize)>, String> {
    let severities = [Severity::Error, Severity::Warning, Severity::Remark, Severity::Note];
    let Some(severity) = severities.into_iter().find(|s| rest.starts_with(s.word())) else { return Ok(None) };
    let rest = &rest[severity.word().len()..];
    let (is_pattern, rest) = rest.strip_prefix("-re").map_or((false, rest), |r| (true, r));
    let Some(open) = rest.find("{{") else { return Ok(None) };
    let Some(text) = braced(&rest[open + 2..], is_pattern) else { return Ok(None) };
    let (place, times) = match rest[..open].trim().split_once(char::is_whitespace) {
        Some((place, times)) if place.starts_with('@') => (place, times.trim()),
        _ if rest[..open].trim().starts_with('@') => (rest[..open].trim(), ""),
        _ => ("", rest[..open].trim()),
    };
    let Some(line) = line_meant(place, index, lines) else { return Ok(None) };
    let Ok(times) = (if times.is_empty() { Ok(1) } else { times.parse() }) else { return Ok(None) };
    let wanted = if is_pattern { Wanted::Pattern(Regex::embedded(text)?) } else { Wanted::Text(text.to_owned()) };
    Ok(Some((Expected { comment: index as u32 + 1, line, severity, text: text.to_owned(), wanted }, times)))
}

/// The text up to the `}}` that closes it. In a pattern, a `{{…}}` inside belongs to the text.
fn braced(text: &str, is_pattern: bool) -> Option<&str> {
    let mut at = 0;
    loop {
        let close = at + text[at..].find("}}")?;
        match text[at..close].find("{{").filter(|_| is_pattern) {
            Some(_) => at = close + 2,
            None => return Some(&text[..close]),
        }
    }
}

/// The line that a place means. The outer `None` stands for a place that cannot be read, the inner one for `@unknown`.
#[allow(clippy::option_option)]
fn line_meant(place: &str, index: usize, lines: &[&str]) -> Option<Option<u32>> {
    // No diagnostic is at a line that holds only expectations.
    let plain = |i: &usize| !lines[*i].contains("expected-") || !lines[*i].trim_start().starts_with("//");
    let number = |i: usize| Some(Some(i as u32 + 1));
    match place {
        "" => number(index),
        "@unknown" => Some(None),
        "@above" => number((0..index).rev().find(plain)?),
        "@below" => number((index + 1..lines.len()).find(plain).unwrap_or(index + 1)),
        _ => {
            let line = i64::try_from(index).ok()? + 1 + place.strip_prefix('@')?.parse::<i64>().ok()?;
            Some(Some(u32::try_from(line).ok()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Option<u32>, Severity, String)> {
        expectations(text).into_iter().map(|e| e.map(|e| (e.line, e.severity, e.text)).unwrap()).collect()
    }

    #[test]
    fn places_and_counts_are_read() {
        let text = "// expected-error@+2 {{a b}}\nx\n// expected-remark@above 2 {{c}} expected-note {{d}}\n// expected-error @unknown {{e}}\n";
        let s = |t: &str| t.to_owned();
        assert_eq!(
            read(text),
            [
                (Some(3), Severity::Error, s("a b")),
                (Some(2), Severity::Remark, s("c")),
                (Some(2), Severity::Remark, s("c")),
                (Some(3), Severity::Note, s("d")),
                (None, Severity::Error, s("e")),
            ]
        );
    }

    #[test]
    fn above_and_below_skip_other_expectations() {
        let text = "op1\n// expected-note @above {{x}}\n// expected-error @above {{y}}\n// expected-error @below {{z}}\n// expected-note @below {{w}}\nop2";
        let lines: Vec<_> = read(text).into_iter().map(|e| e.0).collect();
        assert_eq!(lines, [Some(1), Some(1), Some(6), Some(6)]);
    }

    #[test]
    fn patterns_stand_inside_of_text() {
        let text = "// expected-error-re @below {{has {{[0-9]+}} operands (not {{a|b}})}}\nx";
        let found = expectations(text);
        let Ok(e) = &found[0] else { panic!("{found:?}") };
        assert!(e.fits(Severity::Error, Some(2), "it has 31 operands (not b) here"));
        assert!(
            !e.fits(Severity::Error, Some(2), "it has no operands (not b)")
                && !e.fits(Severity::Error, Some(1), "has 1 operands (not a)")
        );
        assert!(matches!(expectations("// expected-error-re {{a{{(}}}}")[0], Err((1, _))));
    }
}
