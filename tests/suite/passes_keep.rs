//! Passes keep what kernels compute, bit for bit: the cases of `kernels/`, and random kernels for some seconds.

use std::time::{Duration, Instant};

use ttc::cases::{Folder, launch};
use ttc::interp::Options;
use ttc::ir::Ir;
use ttc::passes::manager::{self, Pipeline};
use ttc::passes::pipelines;

use super::kernels::{files, in_parallel};
use super::random_ir;

/// No TTIR pass may change a single bit of what a kernel leaves: each alone, and the pipeline, on the default configuration of every case.
#[test]
fn passes_keep_what_kernels_compute() {
    let mut pipelines: Vec<Pipeline> = random_ir::ttir_passes().iter().map(|n| Pipeline::parse(n).unwrap()).collect();
    pipelines.push(pipelines::ttir(90));
    let options = Options { threads: 1, ..Options::default() };
    let wrong = in_parallel(&files(), |path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut folder = Folder::default();
        let words = |d: Vec<ttc::diag::Diagnostic>| format!("{name}: {} {}", d[0].code.id, d[0].message);
        let (lowered, instance) = match folder.load(path).and_then(|l| {
            let instance = l.case.instance(&l.kernel, &l.case.default_config())?;
            Ok((launch::lower(&mut folder.sources, &l, &instance)?, instance))
        }) {
            Ok(made) => made,
            Err(d) => return vec![words(d)],
        };
        let run = |ir: &Ir| launch::run(ir, &lowered.kernel, &instance, &options).map(|d| d.outputs);
        let want = match run(&lowered.ir) {
            Ok(w) => w,
            Err(d) => return vec![words(d)],
        };
        let mut said = vec![];
        for pipeline in &pipelines {
            let mut after = lowered.ir.clone();
            let report = manager::run(&mut after, pipeline, ttc::ir::verify::verify, &mut []);
            if !report.is_ok() {
                said.push(format!("{name}: {pipeline}: {}", report.diagnostics[0].message));
            } else if report.changed && params(&after, &lowered.kernel) == params(&lowered.ir, &lowered.kernel) {
                match run(&after) {
                    Ok(got) if got == want => {}
                    Ok(_) => said.push(format!("{name}: {pipeline} changes the results")),
                    Err(d) => said.push(format!("{pipeline}: {}", words(d))),
                }
            }
        }
        said
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many parameters a kernel has: a pass that takes descriptors apart changes how it is launched.
fn params(ir: &Ir, kernel: &str) -> usize {
    ir.function(kernel).and_then(|f| ir.body(f, 0)).map_or(0, |b| ir.args(b).len())
}

#[test]
fn passes_keep_random_kernels() {
    // Each thread takes every n-th seed. The seeds are the same on every run; how far it gets depends on the machine.
    let start = Instant::now();
    let threads: Vec<u64> = (0..std::thread::available_parallelism().map_or(1, |n| n.get() as u64)).collect();
    let wrong = in_parallel(&threads, |&first| {
        let mut seed = 1 + first;
        while start.elapsed() < Duration::from_secs(8) || seed <= 20 {
            if let Err(e) = random_ir::check(seed) {
                return vec![e];
            }
            seed += threads.len() as u64;
        }
        vec![]
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
