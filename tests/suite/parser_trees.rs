//! The parser: one snapshot for each file of `tests/parser`, with the syntax tree and the messages.
//!
//! To add a case, add a file to `tests/parser` and bless it: `INSTA_UPDATE=always cargo test parser`.

use std::path::{Path, PathBuf};

use ttc::parser::ast::dump;

use super::Cases;
use super::parser_text::{parse, render};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parser")
}

/// Adds a case for each file.
pub(crate) fn cases(cases: &mut Cases) {
    let mut files: Vec<_> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "py" || e == "tk"));
    files.sort();
    assert!(files.len() >= 8, "the inputs are missing");
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        cases.check(format!("parser::{name}"), move || check(&path, &name));
    }
}

fn check(path: &Path, name: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let (map, module, errors) = parse(&std::fs::read_to_string(path).unwrap());
    let out = format!("{}\n--- diagnostics\n{}", dump::module(&module), render(&map, &errors));
    settings.bind(|| insta::assert_snapshot!(name, out));
}
