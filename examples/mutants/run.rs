//! Running one mutant under limits, and telling a refusal from a fault.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::mutate::Mutant;

/// Address space in KiB, processor time in seconds.
const LIMITS: &str = "ulimit -v 4194304; ulimit -t 20; ulimit -c 0; exec \"$@\"";

/// After this long on the clock a run counts as hanging: it waits for something, or the machine is very busy.
const WALL: Duration = Duration::from_mins(3);

/// Words in what a run says that only a defect of ttc brings about.
const DEFECTS: [&str; 6] = ["[E0604]", "[E0710]", "[E0999]", "panicked at", "LLVM ERROR", "PLEASE submit a bug report"];

pub(crate) enum Outcome {
    Compiled,
    Diagnosed,
    Usage,
    Finding(String),
}

/// A run and how it ended.
pub(crate) struct Run {
    pub(crate) end: Outcome,
    pub(crate) said: String,
}

impl Run {
    pub(crate) fn word(&self) -> &'static str {
        match self.end {
            Outcome::Compiled => "done",
            Outcome::Diagnosed => "diagnosed",
            Outcome::Usage => "usage",
            Outcome::Finding(_) => "FINDING",
        }
    }
}

/// Runs a mutant in a folder of its own.
pub(crate) fn run(ttc: &Path, mutant: &Mutant) -> Run {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("there is room for temporary files");
    };
    write(&mutant.file(), &mutant.text);
    let said = folder.path().join("said");
    let stderr = fs::File::create(&said).expect("there is room for temporary files");
    let mut command = Command::new("sh");
    command.args(["-c", LIMITS, "sh"]).arg(ttc).args(&mutant.command).current_dir(folder.path());
    // What it leaves behind goes with the folder.
    command.env("TMPDIR", folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).process_group(0);
    let mut child = command.spawn().expect("sh starts");
    let began = Instant::now();
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break Some(status),
            None if began.elapsed() > WALL => {
                child.kill().and_then(|()| child.wait()).expect("a child can be killed");
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let said = String::from_utf8_lossy(&fs::read(said).unwrap_or_default()).into_owned();
    Run { end: judge(status, &said), said }
}

fn judge(status: Option<ExitStatus>, said: &str) -> Outcome {
    let Some(status) = status else { return Outcome::Finding(format!("hangs: {} s", WALL.as_secs())) };
    if let Some(word) = DEFECTS.iter().find(|w| said.contains(**w)) {
        return Outcome::Finding((*word).to_owned());
    }
    match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Compiled,
        (Some(1), _) => Outcome::Diagnosed,
        (Some(2), _) => Outcome::Usage,
        (Some(code), _) => Outcome::Finding(format!("exit code {code}")),
        // The limit on processor time: SIGXCPU, and SIGKILL a second later.
        (None, Some(24 | 9)) => Outcome::Finding("more than 20 s of processor time".to_owned()),
        (None, signal) => Outcome::Finding(format!("signal {}", signal.unwrap_or_default())),
    }
}

/// Writes down what is needed to look at a finding.
pub(crate) fn keep(number: u64, mutant: &Mutant, run: &Run) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/artifacts/mutants").join(number.to_string());
    let quoted: Vec<String> = mutant.command.iter().map(|a| format!("'{}'", a.replace('\'', "'\\''"))).collect();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes);
    fs::create_dir_all(&folder)
        .and_then(|()| write(&mutant.file(), &mutant.text))
        .and_then(|()| write("command", format!("ttc {}\n", quoted.join(" ")).as_bytes()))
        .and_then(|()| write("said", run.said.as_bytes()))
        .expect("a finding can be written");
    folder
}
