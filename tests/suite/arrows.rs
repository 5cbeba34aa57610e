//! Checks the rules about who may use what in `src/`, as `docs/architecture.md` states them.
//!
//! 1. Every `.rs` and `.lalrpop` file under `src/` is read; comments, string contents and test modules are left out
//!    ([`super::imports`]).
//! 2. `crate::a::b`, `use crate::{a, b}` and chains of `super::` name modules. The module of the file must be allowed
//!    to import them ([`ARROWS`]).
//! 3. Some words belong to some files alone ([`WORDS`]): `inkwell` to `src/codegen/` and the back ends, `ariadne` to
//!    `src/diag/`, processes to `src/ptxas.rs`, printing to `src/main.rs`.
//! 4. Every `.rs` file starts with `//!`, and no comment goes beyond column 120, but for tables and examples.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use super::imports::{code, is_name, is_test_file, module_of, paths, sources};

/// Each top-level module with what it may import of the others, and folders with what they may import of the module
/// that they are part of. `a::b` allows only that part of `a`.
const ARROWS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diag", &["source"]),
    ("text_file", &["diag"]),
    ("whole_file", &[]),
    ("cache", &["diag", "text_file", "whole_file"]),
    ("target", &["diag"]),
    ("threads", &[]),
    ("ptxas", &["diag", "target", "threads"]),
    ("lexer", &["source", "diag"]),
    ("parser", &["lexer", "source", "diag"]),
    ("ir", &["source", "diag"]),
    ("draw", &[]),
    ("layout", &["ir", "source", "diag", "target", "draw"]),
    ("irgen", &["parser", "ir", "source", "diag", "target", "text_file"]),
    ("irgen::types", &[]),
    ("irgen::front", &["irgen::types"]),
    ("irgen::emit", &["irgen::front", "irgen::types"]),
    ("irgen::value", &["irgen::emit", "irgen::front", "irgen::types"]),
    ("irgen::semantic", &["irgen::value", "irgen::emit", "irgen::front", "irgen::types"]),
    ("irgen::builtins", &["irgen::semantic", "irgen::value", "irgen::emit", "irgen::front", "irgen::types"]),
    (
        "irgen::walk",
        &["irgen::builtins", "irgen::semantic", "irgen::value", "irgen::emit", "irgen::front", "irgen::types"],
    ),
    (
        "irgen::kernel",
        &[
            "irgen::walk",
            "irgen::builtins",
            "irgen::semantic",
            "irgen::value",
            "irgen::emit",
            "irgen::front",
            "irgen::types",
        ],
    ),
    ("analysis", &["ir", "layout", "source", "diag", "target"]),
    ("passes", &["ir", "layout", "analysis", "source", "diag", "target"]),
    ("passes::tt", &["passes::common", "passes::manager"]),
    // What is for any vendor knows none of them.
    ("passes::ttg", &["passes::tt", "passes::common", "passes::manager"]),
    ("passes::amd", &["passes::ttg", "passes::tt", "passes::common", "passes::manager"]),
    ("passes::nvidia", &["passes::ttg", "passes::tt", "passes::common", "passes::manager"]),
    ("codegen", &["ir", "layout", "analysis", "source", "diag", "target", "threads"]),
    ("backend", &["codegen", "passes", "analysis", "ir", "layout", "source", "diag", "target", "threads", "ptxas"]),
    ("fingerprint", &[]),
    ("launch", &["fingerprint", "ir", "parser", "source", "diag", "target"]),
    ("interp", &["ir", "source", "diag"]),
    // A crate of its own.
    ("emu", &[]),
    ("emulate", &["emu", "source", "diag", "irgen::types", "launch", "driver", "gpu"]),
    ("cases", &["source", "diag", "target", "parser", "ir", "irgen", "interp", "launch", "driver"]),
    ("compiler", &["source", "diag", "text_file", "target", "threads", "irgen", "passes", "interp", "driver", "cases"]),
    (
        "build",
        &["fingerprint", "source", "diag", "target", "irgen", "launch", "backend", "ptxas", "driver", "gpu::lock"],
    ),
    ("gpu::lock", &[]),
    (
        "report",
        &["source", "diag", "target", "draw", "ir", "layout", "analysis", "passes", "backend", "driver", "text_file"],
    ),
    (
        "lsp",
        &[
            "source",
            "diag",
            "text_file",
            "whole_file",
            "target",
            "threads",
            "parser",
            "ir",
            "layout",
            "analysis",
            "irgen",
            "backend",
            "driver",
            "cases",
            "build",
        ],
    ),
    (
        "gpu",
        &[
            "source",
            "diag",
            "text_file",
            "target",
            "threads",
            "ir",
            "irgen",
            "launch",
            "interp",
            "driver",
            "cases",
            "cache",
            "draw",
        ],
    ),
    ("args", &[]),
    ("stdio", &[]),
    ("commands", &["args"]),
    ("layout_command", &["args", "commands"]),
    ("memory", &[]),
    (
        "driver",
        &[
            "fingerprint",
            "launch",
            "source",
            "diag",
            "text_file",
            "whole_file",
            "cache",
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
    (
        "triton_number",
        &["target/", "irgen/walk/attribute.rs", "irgen/builtins/target.rs", "backend/nvidia/pipelines.rs"],
    ),
    ("compute_capability()", &["target/", "irgen/builtins/host.rs", "ptxas/cubin.rs"]),
    ("inkwell", &["codegen/", "backend/"]),
    ("llvm_sys", &["codegen/", "backend/"]),
    ("ariadne", &["diag/"]),
    // Operations and instructions of one vendor; `passes/ttg/` asks the table for classes instead.
    ("TtngOp", &["ir/", "analysis/", "interp/", "backend/", "layout/", "passes/nvidia/", "passes/common/", "report/"]),
    ("NvidiaMma", &["ir/", "layout/", "backend/", "passes/nvidia/", "passes/common/"]),
    ("NvmmaShared", &["ir/", "analysis/", "layout/", "backend/", "passes/nvidia/"]),
    ("std::process", &["ptxas.rs", "ptxas/", "main.rs", "whole_file.rs", "codegen/llvm/guard.rs", "build/object.rs"]),
    ("process::Command", &["ptxas.rs", "ptxas/", "build/object.rs"]),
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

/// Parts of the names of a vendor's instructions, intrinsics and tools. `codegen/` asks a `Machine` instead.
const INSTRUCTIONS: &[&str] = &[
    "nvvm",
    "nvptx",
    "ptx",
    "wgmma",
    "mma.sync",
    "mbarrier",
    "cp.async",
    "ldmatrix.",
    "shfl",
    "bar.sync",
    "libdevice",
    "amdgcn",
    "amdgpu",
    "rocdl",
    "mfma",
];

/// Unlike [`words_stay_where_they_belong`] this looks into strings too, where instructions are written.
#[test]
fn codegen_writes_no_instruction_of_a_vendor() {
    let mut problems = vec![];
    let mut lines = 0;
    for (path, text) in sources().into_iter().filter(|(path, _)| path.starts_with("codegen/") && !is_test_file(path)) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            lines += 1;
            let line = line.to_ascii_lowercase();
            let found = INSTRUCTIONS.iter().filter(|word| line.contains(*word));
            problems.extend(found.map(|word| format!("src/{path}:{}: `{word}`", number + 1)));
        }
    }
    assert!(lines > 1000, "the sources were not found");
    assert!(problems.is_empty(), "instructions of a vendor in codegen:\n{}", problems.join("\n"));
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

/// `rustfmt` keeps code within 120 columns, and leaves comments as they are.
#[test]
fn comments_are_no_wider_than_code() {
    let mut wide = Vec::new();
    for (path, text) in sources() {
        let mut example = false;
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            example ^= comment.trim_start_matches(['/', '!', ' ']).starts_with("```");
            let is_table = comment.contains(" | ");
            let is_string = comment.ends_with('\\');
            if line.chars().count() > 120 && !example && !is_table && !is_string {
                wide.push(format!("src/{path}:{}", number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "comments beyond column 120:\n{}", wide.join("\n"));
}

/// The arrows have no cycle: one can import along them and end.
#[test]
fn the_arrows_have_no_cycle() {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    fn walk<'a>(arrows: &BTreeMap<&'a str, &[&'a str]>, module: &'a str, path: &mut Vec<&'a str>) {
        assert!(!path.contains(&module), "a cycle: {path:?} and back to {module}");
        path.push(module);
        for next in arrows[module] {
            // The part of a module that has no entry of its own counts as the whole.
            let next = if arrows.contains_key(next) { next } else { next.split("::").next().unwrap() };
            walk(arrows, next, path);
        }
        path.pop();
    }
    for module in arrows.keys() {
        walk(&arrows, module, &mut vec![]);
    }
}

/// Imports of a file that its modules may not have, one line each: the entry of its top-level module decides about
/// other top-level modules, that of a folder in it about what else is in that module.
fn import_problems(path: &str, text: &str) -> Vec<String> {
    let module = module_of(path);
    if matches!(module[0].as_str(), "main" | "lib") || is_test_file(path) {
        return vec![];
    }
    if !ARROWS.iter().any(|(m, _)| *m == module[0]) {
        return vec![format!("src/{path}: the module `{}` has no entry in the table of arrows", module[0])];
    }
    let tops: Vec<&str> = ARROWS.iter().map(|(m, _)| *m).filter(|m| !m.contains("::")).collect();
    let mut problems = vec![];
    for (entry, allowed) in ARROWS.iter().filter(|(m, _)| starts_with(&module, m)) {
        let parent = entry.rsplit_once("::").map_or("", |(parent, _)| parent);
        let depth = entry.split("::").count();
        for (line, import) in paths(&module, &code(text)) {
            let concerned = import.len() >= depth
                && starts_with(&import, parent)
                && !starts_with(&import, entry)
                && (depth > 1 || tops.contains(&import[0].as_str()));
            if concerned && !allowed.iter().any(|a| starts_with(&import, a)) {
                let shown = import[..import.len().min(depth + 1)].join("::");
                problems.push(format!("src/{path}:{line}: `{entry}` may not import `{shown}`"));
            }
        }
    }
    problems
}

/// Whether a path lies in a module, which is written `a::b`; every path lies in `""`.
fn starts_with(path: &[String], module: &str) -> bool {
    module.is_empty() || module.split("::").enumerate().all(|(i, name)| path.get(i).is_some_and(|p| p == name))
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
            vec!["src/ir/mod.rs:1: `ir` may not import `passes`", "src/ir/mod.rs:1: `ir` may not import `passes::tt`"],
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
        (
            "irgen/semantic/arith.rs",
            "use super::convert;\nuse super::super::walk::Walker;\nuse crate::irgen::emit::R;\nuse crate::irgen;",
            vec!["src/irgen/semantic/arith.rs:2: `irgen::semantic` may not import `irgen::walk::Walker`"],
        ),
        ("irgen/mod.rs", "use walk::Walker;\nuse self::kernel::list;", vec![]),
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
        ("passes/ttg/buffers.rs", "ir.is(op, TtngOp::TmemStore) && matches!(e, Encoding::NvidiaMma(_))", 2),
        ("passes/nvidia/two_ctas.rs", "ir.is(op, TtngOp::TmemStore)", 0),
    ] {
        assert_eq!(word_problems(path, text).len(), count, "{text}: {:?}", word_problems(path, text));
    }
}
