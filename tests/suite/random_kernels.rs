//! What tests of passes on TTIR share that compare random kernels before and after: a kernel's source becomes TTIR, the
//! pass runs, and what comes out runs in the interpreter and as PTX in the emulator.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ttc::driver::{Debug, Job, JobOptions, Reuse, Stage, input, run_each};
use ttc::interp::{self, Arg, BufferId, Memory, RunOptions};
use ttc::ir::Ir;
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::ir::text::printer::{PrintOptions, print_module};
use ttc::passes::manager::{self, Pipeline};
use ttc::source::SourceMap;
use ttc::target::Target;

use super::kernels::in_parallel;
use super::random_ir::{self, Random};

/// A kernel `k` of one file, and how it is launched.
pub(crate) struct Kernel {
    pub source: String,
    pub grid: [u32; 3],
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The memory and the arguments, made anew, and the buffer with the result, whose name is `y_ptr`.
    pub arguments: Box<dyn Fn() -> (Memory, Vec<Arg>, BufferId)>,
    /// A word of `--pipeline` under which the compiler leaves the kernel to the pass that is tested.
    pub pipeline: &'static str,
}

pub(crate) fn pick<'a>(random: &mut Random, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

pub(crate) fn number(random: &mut Random, from: &[i64]) -> i64 {
    from[random.below(from.len())]
}

/// What became of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Became {
    /// It reads outside of its memory by itself, so it proves nothing.
    Faulty,
    Kept,
    Rewritten,
}

/// Runs a kernel before and after a pass, which must not change what it computes.
pub(crate) fn check(kernel: &Kernel, pass: &str, emulate: bool) -> Result<Became, String> {
    let mut sources = SourceMap::default();
    let input = input::add_text(&mut sources, Path::new("k.tk"), &kernel.source, None).map_err(|d| d.message)?;
    let pipelining = ttc::backend::Pipelining::parse(kernel.pipeline)?;
    let options = JobOptions { locations: false, pipelining: Some(pipelining), ..JobOptions::default() };
    let job = Job::new(input, Target::parse("sm_90a").unwrap(), Arc::new(options));
    let reuse = Reuse::default();
    let made = run_each(&[job], &sources, &[Stage::Ttir], &Debug::default(), &reuse, 1, |_, outcome| outcome.result);
    let made = made.into_iter().next().unwrap().map_err(|d| d[0].message.clone())?;
    let text = String::from_utf8(made.artifacts[&Stage::Ttir].clone()).unwrap();
    let mut map = SourceMap::default();
    let file = map.add("k.ttir", None, text.as_str());
    let before = parse_module(&map, file, &ParseOptions::default()).map_err(|e| e[0].message.clone())?;
    let Ok(want) = run(&before, kernel) else { return Ok(Became::Faulty) };
    let mut after = before.clone();
    let pipeline = Pipeline::parse(pass, ttc::passes::registry::named).unwrap();
    let report = manager::run(&mut after, &pipeline, ttc::ir::verify::verify, &mut []);
    if !report.is_ok() {
        return Err(report.diagnostics.last().map_or_else(String::new, |d| d.message.clone()));
    }
    if !report.changed {
        return Ok(Became::Kept);
    }
    let got = run(&after, kernel).map_err(|e| format!("after the pass: {e}"))?;
    if got != want {
        return Err("the pass changes what it computes".to_owned());
    }
    if emulate {
        let metadata = text.lines().find(|l| l.contains("ttc.metadata")).unwrap_or_default();
        let text = format!("{}\n{metadata}\n", print_module(&after, &PrintOptions::default()));
        emulated(&text, kernel, &want)?;
    }
    Ok(Became::Rewritten)
}

fn run(ir: &Ir, kernel: &Kernel) -> Result<Vec<u8>, String> {
    let (mut memory, args, y) = (kernel.arguments)();
    let options = RunOptions { threads: 1, ..RunOptions::default() };
    interp::run(ir, "k", kernel.grid, &args, &mut memory, &options)
        .map_err(|d| format!("{} {}", d[0].code.id, d[0].message))?;
    Ok(memory.bytes(y).clone())
}

fn emulated(text: &str, kernel: &Kernel, want: &[u8]) -> Result<(), String> {
    let (memory, args, _) = (kernel.arguments)();
    let options = JobOptions { num_warps: Some(4), ..JobOptions::default() };
    let target = Target::parse("sm_90a").unwrap();
    let launch = (kernel.names.as_slice(), args.as_slice(), &memory);
    random_ir::emulated::check(text, (target, options), kernel.grid, launch, |bytes| {
        (bytes("y_ptr") != want).then(|| "y_ptr".to_owned())
    })
}

/// Checks as many seeds as the variable `{name}_SEEDS` says, or the one that `{name}_SEED` says, and that the pass
/// rewrites more than a tenth of the kernels. `check` is given whether to run in the emulator too.
pub(crate) fn check_seeds(
    name: &str,
    default: u64,
    source: impl Fn(u64) -> String,
    check: impl Fn(u64, bool) -> Result<Became, String> + Sync,
) {
    if let Ok(seed) = std::env::var(format!("{name}_SEED")) {
        let seed = seed.parse().unwrap();
        println!("{}\n{:?}", source(seed), check(seed, true));
        return;
    }
    let count = std::env::var(format!("{name}_SEEDS")).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let seeds: Vec<u64> = (0..count).collect();
    let counts: [AtomicU64; 3] = Default::default();
    let wrong = in_parallel(&seeds, |&seed| match check(seed, seed % 8 == 0) {
        Ok(became) => {
            counts[became as usize].fetch_add(1, Ordering::Relaxed);
            vec![]
        }
        Err(e) => vec![e],
    });
    println!("faulty, kept, rewritten: {counts:?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts[Became::Rewritten as usize].load(Ordering::Relaxed) > count / 10, "{counts:?}");
}
