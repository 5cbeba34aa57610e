//! Planted faults: whatever orders accesses in compiled kernels is taken out or weakened, one at a time, and the
//! emulator must find it.
//!
//! 1. [`plant`] makes the texts.
//! 2. Each runs in three schedules. What the emulator says is compared with the opinion of a judge of its own
//!    ([`judge`]), who gets the events of the run and looks whether each pair of conflicting accesses is ordered.
//! 3. A fault matters if the judge finds a pair without an order, or if the run ends or computes something else. One
//!    that does not matter has a reason: nothing that conflicts crosses it, or the judge names the lines that order it
//!    too.
//!
//! `cargo test planted_faults` tries some faults of small kernels. `make emulate-faults` tries all faults of all cases
//! and prints a table; `TTC_CASES` chooses cases, and `TTC_PIPELINE=refill` the machines with that choice of the
//! pipeliner. `make gpu-faults` writes faults for a GPU ([`export`]).

// The table is what a whole run is for.
#![allow(clippy::print_stdout)]

mod export;
mod graph;
mod judge;
mod pairs;
mod plant;
mod registers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ttc::cases::{Config, Folder, Loaded};
use ttc::driver::{Job, JobOptions, Pipelining};
use ttc::emu::{self, Landing, Options};
use ttc::emulate::{Assembly, Prepared, compile};
use ttc::gpu::arguments;
use ttc::target::Target;

use super::kernels::{files, in_parallel};
use export::Export;
use judge::Verdict;
use plant::{Kind, Planted};

/// An architecture, the blocks of a cluster, and choices of the pipeliner.
type Machine = (&'static str, u32, &'static str);

const MACHINES: [Machine; 5] = [
    ("sm_80", 1, ""),
    ("sm_90a", 1, ""),
    ("sm_90a", 2, ""),
    ("sm_90a", 1, "refill"),
    ("sm_90a", 2, "refill,multicast"),
];

/// The schedules in which a text runs.
const SCHEDULES: [(u64, Landing); 3] = [(1, Landing::Late), (2, Landing::Early), (3, Landing::Random)];

/// The cases of a quick run, with a machine and how many faults there are to each that is tried.
const QUICK: &[(&str, Machine, usize)] = &[
    ("descriptors_groups", ("sm_90a", 1, ""), 6),
    ("descriptors_sum", ("sm_90a", 1, "refill"), 4),
    ("gated", ("sm_90a", 1, ""), 4),
    ("matmul_stages", ("sm_80", 1, ""), 9),
    ("matmul_tma_host", ("sm_90a", 1, "refill"), 3),
    ("matmul_tma_host", ("sm_90a", 2, "refill,multicast"), 8),
    ("softmax", ("sm_90a", 2, ""), 1),
];

/// Cases that are not for clusters: what one of them writes in place other blocks read, and keep nothing of it.
const NOT_IN_CLUSTERS: [&str; 2] = ["cross_entropy_bwd", "map_elementwise"];

/// The pipelines of a whole run, beside the default.
const STAGES: [&str; 3] = ["1", "2", "4"];

/// What came of a text.
struct Seen {
    /// What the emulator said first.
    found: Option<String>,
    /// What is wrong by the judge, or because the run ended or computed something else.
    broken: Option<String>,
    /// The lines that order what crosses the fault.
    reasons: BTreeSet<u32>,
    too_large: bool,
    /// What the buffers hold.
    after: Vec<Vec<u8>>,
}

