//! `ttc interpret` as a user sees it: arguments from NumPy files, results in them, traces, case files, exit codes.

#![allow(clippy::float_cmp)] // powers of two times small integers are exact

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use ttc::interp::npy;
use ttc::ir::{FloatKind, Type};

const KERNEL: &str = "
import triton
import triton.language as tl
@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr = 64):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0.0)
    tl.device_print('v', v)
    scaled = v * factor
    tl.store(y + offs, scaled, mask=offs < n)
";

const CASE: &str = "
grid = ['cdiv(n, BLOCK)']
[params]
n = [4, 3]
[constants]
BLOCK = 4
[args.x]
shape = 'n'
dtype = 'fp32'
fill = 'i + 1'
[args.y]
shape = 'n'
dtype = 'fp32'
out = true
[args.n]
value = 'n'
[args.factor]
value = 0.5
";

struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        // What every program prints would bury the rest.
        fs::write(world.path("scale.tk"), KERNEL.replace("    tl.device_print('v', v)\n", "")).unwrap();
        fs::write(world.path("printing.tk"), KERNEL).unwrap();
        let bytes: Vec<u8> = (0..100).flat_map(|i| (i as f32).to_le_bytes()).collect();
        fs::write(world.path("x.npy"), npy::write(Type::float(FloatKind::F32), &[10, 10], &bytes)).unwrap();
        world
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut c = Command::new(env!("CARGO_BIN_EXE_ttc"));
        c.args(["--error-format", "short", "interpret"]).args(args).current_dir(self.0.path()).output().unwrap()
    }

    /// Standard output of a run that succeeds.
    fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a run that ends with this exit code.
    fn stderr(&self, args: &[&str], exit: i32) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{args:?}\n{stderr}");
        stderr
    }

    fn floats(&self, name: &str) -> (Vec<usize>, Vec<f32>) {
        let array = npy::read(name, &fs::read(self.path(name)).unwrap()).unwrap();
        let values = array.bytes.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
        (array.shape, values)
    }
}

