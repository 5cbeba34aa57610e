//! What the documents say of the command line is true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn read(path: impl AsRef<Path>) -> String {
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
    let both: BTreeSet<String> = options(&help("compile")).union(&interpret).cloned().collect();
    let known: BTreeSet<String> = both.union(&options(&help("emulate"))).cloned().collect();
    assert!(known.len() > 15, "{known:?}");
    let doc = read("docs/cli.md");
    let written = options(&doc);
    let missing: Vec<_> =
        known.difference(&written).filter(|o| *o != "--help" && *o != "--jobs" && *o != "--kernel").collect();
    assert!(missing.is_empty(), "docs/cli.md lacks {missing:?}");
    let elsewhere =
        ["--version", "--help", "--json", "--syntax-only", "--svg", "--template", "--manifest"].map(str::to_owned);
    let unknown: Vec<_> =
        written.difference(&known).filter(|o| !elsewhere.contains(o) && !o.starts_with("--pass")).collect();
    assert!(unknown.is_empty(), "docs/cli.md names {unknown:?}, which ttc does not have");
}

#[test]
fn measuring_md_names_every_option_of_run_bench_and_tune_and_no_other() {
    let known: BTreeSet<String> = ["run", "bench", "tune"].iter().flat_map(|c| options(&help(c))).collect();
    assert!(known.contains("--max-spills"), "{known:?}");
    let written = options(&read("docs/measuring.md"));
    let everywhere = ["--help", "--error-format", "--color"].map(str::to_owned);
    let missing: Vec<_> = known.difference(&written).filter(|o| !everywhere.contains(o)).collect();
    assert!(missing.is_empty(), "docs/measuring.md lacks {missing:?}");
    let unknown: Vec<_> = written.difference(&known).collect();
    assert!(unknown.is_empty(), "docs/measuring.md names {unknown:?}, which no command has");
}

#[test]
fn build_md_names_every_option_and_key_of_a_manifest() {
    let doc = read("docs/build.md");
    let elsewhere = ["--help", "--jobs", "--kernel", "--ptxas", "--ptxas-timeout", "--error-format", "--color"];
    let missing: Vec<_> =
        options(&help("build")).into_iter().filter(|o| !elsewhere.contains(&o.as_str()) && !doc.contains(o)).collect();
    assert!(missing.is_empty(), "docs/build.md lacks {missing:?}");
    let dir = tempfile::tempdir().unwrap();
    // What is unknown is answered with everything that is known.
    for table in ["build", "kernel.k", "kernel.k.variant.v"] {
        let manifest = dir.path().join("ttc.toml");
        fs::write(&manifest, format!("[{table}]\nnonsense = 1\n")).unwrap();
        let said = Command::new(env!("CARGO_BIN_EXE_ttc")).arg("build").arg(&manifest).output().unwrap().stderr;
        let said = String::from_utf8(said).unwrap();
        let (_, known) = said.lines().next().unwrap().split_once("expected one of ").unwrap();
        let keys: Vec<&str> = known.split(", ").map(|k| k.trim_matches('`')).collect();
        assert!(keys.len() > 4 || table.contains("variant"), "{known}");
        for key in keys {
            assert!(doc.contains(&format!("`{key}`")) || key == "variant", "docs/build.md lacks `{key}`");
        }
    }
}

/// Every Markdown file of docs/, as paths from the root of the repository.
fn documents() -> Vec<String> {
    fn walk(dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "md") {
                let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    let mut found = vec![];
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"), &mut found);
    found.sort();
    assert!(found.len() > 10, "{found:?}");
    found
}

/// The links of a text, but those to other sites, and those in blocks of code.
fn links(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut outside = vec![];
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        if !in_code && !line.starts_with("    ") {
            outside.push(line);
        }
    }
    let ends = outside.into_iter().flat_map(|line| line.split("](").skip(1));
    ends.filter_map(|t| t.split(')').next()).filter(|l| !l.starts_with("http")).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut docs = documents();
    docs.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(String::from));
    for doc in &docs {
        let text = read(doc);
        let dir = Path::new(doc.as_str()).parent().unwrap().to_path_buf();
        for link in links(&text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { PathBuf::from(doc) } else { dir.join(file) };
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists(), "{doc} links to {link}");
            if !heading.is_empty() {
                assert!(headings(&read(&target)).any(|h| h == heading), "{doc} links to {link}");
            }
        }
    }
}

/// docs/SUMMARY.md, the table of contents of the book, names every page once and no other.
#[test]
fn the_book_has_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let mut named: Vec<String> = links(&summary).into_iter().map(|l| format!("docs/{l}")).collect();
    named.sort();
    let pages: Vec<String> = documents().into_iter().filter(|d| d != "docs/SUMMARY.md").collect();
    assert_eq!(named, pages);
}

