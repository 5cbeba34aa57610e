//! `ttc run`, `ttc bench` and `ttc tune` on a driver without a GPU: the stub of `crates/ttc-rt/tests`.
//!
//! The stub runs nothing. A test says by `STUB_WRITE` what a launch leaves in a buffer, and by `STUB_FAIL` which call
//! of the driver fails. Its clock moves by 10 us for a launch and 20 ns for each thread of a block, so times are known.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The stub, built once in a process.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/ttc-rt/tests/stub/libcuda.rs");
        super::stub::library(&source, Path::new(env!("CARGO_TARGET_TMPDIR")))
    })
}

/// A folder with a kernel and its case.
struct World {
    dir: tempfile::TempDir,
}

const KERNEL: &str = r"
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * 2, mask=offs < n)
";

const CASE: &str = r#"
file = "scale.tk"
grid = ["cdiv(n, BLOCK)"]

[params]
n = [1000, 64]
dtype = ["fp32", "fp16"]

[constants]
BLOCK = "256"

[args.x_ptr]
shape = ["n"]
dtype = "dtype"
fill = "normal"

[args.y_ptr]
shape = ["n"]
dtype = "dtype"
out = true

[args.n]
value = "n"

[bench]
flops = "n"

[bench.params]
n = [1024, 4096]

[tune]
key = ["n"]

[tune.space]
BLOCK = [128, 256]
num_warps = [1, 4, 8]
"#;