/// Runs a text until the emulator and the judge have both found something, or all schedules are done. `want` is what
/// the buffers should hold.
fn examine(launch: &Prepared, text: &str, line: u32, want: Option<&[Vec<u8>]>) -> Seen {
    let mut seen = Seen { found: None, broken: None, reasons: BTreeSet::new(), too_large: false, after: vec![] };
    let program = emu::decode(&emu::parse(text).unwrap()).unwrap();
    for (seed, landing) in SCHEDULES {
        if seen.found.is_some() && seen.broken.is_some() {
            break;
        }
        let mut memory = launch.memory();
        let options = Options { seed, landing, observe: true, max_steps: 1 << 22, ..Options::default() };
        let done = emu::run(&program, &launch.kernel, &launch.launch, &mut memory, &options);
        let (outcome, fault) = match done {
            Ok(o) => (o, None),
            Err(f) => (f.before, Some(f.finding)),
        };
        if let Some(f) = outcome.findings.first().or(fault.as_ref()) {
            seen.found.get_or_insert_with(|| format!("{landing:?}: {}", f.text()));
        }
        if let Some(f) = fault {
            seen.broken.get_or_insert_with(|| format!("{landing:?}: the run ends: {}", f.message));
            continue;
        }
        seen.after = (0..launch.buffers.len()).map(|i| memory.bytes(emu::BufferId(i as u32))).collect();
        if want.is_some_and(|want| want != seen.after) {
            seen.broken.get_or_insert_with(|| format!("{landing:?}: other results"));
        }
        match judge::judge(&outcome.events, line) {
            Verdict::Broken(words) => _ = seen.broken.get_or_insert_with(|| format!("{landing:?}: {words}")),
            Verdict::Ordered(reasons) => seen.reasons.extend(reasons),
            Verdict::TooLarge => seen.too_large = true,
        }
    }
    seen
}

/// How many faults of a kind there are, were found, do not matter, were missed, and are too large for the judge.
#[derive(Default)]
struct Row {
    all: usize,
    found: usize,
    /// Nothing that conflicts crosses it; the order of one lane's program is enough; other lines order the same.
    harmless: [usize; 3],
    missed: usize,
    too_large: usize,
}

type Table = Mutex<BTreeMap<Kind, Row>>;

fn assembled(
    folder: &mut Folder,
    loaded: &Loaded,
    config: &Config,
    (arch, num_ctas, pipeline): Machine,
) -> Option<(Assembly, Prepared)> {
    let instance = loaded.case.instance(&loaded.kernel, config).ok()?;
    let num_ctas = if num_ctas > 1 { Some(num_ctas) } else { instance.options.num_ctas };
    let pipelining = Some(Pipelining::parse(pipeline).unwrap());
    let options = JobOptions { include: loaded.include.clone(), num_ctas, pipelining, ..instance.options.clone() };
    let kernel = Some(loaded.kernel.name.clone());
    let job = Job { kernel, ..Job::new(loaded.input.clone(), Target::parse(arch).unwrap(), Arc::new(options)) };
    // Some kernels are not for every architecture.
    let assembly = compile(&folder.sources, &job).ok()?;
    // Without a loop that it changes, a choice of the pipeliner gives the same text once more.
    if pipeline == "refill" && !assembly.ptx.contains("mbarrier.arrive.shared") {
        return None;
    }
    let prepared = Prepared::new(&assembly, &arguments::of_case(&instance), instance.grid).ok()?;
    Some((assembly, prepared))
}