const ARGS: [&str; 9] = ["scale.tk", "--grid", "2", "--arg", "x=@x.npy", "--arg", "n=100", "--arg", "factor=2.0"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ARGS.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn arrays_come_from_files_and_go_to_files() {
    let world = World::new();
    for out in ["y=out.npy", "out.npy"] {
        let text = world.stdout(&with(&["--arg", "y=fp32[10, 10]", "--out", out]));
        assert_eq!(text, "scale: 2 programs, 42 operations\ny: f32[10, 10], least 0, mean 99.000000, greatest 198\n");
        let (shape, values) = world.floats("out.npy");
        assert_eq!(shape, [10, 10]);
        assert!(values.iter().enumerate().all(|(i, v)| *v == 2.0 * i as f32));
        fs::remove_file(world.path("out.npy")).unwrap();
    }
    // The input's own buffer can be the output.
    world.stdout(&with(&["--arg", "y=@x.npy", "--out", "y.npy"]));
    assert_eq!(world.floats("y.npy").1[99], 198.0);
}

/// The largest `uint32` divided by 2 is not the half of -1.
#[test]
fn an_array_of_unsigned_integers_makes_the_parameter_unsigned() {
    let world = World::new();
    let source =
        "import triton\nimport triton.language as tl\n@triton.jit\ndef halve(x):\n    tl.store(x, tl.load(x) // 2)\n";
    fs::write(world.path("halve.tk"), source).unwrap();
    let file = npy::write(Type::int(32), &[1], &u32::MAX.to_le_bytes());
    let at = file.windows(3).position(|w| w == b"<i4").unwrap();
    let unsigned = [&file[..at], b"<u4", &file[at + 3..]].concat();
    for (file, half) in [(unsigned, 0x7fff_ffff), (file, 0)] {
        fs::write(world.path("x.npy"), file).unwrap();
        world.stdout(&["halve.tk", "--arg", "x=@x.npy", "--out", "x=out.npy"]);
        let out = npy::read("out.npy", &fs::read(world.path("out.npy")).unwrap()).unwrap();
        assert_eq!(u32::from_le_bytes(out.bytes.try_into().unwrap()), half);
    }
}

#[test]
fn faults_name_the_line_and_leave_no_file() {
    let world = World::new();
    let said = world.stderr(&with(&["--arg", "y=fp32[99]", "--out", "y.npy"]), 1);
    assert!(
        said.starts_with(
            "scale.tk:9:5: error[E1004]: a store to element 99 of `y`, out of bounds, in program (1, 0, 0)"
        ),
        "{said}"
    );
    assert!(!world.path("y.npy").exists());
    let text = world.stdout(&with(&["--arg", "y=fp32[99]", "--check", "races"]));
    assert!(text.contains("greatest 196"), "{text}");
}

#[test]
fn a_line_is_traced_in_one_program() {
    let world = World::new();
    fs::write(world.path("scale.toml"), CASE).unwrap();
    let text = world.stdout(&["scale.tk", "--trace", "8", "--param", "n=3"]);
    assert!(text.contains("scaled = arith.mulf : tensor<4xf32>\n  [0.5, 1, 1.5, 0]"), "{text}");
    let text = world.stdout(&with(&["--arg", "y=fp32[100]", "--trace", "scale.tk:6", "--program", "1", "--jobs", "2"]));
    assert!(text.contains("offs = arith.addi : tensor<64xi32>\n  [64, 65, 66"), "{text}");
    let text = world.stdout(&["scale.tk", "--trace", "1"]);
    assert!(text.contains("nothing was computed at line 1 in program (0, 0, 0)"), "{text}");
}

#[test]
fn the_case_beside_the_kernel_is_used() {
    let world = World::new();
    let said = world.stderr(&["scale.tk", "--error-format", "short"], 1);
    assert!(said.contains("error[E1003]: the kernel `scale` needs a value for `x`, `y`, `n`, `factor`"), "{said}");
    fs::write(world.path("scale.toml"), CASE).unwrap();
    let text = world.stdout(&["scale.tk", "--out", "y.npy"]);
    assert_eq!(text, "scale: n=4\nscale: 1 programs, 21 operations\ny: f32[4], least 0.5, mean 1.250000, greatest 2\n");
    assert_eq!(world.floats("y.npy"), (vec![4], vec![0.5, 1.0, 1.5, 2.0]));
    assert!(
        world
            .stderr(&["scale.tk", "--param", "m=3"], 1)
            .contains("error[E1017]: the case `scale` has no parameter `m`")
    );
    // A case of another name says which file it is about.
    fs::rename(world.path("scale.toml"), world.path("other.toml")).unwrap();
    fs::write(world.path("other.toml"), format!("file = 'printing.tk'\n{CASE}")).unwrap();
    let text = world.stdout(&["printing.tk", "--param", "n=3"]);
    assert!(text.contains("other: n=3\npid (0, 0, 0) idx (0) v: 1\n"), "{text}");
    // So does a case file that is named itself, whatever its name; without `file` it is about the kernel file of its
    // own name.
    assert_eq!(world.stdout(&["other.toml", "--param", "n=3"]), text);
    fs::write(world.path("scale.toml"), CASE).unwrap();
    assert!(world.stdout(&["scale.toml", "--param", "n=3"]).starts_with("scale: n=3\n"));
    fs::rename(world.path("scale.tk"), world.path("scale.py")).unwrap();
    assert!(world.stdout(&["scale.toml", "-k", "scale"]).starts_with("scale: n=4\n"));
    assert!(world.stderr(&["scale.toml", "-k", "other"], 1).contains("E1017"));
    assert!(world.stderr(&["scale.toml", "--arg", "n=3"], 2).contains("E0910"));
}

#[test]
fn wrong_command_lines_exit_with_2_and_wrong_arguments_with_1() {
    let world = World::new();
    for (args, exit, message) in [
        (vec!["scale.tk", "--grid", "1,2,3,4"], 2, "one to three numbers"),
        (vec!["scale.tk", "--grid", "0"], 2, "0 programs"),
        (vec!["scale.tk", "--check", "everything"], 2, "possible values"),
        (vec!["scale.tk", "--arg", "x"], 2, "NAME=VALUE"),
        (with(&["--arg", "y=fp32[100]", "--trace", "x"]), 2, "E0910"),
        (with(&["--arg", "y=fp32[100]", "--out", "z=z.npy"]), 2, "E0910"),
        (with(&["--arg", "y=fp32[100", "--out", "y.npy"]), 1, "E1003"),
        (with(&["--arg", "y=f99[100]"]), 1, "E1003"),
        (with(&["--arg", "y=fp32[100]", "--arg", "z=1"]), 1, "no parameter `z`"),
        (with(&["--arg", "y=fp32[100]", "--signature", "*fp16, *fp32, i32, fp32, 64"]), 1, "points to f16"),
        (with(&["--arg", "y=7"]), 1, "E0303"),
        (
            with(&["--arg", "y=fp32[100]", "--trace", "8", "--program", "2,0,0"]),
            2,
            "outside of the grid, which is 2,1,1",
        ),
        (
            vec![
                "scale.tk",
                "--grid",
                "2097152,2097152,4194304",
                "--arg",
                "x=@x.npy",
                "--arg",
                "y=fp32[1]",
                "--arg",
                "n=1",
                "--arg",
                "factor=1",
            ],
            1,
            "18446744073709551616 programs",
        ),
        (with(&["--arg", "y=fp32[100]", "--max-memory", "3Q"]), 2, "no unit"),
        (with(&["--arg", "y=fp32[100]", "--tolerance", "1"]), 2, "--expect"),
        (vec!["missing.tk"], 1, "E0901"),
        (vec!["x.npy"], 1, "E0904"),
    ] {
        let said = world.stderr(&args, exit);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert!(!Path::new(&world.path("y.npy")).exists());
}

#[test]
fn inputs_that_have_no_end_are_not_read() {
    let world = World::new();
    let run = |arg: &str| {
        world.stderr(&["scale.tk", "--arg", arg, "--arg", "y=fp32[1]", "--arg", "n=1", "--arg", "factor=1"], 1)
    };
    for special in ["x=@/dev/zero", "x=@."] {
        let said = run(special);
        assert!(said.contains("E0901") && said.contains("no regular file"), "{said}");
    }
    // A file of 5 GB that takes no room on the disk.
    fs::File::create(world.path("huge.npy")).unwrap().set_len(5 << 30).unwrap();
    for large in [
        "x=@huge.npy",
        "x=fp32[4294967296]",
        "x=fp32[18446744073709551615, 2]",
        "x=normal(1000000000)",
        "x=i8[3000000000]:i",
    ] {
        let said = run(large);
        let code = if large.contains(", 2]") { "E1003" } else { "E1021" };
        assert!(said.contains(code), "{large}: {said}");
    }
    let case = CASE.replace("n = [4, 3]", "n = 2147483648");
    fs::write(world.path("scale.toml"), &case).unwrap();
    let said = world.stderr(&["scale.tk"], 1);
    assert!(said.contains("scale.toml:") && said.contains("error[E1021]"), "{said}");
}

#[test]
fn arguments_are_filled_with_the_words_of_case_files() {
    let world = World::new();
    let run = |x: &str| {
        world.stdout(&[
            "scale.tk",
            "--arg",
            x,
            "--arg",
            "y=fp32[8]",
            "--arg",
            "n=8",
            "--arg",
            "factor=2",
            "--out",
            "y.npy",
        ]);
        world.floats("y.npy").1
    };
    assert_eq!(run("x=fp32[8]:i * i"), (0..8).map(|i| (2 * i * i) as f32).collect::<Vec<_>>());
    assert_eq!(run("x=ones(8)"), [2.0; 8]);
    assert_eq!(run("x=fp32[2, 4]: constant(3)"), [6.0; 8]);
    let (a, b) = (run("x=normal(8)"), run("x=fp32[8]:normal"));
    assert!(a == b && a[0] != a[1], "{a:?} {b:?}");
    for wrong in
        ["x=normal[8]", "x=fp32[8]normal", "x=fp32[8]:", "x=fp32[8]:nothing", "x=ones(8", "x=fp32[8]:uniform(2, 1)"]
    {
        let said =
            world.stderr(&["scale.tk", "--arg", wrong, "--arg", "y=fp32[8]", "--arg", "n=8", "--arg", "factor=2"], 1);
        assert!(said.contains("E1003") || said.contains("E1017"), "{wrong}: {said}");
    }
}

const OPTIONAL: &str = "
import triton
import triton.language as tl
@triton.jit
def add(x, bias, y, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0.0)
    if bias is not None:
        v += tl.load(bias + offs, mask=offs < n, other=0.0)
    tl.store(y + offs, v, mask=offs < n)
";

#[test]
fn a_constexpr_and_none_may_be_arguments() {
    let world = World::new();
    fs::write(world.path("add.tk"), OPTIONAL).unwrap();
    let run = |bias: &str, block: &[&str]| {
        let args = ["add.tk", "--arg", "x=ones(8)", "--arg", "y=fp32[8]", "--arg", "n=8", "--arg", bias];
        world.run(&args.iter().chain(block).copied().collect::<Vec<_>>())
    };
    for (bias, sum) in [("bias=None", "greatest 1\n"), ("bias=ones(8)", "greatest 2\n")] {
        for block in [["--arg", "BLOCK=8"], ["-D", "BLOCK=8"]] {
            let output = run(bias, &block);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && text.contains(sum), "{text}{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let twice = run("bias=None", &["--arg", "BLOCK=8", "-D", "BLOCK=16"]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("`BLOCK` has two values"));
}

#[test]
fn results_are_compared_with_files() {
    let world = World::new();
    world.stdout(&with(&["--arg", "y=fp32[10, 10]", "--out", "y=ref.npy"]));
    world.stdout(&with(&["--arg", "y=fp32[10, 10]", "--expect", "y=ref.npy"]));
    let said = world.stderr(&with(&["--arg", "y=fp32[10, 10]", "--expect", "y=x.npy"]), 1);
    assert!(said.contains("error[E1022]: `y` is not what `x.npy` holds: 99 of 100 elements differ"), "{said}");
    // A result that is twice as much is off by half of what was expected at most, beyond 1.
    world.stdout(&with(&["--arg", "y=fp32[10, 10]", "--expect", "y=x.npy", "--tolerance", "1"]));
    let said = world.stderr(&with(&["--arg", "y=fp32[100]", "--expect", "none.npy"]), 1);
    assert!(said.contains("E0901"), "{said}");
    world.stdout(&[
        "scale.tk",
        "--arg",
        "x=ones(4)",
        "--arg",
        "y=fp32[4]",
        "--arg",
        "n=4",
        "--arg",
        "factor=2",
        "--out",
        "small.npy",
    ]);
    assert!(world.stderr(&with(&["--arg", "y=fp32[100]", "--expect", "y=small.npy"]), 1).contains("has the shape [4]"));
}

#[test]
fn printing_is_bounded() {
    let world = World::new();
    let args = [
        "printing.tk",
        "--arg",
        "x=ones(100)",
        "--arg",
        "y=fp32[100]",
        "--arg",
        "n=100",
        "--arg",
        "factor=2",
        "--grid",
        "2",
        "--max-lines",
        "70",
    ];
    let text = world.stdout(&args);
    assert!(
        text.contains("\npid (1, 0, 0) idx ( 5) v: 1\n… 58 more lines left out; `--max-lines` shows them\n"),
        "{text}"
    );
    assert_eq!(text.matches("pid (").count(), 70);
}
