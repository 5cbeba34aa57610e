//! Parses every `.py` and `.tk` file below the given folders: counts, time, and what was reported.
//!
//! `cargo run --example parse_files -- [--dump | --dump-all] [--opaque] PATH…`: with `--dump`, prints the tree of every
//! kernel (of every function) after a line `=== PATH NAME LINE`, for comparison with another parser; with `--opaque`,
//! says why host functions did not parse.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ttc::diag::{Diagnostic, Place};
use ttc::parser::ast::{Item, dump};
use ttc::parser::parse_module;
use ttc::source::SourceMap;

fn main() {
    let (mut dumping, mut all_functions, mut show_opaque) = (false, false, false);
    let mut files = vec![];
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--dump" => dumping = true,
            "--dump-all" => (dumping, all_functions) = (true, true),
            "--opaque" => show_opaque = true,
            path => collect(Path::new(path), &mut files),
        }
    }
    files.sort();
    let (mut errors, mut kernels, mut bytes, mut lines) = (0, 0, 0, 0);
    let mut time = Duration::ZERO;
    let mut slowest = (Duration::ZERO, PathBuf::new());
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else {
            println!("{}: not UTF-8", path.display());
            continue;
        };
        bytes += text.len();
        lines += text.lines().count();
        let mut map = SourceMap::default();
        let file = map.add(path.to_string_lossy(), Some(path), text);
        let start = Instant::now();
        let (module, found) = parse_module(&map, file);
        let took = start.elapsed();
        time += took;
        slowest = slowest.max((took, path.clone()));
        errors += found.len();
        let mut shown = found.clone();
        if show_opaque {
            opaque(&module.items, &mut shown);
        }
        for error in &shown {
            let at = match error.place() {
                Some(Place::Span(span)) => map.line_col(*span),
                _ => continue,
            };
            println!("{}:{}:{}: {}: {}", path.display(), at.line, at.col, error.code.id, error.message);
        }
        kernels += module.jit_functions().len();
        let all = if all_functions { module.functions() } else { module.jit_functions() };
        if dumping {
            for f in all {
                println!("=== {} {} {}\n{}", path.display(), f.name, map.line_col(f.name.span).line, dump::function(f));
            }
        }
    }
    eprintln!("{} files, {lines} lines, {bytes} bytes, {kernels} kernels, {errors} errors, {time:?}", files.len());
    eprintln!("slowest: {:?} {}", slowest.0, slowest.1.display());
}

/// Why the host functions among the items did not parse.
fn opaque(items: &[Item], out: &mut Vec<Diagnostic>) {
    for item in items {
        match item {
            Item::Opaque(f) => out.extend(f.why.iter().cloned()),
            Item::Class(c) => opaque(&c.items, out),
            _ => {}
        }
    }
}

fn collect(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        entries.sort();
        entries.iter().filter(|e| !e.is_symlink()).for_each(|e| collect(e, out));
    } else if path.extension().is_some_and(|e| e == "py" || e == "tk") {
        out.push(path.to_owned());
    }
}
