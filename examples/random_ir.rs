//! Passes keep what kernels compute: checks random kernels for as long as asked.
//!
//! `cargo run --release --example random_ir -- --seconds 600 [--seed FIRST] [--pipelines] [--show]`
//!
//! Seeds count up from the first. `--pipelines` goes to TTGIR. `--show` prints the kernel of the first seed and ends.
//! The exit code is 1 if a seed failed.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/suite/random_ir/mod.rs"]
mod random_ir;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1)?.parse::<u64>().ok());
    let first = number("--seed").unwrap_or(1);
    let pipelines = args.iter().any(|a| a == "--pipelines");
    if args.iter().any(|a| a == "--show") {
        let form = if pipelines { random_ir::form_for_pipelines(first) } else { random_ir::Form::SMALL };
        print!("{}", random_ir::generate(first, form));
        return ExitCode::SUCCESS;
    }
    let check = if pipelines { random_ir::check_pipelines } else { random_ir::check };
    let limit = Duration::from_secs(number("--seconds").unwrap_or(60));
    let (start, next, failed) = (Instant::now(), AtomicU64::new(first), AtomicU64::new(0));
    let work = || {
        while start.elapsed() < limit {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let result =
                std::panic::catch_unwind(|| check(seed)).unwrap_or_else(|_| Err(format!("seed {seed}: a panic")));
            if let Err(message) = result {
                failed.fetch_add(1, Ordering::Relaxed);
                println!("{message}");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let failed = failed.load(Ordering::Relaxed);
    println!(
        "{} kernels, {failed} failed, {:.0} s",
        next.load(Ordering::Relaxed) - first,
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
