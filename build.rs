//! Generates the parser from `src/parser/grammar.lalrpop`, compiles what is in C++, and says how LLVM is linked.
//!
//! A release build takes LLVM's static libraries where they are installed: relocating `libLLVM.so` costs every process
//! more than a small kernel does (docs/performance.md). Any other build takes the shared library, which links faster.
//! `TTC_LLVM=static` and `TTC_LLVM=shared` decide for both.
#![allow(clippy::print_stderr, clippy::print_stdout, clippy::exit)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// What ttc uses of LLVM.
const COMPONENTS: [&str; 8] =
    ["core", "nvptx", "amdgpu", "passes", "bitreader", "irreader", "linker", "executionengine"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/parser/grammar.lalrpop");
    let made = lalrpop::Configuration::new().use_cargo_dir_conventions().emit_rerun_directives(false).process();
    if let Err(error) = made {
        eprintln!("src/parser/grammar.lalrpop: {error}");
        std::process::exit(1);
    }
    link_llvm();
}

fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    std::env::var(name).ok()
}

fn link_llvm() {
    let prefix = variable("LLVM_SYS_221_PREFIX").map_or_else(PathBuf::new, |p| Path::new(&p).join("bin"));
    let config = prefix.join("llvm-config");
    let release = std::env::var("PROFILE").is_ok_and(|p| p == "release");
    let wanted = variable("TTC_LLVM");
    let libraries = match wanted.as_deref() {
        Some("shared") => None,
        Some("static") => Some(static_libraries(&config).unwrap_or_else(|| stop(&config, "LLVM's static libraries"))),
        _ => release.then(|| static_libraries(&config)).flatten(),
    };
    compile_for_llvm(&config);
    match libraries {
        Some(arguments) => arguments.iter().for_each(|a| println!("cargo:rustc-link-arg={a}")),
        None => link_shared(&config),
    }
}

fn stop(config: &Path, what: &str) -> ! {
    eprintln!("{} knows of no installed {what}; scripts/toolchain.sh installs LLVM", config.display());
    std::process::exit(1)
}

/// Compiles what LLVM's interface for C lacks. LLVM's own flags say which standard library its headers are for.
fn compile_for_llvm(config: &Path) {
    let sources = ["src/backend/amd/object/assemble.cpp", "src/backend/amd/object/emit.cpp"];
    sources.iter().for_each(|source| println!("cargo:rerun-if-changed={source}"));
    let Some(flags) = ask(config, &["--cxxflags"]) else { stop(config, "headers of LLVM") };
    let mut build = cc::Build::new();
    build.cpp(true).files(sources).flag("-fno-rtti").opt_level(1).debug(false).warnings(false);
    // The C++ library is linked with LLVM.
    build.cpp_link_stdlib(None).cargo_metadata(true);
    for flag in flags.split_whitespace() {
        build.flag(flag);
    }
    build.compile("ttc_of_llvm");
}

/// Links `libLLVM.so`.
fn link_shared(config: &Path) {
    let (Some(folder), Some(names)) = (ask(config, &["--libdir"]), ask(config, &["--link-shared", "--libnames"]))
    else {
        stop(config, "shared library of LLVM");
    };
    println!("cargo:rustc-link-search=native={}", folder.trim());
    for name in names.split_whitespace() {
        println!(
            "cargo:rustc-link-lib=dylib={}",
            name.trim_start_matches("lib").trim_end_matches(".so").trim_end_matches(".dylib")
        );
    }
    // The handler for memory that runs out in LLVM is set there.
    println!("cargo:rustc-link-lib=dylib=stdc++");
}

/// Arguments of the linker for the static libraries of [`COMPONENTS`] and what they need; `None` where one is not
/// installed.
///
/// They come as arguments, behind everything else and as one group, because their order matters to some linkers. A
/// shared library among what they need is taken only if something refers to it. The C++ library is linked statically as
/// well: to relocate it takes as long as all the rest of the start.
fn static_libraries(config: &Path) -> Option<Vec<String>> {
    let files = ask(config, &[&["--link-static", "--libfiles"][..], &COMPONENTS].concat())?;
    let files: Vec<&str> = files.split_whitespace().collect();
    if files.is_empty() || !files.iter().all(|f| Path::new(f).is_file()) {
        return None;
    }
    let system = ask(config, &[&["--link-static", "--system-libs"][..], &COMPONENTS].concat())?;
    let mut arguments = vec!["-Wl,--as-needed".to_owned(), "-Wl,--start-group".to_owned()];
    arguments.extend(files.into_iter().map(str::to_owned));
    arguments.push(archive("stdc++").unwrap_or_else(|| "-lstdc++".into()));
    arguments.extend(
        system.split_whitespace().map(|l| l.strip_prefix("-l").and_then(archive).unwrap_or_else(|| l.to_owned())),
    );
    arguments.push("-Wl,--end-group".into());
    Some(arguments)
}

/// The path of a static library outside of the C library, as the C compiler finds it.
fn archive(name: &str) -> Option<String> {
    if ["c", "m", "dl", "rt", "pthread"].contains(&name) {
        return None;
    }
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let path = ask(Path::new(&compiler), &[&format!("-print-file-name=lib{name}.a")])?;
    let path = path.trim();
    (path.contains('/') && Path::new(path).is_file()).then(|| path.to_owned())
}

/// What a program prints; `None` when it does not run or fails.
fn ask(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
