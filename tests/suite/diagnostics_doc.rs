//! docs/diagnostics.md and docs/diagnostics/*.md: every diagnostic with what `ttc explain` says, a case that shows it
//! (`tests/codes`), the message, and how the case is mended (`mended.rs`).
//!
//! `BLESS=1 cargo test diagnostics_doc` writes them; without, the test fails where the documents differ.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ttc::diag::{Code, codes};

use super::Cases;
use super::bless::diff;
use super::codes::{Case, files};
use super::generated::{document, wrapped};
use super::mended::{Mend, mended, table};

/// First letters of the codes of a page, its file, its title.
const PAGES: &[(&str, &str, &str)] = &[
    ("E01", "syntax", "Words and syntax of a kernel file"),
    ("E02", "names", "Names, calls, constexpr values, signatures"),
    ("E03", "types", "Types and shapes of the language"),
    ("E04", "ir-text", "IR text"),
    ("E05", "verify", "IR verification"),
    ("E06", "passes", "Passes, their options and their remarks"),
    ("E07", "codegen", "Code generation and limits of the target"),
    ("E08", "tools", "Tools: ptxas, nvdisasm, LLVM"),
    ("E09", "command-line", "Files and the command line"),
    ("E10", "interpreter", "The interpreter and the faults that it finds"),
    ("E11", "gpu", "Kernels on a GPU"),
    ("E12", "emulator", "The PTX emulator and what it finds"),
];

/// A text of more lines is cut to half of them.
const LONG: usize = 40;
/// A line of more characters is cut.
const WIDE: usize = 160;

/// Adds the case that guards the pages.
pub(crate) fn cases(cases: &mut Cases) {
    cases.check("diagnostics_doc", check);
}

fn check() {
    let (mut files, mends) = (files(), table());
    let mut index = String::from("# Diagnostics\n\n");
    index += &wrapped(
        "",
        "Every message of ttc has a code, and `ttc explain E0203` says more about one. These pages say the same, with a \
         file that shows the message, and with what its author should have written: the lines that change. In a file, \
         the comment `ttc:` says how it is run; `%s` is its name, and `setup:` is what the shell does before. `cargo \
         test codes` runs every file, and `cargo test mended` every mended one. The pages are made by `BLESS=1 cargo test \
         diagnostics_doc`.",
    );
    for (letters, file, title) in PAGES {
        let mut page = format!("# {title}\n\nAll codes: [diagnostics](../diagnostics.md).\n");
        write!(index, "\n## {title}\n\n| code | meaning |\n|---|---|\n").unwrap();
        for code in codes::all().filter(|c| c.id.starts_with(letters)) {
            writeln!(index, "| [{0}](diagnostics/{file}.md#{1}) | {2} |", code.id, anchor(code), code.title).unwrap();
            entry(&mut page, code, files.remove(code.id).as_ref(), mends.get(code.id));
        }
        document(&format!("docs/diagnostics/{file}.md"), &page, "diagnostics_doc");
    }
    assert!(files.is_empty(), "no page has the codes {:?}", files.keys());
    document("docs/diagnostics.md", &index, "diagnostics_doc");
    let known: Vec<String> = PAGES.iter().map(|p| format!("{}.md", p.1)).collect();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/diagnostics")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(known.contains(&name), "docs/diagnostics/{name} is of no area");
    }
}

/// What `ttc explain` says, in lines of a document.
fn explained(code: &Code) -> String {
    let mut in_code = false;
    let line = |line: &str| {
        let fence = line.starts_with("```");
        in_code ^= fence;
        if in_code || fence || line.starts_with("    ") { format!("{line}\n") } else { wrapped("", line) }
    };
    code.explain.trim().lines().map(line).collect()
}

fn heading(code: &Code) -> String {
    format!("{}: {}", code.id, code.title)
}

/// The name by which links reach the heading.
fn anchor(code: &Code) -> String {
    let kept =
        heading(code).to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.replace(' ', "-")
}

fn entry(page: &mut String, code: &Code, case: Option<&Case>, mend: Option<&Mend>) {
    write!(page, "\n## {}\n\n{}", heading(code), explained(code)).unwrap();
    let Some(case) = case else {
        page.push_str("\nNo file alone leads to it, so there is no example.\n");
        return;
    };
    let text = case.text();
    writeln!(page, "\n*For example, `{}`:*\n\n{}", case.name(), fenced(language(&case.name()), &text)).unwrap();
    for (name, text) in case.companions() {
        writeln!(page, "with `{name}`\n\n{}", fenced("sh", &text)).unwrap();
    }
    writeln!(page, "*The message:*\n\n{}", fenced("text", &message(code))).unwrap();
    match mend.expect("every case is mended") {
        Mend::Nothing(why) => write!(page, "*Mended:* {}", wrapped("", why)).unwrap(),
        Mend::Edits(edits) => {
            let after = mended(&case.code, &text, edits);
            let changed: String =
                diff(&text, &after).lines().filter(|l| !l.starts_with("@@")).map(|l| format!("{l}\n")).collect();
            write!(page, "*Mended:*\n\n{}", fenced("diff", &changed)).unwrap();
        }
    }
}

/// What the snapshot holds for people.
fn message(code: &Code) -> String {
    let path = format!("tests/codes/snapshots/{}.snap", code.id);
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let human = text.split("---- human\n").nth(1).and_then(|t| t.split("---- short").next());
    human.expect("a snapshot holds three formats").to_owned()
}

fn language(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |n| n.1) {
        "tk" | "txt" => "python",
        "ttir" | "ttgir" | "mlir" => "mlir",
        "llir" => "llvm",
        "toml" => "toml",
        _ => "text",
    }
}

/// A block of code, in which very long lines and very many of them are cut.
fn fenced(language: &str, text: &str) -> String {
    let cut = |line: &str| match line.char_indices().nth(WIDE) {
        Some((at, _)) => format!("{} …", &line[..at]),
        None => line.to_owned(),
    };
    let mut lines: Vec<String> = text.trim_end().lines().map(|l| cut(l.trim_end())).collect();
    if lines.len() > LONG {
        lines.truncate(LONG / 2);
        lines.push("…".to_owned());
    }
    format!("```{language}\n{}\n```\n", lines.join("\n"))
}
