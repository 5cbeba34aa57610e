//! Every case of `tests/codes` has a mended twin: what its author should have written.
//!
//! `tests/codes/mended.txt` holds the changes, and says in what form. A mended case runs as the case does, must end
//! with exit code 0, and must not show the code. `docs/diagnostics` shows the changed lines (`diagnostics_doc.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Cases;
use super::codes::{self, Case};

/// What is to be done with a case.
pub(crate) enum Mend {
    /// Changes of its text, in order.
    Edits(Vec<Edit>),
    /// Nothing, for this reason.
    Nothing(String),
}

/// A change of a text.
pub(crate) enum Edit {
    /// `s|OLD|NEW|`
    Replace { old: String, new: String },
    /// `-FIRST … LAST` and `+LINE`, as often as it stands there.
    Lines { first: String, last: Option<String>, new: Vec<String> },
}

/// All blocks of `mended.txt`, by code.
pub(crate) fn table() -> BTreeMap<String, Mend> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codes/mended.txt");
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("\n\n").map(|b| b.lines().filter(|l| !l.is_empty() && !l.starts_with('#')));
    blocks
        .filter_map(|mut lines| lines.next().map(|code| (code.to_owned(), block(code, &lines.collect::<Vec<_>>()))))
        .collect()
}

fn block(code: &str, lines: &[&str]) -> Mend {
    let why: Vec<&str> = lines.iter().filter_map(|l| l.strip_prefix("= ")).collect();
    if !why.is_empty() {
        assert_eq!(why.len(), lines.len(), "{code}: a reason or changes");
        return Mend::Nothing(why.join(" "));
    }
    let mut edits: Vec<Edit> = vec![];
    for line in lines {
        if let Some(rest) = line.strip_prefix("s|") {
            let [old, new, ""] = &rest.split('|').collect::<Vec<_>>()[..] else { panic!("{code}: {line}") };
            edits.push(Edit::Replace { old: (*old).to_owned(), new: (*new).to_owned() });
        } else if let Some(rest) = line.strip_prefix('-') {
            let (first, last) = rest.split_once(" … ").map_or((rest, None), |(f, l)| (f, Some(l.to_owned())));
            edits.push(Edit::Lines { first: first.to_owned(), last, new: vec![] });
        } else if let (Some(rest), Some(Edit::Lines { new, .. })) = (line.strip_prefix('+'), edits.last_mut()) {
            new.push(rest.to_owned());
        } else {
            panic!("{code}: `{line}` is no change");
        }
    }
    assert!(!edits.is_empty(), "{code} is not mended");
    Mend::Edits(edits)
}

/// The text after the changes. Each of them must find what it changes.
pub(crate) fn mended(code: &str, text: &str, edits: &[Edit]) -> String {
    edits.iter().fold(text.to_owned(), |text, edit| match edit {
        Edit::Replace { old, new } => {
            assert!(text.contains(old), "{code} does not hold `{old}`");
            text.replace(old, new)
        }
        Edit::Lines { first, last, new } => {
            let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
            let found: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains(first)).collect();
            let [start] = found[..] else { panic!("{code}: {} lines hold `{first}`", found.len()) };
            let end = last.as_ref().map_or(start, |last| {
                (start + 1..lines.len())
                    .find(|&i| lines[i].contains(last))
                    .unwrap_or_else(|| panic!("{code}: no `{last}`"))
            });
            let indent = lines[start].len() - lines[start].trim_start().len();
            let indent = lines[start][..indent].to_owned();
            let put = new.iter().map(|l| if l.is_empty() { String::new() } else { format!("{indent}{l}") });
            lines.splice(start..=end, put.collect::<Vec<_>>());
            lines.join("\n")
        }
    })
}

/// Adds a case for each mended one.
pub(crate) fn cases(cases: &mut Cases) {
    let mut files = codes::files();
    for (code, mend) in table() {
        let case = files.remove(&code).unwrap_or_else(|| panic!("mended.txt names {code}, which has no case"));
        if let Mend::Edits(edits) = mend {
            cases.add(format!("mended::{code}"), move || check(&case, &edits));
        }
    }
    let left: Vec<String> = files.into_keys().collect();
    cases.check("mended::every_case_is_mended", move || {
        assert!(left.is_empty(), "tests/codes/mended.txt does not mend {left:?}");
    });
}

/// Whether what is right stays without the message.
fn check(case: &Case, edits: &[Edit]) -> Result<(), String> {
    let (exit, said) = case.output(&mended(&case.code, &case.text(), edits), "short");
    if exit == Some(0) && !said.contains(&case.code) {
        return Ok(());
    }
    Err(format!("the mended case ends with {exit:?} and says\n{said}"))
}
