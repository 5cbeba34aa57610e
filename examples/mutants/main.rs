//! Mutants of kernels, IR and command lines, through the whole program.
//!
//! `cargo run --release --example mutants -- --count 20000 [--seed N] [--first I] [--jobs N] [--ttc PATH] [--kernels
//! LIST ROOT]`
//!
//! 1. Seeds ([`seeds`]): the kernels of `kernels/`, those of a list, the IR that ttc makes of them at every stage, and
//!    the text tests.
//! 2. Mutant number I of a seed N is always the same: a seed, a command for it and some edits of the text, the command
//!    or both ([`mutate`]).
//! 3. Each runs in a process of its own, with 4 GB of address space and 20 s of processor time; ptxas has its own 20 s
//!    ([`run`]).
//! 4. A finding is a run that ends by a signal or with exit code 101, takes too long, or says that ttc has a defect
//!    (`E0604`, `E0710`, `E0999`, a panic). Its input, its command and what it said are kept in
//!    `fuzz/artifacts/mutants/I`. Any finding makes the program fail.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod mutate;
mod run;
mod seeds;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use mutate::Random;
use run::Outcome;

/// What the command line asks for.
struct Request {
    count: u64,
    first: u64,
    seed: u64,
    jobs: usize,
    ttc: PathBuf,
    /// A list of kernels, one JSON object a line, and the folder that its paths are in.
    kernels: Option<(PathBuf, PathBuf)>,
}

fn request() -> Request {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut r =
        Request { count: 1000, first: 0, seed: 1, jobs: 2, ttc: root.join("target/release/ttc"), kernels: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} wants a value"));
        let number = |text: String| text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"));
        match arg.as_str() {
            "--count" => r.count = number(value()),
            "--first" => r.first = number(value()),
            "--seed" => r.seed = number(value()),
            "--jobs" => r.jobs = number(value()) as usize,
            "--ttc" => r.ttc = value().into(),
            "--kernels" => r.kernels = Some((value().into(), value().into())),
            _ => panic!("unknown argument {arg}"),
        }
    }
    r
}

fn main() {
    let request = request();
    let seeds = seeds::collect(&request.ttc, request.kernels.as_ref());
    println!("{} seeds: {}", seeds.len(), seeds::count_by_kind(&seeds));
    let next = AtomicU64::new(request.first);
    let table: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let findings: Mutex<Vec<u64>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= request.first + request.count {
                        break;
                    }
                    let mut random = Random::new(request.seed, number);
                    let mutant = mutate::mutant(&mut random, &seeds);
                    let outcome = run::run(&request.ttc, &mutant);
                    *table
                        .lock()
                        .expect("no thread panics")
                        .entry(format!("{:9} {}", mutant.kind.word(), outcome.word()))
                        .or_default() += 1;
                    if let Outcome::Finding(why) = &outcome.end {
                        let folder = run::keep(number, &mutant, &outcome);
                        println!("mutant {number}: {why}: {}", folder.display());
                        findings.lock().expect("no thread panics").push(number);
                    }
                }
            });
        }
    });
    for (what, count) in table.into_inner().expect("no thread panics") {
        println!("{count:7}  {what}");
    }
    let findings = findings.into_inner().expect("no thread panics");
    assert!(findings.is_empty(), "{} findings, see fuzz/artifacts/mutants", findings.len());
}
