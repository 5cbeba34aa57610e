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
fn cli_md_names_every_option_of_compile_and_no_other() {
    let known = options(&help("compile"));
    assert!(known.len() > 15, "{known:?}");
    let doc = read("docs/cli.md");
    let written = options(&doc);
    let missing: Vec<_> = known.difference(&written).filter(|o| *o != "--help" && *o != "--jobs" && *o != "--kernel").collect();
    assert!(missing.is_empty(), "docs/cli.md lacks {missing:?}");
    let elsewhere = ["--version", "--help", "--json", "--syntax-only", "--svg"].map(str::to_owned);
    let unknown: Vec<_> = written.difference(&known).filter(|o| !elsewhere.contains(o) && !o.starts_with("--pass")).collect();
    assert!(unknown.is_empty(), "docs/cli.md names {unknown:?}, which ttc compile does not have");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for doc in [
        "README.md",
        "docs/architecture.md",
        "docs/testing.md",
        "docs/cli.md",
        "docs/layouts.md",
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

/// Every example of docs/layouts.md, a line `$ ttc …` in a block of text, prints what stands below it.
#[test]
fn layouts_md_shows_what_ttc_prints() {
    let ttc = Path::new(env!("CARGO_BIN_EXE_ttc"));
    let text = read("docs/layouts.md");
    let blocks: Vec<&str> = text.split("```text\n$ ").skip(1).filter_map(|t| t.split("```").next()).collect();
    assert!(blocks.len() >= 4, "the examples were not found");
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let rest = command.strip_prefix("ttc ").unwrap();
        let output = Command::new("sh").args(["-c", &format!("'{}' {rest}", ttc.display())]).output().unwrap();
        assert!(output.status.success(), "`{command}` failed");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "{command}");
    }
}

#[test]
fn cli_md_names_the_options_of_layout() {
    let doc = options(&read("docs/cli.md"));
    let missing: Vec<_> = options(&help("layout")).into_iter().filter(|o| !doc.contains(o) && o != "--help").collect();
    assert!(missing.is_empty(), "docs/cli.md lacks {missing:?}");
}
