//! The runner of the text tests under `tests/lit/`, in the manner of LLVM's lit.
//!
//! 1. Every file under `tests/lit/` with an extension in [`EXTENSIONS`] is a test. Its `RUN:` lines, behind `//` or
//!    `#`, are shell commands; a line that ends in `\` goes on in the next `RUN:` line.
//! 2. In them `%s` is the file, `%S` its directory, `%t` a temporary path of this test; `ttc`, `FileCheck` and `not`
//!    are the real programs (`not CMD` succeeds when CMD exits with 1 to 100, so a crash does not pass).
//! 3. All lines must exit with 0, pipes included. A file with `RUN:` missing is a failure: a test that cannot fail is
//!    none.
//!
//! `TTC_LIT=text cargo test lit` runs the files whose path holds the text. [`super::bless`] writes the checks of files
//! that ask for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::{Cases, bless};

const EXTENSIONS: &[&str] = &["tk", "py", "ttir", "ttgir", "mlir", "llir", "ptx", "test"];

/// Adds a case for each file.
pub(crate) fn cases(cases: &mut Cases) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lit");
    let filter = std::env::var("TTC_LIT").unwrap_or_default();
    let mut files = vec![];
    collect(&root, &mut files);
    files.retain(|f| f.to_string_lossy().contains(&filter));
    assert!(!files.is_empty(), "no test matches `{filter}`");
    for file in files {
        cases.add(format!("lit::{}", file.strip_prefix(&root).unwrap().display()), move || {
            if std::env::var_os("BLESS").is_some() {
                write_checks(&file)?;
            }
            run(&file)
        });
    }
}

/// Writes the checks of a file that asks for it.
fn write_checks(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    if !bless::is_blessed(&text) {
        return Ok(());
    }
    let new = blessed(file, &text)?;
    if new == text { Ok(()) } else { fs::write(file, new).map_err(|e| e.to_string()) }
}

/// The text of a file with the checks that the present output makes.
pub(crate) fn blessed(file: &Path, text: &str) -> Result<String, String> {
    let temp = tempfile::tempdir().map_err(|e| e.to_string())?;
    bless::bless(text, |command| {
        let (command, output) = execute(command, file, temp.path())?;
        if !output.status.success() {
            return Err(failure(&command, &output));
        }
        String::from_utf8(output.stdout).map_err(|e| e.to_string())
    })
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

/// The folders that hold `not`, `ttc` and `FileCheck`, to put first on the PATH.
fn tools() -> String {
    let llvm = std::env::var("LLVM_SYS_221_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_owned());
    let llvm = Path::new(&llvm).join("bin");
    assert!(llvm.join("FileCheck").exists(), "{} has no FileCheck: run `make toolchain`", llvm.display());
    let ttc = Path::new(env!("CARGO_BIN_EXE_ttc")).parent().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/bin");
    format!("{}:{}:{}", own.display(), ttc.display(), llvm.display())
}

/// Runs a test; what is wrong, and for a blessed file also how its checks would change.
pub(crate) fn run(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let temp = tempfile::tempdir().map_err(|e| e.to_string())?;
    for command in run_lines(&text)? {
        let (command, output) = execute(&command, file, temp.path())?;
        if !output.status.success() {
            let mut why = failure(&command, &output);
            if bless::is_blessed(&text) {
                let new = blessed(file, &text)?;
                why += &format!("\nBLESS=1 would change:\n{}", bless::diff(&text, &new));
            } else if std::env::var_os("BLESS").is_some() {
                why += "\nThe checks are written by hand: BLESS=1 leaves them alone.";
            }
            return Err(why);
        }
    }
    Ok(())
}

fn failure(command: &str, output: &Output) -> String {
    let shown = |b: &[u8]| String::from_utf8_lossy(&b[..b.len().min(6000)]).into_owned();
    format!("$ {command}\n{}\n{}{}", output.status, shown(&output.stdout), shown(&output.stderr))
}

/// Runs one line of a test; the command as the shell saw it, and what came out.
fn execute(command: &str, file: &Path, temp: &Path) -> Result<(String, Output), String> {
    static TOOLS: OnceLock<String> = OnceLock::new();
    let path = format!("{}:{}", TOOLS.get_or_init(tools), std::env::var("PATH").unwrap_or_default());
    let command = command
        .replace("%s", &file.to_string_lossy())
        .replace("%S", &file.parent().unwrap().to_string_lossy())
        .replace("%t", &temp.join("t").to_string_lossy());
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &command])
        .env("PATH", &path)
        .env_remove("TTC_COLOR")
        .env("NO_COLOR", "1")
        .current_dir(temp)
        .output()
        .map_err(|e| e.to_string())?;
    Ok((command, output))
}

/// The commands of a test.
pub(crate) fn run_lines(text: &str) -> Result<Vec<String>, String> {
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