/// The names by which links reach the headings of a document: small letters, digits, `-` and `_`; spaces as `-`.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn examples_of_ir_md_print_as_they_are() {
    let doc = read("docs/ir.md");
    let examples: Vec<&str> = doc.split("```mlir\n").skip(1).filter_map(|t| t.split("```").next()).collect();
    assert!(examples.len() >= 3, "{}", examples.len());
    for text in examples {
        let mut map = ttc::source::SourceMap::default();
        let file = map.add("ir.md", None, text);
        let options = ttc::ir::text::ParseOptions::default();
        let ir =
            ttc::ir::text::parse_module(&map, file, &options).unwrap_or_else(|e| panic!("{}\n{text}", e[0].message));
        let faults: Vec<String> = ttc::layout::verify(&ir).into_iter().map(|d| d.message).collect();
        assert!(faults.is_empty(), "{faults:?}\n{text}");
        assert_eq!(ttc::ir::text::print_module(&ir, &ttc::ir::text::PrintOptions::default()), text);
    }
}

#[test]
fn operations_that_ir_md_names_exist() {
    let doc = read("docs/ir.md");
    let themes = doc
        .split("## Operations by theme")
        .nth(1)
        .and_then(|t| t.split("This is how operations with regions").next())
        .unwrap();
    let names: Vec<&str> = themes.split('`').skip(1).step_by(2).filter(|n| n.contains('.')).collect();
    assert!(names.len() > 50, "{names:?}");
    let known: Vec<&str> = ttc::ir::OpKind::all().map(ttc::ir::OpKind::name).collect();
    let unknown: Vec<_> = names
        .iter()
        .filter(|n| !known.iter().any(|k| k == *n || n.strip_suffix('*').is_some_and(|p| k.starts_with(p))))
        .collect();
    assert!(unknown.is_empty(), "no such operations: {unknown:?}");
}

/// Every example of docs/layouts.md, a line `$ ttc …` in a block of text, prints what stands below it.
#[test]
fn layouts_md_shows_what_ttc_prints() {
    let ttc = Path::new(env!("CARGO_BIN_EXE_ttc"));
    let text = read("docs/layouts.md");
    let blocks: Vec<&str> = text.split("```text\n$ ").skip(1).filter_map(|t| t.split("```").next()).collect();
    assert!(blocks.len() >= 4, "the examples were not found");
    for block in blocks {
        // A command goes on behind a line that ends in a backslash.
        let end = block.match_indices('\n').find(|(i, _)| !block[..*i].ends_with('\\')).unwrap().0;
        let (command, shown) = (&block[..end], &block[end + 1..]);
        let rest = command.strip_prefix("ttc ").unwrap();
        let output = Command::new("sh").args(["-c", &format!("'{}' {rest}", ttc.display())]).output().unwrap();
        assert!(output.status.success(), "`{command}` failed");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "{command}");
    }
}

/// docs/passes.md names every pass by its flag, and no flag that is none.
#[test]
fn passes_md_names_every_pass_and_no_other() {
    let doc = read("docs/passes.md");
    // A flag with a word behind it is an option of `ttc compile`.
    let words = doc.split('`').skip(1).step_by(2).filter(|w| !w.contains(' '));
    let written: BTreeSet<&str> = words.filter_map(|w| w.strip_prefix("--")).collect();
    let known: BTreeSet<&str> = ttc::passes::registry::ALL.iter().map(|p| p.name).collect();
    let missing: Vec<_> = known.difference(&written).collect();
    assert!(missing.is_empty(), "docs/passes.md lacks {missing:?}");
    let unknown: Vec<_> = written.difference(&known).collect();
    assert!(unknown.is_empty(), "docs/passes.md names {unknown:?}, which are no passes");
}

/// docs/language.md names every primitive and every function of the prelude.
#[test]
fn language_md_names_everything_that_kernels_can_call() {
    let doc = read("docs/language.md");
    let words: BTreeSet<&str> = doc.split('`').skip(1).step_by(2).collect();
    let primitives = ttc::irgen::builtins::all().map(|b| b.name);
    let known: BTreeSet<&str> = primitives
        .chain(ttc::irgen::front::prelude::NAMES.iter().map(|n| n.0))
        .filter(|n| !n.starts_with('_'))
        .collect();
    assert!(known.len() > 100, "{known:?}");
    // Questions about a dtype are too many and too alike to be listed.
    let missing: Vec<_> = known.difference(&words).filter(|n| !n.starts_with("is_")).collect();
    assert!(missing.is_empty(), "docs/language.md lacks {missing:?}");
    // What the list names exists, with what is no call: types, options, Python's statements.
    let list = doc.split("## What there is").nth(1).and_then(|t| t.split("## Differences").next()).unwrap();
    let others = [
        "tensor",
        "constexpr",
        "dtype",
        "pointer_type",
        "block_type",
        "num_stages",
        "loop_unroll_factor",
        "disallow_acc_multi_buffer",
    ];
    let more = [
        "flatten",
        "warp_specialize",
        "disable_licm",
        "assert",
        "tl.extra.libdevice",
        "os.environ.get",
        "torch.finfo",
        "torch.iinfo",
    ];
    let named = list.split('`').skip(1).step_by(2).filter(|w| !w.contains('/'));
    let unknown: Vec<_> = named.filter(|w| !known.contains(w) && !others.contains(w) && !more.contains(w)).collect();
    assert!(unknown.is_empty(), "docs/language.md names {unknown:?}, which kernels cannot call");
}
