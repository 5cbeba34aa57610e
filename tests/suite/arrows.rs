//! Checks the rules about who may use what in `src/`, as `docs/architecture.md` states them.
//!
//! 1. Every `.rs` and `.lalrpop` file under `src/` is read; comments, string contents and test modules are left out.
//! 2. `crate::X`, `use crate::{X, Y}` and chains of `super::` that reach the crate's root name a top-level module. The
//!    module of the file must be allowed to import it ([`ARROWS`]).
//! 3. Some words belong to some files alone ([`WORDS`]): `inkwell` to `src/codegen/`, `ariadne` to `src/diag/`,
//!    processes to `src/ptxas.rs`, printing to `src/main.rs`.
//! 4. Every `.rs` file starts with `//!`.
//!
//! This is a scan of text, not of syntax: it finds what people write, and the unit tests below pin what that is.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each top-level module with what it may import. `a::b` allows only that part of `a`.
const ARROWS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diag", &["source"]),
    ("text_file", &["diag"]),
    ("target", &["diag"]),
    ("threads", &[]),
    ("ptxas", &["diag", "target"]),
    ("lexer", &["source", "diag"]),
    ("parser", &["lexer", "source", "diag"]),
    ("ir", &["source", "diag"]),
    ("layout", &["ir", "source", "diag", "target"]),
    ("irgen", &["parser", "ir", "source", "diag", "target", "text_file"]),
    ("analysis", &["ir", "layout", "source", "diag", "target"]),
    ("passes", &["ir", "layout", "analysis", "source", "diag", "target"]),
    ("codegen", &["ir", "layout", "analysis", "source", "diag", "target", "threads"]),
    ("backend", &["codegen", "passes", "analysis", "ir", "layout", "source", "diag", "target", "threads", "ptxas"]),
    ("interp", &["ir", "source", "diag"]),
    ("cases", &["source", "diag", "target", "parser", "ir", "irgen", "interp", "driver"]),
    ("compiler", &["source", "diag", "text_file", "target", "threads", "irgen", "passes", "interp", "driver", "cases"]),
    ("args", &[]),
    ("stdio", &[]),
    ("commands", &["args"]),
    ("layout_command", &["args", "commands"]),
    ("memory", &[]),
    (
        "driver",
        &[
            "source",
            "diag",
            "text_file",
            "target",
            "threads",
            "lexer",
            "parser",
            "ir",
            "layout",
            "irgen",
            "passes",
            "analysis",
            "codegen",
            "backend",
            "ptxas",
            "interp",
        ],
    ),
];

/// Words with the only paths, relative to `src/`, that may use them. A path that ends in `/` is a folder.
const WORDS: &[(&str, &[&str])] = &[
    // What a device can do is asked by name; numbers of GPUs are for the language, for Triton's pass options and for
    // the files of tools.
    (".capability", &["target/"]),
    ("triton_number", &["target/", "irgen/lookup.rs", "irgen/builtins/target.rs", "backend/nvidia/pipelines.rs"]),
    ("compute_capability()", &["target/", "irgen/builtins/host.rs", "ptxas/cubin.rs"]),
    ("inkwell", &["codegen/", "backend/"]),
    ("llvm_sys", &["codegen/", "backend/"]),
    ("ariadne", &["diag/"]),
    ("std::process", &["ptxas.rs", "ptxas/", "main.rs", "driver/output.rs", "codegen/llvm/guard.rs"]),
    ("process::Command", &["ptxas.rs", "ptxas/"]),
    ("process::exit", &["main.rs"]),
    ("println!", &["main.rs"]),
    ("print!", &["main.rs"]),
    ("eprintln!", &["main.rs"]),
    ("eprint!", &["main.rs"]),
    ("dbg!", &[]),
    ("todo!", &[]),
    ("unimplemented!", &[]),
];

#[test]
fn imports_follow_the_arrows() {
    let files = sources();
    assert!(files.len() > 10, "the sources were not found");
    let problems: Vec<String> = files.iter().flat_map(|(path, text)| import_problems(path, text)).collect();
    assert!(problems.is_empty(), "imports against the arrows:\n{}", problems.join("\n"));
}

#[test]
fn words_stay_where_they_belong() {
    let problems: Vec<String> = sources().iter().flat_map(|(path, text)| word_problems(path, text)).collect();
    assert!(problems.is_empty(), "words out of place:\n{}", problems.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|(path, text)| Path::new(path).extension().is_some_and(|e| e == "rs") && !text.starts_with("//!"))
        .map(|(path, _)| path)
        .collect();
    assert!(silent.is_empty(), "these files do not start with `//!`: {silent:?}");
}

