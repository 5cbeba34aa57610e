//! What happens when something is wrong from outside: files, disks, pipes, options, tools. Each case is the whole
//! program, run in an empty directory that must be empty afterwards: a clear message, the right exit code, no panic, no
//! partial output.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const KERNEL: &str = "
import triton
import triton.language as tl
@triton.jit
def copy(src: '*fp32:16', dst: '*fp32:16', n: 'i32', BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + offs, tl.load(src + offs, mask=offs < n), mask=offs < n)
";

/// A directory with `copy.tk`, and one to run in.
struct World {
    inputs: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let world = World { inputs: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() };
        world.file("copy.tk", KERNEL.as_bytes());
        world
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.inputs.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn command(&self, args: &str) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_ttc"));
        c.args(args.split(' ').filter(|a| !a.is_empty()).map(|a| {
            a.replace("IN/", &format!("{}/", self.inputs.path().display())).replace('_', " ").replace('~', "_")
        }));
        c.args(["--error-format", "short"]).current_dir(self.work.path()).stdin(Stdio::null());
        c
    }

    fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs and checks exit code, message and that nothing was left behind. In `args` a `~` stands for an underscore
    /// and `_` for a space.
    fn expect(&self, args: &str, exit: i32, message: &[&str]) {
        self.check(args, &self.run(args), exit, message);
    }

    fn check(&self, what: &str, output: &Output, exit: i32, message: &[&str]) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{what}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{what}\n{stderr}");
        for part in message {
            assert!(stderr.contains(part), "{what}: expected `{part}` in\n{stderr}");
        }
        let left: Vec<_> = fs::read_dir(self.work.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{what} left {left:?} behind");
    }
}

#[test]
fn files_that_are_none() {
    let w = World::new();
    w.expect("compile IN/cop.tk", 1, &["E0901", "cop.tk"]);
    w.expect("compile IN/copy.py", 1, &["E0901", "copy.tk"]);
    w.expect("compile IN/", 1, &["E0902"]);
    w.file("empty.tk", b"");
    w.expect("compile IN/empty.tk", 1, &["error[E02", "no kernel"]);
    w.file("binary.tk", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0xff, 0xfe, 0x80]);
    w.expect("compile IN/binary.tk", 1, &["E0904"]);
    w.file("nul.tk", b"@triton.jit\ndef k(x):\n    y = \0 1\n");
    w.expect("compile IN/nul.tk", 1, &["error[E01"]);
    w.file("kernel.txt", KERNEL.as_bytes());
    w.expect("compile IN/kernel.txt", 1, &["E0905", ".tk"]);
    w.file("broken.ttir", b"module {\n  tt.func @f(");
    w.expect("compile IN/broken.ttir", 1, &["error[E04", "broken.ttir:2"]);
    w.file("broken.llir", b"define void @f( {");
    w.expect("compile IN/broken.llir", 1, &["error[E0"]);
}

/// What Python refuses anywhere in a file is told before a kernel is missed, in imported files as well.
#[test]
fn syntax_errors_outside_of_kernels() {
    let w = World::new();
    for (what, line, code) in [
        ("print \"x\"", 2, "E0107"),
        ("x = (1,", 2, "E0105"),
        ("from math import", 2, "E0107"),
        ("import math as", 2, "E0107"),
        ("def (", 2, "E010"),
        ("class A", 2, "E0108"),
        ("if", 2, "E0107"),
        ("x = = 3", 2, "E0107"),
        ("```python", 2, "E0101"),
        ("s = \"\"\"abc", 2, "E0102"),
        ("def lambda(x): pass", 2, "E0118"),
        ("<<<<<<< HEAD\nA = 1\n=======\nA = 2\n>>>>>>> b", 2, "E0122"),
        ("@triton.jit\n    def k(x):\n        pass", 2, "E0120"),
        ("@triton.jit\nk(...):\n    pass", 2, "E0120"),
        ("@triton.jit\nfunction k", 2, "E0120"),
        ("x = 1\n@triton.jit", 3, "E0120"),
    ] {
        w.file("bad.tk", format!("\n{what}\n").as_bytes());
        let at = format!("bad.tk:{line}:");
        w.expect("compile IN/bad.tk -k k", 1, &[code, &at]);
        w.expect("check IN/bad.tk", 1, &[code, &at]);
        let importing = format!("from bad import A\n{KERNEL}");
        w.file("importing.tk", importing.replace("+ tl.arange", "+ A + tl.arange").as_bytes());
        w.expect("compile IN/importing.tk -k copy -D BLOCK=16", 1, &[code, &at]);
    }
    let host = "try:\n    import a\nexcept* E:\n    pass\nmatch x:\n    case [1, *y] if y: z = 1\n";
    w.file("good.tk", format!("{host}{KERNEL}").as_bytes());
    w.expect("check --syntax-only IN/good.tk", 0, &[]);
}

