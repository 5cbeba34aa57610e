//! Every case of `kernels/` runs in the interpreter and agrees with its reference.
//!
//! `TTC_CASES=softmax cargo test kernels` runs those whose name contains the text; `TTC_SWEEP=1` runs every
//! configuration instead of the default and those that differ from it in one parameter.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ttc::cases::{Config, Folder, Inputs, Loaded, launch};
use ttc::interp::RunOptions;

use super::references;

/// The case files of `kernels/`, in order, that the environment asks for.
pub(crate) fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let only = std::env::var("TTC_CASES").unwrap_or_default();
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| {
        p.extension().is_some_and(|e| e == "toml") && p.file_stem().is_some_and(|s| s.to_string_lossy().contains(&only))
    });
    files.sort();
    assert!(!files.is_empty(), "no case is named like `{only}`");
    files
}

/// What is wrong with one configuration, in words.
fn problems(folder: &mut Folder, loaded: &Loaded, config: &Config) -> Vec<String> {
    let words = |d: Vec<ttc::diag::Diagnostic>| {
        d.into_iter().map(|d| format!("{} {} {:?}", d.code.id, d.message, d.place())).collect()
    };
    let instance = match loaded.case.instance(&loaded.kernel, config) {
        Ok(i) => i,
        Err(d) => return words(d),
    };
    let Some(reference) = references::lookup(&loaded.case.reference) else {
        return vec![format!("there is no reference `{}`", loaded.case.reference)];
    };
    let lowered = match launch::lower(&mut folder.sources, loaded, &instance) {
        Ok(l) => l,
        Err(d) => return words(d),
    };
    match launch::run(&lowered.ir, &lowered.kernel, &instance, &RunOptions { threads: 1, ..RunOptions::default() }) {
        Ok(done) => launch::check(&instance, &done.outputs, &reference(&Inputs::new(&instance))),
        Err(d) => words(d),
    }
}

/// Runs `work` on every item, on as many threads as there are cores, and collects what it has to say.
pub(crate) fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, said) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let run = || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let words = work(item);
                    said.lock().unwrap().extend(words);
                }
            };
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, run).unwrap();
        }
    });
    let mut said = said.into_inner().unwrap();
    said.sort();
    said
}

#[test]
fn every_case_agrees_with_its_reference() {
    let all = std::env::var_os("TTC_SWEEP").is_some();
    let wrong = in_parallel(&files(), |path| {
        let mut folder = Folder::default();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let loaded = match folder.load(path) {
            Ok(l) => l,
            Err(d) => return vec![format!("{name}: {d:#?}")],
        };
        let configs = if all { loaded.case.configs() } else { loaded.case.neighbours() };
        let configs = configs.unwrap_or_else(|d| panic!("{name}: {d:#?}"));
        assert!(!configs.is_empty(), "{name}: `requires` leaves no configuration");
        let start = std::time::Instant::now();
        let wrong: Vec<String> = configs
            .iter()
            .flat_map(|c| {
                problems(&mut folder, &loaded, c).into_iter().map(|p| format!("{name} [{c}]: {p}")).collect::<Vec<_>>()
            })
            .collect();
        println!("{name}: {} configurations, {:.1} s", configs.len(), start.elapsed().as_secs_f64());
        wrong
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
