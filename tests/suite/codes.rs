//! Every diagnostic code, shown by the whole program: one case in `tests/codes` for each, and a snapshot of what the
//! user sees.
//!
//! 1. A case is a file `EXXXX.ext`, or a folder `EXXXX` that holds such a file and what it needs (imports, fake tools).
//! 2. A comment in it says what to run: `# ttc: compile %s --emit ttir -o -`, where `%s` is the file's name. `# setup:`
//!    lines before it are run by the shell first, and `# exit: 0` states another exit code than 1. Comments start with
//!    `#`, `//` or `;`.
//! 3. The case runs in a temporary copy, once for each format of messages. The snapshot holds all three.
//! 4. Every code of the tables has a case or stands in `ELSEWHERE`, with the test that covers it.
//!
//! To bless: `INSTA_UPDATE=always cargo test codes`, then read the snapshots as a kernel author would.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ttc::diag::{Place, codes};
use ttc::ir::dialects::ArithOp;
use ttc::ir::verify;
use ttc::ir::{Builder, InsertPoint, Ir, Loc};
use ttc::passes::manager::{self, Changed, Failed, Input, Pass, PassCx};
use ttc::passes::pipeline_text::Pipeline;

use super::Cases;

/// Codes that no input can raise, with the reason and the test that raises them otherwise: a file and a word that
/// stands in it.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    // A list of uses that disagrees with the operands: the IR core keeps both, whatever the text says.
    ("E0510", "src/ir/verify/tests/structure.rs", "E0510"),
    // A pass that breaks a valid module.
    ("E0604", "tests/suite/codes.rs", "fn a_pass_that_breaks_the_module_is_named"),
    // Code generation that makes invalid LLVM IR of a module that the verifier accepted.
    ("E0710", "src/codegen/tests.rs", "E0710"),
    // A temporary file that cannot be made, where files in memory cannot be had.
    ("E0806", "src/ptxas/tests.rs", "E0806"),
    // Tools that a test replaces by its environment, and an output that somebody changed.
    ("E0817", "tests/suite/manifest.rs", "E0817"),
    // Assembly of an AMD GPU that LLVM's tools refuse.
    ("E0818", "tests/lit/codegen/amd/bad-assembly.tk", "E0818"),
    ("E0951", "tests/suite/manifest.rs", "E0951"),
    ("E0952", "tests/suite/manifest.rs", "E0952"),
    // What an editor sends.
    ("E0964", "tests/suite/lsp/session.rs", "E0964"),
    // A command line that clap refuses: its own form of message shows no codes.
    ("E0933", "tests/suite/outputs.rs", "E0933"),
    // What a driver says, which tests replace.
    ("E1102", "tests/suite/gpu.rs", "E1102"),
    ("E1103", "tests/suite/gpu.rs", "E1103"),
    ("E1104", "tests/suite/gpu.rs", "E1104"),
    ("E1105", "tests/suite/gpu.rs", "E1105"),
    ("E1106", "tests/suite/gpu.rs", "E1106"),
    ("E1107", "tests/suite/gpu.rs", "E1107"),
    ("E1108", "tests/suite/gpu.rs", "E1108"),
    ("E1113", "tests/suite/gpu.rs", "E1113"),
    // A panic.
    ("E0999", "src/driver/reproducer.rs", "E0999"),
];

pub(crate) struct Case {
    pub(crate) code: String,
    /// The case file.
    main: PathBuf,
    /// Whether it stands in a folder of its own.
    folder: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codes")
}

/// All cases by code.
pub(crate) fn files() -> BTreeMap<String, Case> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        let code = path.file_stem().unwrap().to_string_lossy().into_owned();
        if code == "snapshots" || code == "mended" {
            continue;
        }
        let folder = path.is_dir();
        let main = if folder {
            let mut inside = fs::read_dir(&path).unwrap().map(|e| e.unwrap().path());
            inside
                .find(|p| p.file_stem().is_some_and(|s| s.to_string_lossy() == code))
                .expect("a folder's case file is named after its code")
        } else {
            path
        };
        let double = found.insert(code.clone(), Case { code: code.clone(), main, folder });
        assert!(double.is_none(), "{code} has two cases");
    }
    found
}

