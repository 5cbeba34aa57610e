//! What the documents say of the command line is true.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Long options in a text: `--emit`.
fn options(text: &str) -> BTreeSet<String> {
    let word = |w: &str| w.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect::<String>();
    text.match_indices("--").map(|(i, _)| word(&text[i..])).filter(|w| w.len() > 3 && !w.starts_with("---")).collect()
}

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ttc")).args([command, "--help"]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn cli_md_names_every_option_of_compile_and_interpret_and_no_other() {
    let interpret = options(&help("interpret"));
    assert!(interpret.contains("--trace"), "{interpret:?}");
    let known: BTreeSet<String> = options(&help("compile")).union(&interpret).cloned().collect();
    assert!(known.len() > 15, "{known:?}");
    let doc = read("docs/cli.md");
    let written = options(&doc);
    let missing: Vec<_> = known.difference(&written).filter(|o| *o != "--help" && *o != "--jobs" && *o != "--kernel").collect();
    assert!(missing.is_empty(), "docs/cli.md lacks {missing:?}");
    let elsewhere = ["--version", "--help", "--json", "--syntax-only"].map(str::to_owned);
    let unknown: Vec<_> = written.difference(&known).filter(|o| !elsewhere.contains(o) && !o.starts_with("--pass")).collect();
    assert!(unknown.is_empty(), "docs/cli.md names {unknown:?}, which ttc does not have");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for doc in [
        "README.md",
        "docs/architecture.md",
        "docs/testing.md",
        "docs/cli.md",
        "docs/interpreter.md",
        "docs/add-an-op.md",
        "docs/add-a-pass.md",
        "docs/performance.md",
    ] {
        let text = read(doc);
        let dir = Path::new(doc).parent().unwrap().to_path_buf();
        for link in text.split("](").skip(1).filter_map(|t| t.split(')').next()).filter(|l| !l.starts_with("http")) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&dir).join(link);
            assert!(path.exists(), "{doc} links to {link}");
        }
    }
}
