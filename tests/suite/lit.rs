//! The runner of the text tests under `tests/lit/`, in the manner of LLVM's lit.
//!
//! 1. Every file under `tests/lit/` with an extension in [`EXTENSIONS`] is a test. Its `RUN:` lines, behind `//` or
//!    `#`, are shell commands; a line that ends in `\` goes on in the next `RUN:` line.
//! 2. In them `%s` is the file, `%S` its directory, `%t` a temporary path of this test; `ttc`, `FileCheck` and `not`
//!    are the real programs (`not CMD` succeeds when CMD exits with 1 to 100, so a crash does not pass).
//! 3. All lines must exit with 0, pipes included. A file with `RUN:` missing is a failure: a test that cannot fail is
//!    none.
//!
//! `TTC_LIT=text cargo test lit` runs the files whose path holds the text.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const EXTENSIONS: &[&str] = &["tk", "py", "ttir", "ttgir", "mlir", "llir", "ptx", "test"];

#[test]
fn lit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lit");
    let filter = std::env::var("TTC_LIT").unwrap_or_default();
    let mut files = vec![];
    collect(&root, &mut files);
    files.retain(|f| f.to_string_lossy().contains(&filter));
    assert!(!files.is_empty(), "no test matches `{filter}`");
    let bin = tools();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = run(file, bin.path()) {
                        failures
                            .lock()
                            .unwrap()
                            .push(format!("{}\n{why}", file.strip_prefix(&root).unwrap().display()));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} lit tests failed:\n\n{}",
        failures.len(),
        files.len(),
        failures.join("\n\n")
    );
    println!("{} lit tests passed", files.len());
}

fn collect(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            // Inputs that tests read but that are none themselves.
            if path.file_name().is_some_and(|n| n != "Inputs") {
                collect(&path, out);
            }
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| EXTENSIONS.contains(&e)) {
            out.push(path);
        }
    }
}

/// A directory to put first on the PATH: `ttc`, `FileCheck` and `not`.
fn tools() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let llvm = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_owned());
    let link = |from: &Path, name: &str| std::os::unix::fs::symlink(from, dir.path().join(name)).unwrap();
    link(Path::new(env!("CARGO_BIN_EXE_ttc")), "ttc");
    let filecheck = Path::new(&llvm).join("bin/FileCheck");
    assert!(filecheck.exists(), "{} is missing: run `make toolchain`", filecheck.display());
    link(&filecheck, "FileCheck");
    let not = dir.path().join("not");
    fs::write(&not, "#!/bin/sh\n\"$@\"\nrc=$?\n[ $rc -ge 1 ] && [ $rc -le 100 ]\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&not, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

fn run(file: &Path, bin: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let commands = run_lines(&text)?;
    let temp = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    for command in commands {
        let command = command
            .replace("%s", &file.to_string_lossy())
            .replace("%S", &file.parent().unwrap().to_string_lossy())
            .replace("%t", &temp.path().join("t").to_string_lossy());
        let output = Command::new("bash")
            .args(["-o", "pipefail", "-c", &command])
            .env("PATH", &path)
            .env_remove("TTC_COLOR")
            .env("NO_COLOR", "1")
            .current_dir(temp.path())
            .output()
            .map_err(|e| e.to_string())?;
        if !output.status.success() {
            let shown = |b: &[u8]| String::from_utf8_lossy(&b[..b.len().min(6000)]).into_owned();
            return Err(format!("$ {command}\n{}\n{}{}", output.status, shown(&output.stdout), shown(&output.stderr)));
        }
    }
    Ok(())
}

fn run_lines(text: &str) -> Result<Vec<String>, String> {
    let mut commands: Vec<String> = vec![];
    let mut continued = false;
    for line in text.lines() {
        let line = line.trim_start();
        let Some(rest) = line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(str::trim_start) else {
            continue;
        };
        let Some(command) = rest.strip_prefix("RUN:").map(str::trim) else { continue };
        let (command, more) = command.strip_suffix('\\').map_or((command, false), |c| (c, true));
        match commands.last_mut().filter(|_| continued) {
            Some(last) => last.push_str(command),
            None => commands.push(command.to_owned()),
        }
        continued = more;
    }
    if commands.is_empty() { Err("no RUN: line".to_owned()) } else { Ok(commands) }
}