impl Case {
    /// The case file; bytes that are no UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.main).unwrap()).into_owned()
    }

    /// The other files of its folder that are text, by name.
    pub(crate) fn companions(&self) -> Vec<(String, String)> {
        if !self.folder {
            return vec![];
        }
        let files = fs::read_dir(self.main.parent().unwrap()).unwrap().map(|e| e.unwrap().path());
        let mut found: Vec<_> = files
            .filter(|f| *f != self.main)
            .filter_map(|f| Some((f.file_name()?.to_string_lossy().into_owned(), fs::read_to_string(&f).ok()?)))
            .collect();
        found.sort();
        found
    }

    pub(crate) fn name(&self) -> String {
        self.main.file_name().unwrap().to_string_lossy().into_owned()
    }

    /// What the program prints to stderr, with the paths of this machine taken out.
    fn run(&self, format: &str) -> String {
        let (exit, stderr) = self.output_of(&fs::read(&self.main).unwrap(), &self.text(), format);
        let wanted = comments(&self.text(), "exit").first().map_or(1, |e| e.parse().unwrap());
        assert_eq!(exit, Some(wanted), "{}\n{stderr}", self.code);
        assert!(!stderr.contains("panicked"), "{}\n{stderr}", self.code);
        assert!(stderr.contains(&self.code), "{} is not among the messages:\n{stderr}", self.code);
        stderr
    }

    /// The exit code and what the program prints to stderr, if the case file held this text.
    pub(crate) fn output(&self, text: &str, format: &str) -> (Option<i32>, String) {
        self.output_of(text.as_bytes(), text, format)
    }

    fn output_of(&self, bytes: &[u8], text: &str, format: &str) -> (Option<i32>, String) {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().canonicalize().unwrap();
        if self.folder {
            for file in fs::read_dir(self.main.parent().unwrap()).unwrap() {
                let file = file.unwrap().path();
                fs::copy(&file, dir.join(file.file_name().unwrap())).unwrap();
            }
        }
        fs::write(dir.join(self.name()), bytes).unwrap();
        fs::create_dir(dir.join("tmp")).unwrap();
        let output = self.spawn(text, &dir, format);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let shown = hide_keys(&hide_kept_folders(&stderr.replace(&*dir.to_string_lossy(), "[DIR]")));
        (output.status.code(), shown)
    }

    fn spawn(&self, text: &str, dir: &Path, format: &str) -> Output {
        let [line] = &comments(text, "ttc")[..] else { panic!("{} needs one `ttc:` comment", self.code) };
        let setup = comments(text, "setup").join("\n");
        let script =
            format!("{setup}\n\"$TTC\" --error-format {format} --color never {}", line.replace("%s", &self.name()));
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(dir).stdin(Stdio::null());
        command
            .env("TTC", env!("CARGO_BIN_EXE_ttc"))
            .env("TMPDIR", dir.join("tmp"))
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS");
        command.output().unwrap()
    }
}

/// Whether a line is a comment: `# …`, `// …` or `; …`.
fn is_comment(line: &str) -> bool {
    line.starts_with(['#', '/', ';'])
}

/// The values of the comments `# key: value` of a case, in order.
fn comments(text: &str, key: &str) -> Vec<String> {
    let mark = format!("{key}: ");
    let value =
        |line: &str| line.trim_start_matches(['#', '/', ';']).trim_start().strip_prefix(&mark).map(str::to_owned);
    text.lines().filter(|l| is_comment(l)).filter_map(value).collect()
}

