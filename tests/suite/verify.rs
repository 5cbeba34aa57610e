//! The text tests of the verifier under `tests/irtext/verify/`.
//!
//! 1. A file holds modules between lines `// -----`. Each is parsed, which must succeed, and verified with the rules of
//!    `ttc::layout`.
//! 2. A fault is expected on each line that ends in `// expected: CODE part of the message`, and nowhere else.
//! 3. Every file has at least one module without a fault and one with.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ttc::diag::Place;
use ttc::ir::text::{ParseOptions, parse_module};
use ttc::layout;
use ttc::source::SourceMap;

/// A fault: its line, and code and message.
type Fault = (u32, String);

#[test]
fn faults_stand_on_the_lines_that_expect_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/irtext/verify");
    let files: BTreeSet<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(!files.is_empty());
    let problems: Vec<String> = files.iter().flat_map(|path| check(path)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn check(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).unwrap();
    let (mut problems, mut expected_any, mut functions) = (vec![], false, 0);
    for (number, part) in text.split("// -----\n").enumerate() {
        let expected = expected(part);
        expected_any |= !expected.is_empty();
        functions += part.matches("@good").count();
        let found = faults(&name, part);
        let pairs_up = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(f, e)| {
                let (code, part) = e.1.split_once(' ').unwrap();
                f.0 == e.0 && f.1.starts_with(code) && f.1.contains(part)
            });
        if !pairs_up {
            problems.push(format!("{name}, module {number}: expected {expected:#?}, found {found:#?}"));
        }
    }
    if !expected_any || functions == 0 {
        problems.push(format!("{name}: has no function @good or expects no fault"));
    }
    problems
}

fn expected(part: &str) -> Vec<Fault> {
    let lines = part.lines().zip(1..);
    lines
        .filter_map(|(line, number)| line.split_once("// expected: ").map(|(_, e)| (number, e.trim().to_owned())))
        .collect()
}

fn faults(name: &str, part: &str) -> Vec<Fault> {
    let mut map = SourceMap::default();
    let file = map.add(name.to_owned(), None, part.to_owned());
    let ir = parse_module(&map, file, &ParseOptions::default()).unwrap_or_else(|e| panic!("{name}: {}", e[0].message));
    let line = |d: &ttc::diag::Diagnostic| match d.place() {
        Some(Place::At { line, .. }) => *line,
        other => panic!("{name}: `{}` is at {other:?}, expected a line", d.message),
    };
    let mut found: Vec<Fault> =
        layout::verify(&ir).iter().map(|d| (line(d), format!("{} {}", d.code.id, d.message))).collect();
    found.sort();
    found
}
