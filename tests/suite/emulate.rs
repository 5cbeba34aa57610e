//! Every case of `kernels/`, compiled for two architectures, for clusters of two blocks, and with loads that become
//! TMA, runs in the emulator and agrees with its reference, and nothing is found.
//!
//! `TTC_CASES=softmax cargo test emulated` runs those whose name contains the text. `TTC_SWEEP=1` runs every
//! configuration of the cases that differs from the default in one parameter, larger clusters, and more schedules
//! (`make emulate`). `TTC_BLOCKS=2,4,8` keeps to clusters of so many blocks, and `TTC_SWEEP=10` takes ten
//! configurations of each case, spread over all of them, as `make gpu-cases` does with `--limit 10`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ttc::backend::Tma;
use ttc::cases::{Config, Folder, Inputs, Loaded, launch};
use ttc::driver::{Job, JobOptions, Pipelining};
use ttc::emu::{Landing, Options};
use ttc::emulate::{Assembly, Prepared, compile, diagnostics};
use ttc::gpu::arguments;
use ttc::target::Target;

use super::kernels::{files, in_parallel};
use super::references;

/// Architectures, the blocks of a cluster, choices of the pipeliner, and loads that become TMA.
const MACHINES: [(&str, u32, &str, Tma); 13] = [
    ("sm_80", 1, "", Tma::Off),
    ("sm_90a", 1, "", Tma::Auto),
    ("sm_90a", 2, "", Tma::Off),
    ("sm_90a", 1, "refill", Tma::Off),
    ("sm_90a", 2, "refill,multicast", Tma::Off),
    ("sm_90a", 1, "", Tma::Device),
    ("sm_90a", 2, "", Tma::Device),
    ("sm_90a", 1, "refill", Tma::Device),
    ("sm_90a", 1, "", Tma::Host),
    ("sm_90a", 2, "", Tma::Host),
    ("sm_90a", 1, "refill", Tma::Host),
    ("sm_90", 1, "", Tma::Host),
    ("sm_80", 1, LOADS_AHEAD, Tma::Off),
];

/// The choice by which loops without products load for their next iteration, in all kernels. By default a kernel does so
/// only if ptxas's answers say that it costs less.
const LOADS_AHEAD: &str = "loads-ahead";

/// Those of a whole run beside them.
const LARGE_CLUSTERS: [(&str, u32, &str, Tma); 7] = [
    ("sm_90a", 4, "", Tma::Off),
    ("sm_90a", 8, "", Tma::Off),
    ("sm_90a", 2, "refill", Tma::Off),
    ("sm_90a", 4, "refill,multicast", Tma::Off),
    ("sm_90a", 8, "refill,multicast", Tma::Off),
    ("sm_90a", 2, "refill,multicast", Tma::Device),
    ("sm_90a", 2, "refill,multicast", Tma::Host),
];

/// The cases with a loop that `refill` changes: an arrival of each warp stands in no other code.
const REFILLED: [&str; 5] =
    ["attention_tma", "descriptors_sum", "matmul_tma", "matmul_tma_host", "matmul_tma_persistent"];

/// What says that a type does not exist on an architecture: f8 needs conversions that came with sm_89.
const NO_SUCH_TYPE: (&str, &str) = ("E0315", "the type fp8e4nv is not supported on sm_80");

/// What says that a kernel needs more shared memory than there is.
const NO_ROOM: &str = "E0714";

/// Cases that are not for clusters, or not for those of more than so many blocks. The first one writes in place what
/// other blocks read too, of which they keep nothing. In the second one a thread would hold less than a pack, and in
/// the third one a block less than 16 bytes of a row.
const NOT_IN_CLUSTERS: &[(&str, u32)] =
    &[("cross_entropy_bwd", 1), ("map_elementwise", 1), ("descriptors_transpose", 4)];

/// The schedules of a quick run: one for each time at which work may land.
const SCHEDULES: [(u64, Landing); 3] = [(1, Landing::Late), (2, Landing::Early), (3, Landing::Random)];

fn words(d: Vec<ttc::diag::Diagnostic>) -> Vec<String> {
    let one = |d: ttc::diag::Diagnostic| format!("{} {} {:?} {:?}", d.code.id, d.message, d.place(), d.notes);
    d.into_iter().map(one).collect()
}

