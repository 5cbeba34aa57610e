//! `ttc emulate` as a user sees it: a launch file, `--out`, `--trace`, exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Each lane stores its number times the first word of `x`.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.b64 %rd1, [x];
    ld.param.b64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    ld.global.b32 %r2, [%rd1];
    mul.lo.s32 %r3, %r1, %r2;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.global.b32 [%rd2], %r3;
    ret;
}
";

const LAUNCH: &str = r#"{"grid": [1, 1, 1], "block": [32, 1, 1],
    "buffers": [{"name": "x", "repeated": {"file": "x.bin", "bytes": 6}}, {"name": "y", "bytes": 128}],
    "arguments": [{"buffer": "x"}, {"buffer": "y"}]}"#;

fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    fs::write(world.path().join("k.ptx"), PTX).unwrap();
    fs::write(world.path().join("launch.json"), LAUNCH).unwrap();
    // Again and again: 3, 0, 0, 0, 3, 0.
    fs::write(world.path().join("x.bin"), [3, 0, 0, 0]).unwrap();
    world
}

fn emulate(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ttc"));
    command.args(["emulate", "k.ptx", "--launch", "launch.json"]).args(more);
    command.current_dir(folder).output().unwrap()
}

#[test]
fn emulate_writes_the_buffers_that_are_asked_for() {
    let world = world();
    let done = emulate(world.path(), &["--schedules", "3", "--out", "y=y.bin", "--out", "x=copy.bin"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let words: Vec<u32> = (0..32).map(|i| 3 * i).collect();
    let want: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(fs::read(world.path().join("y.bin")).unwrap(), want);
    assert_eq!(fs::read(world.path().join("copy.bin")).unwrap(), [3, 0, 0, 0, 3, 0]);
}

#[test]
fn emulate_refuses_a_buffer_that_is_not_there() {
    let world = world();
    for (out, what) in [("z=z.bin", "there is no buffer `z`"), ("y", "is not of the form BUFFER=FILE")] {
        let done = emulate(world.path(), &["--out", out]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("E0910") && said.contains(what) && said.contains("x, y"), "{said}");
    }
}

#[test]
fn a_trace_shows_what_a_step_reads_and_writes() {
    let world = world();
    let done = emulate(world.path(), &["--trace", "0,0,0:0"]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let line = |n: u32| said.lines().find(|l| l.starts_with(&format!("PTX line {n}:"))).unwrap_or_default().to_owned();
    assert!(line(12).ends_with("; it writes 0x3"), "{said}");
    assert!(said.contains("\n    lane 0 writes `y`+0: 0x0\n    lane 1 writes `y`+4: 0x3\n"), "{said}");
    assert!(said.contains("\n    lane 31 writes `y`+124: 0x5d\n"), "{said}");
}
