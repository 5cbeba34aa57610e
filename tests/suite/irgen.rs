//! The front end: snapshots of TTIR and of messages, one for each file of `tests/irgen`.
//!
//! A file says with `# run: KERNEL SIGNATURE -D NAME=VALUE --type NAME=TYPE --config N` lines what to lower. All but
//! the kernel may be left out. To add a case, add a file or a line and bless it:
//! `INSTA_UPDATE=always cargo test irgen`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use ttc::diag::codes::{names, types};
use ttc::diag::{Diagnostic, Place};
use ttc::ir::text::{PrintOptions, print_module};
use ttc::ir::verify::verify;
use ttc::irgen::{Given, KernelRequest, Launch, Lowered, Settings, TypeRule, list_kernels, lower_kernel};
use ttc::source::{FileId, SourceMap};
use ttc::target::Target;

use super::Cases;

fn settings() -> Settings {
    Settings { target: Target::usual(), launch: Launch::default(), debug: false, max_ops: ttc::ir::MAX_OPS }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/irgen")
}

/// The words after `# run:`: kernel, signature, values.
fn request(line: &str) -> KernelRequest {
    let (line, config) = line.split_once(" --config ").map_or((line, None), |(l, n)| (l, n.trim().parse().ok()));
    let mut words = line.split(" --type ");
    let line = words.next().unwrap_or("");
    let types = words.filter_map(|w| w.split_once('=')).map(|(n, t)| TypeRule::new(n.trim(), t.trim())).collect();
    let mut parts = line.split(" -D ");
    let head = parts.next().unwrap_or("").trim();
    let (kernel, signature) = head.split_once(' ').unwrap_or((head, ""));
    let given = |s: &str| (!s.trim().is_empty()).then(|| s.trim().to_owned());
    let defines =
        parts.filter_map(|d| d.split_once('=')).map(|(n, v)| (n.trim().to_owned(), v.trim().to_owned())).collect();
    KernelRequest {
        kernel: given(kernel),
        signature: given(signature),
        types,
        for_others: BTreeSet::new(),
        defines,
        include_dirs: vec![],
        config,
        given: Given::default(),
        settings: settings(),
    }
}

fn load(path: &Path) -> (SourceMap, FileId, String) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut map = SourceMap::default();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let file = map.add(name, Some(path), text.as_str());
    (map, file, text)
}

/// `file:line:col: CODE message`, further places, notes and help below.
fn show(map: &SourceMap, errors: &[Diagnostic]) -> String {
    let at = |place: &Place| match place {
        Place::Span(span) => {
            let at = map.line_col(*span);
            format!("{}:{}:{}", map.file(span.file).name, at.line, at.col)
        }
        Place::File(name) => name.clone(),
        Place::At { file, line, col } => format!("{file}:{line}:{col}"),
    };
    let mut out = String::new();
    for e in errors {
        writeln!(out, "{}: {} {}", e.place().map(at).unwrap_or_default(), e.code.id, e.message).unwrap();
        for (i, label) in e.labels.iter().enumerate().filter(|(_, l)| !l.text.is_empty()) {
            let place = if i == 0 { String::new() } else { format!("{}: ", at(&label.place)) };
            writeln!(out, "    {place}{}", label.text).unwrap();
        }
        if let Some(help) = &e.help {
            writeln!(out, "    help: {help}").unwrap();
        }
    }
    out
}

fn show_lowered(lowered: &Lowered) -> String {
    let mut out = String::new();
    for p in &lowered.params {
        let hint = p.divisibility.map(i64::from).or(p.equals).map_or_else(String::new, |n| format!(":{n}"));
        write!(out, "{}: {}{hint} ", p.name, p.ty).unwrap();
    }
    writeln!(out, "{:?}", lowered.constants).unwrap();
    if let Some(config) = &lowered.config {
        writeln!(out, "configuration {}: {config}; taken {:?}", config.index, lowered.launch).unwrap();
    }
    for line in &lowered.printed {
        writeln!(out, "printed: {line}").unwrap();
    }
    let faults: Vec<String> = verify(&lowered.ir).into_iter().map(|d| d.message).collect();
    assert!(faults.is_empty(), "the verifier rejects what was lowered: {faults:?}");
    out + &print_module(&lowered.ir, &PrintOptions::default())
}

