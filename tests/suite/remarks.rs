//! `--remarks` and `--debug`: what is said without them, and that doing what a remark says ends it. What each remark
//! looks like stands in `tests/codes`.

use std::fs;
use std::process::Command;

/// Compiles a kernel file's text to one kind of output; gives what was made, and what was said.
fn compile(text: &str, kind: &str, options: &[&str]) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("kernel.tk"), dir.path().join("out"));
    fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
    command.args(["compile", "--error-format", "short", "--emit", kind, "-o"]).arg(&out).arg(&file).args(options);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (fs::read_to_string(out).unwrap(), said)
}

const ROWS: &str = r#"
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr: "X", y_ptr: "*fp16:16", n: "N", stride_m: "M", stride_n: "i32", ROWS: tl.constexpr = 16, COLS: tl.constexpr = 512):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, n, COLS):
        cols = start + tl.arange(0, COLS)
        at = m[:, None] * stride_m + cols[None, :] * stride_n
        x = tl.load(x_ptr + at, mask=cols[None, :] < n, other=0.0)
        tl.store(y_ptr + m[:, None] * COLS + cols[None, :], x * 2.0)
"#;

fn rows(pointer: &str, n: &str, stride_m: &str, one: bool) -> String {
    let text = ROWS
        .replace("\"X\"", &format!("\"{pointer}\""))
        .replace("\"N\"", &format!("\"{n}\""))
        .replace("\"M\"", &format!("\"{stride_m}\""));
    if one { text.replace("stride_n: \"i32\"", "stride_n: tl.constexpr = 1") } else { text }
}

#[test]
fn nothing_is_said_unless_asked() {
    let (_, said) = compile(&rows("*fp16", "i32", "i32", false), "ttgir", &[]);
    assert_eq!(said, "");
}

#[test]
fn doing_what_the_remarks_say_ends_them() {
    let said = |text: &str| compile(text, "ttgir", &["--remarks", "vectorize"]).1;
    let first = said(&rows("*fp16", "i32", "i32", false));
    assert!(first.contains("kernel.tk:12:13: remark[E0614]"), "{first}");
    assert!(first.contains("neither `stride_m` nor `stride_n` is known to be 1"), "{first}");
    let second = said(&rows("*fp16", "i32", "i32", true));
    assert!(second.contains("kernel.tk:12:13: remark[E0613]"), "{second}");
    for missing in ["x_ptr: \"*fp16:16\"", "n: \"i32:16\"", "stride_m: \"i32:16\""] {
        assert!(second.contains(missing), "{missing} in\n{second}");
    }
    assert_eq!(said(&rows("*fp16:16", "i32:16", "i32:16", true)), "");
}

#[test]
fn a_fact_that_is_known_is_not_asked_for() {
    let (_, said) = compile(&rows("*fp16:16", "i32", "i32:16", true), "ttgir", &["--remarks", "vectorize"]);
    assert!(said.contains("n: \"i32:16\"") && !said.contains("x_ptr") && !said.contains("stride_m"), "{said}");
}

#[test]
fn debug_keeps_device_assertions() {
    let text = r#"
import triton
import triton.language as tl


@triton.jit
def check(x_ptr: "*i32:16", BLOCK: tl.constexpr = 128):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x >= 0, "negative")
    tl.store(x_ptr + tl.arange(0, BLOCK), x)
"#;
    assert!(!compile(text, "ptx", &[]).0.contains("__assertfail"));
    assert!(compile(text, "ptx", &["--debug"]).0.contains("__assertfail"));
}