/// What is wrong with one configuration on one architecture, in words.
fn problems(
    folder: &mut Folder,
    loaded: &Loaded,
    config: &Config,
    (arch, num_ctas, pipeline, tma): (&str, u32, &str, Tma),
    more: bool,
) -> Vec<String> {
    let instance = match loaded.case.instance(&loaded.kernel, config) {
        Ok(i) => i,
        Err(d) => return words(d),
    };
    let reference = references::lookup(&loaded.case.reference).expect("the interpreter's test has found it");
    let num_ctas = if num_ctas > 1 { Some(num_ctas) } else { instance.options.num_ctas };
    let pipelining = Some(Pipelining::parse(pipeline).unwrap());
    let made = |tma: Tma, pipelining: Option<Pipelining>| {
        let include = loaded.include.clone();
        let options = JobOptions { include, num_ctas, pipelining, tma, ..instance.options.clone() };
        let kernel = Some(loaded.kernel.name.clone());
        let job = Job { kernel, ..Job::new(loaded.input.clone(), Target::parse(arch).unwrap(), Arc::new(options)) };
        compile(&folder.sources, &job)
    };
    let assembly = match made(tma, pipelining) {
        Ok(a) => a,
        Err(d) if d.iter().all(|d| (d.code.id, &*d.message) == NO_SUCH_TYPE) => return vec![],
        // In a sweep, tiles may need more shared memory than a block of an architecture has.
        Err(d) if more && d.iter().all(|d| d.code.id == NO_ROOM) => return vec![],
        // A row of a tile may be too short to be shared by the blocks of a cluster.
        Err(d) if more && d.iter().any(|d| d.message.contains("bytes of a row are one block's share")) => return vec![],
        Err(d) => return words(d),
    };
    // Where no load becomes TMA, or is made ahead, the code has run already.
    let is_same = |plain: Result<Assembly, _>| plain.is_ok_and(|plain| plain.ptx == assembly.ptx);
    if tma != Tma::Off && is_same(made(Tma::Off, pipelining))
        || pipeline == LOADS_AHEAD && is_same(made(tma, Some(Pipelining::default())))
    {
        return vec![];
    }
    // Loops that do without a pipeline have nothing to refill, nor has a sum over one slot.
    let shown = config.to_string();
    let one_slot = shown.split(' ').any(|p| matches!(p, "stages=1" | "stages=2"));
    let staged = instance.options.num_stages != Some(1) && instance.options.num_warps != Some(1) && !one_slot;
    if pipeline.starts_with("refill")
        && staged
        && tma == Tma::Off
        && !assembly.ptx.contains("mbarrier.arrive.shared")
        && !assembly.ptx.contains("mbarrier.arrive.release.cluster")
    {
        return vec!["no loop is refilled".to_owned()];
    }
    let prepared = match Prepared::new(&assembly, &arguments::of_case(&instance), instance.grid) {
        Ok(p) => p,
        Err(d) => return words(vec![d]),
    };
    let want = reference(&Inputs::new(&instance));
    let mut wrong = vec![];
    let seeds = if more { 4 } else { 1 };
    for (seed, landing) in (0..seeds).flat_map(|n| SCHEDULES.map(|(s, l)| (s + 3 * n, l))) {
        let options = Options { seed, landing, ..Options::default() };
        let found = match prepared.run(&options) {
            Err(fault) => words(diagnostics::of_fault(&fault, &assembly.ptx)),
            Ok((outcome, memory)) => {
                let found = outcome.findings.iter().map(|f| diagnostics::of_finding(f, &assembly.ptx)).collect();
                let outputs: BTreeMap<_, _> =
                    instance.outputs().map(|b| (b.name.clone(), prepared.bytes(&memory, &b.name).unwrap())).collect();
                [words(found), launch::check(&instance, &outputs, &want)].concat()
            }
        };
        let blocks = num_ctas.unwrap_or(1);
        let machine = format!("{arch}, blocks {blocks}, pipeline `{pipeline}`, {tma:?}");
        wrong.extend(found.into_iter().map(|p| format!("{machine}, seed {seed}, {landing:?}: {p}")));
    }
    wrong
}

/// What a loop that refills slots may go wrong with, as values of parameters: iterations (none, one, two, about as many
/// as stages, many), stages, and warps.
type Trips = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const TRIPS: [Trips; 4] = [
    (
        "matmul_tma",
        &[
            ("k", &["0", "40", "64", "104", "128", "192", "520"]),
            ("num_stages", &["2", "3", "4", "5"]),
            ("num_warps", &["4", "8"]),
        ],
    ),
    (
        "matmul_tma_persistent",
        &[
            ("k", &["0", "64", "128", "328"]),
            ("num_stages", &["2", "3", "5"]),
            ("programs", &["1", "16"]),
            ("num_warps", &["8"]),
        ],
    ),
    (
        "descriptors_sum",
        &[("n", &["64", "72", "192", "520", "648"]), ("stages", &["3", "4", "5"]), ("num_warps", &["2", "8"])],
    ),
    (
        "attention_tma",
        &[
            ("length", &["50", "64", "128", "200", "296"]),
            ("num_stages", &["2", "3", "4"]),
            ("causal", &["false", "true"]),
            ("block_m", &["64", "128"]),
            ("num_warps", &["4", "8"]),
        ],
    ),
];

