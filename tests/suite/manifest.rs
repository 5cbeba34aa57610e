//! `ttc build` over a manifest: what is made, what is made again after a change, and what stays.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::SystemTime;

use tempfile::TempDir;

const MANIFEST: &str = r#"
[build]
archs = ["sm_80", "sm_90a"]
emit = ["cubin", "c"]
include = ["lib"]

[kernel.double]
file = "k.py"
types = { x = "*fp32", n = "i32" }
constants = { BLOCK = 128 }
grid = "cdiv(n, BLOCK)"
variant.aligned.types = { x = "*fp32:16" }
variant.any = {}

[kernel.fill_ones]
file = "fill.py"
function = "fill"
num_warps = 1

[kernel.fill_halves]
file = "fill.py"
function = "fill"
constants = { VALUE = 0.5 }
"#;

const HELPER: &str = "
import triton

@triton.jit
def twice(x):
    return x + x
";

const DOUBLE: &str = "
import triton
import triton.language as tl
from helper import twice

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, twice(tl.load(x + at, mask=at < n)), mask=at < n)
";

const FILL: &str = "
import triton
import triton.language as tl

@triton.jit
def fill(x: \"*fp32:16\", VALUE: tl.constexpr = 1.0):
    tl.store(x + tl.arange(0, 64), VALUE)
";

/// A folder with a manifest and its kernels.
struct Project(TempDir);

impl Project {
    fn new(manifest: &str) -> Project {
        let project = Project(TempDir::new().unwrap());
        fs::create_dir(project.path("lib")).unwrap();
        for (name, text) in [("ttc.toml", manifest), ("lib/helper.py", HELPER), ("k.py", DOUBLE), ("fill.py", FILL)] {
            project.write(name, text);
        }
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn time(&self, name: &str) -> SystemTime {
        fs::metadata(self.path(name)).unwrap().modified().unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
        command.arg("build").args(args).args(["--color", "never"]).current_dir(self.0.path()).env("TTC_CACHE", "0");
        // The tests are about what is built, and the cache has tests of its own.
        command.env("TTC_CACHE", "0");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Builds, and gives the names of the units that would have been compiled.
    fn build(&self) -> Vec<String> {
        let plan = String::from_utf8(self.run(&["--dry-run"]).stdout).unwrap();
        let done = self.run(&[]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let named = plan.lines().filter_map(|l| l.strip_prefix("compile ")?.split(':').next());
        named.map(str::to_owned).collect()
    }

    fn outputs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("out")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.filter(|n| !n.starts_with('.')).collect();
        names.sort();
        names
    }
}

const ALL: [&str; 8] = [
    "double.aligned.sm_80",
    "double.aligned.sm_90a",
    "double.any.sm_80",
    "double.any.sm_90a",
    "fill_halves.sm_80",
    "fill_halves.sm_90a",
    "fill_ones.sm_80",
    "fill_ones.sm_90a",
];

#[test]
fn only_what_changed_is_built_again() {
    let project = Project::new(MANIFEST);
    assert_eq!(project.build(), ALL);
    let files = ALL.iter().flat_map(|n| [format!("{n}.cubin"), format!("{n}.json")]);
    let mut expected: Vec<String> =
        files.chain(["kernels.c", "kernels.h", "kernels.json", "ttc_rt.h"].map(str::to_owned)).collect();
    expected.sort();
    assert_eq!(project.outputs(), expected);
    let header = fs::read_to_string(project.path("out/kernels.h")).unwrap();
    for name in ["double_launch", "fill_ones_launch_grid", "fill_halves_launch_grid"] {
        assert!(header.contains(name), "{name}");
    }

    // Nothing has changed, though a file was written again.
    let (before, cubin) = (project.time("out/kernels.c"), project.time("out/fill_ones.sm_80.cubin"));
    project.write("fill.py", FILL);
    assert!(project.build().is_empty());
    assert_eq!(project.time("out/kernels.c"), before);

    // A file that a kernel imports.
    project.write("lib/helper.py", &HELPER.replace("x + x", "x * 2"));
    assert_eq!(project.build(), ALL[..4]);
    assert_eq!(project.time("out/fill_ones.sm_80.cubin"), cubin);

    // An option of one kernel.
    project.write("ttc.toml", &MANIFEST.replace("VALUE = 0.5", "VALUE = 0.25"));
    assert_eq!(project.build(), ALL[4..6]);

    // An output that was changed, and one that is gone.
    project.write("out/fill_ones.sm_80.cubin", "no cubin");
    fs::remove_file(project.path("out/double.any.sm_90a.json")).unwrap();
    assert_eq!(project.build(), ["double.any.sm_90a", "fill_ones.sm_80"]);
    assert!(project.build().is_empty());
}

#[test]
fn a_kernel_that_leaves_the_manifest_takes_its_files_along() {
    let project = Project::new(MANIFEST);
    project.build();
    let (rest, _) = MANIFEST.split_once("[kernel.fill_halves]").unwrap();
    project.write("ttc.toml", rest);
    assert!(project.build().is_empty());
    assert!(project.outputs().iter().all(|n| !n.contains("halves")), "{:?}", project.outputs());
    assert!(!fs::read_to_string(project.path("out/kernels.h")).unwrap().contains("halves"));
}

#[test]
fn what_fails_is_built_when_it_is_mended_and_the_others_stay() {
    let project = Project::new(MANIFEST);
    project.write("fill.py", &FILL.replace("VALUE)", "VALEU)"));
    let failed = project.run(&[]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(said.matches("did you mean `VALUE`?").count(), 1, "{said}");
    assert!(project.path("out/double.any.sm_80.cubin").is_file() && !project.path("out/kernels.c").is_file());
    project.write("fill.py", FILL);
    assert_eq!(project.build(), ALL[4..]);
    assert!(project.path("out/kernels.c").is_file());
}

#[test]
fn a_folder_moved_elsewhere_gives_the_same_bytes() {
    let (here, there) = (Project::new(MANIFEST), Project::new(MANIFEST));
    assert!(here.run(&[]).status.success());
    let manifest = there.path("ttc.toml");
    let done = there.command(&[manifest.to_str().unwrap()]).current_dir("/").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in here.outputs().iter().filter(|n| *n != "kernels.json") {
        let read = |p: &Project| fs::read(p.path("out").join(name)).unwrap();
        assert!(read(&here) == read(&there), "{name} differs");
    }
}

#[test]
fn fat_binaries_objects_and_dependencies() {
    let emit = r#"emit = ["fatbin", "ptx", "o", "rust"]"#;
    let project = Project::new(&MANIFEST.replace(r#"emit = ["cubin", "c"]"#, emit));
    let done = project.run(&["--MD", "-k", "fill_ones"]);
    assert!(done.status.success() && !project.path("out/kernels.d").exists());
    assert!(project.run(&["--MD"]).status.success());
    let fat = fs::read(project.path("out/fill_ones.fatbin")).unwrap();
    // The magic number of the container, and an ELF file for each architecture.
    assert_eq!(fat[..4], [0x50, 0xed, 0x55, 0xba]);
    assert_eq!(fat.windows(4).filter(|w| w == b"\x7fELF").count(), 2);
    assert_eq!(fs::read(project.path("out/kernels.o")).unwrap()[..4], *b"\x7fELF");
    let rule = fs::read_to_string(project.path("out/kernels.d")).unwrap();
    let (made, read) = rule.split_once(": \\\n").unwrap();
    for name in ["out/double.any.fatbin", "out/kernels.o", "out/kernels.rs"] {
        assert!(made.contains(name), "{name}");
    }
    for name in ["lib/helper.py", "fill.py", "ttc.toml"] {
        assert!(read.contains(name) && !made.contains(name), "{name}");
    }
    let again = String::from_utf8(project.run(&["--MD"]).stdout).unwrap();
    assert_eq!(again, "8 of 8 kernels in `out` are up to date\n");
}

/// Each vendor's driver reads its own container, and launchers hold the code for both.
#[test]
fn code_for_both_vendors_is_two_containers_and_one_launcher() {
    let manifest = MANIFEST.replace(r#"emit = ["cubin", "c"]"#, r#"emit = ["fatbin", "c", "rust"]"#);
    let project = Project::new(&manifest);
    let done = project.run(&["-k", "fill_ones", "--arch", "sm_80,sm_90a,gfx942,gfx1201"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = project.run(&["--arch", "sm_80,sm_90a,gfx942,gfx1201"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |name: &str| fs::read(project.path("out").join(name)).unwrap();
    let count = |bytes: &[u8]| bytes.windows(4).filter(|w| w == b"\x7fELF").count();
    assert_eq!((&read("fill_ones.fatbin")[..4], count(&read("fill_ones.fatbin"))), (&[0x50, 0xed, 0x55, 0xba][..], 2));
    let objects = read("fill_ones.hipfb");
    assert_eq!((&objects[..24], count(&objects)), (&b"__CLANG_OFFLOAD_BUNDLE__"[..], 2));
    let text = |name: &str| String::from_utf8(read(name)).unwrap();
    for word in
        ["\"gfx942\", TTCRT_AMD, ", "\"sm_90a\", TTCRT_NVIDIA, 9, 0, true", "fill_ones_hsaco_", "fill_ones_cubin_"]
    {
        assert!(text("kernels.c").contains(word), "{word}");
    }
    assert!(text("kernels.rs").contains("runs_on: spec::RunsOn::Processor(\"gfx1201\"),"));
    let index: serde_json::Value = serde_json::from_str(&text("kernels.json")).unwrap();
    let files = |arch: &str| {
        let entries = index["kernels"].as_array().unwrap();
        entries.iter().find(|e| e["kernel"] == "fill_ones" && e["arch"] == arch).unwrap()["files"].clone()
    };
    assert_eq!(files("gfx942")["hipfb"], "fill_ones.hipfb");
    assert_eq!(files("sm_80")["fatbin"], "fill_ones.fatbin");
}

#[test]
fn tuned_configurations_are_chosen_by_the_sizes_of_a_launch() {
    let (head, _) = MANIFEST.split_once("constants = { BLOCK = 128 }").unwrap();
    let project = Project::new(&format!("{head}grid = \"cdiv(n, BLOCK)\"\ntuned = true\n"));
    let entry = |n: u32, block: u32, warps: u32| {
        format!(
            "[[kernel]]\nfile = \"k.py\"\nname = \"double\"\narch = \"sm_90a\"\ndevice = \"GPU\"\ntime_us = 1.5\n\
             key = {{ n = {n} }}\ntypes = {{ x = \"*fp32\" }}\n\
             choice = {{ num_warps = {warps}, constants = {{ BLOCK = {block} }} }}\n"
        )
    };
    let lock = format!("version = 1\n{}{}{}", entry(100, 64, 2), entry(4096, 512, 8), entry(8192, 512, 8));
    project.write("ttc.lock", &lock);
    assert_eq!(
        project.build(),
        ["double.usual.sm_80", "double.tuned0.sm_90a", "double.tuned1.sm_90a", "double.usual.sm_90a"]
    );
    let source = fs::read_to_string(project.path("out/kernels.c")).unwrap();
    for n in [100, 4096, 8192] {
        assert_eq!(source.matches(&format!("&& args->n == {n}) {{")).count(), 1, "{n}: {source}");
    }
    // Two sizes and the usual variant share a cubin, which is declared and defined once.
    assert_eq!(source.matches("const unsigned char double_cubin_").count(), 2 * 3);
    // The lock file is part of what a build depends on.
    project.write("ttc.lock", &lock.replace("num_warps = 8", "num_warps = 4"));
    assert_eq!(project.build(), ["double.usual.sm_80", "double.tuned1.sm_90a", "double.usual.sm_90a"]);
}

#[test]
fn launchers_make_tensor_maps_unless_the_manifest_says_otherwise() {
    const PRODUCT: &str = "
import triton
import triton.language as tl

@triton.jit
def product(a: '*fp16:16', b: '*fp16:16', c: '*fp32:16', k: 'i32:16'):
    rows, cols, ks = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for start in range(0, k, 64):
        x = tl.load(a + rows[:, None] * k + start + ks[None, :])
        y = tl.load(b + (start + ks)[:, None] * 64 + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * 64 + cols[None, :], acc)
";
    let maps = |arch: &str, build: &str, kernel: &str| {
        let manifest = format!(
            "[build]\narchs = [\"{arch}\"]\nemit = [\"cubin\"]\n{build}\n[kernel.product]\nfile = \"p.py\"\n{kernel}\n"
        );
        let project = Project::new(&manifest);
        project.write("p.py", PRODUCT);
        project.build();
        let metadata = project.path("out").join(format!("product.{arch}.json"));
        fs::read_to_string(metadata).unwrap().contains("tensormap")
    };
    assert!(maps("sm_90a", "", ""));
    assert!(!maps("sm_90a", "tma = \"auto\"", ""));
    assert!(!maps("sm_90a", "", "tma = \"off\""));
    assert!(maps("sm_90a", "tma = \"auto\"", "tma = \"host\""));
    // Triton's launcher makes none, and other GPUs have no use for them.
    assert!(!maps("sm_90a", "", "triton_abi = true"));
    assert!(!maps("sm_80", "", ""));
}

#[test]
fn what_a_build_needs_and_has_not_is_named() {
    let project = Project::new(&MANIFEST.replace(r#"emit = ["cubin", "c"]"#, r#"emit = ["o"]"#));
    let said = |output: Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let no_compiler = said(project.command(&[]).env("CC", "/nowhere/cc").output().unwrap());
    assert!(no_compiler.contains("E0951") && no_compiler.contains("/nowhere/cc"), "{no_compiler}");

    let project = Project::new(&MANIFEST.replace(r#"emit = ["cubin", "c"]"#, r#"emit = ["fatbin"]"#));
    let failing = project.path("fatbinary");
    fs::write(&failing, "#!/bin/sh\necho 'no such arch' >&2\nexit 3\n").unwrap();
    fs::set_permissions(&failing, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let failed = said(project.command(&[]).env("TTC_FATBINARY", &failing).output().unwrap());
    assert!(failed.contains("E0817") && failed.contains("no such arch"), "{failed}");

    // The JSON of a kernel that is not compiled again is read for the launchers.
    let project = Project::new(MANIFEST);
    project.build();
    let path = project.path("out/fill_ones.sm_80.json");
    let (time, size) = (project.time("out/fill_ones.sm_80.json"), fs::metadata(&path).unwrap().len() as usize);
    fs::write(&path, " ".repeat(size)).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    project.write("k.py", &DOUBLE.replace("x + at", "at + x"));
    let unreadable = said(project.run(&[]));
    assert!(unreadable.contains("E0952") && unreadable.contains("fill_ones.sm_80.json"), "{unreadable}");
}

/// The front end and the driver speak of options, which nobody wrote: a manifest has keys, and they have places. The
/// command line is not wrong, so the exit code is 1.
#[test]
fn what_a_manifest_says_is_wrong_in_its_own_words() {
    for (line, expected) in [
        ("num_warps = 3", "error[E0950]: `num_warps = 3`: expected a power of two"),
        ("archs = [\"sm_70\"]", "error[E0950]: unknown architecture `sm_70`"),
        ("types = { \"zz*\" = \"i32\" }", "error[E0229]: `types = { \"zz*\" = \"i32\" }` fits no parameter"),
        ("types = { x = \"fp32:16\" }", "error[E0215]: `fp32:16` in `types = { x = \"fp32:16\" }` is neither"),
        ("constants = { VALU = 1 }", "error[E0217]: the kernel `fill` has no parameter `VALU`"),
        ("grid = \"1, 65536\"", "error[E0934]: the grid of `fill`: 65536 programs along y cannot be launched"),
    ] {
        let project = Project::new(&format!("{}{line}\n", small("")));
        let output = project.command(&["--error-format", "short"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        let human = failure(&project, &[]);
        assert!(human.contains(expected), "{line}: {human}");
        assert!(human.contains(&format!("6 │ {line}")), "the line of the manifest: {human}");
    }
    let project = Project::new("[build]\narchs = [\"sm_80\"]\n[kernel._]\nfile = \"fill.py\"\nfunction = \"fill\"\n");
    assert!(failure(&project, &[]).contains("`_` cannot be a kernel's name"));
    let project = Project::new(&small(""));
    assert_eq!(project.run(&["--arch", "sm_1"]).status.code(), Some(2), "this is the command line");
}

/// A small manifest: one kernel, for one architecture.
fn small(build: &str) -> String {
    format!("[build]\narchs = [\"sm_80\"]\n{build}\n[kernel.fill]\nfile = \"fill.py\"\n")
}

fn failure(project: &Project, args: &[&str]) -> String {
    let output = project.run(args);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_kernel_built_by_itself_gets_into_launchers_with_the_next_build() {
    let manifest = small("emit = [\"cubin\", \"c\", \"fatbin\"]");
    let project = Project::new(&manifest);
    project.build();
    project.write("fill.py", &FILL.replace("1.0", "2.0"));
    let read = |name: &str| fs::read(project.path(name)).unwrap();
    let before = (read("out/kernels.c"), read("out/fill.fatbin"));
    assert!(project.run(&["-k", "fill"]).status.success());
    assert_eq!((read("out/kernels.c"), read("out/fill.fatbin")), before);
    assert_eq!(project.build(), [""; 0]);
    let fresh = Project::new(&manifest);
    fresh.write("fill.py", &FILL.replace("1.0", "2.0"));
    fresh.build();
    for name in ["out/kernels.c", "out/fill.fatbin"] {
        assert_eq!(read(name), fs::read(fresh.path(name)).unwrap(), "{name}");
    }
}

#[test]
fn what_is_not_asked_for_any_longer_goes() {
    let project = Project::new(&small("emit = [\"ptx\", \"ttgir\", \"fatbin\"]"));
    project.build();
    assert!(project.outputs().contains(&"fill.sm_80.ptx".to_owned()));
    project.write("ttc.toml", &small("emit = [\"fatbin\"]"));
    project.write("fill.py", &FILL.replace("1.0", "2.0"));
    project.build();
    assert_eq!(project.outputs(), ["fill.fatbin", "fill.sm_80.cubin", "fill.sm_80.json", "kernels.json"]);
    // The PTX of before is not in it.
    let fresh = Project::new(&small("emit = [\"fatbin\"]"));
    fresh.write("fill.py", &FILL.replace("1.0", "2.0"));
    fresh.build();
    assert_eq!(fs::read(project.path("out/fill.fatbin")).unwrap(), fs::read(fresh.path("out/fill.fatbin")).unwrap());

    // A kernel that failed and then left the manifest.
    let project = Project::new(MANIFEST);
    project.build();
    project.write("k.py", "import nothing.of.this\n");
    failure(&project, &[]);
    project.write("ttc.toml", &small(""));
    project.build();
    assert_eq!(project.outputs(), ["fill.sm_80.cubin", "fill.sm_80.json", "kernels.json"]);

    // The same with architectures by hand; those that are not named stay.
    let project = Project::new(MANIFEST);
    project.build();
    let double = MANIFEST.find("[kernel.double]").unwrap()..MANIFEST.find("[kernel.fill_ones]").unwrap();
    project.write("ttc.toml", &MANIFEST.replace(&MANIFEST[double], ""));
    fs::remove_file(project.path("k.py")).unwrap();
    assert!(project.run(&["--arch", "sm_90a", "--MD"]).status.success());
    assert!(!fs::read_to_string(project.path("out/kernels.d")).unwrap().contains("k.py"));
    let names = project.outputs();
    assert!(!names.iter().any(|n| n.starts_with("double")), "{names:?}");
    assert!(names.contains(&"fill_ones.sm_80.cubin".to_owned()), "{names:?}");
}

#[test]
fn another_spelling_of_the_folder_is_the_same_folder() {
    let project = Project::new(&small("emit = [\"c\", \"rust\"]"));
    project.build();
    let names = project.outputs();
    for args in [["./ttc.toml"], ["--out-dir=./out"], ["--out-dir=lib/../out"]] {
        assert!(project.run(&args).status.success());
        assert_eq!(project.outputs(), names, "{args:?}");
    }
}

#[test]
fn outputs_are_not_written_over_inputs_or_beside_another_manifest_s() {
    let project = Project::new(&small("out = \".\"\nemit = [\"ttgir\"]"));
    assert!(project.run(&[]).status.success());
    let kept = Project::new(&small("out = \".\"\nemit = [\"ttgir\"]").replace("fill.py", "fill.sm_80.ttgir"));
    let printed = fs::read_to_string(project.path("fill.sm_80.ttgir")).unwrap();
    // Another text, and the very one that would be written.
    for text in [printed.replace("1.000000e+00", "2.0"), printed] {
        kept.write("fill.sm_80.ttgir", &text);
        assert!(failure(&kept, &[]).contains("E0908"));
        assert_eq!(fs::read_to_string(kept.path("fill.sm_80.ttgir")).unwrap(), text);
    }

    let project = Project::new(&small(""));
    project.build();
    project.write("other.toml", &small(""));
    assert!(failure(&project, &["other.toml"]).contains("`out` holds the outputs of"));
    assert!(project.run(&["other.toml", "--out-dir", "other"]).status.success());
    // A manifest that was renamed keeps its folder.
    fs::rename(project.path("ttc.toml"), project.path("kernels.toml")).unwrap();
    assert!(project.run(&["kernels.toml"]).status.success());
}

#[test]
fn names_that_would_collide_are_refused() {
    for module in ["../out", "ttc_rt", "fill.sm_80", ".ttc-build", "", "a/b"] {
        let project = Project::new(&small(&format!("module = \"{module}\"")));
        assert!(failure(&project, &[]).contains("E0950"), "{module}");
        let said = failure(&Project::new(&small("")), &["--module", module]);
        assert!(said.contains("E0910"), "{module}: {said}");
        assert!(!project.path("out").exists());
    }
    let autotuned = FILL.replace(
        "@triton.jit",
        "@triton.autotune(configs=[triton.Config({'VALUE': 1.0}), triton.Config({'VALUE': 2.0})], key=[])\n@triton.jit",
    );
    let project = Project::new(&format!("{}config = \"all\"\n[kernel.fill_1]\nfile = \"one.py\"\n", small("")));
    project.write("fill.py", &autotuned);
    project.write("one.py", &FILL.replace("def fill", "def fill_1"));
    let said = failure(&project, &[]);
    assert!(said.contains("`[kernel.fill]` and `[kernel.fill_1]` both make `fill_1`"), "{said}");
}
