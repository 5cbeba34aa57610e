//! Every case of `kernels/`, compiled for two architectures, runs in the emulator and agrees with its reference, and
//! nothing is found.
//!
//! `TTC_CASES=softmax cargo test emulated` runs those whose name contains the text. `TTC_SWEEP=1` runs every
//! configuration of the cases that differs from the default in one parameter, and more schedules (`make emulate`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ttc::cases::{Config, Folder, Inputs, Loaded, launch};
use ttc::driver::{Job, JobOptions};
use ttc::emu::{Landing, Options};
use ttc::emulate::{Prepared, compile, diagnostics};
use ttc::gpu::arguments;
use ttc::target::Target;

use super::kernels::{files, in_parallel};
use super::references;

const ARCHES: [&str; 2] = ["sm_80", "sm_90a"];

/// Cases whose kernels do not exist on an architecture: f8 needs conversions that came with sm_89.
const NOT_FOR: &[(&str, &str)] = &[("cast", "sm_80"), ("dot_scaled_blocks", "sm_80"), ("matmul_fp8", "sm_80")];

/// The schedules of a quick run: one for each time at which work may land.
const SCHEDULES: [(u64, Landing); 3] = [(1, Landing::Late), (2, Landing::Early), (3, Landing::Random)];

fn words(d: Vec<ttc::diag::Diagnostic>) -> Vec<String> {
    let one = |d: ttc::diag::Diagnostic| format!("{} {} {:?} {:?}", d.code.id, d.message, d.place(), d.notes);
    d.into_iter().map(one).collect()
}

/// What is wrong with one configuration on one architecture, in words.
fn problems(folder: &mut Folder, loaded: &Loaded, config: &Config, arch: &str, more: bool) -> Vec<String> {
    let instance = match loaded.case.instance(&loaded.kernel, config) {
        Ok(i) => i,
        Err(d) => return words(d),
    };
    let reference = references::lookup(&loaded.case.reference).expect("the interpreter's test has found it");
    let options = JobOptions { include: loaded.include.clone(), ..instance.options.clone() };
    let kernel = Some(loaded.kernel.name.clone());
    let job = Job { kernel, ..Job::new(loaded.input.clone(), Target::parse(arch).unwrap(), Arc::new(options)) };
    let assembly = match compile(&folder.sources, &job) {
        Ok(a) => a,
        Err(d) => return words(d),
    };
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
        wrong.extend(found.into_iter().map(|p| format!("{arch}, seed {seed}, {landing:?}: {p}")));
    }
    wrong
}

#[test]
fn emulated_kernels_agree_with_their_references() {
    let all = std::env::var_os("TTC_SWEEP").is_some();
    let wrong = in_parallel(&files(), |path| {
        let mut folder = Folder::default();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let loaded = match folder.load(Path::new(path)) {
            Ok(l) => l,
            Err(d) => return vec![format!("{name}: {d:#?}")],
        };
        let configs = if all { loaded.case.neighbours().unwrap() } else { vec![loaded.case.default_config()] };
        let start = std::time::Instant::now();
        let mut wrong = vec![];
        for config in &configs {
            for arch in ARCHES.iter().filter(|a| !NOT_FOR.contains(&(&name, a))) {
                let found = problems(&mut folder, &loaded, config, arch, all);
                wrong.extend(found.into_iter().map(|p| format!("{name} [{config}] {p}")));
            }
        }
        println!("{name}: {} configurations, {:.1} s", configs.len(), start.elapsed().as_secs_f64());
        wrong
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
