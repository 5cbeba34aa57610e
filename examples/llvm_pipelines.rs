//! Compares LLVM pipelines on modules of TTGIR: the time of the middle end, and the PTX that each makes.
//!
//! usage: `cargo run --release --example llvm_pipelines -- ARCH OUT_DIR FILE.ttgir…`
//!
//! 1. Each file is lowered once for every pipeline of [`PIPELINES`] and optimised; the best of five runs counts.
//! 2. The PTX goes to `OUT_DIR/FILE.PIPELINE.ptx`, for `ptxas -v` and `nvdisasm` to count registers and instructions.
//! 3. A table goes to stdout: microseconds and lines of PTX instructions per pipeline.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::time::Instant;

use ttc::codegen::{CodegenOptions, lower};
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::source::SourceMap;
use ttc::target::Target;

/// Pipelines by name; `None` is the one that the compiler has built in.
const PIPELINES: [(&str, Option<&str>); 4] = [
    ("built-in", None),
    ("O3", Some("default<O3>")),
    ("O1", Some("default<O1>")),
    ("instcombine", Some("nvvm-reflect,always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)")),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [arch, out, files @ ..] = args.as_slice() else {
        eprintln!("usage: llvm_pipelines ARCH OUT_DIR FILE.ttgir…");
        std::process::exit(2);
    };
    let Ok(target) = Target::parse(arch) else {
        eprintln!("`{arch}` is no architecture");
        std::process::exit(2);
    };
    println!("| file | {} |", PIPELINES.map(|p| format!("{} µs | lines", p.0)).join(" | "));
    for file in files {
        let cells: Vec<String> = PIPELINES.iter().map(|&(name, passes)| measure(file, name, passes, target, Path::new(out))).collect();
        println!("| {file} | {} |", cells.join(" | "));
    }
}

/// `microseconds | lines` of one file under one pipeline, or what went wrong.
fn measure(file: &str, name: &str, passes: Option<&str>, target: Target, out: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut best = u128::MAX;
    let mut ptx = String::new();
    for _ in 0..5 {
        let mut map = SourceMap::default();
        let id = map.add(file, None, text.as_str());
        let Ok(ir) = parse_module(&map, id, &ParseOptions::default()) else { return "unreadable | -".into() };
        let mut options = CodegenOptions::new(target);
        options.llvm_passes = passes.map(str::to_owned);
        let Ok(mut module) = lower(&ir, &options) else { return "not lowered | -".into() };
        let start = Instant::now();
        if module.optimize().is_err() {
            return "no such pipeline | -".into();
        }
        best = best.min(start.elapsed().as_micros());
        ptx = module.emit_ptx().unwrap_or_default();
    }
    let stem = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if let Err(e) = std::fs::write(out.join(format!("{stem}.{name}.ptx")), &ptx) {
        return format!("{e} | -");
    }
    let count = ptx.lines().filter(|l| l.starts_with('\t') && l.trim_end().ends_with(';') && !l.starts_with("\t.")).count();
    format!("{best} | {count}")
}