/// The arrows have no cycle: one can import along them and end.
#[test]
fn the_arrows_have_no_cycle() {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    fn walk<'a>(arrows: &BTreeMap<&'a str, &[&'a str]>, module: &'a str, path: &mut Vec<&'a str>) {
        assert!(!path.contains(&module), "a cycle: {path:?} and back to {module}");
        path.push(module);
        for next in arrows[module] {
            walk(arrows, next.split("::").next().unwrap(), path);
        }
        path.pop();
    }
    for module in arrows.keys() {
        walk(&arrows, module, &mut vec![]);
    }
}

/// Path relative to `src/` with `/`, and text, of every source file, in order.
fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, files);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "lalrpop") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![];
    walk(&root, &root, &mut files);
    files.sort();
    files
}

/// Imports of a file that its module may not have, one line each.
fn import_problems(path: &str, text: &str) -> Vec<String> {
    let module = path.split('/').next().unwrap().split('.').next().unwrap();
    if matches!(module, "main" | "lib") || is_test_file(path) {
        return vec![];
    }
    let Some((_, allowed)) = ARROWS.iter().find(|(m, _)| *m == module) else {
        return vec![format!("src/{path}: the module `{module}` has no entry in the table of arrows")];
    };
    let ok = |import: &str| {
        let top = import.split("::").next().unwrap();
        top == module || allowed.iter().any(|a| import == *a || import.starts_with(&format!("{a}::")))
    };
    let bad = imports(path, &code(text)).into_iter().filter(|(_, import)| !ok(import));
    bad.map(|(line, import)| format!("src/{path}:{line}: `{module}` may not import `{import}`")).collect()
}

/// Uses of words that a file may not have, one line each.
fn word_problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = vec![];
    let allowed = |paths: &[&str]| {
        is_test_file(path) || paths.iter().any(|p| path == *p || (p.ends_with('/') && path.starts_with(p)))
    };
    let code = code(text);
    for (word, _) in WORDS.iter().filter(|(_, paths)| !allowed(paths)) {
        for (line, text) in code.lines().enumerate() {
            let at_word = |(at, _): (usize, &str)| !text[..at].ends_with(is_name);
            if text.match_indices(word).any(at_word) {
                problems.push(format!("src/{path}:{}: `{word}` does not belong here", line + 1));
            }
        }
    }
    problems
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The text without comments, without what is in strings, and up to the file's own test module; line breaks stay.
fn code(text: &str) -> String {
    let text = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let rest = &chars[i..];
        let skipped = match rest {
            ['/', '/', ..] => rest.iter().take_while(|c| **c != '\n').count(),
            ['/', '*', ..] => rest.windows(2).position(|w| w == ['*', '/']).map_or(rest.len(), |n| n + 2),
            ['r', '"' | '#', ..] if !out.ends_with(is_name) => raw_string(rest).unwrap_or(0),
            ['"', ..] => string(rest),
            ['\'', '\\', ..] => 3 + rest[3..].iter().take_while(|c| **c != '\'').count(),
            ['\'', _, '\'', ..] => 3,
            _ => 0,
        };
        if skipped == 0 {
            out.push(rest[0]);
            i += 1;
        } else {
            out.extend(rest[..skipped.min(rest.len())].iter().filter(|c| **c == '\n'));
            out.push(' ');
            i += skipped;
        }
    }
    out
}

/// The length of a string literal, both quotes included.
fn string(rest: &[char]) -> usize {
    let mut i = 1;
    while i < rest.len() && rest[i] != '"' {
        i += if rest[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The length of a raw string literal; `None` if this is none.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    let open = 1 + hashes;
    (rest.get(open) == Some(&'"')).then_some(())?;
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let found = rest[open + 1..].windows(end.len()).position(|w| w == end);
    Some(found.map_or(rest.len(), |n| open + 1 + n + end.len()))
}

/// The top-level modules that code names, with their lines and one more segment where there is one: `(3,
/// "analysis")`.
fn imports(path: &str, code: &str) -> Vec<(usize, String)> {
    let depth = module_depth(path);
    let modules: Vec<&str> = ARROWS.iter().map(|(m, _)| *m).collect();
    let mut found = vec![];
    let starts = code
        .match_indices("crate::")
        .chain(code.match_indices("super::"))
        .filter(|(at, _)| !code[..*at].ends_with(is_name));
    for (at, _) in starts {
        let mut rest = &code[at..];
        if let Some(after) = rest.strip_prefix("crate::") {
            rest = after;
        } else {
            let mut climbed = 0;
            while let Some(after) = rest.strip_prefix("super::") {
                (rest, climbed) = (after, climbed + 1);
            }
            if climbed < depth || code[..at].ends_with("super::") {
                continue;
            }
        }
        let line = code[..at].matches('\n').count() + 1;
        let named = heads(rest).into_iter().filter(|p| modules.contains(&p.split("::").next().unwrap()));
        found.extend(named.map(|p| (line, p)));
    }
    found.sort();
    found
}

/// How many `super::` lead from a file's module to the crate's root: `diag/render/mod.rs` is the module `diag::render`,
/// so 2.
fn module_depth(path: &str) -> usize {
    path.split('/').filter(|part| *part != "mod.rs").count()
}

/// The first two segments of each path at the start of a text: `a::{b, c::d}` gives `a::b`, `a::c`; `{a, b::c}` gives
/// `a`, `b::c`.
fn heads(text: &str) -> Vec<String> {
    expand(text).into_iter().map(|path| path.split("::").take(2).collect::<Vec<_>>().join("::")).collect()
}

/// The paths that a path with braces stands for.
fn expand(text: &str) -> Vec<String> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('{') {
        return items(inner).into_iter().flat_map(expand).collect();
    }
    let name: String = text.chars().take_while(|c| is_name(*c)).collect();
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if rest.starts_with(|c: char| is_name(c) || c == '{') => {
            expand(rest).into_iter().map(|r| format!("{name}::{r}")).collect()
        }
        _ => vec![name],
    }
}

