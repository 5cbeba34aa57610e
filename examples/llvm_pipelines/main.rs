//! What each LLVM pass of the built-in pipeline costs and gives, over many modules of TTGIR; likewise whole other
//! pipelines.
//!
//! usage: `cargo run --release --example llvm_pipelines -- ARCH FILE.ttgir… [--passes | --pipeline TEXT…] [--runs N]
//! [--modules] [--llir DIR]`
//!
//! 1. The variants ([`variants`]): the built-in pipeline, `O3`, `O1`, and one that is nearly nothing; with `--passes`
//!    the built-in one without each of its passes, and with each of some passes of `O3` that it lacks; with
//!    `--pipeline` those that are named.
//! 2. Each file is lowered for each variant and optimised ([`measure`]); the best of five runs counts, or of `--runs`.
//!    The variants take turns on a file, so that what else the machine does slows all alike; time is of the processor.
//! 3. ptxas and nvdisasm tell what became of it: instructions, registers, spilled bytes. PTX that another variant made
//!    too is not assembled again.
//! 4. With `--llir` nothing is measured: the LLVM IR before all passes is written, for `opt -time-passes`.
//! 5. Else a table goes to stdout, a row a variant: the time of LLVM's passes and of its back end, and machine code as
//!    differences from the first variant; with `--modules` a row for each module whose machine code differs.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

mod machine_code;
mod measure;
mod variants;

use std::path::Path;
use std::time::Duration;

use measure::{Measured, measure};
use ttc::target::Target;
use variants::Variant;

struct Arguments {
    target: Target,
    files: Vec<String>,
    pipelines: Vec<String>,
    passes: bool,
    modules: bool,
    runs: u32,
    llir: Option<String>,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let target = Target::parse(&words.next()?).ok()?;
    let mut all =
        Arguments { target, files: vec![], pipelines: vec![], passes: false, modules: false, runs: 5, llir: None };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--passes" => all.passes = true,
            "--modules" => all.modules = true,
            "--runs" => all.runs = words.next()?.parse().ok().filter(|&n| n > 0)?,
            "--llir" => all.llir = Some(words.next()?),
            "--pipeline" => all.pipelines.push(words.next()?),
            _ => all.files.push(word),
        }
    }
    (!all.files.is_empty()).then_some(all)
}

fn main() {
    let Some(args) = arguments() else {
        eprintln!(
            "usage: llvm_pipelines ARCH FILE.ttgir… [--passes | --pipeline TEXT…] [--runs N] [--modules] [--llir DIR]"
        );
        std::process::exit(2);
    };
    if let Some(folder) = &args.llir {
        for file in &args.files {
            if let Err(why) = measure::write_llir(file, args.target, Path::new(folder)) {
                eprintln!("{file}: {why}");
            }
        }
        return;
    }
    let mut rows: Vec<Row> = vec![];
    let mut measured = 0;
    for file in &args.files {
        let found = variants::built_in(file, args.target).and_then(|built_in| {
            let list = variants::list(&built_in, args.passes, &args.pipelines);
            measure(file, args.target, &list, args.runs).map(|results| (list, results))
        });
        match found {
            Ok((list, results)) => {
                measured += 1;
                add(&mut rows, file, &list, &results);
            }
            Err(why) => eprintln!("{file}: {why}"),
        }
    }
    println!("{measured} modules for {}\n", args.target.name);
    print(&rows, args.modules);
}

/// Sums over the modules for one variant.
struct Row {
    name: String,
    /// How many modules have it: which passes are built in may depend on the module.
    modules: usize,
    passes: Duration,
    back_end: Duration,
    /// The same sums for the first variant, over the same modules.
    first: (Duration, Duration),
    /// Differences from the first variant.
    instructions: i64,
    registers: i64,
    spills: i64,
    fewer: usize,
    more: usize,
    notes: Vec<String>,
}

fn add(rows: &mut Vec<Row>, file: &str, list: &[Variant], results: &[Measured]) {
    let first = &results[0];
    for (variant, result) in list.iter().zip(results) {
        let at = rows.iter().position(|r| r.name == variant.name).unwrap_or_else(|| {
            rows.push(Row::new(&variant.name));
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.modules += 1;
        row.passes += result.passes;
        row.back_end += result.back_end;
        row.first.0 += first.passes;
        row.first.1 += first.back_end;
        let difference =
            |of: fn(&machine_code::MachineCode) -> u32| i64::from(of(&result.code)) - i64::from(of(&first.code));
        let instructions = difference(|c| c.instructions);
        row.instructions += instructions;
        row.registers += difference(|c| c.registers);
        row.spills += difference(|c| c.spills);
        row.fewer += usize::from(instructions < 0);
        row.more += usize::from(instructions > 0);
        if result.code != first.code {
            let (a, b) = (&first.code, &result.code);
            row.notes.push(format!(
                "{file}: {} to {} instructions, {} to {} registers, {} to {} bytes spilled",
                a.instructions, b.instructions, a.registers, b.registers, a.spills, b.spills
            ));
        }
    }
}

impl Row {
    fn new(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            modules: 0,
            passes: Duration::ZERO,
            back_end: Duration::ZERO,
            first: (Duration::ZERO, Duration::ZERO),
            instructions: 0,
            registers: 0,
            spills: 0,
            fewer: 0,
            more: 0,
            notes: vec![],
        }
    }
}

fn print(rows: &[Row], modules: bool) {
    println!(
        "| pipeline | modules | passes ms | back end ms | instructions | fewer, more | registers | spilled bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for r in rows {
        let time = |t: Duration, first: Duration| {
            let percent = 100.0 * (t.as_secs_f64() / first.as_secs_f64() - 1.0);
            format!("{:.1} ({percent:+.0} %)", t.as_secs_f64() * 1e3)
        };
        let (passes, back_end) = (time(r.passes, r.first.0), time(r.back_end, r.first.1));
        let (name, n) = (&r.name, r.modules);
        println!(
            "| {name} | {n} | {passes} | {back_end} | {:+} | {}, {} | {:+} | {:+} |",
            r.instructions, r.fewer, r.more, r.registers, r.spills
        );
    }
    if modules {
        for r in rows.iter().filter(|r| !r.notes.is_empty()) {
            println!("\n{}", r.name);
            r.notes.iter().for_each(|n| println!("    {n}"));
        }
    }
}