#[test]
fn megabytes_of_text() {
    let w = World::new();
    let line = "x = 1 + (2 * 3) # and some words to fill the line\n";
    w.file("big.tk", line.repeat(7 * 1024 * 1024 / line.len()).as_bytes());
    w.expect("compile IN/big.tk", 1, &["no kernel"]);
    let body = "    y = x + 1\n".repeat(100_000);
    w.file("long.tk", format!("import triton\n@triton.jit\ndef k(x: 'i32'):\n{body}    z = = 1\n").as_bytes());
    w.expect("check --syntax-only IN/long.tk", 1, &["error[E01", "long.tk:100004"]);
}

#[test]
fn deep_nesting() {
    let w = World::new();
    let n = 100_000;
    let head = "import triton\n@triton.jit\ndef k(x: 'i32'):\n";
    for (name, text) in [
        ("parens", format!("{head}    y = {}x{}\n", "(".repeat(n), ")".repeat(n))),
        ("minus", format!("{head}    y = {}x\n", "-".repeat(n))),
        ("calls", format!("{head}    y = {}x{}\n", "f(".repeat(n), ")".repeat(n))),
        ("ifs", format!("{head}{}", (1..2000).map(|i| format!("{}if x:\n", " ".repeat(i * 2))).collect::<String>())),
    ] {
        w.file(&format!("{name}.tk"), text.as_bytes());
        w.expect(&format!("compile IN/{name}.tk"), 1, &["error[E01"]);
    }
    let n = 20_000;
    w.file("regions.ttir", format!("module {{ {} }}", "\"x.y\"() ({ ".repeat(n)).as_bytes());
    w.expect("compile IN/regions.ttir", 1, &["error[E04"]);
}

#[test]
fn options_that_do_not_fit() {
    let w = World::new();
    w.expect("compile IN/copy.tk -D BLOCK=128 --arch sm~91", 2, &["E0912", "sm_90"]);
    w.expect("compile IN/copy.tk -D BLOCK=128 -k cpy", 1, &["error[E02", "copy"]);
    w.expect("compile IN/copy.tk --signature *fp32,*fp32,i32", 1, &["error[E02", "4"]);
    w.expect("compile IN/copy.tk --signature *fp32,*fp33,i32,128", 1, &["error[E02", "fp33"]);
    w.expect("compile IN/copy.tk", 1, &["error[E02", "BLOCK"]);
    w.expect("compile IN/copy.tk -D BLCK=128", 1, &["error[E02", "BLCK"]);
    w.expect("compile IN/copy.tk -D BLOCK", 2, &["NAME=VALUE"]);
    w.expect("compile IN/copy.tk -D BLOCK=128 --num-warps 3", 2, &["E0910", "power of two"]);
    w.expect("compile IN/copy.tk -D BLOCK=128 --emit elf", 2, &["E0907", "cubin"]);
    w.expect("compile IN/copy.tk -D BLOCK=128 --emit ttir,ptx -o x.ptx", 2, &["E0908", "--out-dir"]);
    w.expect("compile --no-such-option", 2, &[]);
    w.expect("compile", 2, &[]);
    w.expect("explain E9999", 2, &["E0911"]);
}

#[test]
fn ptxas_that_is_missing_fails_or_is_killed() {
    let w = World::new();
    let args = "compile IN/copy.tk -D BLOCK=128 --arch sm~80 -o copy.cubin";
    w.expect(&format!("{args} --ptxas IN/none"), 1, &["error[E08"]);
    for (name, script, code, words) in [
        (
            "failing",
            "#!/bin/sh\necho 'ptxas fatal   : Unresolved extern function foo' >&2\nexit 255\n",
            "error[E0803]",
            "255",
        ),
        ("killed", "#!/bin/sh\nkill -9 $$\n", "error[E08", "signal"),
    ] {
        let path = w.file(name, script.as_bytes());
        set_executable(Path::new(&path));
        w.expect(&format!("{args} --ptxas IN/{name}"), 1, &[code, words]);
    }
}

fn set_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn outputs_that_cannot_be_written() {
    let w = World::new();
    let args = "compile IN/copy.tk -D BLOCK=128 --emit ptx";
    w.expect(&format!("{args} -o /dev/full"), 1, &["E0906", "No space left"]);
    w.expect(&format!("{args} -o none/copy.ptx"), 1, &["E0906", "No such file"]);
    w.expect(&format!("{args} -o /proc/copy.ptx"), 1, &["E0906"]);
    w.expect(&format!("{args} -o IN/"), 1, &["E0906", "directory"]);
    w.expect(&format!("{args} --out-dir IN/copy.tk/x"), 1, &["E0906"]);
}

#[test]
fn a_full_stdout() {
    let w = World::new();
    let args = "compile IN/copy.tk -D BLOCK=128 --emit ptx";
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = w.command(args).stdout(full).output().unwrap();
    w.check("stdout is full", &output, 1, &["E0906", "No space left"]);
}
