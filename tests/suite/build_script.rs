//! Kernels built as a build script builds them, by the crate `ttc-build` with this `ttc`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use ttc_build::{Built, Error, Kernels};

const HELPER: &str = "
import triton
import triton.language as tl

@triton.jit
def twice(x):
    return x + x
";

fn kernels(body: &str) -> String {
    format!(
        "
import triton
import triton.language as tl
from helper import twice

@triton.jit
def double(x: \"*fp32\", n: \"i32\", BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, {body}, mask=at < n)

@triton.jit
def fill(x: \"*fp32:16\"):
    tl.store(x + tl.arange(0, 64), 1.0)
"
    )
}

struct Crate(TempDir);

impl Crate {
    fn new() -> Crate {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("helper.py"), HELPER).unwrap();
        fs::write(dir.path().join("k.py"), kernels("twice(tl.load(x + at, mask=at < n))")).unwrap();
        Crate(dir)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn build(&self, block: u32) -> Result<Built, Error> {
        Kernels::new()
            .ttc(env!("CARGO_BIN_EXE_ttc"))
            .file(self.path("k.py"))
            .kernel("double", |k| {
                let k = k.constant("BLOCK", block).grid("cdiv(n, BLOCK)");
                k.variant("any", "x=*fp32").variant("aligned", "x=*fp32:16")
            })
            .kernel("fill", |k| k.grid("1").num_warps(1))
            .archs(["sm_80", "sm_90a"])
            .build(self.0.path(), "kernels.rs")
    }

    fn compiled(&self, block: u32) -> Vec<String> {
        self.build(block).unwrap().compiled
    }
}

#[test]
fn only_what_changed_is_compiled_again() {
    let here = Crate::new();
    let built = here.build(128).unwrap();
    assert_eq!(built.compiled, ["double", "fill"]);
    let watched = |name: &str| built.watch.iter().any(|p| p.ends_with(name));
    assert!(watched("k.py") && watched("helper.py"), "{:?}", built.watch);
    assert!(built.watch.iter().any(|p| p == Path::new(env!("CARGO_BIN_EXE_ttc"))), "{:?}", built.watch);
    let text = fs::read_to_string(here.path("kernels.rs")).unwrap();
    for part in ["pub mod double {", "pub mod fill {", "pub x: ttc_rt::DevicePtrMut<'a, f32>,", "capability: (9, 0)"] {
        assert!(text.contains(part), "{part}");
    }
    let promises: Vec<&str> = text.lines().filter_map(|l| l.trim().strip_prefix("promises: ")).collect();
    let aligned = "&[(0, Promise::DivisibleBy(16))],";
    assert_eq!(promises, [aligned, aligned, "&[],", "&[],", aligned, aligned], "the aligned variant is tried first");
    assert!(text.contains("Expr::Cdiv(&Expr::Argument(1), &Expr::Int(128))"));

    assert_eq!(here.compiled(128), [""; 0], "nothing changed");
    assert_eq!(here.compiled(256), ["double"], "an option changed");
    fs::write(here.path("helper.py"), HELPER.replace("x + x", "x * 2")).unwrap();
    assert_eq!(here.compiled(256), ["double"], "an import changed");
    fs::remove_file(here.path("kernels.rs.ttc/fill/launcher.rs")).unwrap();
    assert_eq!(here.compiled(256), ["fill"], "an output is gone");
}

#[test]
fn errors_are_those_of_the_compiler_for_every_kernel() {
    let here = Crate::new();
    fs::write(here.path("k.py"), kernels("undefined_name").replace("1.0)", "1.0 +)")).unwrap();
    let error = here.build(128).unwrap_err().to_string();
    assert!(error.contains("the kernel `fill` was not compiled:\nerror["), "{error}");
    fs::write(here.path("k.py"), kernels("undefined_name")).unwrap();
    let error = here.build(128).unwrap_err().to_string();
    assert!(error.starts_with("the kernel `double` was not compiled:\nerror[E0201]"), "{error}");
    assert!(error.contains("undefined_name") && error.contains("k.py:9"), "{error}");
    assert!(!here.path("kernels.rs").exists(), "a part of the kernels is none");
    // What was wrong is not kept as done.
    fs::write(here.path("k.py"), kernels("0.0")).unwrap();
    assert_eq!(here.compiled(128), ["double", "fill"]);
    let none = Kernels::new().ttc("no/such/ttc").build(here.0.path(), "k.rs").unwrap_err();
    assert!(none.to_string().contains("there is no program `no/such/ttc`"), "{none}");
}
