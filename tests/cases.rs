//! The tests that are files: each file is a case with a name, a time and a filter of its own.
//!
//! `cargo test lit` runs the cases whose name holds `lit`; `cargo test lit::passes/coalesce` and
//! `cargo test codes::E0101` run one of them. The ten slowest are listed at the end.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

#[path = "suite/bless.rs"]
mod bless;
#[path = "suite/codes.rs"]
mod codes;
#[path = "suite/diagnostics_doc.rs"]
mod diagnostics_doc;
#[path = "suite/generated.rs"]
mod generated;
#[path = "suite/irgen.rs"]
mod irgen;
#[path = "suite/lit.rs"]
mod lit;
#[path = "suite/mended.rs"]
mod mended;
#[path = "suite/parser_text.rs"]
mod parser_text;
#[path = "suite/parser_trees.rs"]
mod parser_trees;
#[path = "suite/tutorials.rs"]
mod tutorials;

/// How many of the slowest cases are listed.
const SLOWEST: usize = 10;

/// The cases of one run and how long each took.
#[derive(Default)]
struct Cases {
    trials: Vec<Trial>,
    times: Arc<Mutex<Vec<(Duration, String)>>>,
}

impl Cases {
    /// Adds the case `name`, which fails where `run` panics or says what is wrong.
    fn add(&mut self, name: String, run: impl FnOnce() -> Result<(), String> + Send + 'static) {
        let (times, case) = (Arc::clone(&self.times), name.clone());
        self.trials.push(Trial::test(name, move || {
            let start = Instant::now();
            let result = run();
            times.lock().unwrap().push((start.elapsed(), case));
            result.map_err(Failed::from)
        }));
    }

    /// Adds a case that fails only by a panic.
    fn check(&mut self, name: impl Into<String>, run: impl FnOnce() + Send + 'static) {
        self.add(name.into(), || {
            run();
            Ok(())
        });
    }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut cases = Cases::default();
    codes::cases(&mut cases);
    mended::cases(&mut cases);
    diagnostics_doc::cases(&mut cases);
    irgen::cases(&mut cases);
    lit::cases(&mut cases);
    bless::cases(&mut cases);
    parser_trees::cases(&mut cases);
    tutorials::cases(&mut cases);
    let conclusion = libtest_mimic::run(&args, cases.trials);
    let mut times = cases.times.lock().unwrap();
    times.sort_by(|a, b| b.cmp(a));
    if times.len() > SLOWEST {
        println!("slowest:");
        for (time, name) in times.iter().take(SLOWEST) {
            println!("{:8.2} s  {name}", time.as_secs_f64());
        }
    }
    conclusion.exit_code()
}