impl World {
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::write(world.at("scale.tk"), KERNEL).unwrap();
        fs::write(world.at("scale.toml"), CASE).unwrap();
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// Runs ttc with words of a command line, and variables for the stub.
    fn ttc(&self, words: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
        command.args(["--error-format", "short"]).args(words.split(' ')).current_dir(self.dir.path());
        command.env("TTC_LIBCUDA", driver()).env("STUB_LOG", self.at("calls")).env_remove("STUB_WRITE");
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// The output of a run that succeeds, and leaves nothing alive in the driver.
    fn good(&self, words: &str, variables: &[(&str, &str)]) -> String {
        let output = self.ttc(words, variables);
        let (stdout, stderr) = texts(&output);
        assert!(output.status.success() && stderr.is_empty(), "{words}: {stdout}{stderr}");
        if !words.starts_with("interpret") && !words.starts_with("compile") {
            let calls = self.text("calls");
            assert!(calls.ends_with("live:\n") && !calls.contains("was not taken"), "{calls}");
        }
        stdout
    }

    /// The messages of a run that fails, and its output.
    fn bad(&self, words: &str, variables: &[(&str, &str)]) -> (String, String) {
        let output = self.ttc(words, variables);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{words}: {stdout}{stderr}");
        (stderr, stdout)
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn results_of_a_run_are_described_written_and_compared_with_the_interpreter() {
    let world = World::new();
    world.good("interpret scale.toml --out y_ptr=ref.npy", &[]);
    let write = [("STUB_WRITE", "1:ref.npy")];
    let said = world.good("run scale.toml --check interpret --out y_ptr=out.npy --expect y_ptr=ref.npy", &write);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["scale: n=1000 dtype=fp32", "scale: 4 programs on a GPU without a GPU (sm_90a)"]);
    assert!(lines[2].starts_with("y_ptr: f32[1000], least -"), "{said}");
    assert_eq!(lines[3], "the results are those of the interpreter");
    assert_eq!(fs::read(world.at("out.npy")).unwrap(), fs::read(world.at("ref.npy")).unwrap());
    let launch = world.text("calls").lines().find(|l| l.starts_with("cuLaunchKernel")).unwrap().to_owned();
    assert!(launch.contains("grid 4,1,1 block 128,1,1 shared 0"), "{launch}");
    // The kernel of the stub writes nothing, and then the buffer holds what was put there before.
    let (errors, said) = world.bad("run scale.toml --check interpret", &[]);
    assert!(said.contains("y_ptr: f32[1000], 1000 NaN"), "{said}");
    assert!(errors.contains("E1022") && errors.contains("`y_ptr` is not what the interpreter computes: 1000 of 1000"));
}

#[test]
fn a_run_takes_arguments_options_and_another_gpu() {
    let world = World::new();
    let words = "run scale.tk --arg x_ptr=normal(64) --arg y_ptr=fp32[64] --arg n=64 -D BLOCK=64 --num-warps 2";
    let said = world.good(words, &[("STUB_GPU", "8.9")]);
    assert_eq!(said, "scale: 1 programs on a GPU without a GPU (sm_89)\ny_ptr: f32[64], 64 NaN\n");
    assert!(world.text("calls").contains("block 64,1,1"));
}

#[test]
fn a_cubin_runs_with_the_json_beside_it() {
    let world = World::new();
    world.good("compile scale.toml --param n=1024 -o a.cubin", &[]);
    let args = "--arg x_ptr=normal(1024) --arg y_ptr=fp32[1024] --grid 4";
    let said = world.good(&format!("run a.cubin {args} --arg n=1024"), &[]);
    assert_eq!(said, "scale: 4 programs on a GPU without a GPU (sm_90a)\ny_ptr: f32[1024], 1024 NaN\n");
    assert!(world.good("run scale.toml --param n=1024 --cubin a.cubin", &[]).contains("1024 NaN"));
    // What the code was promised is checked, and so is what the arguments are.
    for (n, why) in [
        ("1001", "error[E1108]: `n` of `scale` was promised to be a multiple of 16, and it is 1001"),
        ("zeros(4)", "E1003"),
    ] {
        let (errors, _) = world.bad(&format!("run a.cubin {args} --arg n={n}"), &[]);
        assert!(errors.contains(why), "{errors}");
    }
    // Triton's JSON lists no parameters: they are those of the case's own kernel, and two pointers behind them.
    fs::write(world.at("a.json"), r#"{"name": "scale", "num_warps": 8, "shared": 1024, "cluster_dims": [2, 1, 1]}"#)
        .unwrap();
    world.good("run scale.toml --param n=1024 --cubin a.cubin", &[]);
    assert!(world.text("calls").contains("grid [8, 1, 1] block [256, 1, 1] shared 1024 4:[2, 1, 1]"));
    for (json, why) in [
        ("{", "E1109"),
        (r#"{"name": "scale", "shared": 0}"#, "it has no field `num_warps`"),
        (r#"{"name": "scale", "num_warps": 1}"#, "it has no field `shared`"),
    ] {
        fs::write(world.at("a.json"), json).unwrap();
        let (errors, _) = world.bad("run scale.toml --param n=1024 --cubin a.cubin", &[]);
        assert!(errors.contains(why), "{json}: {errors}");
    }
    fs::remove_file(world.at("a.json")).unwrap();
    assert!(world.bad("run a.cubin", &[]).0.contains("E0901"));
}

#[test]
fn a_json_that_cannot_be_is_an_error_and_no_crash() {
    let world = World::new();
    world.good("compile scale.toml --param n=1024 -o a.cubin", &[]);
    let json = world.text("a.json");
    for (from, to) in [
        ("\"offset\": 8", "\"offset\": 4294967288"),
        ("\"offset\": 8", "\"offset\": 40000"),
        ("\"size\": 8", "\"size\": 16"),
        ("\"argument\": \"x_ptr\"", "\"argument\": \"z_ptr\""),
        ("\"arch\": \"sm_90a\"", "\"arch\": \"sm_1\""),
    ] {
        assert!(json.contains(from), "{json}");
        fs::write(world.at("a.json"), json.replace(from, to)).unwrap();
        let (errors, _) = world.bad("run scale.toml --param n=1024 --cubin a.cubin", &[]);
        assert!(errors.contains("error[E1109]"), "{to}: {errors}");
    }
}

#[test]
fn what_the_driver_says_is_explained() {
    let world = World::new();
    for (fail, code, words) in [
        ("cuInit/0/100", "E1101", "cuInit failed"),
        ("cuModuleLoadData/0/218", "E1102", "cuModuleLoadData failed for `scale` (sm_90a)"),
        ("cuLaunchKernel/0/701", "E1103", "too many resources requested for launch"),
        ("cuLaunchKernel/0/1", "E1103", "invalid argument (CUDA_ERROR_INVALID_VALUE, 1)"),
        ("cuStreamSynchronize/0/700", "E1104", "an illegal memory access was encountered"),
        ("cuStreamSynchronize/0/716", "E1105", "misaligned address"),
        ("cuStreamSynchronize/0/710", "E1106", "device-side assert triggered"),
        ("cuStreamSynchronize/0/719", "E1106", "unspecified launch failure"),
        ("cuMemAlloc/1/2", "E1107", "out of memory"),
        ("cuMemcpyDtoH/0/719", "E1106", "unspecified launch failure"),
    ] {
        let (errors, _) = world.bad("run scale.toml", &[("STUB_FAIL", fail)]);
        assert!(errors.contains(&format!("error[{code}]")) && errors.contains(words), "{fail}: {errors}");
    }
    let (errors, _) = world.bad("run scale.toml", &[("STUB_GPU", "7.5")]);
    assert!(
        errors.contains("error[E1102]: ttc compiles nothing for a GPU without a GPU, which has compute capability 7.5")
    );
    assert!(world.bad("run scale.toml --device 1", &[]).0.contains("error[E1102]: there is no GPU 1: there is one"));
}

#[test]
fn a_fault_names_the_launch_its_arguments_and_the_command_that_finds_it() {
    let world = World::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
    command.args(["run", "scale.toml", "--param", "n=64"]).current_dir(world.dir.path());
    command.env("TTC_LIBCUDA", driver()).env("STUB_FAIL", "cuStreamSynchronize/0/700");
    let (_, said) = texts(&command.output().unwrap());
    for part in [
        "`scale` was launched with a grid of 1 x 1 x 1 programs, each of 128 threads and 0 bytes of shared memory",
        "`x_ptr: *fp32` is 256 bytes at 0x",
        "`n: i32` is 64, promised to be a multiple of 16",
        "`ttc interpret scale.toml --param n=64` finds the access, with its line, program and element",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
}

#[test]
fn a_measurement_is_a_table_a_file_and_a_picture() {
    let world = World::new();
    let said = world.good("bench scale.toml --json run.json --svg run.svg --sweep dtype --rep 1ms", &[]);
    let want = "\
a GPU without a GPU (sm_90a), a copy moves 1.000 TB/s; medians of launches with a cold L2 cache
case   dtype     n     us    p20    p80    min   TB/s  of copy  TFLOP/s
scale   fp32  1024  12.56  12.56  12.56  12.56  0.001       0%    0.000
scale   fp32  4096  12.56  12.56  12.56  12.56  0.003       0%    0.000
scale   fp16  1024  12.56  12.56  12.56  12.56  0.000       0%    0.000
scale   fp16  4096  12.56  12.56  12.56  12.56  0.001       0%    0.000
";
    assert_eq!(said, want);
    let json: serde_json::Value = serde_json::from_str(&world.text("run.json")).unwrap();
    let row = &json["rows"][1];
    assert_eq!(
        (&row["params"]["n"], row["bytes"].as_f64(), row["flops"].as_f64()),
        (&"4096".into(), Some(32768.0), Some(4096.0))
    );
    assert_eq!((&json["device"]["arch"], row["time"]["samples"].as_u64()), (&"sm_90a".into(), Some(79)));
    let svg = world.text("run.svg");
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (4, 2));
    assert!(svg.contains("ttc dtype=fp16, n = 4096:"), "{svg}");
}

#[test]
fn a_measurement_is_compared_with_an_earlier_one_and_with_a_cubin() {
    let world = World::new();
    world.good("bench scale.toml --json before.json --rep 1ms", &[]);
    world.good("compile scale.toml --param n=1024 -o rival.cubin --num-warps 1", &[]);
    let words = "bench scale.toml --num-warps 8 --rep 1ms --against before.json --against rival.cubin";
    let said = world.good(words, &[]);
    let want = "\
case      n     us    p20    p80    min   TB/s  of copy  TFLOP/s  before us      x  rival us      x
scale  1024  15.12  15.12  15.12  15.12  0.001       0%    0.000      12.56  0.831     10.64  0.704
scale  4096  15.12  15.12  15.12  15.12  0.002       0%    0.000      12.56  0.831     10.64  0.704
x: time of the other one by ours; above 1, ours is faster
";
    assert_eq!(said.split_once('\n').unwrap().1, want);
    let (errors, _) = world.bad("bench scale.toml --param n=64 --against before.json", &[]);
    assert!(errors.contains("error[E1112]: `before` has no row for n=64"), "{errors}");
}

#[test]
fn tuning_finds_the_fastest_leaves_out_what_need_not_run_and_keeps_the_best() {
    let world = World::new();
    let said = world.good("tune scale.tk --param n=4096 --rep 1ms", &[]);
    let mut lines = said.lines();
    let head = lines.next().unwrap();
    assert_eq!(head, "scale for n=4096 dtype=fp32 on a GPU without a GPU (sm_90a): 6 configurations, 6 measured");
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["BLOCK", "num_warps", "registers", "spills", "shared", "us", "x", "TFLOP/s"]);
    assert_eq!((rows[1][0], rows[1][2], rows[1][6], rows[1][7]), ("best", "1", "10.64", "1.00"));
    assert_eq!((rows[6][1], rows[6][5], rows[6][6]), ("8", "15.12", "1.42"));
    assert_eq!(said.lines().last(), Some("ttc.lock has the best"));
    // Another size comes beside the first one, and the first one stays.
    world.good("tune scale.toml --param n=64 --space num_warps=4,8,2048 --rep 1ms", &[]);
    let lock = world.text("ttc.lock");
    let at = |text: &str| lock.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{lock}"));
    assert!(at("n = 64") < at("num_warps = 4") && at("num_warps = 4") < at("n = 4096"), "{lock}");
    assert!(
        at("n = 4096") < at("num_warps = 1") && lock.contains("file = \"scale.tk\"") && lock.contains("BLOCK = 128")
    );
}

#[test]
fn what_cannot_run_is_left_out_with_the_reason() {
    let world = World::new();
    let words = "tune scale.toml --no-lock --rep 1ms --param n=4096 --space";
    let table = |space: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
        command.args(words.split(' ')).arg(space).current_dir(world.dir.path()).env("TTC_LIBCUDA", driver());
        let output = command.output().unwrap();
        (texts(&output), output.status.code())
    };
    let ((said, _), code) = table("BLOCK=128,100 num_warps=1,3,32");
    assert_eq!(code, Some(0), "{said}");
    for why in ["left out: E0", "too slow: timed by a few launches"] {
        assert!(said.contains(why), "no `{why}` in\n{said}");
    }
    // The stages of a kernel without loops change nothing.
    let ((said, _), _) = table("num_stages=2,3");
    assert!(said.contains("left out: the same code as with num_stages=2"), "{said}");
    let ((said, errors), code) = table("BLOCK=100");
    assert!(code == Some(1) && errors.contains("error[E1110]: no configuration of `scale` is left"), "{said}{errors}");
    let ((_, errors), _) = table("BLOK=128");
    assert!(errors.contains("`BLOK` is no parameter") && errors.contains("did you mean `BLOCK`?"), "{errors}");
}

#[test]
fn a_configuration_that_computes_something_else_is_left_out_and_said() {
    let world = World::new();
    world.good("interpret scale.toml --param n=64 --out y_ptr=right.npy", &[]);
    let mut bytes = fs::read(world.at("right.npy")).unwrap();
    *bytes.last_mut().unwrap() ^= 0x40;
    fs::write(world.at("wrong.npy"), bytes).unwrap();
    let output = world.ttc(
        "tune scale.toml --param n=64 --space num_warps=1,4 --no-lock --rep 1ms",
        &[("STUB_WRITE", "1:right.npy,right.npy,right.npy,right.npy,right.npy,right.npy,right.npy,wrong.npy")],
    );
    // Before the second configuration runs, the first one has run much more often.
    let (said, errors) = texts(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert!(errors.contains("warning[E1113]: num_warps=4 computes something else than num_warps=1"), "{errors}");
    assert!(errors.contains("differs at 1 of 64 elements; the worst is [63]"), "{errors}");
    assert!(said.contains("left out: E1113: other results than num_warps=1"), "{said}");
}
