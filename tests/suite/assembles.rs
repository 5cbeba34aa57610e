//! Every kernel of `kernels/`, compiled for every generation, goes through the oldest and the newest ptxas that the
//! README promises. The launch descriptor of each says what its PTX declares ([`super::launch`]).
//!
//! One case a kernel, in its default configuration. What a target cannot do is in [`REFUSED`], with the code that says
//! so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ttc::cases::{Folder, Loaded};
use ttc::driver::{Debug, Job, Stage, run_all};
use ttc::ptxas::{self, AssembleOptions};
use ttc::target::Target;

use super::kernels::{files, in_parallel};
use super::launch;

/// A target of each kind of instruction set: `mma.sync` alone, with fp8, the baseline of Hopper, `wgmma`, and
/// Blackwell's two.
const TARGETS: [&str; 6] = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"];

/// Kernels that a target has no instructions or no room for: the case's name, the target and the code.
const REFUSED: &[(&str, &str, &str)] = &[("cast", "sm_80", "E0315")];

/// The releases of ptxas in `.toolchain`: the oldest of CUDA 12, and the one that compilations use.
fn releases() -> Vec<PathBuf> {
    let nvidia = Path::new(env!("CARGO_MANIFEST_DIR")).join(".toolchain/nvidia");
    let found: Vec<PathBuf> =
        ["cuda_nvcc/bin/ptxas", "cu13/bin/ptxas"].iter().map(|p| nvidia.join(p)).filter(|p| p.exists()).collect();
    let all = found.len() == 2;
    assert!(
        all || std::env::var_os("TTC_TEST_TOOLS").is_none(),
        "`make toolchain` puts two releases of ptxas into {}",
        nvidia.display()
    );
    found
}

/// The first case of each kernel.
pub(crate) fn one_case_a_kernel() -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let kernel_of = |path: &PathBuf| {
        let loaded = Folder::default().load(path).unwrap_or_else(|d| panic!("{}: {d:#?}", path.display()));
        (loaded.input.path, loaded.kernel.name)
    };
    files().into_iter().filter(|path| seen.insert(kernel_of(path))).collect()
}

/// What is wrong with one case for one target.
fn problems(folder: &Folder, loaded: &Loaded, name: &str, target: &str, releases: &[PathBuf]) -> Vec<String> {
    let instance = loaded
        .case
        .instance(&loaded.kernel, &loaded.case.default_config())
        .unwrap_or_else(|d| panic!("{name}: {d:#?}"));
    let target = Target::parse(target).unwrap();
    let job = Job {
        kernel: Some(loaded.kernel.name.clone()),
        ..Job::new(loaded.input.clone(), target, Arc::new(instance.options.clone()))
    };
    let outcome = run_all(&[job], &folder.sources, &[Stage::Assembly], &Debug::default(), 1).remove(0);
    let refused = REFUSED.iter().find(|(n, t, _)| (*n, *t) == (name, target.name)).map(|(_, _, code)| *code);
    let made = match outcome.result {
        Ok(made) => made,
        Err(d) if refused.is_some_and(|code| d.iter().any(|d| d.code.id == code)) => return vec![],
        Err(d) => return vec![format!("{name} for {target}: {} {}", d[0].code.id, d[0].message)],
    };
    if let Some(code) = refused {
        return vec![format!("{name} for {target} compiles, expected {code}")];
    }
    let ptx = String::from_utf8(made.artifacts[&Stage::Assembly].clone()).unwrap();
    let faults = launch::faults(&made, &ptx, &instance);
    if !faults.is_empty() {
        return faults.into_iter().map(|f| format!("{name} for {target}: {f}")).collect();
    }
    let assembled = |ptxas: &PathBuf| {
        ptxas::assemble(&ptx, &target, &AssembleOptions { ptxas: Some(ptxas), ..AssembleOptions::default() }, None)
    };
    let said = |ptxas: &PathBuf| {
        assembled(ptxas)
            .err()
            .map(|d| format!("{name} for {target} by {}: {} {:?}", ptxas.display(), d.message, d.notes))
    };
    releases.iter().filter_map(said).collect()
}

#[test]
fn kernels_assemble_for_every_generation_with_the_oldest_and_the_newest_ptxas() {
    let releases = releases();
    let wrong = in_parallel(&one_case_a_kernel(), |path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut folder = Folder::default();
        let loaded = folder.load(path).unwrap();
        TARGETS.iter().flat_map(|target| problems(&folder, &loaded, &name, target, &releases)).collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