fn run(path: &Path) -> String {
    let (_, _, text) = load(path);
    let mut out = String::new();
    for line in text.lines().filter_map(|l| l.strip_prefix("# run:")) {
        let (mut map, file, _) = load(path);
        writeln!(out, "// {}", line.trim()).unwrap();
        out += &match lower_kernel(&mut map, file, &request(line)) {
            Ok(lowered) => show(&map, &lowered.warnings) + &show_lowered(&lowered),
            Err(errors) => show(&map, &errors),
        };
        out.push('\n');
    }
    out
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "tk"));
    files.sort();
    files
}

/// Adds a case for each file, and what holds of the front end as a whole.
pub(crate) fn cases(cases: &mut Cases) {
    for path in files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        cases.check(format!("irgen::{name}"), move || check_snapshot(&name, &run(&path)));
    }
    cases.check("irgen::every_code_has_a_case", every_code_has_a_case);
    cases.check("irgen::lists_kernels", lists_kernels);
    cases.check("irgen::primitives_are_well_formed", primitives_are_well_formed);
    cases.check("irgen::debug_mode_checks", debug_mode_checks);
}

fn check_snapshot(name: &str, out: &str) {
    insta::with_settings!({ snapshot_path => folder().join("snapshots"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, out);
    });
}

/// Every code of the front end is provoked by some case, and no case that should pass reports one.
fn every_code_has_a_case() {
    let (mut wrong, mut right) = (String::new(), String::new());
    for path in files() {
        let out = run(&path);
        if path.file_name().unwrap().to_string_lossy().starts_with("errors") { wrong += &out } else { right += &out }
    }
    for code in names::ALL.iter().chain(types::ALL) {
        assert!(wrong.contains(&format!(" {} ", code.id)), "no case reports {}: {}", code.id, code.title);
        assert!(!right.contains(&format!(" {} ", code.id)), "a case that should pass reports {}", code.id);
    }
}

fn lists_kernels() {
    let (mut map, file, _) = load(&folder().join("calls.tk"));
    let (kernels, errors) = list_kernels(&mut map, file, &[]);
    assert!(errors.is_empty());
    let mut out = String::new();
    for k in &kernels {
        writeln!(out, "{} line {} entry {}", k.name, k.line, k.entry).unwrap();
        for p in &k.params {
            writeln!(out, "    {} type {:?} value {:?} needed {}", p.name, p.ty, p.value, p.needed).unwrap();
        }
    }
    check_snapshot("list", &out);
}

/// Parameters and options of every primitive are well formed: names are unique within a signature and defaults are
/// literals.
fn primitives_are_well_formed() {
    for b in ttc::irgen::builtins::all() {
        let params = b.params();
        for (i, p) in params.iter().enumerate() {
            assert!(
                !p.name.is_empty() && p.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
                "{}({})",
                b.name,
                b.sig
            );
            assert!(params[..i].iter().all(|q| q.name != p.name), "{} names `{}` twice", b.name, p.name);
        }
        assert!(b.doc.ends_with('.') || b.doc.starts_with('x'), "{} is not documented", b.name);
    }
}

/// Debug mode keeps device assertions and checks narrow integers for overflow.
fn debug_mode_checks() {
    let mut map = SourceMap::default();
    let text = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(p: \"*i32\", n: \"i32\"):\n    tl.device_assert(n > 0, \"positive\")\n    tl.store(p, n + 1)\n";
    let file = map.add("k.tk", None, text);
    let mut request = request("k");
    request.settings.debug = true;
    let lowered = lower_kernel(&mut map, file, &request).unwrap_or_else(|e| panic!("{}", show(&map, &e)));
    let ir = print_module(&lowered.ir, &PrintOptions::default());
    assert!(ir.contains("\"positive\"") && ir.contains("int32 overflow detected for operation add"), "{ir}");
}
