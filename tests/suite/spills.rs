//! What a kernel that spills registers is compiled to, with a ptxas that says what it is told to.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use ttc::backend::{Iterations, Stage};
use ttc::driver::input;
use ttc::driver::{Compiled, Debug, Job, JobOptions, run_all};
use ttc::source::SourceMap;
use ttc::target::Target;

/// A sum over columns, whose loop gets a copy for its full blocks.
const KERNEL: &str = "
import triton
import triton.language as tl

@triton.jit
def columns(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, n, BLOCK):
        at = i + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + tl.arange(0, BLOCK), total)
";

/// A ptxas that writes a cubin for sm_80, and says that PTX with more loads than `few` spills so many bytes.
fn ptxas(folder: &Path, few: usize, spills: u32) -> PathBuf {
    let path = folder.join("ptxas");
    let text = format!(
        r#"#!/bin/sh
        input=; for a; do case "$a" in -o) break;; esac; input="$a"; done
        for last; do :; done
        spills=0; [ "$(grep -c ld.global "$input")" -gt {few} ] && spills={spills}
        echo "ptxas info    : Compiling entry function 'columns' for 'sm_80'"
        echo "ptxas info    : Function properties for columns"
        echo "    0 bytes stack frame, $spills bytes spill stores, 0 bytes spill loads"
        echo "ptxas info    : Used 255 registers, used 0 barriers"
        {{ printf '\177ELF\002\001\001A\010\0\0\0\0\0\0\0\002\0\276\0'; head -c 28 /dev/zero
           printf '\004\120\0\006'; head -c 12 /dev/zero; }} > "$last""#
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn compiled(ptxas: PathBuf, change: &dyn Fn(&mut JobOptions)) -> Compiled {
    let mut options = JobOptions {
        signature: Some("*fp32:16, *fp32:16, i32, 128".to_owned()),
        ptxas: Some(ptxas),
        ..JobOptions::default()
    };
    change(&mut options);
    let mut sources = SourceMap::default();
    let input = input::add_text(&mut sources, Path::new("columns.tk"), KERNEL, None).unwrap();
    let job = Job::new(input, Target::parse("sm_80").unwrap(), Arc::new(options));
    let outcome = run_all(&[job], &sources, &[Stage::Assembly, Stage::Binary], &Debug::default(), 1).remove(0);
    outcome.result.unwrap_or_else(|d| panic!("{d:#?}"))
}

fn loads(made: &Compiled) -> usize {
    String::from_utf8_lossy(&made.artifacts[&Stage::Assembly]).matches("ld.global").count()
}

#[test]
fn a_kernel_that_spills_loses_the_copies_of_its_loops() {
    let folder = TempDir::new().unwrap();
    let masked = |o: &mut JobOptions| o.pipelining.get_or_insert_default().iterations = Iterations::Masked;
    let says = |spills, few: usize, change: &dyn Fn(&mut JobOptions)| {
        let made = compiled(ptxas(folder.path(), few, spills), change);
        (made.metadata.spills, loads(&made))
    };
    let (_, few) = says(0, 0, &masked);
    let (_, many) = says(0, 0, &|_| {});
    assert!(few < many, "{few}, {many}");
    assert_eq!(says(400, few, &|_| {}), (Some(0), few));
    assert_eq!(says(400, few, &|o| o.retry = false), (Some(400), many));
    // Both spill as much.
    assert_eq!(says(400, 0, &|_| {}), (Some(400), many));
}