/// The items between braces, split at the commas of the outermost level; `inner` starts after the opening brace.
fn items(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut list) = (0, 0, vec![]);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                list.push(&inner[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    list.retain(|item| !item.trim().is_empty());
    list
}

#[test]
fn the_scan_finds_imports_however_they_are_written() {
    for (path, text, problems) in [
        (
            "ir/core.rs",
            "use crate::diag::Code;\nuse crate::parser::Tree;",
            vec!["src/ir/core.rs:2: `ir` may not import `parser::Tree`"],
        ),
        (
            "ir/mod.rs",
            "use crate::{\n    diag::{Code, codes},\n    passes::{self, tt},\n};",
            vec![
                "src/ir/mod.rs:1: `ir` may not import `passes::self`",
                "src/ir/mod.rs:1: `ir` may not import `passes::tt`",
            ],
        ),
        (
            "lexer/mod.rs",
            "fn f() { let x = crate::ir::Ir::new(); }",
            vec!["src/lexer/mod.rs:1: `lexer` may not import `ir::Ir`"],
        ),
        (
            "lexer/layout/x.rs",
            "use super::super::super::parser::A;\nuse super::super::Token;",
            vec!["src/lexer/layout/x.rs:1: `lexer` may not import `parser::A`"],
        ),
        ("source.rs", "use super::diag;", vec!["src/source.rs:1: `source` may not import `diag`"]),
        (
            "codegen/mod.rs",
            "use crate::analysis::AxisInfo;\nuse crate::passes::tt;",
            vec!["src/codegen/mod.rs:2: `codegen` may not import `passes::tt`"],
        ),
        ("new/mod.rs", "", vec!["src/new/mod.rs: the module `new` has no entry in the table of arrows"]),
        (
            "ir/text.rs",
            "// use crate::parser::A;\n/// [`crate::passes`]\nfn f() { \"crate::parser\"; r#\"crate::\"passes\"#; '\"'; '\\''; }\n#[cfg(test)]\nmod tests {\n use crate::parser;\n}",
            vec![],
        ),
        ("ir/tests.rs", "use crate::parser::A;", vec![]),
        ("parser/mod.rs", "use crate::lexer::{Token, layout};\nuse super::lexer;", vec![]),
    ] {
        assert_eq!(import_problems(path, text), problems, "{text}");
    }
}

#[test]
fn the_scan_finds_words_out_of_place() {
    for (path, text, count) in [
        ("ir/mod.rs", "use inkwell::values::IntValue;", 1),
        ("codegen/ops/math.rs", "use inkwell::values::IntValue;", 0),
        ("passes/mod.rs", "fn f() {\n    println!();\n    eprintln!();\n}", 2),
        ("passes/mod.rs", "fn pretty_print() {} // println!()\nfn g() { my_println!() }", 0),
        ("driver.rs", "use std::process::Command;", 2),
        ("ptxas/find.rs", "use std::process::Command;", 0),
        ("ptxas/find.rs", "std::process::exit(1)", 1),
        ("main.rs", "fn main() { println!(); std::process::exit(1) }", 0),
        ("diag/render/human.rs", "use ariadne::Report;", 0),
        ("driver.rs", "use ariadne::Report; todo!()", 2),
    ] {
        assert_eq!(word_problems(path, text).len(), count, "{text}: {:?}", word_problems(path, text));
    }
}