/// Plants the faults of one kernel, every so many. The result is what is wrong, in words.
fn problems(subject: &Subject, export: Option<&Export>, table: &Table) -> Vec<String> {
    let Subject { name, assembly, launch, every, .. } = subject;
    let ptx = &assembly.ptx;
    let plain = examine(launch, ptx, u32::MAX, None);
    let mut wrong = vec![];
    if let Some(words) = plain.found.as_ref().or(plain.broken.as_ref()) {
        wrong.push(format!("{name} without a fault: {words}"));
    }
    let threads = launch.launch.block.iter().product();
    let mut faults: Vec<Planted> = plant::all(ptx, threads).into_iter().step_by(*every).collect();
    if let Some(export) = export {
        faults = export.choose(faults);
    }
    let mut written = vec![];
    for fault in faults {
        let seen = examine(launch, &fault.text, fault.line, Some(&plain.after));
        let what = format!("{name}: {}, line {}", fault.kind.words(), fault.line);
        let mut table = table.lock().unwrap();
        let row = table.entry(fault.kind).or_default();
        row.all += 1;
        match (&seen.found, &seen.broken) {
            (Some(_), Some(_)) => row.found += 1,
            (None, Some(words)) => {
                row.missed += 1;
                wrong.push(format!("{what}: the emulator has not found it: {words}"));
            }
            // That its bytes are used again is no question of order.
            (Some(_), None) if fault.kind == Kind::MbarrierInvalOut => row.found += 1,
            (Some(words), None) if !seen.too_large => {
                wrong.push(format!("{what}: the judge finds all in order, and the emulator says {words}"));
            }
            _ if seen.too_large => row.too_large += 1,
            _ => {
                let class = match seen.reasons.len() {
                    0 => 0,
                    1 if seen.reasons.contains(&0) => 1,
                    _ => 2,
                };
                row.harmless[class] += 1;
                println!("{what}: does not matter, lines {:?} order the same", seen.reasons);
            }
        }
        drop(table);
        if export.is_some() {
            written.push((fault, seen));
        }
    }
    if let Some(export) = export {
        export.write(&subject.folder, launch, ptx, &plain, &written);
    }
    wrong
}

/// A kernel that is tried.
struct Subject {
    name: String,
    /// The folder for its texts.
    folder: String,
    assembly: Assembly,
    launch: Prepared,
    /// One of so many faults is planted.
    every: usize,
}

/// The kernels of one case file that are tried.
fn subjects(path: &Path, sweep: bool, export: bool) -> Vec<Subject> {
    let mut folder = Folder::default();
    let case = path.file_stem().unwrap().to_string_lossy().into_owned();
    let loaded = folder.load(path).unwrap();
    let mut all = vec![];
    let only = std::env::var("TTC_PIPELINE").ok();
    for machine in MACHINES {
        let (arch, num_ctas, pipeline) = machine;
        if only.as_ref().is_some_and(|only| only != pipeline) {
            continue;
        }
        if num_ctas > 1 && NOT_IN_CLUSTERS.contains(&&*case) {
            continue;
        }
        let quick = QUICK.iter().find(|(c, m, _)| *c == case && *m == machine).map(|(_, _, every)| *every);
        let every = if export {
            (machine == (export::ARCH, 1, "")).then_some(1)
        } else if sweep {
            Some(1)
        } else {
            quick
        };
        let Some(every) = every else { continue };
        let default = loaded.case.default_config();
        let mut configs = vec![default.clone()];
        if sweep && case == "matmul_stages" {
            for stages in STAGES {
                let mut config = default.clone();
                loaded.case.set(&mut config, "num_stages", stages).unwrap();
                configs.push(config);
            }
        }
        for config in configs {
            if let Some((assembly, launch)) = assembled(&mut folder, &loaded, &config, machine) {
                let name = format!("{case} [{config}] {arch}, blocks {num_ctas}, pipeline `{pipeline}`");
                all.push(Subject { name, folder: format!("{case}-{arch}-{}", all.len()), assembly, launch, every });
            }
        }
    }
    all
}

#[test]
fn planted_faults_are_found_or_do_not_matter() {
    let sweep = std::env::var_os("TTC_SWEEP").is_some();
    let export = Export::of_environment();
    let table = Table::default();
    let wrong = in_parallel(&files(), |path| {
        let subjects = subjects(path, sweep, export.is_some());
        subjects.iter().flat_map(|s| problems(s, export.as_ref(), &table)).collect()
    });
    let table = table.into_inner().unwrap();
    println!(
        "| fault | planted | found | no conflict crosses it | one lane's order | others order it | missed | too large |"
    );
    for (kind, r) in &table {
        let [nothing, own, others] = r.harmless;
        let numbers = [r.all, r.found, nothing, own, others, r.missed, r.too_large].map(|n| n.to_string());
        println!("| {} | {} |", kind.words(), numbers.join(" | "));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let chosen = std::env::var_os("TTC_CASES").is_some();
    assert!(chosen || table.values().map(|r| r.found).sum::<usize>() >= 8, "too few faults were planted");
}
