//! Passes keep what kernels compute, bit for bit: the cases of `kernels/`, the kernels of text tests that say so, and
//! random kernels for some seconds.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ttc::backend::{self, GpuOptions};
use ttc::cases::{Folder, launch};
use ttc::interp::{self, Arg, Memory, RunOptions};
use ttc::ir::Ir;
use ttc::ir::text::parser::{ParseOptions, parse_module};
use ttc::passes::manager::{self, Pipeline};
use ttc::source::SourceMap;
use ttc::target::Target;

use super::kernels::{files, in_parallel};
use super::random_ir;

/// No TTIR pass may change a single bit of what a kernel leaves: each alone, and the pipeline, on the default
/// configuration of every case.
#[test]
fn passes_keep_what_kernels_compute() {
    let mut pipelines: Vec<Pipeline> =
        random_ir::ttir_passes().iter().map(|n| Pipeline::parse(n, ttc::passes::registry::named).unwrap()).collect();
    pipelines.push(backend::ttir(&GpuOptions::new(Target::parse("sm_90a").unwrap())));
    let wrong = in_parallel(&files(), |path| keeps_case(path, &pipelines));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// TTGIR of the persistent product up to the pipeliner, for `wgmma` and `mma`, and with flags for accumulators. Other
/// kernels may add in another order.
#[test]
fn passes_keep_what_fused_loops_compute() {
    let mut pipelines = vec![];
    for target in ["sm_90a", "sm_90", "sm_80"].map(|name| Target::parse(name).unwrap()) {
        let all = backend::ttgir(&GpuOptions::new(target)).to_string();
        let front = format!(
            "{},{}",
            backend::ttir(&GpuOptions::new(target)),
            all.split_once(",tritongpu-assign-latencies").unwrap().0
        );
        pipelines.push(Pipeline::parse(&front, ttc::passes::registry::named).unwrap());
        pipelines.push(
            Pipeline::parse(
                &format!("{front},tritongpu-optimize-accumulator-init,canonicalize"),
                ttc::passes::registry::named,
            )
            .unwrap(),
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/matmul_persistent.toml");
    let wrong = keeps_case(&path, &pipelines);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the pipelines change in the results of a case's default configuration.
fn keeps_case(path: &Path, pipelines: &[Pipeline]) -> Vec<String> {
    let options = RunOptions { threads: 1, ..RunOptions::default() };
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
    for pipeline in pipelines {
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
}

/// Text tests with a `KEEPS:` line name passes that keep what the kernels in them compute: those with `ARGS:` lines run
/// before and after, with these integers behind a buffer that must be the same bit by bit.
#[test]
fn passes_keep_what_text_tests_compute() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lit/passes");
    let (mut runs, mut wrong) = (0, vec![]);
    for path in sorted_files(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(passes) = text.lines().find_map(|l| l.strip_prefix("// KEEPS: ")) else { continue };
        runs += text.split("// -----").map(|part| keeps(&path, passes, part, &mut wrong)).sum::<usize>();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(runs > 50, "only {runs} runs");
}

/// All files in a folder and in those within it.
fn sorted_files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = paths.flat_map(|p| if p.is_dir() { sorted_files(&p) } else { vec![p] }).collect();
    files.sort();
    files
}

/// Runs one kernel with each of its lists of arguments; how many there were.
fn keeps(path: &Path, passes: &str, part: &str, wrong: &mut Vec<String>) -> usize {
    let lists: Vec<&str> = part.lines().filter_map(|l| l.trim_start().strip_prefix("// ARGS: ")).collect();
    if lists.is_empty() {
        return 0;
    }
    let mut map = SourceMap::default();
    let file = map.add(path.to_string_lossy(), None, part);
    let before =
        parse_module(&map, file, &ParseOptions::default()).unwrap_or_else(|e| panic!("{}: {e:#?}", path.display()));
    let mut after = before.clone();
    let report = manager::run(
        &mut after,
        &Pipeline::parse(passes, ttc::passes::registry::named).unwrap(),
        ttc::ir::verify::verify,
        &mut [],
    );
    let name = before.str_attr(before.functions()[0], "sym_name").unwrap();
    assert!(report.is_ok(), "{name}: {:#?}", report.diagnostics);
    for list in &lists {
        let args: Vec<i64> = list.split_whitespace().map(|a| a.parse().unwrap()).collect();
        if buffer(&before, name, &args) != buffer(&after, name, &args) {
            wrong.push(format!("{passes} changes what `{name}` computes with {list}"));
        }
    }
    lists.len()
}

/// What a kernel leaves in the buffer that is its first argument.
fn buffer(ir: &Ir, name: &str, args: &[i64]) -> Vec<u8> {
    let mut memory = Memory::new();
    let entry = ir.entry(ir.region(ir.functions()[0], 0)).unwrap();
    let elem = ir.ty(ir.args(entry)[0]).pointee().unwrap();
    let out = memory.add("out", elem, &[0x5a; 1 << 14]);
    let args: Vec<Arg> = std::iter::once(Arg::Ptr(out, 0)).chain(args.iter().map(|&a| Arg::Int(a))).collect();
    let done =
        interp::run(ir, name, [1, 1, 1], &args, &mut memory, &RunOptions { threads: 1, ..RunOptions::default() });
    assert!(done.is_ok(), "`{name}` {args:?}: {:#?}", done.err());
    memory.bytes(out).clone()
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

/// `TTC_TTGIR_SEEDS=10000` tries as many, `TTC_TTGIR_SEED=17` one.
#[test]
fn pipelines_keep_random_kernels() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seeds: Vec<u64> = match variable("TTC_TTGIR_SEED") {
        Some(seed) => vec![seed],
        None => (0..variable("TTC_TTGIR_SEEDS").unwrap_or(40)).collect(),
    };
    let wrong = in_parallel(&seeds, |&seed| random_ir::check_pipelines(seed).err().into_iter().collect());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
