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
            .kernel("fill", |k| k.grid("1").num_warps(1).archs(["sm_80", "sm_86"]))
            .archs(["sm_80", "sm_90a"])
            .build(self.0.path(), "kernels.rs")
    }

    /// How many of the six cubins were compiled.
    fn compiled(&self, block: u32) -> String {
        let said = self.build(block).unwrap().said;
        said.split(" kernels").next().unwrap().to_owned()
    }
}

#[test]
fn only_what_changed_is_compiled_again() {
    let here = Crate::new();
    let built = here.build(128).unwrap();
    assert!(built.said.starts_with("compiled 6 of 6 kernels into"), "{}", built.said);
    let watched = |name: &str| built.watch.iter().any(|p| p.ends_with(name));
    assert!(watched("k.py") && watched("helper.py"), "{:?}", built.watch);
    assert!(built.watch.iter().any(|p| p == Path::new(env!("CARGO_BIN_EXE_ttc"))), "{:?}", built.watch);
    let text = fs::read_to_string(here.path("kernels.rs")).unwrap();
    for part in ["pub mod double {", "pub mod fill {", "pub x: ttc_rt::DevicePtrMut<'a, f32>,", "major: 9, minor: 0"] {
        assert!(text.contains(part), "{part}");
    }
    let promises: Vec<&str> = text.lines().filter_map(|l| l.trim().strip_prefix("promises: ")).collect();
    let aligned = "&[(0, Promise::DivisibleBy(16))],";
    assert_eq!(promises, [aligned, aligned, "&[],", "&[],", aligned, aligned], "the aligned variant is tried first");
    assert_eq!(text.matches("major: 8, minor: 6").count(), 1, "a kernel's own architectures");
    assert!(text.contains("Expr::Cdiv(&Expr::Argument(1), &Expr::Int(128))"));

    let time = |name: &str| fs::metadata(here.path(name)).unwrap().modified().unwrap();
    let before = time("kernels.rs");
    assert_eq!(here.compiled(128), "6 of 6", "nothing changed");
    assert_eq!(time("kernels.rs"), before);
    assert_eq!(here.compiled(256), "compiled 4 of 6", "an option changed");
    fs::write(here.path("helper.py"), HELPER.replace("x + x", "x * 2")).unwrap();
    assert_eq!(here.compiled(256), "compiled 4 of 6", "an import changed");
    fs::remove_file(here.path("kernels.rs.ttc/fill.sm_80.cubin")).unwrap();
    assert_eq!(here.compiled(256), "compiled 1 of 6", "an output is gone");
}

#[test]
fn errors_are_those_of_the_compiler_for_every_kernel() {
    let here = Crate::new();
    fs::write(here.path("k.py"), kernels("undefined_name").replace("1.0)", "1.0 +)")).unwrap();
    let error = here.build(128).unwrap_err().to_string();
    assert!(error.starts_with("the kernels were not built:\nerror["), "{error}");
    fs::write(here.path("k.py"), kernels("undefined_name")).unwrap();
    let error = here.build(128).unwrap_err().to_string();
    assert!(error.starts_with("the kernels were not built:\nerror[E0201]"), "{error}");
    assert!(error.contains("undefined_name") && error.contains("k.py:9"), "{error}");
    assert!(!here.path("kernels.rs").exists(), "a part of the kernels is none");
    // What was wrong is not kept as done.
    fs::write(here.path("k.py"), kernels("0.0")).unwrap();
    assert!(here.compiled(128).starts_with("compiled "));
    let none = Kernels::new().ttc("no/such/ttc").build(here.0.path(), "k.rs").unwrap_err();
    assert!(none.to_string().contains("there is no program `no/such/ttc`"), "{none}");
}

/// A manifest that says something else of its outputs serves a build script as well.
#[test]
fn a_build_script_takes_a_manifest() {
    let here = Crate::new();
    let manifest = "[build]\narchs = [\"sm_80\", \"sm_90a\"]\nemit = [\"cubin\", \"c\"]\nmodule = \"own\"\n\
                    [kernel.filled]\nfile = \"k.py\"\nfunction = \"fill\"\nnum_warps = 1\n";
    fs::write(here.path("ttc.toml"), manifest).unwrap();
    let out = here.path("out");
    let kernels = || Kernels::from_manifest(here.path("ttc.toml")).ttc(env!("CARGO_BIN_EXE_ttc"));
    let built = kernels().archs(["sm_86"]).build(&out, "kernels.rs").unwrap();
    assert!(built.watch.contains(&here.path("ttc.toml")), "{:?}", built.watch);
    let text = fs::read_to_string(out.join("kernels.rs")).unwrap();
    assert!(text.contains("pub mod filled {") && text.matches("major: 8, minor: 6").count() == 1, "{text}");
    assert!(!text.contains("major: 9"));
    let error = kernels().file(here.path("k.py")).kernel("fill", |k| k).build(&out, "k.rs").unwrap_err();
    assert!(error.to_string().contains("and not from both"), "{error}");
}

/// Where the manifest says that code lies beside the launchers, the launchers find it from where they are copied to.
#[test]
fn code_that_is_not_embedded_is_found_from_the_copied_launchers() {
    let here = Crate::new();
    let manifest = "[build]\narchs = [\"sm_80\", \"sm_90a\"]\nembed = false\n[kernel.fill]\nfile = \"k.py\"\n";
    fs::write(here.path("ttc.toml"), manifest).unwrap();
    let out = here.path("out");
    Kernels::from_manifest(here.path("ttc.toml")).ttc(env!("CARGO_BIN_EXE_ttc")).build(&out, "gen/kernels.rs").unwrap();
    let text = fs::read_to_string(out.join("gen/kernels.rs")).unwrap();
    let files: Vec<&str> =
        text.split("include_bytes!(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(files.len(), 2, "{text}");
    for file in files {
        assert!(fs::read(out.join("gen").join(file)).unwrap().starts_with(b"\x7fELF"), "{file}");
    }
}