#[test]
fn emulated_refills_agree_for_every_number_of_iterations() {
    let all = std::env::var_os("TTC_SWEEP").is_some();
    let cases: Vec<_> =
        files().into_iter().filter(|p| TRIPS.iter().any(|t| p.file_stem() == Some(t.0.as_ref()))).collect();
    let wrong = in_parallel(&cases, |path| {
        let mut folder = Folder::default();
        let loaded = folder.load(Path::new(path)).unwrap();
        let (name, lists) = TRIPS.iter().find(|t| path.file_stem() == Some(t.0.as_ref())).unwrap();
        let mut configs = vec![loaded.case.default_config()];
        for (param, values) in *lists {
            let with = |config: &Config, value: &&str| {
                let mut config = config.clone();
                loaded.case.set(&mut config, param, value).unwrap();
                config
            };
            configs = configs.iter().flat_map(|c| values.iter().map(move |v| with(c, v))).collect();
        }
        // A few of them, of which each value is one.
        let every = if all { 1 } else { 7 };
        let tried = configs.iter().step_by(every);
        let refilling = MACHINES.iter().filter(|m| m.2.starts_with("refill") && m.3 == Tma::Off);
        let found = tried.flat_map(|c| {
            let wrong = refilling.clone().flat_map(|&machine| problems(&mut folder, &loaded, c, machine, all));
            wrong.map(|p| format!("{name} [{c}] {p}")).collect::<Vec<_>>()
        });
        found.collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The machines that a run takes, of all or of those that `TTC_BLOCKS` names by the blocks of a cluster.
fn machines(all: bool) -> Vec<(&'static str, u32, &'static str, Tma)> {
    let blocks = std::env::var("TTC_BLOCKS").ok();
    let blocks: Option<Vec<u32>> =
        blocks.map(|b| b.split(',').map(|n| n.parse().expect("a number of blocks")).collect());
    let more = if all { &LARGE_CLUSTERS[..] } else { &[] };
    MACHINES.iter().chain(more).filter(|m| blocks.as_ref().is_none_or(|b| b.contains(&m.1))).copied().collect()
}

#[test]
fn emulated_kernels_agree_with_their_references() {
    let sweep = std::env::var("TTC_SWEEP").ok();
    let all = sweep.is_some();
    let each = sweep.and_then(|n| n.parse().ok()).filter(|&n: &usize| n > 1);
    let mut folder = Folder::default();
    let mut runs = vec![];
    for path in files() {
        let case = folder.load(&path).unwrap_or_else(|d| panic!("{}: {d:#?}", path.display())).case;
        let configs = match each {
            Some(n) => case.spread(n).unwrap(),
            None if all => case.neighbours().unwrap(),
            None => vec![case.default_config()],
        };
        runs.extend(configs.into_iter().map(|c| (path.clone(), c)));
    }
    let machines = machines(all);
    let start = std::time::Instant::now();
    let wrong = in_parallel(&runs, |(path, config)| {
        let mut folder = Folder::default();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let loaded = folder.load(path).unwrap();
        let most = NOT_IN_CLUSTERS.iter().find(|n| n.0 == name).map_or(u32::MAX, |n| n.1);
        let refills = |m: &(&str, u32, &str, Tma)| m.3 != Tma::Off || REFILLED.contains(&&*name);
        let is_for_all = |m: &(&str, u32, &str, Tma)| m.2.is_empty() || m.2 == LOADS_AHEAD;
        let fits = |m: &&(&str, u32, &str, Tma)| m.1 <= most && (is_for_all(m) || refills(m));
        let mut wrong = vec![];
        for &machine in machines.iter().filter(fits) {
            let found = problems(&mut folder, &loaded, config, machine, all);
            wrong.extend(found.into_iter().map(|p| format!("{name} [{config}] {p}")));
        }
        println!("{name} [{config}]: {} wrong, at {:.1} s", wrong.len(), start.elapsed().as_secs_f64());
        wrong
    });
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

/// Several schedules at once say what one after the other says: results in their order, and the first fault.
#[test]
fn emulated_schedules_do_not_depend_on_the_number_of_jobs() {
    let ttc = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
        let done = command.args(args).env("TTC_CACHE", "0").current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let stdout = String::from_utf8(done.stdout).unwrap();
        // The speed is another one in every run.
        let lines: Vec<_> = stdout.lines().map(|l| l.split_once(" steps of warps").map_or(l, |(l, _)| l)).collect();
        (done.status.code(), lines.join("\n"), String::from_utf8(done.stderr).unwrap())
    };
    let case = |jobs| ttc(&["interpret", "--stage", "ptx", "kernels/add.toml", "--schedules", "5", "--jobs", jobs]);
    let alone = case("1");
    assert_eq!((alone.0, alone.1.matches(": seed ").count()), (Some(0), 5), "{alone:?}");
    assert_eq!(case("3"), alone);
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("launch.json");
    let text = r#"{"grid": [1, 1, 1], "block": [64, 1, 1], "shared": 256,
        "buffers": [{"name": "y", "bytes": 256}], "arguments": [{"buffer": "y"}]}"#;
    std::fs::write(&launch, text).unwrap();
    let launch = launch.to_str().unwrap();
    let race =
        |jobs| ttc(&["emulate", "tests/codes/E1204.ptx", "--launch", launch, "--schedules", "4", "--jobs", jobs]);
    let alone = race("1");
    assert!(alone.0 == Some(1) && alone.2.contains("E1204"), "{alone:?}");
    assert_eq!(race("4"), alone);
}
