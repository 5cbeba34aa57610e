//! How long it takes to parse, verify and print a large IR file: `cargo run --release --example ir_speed [FILE…]`.
//!
//! Without files, the functions of the round-trip inputs of the tests are repeated under other names until there is 1
//! MB of each: with locations, and without. Every time is the best of several runs, so that what else the machine does
//! counts little; interning is warm, as in a compiler that has seen its types.
#![allow(clippy::print_stdout)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ttc::ir::Ir;
use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::source::SourceMap;

const BYTES: usize = 1 << 20;
const RUNS: usize = 7;
const INPUTS: &[(&str, &str)] = &[
    ("elementwise.ttir", include_str!("../tests/irtext/elementwise.ttir")),
    ("tensors.ttir", include_str!("../tests/irtext/tensors.ttir")),
    ("control.ttir", include_str!("../tests/irtext/control.ttir")),
    ("memory.ttgir", include_str!("../tests/irtext/memory.ttgir")),
];

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    println!("{:<28} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "bytes", "parse", "verify", "print", "together");
    for path in &files {
        let text = std::fs::read_to_string(path).expect("cannot read the file");
        measure(path, &text);
    }
    for (name, text) in INPUTS.iter().filter(|_| files.is_empty()) {
        let (with, without) = (repeated(text, true), repeated(text, false));
        measure(name, &without);
        measure(&format!("{name}, with locations"), &with);
    }
}

fn read(text: &str) -> Ir {
    let mut map = SourceMap::default();
    let file = map.add("speed.mlir", None, text);
    match parse_module(&map, file, &ParseOptions::default()) {
        Ok(ir) => ir,
        Err(e) => panic!("{} at {:?}", e[0].message, e[0].place()),
    }
}

/// The module with its body repeated up to [`BYTES`]; copies of functions, and calls in them, have a number in their
/// names.
fn repeated(text: &str, locations: bool) -> String {
    let text = print_module(&read(text), &PrintOptions { locations, generic: false });
    let start = text.find("\nmodule").map_or(0, |at| at + 1);
    let body = start + text[start..].find("{\n").expect("a module has a body") + 2;
    let end = text.find("\n}").expect("a module ends") + 1;
    let (head, functions, tail) = (&text[..body], &text[body..end], &text[end..]);
    let mut out = head.to_owned();
    for copy in 0.. {
        let mut rest = functions;
        while let Some(at) = rest.find('@') {
            let len = rest[at + 1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            write!(out, "{}_{copy}", &rest[..=at + len]).expect("a string takes everything");
            rest = &rest[at + 1 + len..];
        }
        out.push_str(rest);
        if out.len() + tail.len() >= BYTES {
            return out + tail;
        }
    }
    out
}

fn measure(name: &str, text: &str) {
    let print = PrintOptions { locations: text.contains("loc("), generic: false };
    let mut best = [Duration::MAX; 4];
    for _ in 0..RUNS {
        let start = Instant::now();
        let ir = read(text);
        let parsed = start.elapsed();
        let faults = ttc::layout::verify(&ir);
        let verified = start.elapsed();
        let printed = print_module(&ir, &print);
        let all = start.elapsed();
        assert!(faults.is_empty(), "{name}: {}", faults[0].message);
        assert!(printed.len() > text.len() / 2);
        let times = [parsed, verified.saturating_sub(parsed), all.saturating_sub(verified), all];
        best.iter_mut().zip(times).for_each(|(b, t)| *b = (*b).min(t));
    }
    let ms = best.map(|t| format!("{:.1} ms", t.as_secs_f64() * 1e3));
    println!("{name:<28} {:>9} {:>9} {:>9} {:>9} {:>9}", text.len(), ms[0], ms[1], ms[2], ms[3]);
}