/// `[DIR]/tmp/ttc-failed-0/12ab` becomes `[DIR]/tmp/KEPT`: the name of a kept folder depends on the user and the PTX.
fn hide_kept_folders(text: &str) -> String {
    let mut parts = text.split("[DIR]/tmp/");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str("[DIR]/tmp/KEPT");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_./".contains(c)));
    }
    out
}

/// The key of a job becomes `KEY`, since every new option changes it.
fn hide_keys(text: &str) -> String {
    let is_key = |word: &str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    text.split('/').map(|word| if is_key(word) { "KEY" } else { word }).collect::<Vec<_>>().join("/")
}

/// Adds a case for each code, and what holds of all codes.
pub(crate) fn cases(cases: &mut Cases) {
    for case in files().into_values() {
        cases.check(format!("codes::{}", case.code), move || check(&case));
    }
    cases.check("codes::every_code_has_a_case", every_code_has_a_case);
    cases.check("codes::codes_are_in_order_and_explained", codes_are_in_order_and_explained);
    cases.check("codes::a_pass_that_breaks_the_module_is_named", a_pass_that_breaks_the_module_is_named);
}

/// Compares what a case prints, in each format, with its snapshot.
fn check(case: &Case) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../codes/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let shown: String = std::thread::scope(|s| {
        let runs =
            ["human", "short", "json"].map(|f| s.spawn(move || format!("---- {f}\n{}\n", case.run(f).trim_end())));
        runs.into_iter().map(|r| r.join().expect("the case runs")).collect()
    });
    settings.bind(|| insta::assert_snapshot!(case.code.as_str(), shown));
}

fn every_code_has_a_case() {
    let cases = files();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for code in codes::all() {
        let elsewhere = ELSEWHERE.iter().find(|(id, ..)| *id == code.id);
        assert!(
            cases.contains_key(code.id) != elsewhere.is_some(),
            "{} needs a case in tests/codes, or an entry in ELSEWHERE",
            code.id
        );
        if let Some((id, file, word)) = elsewhere {
            let text = fs::read_to_string(root.join(file)).unwrap();
            assert!(text.contains(word), "{id}: {file} does not hold `{word}`");
        }
    }
    for id in cases.keys() {
        assert!(codes::find(id).is_some(), "tests/codes has a case for {id}, which is no code");
        assert!(root.join(format!("tests/codes/snapshots/{id}.snap")).exists(), "{id} has no snapshot");
    }
}

fn codes_are_in_order_and_explained() {
    let all: Vec<_> = codes::all().collect();
    assert!(all.windows(2).all(|w| w[0].id < w[1].id), "ids are unique and sorted");
    for code in all {
        assert!(code.explain.trim().len() >= 60, "{}: the explanation is too short: {}", code.id, code.explain);
        assert!(!code.title.is_empty() && !code.title.ends_with('.'), "{}: {}", code.id, code.title);
    }
}

/// Adds an operation without its operands, as a pass with a defect might.
fn break_module(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let block = ir.module_block();
    let loc = Loc::file("add.ttir", 7, 3);
    Builder::new(ir, InsertPoint::End(block), loc).op(ArithOp::Addi, &[], &[]);
    Ok(Changed::Yes)
}

fn a_pass_that_breaks_the_module_is_named() {
    static BREAKS: Pass = Pass { name: "break-it", doc: "", input: Input::Any, options: &[], run: break_module };
    let mut pipeline = Pipeline::default();
    pipeline.add(&BREAKS);
    let mut ir = Ir::new(Loc::file("add.ttir", 1, 1));
    let report = manager::run(&mut ir, &pipeline, verify::verify, &mut []);
    let [error] = &report.diagnostics[..] else { panic!("{:?}", report.diagnostics) };
    assert_eq!(error.code.id, "E0604");
    assert!(error.message.starts_with("'break-it' produced invalid IR: `arith.addi`"), "{}", error.message);
    assert_eq!(error.place(), Some(&Place::At { file: "add.ttir".into(), line: 7, col: 3 }));
    assert!(report.stopped.is_some_and(|s| s.defect && s.pass == "break-it"));
}
