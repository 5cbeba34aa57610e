//! The CMake package: a project finds it, has its kernels compiled, and has them compiled again when they change.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// CMake reads the package, and the program that it builds holds the launchers. Where there is no CMake, this is left
/// out: no other test needs it.
#[test]
fn a_cmake_project_compiles_kernels_when_they_change() {
    let version = Command::new("cmake").arg("--version").output();
    if !version.is_ok_and(|o| o.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no cmake");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = tempfile::tempdir().unwrap();
    for file in ["c/kernels.py", "c/device.h", "cmake/CMakeLists.txt", "cmake/main.cpp", "cmake/ttc.toml"] {
        let to = project.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root.join("examples").join(file), to).unwrap();
    }
    let cmake = |args: &[&str]| {
        let done = Command::new("cmake").args(args).current_dir(project.path()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        said
    };
    let package = format!("-Dttc_DIR={}", root.join("packaging/cmake").display());
    let ttc = format!("-DTTC_EXECUTABLE={}", env!("CARGO_BIN_EXE_ttc"));
    cmake(&["-S", "cmake", "-B", "build", &package, &ttc]);
    let first = cmake(&["--build", "build"]);
    assert!(first.contains("Compiling the GPU kernels of ttc.toml"), "{first}");
    assert!(project.path().join("build/softmax").is_file());
    let again = cmake(&["--build", "build"]);
    assert!(!again.contains("Compiling the GPU kernels"), "{again}");
    let kernels = project.path().join("c/kernels.py");
    let text = fs::read_to_string(&kernels).unwrap();
    assert!(text.contains("tl.exp("), "{text}");
    fs::write(&kernels, text.replace("tl.exp(", "tl.exp2(")).unwrap();
    let changed = cmake(&["--build", "build"]);
    assert!(changed.contains("compiled 2 of 2 kernels"), "{changed}");
}
