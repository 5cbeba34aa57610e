//! PTX programs under the emulator: each file of `tests/emu` runs in several schedules.
//!
//! 1. A comment `// launch: {…}` holds the launch, as in a launch file; it goes on over lines that begin with `//   `.
//! 2. `//~ race` at the end of a line says that the emulator finds a race there; where several lines say so, at one of
//!    them, which depends on who comes first. `//~? race` may be found or not. A file without such a comment is without
//!    findings, and its buffers hold what `expect` says.
//! 3. Each file runs with several seeds in each mode of landing. A finding is found in every one of them: it is about
//!    an order that is missing, not about an accident of timing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ttc::emu::{self, Landing, Options};
use ttc::emulate::file::LaunchFile;

use super::kernels::in_parallel;

const SEEDS: u64 = 3;

fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emu");
    let only = std::env::var("TTC_EMU").unwrap_or_default();
    let mut all: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "ptx") && p.to_string_lossy().contains(&only));
    all.sort();
    assert!(!all.is_empty(), "no program is named like `{only}`");
    all
}

/// The launch of a file's comments.
fn launch(text: &str) -> LaunchFile {
    let mut json = String::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.strip_prefix("// launch:"), line.strip_prefix("//   ")) {
            (Some(rest), _) => {
                inside = true;
                json.push_str(rest);
            }
            (None, Some(rest)) if inside => json.push_str(rest),
            _ => inside = false,
        }
    }
    serde_json::from_str(&json).unwrap_or_else(|e| panic!("the launch is wrong: {e}\n{json}"))
}

/// Lines by kind of finding.
type Marks = BTreeMap<String, BTreeSet<u32>>;

/// The findings that must be there, at one of their lines, and those that may be.
fn expected(text: &str) -> (Marks, Marks) {
    let (mut must, mut may) = (Marks::new(), Marks::new());
    for (line, text) in (1..).zip(text.lines()) {
        for mark in text.split("//~").skip(1) {
            let (marks, kind) = match mark.strip_prefix('?') {
                Some(kind) => (&mut may, kind),
                None => (&mut must, mark),
            };
            marks.entry(kind.trim().to_owned()).or_default().insert(line);
        }
    }
    (must, may)
}

/// What is wrong with a file, in words.
fn problems(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap().to_string_lossy();
    let text = fs::read_to_string(path).unwrap();
    let (must, may) = expected(&text);
    let module = match emu::parse(&text) {
        Ok(module) => module,
        Err(e) => return unparsed(&name, e.at.line, &e.to_string(), &must),
    };
    let program = match emu::decode(&module) {
        Ok(program) => program,
        Err(e) => return unparsed(&name, e.at.line, &e.to_string(), &must),
    };
    let file = launch(&text);
    let kernel = file.kernel.clone().unwrap_or_else(|| program.kernels.keys().next().unwrap().clone());
    let mut wrong = vec![];
    for landing in [Landing::Early, Landing::Late, Landing::Random] {
        for seed in 0..SEEDS {
            let (launch, mut memory) = file.load(path.parent().unwrap()).unwrap();
            let options = Options { seed, landing, max_steps: 1 << 20, max_findings: 100, ..Options::default() };
            let done = emu::run(&program, &kernel, &launch, &mut memory, &options);
            let (findings, printed, ended) = match done {
                Ok(o) => (o.findings, o.printed, true),
                Err(f) => ([f.before.findings, vec![f.finding]].concat(), f.before.printed, false),
            };
            let found: BTreeMap<_, _> =
                findings.iter().map(|f| ((f.site.line, f.kind.name().to_owned()), f.text())).collect();
            let at = format!("{name}, seed {seed}, {landing:?}");
            for (key, text) in &found {
                let is_marked = |marks: &Marks| marks.get(&key.1).is_some_and(|lines| lines.contains(&key.0));
                if !is_marked(&must) && !is_marked(&may) {
                    wrong.push(format!("{at}: not expected: {text}"));
                }
            }
            let is_found = |kind: &String| found.keys().any(|(_, k)| k == kind);
            wrong.extend(must.keys().filter(|k| !is_found(k)).map(|kind| format!("{at}: no {kind} was found")));
            if ended && must.is_empty() && may.is_empty() {
                for (buffer, id, want) in file.expected(path.parent().unwrap()).unwrap() {
                    let got = memory.bytes(id);
                    if got != want {
                        wrong.push(format!("{at}: `{buffer}` holds {got:?}, and not {want:?}"));
                    }
                }
            }
            let lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("// prints: ")).collect();
            let printed = printed.concat();
            if !lines.iter().all(|l| printed.lines().any(|p| p == *l)) {
                wrong.push(format!("{at}: it printed {printed:?}"));
            }
        }
    }
    wrong
}

/// A text that cannot be decoded, where that is expected.
fn unparsed(name: &str, line: u32, message: &str, must: &Marks) -> Vec<String> {
    if must.get("unknown").is_some_and(|lines| lines.contains(&line)) {
        vec![]
    } else {
        vec![format!("{name}:{message}")]
    }
}

#[test]
fn programs_compute_what_they_say_and_faults_are_found_where_they_are() {
    let wrong = in_parallel(&files(), |path| problems(path));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
